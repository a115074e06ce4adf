"""Models with one parameter: inputs are the cells that they are cut into."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.values.fingerprint import fingerprint
from mechdesign.words.classes import All
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Finite
from mechdesign.words.fits.words import Words, require_inputs, usual_words
from mechdesign.words.models import Binned
from mechdesign.words.privacy import Pure


def settled(problem: Any) -> dict[str, Any]:
    """The numbers of the cells, which follow from the model, or `InvalidInput` where other words do not fit it."""
    if not isinstance(problem.privacy, Pure):
        raise InvalidInput("privacy", problem.privacy, "be one epsilon for all cells of a model", "take Pure(eps)")
    if not isinstance(problem.criterion, Average) or problem.criterion.prior is not None:
        rule = "be Average() without a prior: the model says how likely each cell is"
        raise InvalidInput("criterion", problem.criterion.words, rule, "take criteria.Average()")
    if not isinstance(problem.among, All):
        raise InvalidInput("among", problem.among, "be All() for a model: any reports may be sent", "leave it out")
    return {"inputs": require_inputs(problem, Finite(tuple(range(problem.loss.chances.size))))}


def words(problem: Any) -> Words:
    """The inverse of the information: n times the variance of an efficient estimate from n reports."""
    model, headline = problem.loss, "variance of an efficient estimate, times the users"
    particulars: tuple[str, ...] = ()
    if isinstance(model, Binned):
        particulars = (f"chances and slopes: {fingerprint(model.chances, model.slopes)}",)
    return usual_words(
        problem,
        "variance",
        "inverse Fisher information",
        subject=model.words,
        headline=headline,
        asked=f"{model.words}: {headline}",
        particulars=particulars,
        optimum=f"optimum for {model.kind}",
    )
