"""Losses of one number and its report, such as powers of the distance: inputs on a line, a circle or both."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import evolved
from mechdesign.words.classes import InPlane, OnGrid, Onto, Piecewise, Together, UnbiasedClass
from mechdesign.words.criteria import Lexicographic
from mechdesign.words.domains import Circle, Finite, Interval, Product
from mechdesign.words.fits.words import Words, usual_words
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.vectors import Vectors


def settled(problem: Any) -> dict[str, Any]:
    """The prior on the inputs, and the loss, which goes round a circle; all words are about such inputs, or
    `InvalidInput`."""
    inputs = problem.inputs
    if not isinstance(inputs, Interval | Circle | Finite | Product | Vectors):
        rule = f"be an interval, a circle or a finite set where the loss is {problem.loss.name}"
        raise InvalidInput("domain", str(inputs), rule, "for example Interval(0, 1)")
    if not isinstance(problem.privacy, Pure):
        rule = "be one epsilon for all inputs that are numbers"
        raise InvalidInput("privacy", problem.privacy, rule, "take Pure(eps)")
    among = _settled_class(problem.among, inputs)
    return {"loss": _round(problem.loss, inputs), "criterion": problem.criterion.over(inputs), "among": among}


def _round(loss: Any, inputs: Any) -> Any:
    """The loss, which goes round a circle where inputs are on one."""
    if not isinstance(loss, Power):
        if isinstance(inputs, Product | Vectors):
            raise InvalidInput("loss", loss.name, "be a power of the distance for several coordinates")
        return loss
    period = inputs.period if isinstance(inputs, Circle) else None
    if loss.period is None and period is not None:
        return loss.on_circle(period)
    if loss.period != period:
        kind = "on the line" if period is None else f"circular with period {period:g}"
        raise InvalidInput("loss", loss.name, f"be {kind} for inputs on {inputs}", "leave the period out")
    return loss


def _settled_class(among: Any, inputs: Any) -> Any:
    """The class; outputs that are the inputs are left out."""
    if isinstance(among, Onto | InPlane | Together):
        raise InvalidInput("among", among, "be about numbers", "take All(), Piecewise() or Unbiased()")
    if not isinstance(among, Piecewise) or among.outputs is None:
        return among
    if among.outputs == inputs:
        return evolved(among, outputs=None)
    if not isinstance(inputs, Interval) or not isinstance(among.outputs, Interval):
        rule = f"be the inputs' own, {inputs}"
        raise InvalidInput("outputs", str(among.outputs), rule, "leave them out")
    if not among.outputs.contains(inputs):
        raise InvalidInput("outputs", str(among.outputs), f"contain the inputs {inputs}", "widen the outputs")
    return among


def words(problem: Any) -> Words:
    """The error, of all coordinates where there are several, or the variance of what is unbiased."""
    name, criterion = problem.loss.name, problem.criterion
    is_unbiased = isinstance(problem.among, UnbiasedClass)
    if isinstance(problem.inputs, Product | Vectors) and is_unbiased:
        several = problem.inputs.count if isinstance(problem.inputs, Vectors) else len(problem.inputs.parts)
        headline = f"{criterion.headline('variance')}, sum of {several}"
        return usual_words(problem, "variance", name, headline=headline)
    if isinstance(problem.inputs, Product):
        both = " + ".join(_round(problem.loss, part).name for part in problem.inputs.parts)
        headline = f"{criterion.headline(f'{name} error')}, sum of both"
        return usual_words(problem, f"{name} error", both, headline=headline, asked=f"{both} error, {criterion.words}")
    if is_unbiased:
        return usual_words(problem, "variance", name, particulars=_grid_in_words(problem.among))
    measure = f"{name} error"
    if not isinstance(criterion, Lexicographic) or isinstance(problem.inputs, Finite):
        return usual_words(problem, measure, name, asked=f"{measure}, {criterion.words}")
    if criterion.cap is not None:
        return usual_words(problem, measure, name)
    # what evidence decides of a cap on an interval: the least itself is known to a part of the slack only
    within = f"within {150 * criterion.slack:g}% of the least"
    return usual_words(problem, measure, name, headline=f"average {measure} under the prior, worst case {within}")


def _grid_in_words(among: Any) -> tuple[str, ...]:
    """The grid of the reports, where they are on one."""
    if not isinstance(among, OnGrid):
        return ()
    begin = "" if among.reach is None else f", tails from {among.reach} steps beyond them"
    ratio = "" if among.tail is None else f" of ratio {among.tail}/{among.tail + 1}"
    return (f"reports on the grid of {among.bins + 1} inputs{begin}{ratio}",)
