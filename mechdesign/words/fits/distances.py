"""Losses that are a power of the distance: inputs are an interval, or finitely many numbers."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.words.classes import InPlane, Onto, Together, UnbiasedPiecewise
from mechdesign.words.criteria import Lexicographic
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.fits.words import Words, usual_words
from mechdesign.words.privacy import Pure


def settled(problem: Any) -> dict[str, Any]:
    """The prior on the inputs, which are numbers; all words are about such, or `InvalidInput`."""
    if not isinstance(problem.inputs, Interval | Finite):
        rule = "be an interval or a finite set where the loss is a power of the distance"
        raise InvalidInput("domain", str(problem.inputs), rule, "for example Interval(0, 1)")
    if not isinstance(problem.privacy, Pure):
        raise InvalidInput(
            "privacy", problem.privacy, "be one epsilon for all inputs that are numbers", "take Pure(eps)"
        )
    if problem.loss.period is not None:
        raise InvalidInput("loss", problem.loss, "have no period where inputs are on a line", "take Power(exponent)")
    if isinstance(problem.among, Onto | InPlane | Together):
        raise InvalidInput("among", problem.among, "be about numbers", "take All() or UnbiasedPiecewise()")
    return {"criterion": problem.criterion.over(problem.inputs)}


def words(problem: Any) -> Words:
    """The error, or the variance of what is unbiased."""
    name = problem.loss.name
    measure = "variance" if isinstance(problem.among, UnbiasedPiecewise) else f"{name} error"
    if not isinstance(problem.criterion, Lexicographic) or problem.criterion.cap or isinstance(problem.inputs, Finite):
        return usual_words(problem, measure, name)
    # what evidence decides of a cap on an interval: the least itself is known to a part of the slack only
    within = f"within {150 * problem.criterion.slack:g}% of the least"
    return usual_words(problem, measure, name, headline=f"average {measure} under the prior, worst case {within}")
