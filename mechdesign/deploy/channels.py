"""Any finite channel in whole numbers, and the repair of tables that solvers leave slightly wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.deploy.rounding import CAP_BITS, base_and_caps, between, cumulative
from mechdesign.errors import InvalidInput

Rows = list[list[Fraction]]


@dataclass(frozen=True, slots=True)
class Repaired:
    """A channel that is private as rationals, and what that took.

    ``mixed`` is the share of the uniform law on the outputs that was mixed in, the least that makes it pass; no
    probability changed by more than that beside what the dropped columns held.
    """

    rows: Rows
    columns: tuple[int, ...]
    mixed: Fraction
    dropped: int


def repair(rows: Sequence[Sequence[Fraction | float]], ratio: Fraction, noise: float = 1e-12) -> Repaired:
    """Drop columns that hold noise only, clip below at 0, renormalise, and mix towards uniform as little as will do.

    *Guarantee.* In every column of the result the largest entry is at most ``ratio`` times the least, as rationals.

    >>> fixed = repair([[1.0, 0.0, 0.0], [0.0, 1.0, -1e-17]], Fraction(3))
    >>> fixed.rows == [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]], fixed.mixed, fixed.dropped
    (True, Fraction(1, 2), 1)
    """
    exact = [[max(Fraction(entry), Fraction(0)) for entry in row] for row in rows]
    width = len(exact[0]) if exact else 0
    if not width or any(len(row) != width for row in exact):
        raise InvalidInput("probabilities", [len(row) for row in exact], "be rows of one length")
    if not ratio > 1:
        raise InvalidInput("ratio", float(ratio), "be above 1")
    columns = tuple(j for j in range(width) if max(row[j] for row in exact) > noise)
    kept = [[row[j] for j in columns] for row in exact]
    if any(sum(row) == 0 for row in kept):
        raise InvalidInput("probabilities", 0, "have a positive entry in every row")
    kept = [[entry / total for entry in row] for row in kept for total in [sum(row)]]
    uniform = Fraction(1, len(columns))
    mixed = Fraction(0)
    for column in zip(*kept, strict=True):
        over = max(column) - ratio * min(column)
        if over > 0:  # (1 - t) over <= t (ratio - 1) uniform
            mixed = max(mixed, over / (over + (ratio - 1) * uniform))
    if mixed:
        kept = [[(1 - mixed) * entry + mixed * uniform for entry in row] for row in kept]
    return Repaired(kept, columns, mixed, width - len(columns))


def finite_counts(rows: Rows, bits: int, cap: int) -> tuple[list[list[int]], list[int]]:
    """Counts of a private channel and the columns they are for: those whose least probability is no zero in counts.

    *Guarantee.* Column entries lie between ``n_j`` and ``floor(c n_j)``, rows sum to ``2^bits``.
    """
    whole = 1 << bits
    least = [min(column) for column in zip(*rows, strict=True)]
    masses, unit = _common(least)
    counts, caps = base_and_caps(masses, unit, bits, cap)
    columns = [j for j, count in enumerate(counts) if count]
    base, most = [counts[j] for j in columns], [caps[j] for j in columns]
    table = []
    for row in rows:
        shares, total = _common(row)
        wanted = cumulative(shares, total, Fraction(whole))
        table.append(between([wanted[j] for j in columns], base, most, whole))
    return table, columns


def _common(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Fractions in [0, 1] as whole numbers to 2^-192, or exactly where they are dyadic."""
    bits = 192
    return [(value.numerator << bits) // value.denominator for value in values], 1 << bits


def within(cap: int, rows: Rows) -> bool:
    """Whether the channel keeps the ratio ``cap / 2^96``."""
    return all(max(column) * (1 << CAP_BITS) <= cap * min(column) for column in zip(*rows, strict=True))
