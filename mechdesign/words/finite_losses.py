"""Losses of finitely many inputs: a matrix of them, or the distance of the place that is reported.

A problem asks its loss for a `LossTable`: what each pair of input and output loses, at least and at most.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.values.codec import if_any
from mechdesign.values.declare import array, derived, field, frozen, optional, stored
from mechdesign.words.classes import All, InPlane, Onto
from mechdesign.words.domains import Finite, require_numbers
from mechdesign.words.pairs import Metric
from mechdesign.words.places import distances_down, distances_up

Floats = NDArray[np.float64]
Names = tuple[str, ...] | None

MOST_ENTRIES = 10**6


def require_losses(values: ArrayLike) -> Floats:
    """A loss matrix: finite numbers, at least 0, one row an input and one column an output."""
    _require_unmasked(values, "loss matrix")
    try:
        losses = stored(require_numbers(values, "loss matrix"))
    except InvalidInput as error:
        if error.field == "loss matrix":
            raise InvalidInput("loss matrix", values, "be rows of numbers, all of one length") from None
        raise
    if losses.ndim != 2 or not losses.size:
        raise InvalidInput("loss matrix", losses.shape, "have two axes, with an input (row) and an output (column)")
    if losses.size > MOST_ENTRIES:
        raise InvalidInput("loss matrix", losses.shape, f"have at most {MOST_ENTRIES} entries")
    bad = np.argwhere(~(np.isfinite(losses) & (losses >= 0)))
    if bad.size:
        row, column = bad[0].tolist()
        raise InvalidInput(f"loss matrix[{row}, {column}]", float(losses[row, column]), "be finite and at least 0")
    return losses


def _labels(name: str) -> Any:
    """A field with the names of inputs or outputs."""

    def convert(said: Any) -> tuple[str, ...]:
        texts = tuple(said)
        if isinstance(said, str) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput(name, said, "be a sequence of texts")
        return texts

    return field(default=None, converter=optional(convert), metadata=if_any())


def require_labels(labels: Names, count: int, name: str) -> None:
    """As many different texts as there are inputs or outputs, or `InvalidInput`."""
    if labels is not None and not len(labels) == len(set(labels)) == count:
        raise InvalidInput(name, labels, f"be {count} different texts")


@frozen
class LossTable:
    """What inputs (rows) lose to outputs (columns), at least and at most; ``places`` is where outputs are, if anywhere.

    ``outputs`` are increasing numbers where inputs and outputs are, else the numbers of columns. ``names`` are labels
    of inputs and outputs, or else the coordinates of places; None where these are plain numbers.
    """

    down: Floats = array()
    up: Floats = array()
    outputs: Finite
    places: Floats | None
    names: tuple[Names, Names]

    @property
    def width(self) -> int:
        """How many outputs there are to choose from; of a plane, how many of its places are reported."""
        return int(self.up.shape[1])

    def names_of(self, outputs: Finite) -> Names:
        """The names of some of the outputs, if they have any."""
        names = self.names[1]
        return None if names is None else tuple(names[place] for place in self.outputs.index(outputs.points).tolist())

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The names of rows and columns, or else their numbers; None for numbers, which are their own names."""
        rows, columns = self.up.shape
        if self.outputs.points != tuple(range(columns)):
            return None
        return self.names[0] or tuple(map(str, range(rows))), self.names[1] or tuple(map(str, range(columns)))


@frozen
class Matrix:
    """Losses of inputs (rows) and outputs (columns), at least 0. Labels name them where results are shown.

    >>> Matrix([[0, 1], [1, 0]]).words
    'a matrix of 2 inputs and 2 outputs'
    """

    kind: ClassVar[str] = "matrix"

    values: Floats = array(require_losses)
    input_labels: Names = _labels("input_labels")
    output_labels: Names = _labels("output_labels")
    table: LossTable = derived(
        lambda loss: LossTable(
            loss.values,
            loss.values,
            Finite(tuple(range(loss.values.shape[1]))),
            None,
            (loss.input_labels, loss.output_labels),
        )
    )
    """The losses as they are."""

    def __attrs_post_init__(self) -> None:
        require_labels(self.input_labels, self.values.shape[0], "input_labels")
        require_labels(self.output_labels, self.values.shape[1], "output_labels")

    @property
    def words(self) -> str:
        rows, columns = self.values.shape
        return f"a matrix of {rows} inputs and {columns} outputs"


