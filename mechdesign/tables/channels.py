"""Any finite channel in whole numbers, and the repair of tables that solvers leave slightly wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from mechdesign.errors import InvalidInput
from mechdesign.tables.rounding import CAP_BITS, base_and_caps, between, cumulative
from mechdesign.values.declare import field, frozen

Rows = list[list[Fraction]]
Whole = list[list[int]]

_SHARE_BITS = 192


@frozen
class Repaired:
    """A channel that is private as rationals, and what that took: entry j of row i is ``weights[i][j] / totals[i]``.

    ``mixed`` is the share of the uniform law on the outputs that was mixed in, the least that makes it pass; no
    probability changed by more than that beside what the dropped columns held.
    """

    weights: Whole = field(repr=False)
    totals: list[int] = field(repr=False)
    columns: tuple[int, ...]
    mixed: Fraction
    dropped: int

    @property
    def rows(self) -> Rows:
        """The probabilities as fractions."""
        pairs = zip(self.weights, self.totals, strict=True)
        return [[Fraction(weight, total) for weight in row] for row, total in pairs]


def repair(rows: Sequence[Sequence[Fraction | float]], ratio: Fraction, noise: float = 1e-12) -> Repaired:
    """Clip below at 0, renormalise, drop columns that hold noise only, and mix towards uniform as little as will do.

    *Guarantee.* In every column of the result the largest entry is at most ``ratio`` times the least, as rationals.

    >>> fixed = repair([[1.0, 0.0, 0.0], [0.0, 1.0, -1e-17]], Fraction(3))
    >>> fixed.rows == [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]], fixed.mixed, fixed.dropped
    (True, Fraction(1, 2), 1)
    """
    width = len(rows[0]) if rows else 0
    if not width or any(len(row) != width for row in rows):
        raise InvalidInput("probabilities", [len(row) for row in rows], "be rows of one length")
    if not ratio > 1:
        raise InvalidInput("ratio", float(ratio), "be above 1")
    weights = [whole_weights(row) for row in rows]
    totals = _positive_sums(weights)
    ends = _ends(weights, totals)
    columns = tuple(j for j, (_, most) in enumerate(ends) if most > noise)
    if len(columns) < width:
        weights = [[row[j] for j in columns] for row in weights]
        totals = _positive_sums(weights)
        ends = _ends(weights, totals)
    mixed = Fraction(0)
    for least, most in ends:
        over = most - ratio * least
        if over > 0:  # (1 - t) over <= t (ratio - 1) / number of columns
            mixed = max(mixed, over / (over + (ratio - 1) / len(columns)))
    if mixed:
        part, whole, size = mixed.numerator, mixed.denominator, len(columns)
        kept = (whole - part) * size
        weights = [[kept * w + part * total for w in row] for row, total in zip(weights, totals, strict=True)]
        totals = [whole * size * total for total in totals]
    return Repaired(weights, totals, columns, mixed, width - len(columns))


def whole_weights(row: Sequence[Fraction | float]) -> list[int]:
    """Whole numbers in proportion to the entries, those below 0 taken as 0."""
    ratios = [entry.as_integer_ratio() for entry in row]
    common = math.lcm(*{denominator for _, denominator in ratios})
    return [n * (common // denominator) if n > 0 else 0 for n, denominator in ratios]


def _positive_sums(weights: Whole) -> list[int]:
    totals = [sum(row) for row in weights]
    if not all(totals):
        raise InvalidInput("probabilities", 0, "have a positive entry in every row")
    return totals


def _ends(weights: Whole, totals: list[int]) -> list[tuple[Fraction, Fraction]]:
    """The least and the largest entry ``weight / total`` of every column.

    Two entries that differ do so by more than ``1 / 2^(2 b)`` for totals below ``2^b``: rounded down to multiples of
    that they keep their order, and integers are compared much faster than fractions.
    """
    bits = 2 * max(totals).bit_length()
    orders = _rounded_down(weights, totals, bits)
    ends = []
    for column, order in zip(zip(*weights, strict=True), zip(*orders, strict=True), strict=True):
        at = order.index(min(order)), order.index(max(order))
        least, most = (Fraction(column[i], totals[i]) for i in at)
        ends.append((least, most))
    return ends


def _rounded_down(weights: Whole, totals: list[int], bits: int) -> Whole:
    """``floor(2^bits weight / total)`` of every entry."""
    return [[(weight << bits) // total for weight in row] for row, total in zip(weights, totals, strict=True)]


def finite_counts(channel: Repaired, bits: int, cap: int) -> tuple[Whole, list[int]]:
    """Counts of a private channel and the columns they are for: those whose least probability is no zero in counts.

    *Guarantee.* Column entries lie between ``n_j`` and ``floor(c n_j)``, rows sum to ``2^bits``.
    """
    whole, unit = 1 << bits, 1 << _SHARE_BITS
    shares = _rounded_down(channel.weights, channel.totals, _SHARE_BITS)
    least = [min(column) for column in zip(*shares, strict=True)]
    counts, caps = base_and_caps(least, unit, bits, cap)
    columns = [j for j, count in enumerate(counts) if count]
    base, most = [counts[j] for j in columns], [caps[j] for j in columns]
    table = []
    for row in shares:
        wanted = cumulative(row, unit, Fraction(whole))
        table.append(between([wanted[j] for j in columns], base, most, whole))
    return table, columns


def within(cap: int, rows: Rows) -> bool:
    """Whether the channel keeps the ratio ``cap / 2^96``."""
    return all(max(column) * (1 << CAP_BITS) <= cap * min(column) for column in zip(*rows, strict=True))
