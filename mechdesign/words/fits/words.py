"""A problem in words: what is perturbed, what is small, and all else that a certified number depends on."""

from __future__ import annotations

from typing import Any

from mechdesign.values.declare import frozen
from mechdesign.values.fingerprint import weights_in_words

Labels = tuple[tuple[str, ...], tuple[str, ...]]


@frozen
class Words:
    """How a problem is said. Together they name every field that changes a certified number.

    ``measure`` is what is small for a good mechanism (``absolute error``), ``subject`` what is perturbed, ``loss`` what
    is least, ``headline`` the certified quantity, ``particulars`` what else its number depends on, ``prior`` what an
    average is taken under, ``asked`` what a saved certificate is about, ``labels`` the names of inputs and outputs,
    ``privacy`` what must be kept.
    """

    measure: str
    subject: str
    loss: str
    headline: str
    asked: str
    privacy: str
    prior: str | None = None
    particulars: tuple[str, ...] = ()
    labels: Labels | None = None


def usual_words(problem: Any, measure: str, loss: str, **said: Any) -> Words:
    """The words that follow from the five of a problem where nothing else is said."""
    weights = problem.criterion.prior
    headline = problem.criterion.headline(measure)
    usual = {
        "subject": str(problem.inputs),
        "headline": headline,
        "asked": said.get("headline", headline),
        "privacy": problem.privacy.words,
        "prior": None if weights is None else weights_in_words(weights),
    }
    return Words(measure=measure, loss=loss, **usual | said)
