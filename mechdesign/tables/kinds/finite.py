"""Finite channels: a list of counts for each input."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, groupby
from typing import Any, ClassVar, Self

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.tables import checker, draws
from mechdesign.tables.channels import finite_counts, repair
from mechdesign.tables.draws import TOP, Guide, Keys, Places
from mechdesign.tables.kinds.cases import Case, evenly, sides
from mechdesign.tables.kinds.law import Listed, Masses, Number, Order, Report, Rounded, Rule
from mechdesign.tables.pairs import Limits, counts_for_pairs
from mechdesign.tables.rounding import CAP_BITS, require_size
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import Floats, evolved, frozen
from mechdesign.words.pairs import Pairs

_STRETCHES = 21  # bits of the number of stretches of a table, at most
_MOST_CELLS = 1 << 28  # pairs of rows times outputs times ratios: about a second
_MOST_PAIRS = 1 << 23
_CLOSEST = 1e-12  # ratio of singular values under which doubles no longer tell rows apart


@frozen
class FiniteLaw(Listed):
    """Row i holds the counts of the outputs for point i of the domain."""

    kind: ClassVar[str] = "finite"
    made_from: ClassVar[tuple[type, ...]] = (Discrete,)
    check = staticmethod(checker.check_finite)

    rows: tuple[tuple[int, ...], ...]
    pairs: Limits | None = None

    @classmethod
    def read(cls, said: Mapping[str, Any], domain: Any, bits: int) -> Self:
        law = super().read({name: value for name, value in said.items() if name != "pairs"}, domain, bits)
        return evolved(law, pairs=Limits.read(said["pairs"])) if "pairs" in said else law

    def written(self) -> dict[str, Any]:
        said = super().written()
        del said["pairs"]
        return said if self.pairs is None else said | {"pairs": self.pairs.written()}

    @classmethod
    def made(cls, mechanism: Discrete, order: Order) -> Rounded:
        """Repaired where it breaks the cap, as little as will do; outputs that have no counts are dropped."""
        bits, cap = order.bits, order.cap
        if order.pairs is not None:
            return cls._made_for_pairs(mechanism, bits, order.pairs)
        # what the counts take at least, digits and a comma each: known before the minutes that so large a table takes
        digits = np.floor(np.log10(np.maximum(mechanism.probabilities * 2.0**bits / 2, 1.0)))
        require_size(float(digits.sum()) + 2 * digits.size)
        fixed = repair(mechanism.probabilities.tolist(), Fraction(cap, 1 << CAP_BITS))
        if fixed.mixed > order.most_mixed:
            rule = f"be private after mixing in at most {order.most_mixed:g} of the uniform law"
            raise InvalidInput(
                "probabilities", float(fixed.mixed), rule, "check epsilon, or allow more with most_mixed"
            )
        rows, columns = finite_counts(fixed, bits, cap)
        left = [fixed.columns[j] for j in columns]
        outputs = tuple(mechanism.outputs.points[j] for j in left)
        law = cls(mechanism.inputs, bits, outputs, tuple(map(tuple, rows)))
        return Rounded(law, fixed.mixed, len(mechanism.outputs) - len(outputs), left)

    @classmethod
    def _made_for_pairs(cls, mechanism: Discrete, bits: int, pairs: Pairs) -> Rounded:
        limits, outputs = Limits.of_privacy(pairs), mechanism.outputs.points
        counts, mixed = counts_for_pairs(mechanism.probabilities, pairs, limits, bits)
        law = cls(mechanism.inputs, bits, outputs, tuple(map(tuple, counts)), limits)
        return Rounded(law, mixed, 0, range(len(outputs)))

    def rule(self) -> Rule:
        points, outputs, bits = self.domain.points, self.outputs, self.bits
        sums = [(0, *accumulate(row)) for row in self.rows]

        def report(x: float, stream: Stream) -> float:
            return outputs[bisect_right(sums[points.index(x)], stream.draw(bits)) - 1]

        return report

    def sampler(self) -> Report:
        outputs, rows, low = np.array(self.outputs), self.rows, self.bits - TOP
        # the bits of the number of stretches of a row: a few for each output, as many as there is room for
        each = max(0, min(TOP, len(outputs).bit_length() + 5, _STRETCHES - len(rows).bit_length()))
        guides = [Guide([0, *accumulate(row[:-1])], self.whole, self.bits - each) for row in rows]
        stretches, sums = np.concatenate([guide.table for guide in guides]), np.stack([guide.sums for guide in guides])
        firsts = np.arange(len(rows)) << each

        def search(row: Places, keys: Keys, entries: Places) -> Places:
            found = ~entries.astype(np.intp)
            late = np.flatnonzero(sums[row, found + 1] <= keys)
            while late.size:
                found[late] += 1
                late = late[sums[row[late], found[late] + 1] <= keys[late]]
            return found

        def report(row: Places) -> Floats:
            tops = draws.draw(TOP, row.size)
            found = stretches.take(firsts.take(row) + (tops >> (TOP - each)))
            open_ = np.flatnonzero(found < 0)
            if open_.size:
                found[open_] = search(row[open_], draws.completed(tops[open_], low), found[open_])
            return np.asarray(outputs.take(found))

        return report

    @property
    def enough_bytes(self) -> int:
        return (self.bits + 7) // 8

    def boundaries(self) -> Iterator[Case]:
        return self._boundaries(None)

    def cases(self, most: int | None = None) -> list[Case]:
        """Large tables have millions of them: those left out are never made."""
        return list(self._boundaries(most))

    @property
    def case_count(self) -> int:
        return sum(2 * len(row) for row in self.rows)

    def _boundaries(self, most: int | None) -> Iterator[Case]:
        points, rows = self.domain.points, self.rows
        width = 2 * len(rows[0])
        for i, chosen in groupby(evenly(len(rows) * width, most), key=lambda place: place // width):
            numbers = sides(rows[i])
            for place in chosen:
                yield Case(points[i], ((self.bits, numbers[place % width]),))

    def row(self, x: float) -> Sequence[Fraction]:
        return [Fraction(count) for count in self.rows[self.domain.points.index(x)]]

    def probabilities(self, x: Floats) -> Floats:
        places = np.searchsorted(np.array(self.domain.points), x).tolist()
        return np.array([[count / self.whole for count in self.rows[place]] for place in places])

    def dominating(self, ratio: Fraction) -> Masses | None:
        size = len(self.outputs) * len(self.rows) ** 2
        is_small = size <= _MOST_PAIRS and size * len(self.ratios()) <= _MOST_CELLS
        return None if is_small else super().dominating(ratio)

    def ratios(self) -> set[tuple[int, int]]:
        """All pairs of counts that two rows have of the same output."""
        columns = map(set, zip(*self.rows, strict=True))
        return {(a, b) for counts in columns for a in counts for b in counts}

    def inverse(self, name: str, instead: str = "") -> Floats:
        """The least squares L with ``L W^T = I`` for the channel W, weighted by the outputs under equal shares.

        Where doubles do not tell the rows apart it is an `InvalidInput`: its next step ends with ``instead``.
        """
        rows = np.array([[count / self.whole for count in row] for row in self.rows])
        weights = np.sqrt(rows.mean(axis=0))
        left, sizes, right = np.linalg.svd(rows / weights, full_matrices=False)
        if rows.shape[0] > rows.shape[1] or sizes[-1] < _CLOSEST * sizes[0]:
            reason = f"{rows.shape[0]} points, and rows of rank {int((sizes >= _CLOSEST * sizes[0]).sum())}"
            rule = "have rows that are linearly independent: else different frequencies give the same reports"
            raise InvalidInput(name, reason, rule, f"make it from a mechanism with more outputs{instead}")
        inverse: Floats = (left / sizes) @ right / weights
        # Newton: squares the error left by the decomposition
        return np.asarray(inverse + (np.eye(len(rows)) - inverse @ rows.T) @ inverse)

    def numbers(self) -> dict[str, Number]:
        return {"outputs": self.outputs, "cumulative": tuple((0, *accumulate(row)) for row in self.rows)}
