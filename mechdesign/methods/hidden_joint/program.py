"""Laws at a delta above 0: a linear program for each slope, until the lines they prove leave nothing better.

**Program.** Variables are ``P(K = k)`` and the excesses ``s_l, t_l >= 0``; with ``a_l = P(K=l) (n-l) / n`` and
``b_l = P(K=l+1) (l+1) / (n c)`` minimise ``E [h - slope d]`` subject to

    a_l - e^eps b_l <= s_l,    b_l - e^eps a_l <= t_l,    sum_l (s_l + t_l) <= delta,    sum_k P(K = k) = 1.

Its duals prove a line below every law (`mechdesign.methods.hidden_joint.proof.hockey_line`). Where the lines found
leave the least variance, a slope in between is asked for.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from mechdesign_solvers import Highs, LinearProgram, Status
from scipy.sparse import csr_array, diags_array, eye_array, hstack, vstack

from mechdesign.errors import CheckFailed, NoAnswer, SolverFailed
from mechdesign.exact.hidden import hidden_excess, liars_of
from mechdesign.exact.rational import float_up
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.methods.hidden_joint.crowd import Crowd, Objective
from mechdesign.methods.hidden_joint.proof import HockeyDuals, Line, hockey_line, lower_bound, mean_of, most_variance
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, frozen

_GRID = 200
_TOLERANCE = 1e-10
_MOST_LINES = 200
_SAFE = Fraction(1, 10**6)


@frozen
class _Found:
    """What a slope's program gave: the law, its multipliers, and the line they prove."""

    slope: float
    law: Floats
    price: float
    of_truth: Floats
    of_lie: Floats
    line: Line


class _Slopes:
    """The program, whose costs change with the slope."""

    def __init__(self, problem: Crowd, goal: Objective) -> None:
        self.problem, self.goal = problem, goal
        users, wrong = problem.users, problem.answers - 1
        k = np.arange(users + 1.0)
        ratio = float(problem.ratio(up=False))
        true = hstack([diags_array((users - k[:-1]) / users), csr_array((users, 1))])
        lied = hstack([csr_array((users, 1)), diags_array(k[1:] / (users * wrong))])
        slack, none = eye_array(users), csr_array((users, users))
        self.matrix = csr_array(
            vstack(
                [
                    hstack([true - ratio * lied, -slack, none]),
                    hstack([lied - ratio * true, none, -slack]),
                    csr_array(np.concatenate([np.zeros(users + 1), np.ones(2 * users)])[None, :]),
                    csr_array(np.concatenate([np.ones(users + 1), np.zeros(2 * users)])[None, :]),
                ]
            )
        )
        self.lower = np.concatenate([np.full(2 * users + 1, -math.inf), [1.0]])
        self.upper = np.concatenate([np.zeros(2 * users), [problem.delta, 1.0]])
        self.scale = max(abs(float(goal.offset)), float(goal.height()[0]), 1.0)
        self.height, self.divisor = (self._values(part) for part in (goal.height(), goal.divisor()))

    def _values(self, quadratic: tuple[Fraction, Fraction, Fraction]) -> Floats:
        a, b, c = quadratic
        return np.array([float(a + b * k + c * k * k) for k in range(self.problem.users + 1)])

    def solve(self, slope: float) -> _Found:
        """The law that is least in the direction of a slope, and the line that proves it."""
        users = self.problem.users
        cost = np.concatenate([(self.height - slope * self.divisor) / self.scale, np.zeros(2 * users)])
        program = LinearProgram.of(cost, self.matrix, self.lower, self.upper, lower=0.0)
        solution = Highs(tolerance=_TOLERANCE).solve(program)
        if solution.status is not Status.OPTIMAL or solution.primal is None or solution.row_duals is None:
            raise SolverFailed("HiGHS", solution.status.value, "a larger --delta, or none")
        duals = np.maximum(-solution.row_duals[: 2 * users + 1], 0.0) * self.scale
        law = np.maximum(solution.primal[: users + 1], 0.0)
        price = float(max(duals[-1], duals[:-1].max()))
        truth, lie = duals[:users], duals[users : 2 * users]
        line = hockey_line(self.problem, self.goal, slope, price, truth, lie)
        return _Found(slope, law / law.sum(), price, truth, lie, line)


