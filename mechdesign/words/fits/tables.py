"""Losses of finitely many inputs: a matrix of them, or distances between places."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.values.fingerprint import fingerprint
from mechdesign.words.classes import All, InPlane, Onto
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import Matrix, are_numbers, require_labels
from mechdesign.words.fits.words import Words, counted, require_inputs, table_in_words, usual_words
from mechdesign.words.pairs import Pairs
from mechdesign.words.places import EUCLIDEAN
from mechdesign.words.privacy import Collusion, Hidden, Metric


def settled(problem: Any) -> dict[str, Any]:
    """Inputs and the weights of a criterion, which follow from loss and privacy."""
    _require_fit(problem)
    inputs = require_inputs(problem, _inputs(problem))
    require_labels(problem.loss.input_labels, len(inputs), "input_labels")
    return {"inputs": inputs, "criterion": problem.criterion.over(inputs)}


def _inputs(problem: Any) -> Finite:
    """The points where they are increasing numbers, else the numbers of rows."""
    if isinstance(problem.privacy, Metric) and are_numbers(problem.privacy.points):
        return Finite(tuple(problem.privacy.points[:, 0].tolist()))
    if problem.privacy.inputs is None:
        return Finite(tuple(range(len(problem.table.up))))
    return Finite(tuple(range(len(problem.privacy))))


def _require_fit(problem: Any) -> None:
    """Loss, privacy and the class are about the same inputs and outputs, or `InvalidInput`."""
    loss, privacy, among = problem.loss, problem.privacy, problem.among
    if isinstance(privacy, Collusion | Hidden):
        raise InvalidInput("privacy", privacy, "be about the report of one user", "take Pure(eps)")
    if not isinstance(among, All | Onto | InPlane):
        raise InvalidInput("among", among, "be about finitely many inputs of one user", "take All()")
    if isinstance(loss, Matrix):
        if not isinstance(among, All):
            raise InvalidInput("among", among, "be All() for a matrix: outputs are its columns", "leave it out")
        if privacy.inputs not in (None, len(loss.values)):
            rule = f"have a row for each of the {privacy.inputs} inputs of the privacy"
            raise InvalidInput("loss matrix", loss.values.shape, rule)
        return
    if not isinstance(privacy, Metric):
        raise InvalidInput("loss", loss, "be a matrix where privacy is no Metric: there are no places")
    coordinates = privacy.points.shape[1]
    if isinstance(among, InPlane):
        if privacy.distance != EUCLIDEAN or coordinates != 2:
            raise InvalidInput("among", among, "be asked of points of the plane", "take All() or Onto(places)")
        if loss.output_labels is not None:
            raise InvalidInput("output_labels", "texts", "be left out where the places to report are to be found")
    elif isinstance(among, Onto) and among.places.shape[1] != coordinates:
        raise InvalidInput("outputs", among.places.shape, f"have {coordinates} coordinates like the points")
    require_labels(loss.output_labels, problem.table.width, "output_labels")


def words(problem: Any) -> Words:
    """Inputs and outputs are counted; what they lose, and where they are, is told by fingerprints."""
    return usual_words(
        problem,
        "loss",
        problem.loss.words,
        subject=_subject(problem),
        asked=f"{problem.criterion.headline('loss')}, {problem.loss.words}",
        particulars=_particulars(problem),
        labels=problem.table.labels,
    )


def _subject(problem: Any) -> str:
    rows, columns = problem.table.up.shape
    if isinstance(problem.loss, Matrix):
        return table_in_words(rows, columns)
    if isinstance(problem.among, InPlane):
        return f"{counted(rows, 'place')} and reports anywhere in the plane"
    return f"{counted(rows, 'place')} and {counted(columns, 'place')} to report"


def _particulars(problem: Any) -> tuple[str, ...]:
    said = [f"loss: {problem.loss.words}"]
    if isinstance(problem.loss, Matrix):
        said = [f"loss matrix: {fingerprint(problem.loss.values)}"]
    if isinstance(problem.privacy, Pairs):
        said.append(problem.privacy.told_apart)
    if isinstance(problem.among, Onto):
        said.append(f"places to report: {fingerprint(problem.among.places)}")
    return tuple(said)
