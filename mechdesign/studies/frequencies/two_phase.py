"""The two-phase protocol of AAA: learn the distribution from some users, design for it, ask the others.

``plan -> split -> describe -> design -> collect -> estimate``. The groups are disjoint and every user reports once,
with all of epsilon: the collection is epsilon-LDP for everyone, although what is asked of the second group depends on
what the first one said.

**What becomes of the first group's reports.** The paper uses them for the descriptor only and estimates from the second
group. But their reports are estimates of their own values too, unbiased once debiased. With weight w on the first
group's mean the error of the estimate around the mean of all n users is, for m users in the first group and
``r = m / (n - m)``,

    ``(w (1 + r) - r)^2 S^2 / m (1 - m/n)  +  w^2 V_1 / m  +  (1 - w)^2 V_2 / (n - m)``,

with S^2 the variance of the data and V_1, V_2 the average variance of a report given its value. w is fixed before
anyone reports, hence the estimate is unbiased whatever the data are. It is the best one for uniform data and HM in
the second group, which needs no knowledge; w = 0 is the paper's estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput, require_finite, require_whole
from mechdesign.exact.privacy import prove_privacy
from mechdesign.intervals import CONFIDENCE
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.mechanisms.catalogue import hm
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.studies.frequencies.descriptor import (
    Descriptor,
    EdgeResponse,
    HistogramProtocol,
    describe,
    report_edges,
)
from mechdesign.studies.frequencies.mean import (
    EstimatedMean,
    bounded_mean,
    calibrate,
    reports_mean,
)
from mechdesign.studies.frequencies.numeric import Accuracy
from mechdesign.studies.frequencies.quantise import edges_of, require_bins, require_data
from mechdesign.values.declare import Floats, epsilon, evolved, finite, frozen, settle, whole
from mechdesign.words.classes import OnGrid, Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Interval, require_domain, require_numbers
from mechdesign.words.losses import Squared
from mechdesign.words.priors import Atoms
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

Flags = NDArray[np.bool_]
DesignStep = Callable[[float, Atoms], Mechanism]

SHARE = 0.1
"""The share of the first group in the paper's experiments (section 7)."""

LEAST_BINS = 2
_LEAST_GROUP = 2
_DESIGN_GAP = 1e-3
_UNIFORM_PLACES = 1001


def default_bins(users: int) -> int:
    """Section 7.2's bin sizes: 0.25 of [-1, 1] for a thousand users, 0.125 for ten thousand and more.

    >>> default_bins(1000), default_bins(10**5)
    (8, 16)
    """
    return 8 if users < 10_000 else 16


def free_form(epsilon: float, prior: Atoms) -> Mechanism:
    """The unbiased mechanism with the least variance under the descriptor, outputs free (the certified optimum)."""
    mechanism = _designed(_free(epsilon, prior), size=prior.points.size)
    assert isinstance(mechanism, UnbiasedWindow)
    return mechanism


def additive_form(epsilon: float, prior: Atoms) -> Mechanism:
    """The paper's own kind of mechanism: noise on the grid of the descriptor with a law for each edge."""
    mechanism = _designed(_additive(epsilon, prior))
    assert isinstance(mechanism, ConditionalNoise)
    return mechanism


def _free(epsilon: float, prior: Atoms) -> Problem:
    inputs = Interval(float(prior.points[0]), float(prior.points[-1]))
    privacy, criterion = Pure(epsilon), Average(prior)
    return Problem(inputs=inputs, loss=Squared(), privacy=privacy, criterion=criterion, among=Unbiased())


def _additive(epsilon: float, prior: Atoms) -> Problem:
    return evolved(_free(epsilon, prior), among=OnGrid(prior.points.size - 1))


def _designed(problem: Problem, **options: Any) -> Any:
    from mechdesign.methods.registry import solve

    return solve(problem, gap=_DESIGN_GAP, **options).mechanism


FORMS: dict[str, DesignStep] = {"additive": additive_form, "free": free_form}
"""The design steps by name: the paper's own, and the certified optimum over all unbiased mechanisms."""

