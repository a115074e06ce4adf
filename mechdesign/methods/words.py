"""Problems in words where results are shown: what follows from what a problem says of itself (`fits.words.Words`)."""

from __future__ import annotations

from mechdesign.words.classes import UnbiasedClass
from mechdesign.words.criteria import Lexicographic
from mechdesign.words.domains import Circle, Product
from mechdesign.words.losses import Custom, Power
from mechdesign.words.problem import Problem


def power_of(problem: Problem) -> Power | None:
    """The power of the distance that is small, if it is one."""
    return problem.loss if isinstance(problem.loss, Power) else None


def particulars(problem: Problem) -> tuple[str, ...]:
    """What else the certified number depends on, the prior included."""
    prior = problem.words.prior
    return (*problem.words.particulars, *(() if prior is None else (f"prior: {prior}",)))


def heading(problem: Problem) -> str:
    """What is perturbed and protected, the certified quantity, and what else its number depends on."""
    said = problem.words
    return said.heading or f"{said.subject}, {said.privacy}: {said.headline}{below(problem)}"


def below(problem: Problem) -> str:
    """The particulars as a line below a heading, if there are any."""
    said = "; ".join(particulars(problem))
    return f"\n  {said}" if said else ""


def excess(problem: Problem) -> str:
    """The heading of how far rivals are above the design."""
    return (
        "worst above least" if is_lexicographic(problem) and problem.criterion.ranks_by == "worst" else "above optimum"
    )


def is_lexicographic(problem: Problem) -> bool:
    """Whether a worst case comes before the average."""
    return isinstance(problem.criterion, Lexicographic)


def other_goal(problem: Problem) -> str | None:
    """The way to another command, where designs for single reports are often taken for what they are not."""
    if not isinstance(problem.loss, Power | Custom):
        return None
    if isinstance(problem.among, UnbiasedClass):
        return None
    inputs = problem.inputs
    if any(isinstance(part, Circle) for part in (inputs.parts if isinstance(inputs, Product) else (inputs,))):
        return "for a mean direction of many reports ask: python -m mechdesign advise --want angle"
    return "for a mean of many reports ask: python -m mechdesign advise --want mean"


def asked(problem: Problem) -> str:
    """What a saved certificate is about, beside inputs and epsilon."""
    return "; ".join((problem.words.asked, *particulars(problem)))
