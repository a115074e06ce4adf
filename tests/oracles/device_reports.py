"""All sequences of reports of small devices, with exact chances, from the state machine itself."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.tables import Labels, Table, make_table
from mechdesign.tables.device import Device, created, reported
from mechdesign.tables.kinds import FiniteLaw, ResponseLaw, UnaryLaw
from mechdesign.tables.streams import Stream
from mechdesign.words.domains import Finite

PERIOD = 20
LABELS = Labels(("no", "rather not", "yes"), ("no", "rather not", "yes"))


@lru_cache
def response(epsilon: float, size: int, labels: Labels | None = None) -> Table:
    return make_table(catalogue.randomised_response(epsilon, Finite(tuple(range(size)))), 16, labels=labels)


@lru_cache
def skewed(size: int) -> Table:
    """A channel with no symmetry."""
    rows = np.array([[0.5, 0.3, 0.2], [0.25, 0.35, 0.4], [0.45, 0.15, 0.4]])[:size]
    return make_table(Discrete(1.0, Finite(tuple(range(size))), Finite((0, 1, 2)), rows), 16)


class Chosen(Stream):
    """Draws that are given, so that all of them can be tried."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        super().__init__(lambda size: bytes(size))
        self.numbers = list(numbers)

    def draw(self, bits: int) -> int:
        return self.numbers.pop(0)


def stretches(table: Table) -> list[tuple[int, int]]:
    """A draw for each stretch in which no row's answer changes, and its length."""
    ends = {sum(row[:j]) for row in table.law.rows for j in range(len(row) + 1)}
    ordered = sorted(ends)
    return [(a, b - a) for a, b in zip(ordered, ordered[1:], strict=False)]


def ways(table: Table) -> list[tuple[tuple[int, ...], Fraction]]:
    """Draws that stand for all draws of a report, and their chances; of items one draw, or coins."""
    law = table.law
    if isinstance(law, FiniteLaw):
        whole = sum(law.rows[0])
        return [((v,), Fraction(n, whole)) for v, n in stretches(table)]
    assert isinstance(law, ResponseLaw | UnaryLaw)
    if isinstance(law, ResponseLaw):
        ends, count = {0, *(law.own + i * law.other for i in range(law.groups))}, 1
    else:
        ends, count = {0, law.own_bit[1], law.other_bit[1], law.whole}, law.width
    ordered = sorted(ends)
    parts = [(a, Fraction(b - a, law.whole)) for a, b in itertools.pairwise(ordered)]
    chosen = itertools.product(parts, repeat=count)
    return [(tuple(v for v, _ in some), math.prod((p for _, p in some), start=Fraction(1))) for some in chosen]


def sequences(device: Device, history: tuple[int, ...]) -> dict[tuple[float | bytes, ...], Fraction]:
    """The chance of every sequence of reports of a history, from the state machine itself."""
    tables = [device.table] if device.again is None else [device.table, device.again]
    draws = [((), Fraction(1))]
    for table in tables:
        draws = [((*u, *v), p * q) for u, p in draws for v, q in ways(table)]
    now = {(created(device, None, PERIOD, device.reports), ()): Fraction(1)}
    for value in history:
        then: dict[tuple[bytes, tuple[float | bytes, ...]], Fraction] = {}
        for (content, said), chance in now.items():
            for numbers, share in draws:
                after, y = reported(device, content, float(value), PERIOD, Chosen(numbers))
                key = after, (*said, y)
                then[key] = then.get(key, Fraction(0)) + chance * share
        now = then
    found: dict[tuple[float | bytes, ...], Fraction] = {}
    for (_, said), chance in now.items():
        found[said] = found.get(said, Fraction(0)) + chance
    return found
