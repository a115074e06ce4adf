"""The mechanism with the least noise for a workload over *all* epsilon-LDP mechanisms, with its proof.

**Problem.** k types, a prior p, queries W. A channel Q and an estimator with ``V Q = W`` are wanted with the least
noise ``sum_x p_x sum_o Q_ox |V_o|^2 - sum_x p_x |W_x|^2``; for a given Q it is ``tr(W M^-1 W') - ...``, ``M = Q' D^-1
Q``.

**Program.** Splitting an output never lowers M, and every row with a ratio of at most c is a mixture of rows in {1,
c}^k: weights on those are a convex program (`mechdesign.methods.workload.master`), whose rows are found as they are
needed (`mechdesign.methods.workload.columns`). For the worst type the prior is the least favourable one: the least
noise is concave in it, and mechanisms found for some priors bound it from above for all.

**Few queries.** Two or three queries whose mirror images leave few types have a program of their own
(`mechdesign.methods.workload.few`), at any number of types.

**Proof.** ``X = M^-1 W'`` and the prices of rows (`mechdesign.methods.workload.proof`). Beyond 24 types both come from
a semidefinite relaxation with splits (`mechdesign.methods.workload.interior`; beyond 144 types without, by splitting:
`mechdesign.methods.workload.relaxation`), or, for tables of several attributes, from counts of pairs
(`mechdesign.methods.workload.grid_search`). Where rows and relaxation stay apart, the prices are those of the rows, and
a tree shows what is wanting in them (`mechdesign.methods.workload.branching`).

Source of the problem: McKenna, Maity, Mazumdar, Miklau, A workload-adaptive mechanism for linear queries under local
differential privacy, 2020, where it is answered by projected gradients without a bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog
from threadpoolctl import threadpool_limits

from mechdesign.errors import CheckFailed, NoAnswer
from mechdesign.exact.bits import MOST_BITS
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.method import Demands
from mechdesign.methods.private_table import private_table
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.methods.unbiased.problem import UnbiasedProblem
from mechdesign.methods.unbiased.search import optimal_unbiased
from mechdesign.methods.workload.branching import MOST_BRANCHED, Tree
from mechdesign.methods.workload.columns import Columns, Rows, Told
from mechdesign.methods.workload.cone import Split, splits_of
from mechdesign.methods.workload.decoder import decoder, information, noise
from mechdesign.methods.workload.few import few_queries, has_few_orbits
from mechdesign.methods.workload.grid_search import GridSearch, shape_of
from mechdesign.methods.workload.interior import MOST_INTERIOR, Interior
from mechdesign.methods.workload.pricing import MOST_TRIED, Bits, Prices
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.relaxation import Relaxation
from mechdesign.methods.workload.saddle import MOST_UNKNOWNS, basis_of, worst_saddle
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Finite
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem

TIME_LIMIT = "the time limit was reached"
_GAP = 1e-3  # unless another is demanded
_COLUMNS_SHARE = 0.6  # of the time, where a relaxation follows
_INSIDE = 0.4  # of the gap, for the rows; the rest is for the proof and for rounding
_ROUGH, _ROUGH_SHARE = 0.1, 0.2  # the gap of rows at which the relaxation starts, and their share of the time
_INSIDE_ROWS, _INSIDE_TREE = 0.6, 0.2
_INSIDE_FEW = 0.1  # an estimator's worst type is off by far more than its average is
_BLUR = 1e-3  # of the gap
_ACCURATE = 3e-2  # of the gap, for the relaxation
_NEAR = 0.7  # to known moments; the rest are those of coins, which are far from all edges
_SPLIT_ROUNDS, _MOST_SPLITS = 12, 12
_INSIDE_RELAXED = (3.0, 0.6, 0.15)  # rows found by climbing are far better than their own prices can show
_RELAXED_STEPS = 500
_MOST_TURNS = 400
_TURNS = 10  # of the relaxation for one matrix, in which it has to get on
_ENOUGH = 0.8  # of the gap
_GETS_ON = 0.1  # of the gap that is left
_LEAST_USED = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # of the weight: rows with less are left out
_SLIM_SHARE = 0.1
_TELLING, _MIXED = 1e-9, 1e-7  # the least eigenvalue of M that is left alone; else so much is mixed in
_PRIOR_ROUNDS = 60
_INSIDE_SADDLE = 0.2  # of the gap, for the rows of a prior
_FLOOR = 0.1  # of the gap: the least prior of a type, relative to an even one
_MOVES = 1e-3
_INWARDS = (0.1, 0.01, 1e-3, 1e-4, 0.03, 3e-3, 3e-4, 3e-5)  # towards even shares
_PRIOR_STEPS = 2000
_LIFTS, _LIFTED = 6, 1e-2
_LEAST_SHARE = 1e-6
_EVEN = 1e-9


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the time runs out first, with the design found until then.

    The mechanism is a table whose outputs are numbers; `mechdesign.methods.workload.estimator` is what a report adds to
    the answers. Bounds that are told on the way are those of the rows so far, not proven.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.privacy import Pure
    >>> from mechdesign.words.workloads import Histogram
    >>> problem = Problem(loss=Histogram(4), privacy=Pure(1.0), criterion=Average())
    >>> design = answer(problem, Demands(gap=1e-6))  # randomised response is best here
    >>> round(design.certificate.lower, 4), round(design.certificate.upper, 4)
    (7.5562, 7.5562)
    """
    with threadpool_limits(1, user_api="blas"):
        return _Search(problem, demands.within(_GAP), demands.clock(), demands.say).run()


