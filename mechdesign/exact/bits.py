"""The greatest of a quadratic in bits, ``F(b) = n + sum_i l_i b_i + sum_(i<j) q_ij b_i b_j``: what proofs over rows
with entries 1 and c end in.

Three ways to bound it, all in whole numbers: every b is tried (`greatest_of_all`); only their sums are, where all bits
are alike (`greatest_of_alike`); or, for any number of bits, F is shown to be at most ``shift (1 + sum b)`` by a sum of
squares (`shift_by_squares`): with ``v = (b, 1 - b)``, whose products are all at least 0, and ``y = (1, b)``,

    ``shift y'y - F(b) = y'Sy + sum_ij L_ij v_i v_j``,

where S is positive semidefinite. ``b_i (1 - b_i) = 0``, so that its multiplier may have any sign. Whole numbers a and
m add products of their own: ``(a.b - m)(a.b - m - 1)`` is at least 0, as a.b is whole (a split). Some bits may be
`fixed` first: what holds on all leaves of a tree (`mechdesign.exact.branches`) holds for all bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed

MOST_BITS = 24
"""So many can be tried one by one, in a second or two."""

_WORD = 61  # bits of the sums of 64-bit whole numbers
_FACTOR = 50  # bits of the entries of a factorisation
_CHUNK = 1 << 22
_MOST_ENTRY = 1 << 20  # of splits

Floats = NDArray[np.float64]
Whole = NDArray[np.object_]


class BitQuadratic(NamedTuple):
    """F in whole numbers: its values are ``unit`` times those; ``pairs`` has q_ij above its diagonal, 0 elsewhere."""

    constant: int
    linear: Whole
    pairs: Whole
    unit: Fraction

    def fixed(self, bits: Mapping[int, int]) -> BitQuadratic:
        """What is left of F where some bits have these values: a quadratic in the others, in their order.

        >>> pairs = np.array([[0, 3], [0, 0]], dtype=object)
        >>> left = BitQuadratic(1, np.array([10, 20], dtype=object), pairs, Fraction(1)).fixed({0: 1})
        >>> left.constant, left.linear.tolist()
        (11, [23])
        """
        size = len(self.linear)
        free = np.array([i for i in range(size) if i not in bits], dtype=np.intp)
        ones = np.array([i for i, bit in bits.items() if bit], dtype=np.intp)
        both = self.pairs + self.pairs.T
        constant = self.constant + int(self.linear[ones].sum()) + int(self.pairs[np.ix_(ones, ones)].sum())
        linear = self.linear[free] + both[np.ix_(free, ones)].sum(axis=1)
        return BitQuadratic(constant, linear, self.pairs[np.ix_(free, free)], self.unit)

    def coarse(self) -> BitQuadratic:
        """One that is nowhere less and at most a little more, whose values just fit into 64-bit words."""
        total = abs(self.constant) + int(abs(self.linear).sum()) + int(abs(self.pairs).sum())
        size = len(self.linear)
        drop = total.bit_length() - _WORD + 2
        if drop <= 0:
            up = -drop
            return BitQuadratic(self.constant << up, self.linear << up, self.pairs << up, self.unit / (1 << up))
        while (total + (size * size << drop)) >> drop >= 1 << _WORD:  # rounding up may add a little to every term
            drop += 1
        up = np.frompyfunc(lambda n: -(-n >> drop), 1, 1)
        return BitQuadratic(-(-self.constant >> drop), up(self.linear), up(self.pairs), self.unit * (1 << drop))


def greatest_of_all(quadratic: BitQuadratic) -> Fraction:
    """The greatest value over all b, rounded up a little; for at most `MOST_BITS` bits.

    >>> least = np.array([[0, -3], [0, 0]], dtype=object)
    >>> greatest_of_all(BitQuadratic(1, np.array([2, 2], dtype=object), least, Fraction(1, 2)))
    Fraction(3, 2)
    """
    size = len(quadratic.linear)
    if size > MOST_BITS:
        raise CheckFailed(f"{size} bits are too many to be tried one by one: at most {MOST_BITS}")
    if size == 0:
        return quadratic.constant * quadratic.unit
    coarse = quadratic.coarse()
    linear, pairs = coarse.linear.astype(np.int64), coarse.pairs.astype(np.int64)
    half = size // 2
    low, high = _all_bits(half), _all_bits(size - half)
    low_values = low @ linear[:half] + np.einsum("ni,ij,nj->n", low, pairs[:half, :half], low)
    high_values = high @ linear[half:] + np.einsum("ni,ij,nj->n", high, pairs[half:, half:], high)
    cross = high @ pairs[:half, half:].T
    step = max(1, _CHUNK // len(low))
    greatest = max(
        int((cross[at : at + step] @ low.T + low_values + high_values[at : at + step, None]).max())
        for at in range(0, len(high), step)
    )
    return (coarse.constant + greatest) * coarse.unit


def _all_bits(count: int) -> NDArray[np.int64]:
    return np.asarray(np.arange(1 << count)[:, None] >> np.arange(count) & 1, dtype=np.int64)


def are_alike(quadratic: BitQuadratic) -> bool:
    """Whether exchanging bits changes nothing."""
    size = len(quadratic.linear)
    pairs = quadratic.pairs[np.triu_indices(size, 1)]
    return len(set(quadratic.linear.tolist())) <= 1 and len(set(pairs.tolist())) <= 1


def greatest_of_alike(quadratic: BitQuadratic) -> Fraction:
    """The greatest value where only the sum of the bits matters.

    >>> ones = np.array([[0, -1], [0, 0]], dtype=object)
    >>> greatest_of_alike(BitQuadratic(0, np.array([1, 1], dtype=object), ones, Fraction(1)))
    Fraction(1, 1)
    """
    if not are_alike(quadratic):
        raise CheckFailed("the bits are not alike")
    size = len(quadratic.linear)
    one = quadratic.linear[0] if size else 0
    two = quadratic.pairs[0, 1] if size > 1 else 0
    return max(quadratic.constant + m * one + m * (m - 1) // 2 * two for m in range(size + 1)) * quadratic.unit


def shift_by_squares(quadratic: BitQuadratic, multipliers: Floats, splits: Floats | None = None) -> Fraction:
    """A number s with ``F(b) <= s (1 + sum b)`` for all bits b.

    ``multipliers`` has three k x k matrices: of ``b_i b_j``, of ``b_i (1 - b_j)`` and of ``(1 - b_i)(1 - b_j)``, at
    least 0 but on the diagonal of the second. They may be any numbers: worse ones give a larger s. Each row of
    ``splits`` is the multiplier of ``(a.b - m)(a.b - m - 1)``, at least 0, then m, and then the entries of a.

    >>> pairs = np.array([[0, 2], [0, 0]], dtype=object)  # 2 b_1 b_2 - b_1 - b_2 is at most 0: add b_i^2 = b_i
    >>> one = BitQuadratic(0, np.array([-1, -1], dtype=object), pairs, Fraction(1))
    >>> 0 <= float(shift_by_squares(one, np.array([np.zeros((2, 2)), np.eye(2), np.zeros((2, 2))]))) < 1e-9
    True
    """
    size = len(quadratic.linear)
    if multipliers.shape != (3, size, size) or not np.isfinite(multipliers).all():
        raise CheckFailed(f"the multipliers must be three finite matrices of {size} x {size}")
    free = multipliers.copy()
    free[1][np.diag_indices(size)] = 0.0
    if (free < 0).any():
        raise CheckFailed("multipliers of products that are at least 0 must be at least 0")
    coarse = quadratic.coarse()
    whole = _without_products(coarse, _in_units(multipliers, coarse.unit))
    if splits is not None:
        whole = whole - _of_splits(_required_splits(splits, size), coarse.unit)
    return _least_shift(whole) * coarse.unit / 4


def _required_splits(splits: Floats, size: int) -> Floats:
    if splits.ndim != 2 or splits.shape[1] != size + 2 or not np.isfinite(splits).all():
        raise CheckFailed(f"splits must be rows of {size + 2} finite numbers: a multiplier, m, and {size} entries of a")
    if (splits[:, 0] < 0).any():
        raise CheckFailed("multipliers of splits must be at least 0")
    if (splits[:, 1:] != np.rint(splits[:, 1:])).any() or (abs(splits[:, 1:]) > _MOST_ENTRY).any():
        raise CheckFailed(f"m and a of a split must be whole numbers of at most {_MOST_ENTRY}")
    return splits


def _of_splits(splits: Floats, unit: Fraction) -> Whole:
    """Four times the symmetric matrix of ``sum over splits of their multiplier times (a.b - m)(a.b - m - 1)``."""
    size = splits.shape[1] - 2
    whole = np.zeros((size + 1, size + 1), dtype=object)
    weights = _in_units(splits[:, 0], unit).tolist()
    for weight, (m, *entries) in zip(weights, splits[:, 1:].astype(np.int64).tolist(), strict=True):
        a = np.array(entries, dtype=object)
        whole[1:, 1:] += 4 * weight * np.multiply.outer(a, a)
        whole[0, 1:] -= 2 * weight * (2 * m + 1) * a
        whole[1:, 0] -= 2 * weight * (2 * m + 1) * a
        whole[0, 0] += 4 * weight * m * (m + 1)
    return whole


def _in_units(multipliers: Floats, unit: Fraction) -> Whole:
    """Rounded down to whole numbers, which keeps their signs: any whole multipliers will do."""
    down = np.frompyfunc(lambda m: (m[0] * unit.denominator) // (m[1] * unit.numerator), 1, 1)
    ratios = np.frompyfunc(float.as_integer_ratio, 1, 1)
    return np.asarray(down(_as_objects(ratios(multipliers.astype(object)))), dtype=object)


def _as_objects(values: Any) -> Whole:
    return np.asarray(values, dtype=object)


def _without_products(quadratic: BitQuadratic, multipliers: Whole) -> Whole:
    """Four times the symmetric matrix of ``-F(b)`` less the products, in ``y = (1, b)``."""
    both, one, none = multipliers
    size = len(quadratic.linear)
    whole = np.zeros((size + 1, size + 1), dtype=object)
    pairs = quadratic.pairs + quadratic.pairs.T + both + both.T - one - one.T + none + none.T
    whole[1:, 1:] = -2 * pairs
    linear = quadratic.linear + one.sum(axis=1) - none.sum(axis=0) - none.sum(axis=1)
    whole[0, 1:] = whole[1:, 0] = -2 * linear
    whole[0, 0] = -4 * (quadratic.constant + int(none.sum()))
    return whole


def _least_shift(whole: Whole) -> int:
    """A whole number s, nearly the least, for which ``whole + s I`` is positive semidefinite.

    A factorisation in doubles is rounded to whole numbers; what it misses is computed without rounding and must be
    diagonally dominant, or s grows by what is wanting (Gershgorin).
    """
    size = max(1, int(abs(whole).max())).bit_length()
    scaled = np.array([[float(Fraction(n, 1 << size)) for n in row] for row in whole.tolist()])
    least = float(np.linalg.eigvalsh(scaled)[0])
    spare = 1e-13 * len(scaled)
    shift = max(0.0, -least) + spare
    for _ in range(60):
        try:
            factor = np.linalg.cholesky(scaled + shift * np.eye(len(scaled)))
            break
        except np.linalg.LinAlgError:
            shift += max(spare, shift)
    else:
        raise CheckFailed("no multiple of the identity makes the matrix positive definite")
    rounded = np.rint(factor * 2.0**_FACTOR).astype(np.int64).astype(object)
    up, down = max(0, 2 * _FACTOR - size), max(0, size - 2 * _FACTOR)  # to the finer of both sides' units
    own = round(Fraction(shift) * (1 << 2 * _FACTOR)) << down
    missed = (whole << up) - ((rounded @ rounded.T) << down)
    missed[np.diag_indices(len(missed))] += own
    diagonal = np.diagonal(missed)
    wanting = max(int(n) for n in abs(missed).sum(axis=1) - abs(diagonal) - diagonal)
    return -(-(own + max(0, wanting)) >> up)
