"""Objectives of one's own, of tables with a row for each input: any of finitely many numbers may be reported."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import InvalidInput, marked
from mechdesign.values.fingerprint import fingerprint
from mechdesign.words.classes import All, Onto
from mechdesign.words.criteria import Average, Total, Worst
from mechdesign.words.domains import Finite
from mechdesign.words.fits.words import Words, table_in_words, usual_words
from mechdesign.words.objectives import Coefficients, Formula, Objective
from mechdesign.words.privacy import Pure


def settled(problem: Any) -> dict[str, Any]:
    """The prior on the inputs, and the outputs, which are left out where they are the inputs; `InvalidInput` where
    other words do not fit a table."""
    inputs, loss = problem.inputs, problem.loss
    if not isinstance(inputs, Finite):
        raise InvalidInput("inputs", str(inputs), "be finitely many numbers, a row of the table for each")
    if not isinstance(problem.privacy, Pure):
        raise InvalidInput("privacy", problem.privacy, "be one epsilon for all rows of a table", "take Pure(eps)")
    if not isinstance(problem.among, All | Onto):
        raise InvalidInput("among", problem.among, "be All() or Onto(outputs) for a table", "leave it out")
    outputs = outputs_of(problem)
    if isinstance(loss, Formula) and loss.coefficients is not None:
        shape = len(inputs), len(outputs)
        if loss.coefficients.costs.shape != shape:
            raise InvalidInput("costs", loss.coefficients.costs.shape, f"have the shape {shape}")
    among = All() if outputs == inputs else problem.among
    return {"criterion": _criterion(problem), "among": among}


def _criterion(problem: Any) -> Worst | Average | Total:
    """What goes over the inputs, unless the function says it itself."""
    criterion = problem.criterion
    if isinstance(criterion, Total):
        return criterion
    if isinstance(problem.loss, Formula):
        raise InvalidInput("criterion", criterion.words, "be Total() for a formula, which is about all inputs")
    if not isinstance(criterion, Worst | Average):
        rule = "be Worst(), Average(prior), or Total() for an objective that is one number"
        raise InvalidInput("criterion", criterion.words, rule)
    return criterion.over(problem.inputs)


def outputs_of(problem: Any) -> Finite:
    """What the columns of the table report: the inputs unless others are said."""
    if not isinstance(problem.among, Onto):
        inputs: Finite = problem.inputs
        return inputs
    places = problem.among.places
    if places.shape[1] != 1:
        raise InvalidInput("among", places.shape, "be Onto numbers, not places, for an objective of one's own")
    return Finite(tuple(places[:, 0].tolist()))


def words(problem: Any) -> Words:
    """The objective, told by the fingerprint of its coefficients."""
    said, particulars = _said(problem.loss)
    subject = table_in_words(len(problem.inputs), len(outputs_of(problem)))
    return usual_words(
        problem, "objective", said, subject=subject, headline="objective", asked=said, particulars=particulars
    )


def _said(loss: Objective | Formula) -> tuple[str, tuple[str, ...]]:
    """What is least, and what tells it apart, or why it is not proven."""
    if isinstance(loss, Objective):
        return "an objective of one's own", ()
    if loss.coefficients is None:
        why = f"not proven, as maxima, norms and squares of what is linear are, for {marked(loss.unread)}"
        return "an objective that is only named in the file", (why,) if loss.unread else ()
    kind = "linear" if loss.coefficients.is_linear else "convex"
    told_apart = f"coefficients: {fingerprint(*_columns(loss.coefficients))}"
    return f"the {kind} objective with the coefficients in the file", (told_apart,)


def _columns(found: Coefficients) -> tuple[Any, ...]:
    """What is linear only is told apart by what it has always been told apart by."""
    linear = found.costs, found.offset, found.rows, found.limits, found.equal
    if found.is_linear:
        return linear
    maxima = found.pieces, found.squares, found.shifts, found.maxima, found.of_maxima
    norms = (found.sides, found.ends, found.norms, found.of_norms) if found.norms else ()
    return *linear, *maxima, found.centres, found.scales, found.of_squares, *norms
