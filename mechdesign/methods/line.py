"""What methods for numbers of an interval ask of a problem: one epsilon for all inputs, and a power of the distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mechdesign.errors import CheckFailed
from mechdesign.words.cells import Cells
from mechdesign.words.classes import All, Class
from mechdesign.words.criteria import OverInputs, Worst
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0
_UNBIASED_FROM, _UNBIASED_TO = 1e-3, 12.0


class Line(NamedTuple):
    """A problem of numbers: what its error is measured by, between which ends, at which epsilon, under which prior."""

    epsilon: float
    loss: Power
    inputs: Interval
    prior: Any = None

    @property
    def exponent(self) -> float:
        return self.loss.exponent

    @property
    def has_exact_proof(self) -> bool:
        return self.loss in (Power(1.0), Power(2.0))


def missing_on_line(problem: Problem, *, rational: bool = True) -> str | None:
    """Why a problem is not about numbers of an interval, if it is not; ``rational`` asks for an exact exponent."""
    inputs, loss = problem.inputs, problem.loss
    if not isinstance(inputs, Interval):
        return "inputs must be an interval"
    if not isinstance(problem.privacy, Pure):
        return "privacy must be one epsilon for all inputs, Pure(eps)"
    if not isinstance(problem.among, All):
        return "mechanisms must be among All()"
    if not isinstance(loss, Power) or loss.period is not None or loss.exponent < 1:
        return "the loss must be absolute, squared or power:P with P at least 1 for a certified optimum"
    if rational and loss.exponent not in (1.0, 2.0):
        return "the loss must be absolute or squared for a certified optimum"
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
    if not 1e-40 <= inputs.length <= 1e40 or inputs.length < 1e-9 * abs(inputs.middle):
        return "the domain must be wide enough for a grid of doubles: rescale the data"
    return None


def missing_of_variance(problem: Problem, among: type[Class], criterion: type[OverInputs]) -> str | None:
    """Why a problem is not about the variance of such unbiased mechanisms on an interval, if it is not."""
    if not isinstance(problem.among, among):
        return f"mechanisms must be among {among.__name__}()"
    if not isinstance(problem.inputs, Interval):
        return "inputs must be an interval"
    if problem.loss != Power(2.0):
        return "the loss must be Squared(): the error of an unbiased mechanism is a variance"
    if not isinstance(problem.criterion, criterion):
        return f"the criterion must be {criterion.__name__}({'' if criterion is Worst else 'prior'})"
    if isinstance(problem.criterion.prior, Cells):
        return "the prior must be weights on points or a density"
    if not _UNBIASED_FROM <= problem.epsilon <= _UNBIASED_TO:
        return f"eps must lie between {_UNBIASED_FROM:g} and {_UNBIASED_TO:g} for a certified unbiased optimum"
    return None


def line_of(problem: Any, supports: Callable[[Problem], str | None]) -> Line:
    """The numbers that a problem is about, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem):
        raise CheckFailed(f"the evidence is about numbers of an interval, not about a {type(problem).__name__}")
    missed = supports(problem)
    if missed is not None:
        raise CheckFailed(f"the evidence is about another problem: {missed}")
    assert isinstance(problem.loss, Power)
    assert isinstance(problem.inputs, Interval)
    return Line(problem.epsilon, problem.loss, problem.inputs, problem.criterion.prior)