_PROBLEMS: dict[DesignStep, Callable[[float, Atoms], Problem]] = {additive_form: _additive, free_form: _free}


@frozen
class TwoPhasePlan:
    """Who is asked what, fixed before anyone reports.

    ``share`` of the ``users`` say on which of ``bins + 1`` edges they are, the others report a number. ``weight`` is
    that of the first group's own mean in the estimate: the best for uniform data unless given, 0 for the paper's
    estimate. ``step`` makes the second group's mechanism of the descriptor: `additive_form`, `free_form` or your own.
    A plan is refused if they could not: after the first group has reported it would be too late.

    >>> plan = TwoPhasePlan(1.0, 10_000, Interval(-1, 1))
    >>> plan.first, plan.second, plan.bins, round(plan.weight, 4)
    (1000, 9000, 16, 0.0115)
    """

    epsilon: float = epsilon()
    users: int = whole("users", 1)
    inputs: Interval
    bins: int | None = None
    share: float = finite("share", default=SHARE)
    weight: float | None = None
    step: DesignStep = additive_form

    def __attrs_post_init__(self) -> None:
        require_domain(self.inputs, (Interval,), "bounds")
        settle(self, bins=require_bins(default_bins(self.users) if self.bins is None else self.bins, LEAST_BINS))
        if not 0 < self.share < 1:
            raise InvalidInput("share", self.share, "lie between 0 and 1", "each user is in one of two groups: try 0.1")
        if min(self.first, self.second) < _LEAST_GROUP:
            rule = f"leave at least {_LEAST_GROUP} users for each group (they are {self.first} and {self.second})"
            raise InvalidInput("users", self.users, rule, "ask more users or change the share")
        weight = self._best_weight() if self.weight is None else require_finite(self.weight, "weight")
        if not 0 <= weight <= 1:
            raise InvalidInput("weight", self.weight, "lie in [0, 1]", "0 leaves the first group out of the mean")
        settle(self, weight=weight)
        self._require_step()

    def _require_step(self) -> None:
        if not callable(self.step):
            raise InvalidInput("step", self.step, f"make a mechanism of epsilon and a prior, as {' or '.join(FORMS)}")
        from mechdesign.methods.registry import method_of

        edges = self._edges()
        for step, problem in _PROBLEMS.items():
            if step is self.step:
                method_of(problem(self.epsilon, Atoms(edges, np.full(edges.size, 1 / edges.size))))

    def _edges(self) -> Floats:
        assert self.bins is not None
        return edges_of(self.inputs, self.bins)

    @property
    def first(self) -> int:
        """The size of the first group."""
        return round(self.share * self.users)

    @property
    def second(self) -> int:
        """The size of the second group."""
        return self.users - self.first

    @property
    def response(self) -> EdgeResponse:
        """How the first group reports, unless another protocol is chosen."""
        assert self.bins is not None
        return EdgeResponse(self.epsilon, self.inputs, self.bins)

    def _best_weight(self) -> float:
        places = np.linspace(self.inputs.lower, self.inputs.upper, _UNIFORM_PLACES)
        spread = self.inputs.length**2 / 12
        first = float(self.response.variance(places).mean()) / self.first
        second = float(hm(self.epsilon, self.inputs).variance(places).mean()) / self.second
        ratio, between = self._between(spread)
        return (ratio * (1 + ratio) * between + second) / ((1 + ratio) ** 2 * between + first + second)

    def _between(self, spread: float) -> tuple[float, float]:
        """``r = m / (n - m)``, and the variance of the first group's mean for data of this variance."""
        return self.first / self.second, spread / self.first * (1 - self.first / self.users)

    # -- the steps ----------------------------------------------------------------------------------------------------

    def split(self, rng: np.random.Generator) -> Flags:
        """Which users are in the first group: a uniformly random choice of that many."""
        chosen = np.zeros(self.users, dtype=np.bool_)
        chosen[require_generator(rng).choice(self.users, self.first, replace=False)] = True
        return chosen

    def report_edges(
        self, values: ArrayLike, rng: np.random.Generator, protocol: HistogramProtocol | None = None
    ) -> Any:
        """The clients of the first group: their values rounded to edges, through the protocol."""
        data = self._require_group(values, self.first, "first group")
        return report_edges(self._protocol(protocol), data, self.inputs, rng)

    def describe(self, reports: Any, protocol: HistogramProtocol | None = None) -> Descriptor:
        """The server after the first group: the distribution the others' mechanism is designed for.

        It is made of as many reports as came; some users may have stayed away.
        """
        return describe(self._protocol(protocol), reports, _received(reports, "histogram reports"), self.inputs)

    def design(self, descriptor: Descriptor) -> Mechanism:
        """The mechanism for the second group.

        *Guarantee.* It is epsilon-LDP in exact arithmetic, takes every value in the bounds and is unbiased, or an error
        is raised: whatever the descriptor, privacy and lack of bias do not rest on it.
        """
        return self.require_mechanism(self.step(self.epsilon, descriptor.prior))

    def require_mechanism(self, mechanism: Mechanism) -> Mechanism:
        """A mechanism that may be asked of the second group, or an error."""
        prove_privacy(mechanism, self.epsilon)
        inputs = mechanism.inputs
        slack = 1e-9 * self.inputs.length
        if (
            not isinstance(inputs, Interval)
            or abs(inputs.lower - self.inputs.lower) > slack
            or abs(inputs.upper - self.inputs.upper) > slack
        ):
            raise InvalidInput("design", str(inputs), f"take the inputs {self.inputs}", "design on the prior's points")
        line = calibrate(mechanism)
        if not line.is_unbiased or line.slope != 1.0:
            raise InvalidInput("design", mechanism.name, "be unbiased: E[Y|x] = x", "for example pm, or free_form")
        return mechanism

    def estimate(
        self,
        edge_reports: Any,
        reports: ArrayLike,
        mechanism: Mechanism,
        confidence: float = CONFIDENCE,
    ) -> EstimatedMean:
        """The server at the end: ``w (debiased mean of the first group) + (1 - w) (mean of the second group)``.

        The averages are over the reports that came, whose numbers ``users`` of the answer adds up.

        *Guarantee.* Unbiased for the mean of all users, over their random split and their noise, if none stays away or
        those who do are as likely to whatever their value. On either side the interval reaches as far as both groups'
        means do, each that of `mechdesign.studies.frequencies.mean`, added in squares (Zou and Donner 2008).
        """
        seen = require_numbers(reports, "reports").ravel()
        users = _received(edge_reports, "histogram reports") + _received(seen, "reports")
        if not np.isfinite(seen).all():
            place = int(np.argmax(~np.isfinite(seen)))
            raise InvalidData(f"reports[{place}]", float(seen[place]), "be finite")
        assert self.weight is not None
        groups = [(1 - self.weight, reports_mean(seen, mechanism, confidence))]
        if self.weight:
            self.response.support(edge_reports)  # refuses what is no edge
            numbers = self.response.debiased()
            ends = float(numbers[0]), float(numbers[-1])
            groups.append((self.weight, bounded_mean(numbers[np.asarray(edge_reports)], ends, confidence)))
        value = math.fsum(weight * group.value for weight, group in groups)
        error = math.hypot(*(weight * group.error for weight, group in groups))
        below = math.hypot(*(weight * group.below for weight, group in groups))
        above = math.hypot(*(weight * group.above for weight, group in groups))
        return EstimatedMean(value, error, value - below, value + above, confidence, users)

    def expected_error(self, values: ArrayLike, mechanism: Mechanism) -> float:
        """The root mean squared error for these users, over splits and noise: exact for a mechanism fixed beforehand.

        A mechanism that was designed from the first group's reports knows a little about who is left in the second.
        Averaged over the descriptors the squared error is then off by a share of order 1/n. (With Duchi's mechanism or
        PM by what a first group of 2 says, in an example small enough to be enumerated: 6.1%, 3.6% and 1.9% for 4, 8
        and 16 users.)
        """
        data = self._require_group(values, self.users, "data")
        alike = np.full(data.size, 1 / data.size)
        return self._error(data, alike, float(data.var(ddof=1)), mechanism)

    def error_under(self, prior: Atoms, mechanism: Mechanism) -> float:
        """The same for users drawn from ``prior``: the root of the expected squared error, as before any are asked."""
        points = require_data(prior.points, self.inputs)
        offsets = points - float(prior.weights @ points)
        return self._error(points, prior.weights, float(prior.weights @ offsets**2), mechanism)

    def _error(self, points: Floats, weights: Floats, spread: float, mechanism: Mechanism) -> float:
        assert self.weight is not None
        ratio, between = self._between(spread)
        first = float(weights @ self.response.variance(points)) / self.first if self.weight else 0.0
        second = float(weights @ mechanism.variance(points)) / self.second
        parts = (self.weight * (1 + ratio) - ratio) ** 2 * between
        return math.sqrt(parts + self.weight**2 * first + (1 - self.weight) ** 2 * second)

    def _protocol(self, protocol: HistogramProtocol | None) -> HistogramProtocol:
        if protocol is None:
            return self.response
        if protocol.size != self.response.size:
            raise InvalidInput("protocol", protocol.size, f"have {self.response.size} categories, one for each edge")
        if not protocol.privacy_loss() <= self.epsilon * (1 + 1e-12):
            raise InvalidInput("protocol", protocol.privacy_loss(), f"have a privacy loss of at most {self.epsilon:g}")
        if self.weight != 0.0:
            step = "attrs.evolve(plan, weight=0.0)"
            raise InvalidInput("weight", self.weight, "be 0 with a protocol of your own, which only describes", step)
        return protocol

    def _require_group(self, values: ArrayLike, size: int, field: str) -> Floats:
        data = require_data(values, self.inputs)
        if data.size != size:
            raise InvalidInput(field, f"{data.size} values", f"hold {size} values, one for each user")
        return data


