"""How much of a set's indicator can lie where tables of a grid see it: counts of pairs decide, at any number of cells.

Types are the k cells of a grid, one attribute an axis. Two cells differ in some attributes; of attributes with equal
sizes only how many matter, and that is the *class* T of the pair. The averages over tables split the space into parts
S, classes as well, with projections E_S. Of a set A of a cells let pi_T be the number of its ordered pairs of class T.
With the characters K (products of Krawtchouk polynomials)

    ``k |E_S 1_A|^2 = sum_T K_S(T) pi_T``,

so that ``sum_S beta_S |E_S 1_A|^2`` is linear in pi, which any set has within

* ``sum_T K_S(T) pi_T >= 0``, as squares are (Delsarte);
* ``0 <= pi_T <= v_T a`` and ``pi_T >= v_T (2a - k)``, v_T cells being at T from each cell;
* squares of the whole numbers of cells that A has in each block of a table: with their sum a, and none above the
  block's size, they are at most those of full blocks and one rest, and at least those of even shares;
* ``pi_0 = a`` and ``sum_T pi_T = a^2``.

Multipliers of these bound it for every a at once, as only the right sides have a in them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.mechanisms.discrete import whole_numbers

Floats = NDArray[np.float64]
Whole = NDArray[np.object_]

MOST_CELLS, MOST_ATTRIBUTES = 1024, 10


class Inequalities(NamedTuple):
    """``left @ pi <= right[a]`` for every set of a cells, pi without the pairs of a cell with itself."""

    left: Whole
    right: Whole


class Grid:
    """The classes of a grid, the empty one first and that of all attributes last, with whole characters.

    >>> cube = Grid((2, 2, 2))
    >>> cube.classes, cube.valencies
    (((0,), (1,), (2,), (3,)), (1, 3, 3, 1))
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        if not 1 <= len(shape) <= MOST_ATTRIBUTES or min(shape) < 2 or prod(shape) > MOST_CELLS:
            rule = f"a grid has at most {MOST_ATTRIBUTES} attributes of 2 or more and {MOST_CELLS} cells in all"
            raise CheckFailed(rule)
        self.shape, self.size = shape, prod(shape)
        self.sizes = tuple(sorted(set(shape)))
        self.counts = tuple(shape.count(size) for size in self.sizes)
        self.classes = tuple(product(*(range(count + 1) for count in self.counts)))
        both = list(zip(self.counts, self.sizes, strict=True))
        self.valencies = tuple(
            prod(comb(n, j) * (size - 1) ** j for (n, size), j in zip(both, own, strict=True)) for own in self.classes
        )
        self.tables = tuple(prod(comb(n, j) for n, j in zip(self.counts, own, strict=True)) for own in self.classes)
        self.blocks = tuple(prod(size**j for size, j in zip(self.sizes, own, strict=True)) for own in self.classes)
        """Of a class how many tables there are, and how many cells of the grid such a table has."""
        self.characters = _whole(
            [
                [
                    prod(_krawtchouk(j, i, n, size) for j, i, (n, size) in zip(part, pair, both, strict=True))
                    for pair in self.classes
                ]
                for part in self.classes
            ]
        )
        """``K_S(T)``, a row for each S."""

    @property
    def inequalities(self) -> Inequalities:
        """All that is used of sets, in the order in which multipliers are."""
        count, sizes = len(self.classes), range(self.size + 1)
        unit = np.eye(count, dtype=int).astype(object)
        left: list[Whole] = [-self.characters[part] for part in range(1, count)]
        right = [[self.valencies[part] * a for a in sizes] for part in range(1, count)]
        for pair in range(1, count):
            valency = self.valencies[pair]
            left += [unit[pair], -unit[pair]]
            right += [[valency * a for a in sizes], [valency * (self.size - 2 * a) for a in sizes]]
        for table in range(1, count - 1):
            within, many, block = self.pairs_within(table), self.tables[table], self.blocks[table]
            left += [within, -within]
            right.append([many * (_most_squares(a, block) - a) for a in sizes])
            right.append([many * (a - _least_squares(a, self.size // block)) for a in sizes])
        return Inequalities(_whole(left)[:, 1:], _whole(right).T)

    def pairs_within(self, table: int) -> Whole:
        """How often each pair is within a block, over all tables of a class: where they differ in it alone."""
        own = self.classes[table]
        return _whole(
            [
                prod(comb(n - i, j - i) if j >= i else 0 for n, i, j in zip(self.counts, pair, own, strict=True))
                for pair in self.classes
            ]
        )

    @cached_property
    def relation(self) -> NDArray[np.intp]:
        """The place in ``classes`` of each pair of cells, cells in the order of `itertools.product`."""
        found = np.zeros((self.size, self.size), dtype=np.intp)
        cells = np.indices(self.shape).reshape(len(self.shape), -1)
        for size, count in zip(self.sizes, self.counts, strict=True):
            axes = [axis for axis, own in zip(cells, self.shape, strict=True) if own == size]
            found = found * (count + 1) + sum(axis[:, None] != axis[None, :] for axis in axes)
        return found

    def counted(self, members: NDArray[np.bool_]) -> NDArray[np.intp]:
        """pi of the set of these cells."""
        own = self.relation[np.ix_(members, members)]
        return np.bincount(own.ravel(), minlength=len(self.classes))


def _krawtchouk(degree: int, at: int, count: int, size: int) -> int:
    return sum(
        (-1) ** h * (size - 1) ** (degree - h) * comb(at, h) * comb(count - at, degree - h) for h in range(degree + 1)
    )


def _most_squares(total: int, block: int) -> int:
    """The greatest sum of squares of whole numbers from 0 to ``block`` with this sum."""
    full, rest = divmod(total, block)
    return full * block**2 + rest**2


def _least_squares(total: int, blocks: int) -> int:
    """The least sum of squares of so many whole numbers with this sum."""
    share, more = divmod(total, blocks)
    return more * (share + 1) ** 2 + (blocks - more) * share**2


def greatest_by_pairs(grid: Grid, weights: list[Fraction], multipliers: Floats, ratio: Fraction) -> list[Fraction]:
    """For each a, a number at least ``sum_S beta_S z'E_S z / (mean of z)^2`` of rows z with a entries c, the rest 1.

    ``weights`` are beta for each class but the empty one. A row of ``multipliers`` has one for ``sum pi = a^2``, which
    may have any sign, and one at least 0 for each of `Grid.inequalities`; whatever they are, what is wanting in them is
    paid for, and each a has the best row's bound.

    >>> square = Grid((2, 2))  # all parts alike: it is (c - 1)^2 a (1 - a/k) / (1 + (c - 1) a/k)^2
    >>> one = greatest_by_pairs(square, [Fraction(1), Fraction(1)], np.zeros((1, 9)), Fraction(3))
    >>> list(map(float, one)) == [0.0, 4 / 3, 1.5, 1.44, 4 / 3]  # without multipliers it is a little more at 3 and 4
    True
    """
    inequalities = grid.inequalities
    count = len(inequalities.left)
    if multipliers.ndim != 2 or multipliers.shape[1] != count + 1 or not np.isfinite(multipliers).all():
        raise CheckFailed(f"the multipliers must be rows of {count + 1} finite numbers")
    if (multipliers[:, 1:] < 0).any():
        raise CheckFailed("multipliers of what is at most something must be at least 0")
    whole, exponent = whole_numbers(multipliers)
    unit = Fraction(2) ** exponent
    scale = 1
    for weight in weights:
        scale = max(scale, (weight / unit).denominator)
    whole, small = whole * scale, unit / scale
    beta = _whole([int(weight / small) for weight in weights])
    if any(own * small != weight for own, weight in zip(beta.tolist(), weights, strict=True)):
        raise CheckFailed("the weights must be whole multiples of a power of two")
    worth = beta @ grid.characters[1:]  # of each pair
    sizes = _whole(list(range(grid.size + 1)))
    valencies = _whole(list(grid.valencies[1:]))
    best: list[int] | None = None
    for row in whole:
        wanting = worth[1:] - row[0] - row[1:] @ inequalities.left
        paid = int((np.maximum(wanting, 0) * valencies).sum())
        bounds = worth[0] * sizes + row[0] * (sizes**2 - sizes) + inequalities.right @ row[1:] + paid * sizes
        best = bounds.tolist() if best is None else [min(*both) for both in zip(best, bounds.tolist(), strict=True)]
    if best is None:
        raise CheckFailed("the evidence must have a row of multipliers")
    gain = ratio - 1
    return [max(0, bound) * small * grid.size * gain**2 / (grid.size + gain * a) ** 2 for a, bound in enumerate(best)]


def _whole(values: object) -> Whole:
    return np.array(values, dtype=object)
