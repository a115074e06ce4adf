"""What is asked where every pair of inputs has its own epsilon."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from attrs import Factory
from numpy.typing import ArrayLike, NDArray

from mechdesign.criteria import Aim, Criterion
from mechdesign.design.finite.problem import matrix_digest, require_losses
from mechdesign.design.words import counted, table_in_words
from mechdesign.domains import Finite, require_numbers
from mechdesign.errors import InvalidInput, require_finite
from mechdesign.pairs import Metric, Pairwise
from mechdesign.places import EUCLIDEAN, GREAT_CIRCLE, distances_down, distances_up, require_places
from mechdesign.priors import Atoms
from mechdesign.values.codec import named
from mechdesign.values.declare import (
    SLACK_OPTION,
    array,
    content,
    derived,
    evolved,
    field,
    finite,
    frozen,
    gap,
    one_of,
    optional,
    settle,
    stored,
)
from mechdesign.values.fingerprint import fingerprint, weights_in_words

Floats = NDArray[np.float64]

AIMS = (Aim.MATRIX_WORST.value, Aim.MATRIX_AVERAGE.value, Aim.MATRIX_LEXICOGRAPHIC.value)
MOST_INPUTS = {Aim.MATRIX_WORST.value: 600, Aim.MATRIX_LEXICOGRAPHIC.value: 200}
"""Of a worst case, whose systems couple all inputs twice; beside an average blocks hold all inputs."""

_GAP, _LEXICOGRAPHIC_GAP = 1e-6, 1e-3
_LEAST_SLACK = 1e-6
_NEGLIGIBLE = 1e-9  # of the largest loss


def _exponent(said: Any) -> float:
    power = require_finite(said, "exponent")
    if power not in (1.0, 2.0):
        raise InvalidInput("exponent", said, "be 1 or 2", "other losses go in as a matrix")
    return power


@frozen
class Distances:
    """The loss is the distance from the input to the reported place, or its square.

    Reports are the places in ``outputs``, the inputs themselves if left out.
    """

    kind: ClassVar[str] = "distances"

    exponent: float = field(default=1.0, converter=_exponent)
    outputs: Floats | None = array(optional(lambda said: require_places(said, "outputs")), default=None)


def _in_plane(said: Any) -> Floats:
    places = require_places(said, "places")
    if places.shape[1] != 2:
        raise InvalidInput("places", places.shape, "have two coordinates: they are reported in the plane")
    return places


@frozen
class InPlane:
    """The loss is the distance to the reported place, or its square, and any place of the plane may be reported.

    A mechanism reports ``places``, the inputs themselves if left out. They are what a search begins with: the problem
    of the design that it answers with has the places that it found. Bounds are about all of the plane.
    """

    kind: ClassVar[str] = "in the plane"

    exponent: float = field(default=1.0, converter=_exponent)
    places: Floats | None = array(optional(_in_plane), default=None)


def _privacy(said: Any) -> Pairwise | Metric:
    if not isinstance(said, Pairwise | Metric):
        step = "one epsilon for all pairs is a FiniteProblem"
        raise InvalidInput("privacy", said, "be a Pairwise or a Metric", step)
    return said


def _losses(said: Any) -> Any:
    return said if isinstance(said, Distances | InPlane) else require_losses(said)


def _key(said: Any) -> Any:
    return content(said) if isinstance(said, np.ndarray) else said


def _weights(said: ArrayLike) -> Floats:
    return stored(np.atleast_1d(require_numbers(said, "prior")))


def _texts(said: Any) -> tuple[str, ...]:
    texts = tuple(said)
    if isinstance(said, str) or not all(isinstance(text, str) for text in texts) or len(set(texts)) < len(texts):
        raise InvalidInput("labels", said, "be different texts")
    return texts


@frozen
class PairwiseProblem:
    """The least expected loss over all mechanisms with an epsilon for each pair of inputs.

    ``privacy`` is a `Pairwise` or a `Metric`; ``losses`` a matrix (rows are inputs, columns outputs), `Distances` or
    `InPlane` for a metric. ``criterion`` is "prior" (the average under ``prior``, weights on the inputs, uniform if
    left out), "worst" or "lexicographic" (the average, among mechanisms whose worst case is at most ``1 + slack`` times
    the least). ``gap`` is the relative distance between the proven bounds at which the search stops, or 1e-9 of the
    largest loss if that is more; unless given 1e-6, and 1e-3 for "lexicographic".

    >>> problem = PairwiseProblem(Metric([0, 1, 2], 1.0), Distances())
    >>> problem.inputs.points, problem.epsilon < 2
    ((0.0, 1.0, 2.0), True)
    """

    kind: ClassVar[str] = "pairwise"

    privacy: Pairwise | Metric = field(converter=_privacy)
    losses: Floats | Distances | InPlane = field(converter=_losses, eq=_key)
    aim: str = one_of(
        "criterion", AIMS, default=Aim.MATRIX_AVERAGE.value, metadata=named("criterion"), alias="criterion"
    )
    prior: Floats | None = array(optional(_weights), default=None)
    gap: float = gap(1e-9, default=Factory(lambda problem: _usual_gap(problem), takes_self=True))
    slack: float = finite("slack", default=1e-3, metadata=SLACK_OPTION)
    input_labels: tuple[str, ...] | None = field(default=None, converter=optional(_texts))
    output_labels: tuple[str, ...] | None = field(default=None, converter=optional(_texts))
    inputs: Finite = derived(lambda problem: inputs_of(problem.privacy))
    """The points where they are increasing numbers, else the numbers of rows."""

    def __attrs_post_init__(self) -> None:
        size = len(self.privacy)
        self._require_losses(size)
        self._settle_prior(size)
        if self.input_labels is not None and len(self.input_labels) != size:
            raise InvalidInput("input_labels", len(self.input_labels), f"be one for each of the {size} inputs")
        if self.output_labels is not None and len(self.output_labels) != self.width:
            raise InvalidInput("output_labels", len(self.output_labels), f"be one for each of the {self.width} outputs")
        most = MOST_INPUTS.get(self.aim, size)
        if size > most:
            step = "take criterion='prior', or fewer places"
            raise InvalidInput("inputs", size, f"be at most {most} with criterion={self.aim!r}", step)
        if not self.slack >= _LEAST_SLACK:
            raise InvalidInput("slack", self.slack, f"be at least {_LEAST_SLACK:g}", "for example 0.001")

    def _require_losses(self, size: int) -> None:
        if isinstance(self.losses, np.ndarray):
            if self.losses.shape[0] != size:
                rule = f"have a row for each of the {size} inputs of the privacy"
                raise InvalidInput("loss matrix", self.losses.shape, rule)
            return
        if not isinstance(self.privacy, Metric):
            raise InvalidInput("losses", self.losses, "be a matrix where privacy is one: there are no places")
        if isinstance(self.losses, InPlane):
            if self.privacy.distance != EUCLIDEAN or self.privacy.points.shape[1] != 2:
                raise InvalidInput("losses", self.losses, "be asked of points of the plane", "take Distances()")
            if self.aim == Aim.MATRIX_LEXICOGRAPHIC.value:
                rule = "be prior or worst where reports may be anywhere: the least worst case is not known well enough"
                raise InvalidInput("criterion", self.aim, rule, "take Distances(), with the places to report")
            if self.output_labels is not None:
                raise InvalidInput("output_labels", "texts", "be left out where the places to report are to be found")
        elif self.losses.outputs is not None and self.losses.outputs.shape[1] != self.privacy.points.shape[1]:
            count = self.privacy.points.shape[1]
            raise InvalidInput("outputs", self.losses.outputs.shape, f"have {count} coordinates like the points")

    def _settle_prior(self, size: int) -> None:
        if self.aim == Aim.MATRIX_WORST.value:
            if self.prior is not None:
                raise InvalidInput("prior", "weights", "be left out for the worst case", "use criterion='prior'")
            return
        weights = np.full(size, 1 / size) if self.prior is None else self.prior
        if weights.shape != (size,):
            raise InvalidInput("prior", weights.shape, f"be one weight for each of the {size} inputs")
        settle(self, prior=stored(Atoms(np.arange(float(size)), weights).weights))

    @property
    def epsilon(self) -> float:
        """The largest of any pair, at most 64."""
        return self.privacy.epsilon

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim(self.aim))

    @property
    def width(self) -> int:
        """How many outputs there are to choose from; of a plane, how many of its places are reported."""
        return int(self.losses_down.shape[1])

    @property
    def losses_down(self) -> Floats:
        """What every loss is at least."""
        return _enclosed(self)[0]

    @property
    def losses_up(self) -> Floats:
        """What every loss is at most."""
        return _enclosed(self)[1]

    @property
    def outputs(self) -> Finite:
        """Increasing numbers where inputs and outputs are, else the numbers of columns."""
        places = self.places
        if places is not None and _are_numbers(places) and _are_numbers(self.privacy_points):
            return Finite(tuple(places[:, 0].tolist()))
        return Finite(tuple(range(self.width)))

    @property
    def privacy_points(self) -> Floats:
        """Where inputs are, if they are places; else nothing."""
        return self.privacy.points if isinstance(self.privacy, Metric) else np.empty((0, 0))

    @property
    def names(self) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        """The labels of inputs and outputs, or else the coordinates of places; None where these are plain numbers."""
        if not isinstance(self.privacy, Metric) or self.privacy.points.shape[1] == 1:
            return self.input_labels, self.output_labels
        inputs, places = self.input_labels or _coordinates(self.privacy.points), self.places
        return inputs, self.output_labels or (None if places is None else _coordinates(places))

    @property
    def places(self) -> Floats | None:
        """Where outputs are, if they are places."""
        if not isinstance(self.privacy, Metric) or isinstance(self.losses, np.ndarray):
            return None
        places = self.losses.places if isinstance(self.losses, InPlane) else self.losses.outputs
        return self.privacy.points if places is None else places

    @property
    def as_published(self) -> PairwiseProblem:
        """The same with reports among the places that were given: what rivals are about."""
        return evolved(self, losses=Distances(self.losses.exponent)) if isinstance(self.losses, InPlane) else self

    @property
    def subject(self) -> str:
        rows, columns = len(self.privacy), self.width
        if isinstance(self.losses, InPlane):
            return f"{counted(rows, 'place')} and reports anywhere in the plane"
        if isinstance(self.losses, Distances):
            return f"{counted(rows, 'place')} and {counted(columns, 'place')} to report"
        return table_in_words(rows, columns)

    @property
    def privacy_in_words(self) -> str:
        match self.privacy:
            case Metric(per_unit=rate, distance=kind):
                return f"eps = {rate:g} a {'kilometre' if kind == GREAT_CIRCLE else 'unit of distance'}"
        return "an eps for each pair"

    @property
    def loss_in_words(self) -> str:
        return str(self.echo()["loss"])

    @property
    def prior_in_words(self) -> str | None:
        return None if self.prior is None else weights_in_words(self.prior)

    @property
    def particulars(self) -> tuple[str, ...]:
        losses, privacy = self.losses, self.privacy
        matrix = f"loss matrix: {fingerprint(losses)}" if isinstance(losses, np.ndarray) else None
        said = [matrix or f"loss: {self.loss_in_words}"]
        if isinstance(privacy, Pairwise):
            return (*said, f"eps of the pairs: {fingerprint(privacy.epsilons)}")
        said.append(f"places: {fingerprint(privacy.points)}")
        if isinstance(losses, Distances) and losses.outputs is not None:
            said.append(f"places to report: {fingerprint(losses.outputs)}")
        return tuple(said)

    @property
    def negligible(self) -> float:
        """What bounds may be apart whatever the gap."""
        return _NEGLIGIBLE * float(self.losses_up.max())

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        rows, columns = len(self.privacy), self.width
        if self.outputs.points != tuple(range(columns)):  # numbers, which are their own names
            return None
        given = self.names
        return given[0] or tuple(map(str, range(rows))), given[1] or tuple(map(str, range(columns)))

    def echo(self) -> dict[str, Any]:
        """What the loss is called, in words."""
        if isinstance(self.losses, np.ndarray):
            rows, columns = self.losses.shape
            words = f"a matrix of {rows} inputs and {columns} outputs"
            return {"loss": words, "loss_matrix": matrix_digest(self.losses)}
        return {"loss": ("" if self.losses.exponent == 1 else "squared ") + "distance"}


def _coordinates(places: Floats) -> tuple[str, ...]:
    for digits in (6, 9, 17):
        texts = tuple("(" + ", ".join(f"{part:.{digits}g}" for part in place) + ")" for place in places.tolist())
        if len(set(texts)) == len(texts):
            break
    return texts


def inputs_of(privacy: Pairwise | Metric) -> Finite:
    """The points where they are increasing numbers, else the numbers of rows."""
    if isinstance(privacy, Metric) and _are_numbers(privacy.points):
        return Finite(tuple(privacy.points[:, 0].tolist()))
    return Finite(tuple(range(len(privacy))))


def _are_numbers(places: Floats) -> bool:
    return places.shape[1] == 1 and bool((np.diff(places[:, 0]) > 0).all())


def _usual_gap(problem: PairwiseProblem) -> float:
    return _LEXICOGRAPHIC_GAP if problem.aim == Aim.MATRIX_LEXICOGRAPHIC.value else _GAP


@lru_cache(maxsize=4)
def _enclosed(problem: PairwiseProblem) -> tuple[Floats, Floats]:
    losses = problem.losses
    if isinstance(losses, np.ndarray):
        return losses, losses
    assert isinstance(problem.privacy, Metric)
    points, places = problem.privacy.points, problem.places
    assert places is not None
    up = distances_up(points, places, problem.privacy.distance)
    down = distances_down(points, places, problem.privacy.distance)
    if losses.exponent == 2:
        down, up = down * down * (1 - 2.0**-52), up * up * (1 + 2.0**-52)
    return stored(down), stored(up)