def _received(reports: Any, field: str) -> int:
    """How many users reported: the first axis is theirs."""
    count = np.shape(reports)[0] if np.ndim(reports) else 0
    if count == 0:
        raise InvalidInput(field, reports, "be at least one", "nothing is known of this group")
    return count


@frozen
class TwoPhaseRun:
    """One simulated collection, step by step."""

    descriptor: Descriptor
    mechanism: Mechanism
    estimate: EstimatedMean


def simulate_once(
    plan: TwoPhasePlan,
    values: ArrayLike,
    rng: np.random.Generator,
    confidence: float = CONFIDENCE,
) -> TwoPhaseRun:
    """One collection from these users.

    >>> values = np.linspace(-1, 1, 5000)
    >>> run = simulate_once(TwoPhasePlan(2.0, 5000, Interval(-1, 1)), values, np.random.default_rng(0))
    >>> run.estimate.covers(0.0)
    True
    """
    data = require_data(values, plan.inputs)
    if data.size != plan.users:
        raise InvalidInput("data", f"{data.size} values", f"hold {plan.users} values, one for each user of the plan")
    is_first = plan.split(rng)
    edge_reports = plan.report_edges(data[is_first], rng)
    descriptor = plan.describe(edge_reports)
    mechanism = plan.design(descriptor)
    reports = mechanism.sample(data[~is_first], rng)
    return TwoPhaseRun(descriptor, mechanism, plan.estimate(edge_reports, reports, mechanism, confidence))


def simulate_two_phase(plan: TwoPhasePlan, values: ArrayLike, trials: int, rng: np.random.Generator) -> Accuracy:
    """Errors of the estimated mean over repeated collections from the same users."""
    repeats = require_whole(trials, "trials", 1)
    data = require_data(values, plan.inputs)
    truth = float(data.mean())
    errors = np.array([simulate_once(plan, data, rng).estimate.value - truth for _ in range(repeats)])
    rmse = float(np.sqrt(np.mean(errors**2)))
    return Accuracy(repeats, float(np.abs(errors).mean()), rmse, float(abs(errors.mean())))