def _exponent(said: Any) -> float:
    power = require_finite(said, "exponent")
    if power not in (1.0, 2.0):
        raise InvalidInput("exponent", said, "be 1 or 2", "other losses go in as a matrix")
    return power


@frozen
class Distances:
    """The distance from the input, a place of a metric, to the place that is reported, or its square.

    Which places may be reported is a matter of the mechanisms: the inputs themselves among `All`, else those of `Onto`
    or any of the plane (`InPlane`).
    """

    kind: ClassVar[str] = "distances"

    exponent: float = field(default=1.0, converter=_exponent)
    input_labels: Names = _labels("input_labels")
    output_labels: Names = _labels("output_labels")

    @property
    def words(self) -> str:
        return ("" if self.exponent == 1 else "squared ") + "distance"


FiniteLoss = Matrix | Distances


@lru_cache(maxsize=4)
def table_of_places(loss: Distances, privacy: Metric, among: All | Onto | InPlane) -> LossTable:
    """What each of the metric's places loses to each of those that are reported, two doubles around it."""
    points = privacy.points
    said = None if isinstance(among, All) else among.places
    places = points if said is None else said
    up = distances_up(points, places, privacy.distance)
    down = distances_down(points, places, privacy.distance)
    if loss.exponent == 2:
        down, up = down * down * (1 - 2.0**-52), up * up * (1 + 2.0**-52)
    width = len(places)
    outputs = places[:, 0].tolist() if are_numbers(places) and are_numbers(points) else range(width)
    names = loss.input_labels, loss.output_labels
    if points.shape[1] > 1:
        names = names[0] or coordinates(points), names[1] or coordinates(places)
    return LossTable(stored(down), stored(up), Finite(tuple(outputs)), places, names)


def are_numbers(places: Floats) -> bool:
    """Whether places are increasing numbers, which are their own names."""
    return places.shape[1] == 1 and bool((np.diff(places[:, 0]) > 0).all())


def coordinates(places: Floats) -> tuple[str, ...]:
    """Places as different texts."""
    for digits in (6, 9, 17):
        texts = tuple("(" + ", ".join(f"{part:.{digits}g}" for part in place) + ")" for place in places.tolist())
        if len(set(texts)) == len(texts):
            break
    return texts


def euclidean(points: ArrayLike, outputs: ArrayLike | None = None, exponent: float = 1.0) -> Floats:
    """Euclidean distances to the power ``exponent`` from points (rows) to outputs (the same points if left out).

    >>> euclidean([[0, 0], [3, 4]])
    array([[0., 5.],
           [5., 0.]])
    >>> euclidean([0, 1], [0.5], exponent=2)
    array([[0.25],
           [0.25]])
    """
    power = require_finite(exponent, "exponent")
    if not power > 0:
        raise InvalidInput("exponent", power, "be above 0")
    inputs = _points(points, "points")
    places = inputs if outputs is None else _points(outputs, "outputs")
    if inputs.shape[1] != places.shape[1]:
        raise InvalidInput("outputs", places.shape, f"have {inputs.shape[1]} coordinates like the points")
    if len(inputs) * len(places) > MOST_ENTRIES:
        raise InvalidInput(
            "points", f"{len(inputs)} x {len(places)}", f"make a matrix of at most {MOST_ENTRIES} entries"
        )
    distances = np.linalg.norm(inputs[:, None, :] - places[None, :, :], axis=2)
    return np.asarray(distances**power)


def _require_unmasked(values: ArrayLike, field: str) -> None:
    if np.ma.isMaskedArray(values):
        raise InvalidInput(field, "a masked array", "be a plain array", "fill the masked entries")


def _points(values: ArrayLike, field: str) -> Floats:
    _require_unmasked(values, field)
    points = require_numbers(values, field)
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or not points.size:
        raise InvalidInput(field, points.shape, "be a list of points: one row a point, one column a coordinate")
    if not np.isfinite(points).all():
        raise InvalidInput(field, float(points[~np.isfinite(points)][0]), "be finite")
    return points
