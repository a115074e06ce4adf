"""What is asked of a table for a loss matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.criteria import Aim, Criterion
from mechdesign.design.words import table_in_words
from mechdesign.domains import Finite, require_numbers
from mechdesign.errors import InvalidInput, require_finite
from mechdesign.priors import Atoms
from mechdesign.privacy import Pure
from mechdesign.values.codec import named
from mechdesign.values.declare import (
    GAP_OPTION,
    SLACK_OPTION,
    array,
    derived,
    epsilon,
    field,
    finite,
    frozen,
    optional,
    settle,
    stored,
)
from mechdesign.values.fingerprint import digest, fingerprint, weights_in_words

Floats = NDArray[np.float64]

CRITERIA = ("worst", "prior", "lexicographic")
LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0
MOST_ENTRIES = 10**6
LEAST_GAP = 1e-9

_NEGLIGIBLE = 1e-12  # of the largest loss


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


def _aim(said: Any) -> Aim:
    """One of the three criteria, or its word."""
    word = said.value if isinstance(said, Aim) else said
    if word not in CRITERIA:
        raise InvalidInput("criterion", word, f"be one of {', '.join(CRITERIA)}")
    return Aim(word)


def _weights(said: ArrayLike) -> Floats:
    _require_unmasked(said, "prior")
    return stored(np.atleast_1d(require_numbers(said, "prior")))


def _texts(name: str) -> Callable[[Any], tuple[str, ...] | None]:
    """The converter of a field with labels."""

    def convert(said: Any) -> tuple[str, ...]:
        texts = tuple(said)
        if isinstance(said, str) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput(name, said, "be a sequence of texts")
        return texts

    return optional(convert)


@frozen
class FiniteProblem:
    """The least expected loss over all epsilon-LDP mechanisms from the rows to the columns of ``loss_matrix``.

    ``criterion`` is "worst", "prior" (the average under ``prior``, weights on the inputs, uniform if left out) or
    "lexicographic" (the average, among mechanisms whose worst case is at most ``1 + slack`` times the least). ``gap``
    is the relative distance between the proven bounds at which the search stops, or 1e-12 of the largest loss if that
    is more. Labels name rows and columns where results are shown.

    >>> FiniteProblem(1.0, [[0, 1], [1, 0]], "prior").prior.tolist()
    [0.5, 0.5]
    """

    kind: ClassVar[str] = "finite"

    epsilon: float = epsilon()
    loss_matrix: Floats = array(require_losses, metadata=named("losses"))
    aim: Aim | str = field(default=Aim.MATRIX_WORST, converter=_aim, metadata=named("criterion"), alias="criterion")
    prior: Floats | None = array(optional(_weights), default=None)
    gap: float = finite("gap", default=1e-6, metadata=GAP_OPTION)
    slack: float = finite("slack", default=1e-5, metadata=SLACK_OPTION)
    input_labels: tuple[str, ...] | None = field(default=None, converter=_texts("input_labels"))
    output_labels: tuple[str, ...] | None = field(default=None, converter=_texts("output_labels"))
    inputs: Finite = derived(lambda problem: Finite(tuple(range(problem.loss_matrix.shape[0]))))
    """The numbers of the rows."""

    def __attrs_post_init__(self) -> None:
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
            raise InvalidInput("eps", self.epsilon, rule)
        inputs, outputs = self.loss_matrix.shape
        self._settle_prior(inputs)
        for name, value in (("gap", self.gap), ("slack", self.slack)):
            if not LEAST_GAP <= value < (1 if name == "gap" else math.inf):
                raise InvalidInput(name, value, f"be at least {LEAST_GAP:g}, and a gap below 1")
        _require_names(self.input_labels, inputs, "input_labels")
        _require_names(self.output_labels, outputs, "output_labels")

    def _settle_prior(self, count: int) -> None:
        if self.aim is Aim.MATRIX_WORST:
            if self.prior is not None:
                raise InvalidInput("prior", "weights", "be left out for the worst case", "use criterion='prior'")
            return
        weights = np.full(count, 1 / count) if self.prior is None else self.prior
        if weights.shape != (count,):
            raise InvalidInput("prior", weights.shape, f"be one weight for each of the {count} inputs")
        settle(self, prior=stored(Atoms(np.arange(float(count)), weights).weights))

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(_aim(self.aim))

    @property
    def subject(self) -> str:
        return table_in_words(*self.loss_matrix.shape)

    @property
    def prior_in_words(self) -> str | None:
        return None if self.prior is None else weights_in_words(self.prior)

    @property
    def particulars(self) -> tuple[str, ...]:
        return (f"loss matrix: {fingerprint(self.loss_matrix)}",)

    @property
    def negligible(self) -> float:
        """What bounds may be apart whatever the gap."""
        return _NEGLIGIBLE * float(self.loss_matrix.max())

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of rows and columns: those given, else their numbers."""
        rows, columns = self.loss_matrix.shape
        return self.input_labels or _numbered(rows), self.output_labels or _numbered(columns)

    def echo(self) -> dict[str, Any]:
        """What the loss is called, a hash of the loss matrix, and the inputs as a domain."""
        rows, columns = self.loss_matrix.shape
        loss = f"a matrix of {rows} inputs and {columns} outputs"
        return {"loss": loss, "loss_matrix": matrix_digest(self.loss_matrix), "inputs": self.inputs}


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


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


def matrix_digest(losses: Floats) -> dict[str, Any]:
    """What identifies a matrix without repeating it: its shape and a hash of its doubles."""
    return {"shape": list(losses.shape), "sha256": digest(losses)}


def _require_unmasked(values: ArrayLike, field: str) -> None:
    if np.ma.isMaskedArray(values):
        raise InvalidInput(field, "a masked array", "be a plain array", "fill the masked entries")


def _require_names(labels: tuple[str, ...] | None, count: int, name: str) -> None:
    if labels is not None and not len(labels) == len(set(labels)) == count:
        raise InvalidInput(name, labels, f"be {count} different texts")


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
