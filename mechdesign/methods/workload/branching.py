"""A tree over rows: each branch fixes one entry to 1 or c, each leaf has what bounds ``z'Bz - (nu.z)(p.z)`` there.

Prices nu are given. On a leaf the least s with ``F(b) = z'Bz - (nu.z)(p.z) <= s (p.z)^2`` is bounded by the cone of
`mechdesign.methods.workload.cone` in the entries that are free, with splits; where few are free, every row is tried.
The leaf with the greatest s is parted next, at the entry that is least decided in it, until s is small enough, the time
is up, or the evidence is as long as anybody would want: ``nu + s p`` pays for every row then.
"""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np

from mechdesign.exact.branches import FREE
from mechdesign.methods.workload.cone import Cone, Here, Inside, Split, splits_of
from mechdesign.methods.workload.pricing import Bits, Prices, all_rows
from mechdesign.methods.workload.proof import Leaf
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, frozen

MOST_BRANCHED = 48
"""Types for which a leaf is bounded within seconds."""

_TRIED = 16  # free entries at which every row is tried
_MOST_NUMBERS = 400_000  # of multipliers in all leaves
_TOLERANCE = 1e-7  # relative to the prices
_SPLIT_ROUNDS = 2
_MOST_SPLITS = 12
_STARTS, _NEAR = 4, 0.7  # rows a free entry from which a leaf starts, and how near to them


@frozen
class Grown:
    """Leaves, and the s that all of them prove."""

    leaves: tuple[Leaf, ...]
    wanting: float


class _Linear:
    """``-<F, P>``."""

    def __init__(self, form: Floats) -> None:
        self.form = form

    def at(self, lifted: Floats) -> Here:
        return Here(-float(np.sum(self.form * lifted)), self.form, None)


class _Node:
    """A leaf while the tree grows, in units of the prices: s, what shows it, and where it is least decided."""

    def __init__(self, tree: Tree, fixed: dict[int, int]) -> None:
        self.fixed = fixed
        size = tree.size
        self.free = [i for i in range(size) if i not in fixed]
        insert = np.zeros((size + 1, len(self.free) + 1))
        insert[0, 0] = 1.0
        for place, bit in fixed.items():
            insert[place + 1, 0] = bit
        for column, place in enumerate(self.free):
            insert[place + 1, column + 1] = 1.0
        self.form, self.sizes = insert.T @ tree.form @ insert, insert.T @ tree.sizes @ insert
        self.multipliers: Floats | None = None
        self.splits: Floats | None = None
        if len(self.free) <= _TRIED:
            bits = all_rows(len(self.free))
            y = np.column_stack([np.ones(len(bits)), bits])
            self.wanting = float(
                (np.einsum("ij,ij->i", y @ self.form, y) / np.einsum("ij,ij->i", y @ self.sizes, y)).max()
            )
            return
        self._relax(tree)

    def _relax(self, tree: Tree) -> None:
        splits: list[Split] = []
        self.wanting = np.inf
        for _ in range(_SPLIT_ROUNDS + 1):
            cone = Cone(len(self.free), False, splits)
            start = self._start(tree.pool, cone)
            equation = cone.adjoint(self.sizes)[None, :]
            inside = Inside(cone, _Linear(self.form), equation, np.ones(1), start)
            inside.run(_TOLERANCE, tree.clock)
            s = float(inside.prices[0])
            multipliers, weights, lacking = inside.account(s * self.sizes - self.form)
            s += lacking * float(1 + len(self.free))  # (p.z)^2 is at least 1, and 1 + sum b at most that
            if s < self.wanting:
                self.wanting, self.lifted = s, inside.lifted
                multipliers[1][np.diag_indices(len(self.free))] += (s - float(inside.prices[0])) * np.diagonal(
                    self.sizes
                )[1:]
                self.multipliers = multipliers
                rows = [
                    [w, one.least, *one.direction] for one, w in zip(splits, weights.tolist(), strict=True) if w > 0
                ]
                self.splits = np.array(rows) if rows else None
            fresh = splits_of(inside.lifted, splits, _MOST_SPLITS)
            if not fresh or tree.clock.is_over:
                break
            splits = splits + fresh

    def _raised(self, multipliers: Floats, more: float) -> Floats:
        """Multipliers for prices that are higher by ``more`` times p: squares of bits are bits."""
        raised = multipliers.copy()
        raised[1][np.diag_indices(len(self.free))] += more * np.diagonal(self.sizes)[1:]
        return raised

    def _start(self, pool: Bits, cone: Cone) -> Floats:
        """P inside, near that of known rows for which prices hardly pay: those that come nearest on this leaf."""
        even = cone.even()
        even = even / float(np.sum(self.sizes * even))
        bits = np.unique(pool[:, self.free], axis=0)
        y = np.column_stack([np.ones(len(bits)), bits])
        sizes = _at(self.sizes, y)
        best = np.argsort(-_at(self.form, y) / sizes, kind="stable")[: _STARTS * len(self.free)]
        own = y[best] / np.sqrt(sizes[best])[:, None]
        return np.asarray(_NEAR * (own.T @ own) / len(best) + (1 - _NEAR) * even)

    @property
    def numbers(self) -> int:
        return 0 if self.multipliers is None else self.multipliers.size

    @property
    def undecided(self) -> int:
        mean = self.lifted[0, 1:] / self.lifted[0, 0]
        return self.free[int(np.abs(mean - 0.5).argmin())]

    def leaf(self, wanting: float, unit: float) -> Leaf:
        """What shows the s of all leaves, in the units of the prices."""
        signs = [str(self.fixed.get(place, FREE)) for place in range(len(self.free) + len(self.fixed))]
        if self.multipliers is None:
            return Leaf("".join(signs))
        multipliers = self._raised(self.multipliers, wanting - self.wanting)
        splits = None if self.splits is None else self.splits * np.array([unit] + [1.0] * (self.splits.shape[1] - 1))
        return Leaf("".join(signs), unit * multipliers, splits)


def _at(form: Floats, y: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", y @ form, y))


class Tree:
    """The tree of one matrix B and prices nu."""

    def __init__(self, asked: Prices, unit: float, pool: Bits) -> None:
        self.pool, self.clock = pool, Clock(None)
        self.size, self.unit = asked.prior.size, unit
        lift = np.column_stack([np.ones(self.size), (asked.ratio - 1) * np.eye(self.size)])
        self.form = lift.T @ asked.form @ lift / unit
        sums = lift.T @ asked.prior
        self.sizes = np.outer(sums, sums)

    def grown(self, enough: float, clock: Clock) -> Grown:
        """Leaves until s is at most ``enough``, or as far as time and size allow."""
        order, self.clock = count(), clock
        root = _Node(self, {})
        heap = [(-root.wanting, next(order), root)]
        numbers = root.numbers
        while not clock.is_over and numbers <= _MOST_NUMBERS:
            wanting, _, node = heap[0]
            if -wanting * self.unit <= enough or node.multipliers is None:
                break
            place = node.undecided
            children = [_Node(self, node.fixed | {place: bit}) for bit in (0, 1)]
            numbers += sum(child.numbers for child in children) - node.numbers
            heapq.heappop(heap)
            for child in children:
                heapq.heappush(heap, (-child.wanting, next(order), child))
        wanting = max(0.0, *(node.wanting for _, _, node in heap))
        return Grown(tuple(node.leaf(wanting, self.unit) for _, _, node in heap), wanting * self.unit)
