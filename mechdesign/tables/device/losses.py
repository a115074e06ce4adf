"""What all reports of a device lose together, exactly, by how the two histories compared are related.

A history says which value a user holds at each of n reports. A loss is about two of them: the largest ratio
``P(reports | h) / P(reports | h')`` over all sequences of reports, in whole numbers from the tables' counts. Beyond
the first ``values`` values a device takes every further one for the last of them: so histories are those with at most
so many values.

* *one value changed*: the same history twice, but one value is another one throughout, held at no other report.
* *all values changed*: any other values, but they change, and come back, at the same reports.
* *changes bounded*: any two histories that change at most so many times each. **Without a second table, and with
  memory, there is no bound**: a report that differs from the one before says that the value changed.

**Derivation.** A value's memory m is drawn once, ``F(m | v)``, and every report is ``S(y | m)``; values have memories
of their own. So ``P(y | h) = prod_v sum_m F(m | v) prod_{t: h_t = v} S(y_t | m)``: of the reports at which the two
histories hold the same pair (v, v') it only matters how often each output is among them. All such counts are tried;
where both tables are randomised responses it is enough to try those in which all of one pair's reports are the same
(`mechdesign.studies.frequencies.protocols.histories` proves it). Values that only one of the cells of a comparison
needs may be any of the domain, so *all values changed* is an assignment, tried too. Where this is more than
`MOST_WORK`, the answer is `NoAnswer` with bounds: what was tried with all reports the same, and what one draw a value
(for two histories that change at the same reports) or one second draw a report can lose.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from mechdesign.errors import NoAnswer, require_whole
from mechdesign.mechanisms.ratio import INFINITE, LikelihoodRatio
from mechdesign.tables.device.description import Device
from mechdesign.tables.kinds.finite import FiniteLaw
from mechdesign.tables.table import Table

MOST_WORK = 500_000
"""Likelihoods that are computed for one loss, at most: a few seconds."""

MOST_ROUNDS = 10_000

_WORD = 32
"""Likelihoods of so many reports more take as long again: their digits grow."""

_FEWER = "ask about fewer reports"

_Rows = tuple[tuple[int, ...], ...]
_Pairs = tuple[tuple[tuple[int, int], int], ...]
_Said = Callable[[int], Iterator[tuple[int, ...]]]


def one_value_changed(device: Device, rounds: int) -> LikelihoodRatio:
    """Two users who never change, or who hold everything alike but one value: exact for ``rounds`` reports.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> grr = make_table(randomised_response(2.0, Finite((0, 1))), bits=16)
    >>> [round(one_value_changed(Device(grr, grr, 2, 9), n).loss, 4) for n in (1, 2, 9)]
    [1.325, 1.8755, 2.0]
    """
    chain = _Chain(device)
    n = require_whole(rounds, "rounds", 1, MOST_ROUNDS)
    if device.values == 0:
        return _fresh(device, n)
    if device.again is None:
        return _fresh(device, 1)
    chain.require_work(chain.ways(n) * chain.size, n, chain.one_draw(1), "one value changed")
    return LikelihoodRatio(max(chain.alone(n).values()))


def all_values_changed(device: Device, rounds: int) -> LikelihoodRatio:
    """Two users who change at the same reports, and hold other values throughout: exact for ``rounds`` reports.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> grr = make_table(randomised_response(2.0, Finite((0, 1, 2))), bits=16)
    >>> round(all_values_changed(Device(grr, None, 2, 9), 9).loss, 4)
    4.0
    """
    chain = _Chain(device)
    n = require_whole(rounds, "rounds", 1, MOST_ROUNDS)
    if device.values == 0:
        return _fresh(device, n)
    held = min(device.values, n)
    if device.items:
        return _of_items(device, min(held, device.items))
    if not isinstance(device.table.law, FiniteLaw):
        lower, upper = one_value_changed(device, n).loss, chain.one_draw(held).loss
        if held == 1:
            return LikelihoodRatio(device.table.ratio)
        raise NoAnswer("only of finite tables the worst pairs of several values are tried", lower, upper)
    most = min(held, chain.size)
    if device.again is None:  # all reports of a value are its memory
        splits = [(1,) * most]
    else:
        chain.require_work(n ** (most - 1), n, chain.one_draw(most), "all values changed")
        splits = [split for parts in range(1, most + 1) for split in _splits(n, parts)]
    orders = math.perm(chain.size, most) ** 2
    lengths = {m for split in splits for m in split}
    work = sum(chain.ways(m) * chain.size for m in lengths) + len(splits) * orders
    chain.require_work(work, n, chain.one_draw(most), "all values changed")
    alone = {m: chain.alone(m) for m in lengths}
    return LikelihoodRatio(max(_assigned([alone[m] for m in split], chain.size) for split in splits))


def changes_bounded(device: Device, rounds: int, changes: int) -> LikelihoodRatio:
    """Any two users who change at most ``changes`` times each: exact for ``rounds`` reports.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
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
        return _fresh(device, n)
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
    if work > MOST_WORK >= 5 * sum(chain.outputs ** len(pairs) for pairs in tables):
        lower = LikelihoodRatio(max(chain.together(pairs, chain.alike) for pairs in tables)).loss
        raise NoAnswer("changes bounded: too many cases to try", lower, upper.loss, next_step=_FEWER)
    chain.require_work(work, n, upper, "changes bounded")
    return LikelihoodRatio(max(chain.together(pairs, chain.reports) for pairs in tables))


