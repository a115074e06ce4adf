"""Queries about the shares of types: inputs are the types."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.values.fingerprint import fingerprint, numbers_in_words
from mechdesign.words.classes import All
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.domains import Finite
from mechdesign.words.fits.words import Words, require_inputs, usual_words
from mechdesign.words.privacy import Pure
from mechdesign.words.workloads import Mean, Moments, Queries


def settled(problem: Any) -> dict[str, Any]:
    """The types and their prior, which is above 0 for each; `InvalidInput` where other words do not fit a workload."""
    if not isinstance(problem.privacy, Pure):
        raise InvalidInput("privacy", problem.privacy, "be one epsilon for all types of a workload", "take Pure(eps)")
    if not isinstance(problem.criterion, Worst | Average):
        raise InvalidInput("criterion", problem.criterion.words, "be Worst() or Average(prior) for a workload")
    if not isinstance(problem.among, All):
        raise InvalidInput("among", problem.among, "be All() for a workload: any reports may be sent", "leave it out")
    inputs = require_inputs(problem, Finite(tuple(range(problem.loss.size))))
    criterion: Any = problem.criterion.over(inputs)
    if not isinstance(criterion, Worst):
        prior = criterion.prior
        if not (prior > 0).all():
            rule = "be above 0 for every type: the noise at a type without weight could be anything"
            step = "give such types a small weight, or leave them out of the workload"
            raise InvalidInput("prior", f"0 at type {int(np.argmin(prior))}", rule, step)
        if np.ptp(prior) != 0:
            problem.loss.require_few()
    return {"inputs": inputs, "criterion": criterion}


def words(problem: Any) -> Words:
    """The noise of one user's answers, added up."""
    queries = problem.loss.queries
    which = "of the worst type" if isinstance(problem.criterion, Worst) else "on average"
    headline = f"variance that noise adds to one user, {problem.loss.summed}, {which}"
    return usual_words(
        problem,
        "noise",
        "variance of the noise",
        subject=queries.words,
        headline=headline,
        asked=f"{queries.words}: {headline}",
        particulars=_particulars(queries),
        optimum=f"optimum for {queries.kind}",
    )


def _particulars(queries: Any) -> tuple[str, ...]:
    match queries:
        case Mean() | Moments():
            return (f"values: {numbers_in_words(queries.values)}",)
        case Queries():
            return (f"queries: {fingerprint(queries.rows)}",)
    return ()
