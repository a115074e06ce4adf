"""Problems in words: what is certified, what is small for a good mechanism, and what is shown of them."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.criteria import Aim
from mechdesign.design import (
    AdditiveProblem,
    FiniteProblem,
    MinimaxProblem,
    PairwiseProblem,
    PiecewiseProblem,
    PolarProblem,
    PriorProblem,
    TradeOffProblem,
    UnbiasedPiecewiseProblem,
    UnbiasedProblem,
)
from mechdesign.design.convex import TableProblem
from mechdesign.design.evidence import Problem
from mechdesign.design.pairwise import Distances, InPlane
from mechdesign.losses import Power
from mechdesign.pairs import Metric, Pairwise
from mechdesign.places import GREAT_CIRCLE
from mechdesign.values.codec import encoded

Labels = tuple[Sequence[str], Sequence[str]]

_IN_FILE = "the weights in the file"
_MATRIX = {
    Aim.MATRIX_WORST: "worst-case loss",
    Aim.MATRIX_AVERAGE: "average loss under the prior",
    Aim.MATRIX_LEXICOGRAPHIC: "average loss at the least worst case",
}


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "input"), counted(2, "input")
    ('1 input', '2 inputs')
    """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def power_of(problem: Problem) -> Power | None:
    """The power of the distance that is small, if it is one."""
    if isinstance(problem, UnbiasedProblem | AdditiveProblem):
        return Power(2.0)
    loss = getattr(problem, "loss", None)
    return loss if isinstance(loss, Power) else None


def subject(problem: Problem) -> str:
    """What is perturbed."""
    if isinstance(problem, FiniteProblem):
        rows, columns = problem.loss_matrix.shape
        return f"{counted(rows, 'input')} and {counted(columns, 'output')}"
    if isinstance(problem, PairwiseProblem):
        return places_of(problem)
    if isinstance(problem, TableProblem):
        return f"{counted(len(problem.inputs), 'input')} and {counted(len(problem.outputs), 'output')}"
    return str(getattr(problem, "inputs", ""))


def measure(problem: Problem) -> str:
    """What is small for a good mechanism: an error, a variance, a loss."""
    if isinstance(problem, UnbiasedProblem | AdditiveProblem):
        return "variance"
    loss = power_of(problem)
    return "loss" if loss is None else f"{loss.name} error"


def excess(problem: Problem) -> str:
    """The heading of how far rivals are above the design."""
    return "worst above least" if is_lexicographic(problem) and not _is_capped(problem) else "above optimum"


def is_lexicographic(problem: Problem) -> bool:
    return problem.criterion.aim in (Aim.AVERAGE_CAPPED, Aim.MATRIX_LEXICOGRAPHIC)


def _is_capped(problem: Problem) -> bool:
    return isinstance(problem, TradeOffProblem) and problem.cap is not None


def headline(problem: Problem) -> str:
    """The certified quantity."""
    match problem:
        case FiniteProblem(aim=aim):
            under = "average loss under the prior"
            return f"{under} at the least worst case" if aim is Aim.MATRIX_LEXICOGRAPHIC else _MATRIX[Aim(aim)]
        case PairwiseProblem(aim=word):
            return _MATRIX[Aim(word)]
        case UnbiasedProblem() | AdditiveProblem():
            return "variance under the prior"
        case UnbiasedPiecewiseProblem():
            return "worst-case variance"
        case PolarProblem():
            return "worst-case error, sum of both"
        case TableProblem():
            return "objective"
        case PiecewiseProblem(at=at):
            return "worst-case error" if at is None else f"error at x = {at:g}"
        case PriorProblem():
            return f"average {measure(problem)} under the prior"
        case TradeOffProblem(cap=cap, slack=slack):
            # what evidence decides of a cap that was found: the least itself is known to a part of the slack only
            within = f"within {150 * slack:g}% of the least" if cap is None else f"at most {cap!r}"
            return f"average {measure(problem)} under the prior, worst case {within}"
    return f"worst-case {measure(problem)}"


def places_of(problem: PairwiseProblem) -> str:
    """Inputs and outputs, as places where they are."""
    rows, columns = len(problem.privacy), problem.width
    if isinstance(problem.losses, InPlane):
        return f"{counted(rows, 'place')} and reports anywhere in the plane"
    if isinstance(problem.losses, Distances):
        return f"{counted(rows, 'place')} and {counted(columns, 'place')} to report"
    return f"{counted(rows, 'input')} and {counted(columns, 'output')}"


def protected(problem: Problem) -> str:
    """What must be kept, as headings say it.

    >>> from mechdesign.pairs import Metric
    >>> protected(PairwiseProblem(Metric([0, 1], 0.5), Distances()))
    'eps = 0.5 a unit of distance'
    """
    match problem.privacy:
        case Metric(per_unit=rate, distance=kind):
            return f"eps = {rate:g} a {'kilometre' if kind == GREAT_CIRCLE else 'unit of distance'}"
        case Pairwise():
            return "an eps for each pair"
    return f"eps = {problem.epsilon:g}"


def labels_of(problem: Problem) -> Labels | None:
    """The names of a loss matrix's rows and columns: those given, else their numbers."""
    if isinstance(problem, PairwiseProblem):
        rows, columns = len(problem.privacy), problem.width
        given = problem.names
        if problem.outputs.points != tuple(range(columns)):  # numbers, which are their own names
            return None
    elif isinstance(problem, FiniteProblem):
        rows, columns = problem.loss_matrix.shape
        given = problem.input_labels, problem.output_labels
    else:
        return None
    return given[0] or tuple(map(str, range(rows))), given[1] or tuple(map(str, range(columns)))


def loss_of(problem: Problem) -> str:
    """What is least, in words that all stand for something decided."""
    if isinstance(problem, TableProblem):
        if problem.linear is None:
            return "an objective that is only named in the file"
        return "the linear objective with the coefficients in the file"
    if isinstance(problem, PairwiseProblem):
        return str(problem.echo()["loss"])
    return str(encoded(problem)["loss"])


def prior_of(problem: Problem) -> str | None:
    """The prior an average is taken under, and where it stands."""
    match problem:
        case PriorProblem() | TradeOffProblem():
            return problem.prior_in_words
        case UnbiasedProblem() | AdditiveProblem():
            return f"{_IN_FILE} on {problem.weights.size} inputs"
        case FiniteProblem(prior=weights) | PairwiseProblem(prior=weights) if weights is not None:
            return _IN_FILE
    return None


def other_goal(problem: Problem) -> str | None:
    """The way to another command, where designs for single reports are often taken for what they are not."""
    if isinstance(problem, PiecewiseProblem | PolarProblem | MinimaxProblem | PriorProblem | TradeOffProblem):
        return "for a mean of many reports ask: python -m mechdesign advise --want mean"
    return None


def asked(problem: Problem) -> str:
    """What a saved certificate is about."""
    aim, loss, prior = problem.criterion.aim, loss_of(problem), prior_of(problem)
    if aim is Aim.OBJECTIVE:
        return loss
    said = f"{_MATRIX[aim]}, {loss}" if aim in _MATRIX else f"{loss} error, {problem.criterion.words}"
    return said if prior is None else f"{said}; prior: {prior}"
