"""What the kinds ``window`` and ``unbiased`` share: rows given by their start in the gains.

The gain of output j is ``C_j - n_j``, its cap less its base. In the row with start s output j has its base, and what of
its gains, laid end to end, lies in ``[s, s + E)``: E counts are what the base leaves of ``2^bits``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from mechdesign.tables import draws
from mechdesign.tables.draws import TOP, Guide, Places
from mechdesign.tables.kinds.law import Listed, Masses, Number
from mechdesign.values.declare import Floats, frozen

ALL = 2000
"""Up to so many cases, each row is tried at each of its boundaries."""

_STRETCHES = 18  # bits of the number of stretches of a table, at most


@frozen
class Sums:
    """``W_j = reached[j] + min(max(gained[j] - s, 0), extra)`` are the cumulative counts of the row with start s."""

    reached: tuple[int, ...]
    gained: tuple[int, ...]
    extra: int

    def ends(self, start: int) -> list[int]:
        """All ``W_j``, from 0 to ``2^bits``."""
        return [self.end(start, j) for j in range(len(self.reached))]

    def end(self, start: int, j: int) -> int:
        return self.reached[j] + min(max(self.gained[j] - start, 0), self.extra)


@frozen
class Started(Listed):
    """A law whose rows are ``base`` counts and a stretch of the gains, from each of the ``starts``."""

    base: tuple[int, ...]
    caps: tuple[int, ...]
    starts: tuple[int, ...]

    def sums(self) -> Sums:
        gains = (most - least for least, most in zip(self.base, self.caps, strict=True))
        reached, gained = (0, *accumulate(self.base)), (0, *accumulate(gains))
        return Sums(reached, gained, self.whole - reached[-1])

    def counts(self, row: int) -> list[int]:
        """The counts of the outputs in a row."""
        return [high - low for low, high in pairwise(self.sums().ends(self.starts[row]))]

    def output_at(self) -> Callable[[int, int], float]:
        """The output of the row with this start that a draw falls to: the largest j with ``W_j <= number``."""
        sums, outputs = self.sums(), self.outputs
        reached, gained, extra = sums.reached, sums.gained, sums.extra

        def output(start: int, number: int) -> float:
            low, high = 0, len(outputs) - 1
            while low < high:
                j = (low + high + 1) // 2
                end = reached[j] + min(max(gained[j] - start, 0), extra)
                low, high = (j, high) if end <= number else (low, j - 1)
            return outputs[low]

        return output

    def dominating(self, ratio: Fraction) -> Masses:
        """Two rows whose windows share as little as any two, at the largest ``r = C_j / n_j`` everywhere in them.

        Spread the base of output j evenly over its ``g_j = C_j - n_j`` places on the line of gains: a row is that base
        and 1 on its window, and the outputs only merge places. Of two rows, a place in the first window alone adds
        ``max(0, 1 - (e^t - 1) n_j / g_j) <= max(0, 1 - (e^t - 1) / (r - 1))`` to delta(t), t >= 0, every other adds 0;
        and rows mixed between are no farther apart than the rows.
        """
        whole = self.whole
        alone = min(whole - sum(self.base), self.starts[-1] - self.starts[0])
        if not alone:
            return [(whole, whole)]
        most = max(Fraction(cap, least) for cap, least in zip(self.caps, self.base, strict=True))
        a, b = alone * most.numerator, alone * most.denominator
        rest = whole * (most.numerator - most.denominator) - a - b
        return [(a, b), (b, a), (rest, rest)]

    def numbers(self) -> dict[str, Number]:
        sums = self.sums()
        return {
            "outputs": self.outputs,
            "reached": sums.reached,
            "gained": sums.gained,
            "starts": self.starts,
            "extra": sums.extra,
        }


class Rows:
    """Outputs of rows in bulk.

    Output j of the row with start s has n_j keys and those of [G_j, G_{j+1}) that lie in [s, s + E). So a number below
    N, the sum of the base, is searched among the base's running counts, and any other, u, at s + u - N among the G.
    Both are one list, in which u + s is searched: with only the top of u drawn, in one of two neighbouring stretches.
    """

    def __init__(self, law: Started) -> None:
        self.low, sums = law.bits - TOP, law.sums()
        self.outputs = np.array([*law.outputs, *law.outputs])
        *base, total = sums.reached
        *gains, gained = sums.gained
        shift = max(self.low, (total + gained).bit_length() - _STRETCHES)
        self.guide = Guide([*base, *(total + gain for gain in gains)], total + gained, shift)
        self.base, self.turn = np.uint64(total), total >> self.low
        self.starts = np.array(law.starts, dtype=np.uint64)
        self.tops = (self.starts >> np.uint64(self.low)).astype(np.int64)
        edge, ones = total >> shift, self.guide.table
        twos = np.where(ones == np.append(ones[1:], -1), ones, ~ones)
        # where base and G meet the other digits decide, too
        self.table = np.concatenate([ones[:edge], [~0], np.minimum(ones, twos)[edge + 1 :]]).astype(ones.dtype)

    def report(self, rows: Places) -> Floats:
        tops = draws.draw(TOP, rows.size)
        places = self.tops.take(rows) * (tops > self.turn) + tops
        found = self.table.take(places >> (self.guide.shift - self.low))
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            numbers = draws.completed(tops[open_], self.low)
            keys = numbers + self.starts.take(rows[open_]) * (numbers >= self.base)
            found[open_] = self.guide.search(keys, found[open_])
        return np.asarray(self.outputs.take(found))


class Boundaries:
    """The cumulative counts of rows, and where a change of a number shows first.

    ``W_j(s) = N_j + min(max(G_j - s, 0), E)`` rises with G_j and falls with s, where it moves at all.
    """

    def __init__(self, law: Started) -> None:
        self.starts, self.sums, self.size = law.starts, law.sums(), len(law.base)
        self.gained = self.sums.gained[:-1]

    def reached(self, row: int, j: int) -> int:
        return self.sums.end(self.starts[row], j)

    def draws(self, row: int) -> list[int]:
        """The first and the last draw of every output."""
        return [number for low, high in pairwise(self.sums.ends(self.starts[row])) for number in (low, high - 1)]

    def of_later_start(self, row: int) -> int:
        """A draw whose output is another one in this row and in every row that starts later."""
        j = bisect_right(self.gained, self.starts[row])
        return self.reached(row, min(j, self.size - 1)) - 1 if self.size > 1 else 0

    def of_earlier_start(self, row: int) -> int:
        """A draw whose output is another one in this row and in every row that starts earlier."""
        j = bisect_left(self.gained, self.starts[row] + self.sums.extra) - 1
        return self.reached(row, max(j, 1)) if self.size > 1 else 0

    def of_counts(self, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
        """For each j a row and a draw at which more of ``W_j`` shows, and one at which less of it does."""
        starts = [self.starts[row] for row in rows]
        for j in range(1, self.size):
            first = min(bisect_right(starts, self.gained[j] - self.sums.extra), len(rows) - 1)
            last = max(bisect_left(starts, self.gained[j]) - 1, 0)
            yield rows[first], self.reached(rows[first], j)
            yield rows[last], self.reached(rows[last], j) - 1

    def chosen(self, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Rows with draws: every row with every boundary if they are few, else those that show every number."""
        every = len(rows) * 2 * self.size <= ALL
        for row in rows if every else dict.fromkeys((rows[0], rows[-1])):
            yield from ((row, number) for number in self.draws(row))
        yield from self.of_counts(rows)