def _of_items(device: Device, draws: int) -> LikelihoodRatio:
    """So many draws of different items, against those of other ones, which are different, too.

    All pairs of items have the same two laws, up to the names of reports; that the largest ratio is reached by the
    pairs of one item and the next is looked at all the same.
    """
    law, ratio = device.table.law, _power(device.table.ratio, draws)
    for item in range(min(draws, device.items)):
        masses = law.masses(float(item), float((item + 1) % device.items))
        reached = max(Fraction(over, under) for over, under in masses if under)
        if reached != device.table.ratio:
            raise NoAnswer("the ratio of two rows bounds it, and no two inputs need reach it", 0.0, ratio.loss)
    return ratio


def _power(ratio: Fraction, times: int) -> LikelihoodRatio:
    return LikelihoodRatio(ratio**times)


def _fresh(device: Device, draws: int) -> LikelihoodRatio:
    """So many fresh draws of one value, against those of another one."""
    if device.items:
        _of_items(device, 1)
        return _power(device.table.ratio, draws)
    ratio = _power(device.table.ratio, draws)
    if device.table.kind not in ("window", "finite"):
        raise NoAnswer("the ratio of two rows bounds it, and no two inputs need reach it", 0.0, ratio.loss)
    return ratio


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
    """The histories that change at most so many times."""
    for count in range(min(changes, rounds - 1) + 1):
        for at in itertools.combinations(range(1, rounds), count):
            lengths = [end - start for start, end in itertools.pairwise((0, *at, rounds))]
            for values in itertools.product(range(size), repeat=count + 1):
                if all(a != b for a, b in itertools.pairwise(values)):
                    yield tuple(v for v, length in zip(values, lengths, strict=True) for _ in range(length))


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
        self._known: dict[tuple[int, ...], list[int]] = {}
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
    def outputs(self) -> int:
        return len(self.second[0])

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

    def alike(self, rounds: int) -> Iterator[tuple[int, ...]]:
        """How often each output is reported where all reports are the same."""
        outputs = self.outputs
        for y in range(outputs):
            yield tuple(rounds * (i == y) for i in range(outputs))

    def reports(self, rounds: int) -> Iterator[tuple[int, ...]]:
        """How often each output is reported: the cases that have to be tried."""
        outputs = self.outputs
        if self.is_response or self.device.again is None:
            yield from self.alike(rounds)
            return
        for bars in itertools.combinations(range(rounds + outputs - 1), outputs - 1):
            ends = (-1, *bars, rounds + outputs - 1)
            yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))

    def ways(self, rounds: int) -> int:
        if not self.second:
            return 1
        outputs = self.outputs
        if self.is_response or self.device.again is None:
            return outputs
        return math.comb(rounds + outputs - 1, outputs - 1)

    def likelihood(self, counts: tuple[int, ...]) -> list[int]:
        """For each value held throughout, the probability of reports with these counts, times what is the same."""
        if counts not in self._known:
            seen = [math.prod(s**c for s, c in zip(row, counts, strict=True)) for row in self.second]
            self._known[counts] = [sum(f * s for f, s in zip(row, seen, strict=True)) for row in self.first]
        return self._known[counts]

    def alone(self, rounds: int) -> dict[tuple[int, int], Fraction]:
        """The largest ratio of each ordered pair of values, held at so many reports."""
        best: dict[tuple[int, int], Fraction] = {}
        for counts in self.reports(rounds):
            chances = self.likelihood(counts)
            for pair in itertools.permutations(range(self.size), 2):
                ratio = Fraction(chances[pair[0]], chances[pair[1]])
                best[pair] = max(best.get(pair, ratio), ratio)
        return best

    def together(self, pairs: _Pairs, said: _Said) -> Fraction:
        """The largest ratio for two histories that hold each of these pairs of values so many times, of those tried."""
        held = [_held(pairs, side) for side in (0, 1)]
        ways = [tuple(said(rounds)) for _, rounds in pairs]
        # histories may hold different numbers of values, and a draw for each has the sum of a row below it
        scales = [sum(self.first[0]) ** len(values) for values in reversed(held)]
        best, under = 0, 1
        for counts in itertools.product(*ways):
            over, below = (
                scale * math.prod(self._chance(value, *(counts[i] for i in places)) for value, places in values)
                for scale, values in zip(scales, held, strict=True)
            )
            if over * under > best * below:
                best, under = over, below
        return Fraction(best, under)

    def _chance(self, value: int, *counts: tuple[int, ...]) -> int:
        """The likelihood of a value held where reports have these counts, one after the other."""
        return self.likelihood(tuple(map(sum, zip(*counts, strict=True))))[value]

    def require_work(self, work: int, rounds: int, upper: LikelihoodRatio, relation: str) -> None:
        """`NoAnswer` with bounds where more would have to be tried than there is time for."""
        if work * (1 + rounds // _WORD) <= MOST_WORK:
            return
        lower = self.device.table.ratio
        if self.device.again is not None:
            seen = map(self.likelihood, self.alike(rounds))
            lower = max(Fraction(max(chances), min(chances)) for chances in seen)
        ends = LikelihoodRatio(lower).loss, upper.loss
        raise NoAnswer(f"{relation}: too many cases to try", *ends, next_step=_FEWER)


def _held(pairs: _Pairs, side: int) -> list[tuple[int, list[int]]]:
    """The values of one history, and the pairs it holds them in."""
    values = sorted({pair[side] for pair, _ in pairs})
    return [(value, [i for i, (pair, _) in enumerate(pairs) if pair[side] == value]) for value in values]


@lru_cache(maxsize=16)
def _counts(device: Device, again: Table) -> tuple[_Rows, _Rows]:
    """Both tables, the rows of the second for the outputs of the first, in their order."""
    first, second = device.table.law, again.law
    if not isinstance(first, FiniteLaw) or not isinstance(second, FiniteLaw):
        upper = LikelihoodRatio(device.table.ratio).loss
        step = "take finite tables; a device that changes its value never loses more than the upper end a value held"
        raise NoAnswer("only finite tables have exact losses of what is randomised again", 0.0, upper, next_step=step)
    points = list(second.domain.points)
    return first.rows, tuple(second.rows[points.index(y)] for y in first.outputs)


def _is_response(rows: _Rows) -> bool:
    if any(len(row) != len(rows) for row in rows):
        return False
    kept = {row[i] for i, row in enumerate(rows)}
    others = {count for i, row in enumerate(rows) for j, count in enumerate(row) if i != j}
    return len(kept) == len(others) == 1 and max(kept) >= max(others)
