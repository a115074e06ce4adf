"""A problem in words: what is perturbed, what is small, and all else that a certified number depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import frozen
from mechdesign.values.fingerprint import weights_in_words
from mechdesign.words.cells import in_words
from mechdesign.words.domains import Finite, Product

Labels = tuple[tuple[str, ...], tuple[str, ...]]


@frozen
class Words:
    """How a problem is said. Together they name every field that changes a certified number.

    ``measure`` is what is small for a good mechanism (``absolute error``), ``subject`` what is perturbed, ``loss`` what
    is least, ``headline`` the certified quantity, ``particulars`` what else its number depends on, ``prior`` what an
    average is taken under, ``asked`` what a saved certificate is about, ``labels`` the names of inputs and outputs,
    ``privacy`` what must be kept, ``optimum`` what the mechanism of the optimum is called, if not as the method has it,
    ``heading`` all of it where a sentence of its own says it better.
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
    optimum: str | None = None
    heading: str | None = None


def usual_words(problem: Any, measure: str, loss: str, **said: Any) -> Words:
    """The words that follow from the five of a problem where nothing else is said."""
    headline = problem.criterion.headline(measure)
    usual = {
        "subject": str(problem.inputs),
        "headline": headline,
        "asked": said.get("headline", headline),
        "privacy": problem.privacy.words,
        "prior": _prior_in_words(problem),
    }
    return Words(measure=measure, loss=loss, **usual | said)


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "input"), counted(2, "input")
    ('1 input', '2 inputs')
    """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def table_in_words(inputs: int, outputs: int) -> str:
    """
    >>> table_in_words(2, 1)
    '2 inputs and 1 output'
    """
    return f"{counted(inputs, 'input')} and {counted(outputs, 'output')}"


def require_inputs(problem: Any, inputs: Finite) -> Finite:
    """The inputs that follow from other words, or `InvalidInput` where the problem says that they are others."""
    if problem.inputs is not None and problem.inputs != inputs:
        rule = f"be {inputs}, those of privacy and loss"
        raise InvalidInput("inputs", str(problem.inputs), rule, "leave them out")
    return inputs


def _prior_in_words(problem: Any) -> str | None:
    prior = problem.criterion.prior
    if prior is None:
        return None
    if isinstance(problem.inputs, Product):
        return f"{in_words(prior)}, each number for itself"
    return weights_in_words(prior) if isinstance(prior, np.ndarray) else in_words(prior)