def search_delta(
    problem: Crowd, safe: PeakedResponse, gap: float, clock: Clock
) -> tuple[CountedResponse, HockeyDuals, int]:
    """The best law at a delta above 0, what proves that hardly any is better, and the number of programs.

    ``safe`` is the best law without a delta: the least there is to gain is measured from there.
    """
    goal = problem.objective(problem.alignment)
    program = _Slopes(problem, goal)
    pure = CountedResponse(_on_grid(liars_of(safe, problem.users)), problem.answers)
    d, h = (float(mean_of(pure, part)[0]) for part in (goal.divisor(), goal.height()))
    best, value = pure, most_variance(pure, goal)
    found = [program.solve(slope) for slope in (0.0, h / d, 2 * h / d, 8 * h / d)]
    fresh = found
    while True:
        for one in fresh:
            law = _private(problem, one.law, pure)
            here = most_variance(law, goal) if law is not None else value
            if law is not None and here < value:
                best, value = law, here
        found = sorted(
            [*found, *(one for one in fresh if all(one is not known for known in found))], key=lambda one: one.slope
        )
        lower = lower_bound(problem, goal, [one.line for one in found], Fraction(0))
        if lower >= float(value) * (1 - 0.9 * gap):
            break
        if clock.is_over or len(found) > _MOST_LINES:
            raise NoAnswer("the time limit was reached", lower, float_up(value))
        slope = _between(program, found, goal)
        if slope is None:
            break
        fresh = [program.solve(slope)]
    evidence = HockeyDuals(
        np.array([one.slope for one in found]),
        np.array([one.price for one in found]),
        np.concatenate([one.of_truth for one in found]),
        np.concatenate([one.of_lie for one in found]),
    )
    return best, evidence, len(found)


def _between(program: _Slopes, found: list[_Found], goal: Objective) -> float | None:
    """The slope to ask for next: where two neighbours leave the least, of the line through their laws."""
    worst, slope = math.inf, None
    for one, two in zip(found, found[1:], strict=False):
        (level, low), (above, high) = one.line, two.line
        d = float((level - above) / (high - low))
        if d <= 0:
            continue
        left = (float(level) + one.slope * d) / d**2
        if left >= worst or two.slope - one.slope < 1e-12 * (1 + abs(one.slope)):
            continue
        points = [(float(np.dot(program.divisor, x.law)), float(np.dot(program.height, x.law))) for x in (one, two)]
        run, rise = points[1][0] - points[0][0], points[1][1] - points[0][1]
        chord = rise / run if run > 1e-12 else math.nan
        inside = one.slope < chord < two.slope
        worst, slope = left, chord if inside else (one.slope + two.slope) / 2
    last = found[-1]
    most = float(goal.scale)  # beyond the largest d of all
    end = (float(last.line[0]) + last.slope * most) / most**2
    return 2 * last.slope if end < worst and last.slope < 1e9 * program.scale else slope


def _private(problem: Crowd, floats: Floats, safe: CountedResponse) -> CountedResponse | None:
    """The law on the grid; where rounding breaks delta, with as much of a safe law mixed in as is needed."""
    chances = _on_grid([Fraction(x) for x in floats.tolist()])
    lies = sum((k * chance for k, chance in enumerate(chances)), Fraction(0))
    if lies * problem.answers >= problem.users * (problem.answers - 1):
        return None  # a report that tells nothing
    law = CountedResponse(chances, problem.answers)
    ratio, delta = problem.ratio(up=False), Fraction(problem.delta)
    for margin in (Fraction(0), _SAFE, 1000 * _SAFE):
        excess = hidden_excess(law, ratio)
        if excess <= delta:
            return law
        share = min(Fraction(1), (1 - delta / excess) + margin)
        mixed = [(1 - share) * x + share * y for x, y in zip(chances, safe.chances, strict=True)]
        law = CountedResponse(_on_grid(mixed), problem.answers)
    if hidden_excess(law, ratio) > delta:
        raise CheckFailed("no rounding of the law keeps its delta")
    return law


def _on_grid(chances: list[Fraction] | tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Chances in multiples of ``2^-200``; what rounding leaves goes to the largest."""
    total = sum(chances)
    units = [math.floor(chance / total * (1 << _GRID)) for chance in chances]
    units[max(range(len(units)), key=units.__getitem__)] += (1 << _GRID) - sum(units)
    return tuple(Fraction(unit, 1 << _GRID) for unit in units)
