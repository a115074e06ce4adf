"""Rectangles that cover the box around points of the plane, and what reports in them lose at least.

The box is cut in two across an axis, either part again, and so on: what a list of cuts leaves covers the box, whatever
the cuts are. Reports outside the box need no rectangle: the nearest place inside is nearer to every point of the box.

**Reports at corners.** Let C be a rectangle, and for each input x let ``l_x(y) <= loss(x, y)`` be affine. A report y in
C may be moved to a corner at random, with the chances that have y as their mean: whatever pairs a mechanism keeps it
keeps then, and as ``l_x`` is affine the mean of ``l_x`` at the corner is ``l_x(y)``. So every mechanism with reports in
the plane has one with reports at corners that loses no more, if a report at a corner c counts the least ``l_x(c)`` of
the rectangles around it; and what mechanisms on corners lose at least, all mechanisms do.

The affine losses are tangents: ``<u, y - x> <= |y - x|`` for every u with ``|u| <= 1``, and
``2 <w, y - x> - |w|^2 <= |y - x|^2`` for every w. At a place z of C, where ``u = (z - x)/|z - x|`` and ``w = z - x``,
nothing is lost, and elsewhere in C what grows with the square of its size. z is the middle, or the place of C that is
nearest to x where the tangent at the middle is below 0 at a corner.

Doubles are rounded down by far more than they are off: a difference, a product and a sum are three roundings of 2^-53.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

LEAF = 2
_CORNERS = [[0, 1], [2, 1], [0, 3], [2, 3]]
_SURE = 2.0**-48
_NEARLY = 2.0**-40  # of the largest loss: at a corner that is the point itself rounding leaves less than 0
_UNSEEN = 1e-280  # what is less may have lost digits: far below any place that there are epsilons for


def tiles(points: Floats, axes: Floats, cuts: Floats) -> Floats:
    """The rectangles ``x0, y0, x1, y1`` that cuts leave of the box around the points, or `CheckFailed`.

    ``axes`` says of each part in preorder whether it is cut across the first axis (0), the second (1), or not (2);
    ``cuts`` where, one for each 0 and 1, strictly inside the part.

    >>> tiles(np.array([[0.0, 0.0], [4.0, 2.0]]), np.array([0, 2, 1, 2, 2]), np.array([1.0, 0.5])).tolist()
    [[0.0, 0.0, 1.0, 2.0], [1.0, 0.0, 4.0, 0.5], [1.0, 0.5, 4.0, 2.0]]
    """
    if not np.isin(axes, (0, 1, LEAF)).all() or np.count_nonzero(axes != LEAF) != cuts.size:
        raise CheckFailed("parts must be cut across axis 0 or 1, with a place for each cut, or not at all (2)")
    low, high = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    open_, found, places = [(*low, *high)], [], iter(cuts.tolist())
    for axis in axes.astype(int).tolist():
        if not open_:
            raise CheckFailed("there are more parts than cuts leave")
        part = open_.pop()
        if axis == LEAF:
            found.append(part)
            continue
        place = next(places)
        if not part[axis] < place < part[axis + 2]:
            raise CheckFailed("a cut is not inside the part that it cuts")
        first, second = list(part), list(part)
        first[axis + 2] = second[axis] = place
        open_ += [tuple(second), tuple(first)]
    if open_:
        raise CheckFailed("the parts do not cover the box around the points")
    return np.array(found)


def corners(rectangles: Floats) -> tuple[Floats, Places]:
    """The different corners, in increasing order, and which four of them each rectangle has."""
    every = rectangles[:, _CORNERS].reshape(-1, 2)
    places, at = np.unique(every, axis=0, return_inverse=True)
    return places, at.reshape(-1, 4)


def tangents(points: Floats, rectangles: Floats, exponent: float) -> Floats:
    """Of each rectangle at each corner for each point an affine loss, at most the distance to the power 1 or 2.

    >>> tangents(np.array([[0.0, 0.0]]), np.array([[3.0, 0.0, 3.0, 8.0]]), 1.0)[0, :, 0].round(9).tolist()
    [1.8, 1.8, 8.2, 8.2]
    """
    middles = (rectangles[:, :2] + rectangles[:, 2:]) / 2
    found = _tangents(points, rectangles, middles[:, None, :] - points, exponent)
    bad = (found < -_NEARLY * np.abs(found).max(axis=1, keepdims=True)).any(axis=1)
    nearest = np.clip(points, rectangles[:, None, :2], rectangles[:, None, 2:]) - points
    return np.asarray(np.where(bad[:, None, :], _tangents(points, rectangles, nearest, exponent), found))


def _tangents(points: Floats, rectangles: Floats, toward: Floats, exponent: float) -> Floats:
    ahead = rectangles[:, _CORNERS][:, :, None, :] - points
    spread = np.abs(ahead)
    if exponent == 1:
        length = np.hypot(toward[..., 0], toward[..., 1])[..., None]
        # shorter than 1 after three roundings
        unit = np.divide(toward, length, out=np.zeros_like(toward), where=length > _UNSEEN) * (1 - _SURE)
        return np.asarray((ahead * unit[:, None]).sum(axis=3) - _SURE * spread.sum(axis=3) - _UNSEEN)
    off = 2 * (spread * np.abs(toward)[:, None]).sum(axis=3) + (toward**2).sum(axis=2)[:, None]
    found = 2 * (ahead * toward[:, None]).sum(axis=3) - (toward**2).sum(axis=2)[:, None]
    return np.asarray(found - _SURE * off - _UNSEEN)


def corner_losses(points: Floats, rectangles: Floats, exponent: float) -> Floats:
    """What a report at each corner counts, a column each: the least affine loss of the rectangles around it."""
    places, at = corners(rectangles)
    least = np.full((len(places), len(points)), np.inf)
    np.minimum.at(least, at.ravel(), tangents(points, rectangles, exponent).reshape(-1, len(points)))
    return np.ascontiguousarray(least.T)
