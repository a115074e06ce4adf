"""Among which mechanisms the best is looked for."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.values.codec import if_any
from mechdesign.values.declare import array, frozen, one_of, optional
from mechdesign.words.places import require_places

Floats = NDArray[np.float64]


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


@frozen
class UnbiasedPiecewise:
    """Mechanisms with ``E[Y|x] = x`` whose density is constant on a window and outside, onto any interval."""

    kind: ClassVar[str] = "unbiased piecewise"


ENCODINGS = ("response", "unary", "hashing")


@frozen
class Together:
    """Responses that are drawn for all users together, and treat them alike.

    ``encoding`` is what is answered together: ``response``, the report of a category; ``unary``, each bit of unary
    encoding at half the epsilon; ``hashing``, the report of a hash value, of which there are as many as inputs, with
    which the users of other values agree by chance.
    """

    kind: ClassVar[str] = "together"

    encoding: str = one_of("encoding", ENCODINGS, default="response")


Class = All | Onto | InPlane | UnbiasedPiecewise | Together