class _Search:
    def __init__(self, problem: Problem, gap: float, clock: Clock, say: Told) -> None:
        self.problem, self.gap, self.clock, self.say = problem, gap, clock, say
        self.workload = workload_of(problem)
        self.queries = self.workload.weighted
        self.gram = self.queries.T @ self.queries
        self.ratio = math.exp(problem.epsilon)
        self.size = self.workload.size
        self.details: dict[str, Any] = {}

    def run(self) -> Design:
        shape, stopped = shape_of(self.problem), "the search ended"
        if shape is not None and self.size > MOST_BITS:
            design = GridSearch(self.problem, shape, self.gap, self.clock, self.say).run()
            stopped = "counts of pairs of types prove no more"
        elif self.size > MOST_BITS and has_few_orbits(self.queries.T, self._own_prior):
            design = self._few()
        elif isinstance(self.problem.criterion, Worst):
            design = self._worst()
        elif self._is_equispaced_mean:
            design = self._mean()
        else:
            design = self._average(self._prior)
        stopped = TIME_LIMIT if self.clock.is_over else stopped
        design = saying_why(design, self.gap, stopped)
        return within_gap(design, self.gap, stopped)

    @property
    def _prior(self) -> Floats:
        """That of the problem, which sums to 1."""
        prior = self.problem.weights
        assert prior is not None
        return np.asarray(prior / prior.sum())

    @property
    def _own_prior(self) -> Floats | None:
        """The same, and none for the worst type."""
        return None if isinstance(self.problem.criterion, Worst) else self._prior

    def _designed(self, mechanism: Discrete, evidence: WorkloadBound, solver: str) -> Design:
        self.details["outputs"] = len(mechanism.outputs)
        report = Report(self.clock.used, solver, versions("numpy", "scipy"), self.details, self.gap)
        return Design(self.problem, mechanism, evidence, report)

    # -- average -------------------------------------------------------------------------------------------------------

    def _average(self, prior: Floats) -> Design:
        known, gap = self._known(prior), self.gap
        columns = self._columns()
        if self.size <= MOST_BITS or len(self.queries) == 1 or self._is_alike(prior):
            rows = columns.run(prior, _INSIDE * gap, known, self.clock, self.say)
            evidence = self._evidence(rows, prior)
        else:
            rows, evidence = self._relaxed_average(columns, prior)
        self.details["rounds"] = columns.rounds
        mechanism = self._mechanism(rows.bits, rows.weights(self.ratio, prior), prior)
        return self._designed(mechanism, evidence, "interior point on rows")

    def _relaxed_average(self, columns: Columns, prior: Floats) -> tuple[Rows, WorkloadBound]:
        """Bounds of the relaxation, then rows that come as near as asked; where they stay apart, a tree."""
        if self.size > MOST_INTERIOR:
            return self._split_average(columns, prior)
        known, gap = self._known(prior), self.gap
        rows = columns.run(prior, max(gap, _ROUGH), known, self._part(_ROUGH_SHARE), self.say)
        bound, evidence = self._relaxed(rows, prior, None)
        rows = columns.run(prior, _INSIDE_ROWS * gap, known, self._part(_COLUMNS_SHARE), self.say, bound)
        is_open = rows.value - bound > _ENOUGH * gap * (rows.value - known)
        if is_open and self.size <= MOST_BRANCHED and not self.clock.is_over:
            bound, evidence = max((bound, evidence), self._branched(rows, prior), key=lambda found: found[0])
        return rows, evidence

    def _part(self, share: float) -> Clock:
        """A part of the time that is left."""
        left = self.clock.left()
        return Clock(None if left is None else share * left)

    def _split_average(self, columns: Columns, prior: Floats) -> tuple[Rows, WorkloadBound]:
        """Rows and bounds in turn: the nearer a matrix is to the best one, the tighter is the relaxation."""
        known, gap = self._known(prior), self.gap
        bounds: list[tuple[float, WorkloadBound]] = []
        for inside in _INSIDE_RELAXED:
            rows = columns.run(prior, inside * gap, known, self._part(_COLUMNS_SHARE), self.say)
            bounds.append(self._spliced(rows, prior, None))
            bound, evidence = max(bounds, key=lambda found: found[0])
            if rows.value - bound <= _ENOUGH * gap * (rows.value - known) or self.clock.is_over:
                break
        return rows, evidence

    def _columns(self) -> Columns:
        return Columns(self.gram, self.ratio, self.queries[0] if len(self.queries) == 1 else None)

    def _known(self, prior: Floats) -> float:
        return float((self.queries**2).sum(axis=0) @ prior)

    def _is_alike(self, prior: Floats) -> bool:
        """Whether exchanging types changes nothing."""
        off = self.gram[~np.eye(self.size, dtype=bool)]
        return bool(np.ptp(np.diagonal(self.gram)) == 0 and np.ptp(off) == 0 and np.ptp(prior) == 0)

    def _mechanism(self, bits: Bits, weights: Floats, prior: Floats) -> Discrete:
        """The channel with as few of these rows as a tenth of the gap pays for; their entries stay exactly 1 and c."""
        rows, best = 1 + (self.ratio - 1) * bits, None
        most = math.inf
        for share in (1e-14, *_LEAST_USED):
            used = weights > share * weights.sum()
            balanced = _balanced(rows[used], weights[used])
            if balanced is None:
                continue
            channel, balanced = self._telling(rows[used], balanced, prior)
            here = self._noise_of(channel, prior)
            if best is None:
                most = here * (1 + _SLIM_SHARE * self.gap)
            if best is None or here <= most:
                best = channel, balanced
        if best is None:
            raise CheckFailed("the weights of the rows could not be balanced")
        return self._table(*best)

    def _telling(self, rows: Floats, weights: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """The channel of these rows; where it does not tell all types apart, with a little of randomised response.

        Few queries may not need it, but reports that do not tell are unbiased up to rounding only.
        """
        channel = (rows * weights[:, None]).T
        if np.linalg.eigvalsh(information(channel, prior))[0] > _TELLING:
            return channel, weights
        response = (1 + (self.ratio - 1) * np.eye(self.size)) / (self.ratio + self.size - 1)
        mixed = np.hstack([(1 - _MIXED) * channel, _MIXED * response])
        return mixed, np.concatenate([(1 - _MIXED) * weights, _MIXED * response.min(axis=0)])

    def _noise_of(self, channel: Floats, prior: Floats) -> float:
        own = noise(channel, decoder(channel, prior) @ self.queries.T, self.queries)
        return float(own.max() if isinstance(self.problem.criterion, Worst) else own @ prior)

    def _table(self, channel: Floats, base: Floats) -> Discrete:
        outputs = Finite(tuple(range(channel.shape[1])))
        name = str(self.problem.words.optimum)
        return private_table(self.problem.epsilon, self.problem.numbers, outputs, channel, base, name)

    def _evidence(self, rows: Rows, prior: Floats, told: Floats | None = None) -> WorkloadBound:
        """The multipliers for one prior; ``told`` is the prior where the evidence has to say it."""
        if self._is_alike(prior):
            return self._alike(told)
        if len(self.queries) == 1 or self.size <= MOST_BITS:
            # the proof may pay far more for what is wanting: its row may be one with large entries
            priced = rows.priced
            return WorkloadBound(self._dual(priced.inverse), priced.prices + rows.wanting * prior, told)
        return self._relaxed(rows, prior, told)[1]

    def _dual(self, inverse: Floats) -> Floats:
        if len(self.queries) > self.size:
            return (inverse + inverse.T) / 2
        return np.asarray(inverse @ self.workload.queries.matrix.T)

    def _alike(self, told: Floats | None) -> WorkloadBound:
        """Where types are alike M is ``a I + b J``, and the best rows have m or m + 1 entries c each.

        With ``M 1 = k 1``, ``tr(GM^-1)`` falls in the trace of M, which is that of the rows with the best m.
        """
        size, gain = self.size, self.ratio - 1
        counts = np.arange(size + 1)
        traces = (size + (self.ratio**2 - 1) * counts) / (1 + gain * counts / size) ** 2
        a = (float(traces.max()) - size) / (size - 1)  # eigenvalues: a (k - 1 times), and k for the vector of ones
        inverse = np.eye(size) / a + (1 / size - 1 / a) / size
        dual = self._dual(inverse)
        square = inverse @ self.gram @ inverse
        prices = np.full(size, float(np.sum(self.gram * inverse)) / size)
        if len(self.queries) <= size and not np.array_equal(dual, dual.T):
            dual = self._dual(inverse)
        excess = Prices(square, prices, np.full(size, 1 / size), self.ratio).excess(np.tri(size, size, -1, dtype=bool))
        return WorkloadBound(dual, prices + max(0.0, float(excess.max())) / size, told)

    def _relaxed(self, rows: Rows, prior: Floats, told: Floats | None) -> tuple[float, WorkloadBound]:
        """The bound of the relaxation at its own optimum, with splits as long as these matter."""
        if self.size > MOST_INTERIOR:
            return self._spliced(rows, prior, told)
        known, gap = self._known(prior), self.gap
        # of queries that do not ask for all shares a little of the histogram is asked beside them: M is decided then
        unit = float(np.trace(self.gram)) / self.size
        interior = Interior(self.gram, self.ratio, prior, _BLUR * gap * unit)
        lifted = self._lifted(rows, prior)
        splits: tuple[Split, ...] = ()
        best, best_bound = None, -math.inf
        for _ in range(_SPLIT_ROUNDS):
            start = _NEAR * lifted + (1 - _NEAR) * interior.even()
            found = interior.run(start, splits, _ACCURATE * gap, self.clock)
            bound, before = found.bound, best_bound
            if bound > best_bound or best is None:
                best_bound, lifted = bound, found.lifted
                best = WorkloadBound(self._dual(found.inverse), found.prices, told, found.multipliers, found.splits)
            self.details["relaxed"] = self.details.get("relaxed", 0) + 1
            self.say(best_bound - known, rows.value - known)
            fresh = splits_of(found.lifted, splits, _MOST_SPLITS)
            is_slow = best_bound - before < _GETS_ON * gap * (rows.value - known)
            if not fresh or is_slow or self.clock.is_over:
                break
            both = [(split, split.turned()) if interior.turns else (split,) for split in fresh]
            splits = splits + tuple(dict.fromkeys(split for pair in both for split in pair))
        assert best is not None
        return best_bound, best

    def _lifted(self, rows: Rows, prior: Floats) -> Floats:
        """The moments of rows as bits, ``sum u yy' / (p.z)^2`` with ``y = (1, b)``."""
        bits = rows.bits
        lifted = np.column_stack([np.ones(len(bits)), bits]) / ((1 + (self.ratio - 1) * bits) @ prior)[:, None]
        return np.asarray((lifted * rows.found.shares[:, None]).T @ lifted)

    def _branched(self, rows: Rows, prior: Floats) -> tuple[float, WorkloadBound]:
        """The bound of the prices of rows, and the tree that shows how much is wanting in them at most."""
        found, known = rows.found, self._known(prior)
        square = found.inverse @ self.gram @ found.inverse
        asked = Prices((square + square.T) / 2, found.prices, prior, self.ratio)
        enough = _INSIDE_TREE * self.gap * (rows.value - known)
        grown = Tree(asked, found.value, rows.bits).grown(enough, self.clock)
        self.details["leaves"] = len(grown.leaves)
        prices = found.prices + grown.wanting * prior
        value = float(np.sum(self.gram * found.inverse))
        return value**2 / float(prices.sum()), WorkloadBound(
            self._dual(found.inverse), prices, None, leaves=grown.leaves
        )

    def _spliced(self, rows: Rows, prior: Floats, told: Floats | None) -> tuple[float, WorkloadBound]:
        """The best bound of a relaxation, at the matrix that mixes its own moments with those of the rows.

        The relaxation allows a little more than rows do: at the least point of the larger set its multipliers fit.
        """
        relaxation = Relaxation(self.ratio, prior, self._lifted(rows, prior))
        moment = np.asarray(np.linalg.inv(rows.found.inverse), dtype=np.float64)
        known, best, best_bound = self._known(prior), None, -math.inf
        stage_bound = best_bound
        for turn in range(1, _MOST_TURNS + 1):
            inverse = np.linalg.inv(moment)
            inverse = (inverse + inverse.T) / 2
            value = float(np.sum(self.gram * inverse))
            account = relaxation.improved(inverse @ self.gram @ inverse, value, _RELAXED_STEPS, 1e-9)
            bound = value**2 / account.total
            if bound > best_bound:
                best_bound, best = bound, WorkloadBound(self._dual(inverse), account.prices, told, account.multipliers)
            self.say(best_bound - known, rows.value - known)
            open_gap = rows.value - best_bound
            if open_gap <= _ENOUGH * self.gap * (rows.value - known) or self.clock.is_over:
                break
            if turn % _TURNS == 0:
                if best_bound - stage_bound < _GETS_ON * open_gap and turn > _TURNS:
                    break
                stage_bound = best_bound
                moment = np.asarray(self._nearer(moment, account.moment))
        assert best is not None
        self.details["relaxed"] = self.details.get("relaxed", 0) + turn
        return best_bound, best

    def _nearer(self, moment: Floats, other: Floats) -> Floats:
        """The best mixture of two moment matrices."""
        from scipy.optimize import minimize_scalar

        def value(share: float) -> float:
            mixed = (1 - share) * moment + share * other
            try:
                np.linalg.cholesky(mixed)
            except np.linalg.LinAlgError:
                return math.inf
            return float(np.sum(self.gram * np.linalg.inv(mixed)))

        found = minimize_scalar(value, bounds=(0.0, 0.999), method="bounded", options={"xatol": 1e-4})
        share = float(found.x) if found.fun < value(0.0) else 0.0
        return (1 - share) * moment + share * other

    # -- two or three queries ------------------------------------------------------------------------------------------

    def _few(self) -> Design:
        """Where mirror images leave few types: both ends from one program, proven in the space of the answers."""
        prior = self._own_prior
        floor = _FLOOR * self.gap / self.size
        found = few_queries(self.queries.T, self.ratio, prior, floor, _INSIDE_FEW * self.gap, self.clock, self.say)
        if found is None:
            raise NoAnswer(TIME_LIMIT, 0.0, math.inf)
        roots = np.ones(len(self.queries)) if self.workload.weights is None else np.sqrt(self.workload.weights)
        evidence = WorkloadBound(found.dual / roots, found.prices, found.prior if prior is None else None)
        self.details["rounds"] = found.rounds
        mechanism = self._mechanism(found.bits, found.weights, found.prior)
        return self._designed(mechanism, evidence, "cutting planes in the space of the answers (HiGHS)")

    # -- one query -----------------------------------------------------------------------------------------------------

    @property
    def _is_equispaced_mean(self) -> bool:
        """Whether it is a mean of equispaced values, which has a faster search."""
        if len(self.queries) != 1 or self.size < 3:
            return False
        steps = np.diff(self.queries[0])
        return bool(steps[0] > 0 and np.ptp(steps) <= _EVEN * steps[0])

    def _mean(self) -> Design:
        """The unbiased optimum on an interval, at the types alone; its quadratics are ``p a^2 - 2 X a + nu``."""
        prior, values = self._prior, self.workload.queries.matrix[0]
        grid = np.linspace(-1.0, 1.0, self.size)
        asked = UnbiasedProblem(self.problem.epsilon, Atoms(grid, prior), size=self.size, gap=max(0.8 * self.gap, 1e-6))
        try:
            found = optimal_unbiased(asked, self.clock.left())
        except NoAnswer as stopped:
            if stopped.design is None:
                raise
            found = stopped.design
        offsets, slopes = found.evidence.offsets, found.evidence.slopes  # type: ignore[attr-defined]
        steep = slopes - prior * offsets
        vector = prior * grid - steep / 2
        prices = prior * grid**2 - steep * grid - offsets * slopes
        # from [-1, 1] to the values: answers are stretched and moved, and a = middle + half a'
        middle, half = (values[0] + values[-1]) / 2, (values[-1] - values[0]) / 2
        prices = half**2 * prices + 2 * middle * half * vector + middle**2 * prior
        vector = half * vector + middle * prior
        if self.workload.weights is not None:
            prices = prices * float(self.workload.weights[0])
        law = found.mechanism
        channel = law.mass(law.points[None, :], grid[:, None])  # type: ignore[union-attr]
        channel = channel / channel.sum(axis=1, keepdims=True)
        mechanism = self._table(channel, channel.min(axis=0))
        self.details["rounds"] = found.report.details["rounds"]
        return self._designed(mechanism, WorkloadBound(vector[:, None], prices), found.report.solver)

    # -- worst type ----------------------------------------------------------------------------------------------------

    def _worst(self) -> Design:
        """Mechanisms for priors that come nearer to the least favourable one, and their best mixture.

        The noise of each mechanism is linear in the prior: the best mixture is that of a game. The next prior is the
        one that the mixture, with an estimator of its own, finds hardest.
        """
        basis = basis_of(self.queries)
        is_small = len(basis) < self.size or self.size <= MOST_TRIED
        if is_small and self.size * (len(basis) + 2) <= MOST_UNKNOWNS:
            return self._worst_of_few(basis)
        left = self.clock.left()
        clock = self.clock if left is None else Clock(_COLUMNS_SHARE * left)
        columns, known = self._columns(), (self.queries**2).sum(axis=0)
        prior = np.full(self.size, 1 / self.size)
        highest, lowest, inner = -math.inf, math.inf, 10 * self.gap
        noises: list[Floats] = []
        weighted: list[dict[bytes, float]] = []
        stuck = 0
        for _ in range(_PRIOR_ROUNDS):
            rows = columns.run(prior, inner, self._known(prior), clock)
            weights = rows.weights(self.ratio, prior)
            noises.append(self._noises(rows.bits, weights, prior))
            weighted.append({row.tobytes(): own for row, own in zip(rows.bits, weights.tolist(), strict=True)})
            value = rows.bound - float(known @ prior)
            if value > highest:
                highest, best, at = value, rows, prior
            bits, weights = self._mixed(weighted, _mixture(np.array(noises)))
            prior, upper = self._hardest(bits, weights, at)
            is_stuck = upper > lowest * (1 - _MOVES * self.gap) and value < highest * (1 + _MOVES)
            if upper < lowest:
                lowest, mechanism = upper, (bits, weights, prior)
            self.say(highest, lowest)
            if upper - highest <= 2 * inner * upper:
                if inner <= _INSIDE * self.gap:
                    break
                inner = max(inner / 4, _INSIDE / 2 * self.gap)
            if clock.is_over:
                break
            if is_stuck:  # at an end of the simplex: mechanisms for priors inside know of all types
                inside = _INWARDS[stuck % len(_INWARDS)]
                prior, stuck = (1 - inside) * prior + inside / self.size, stuck + 1
        # the prior of the evidence is also that of the estimator: the hardest one for the mixture, which is nearly the
        # least favourable one, where the bound is flat
        bits, weights, prior = mechanism
        last = columns.run(prior, inner, self._known(prior), clock)
        table = self._mechanism(bits, weights, prior)
        if last.bound - float(known @ prior) < highest - self.gap * lowest:
            last, prior = best, at
        self.details |= {"rounds": columns.rounds, "priors": len(noises)}
        return self._designed(table, self._evidence(last, prior, prior), "interior point on rows, games over priors")

    def _worst_of_few(self, basis: Floats) -> Design:
        """Queries that do not ask for all shares: mechanism and prior at once, then the rows of that prior's proof."""
        gap, left = self.gap, self.clock.left()
        clock = self.clock if left is None else Clock(_COLUMNS_SHARE * left)
        columns = self._columns()
        saddle = worst_saddle(basis, self.ratio, _FLOOR * gap, _INSIDE_SADDLE * gap, columns, clock)
        prior, rows = saddle.prior, saddle.rows
        # a little of the rows of the proof, which tell all types apart
        parts = [(saddle.bits, saddle.weights), (rows.bits, rows.weights(self.ratio, prior))]
        weighted = [{row.tobytes(): own for row, own in zip(bits, each.tolist(), strict=True)} for bits, each in parts]
        share = _FLOOR * gap
        bits, weights = self._mixed(weighted, np.array([1 - share, share]))
        self.details |= {"rounds": columns.rounds + saddle.rounds}
        table = self._mechanism(bits, weights, prior)
        return self._designed(table, self._evidence(rows, prior, prior), "cones on rows, interior point on rows")

    def _noises(self, bits: Bits, weights: Floats, prior: Floats) -> Floats:
        channel = ((1 + (self.ratio - 1) * bits) * weights[:, None]).T
        channel = channel / channel.sum(axis=1, keepdims=True)
        return noise(channel, decoder(channel, prior) @ self.queries.T, self.queries)

    def _mixed(self, weighted: list[dict[bytes, float]], shares: Floats) -> tuple[Bits, Floats]:
        """One channel in which each row has the weight it has in all mechanisms."""
        total: dict[bytes, float] = {}
        for own, share in zip(weighted, shares.tolist(), strict=True):
            for row, weight in own.items() if share > 0 else ():
                total[row] = total.get(row, 0.0) + share * weight
        return np.array([np.frombuffer(row, dtype=bool) for row in total]), np.array(list(total.values()))

    def _hardest(self, bits: Bits, weights: Floats, prior: Floats) -> tuple[Floats, float]:
        """The prior under which a channel has the most noise with the estimator made for it, and its worst type there.

        The noise is concave in the prior, and its slopes are the noises of the types.
        """
        from scipy.optimize import minimize

        def less(logits: Floats) -> tuple[float, Floats]:
            shares = np.exp(logits - logits.max())
            shares /= shares.sum()
            own = self._noises(bits, weights, shares)
            value = float(own @ shares)
            return -value / scale, -shares * (own - value) / scale

        scale = max(float(self._noises(bits, weights, prior).max()), 1e-300)
        options = {"maxiter": _PRIOR_STEPS, "maxfun": 2 * _PRIOR_STEPS, "ftol": 1e-15, "gtol": 1e-12}
        best, least = prior, math.inf
        start = prior
        for _ in range(_LIFTS):
            logits = np.log(np.maximum(start, _LEAST_SHARE))
            found: Any = minimize(less, logits, jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
            shares = np.exp(found.x - found.x.max())
            shares /= shares.sum()
            own = self._noises(bits, weights, shares)
            if float(own.max()) < least:
                best, least = shares, float(own.max())
            if own.max() <= float(own @ shares) * (1 + _EVEN):
                break
            # a share near 0 hardly moves, whatever its type's noise: lift the one that has most
            start = shares.copy()
            start[int(own.argmax())] += _LIFTED
            start /= start.sum()
        return best, least


def _mixture(noises: Floats) -> Floats:
    """The mixture of mechanisms, one a row, whose worst type has the least noise."""
    count, size = noises.shape
    cost = np.append(np.zeros(count), 1.0)
    below = np.column_stack([noises.T, -np.ones(size)])
    equal = np.append(np.ones(count), 0.0)[None, :]
    found: Any = linprog(cost, below, np.zeros(size), equal, [1.0], [(0, None)] * count + [(None, None)])
    if found.status != 0:
        raise CheckFailed("the mixture of mechanisms could not be found")
    shares = np.maximum(found.x[:count], 0.0)
    return np.asarray(shares / shares.sum())


def _balanced(rows: Floats, weights: Floats) -> Floats | None:
    """Weights next to these with ``sum_z w_z z = 1``; None where some would be below 0."""
    roots = np.sqrt(weights)
    scaled = rows * roots[:, None]
    found = weights
    for _ in range(4):
        change, *_ = np.linalg.lstsq(scaled.T, 1 - rows.T @ found, rcond=1e-10)
        found = found + roots * change
    return found if (found > 0).all() and np.abs(1 - rows.T @ found).max() < 1e-9 else None
