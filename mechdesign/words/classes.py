"""Among which mechanisms the best is looked for."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.values.codec import if_any
from mechdesign.values.declare import array, field, frozen, one_of, option, optional, whole
from mechdesign.words.counts import require_group
from mechdesign.words.domains import Circle, Interval, interval_of, parse_interval, require_domain
from mechdesign.words.places import require_places

Floats = NDArray[np.float64]

MOST_PIECES = 100


@frozen
class All:
    """All mechanisms whose reports the loss knows: columns of a matrix, or the places that inputs are."""

    kind: ClassVar[str] = "all"


@frozen
class Onto:
    """All mechanisms that report these places.

    >>> Onto([0, 10]).places.tolist()
    [[0.0], [10.0]]
    """

    kind: ClassVar[str] = "onto"

    places: Floats = array(lambda said: require_places(said, "outputs"))


def _in_plane(said: Any) -> Floats:
    places = require_places(said, "places")
    if places.shape[1] != 2:
        raise InvalidInput("places", places.shape, "have two coordinates: they are reported in the plane")
    return places


@frozen
class InPlane:
    """All mechanisms that report places of the plane, whichever they are.

    A mechanism reports ``places``, the inputs themselves if left out. They are what a search begins with: the problem
    of the design that it answers with has the places that it found. Bounds are about all of the plane.
    """

    kind: ClassVar[str] = "in the plane"

    places: Floats | None = array(optional(_in_plane), default=None, metadata=if_any())


def _pieces(said: Any) -> int:
    if isinstance(said, bool) or not isinstance(said, int) or not 1 <= said <= MOST_PIECES:
        raise InvalidInput("pieces", said, f"be a whole number from 1 to {MOST_PIECES}", "3 are always enough")
    return said


def _outputs(said: Any) -> Interval | Circle:
    outputs: Any = parse_interval(said, "outputs") if isinstance(said, str) else interval_of(said)
    require_domain(outputs, (Interval, Circle), "outputs")
    return outputs  # type: ignore[no-any-return]


@frozen
class Piecewise:
    """Mechanisms whose densities have the same heights for every input, on pieces that move with it.

    ``pieces`` is how many there are at most where errors are largest, ``outputs`` what is reported: the inputs
    themselves if left out. Where inputs have several coordinates each has an independent mechanism of the kind.

    >>> Piecewise(pieces=3, outputs=(-1, 2)).outputs
    Interval(lower=-1.0, upper=2.0)
    """

    kind: ClassVar[str] = "piecewise"

    pieces: int | None = field(
        default=None,
        converter=optional(_pieces),
        metadata=if_any() | option("--pieces", "Most pieces m (free unless given)."),
    )
    outputs: Interval | Circle | None = field(
        default=None,
        converter=optional(_outputs),
        metadata=if_any() | option("--outputs", "Outputs, as LO,HI (the inputs unless given).", metavar="LO,HI"),
    )


@frozen
class Unbiased:
    """All mechanisms with ``E[Y|x] = x`` that report numbers, whichever they are."""

    kind: ClassVar[str] = "unbiased"


@frozen
class UnbiasedPiecewise:
    """Mechanisms with ``E[Y|x] = x`` whose density is constant on a window and outside, onto any interval."""

    kind: ClassVar[str] = "unbiased piecewise"


LEAST_BINS, MOST_BINS, USUAL_BINS = 2, 512, 32
_REACH = "M: tails begin M steps beyond the inputs (4 N, more for small eps)."


def _steps(name: str, **options: Any) -> Any:
    """A field with a number of steps, or none, which leaves it to what answers."""
    convert = optional(lambda said: require_whole(said, name, 1))
    return field(default=None, converter=convert, **options)


@frozen
class OnGrid:
    """Mechanisms with ``E[Y|x] = x`` that report whole steps of a grid of ``bins + 1`` equispaced inputs.

    ``reach`` and ``tail`` say how many steps beyond the inputs the tails begin, and that they decay by
    ``tail / (tail + 1)`` a step from there on. Left out, they are chosen so that tails hardly matter: the problem of a
    design has them.

    >>> OnGrid(bins=4, reach=9).reach
    9
    """

    kind: ClassVar[str] = "on a grid"

    bins: int = whole(
        "bins",
        LEAST_BINS,
        MOST_BINS,
        default=USUAL_BINS,
        metadata=option("--bins", "N: the grid has N + 1 inputs (for tiny eps 16)."),
    )
    reach: int | None = _steps("reach", metadata=if_any() | option("--reach", _REACH))
    tail: int | None = _steps("tail", metadata=if_any())


UnbiasedClass = Unbiased | UnbiasedPiecewise | OnGrid
"""Those whose error is a variance."""

ENCODINGS = ("response", "unary", "hashing")


@frozen
class Together:
    """Responses that are drawn for users together, and treat them alike.

    ``group`` is how many of them: random groups of so many, or all users where it is left out. ``encoding`` is what is
    answered together: ``response``, the report of a category; ``unary``, each bit of unary encoding at half the
    epsilon; ``hashing``, the report of a hash value, of which there are as many as inputs, with which the users of
    other values agree by chance.
    """

    kind: ClassVar[str] = "together"

    encoding: str = one_of("encoding", ENCODINGS, default="response")
    group: int | None = field(
        default=None,
        converter=optional(require_group),
        metadata=if_any() | option("--group", "Users who answer together (2)."),
    )


Class = All | Onto | InPlane | Piecewise | UnbiasedClass | Together
