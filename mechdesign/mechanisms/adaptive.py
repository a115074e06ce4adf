"""Integrals of functions nothing is known of but their values: many at once, each halved where it is not resolved."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed

Floats = NDArray[np.float64]
Owners = NDArray[np.intp]
Function = Callable[[Floats, Owners], Floats]

TOLERANCE = 1e-11
"""What a panel may still be wrong by, as a share of the largest integral of the function's size."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_GUARDS = np.array([-1.0, 1.0]) * (1 - 1e-9)
"""Just inside the ends of a panel: a jump before its first point, which no rule sees, makes the values here others."""
_ASIDE = (1 + _NODES[0]) / 2  # the share of a panel before its first point
_MOST_HALVINGS = 52
_MOST_PANELS = 1 << 20
_NOTICED = 1e-8  # of an integral: what may be left open where halving does not end, as at a root


class Panels(NamedTuple):
    """Stretches, and to which of ``many`` integrals each belongs."""

    start: Floats
    stop: Floats
    owner: Owners
    many: int

    @classmethod
    def between(cls, cuts: list[Floats]) -> Panels:
        """For each list of increasing cuts an integral from its first to its last."""
        owner = np.repeat(np.arange(len(cuts)), [part.size - 1 for part in cuts])
        ends = [part[:-1] for part in cuts], [part[1:] for part in cuts]
        return cls(np.concatenate(ends[0]), np.concatenate(ends[1]), owner, len(cuts))


def integrals(function: Function, panels: Panels, tolerance: float = TOLERANCE) -> Floats:
    """The integrals of ``function(y, k)`` over the panels of each integral k.

    ``function`` takes points and the numbers of their integrals, of one shape, and gives as many values on one more
    axis at the end, which are integrated together. Gauss-Legendre with ten points on each panel; panels whose two
    halves say something else are halved, as are those where the values just inside an end do not follow from the ten.
    What is narrower than 1e-9 of a panel is not seen. `CheckFailed` where halving does not end.

    >>> cuts = [np.array([0.0, 1.0]), np.array([0.0, 0.5])]
    >>> step = integrals(lambda y, k: (y > 1 / 3)[..., None] * 1.0, Panels.between(cuts))
    >>> step.round(10).ravel().tolist()
    [0.6666666667, 0.1666666667]
    """
    start, stop, owner, many = panels
    whole, _ = _panels(function, start, stop, owner)
    total = np.zeros((many, whole.shape[-1]))
    values = whole.shape[-1] // 2  # the other half are the integrals of their sizes, which errors are measured by
    scale = np.zeros(whole.shape[-1])
    for _ in range(_MOST_HALVINGS):
        middle = start + (stop - start) / 2
        ends = np.concatenate([start, middle]), np.concatenate([middle, stop])
        halves, unseen = (part.reshape(2, *whole.shape) for part in _panels(function, *ends, np.tile(owner, 2)))
        both = halves.sum(axis=0)
        sums = total.copy()
        np.add.at(sums, owner, both)
        scale = np.maximum(scale, np.tile(sums[:, values:].max(axis=0), 2))
        wrong = np.maximum(np.abs(both - whole), unseen.max(axis=0))
        is_open = (wrong > tolerance * scale).any(axis=1)
        np.add.at(total, owner[~is_open], both[~is_open])
        if not is_open.any():
            return total[:, :values]
        whole = halves[:, is_open].reshape(-1, whole.shape[-1])
        start, stop = (end.reshape(2, -1)[:, is_open].ravel() for end in ends)
        owner = np.tile(owner[is_open], 2)
        if start.size > _MOST_PANELS:
            break
    np.add.at(total, owner, whole)
    left = np.zeros_like(total)
    np.add.at(left, owner, np.abs(whole))
    if (left > _NOTICED * scale).any():
        raise CheckFailed("the integral does not settle: name the places where the function jumps, or smooth it")
    return total[:, :values]


def _panels(function: Function, start: Floats, stop: Floats, owner: Owners) -> tuple[Floats, Floats]:
    """The integrals of values and of their sizes over each panel, and what a jump beside its ends could add."""
    half = (stop - start) / 2
    places = (start + half)[:, None] + half[:, None] * _PLACES
    found = function(places, np.broadcast_to(owner[:, None], places.shape))
    values = np.concatenate([found, np.abs(found)], axis=-1)
    inner, outer = values[:, : _NODES.size], values[:, _NODES.size :]
    unseen = np.abs(np.einsum("pnv,gn->pgv", inner, _EXTENDED) - outer).max(axis=1) * _ASIDE * 2 * half[:, None]
    return np.asarray(np.einsum("pnv,n->pv", inner, _WEIGHTS) * half[:, None]), unseen


def _lagrange(places: Floats) -> Floats:
    """The polynomial through the points, at other places: a row for each place, a column for each point."""
    others = [np.delete(_NODES, k) for k in range(_NODES.size)]
    rows = [[np.prod((y - o) / (node - o)) for node, o in zip(_NODES, others, strict=True)] for y in places]
    return np.array(rows)


_PLACES = np.concatenate([_NODES, _GUARDS])
_EXTENDED = _lagrange(_GUARDS)
