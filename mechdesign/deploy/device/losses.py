"""What all reports of a device lose together, exactly, by how the two histories compared are related.

A history says which value a user holds at each of n reports. A loss is about two of them: the largest ratio
``P(reports | h) / P(reports | h')`` over all sequences of reports, in whole numbers from the tables' counts. Beyond
the first ``values`` values a device takes every further one for the last of them: so histories are those with at most
so many values.

* *one value changed*: the same history twice, but one value is another one throughout, held at no other report.
* *all values changed*: any other values, but they change, and come back, at the same reports.
* *changes bounded*: any two histories that change at most so many times each. **Without a second table, and with
  memory, there is no bound**: a report that differs from the one before says that the value changed.

**Derivation.** A value's memory m is drawn once, ``F(m | v)``, and every report is ``S(y | m)``; values have memories of
their own. So ``P(y | h) = prod_v sum_m F(m | v) prod_{t: h_t = v} S(y_t | m)``: it depends on the reports at which the
two histories hold the same pair (v, v') only through how often each output is among them. All such counts are tried;
where both tables are randomised responses it is enough to try those in which all of one pair's reports are the same
(`mechdesign.collect.protocols.histories` proves it). Values that only one of the cells of a comparison needs may be any
of the domain, so *all values changed* is an assignment, tried too. Where this is more than `MOST_WORK`, the answer is
`NoAnswer` with bounds: what was tried with all reports the same, and what one draw a value (for two histories that
change at the same reports) or one second draw a report can lose.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from mechdesign.deploy.device.description import Device
from mechdesign.deploy.kinds.finite import FiniteLaw
from mechdesign.deploy.table import Table
from mechdesign.errors import NoAnswer, require_whole
from mechdesign.mechanisms.ratio import INFINITE, LikelihoodRatio

MOST_WORK = 2_000_000
"""Likelihoods that are computed for one loss, at most: about ten seconds."""

MOST_ROUNDS = 10_000

_Rows = tuple[tuple[int, ...], ...]
_Pairs = tuple[tuple[tuple[int, int], int], ...]


def one_value_changed(device: Device, rounds: int) -> LikelihoodRatio:
    """Two users who never change, or who hold everything alike but one value: exact for ``rounds`` reports.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> grr = make_table(randomised_response(2.0, Finite((0, 1))), bits=16)
    >>> [round(one_value_changed(Device(grr, grr, 2, 9), n).loss, 4) for n in (1, 2, 9)]
    [1.325, 1.8755, 2.0]
    """
    chain = _Chain(device)
    n = require_whole(rounds, "rounds", 1, MOST_ROUNDS)
    if device.values == 0:
        return _power(device.table.ratio, n)
    if device.again is None:
        return LikelihoodRatio(device.table.ratio)
    chain.require_work(chain.ways(n) * chain.size, n, chain.one_draw(1), "one value changed")
    return LikelihoodRatio(max(chain.alone(n).values()))


def all_values_changed(device: Device, rounds: int) -> LikelihoodRatio:
    """Two users who change at the same reports, and hold other values throughout: exact for ``rounds`` reports.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> grr = make_table(randomised_response(2.0, Finite((0, 1, 2))), bits=16)
    >>> round(all_values_changed(Device(grr, None, 2, 9), 9).loss, 4)
    4.0
    """
    chain = _Chain(device)
    n = require_whole(rounds, "rounds", 1, MOST_ROUNDS)
    if device.values == 0:
        return _power(device.table.ratio, n)
    held = min(device.values, n)
    if not isinstance(device.table.law, FiniteLaw):  # two inputs near any other two have the same rows
        return _power(device.table.ratio, held)
    most = min(held, chain.size)
    splits = [split for parts in range(1, most + 1) for split in _splits(n, parts)]
    orders = math.perm(chain.size, most) ** 2
    work = sum(chain.ways(m) * chain.size for m in range(1, n + 1)) + len(splits) * orders
    chain.require_work(work, n, chain.one_draw(most), "all values changed")
    alone = {m: chain.alone(m) for m in {m for split in splits for m in split}}
    return LikelihoodRatio(max(_assigned([alone[m] for m in split], chain.size) for split in splits))


def changes_bounded(device: Device, rounds: int, changes: int) -> LikelihoodRatio:
    """Any two users who change at most ``changes`` times each: exact for ``rounds`` reports.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> grr = make_table(randomised_response(2.0, Finite((0, 1))), bits=16)
    >>> device = Device(grr, grr, 2, 9)
    >>> [round(changes_bounded(device, 4, changes).loss, 4) for changes in (0, 1)]
    [1.9976, 4.6185]
    """
    chain = _Chain(device)
    n = require_whole(rounds, "rounds", 1, MOST_ROUNDS)
    most = require_whole(changes, "changes", 0, n)
    if device.values == 0:
        return _power(device.table.ratio, n)
    if most == 0 or device.values == 1 or n == 1:
        return one_value_changed(device, rounds)
    if device.again is None:
        return INFINITE
    upper = _power(chain.again_ratio, n)
    sequences = sum(math.comb(n - 1, j) * chain.size * (chain.size - 1) ** j for j in range(min(most, n - 1) + 1))
    chain.require_work(sequences**2, n, upper, "changes bounded")
    histories = [h for h in _histories(n, chain.size, most) if len(set(h)) <= device.values]
    tables = {tuple(sorted(Counter(zip(h, k, strict=True)).items())) for h in histories for k in histories if h != k}
    work = sum(math.prod(chain.ways(m) for _, m in pairs) for pairs in tables)
    chain.require_work(work, n, upper, "changes bounded")
    return LikelihoodRatio(max(map(chain.together, tables)))


def _power(ratio: Fraction, times: int) -> LikelihoodRatio:
    return LikelihoodRatio(ratio**times)


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """The ways of writing a number as a sum of so many numbers of at least 1, largest first."""

    def from_most(left: int, count: int, most: int) -> Iterator[tuple[int, ...]]:
        if count == 0:
            if left == 0:
                yield ()
            return
        for first in range(min(most, left - count + 1), 0, -1):
            for rest in from_most(left - first, count - 1, first):
                yield (first, *rest)

    return from_most(total, parts, total)


def _histories(rounds: int, size: int, changes: int) -> Iterator[tuple[int, ...]]:
    for history in itertools.product(range(size), repeat=rounds):
        if sum(a != b for a, b in itertools.pairwise(history)) <= changes:
            yield history


def _assigned(ratios: Sequence[dict[tuple[int, int], Fraction]], size: int) -> Fraction:
    """The largest product of one entry of each, no two for the same value of either history."""
    places = range(size)
    return max(
        math.prod((of[pair] for of, pair in zip(ratios, zip(h, k, strict=True), strict=True)), start=Fraction(1))
        for h in itertools.permutations(places, len(ratios))
        for k in itertools.permutations(places, len(ratios))
        if all(a != b for a, b in zip(h, k, strict=True))
    )


class _Chain:
    """The two tables of a device as counts: rows of memories for values, and of outputs for memories."""

    def __init__(self, device: Device) -> None:
        self.device = device
        if device.again is None:
            self.first: _Rows = device.table.law.rows if isinstance(device.table.law, FiniteLaw) else ()
            outputs = len(self.first[0]) if self.first else 0
            self.second: _Rows = tuple(tuple(int(i == j) for j in range(outputs)) for i in range(outputs))
            return
        self.first, self.second = _counts(device, device.again)

    @property
    def size(self) -> int:
        return len(self.first)

    @property
    def drawn(self) -> int:
        """The sum of a row of the first table."""
        return sum(self.first[0])

    @property
    def again_ratio(self) -> Fraction:
        return max(Fraction(max(column), min(column)) for column in zip(*self.second, strict=True))

    def one_draw(self, values: int) -> LikelihoodRatio:
        """No reports of so many values tell more than what is remembered of them."""
        return _power(self.device.table.ratio, values)

    @property
    def is_response(self) -> bool:
        """Whether both steps keep a value with one chance, and make each other one with another."""
        return len(self.second[0]) == self.size and _is_response(self.first) and _is_response(self.second)

    def reports(self, rounds: int) -> Iterator[tuple[int, ...]]:
        """How often each output is reported: the cases that have to be tried."""
        outputs = len(self.second[0])
        if self.is_response or self.device.again is None:
            for y in range(outputs):
                yield tuple(rounds * (i == y) for i in range(outputs))
            return
        for bars in itertools.combinations(range(rounds + outputs - 1), outputs - 1):
            ends = (-1, *bars, rounds + outputs - 1)
            yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))

    def ways(self, rounds: int) -> int:
        outputs = len(self.second[0]) if self.second else 1
        if self.is_response or self.device.again is None:
            return outputs
        return math.comb(rounds + outputs - 1, outputs - 1)

    def likelihood(self, counts: Sequence[int]) -> list[int]:
        """For each value held throughout, the probability of reports with these counts, times what is the same."""
        seen = [math.prod(s**c for s, c in zip(row, counts, strict=True)) for row in self.second]
        return [sum(f * s for f, s in zip(row, seen, strict=True)) for row in self.first]

    def alone(self, rounds: int) -> dict[tuple[int, int], Fraction]:
        """The largest ratio of each ordered pair of values, held at so many reports."""
        best: dict[tuple[int, int], Fraction] = {}
        for counts in self.reports(rounds):
            chances = self.likelihood(counts)
            for pair in itertools.permutations(range(self.size), 2):
                ratio = Fraction(chances[pair[0]], chances[pair[1]])
                best[pair] = max(best.get(pair, ratio), ratio)
        return best

    def together(self, pairs: _Pairs) -> Fraction:
        """The largest ratio for two histories that hold each of these pairs of values so many times."""
        best = Fraction(0)
        for said in itertools.product(*(tuple(self.reports(rounds)) for _, rounds in pairs)):
            ratio = Fraction(1)
            for side in (0, 1):
                for value in {pair[side] for pair, _ in pairs}:
                    own = [counts for (pair, _), counts in zip(pairs, said, strict=True) if pair[side] == value]
                    seen = self.likelihood(tuple(map(sum, zip(*own, strict=True))))[value]
                    chance = Fraction(seen, self.drawn)  # the histories may hold different numbers of values
                    ratio = ratio * chance if side == 0 else ratio / chance
            best = max(best, ratio)
        return best

    def require_work(self, work: int, rounds: int, upper: LikelihoodRatio, relation: str) -> None:
        """`NoAnswer` with bounds where more would have to be tried than there is time for."""
        if work <= MOST_WORK:
            return
        lower = 0.0
        if self.device.again is not None:
            outputs = len(self.second[0])
            for y in range(outputs):
                chances = self.likelihood([rounds * (i == y) for i in range(outputs)])
                lower = max(lower, LikelihoodRatio(Fraction(max(chances), min(chances))).loss)
        step = "ask about fewer reports"
        raise NoAnswer(f"{relation}: too many cases to try", lower, upper.loss, next_step=step)


@lru_cache(maxsize=16)
def _counts(device: Device, again: Table) -> tuple[_Rows, _Rows]:
    """Both tables, the rows of the second for the outputs of the first, in their order."""
    first, second = device.table.law, again.law
    if not isinstance(first, FiniteLaw) or not isinstance(second, FiniteLaw):
        upper = LikelihoodRatio(device.table.ratio).loss
        step = "take finite tables; a device that changes its value never loses more than the upper end a value held"
        raise NoAnswer("only finite tables have exact losses of what is randomised again", 0.0, upper, next_step=step)
    points = list(again.domain.points)
    return first.rows, tuple(second.rows[points.index(y)] for y in first.outputs)


def _is_response(rows: _Rows) -> bool:
    kept = {row[i] for i, row in enumerate(rows)}
    others = {count for i, row in enumerate(rows) for j, count in enumerate(row) if i != j}
    return len(kept) == len(others) == 1 and len(rows) == len(rows[0]) and max(kept) >= max(others)
