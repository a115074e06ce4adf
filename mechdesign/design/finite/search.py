"""The best epsilon-LDP mechanism for any loss matrix, with its proof.

**Problem.** Inputs are the rows and outputs the columns of ``loss_matrix``: categories, nodes of a tree, points of any
dimension (`euclidean`). Minimised is the worst case over the inputs, the average under a prior, or the average among
the mechanisms whose worst case is next to the least there is (``lexicographic``; a larger ``slack`` trades one for the
other).

**Program.** Cutting planes over the base measure, see `mechdesign.design.finite.program`.

**Proof.** Levels and multipliers of the program, evaluated in rational arithmetic, see
`mechdesign.design.finite.proof`. The bound holds for all epsilon-LDP mechanisms with the outputs of the matrix.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.design.finite.program import Answer, Knapsacks, least_average, least_worst, lifts, lowered, snapped
from mechdesign.design.finite.proof import FiniteBound, LexicographicBound, exact_errors, matrix_digest
from mechdesign.design.private_table import fitting_base, private_table
from mechdesign.design.result import Certificate, Design, Report, versions
from mechdesign.domains import Finite, require_numbers
from mechdesign.errors import InvalidInput, NoAnswer, require_epsilon, require_finite, require_seconds
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.serialise import domain_to_dict
from mechdesign.priors import Atoms

Floats = NDArray[np.float64]

CRITERIA = ("worst", "prior", "lexicographic")
LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0
MOST_ENTRIES = 10**6
LEAST_GAP = 1e-9

_PROGRAM_SHARE = 0.5  # of the gap asked for
_NEGLIGIBLE = 1e-12
_MIXES = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0)
_LEAST_VALUE = 2.0**-6  # of losses scaled to make the optimum of order 1


@dataclass(frozen=True, slots=True, eq=False)
class FiniteProblem:
    """The least expected loss over all epsilon-LDP mechanisms from the rows to the columns of ``loss_matrix``.

    ``criterion`` is "worst", "prior" (the average under ``prior``, weights on the inputs, uniform if left out) or
    "lexicographic" (the average, among mechanisms whose worst case is at most ``1 + slack`` times the least). ``gap``
    is the relative distance between the proven bounds at which the search stops, or 1e-12 of the largest loss if that
    is more. Labels name rows and columns where results are shown.
    """

    epsilon: float
    loss_matrix: Floats
    criterion: str = "worst"
    prior: Floats | None = None
    gap: float = 1e-6
    slack: float = 1e-5
    input_labels: tuple[str, ...] | None = None
    output_labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
            raise InvalidInput("eps", self.epsilon, rule)
        losses = require_losses(self.loss_matrix)
        object.__setattr__(self, "loss_matrix", losses)
        if self.criterion not in CRITERIA:
            raise InvalidInput("criterion", self.criterion, f"be one of {', '.join(CRITERIA)}")
        if self.criterion == "worst":
            if self.prior is not None:
                raise InvalidInput("prior", "weights", "be left out for the worst case", "use criterion='prior'")
        else:
            object.__setattr__(self, "prior", _weights(self.prior, losses.shape[0]))
        for name in ("gap", "slack"):
            if not LEAST_GAP <= require_finite(getattr(self, name), name) < (1 if name == "gap" else math.inf):
                raise InvalidInput(name, getattr(self, name), f"be at least {LEAST_GAP:g}, and a gap below 1")
            object.__setattr__(self, name, float(getattr(self, name)))
        for name, count in (("input_labels", losses.shape[0]), ("output_labels", losses.shape[1])):
            object.__setattr__(self, name, _labels(getattr(self, name), count, name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteProblem) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.epsilon, self.criterion, self.loss_matrix.tobytes()))

    def to_dict(self) -> dict[str, Any]:
        rows, columns = self.loss_matrix.shape
        return {
            "kind": "finite",
            "epsilon": self.epsilon,
            "criterion": self.criterion,
            "loss": f"a matrix of {rows} inputs and {columns} outputs",
            "loss_matrix": matrix_digest(self.loss_matrix),
            "inputs": domain_to_dict(Finite(tuple(range(rows)))),
            "prior": None if self.prior is None else self.prior.tolist(),
            "gap": self.gap,
            "slack": self.slack,
            "input_labels": None if self.input_labels is None else list(self.input_labels),
            "output_labels": None if self.output_labels is None else list(self.output_labels),
        }


def optimal_finite(problem: FiniteProblem, seconds: float | None = None) -> Design:
    """The certified optimum, or `NoAnswer` if the time runs out first, with the design found until then.

    The mechanism is a table; its inputs and outputs are numbers of rows and columns of the loss matrix, and outputs
    that are never used are left out.

    >>> design = optimal_finite(FiniteProblem(1.0, 1 - np.eye(3)))  # 0/1 loss: randomised response, 2 / (e + 2)
    >>> [round(end, 6) for end in (design.certificate.lower, design.certificate.upper)]
    [0.423883, 0.423883]
    """
    seconds = require_seconds(seconds)
    started = time.perf_counter()
    search = _Search(problem, None if seconds is None else started + seconds)
    mechanism, evidence, answer = search.lexicographic() if problem.criterion == "lexicographic" else search.plain()
    lower, upper = evidence.bound(mechanism), evidence.attained(mechanism)
    is_open = upper - lower > max(problem.gap * upper, _NEGLIGIBLE * float(problem.loss_matrix.max()))
    reason = answer.stopped or f"the search ended at a relative gap of {(upper - lower) / upper:.2g}" if is_open else ""
    details: dict[str, Any] = {"outputs": len(mechanism.outputs), "rounds": answer.rounds}
    if isinstance(evidence, LexicographicBound):
        details["worst case"] = [evidence.worst.bound(mechanism), evidence.average.cap]
    if is_open:
        details["stopped"] = reason
    certificate = Certificate(lower, upper, evidence.scope(mechanism), False, mechanism.privacy_loss(), evidence)
    report = Report(
        time.perf_counter() - started,
        "cutting planes (HiGHS)",
        versions("numpy", "scipy", "highspy"),
        MappingProxyType(details),
    )
    design = Design(problem, mechanism, certificate, report)
    if is_open:
        raise NoAnswer(reason, lower, upper, design=design)
    return design


def euclidean(points: ArrayLike, outputs: ArrayLike | None = None, exponent: float = 1.0) -> Floats:
    """Euclidean distances to the power ``exponent`` from points (rows) to outputs (the same points if left out).

    >>> euclidean([[0, 0], [3, 4]])
    array([[0., 5.],
           [5., 0.]])
    >>> euclidean([0, 1], [0.5], exponent=2)
    array([[0.25],
           [0.25]])
    """
    power = require_finite(exponent, "exponent")
    if not power > 0:
        raise InvalidInput("exponent", power, "be above 0")
    inputs = _points(points, "points")
    places = inputs if outputs is None else _points(outputs, "outputs")
    if inputs.shape[1] != places.shape[1]:
        raise InvalidInput("outputs", places.shape, f"have {inputs.shape[1]} coordinates like the points")
    if len(inputs) * len(places) > MOST_ENTRIES:
        raise InvalidInput(
            "points", f"{len(inputs)} x {len(places)}", f"make a matrix of at most {MOST_ENTRIES} entries"
        )
    distances = np.linalg.norm(inputs[:, None, :] - places[None, :, :], axis=2)
    return np.asarray(distances**power)


def require_losses(values: ArrayLike) -> Floats:
    """A loss matrix: finite numbers, at least 0, one row an input and one column an output."""
    _require_unmasked(values, "loss matrix")
    try:
        losses = np.array(require_numbers(values, "loss matrix"), dtype=np.float64)
    except InvalidInput as error:
        if error.field == "loss matrix":
            raise InvalidInput("loss matrix", values, "be rows of numbers, all of one length") from None
        raise
    if losses.ndim != 2 or not losses.size:
        raise InvalidInput("loss matrix", losses.shape, "have two axes, with an input (row) and an output (column)")
    if losses.size > MOST_ENTRIES:
        raise InvalidInput("loss matrix", losses.shape, f"have at most {MOST_ENTRIES} entries")
    bad = np.argwhere(~(np.isfinite(losses) & (losses >= 0)))
    if bad.size:
        row, column = bad[0].tolist()
        raise InvalidInput(f"loss matrix[{row}, {column}]", float(losses[row, column]), "be finite and at least 0")
    losses.setflags(write=False)
    return losses


class _Search:
    """One problem, with losses scaled by powers of two, which loses no digit, until the optimum is of order 1."""

    def __init__(self, problem: FiniteProblem, deadline: float | None) -> None:
        self.problem, self.deadline = problem, deadline
        losses = problem.loss_matrix
        weights = problem.prior if problem.criterion == "prior" else None
        single = (losses.max(axis=0) if weights is None else weights @ losses).min()
        self._scale(float(single) or float(losses.max()))

    def plain(self) -> tuple[Discrete, FiniteBound, Answer]:
        gap, prior = _PROGRAM_SHARE * self.problem.gap, self.problem.prior
        answer, bound = self._in_scale(gap, prior)
        return self.table(answer.base), bound, answer

    def lexicographic(self) -> tuple[Discrete, LexicographicBound, Answer]:
        problem = self.problem
        assert problem.prior is not None
        first, worst = self._in_scale(min(problem.gap, problem.slack) / 4, None)
        cap = float_down(worst.value() * (1 + Fraction(problem.slack)))
        if first.stopped is not None or math.ldexp(first.value, self.exponent) > cap:
            reason = first.stopped or "the least worst case is not known well enough for its slack"
            raise NoAnswer(reason, *self._lexicographic_range(first, worst))
        gap, scaled_cap = _PROGRAM_SHARE * problem.gap, math.ldexp(cap, -self.exponent)
        second = least_average(self.knapsacks, problem.prior, gap, self.deadline, scaled_cap, first.base)
        average = self.bound(second, problem.prior, cap)
        evidence = LexicographicBound(average, worst, problem.slack)
        mechanism = self.capped_table(second.base, first.base, average)
        if mechanism is None:
            reason = "no table found keeps its worst case below the cap"
            raise NoAnswer(reason, *self._lexicographic_range(first, worst, average))
        return mechanism, evidence, second

    def _lexicographic_range(
        self, first: Answer, worst: FiniteBound, average: FiniteBound | None = None
    ) -> tuple[float, float]:
        """Bounds of the least average among mechanisms whose worst case is at most ``1 + slack`` times the least.

        The least worst case W is at most that of the table found, so these mechanisms exist and their averages are at
        most ``1 + slack`` times its worst case. From below any levels bound every average, and multipliers of the cap
        bound these, with the largest cap there can be.
        """
        losses, epsilon, prior = self.problem.loss_matrix, self.problem.epsilon, self.problem.prior
        errors = exact_errors(self.table(first.base), losses)
        cap = float_up(max(errors) * (1 + Fraction(self.problem.slack)))
        bounds = [FiniteBound(epsilon, losses, v, v * 0, prior) for v in (worst.levels, losses.min(axis=1))]
        if average is not None:
            bounds.append(FiniteBound(epsilon, losses, average.levels, average.weights, prior, cap))
        lower = max(bound.value() for bound in bounds)
        return float_down(lower), min(cap, float(losses.max()))

    def _scale(self, size: float) -> None:
        self.exponent = math.frexp(size)[1] if size else 0
        self.knapsacks = Knapsacks(np.ldexp(self.problem.loss_matrix, -self.exponent), self.problem.epsilon)

    def _in_scale(self, gap: float, prior: Floats | None) -> tuple[Answer, FiniteBound]:
        """The plain optimum and its bound, again in a finer scale if tolerances were too coarse for its size."""
        while True:
            if prior is None:
                answer = least_worst(self.knapsacks, gap, self.deadline)
            else:
                answer = least_average(self.knapsacks, prior, gap, self.deadline)
            bound = self.bound(answer, prior)
            value = math.ldexp(answer.value, self.exponent)
            is_late = self.deadline is not None and time.perf_counter() >= self.deadline
            is_small = 0 < answer.value < _LEAST_VALUE
            if not is_small or is_late or value - bound.value() <= 2 * gap * value:
                return answer, bound
            self._scale(value)

    def bound(self, answer: Answer, prior: Floats | None = None, cap: float | None = None) -> FiniteBound:
        """The answer's levels and multipliers, mended where the solver's errors leave G below 0."""
        losses = self.problem.loss_matrix
        fixed = np.zeros(losses.shape[0]) if prior is None else prior
        is_average = prior is not None and cap is None
        if answer.levels is None:  # any levels prove something
            free = fixed * 0 + (prior is None)
            return FiniteBound(self.problem.epsilon, losses, losses.min(axis=1), free, prior, cap)
        scaled_cap = 0.0 if cap is None else math.ldexp(cap, -self.exponent)
        pairs = []
        for levels in (answer.levels, snapped(self.knapsacks, answer.levels)):
            free = np.zeros_like(fixed) if is_average else answer.multipliers
            pairs.append((levels, free))
            if not is_average:
                pairs.append((levels, free + lifts(self.knapsacks, levels, fixed + free)))

        def proven(pair: tuple[Floats, Floats]) -> float:
            levels, free = pair
            weights = fixed + free
            least = min(0.0, float((weights @ self.knapsacks.entries(every, levels)).min()))
            value = float(weights @ levels) + least - float(free.sum()) * scaled_cap
            return value / float((free if prior is None else fixed).sum())

        every = np.arange(fixed.size)
        levels, free = max(pairs, key=proven)
        levels = np.ldexp(lowered(self.knapsacks, levels, fixed + free), self.exponent)
        return FiniteBound(self.problem.epsilon, losses, levels, free, prior, cap)

    def capped_table(self, base: Floats, inner: Floats, bound: FiniteBound) -> Discrete | None:
        """The table of a base measure, mixed with one inside the cap if rounding has left it a hair above."""
        for share in _MIXES:
            mechanism = self.table((1 - share) * base + share * inner)
            if max(exact_errors(mechanism, bound.losses)) <= Fraction(bound.cap or 0.0):
                return mechanism
        return None

    def table(self, base: Floats) -> Discrete:
        kept = base > _NEGLIGIBLE * base.sum()
        fitted = fitting_base(np.where(kept, base, 0.0), self.problem.epsilon)
        laws = self.knapsacks.laws(fitted)
        inputs, outputs = Finite(tuple(range(laws.shape[0]))), Finite(tuple(np.flatnonzero(kept).tolist()))
        return private_table(self.problem.epsilon, inputs, outputs, laws[:, kept], fitted[kept], "finite optimum")


def _weights(prior: ArrayLike | None, count: int) -> Floats:
    if prior is None:
        return np.full(count, 1 / count)
    _require_unmasked(prior, "prior")
    weights = np.atleast_1d(require_numbers(prior, "prior"))
    if weights.shape != (count,):
        raise InvalidInput("prior", weights.shape, f"be one weight for each of the {count} inputs")
    return Atoms(np.arange(float(count)), weights).weights


def _require_unmasked(values: ArrayLike, field: str) -> None:
    if np.ma.isMaskedArray(values):
        raise InvalidInput(field, "a masked array", "be a plain array", "fill the masked entries")


def _labels(labels: Sequence[str] | None, count: int, name: str) -> tuple[str, ...] | None:
    if labels is None:
        return None
    texts = tuple(labels)
    if isinstance(labels, str) or not all(isinstance(text, str) for text in texts):
        raise InvalidInput(name, labels, "be a sequence of texts")
    if len(texts) != count or len(set(texts)) != count:
        raise InvalidInput(name, labels, f"be {count} different texts")
    return texts


def _points(values: ArrayLike, field: str) -> Floats:
    _require_unmasked(values, field)
    points = require_numbers(values, field)
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or not points.size:
        raise InvalidInput(field, points.shape, "be a list of points: one row a point, one column a coordinate")
    if not np.isfinite(points).all():
        raise InvalidInput(field, float(points[~np.isfinite(points)][0]), "be finite")
    return points
