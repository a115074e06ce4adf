"""Problems in words: what is certified, what is small for a good mechanism, and what is shown of them.

A problem says of itself what no other can say for it: attributes or properties that may all be left out. Together they
name every field that changes a certified number: two problems with other optima are two headings.

* ``measure``: what is small for a good mechanism (by default its loss: ``absolute error``),
* ``headline``: the certified quantity (``measure`` in the words of the criterion: ``worst-case absolute error``),
* ``particulars``: what else the certified number depends on, but for the prior (``loss matrix: sha256 ...``),
* ``heading``: all of it, where a sentence of its own says it better,
* ``optimum``: what the mechanism of its optimum is called (``finite optimum``),
* ``subject``: what is perturbed (its inputs),
* ``loss_in_words`` and ``prior_in_words``: what is least, and the prior an average is taken under,
* ``asked_in_words``: what a saved certificate is about, but for the prior,
* ``privacy_in_words``: what must be kept (``eps = 1``),
* ``labels``: the names of inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.methods.evidence import Problem
from mechdesign.values.codec import encoded
from mechdesign.words.classes import Unbiased, UnbiasedPiecewise
from mechdesign.words.criteria import Lexicographic
from mechdesign.words.domains import Circle, Product
from mechdesign.words.losses import Custom, Power
from mechdesign.words.problem import Problem as FiveWords

Labels = tuple[Sequence[str], Sequence[str]]


def _said(problem: Problem, name: str, usual: Any = None) -> Any:
    """What the problem says of itself, else what is usual."""
    if isinstance(problem, FiveWords):
        said = getattr(problem.words, name.removesuffix("_in_words"), None)
        return usual if said is None else said
    return getattr(problem, name, usual)


def power_of(problem: Problem) -> Power | None:
    """The power of the distance that is small, if it is one."""
    loss = getattr(problem, "loss", None)
    return loss if isinstance(loss, Power) else None


def subject(problem: Problem) -> str:
    """What is perturbed."""
    return str(_said(problem, "subject", _said(problem, "inputs", "")))


def measure(problem: Problem) -> str:
    """What is small for a good mechanism: an error, a variance, a loss."""
    loss = power_of(problem)
    return str(_said(problem, "measure", "loss" if loss is None else f"{loss.name} error"))


def headline(problem: Problem) -> str:
    """The certified quantity."""
    return str(_said(problem, "headline", problem.criterion.headline(measure(problem))))


def particulars(problem: Problem) -> tuple[str, ...]:
    """What else the certified number depends on, the prior included."""
    prior = prior_of(problem)
    return (*_said(problem, "particulars", ()), *(() if prior is None else (f"prior: {prior}",)))


def heading(problem: Problem) -> str:
    """What is perturbed and protected, the certified quantity, and what else its number depends on."""
    usual = f"{subject(problem)}, {protected(problem)}: {headline(problem)}{below(problem)}"
    return str(_said(problem, "heading", usual))


def below(problem: Problem) -> str:
    """The particulars as a line below a heading, if there are any."""
    said = "; ".join(particulars(problem))
    return f"\n  {said}" if said else ""


def optimum_name(problem: Problem) -> str:
    """What the mechanism of its optimum is called."""
    return str(_said(problem, "optimum", f"{problem.kind} optimum"))


def protected(problem: Problem) -> str:
    """What must be kept, as headings say it."""
    return str(_said(problem, "privacy_in_words", f"eps = {problem.epsilon:g}"))


def excess(problem: Problem) -> str:
    """The heading of how far rivals are above the design."""
    return (
        "worst above least" if is_lexicographic(problem) and problem.criterion.ranks_by == "worst" else "above optimum"
    )


def is_lexicographic(problem: Problem) -> bool:
    """Whether a worst case comes before the average."""
    return isinstance(problem.criterion, Lexicographic)


def labels_of(problem: Problem) -> Labels | None:
    """The names of a loss matrix's rows and columns: those given, else their numbers."""
    labels: Labels | None = _said(problem, "labels")
    return labels


def loss_of(problem: Problem) -> str:
    """What is least, in words that all stand for something decided."""
    return str(_said(problem, "loss_in_words", encoded(problem).get("loss", measure(problem))))


def prior_of(problem: Problem) -> str | None:
    """The prior an average is taken under, and where it stands."""
    said: str | None = _said(problem, "prior_in_words")
    return said


def other_goal(problem: Problem) -> str | None:
    """The way to another command, where designs for single reports are often taken for what they are not."""
    if not isinstance(problem, FiveWords) or not isinstance(problem.loss, Power | Custom):
        return None
    if isinstance(problem.among, Unbiased | UnbiasedPiecewise):
        return None
    inputs = problem.inputs
    if any(isinstance(part, Circle) for part in (inputs.parts if isinstance(inputs, Product) else (inputs,))):
        return "for a mean direction of many reports ask: python -m mechdesign advise --want angle"
    return "for a mean of many reports ask: python -m mechdesign advise --want mean"


def asked(problem: Problem) -> str:
    """What a saved certificate is about, beside inputs and epsilon."""
    loss = loss_of(problem)
    what = f"{loss} error" if "loss" in encoded(problem) else loss
    return "; ".join(
        (str(_said(problem, "asked_in_words", f"{what}, {problem.criterion.words}")), *particulars(problem))
    )
