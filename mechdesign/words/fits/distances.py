"""Losses that are a power of the distance: inputs are an interval."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.words.classes import InPlane, Onto, Together, UnbiasedPiecewise
from mechdesign.words.domains import Interval
from mechdesign.words.fits.words import Words, usual_words
from mechdesign.words.privacy import Pure


def settled(problem: Any) -> dict[str, Any]:
    """The prior on the inputs, which are an interval; all words are about one, or `InvalidInput`."""
    if not isinstance(problem.inputs, Interval):
        step = "for example Interval(0, 1); a Matrix has the losses of finitely many inputs"
        raise InvalidInput(
            "domain", str(problem.inputs), "be an interval where the loss is a power of the distance", step
        )
    if not isinstance(problem.privacy, Pure):
        raise InvalidInput("privacy", problem.privacy, "be one epsilon for all inputs of an interval", "take Pure(eps)")
    if isinstance(problem.among, Onto | InPlane | Together):
        raise InvalidInput("among", problem.among, "be about numbers", "take All() or UnbiasedPiecewise()")
    return {"criterion": problem.criterion.over(problem.inputs)}


def words(problem: Any) -> Words:
    """The error, or the variance of what is unbiased."""
    name = problem.loss.name
    measure = "variance" if isinstance(problem.among, UnbiasedPiecewise) else f"{name} error"
    return usual_words(problem, measure, name)
