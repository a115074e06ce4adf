"""Inputs that every sampler must refuse."""

from __future__ import annotations

import math

from mechdesign.deploy.export.plan import Inputs
from mechdesign.deploy.export.vectors import Vector


def refusals(inputs: Inputs) -> list[Vector]:
    """Inputs outside the domain, as near to it as doubles get, and what is no number at all.

    >>> [vector.x for vector in refusals(Inputs(0.0, 1.0))]
    [nan, inf, -inf, -5e-324, 1.0000000000000002]
    """
    if inputs.count:
        return [Vector(item, bytes(64), 0, None) for item in (-1, inputs.count)]
    outside = [math.nan, math.inf, -math.inf, math.nextafter(inputs.lower, -math.inf)]
    if len(inputs.points) > 1:
        outside.append(math.nextafter(inputs.lower, math.inf))
    outside.append(math.nextafter(inputs.upper, math.inf))
    return [Vector(x, bytes(64), 0, None) for x in outside if x not in inputs.points]
