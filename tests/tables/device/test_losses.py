"""Stated losses are the largest ratios of whole sequences of reports, listed from the state machine itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.window import Window
from mechdesign.studies.frequencies import protocol_table
from mechdesign.studies.frequencies.protocols.histories import Step, Words
from mechdesign.studies.frequencies.protocols.longitudinal import l_grr
from mechdesign.tables import make_table
from mechdesign.tables.device import Device, all_values_changed, changes_bounded, one_value_changed
from mechdesign.words.domains import Finite, Interval
from tests.oracles.device_reports import response, sequences, skewed

History = tuple[int, ...]
HALVES = response(math.log(2) + 1e-6, 3)
"""Counts of 1/2, 1/4 and 1/4: rounding breaks no symmetry."""
NARROW = make_table(
    Discrete(1.0, Finite((0, 1, 2)), Finite((0, 1)), np.array([[0.6, 0.4], [0.5, 0.5], [0.4, 0.6]])), 16
)
WIDE = make_table(Discrete(1.0, Finite((0, 1)), Finite((0, 1, 2)), np.array([[0.4, 0.3, 0.3], [0.3, 0.3, 0.4]])), 16)
SMALL = {
    "remembered": lambda: Device(response(1.0, 3), None, values=2, reports=3),
    "remembered, room for one": lambda: Device(response(1.0, 3), None, values=1, reports=3),
    "responses of two values": lambda: Device(response(2.0, 2), response(1.0, 2), values=2, reports=3),
    "responses of three values, by the theorem": lambda: Device(HALVES, HALVES, values=2, reports=3),
    "responses of three values": lambda: Device(response(2.0, 3), response(1.0, 3), values=2, reports=2),
    "responses, room for one": lambda: Device(response(2.0, 3), response(1.0, 3), values=1, reports=3),
    "channels without symmetry": lambda: Device(skewed(3), skewed(3), values=2, reports=2),
    "fewer memories than values": lambda: Device(NARROW, WIDE, values=2, reports=2),
    "fresh": lambda: Device(skewed(3), None, values=0, reports=3),
    "items, one of a few": lambda: Device(protocol_table("grr", 1.0, 3), None, values=2, reports=3),
    "items, drawn afresh": lambda: Device(protocol_table("grr", 1.0, 3), None, values=0, reports=2),
    "items as coins": lambda: Device(protocol_table("oue", 1.0, 3), None, values=2, reports=2),
    "items as coins of one sort, room for one": lambda: Device(
        protocol_table("sue", 1.0, 3), None, values=1, reports=2
    ),
}


def changes(history: History) -> int:
    return sum(a != b for a, b in itertools.pairwise(history))


def pattern(history: History) -> History:
    return tuple(history.index(value) for value in history)


def is_one_value(h: History, k: History) -> bool:
    moved = {(a, b) for a, b in zip(h, k, strict=True) if a != b}
    return pattern(h) == pattern(k) and len(moved) == 1


def is_all_values(h: History, k: History) -> bool:
    return pattern(h) == pattern(k)


@lru_cache
def listed(name: str) -> tuple[Device, dict[History, dict[tuple[float | bytes, ...], Fraction]]]:
    """The device, and the chances of all reports of every history."""
    device = SMALL[name]()
    histories = itertools.product(range(device.items or len(device.table.law.rows)), repeat=device.reports)
    return device, {h: sequences(device, h) for h in histories}


def worst(name: str, related: Callable[[History, History], bool]) -> Fraction | None:
    """The largest ratio over all pairs of histories that are related; None if it is infinite."""
    _, chances = listed(name)
    largest = Fraction(1)
    for h, k in itertools.permutations(chances, 2):
        if related(h, k):
            for said, chance in chances[h].items():
                if chance and not chances[k].get(said):
                    return None
                largest = max(largest, chance / chances[k][said])
    return largest


@pytest.mark.parametrize("name", SMALL)
def test_one_value_changed_loses_exactly_what_is_stated(name: str) -> None:
    device, _ = listed(name)
    assert one_value_changed(device, device.reports).ratio == worst(name, is_one_value)


@pytest.mark.parametrize("name", SMALL)
def test_all_values_changed_lose_exactly_what_is_stated(name: str) -> None:
    device, _ = listed(name)
    assert all_values_changed(device, device.reports).ratio == worst(name, is_all_values)


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("name", SMALL)
def test_bounded_changes_lose_exactly_what_is_stated(name: str, most: int) -> None:
    device, _ = listed(name)

    def few(h: History, k: History) -> bool:
        return max(changes(h), changes(k)) <= most

    assert changes_bounded(device, device.reports, most).ratio == worst(name, few)


def test_chances_of_all_sequences_of_reports_are_one_together() -> None:
    device = SMALL["channels without symmetry"]()
    assert sum(sequences(device, (0, 2)).values()) == 1


def test_losses_of_two_responses_are_those_of_the_longitudinal_protocol() -> None:
    first, again = response(math.log(3), 2), response(math.log(3), 2)  # whole counts without rounding
    device = Device(first, again, values=2, reports=20)
    steps = []
    for rows in (first.law.rows, again.law.rows):
        kept, other = rows[0][0] / 2**16, rows[0][1] / 2**16
        steps.append(Step(kept, other, 1 - kept))
    words = Words(*steps, 2)
    for rounds in (1, 5, 20):
        assert one_value_changed(device, rounds).loss == pytest.approx(words.same_value(rounds), rel=1e-12)
    two = Device(first, again, values=2, reports=4)
    against_constant = max(words.against_constant((a, 4 - a)) for a in (1, 2))
    assert changes_bounded(two, 4, 1).loss >= against_constant - 1e-12


def test_a_first_report_of_two_steps_loses_what_l_grr_says() -> None:
    law = l_grr(1.0, 2, limit=2.0)
    again = math.log(law.second.p / law.second.q)
    device = Device(response(2.0, 2), response(again, 2), values=2, reports=1)
    assert one_value_changed(device, 1).loss == pytest.approx(1.0, abs=1e-3)


def test_memory_without_a_second_step_hides_no_change() -> None:
    device = SMALL["remembered"]()
    assert changes_bounded(device, 3, 1).loss == math.inf
    assert all_values_changed(device, 3).loss == pytest.approx(2.0, abs=1e-3)


def test_one_more_report_never_loses_less() -> None:
    device = Device(response(2.0, 3), response(1.0, 3), values=2, reports=9)
    for loss in (one_value_changed, all_values_changed):
        losses = [loss(device, rounds).loss for rounds in range(1, 10)]
        assert losses == sorted(losses)


def test_rows_of_halves_and_quarters_are_told_to_be_responses() -> None:
    assert HALVES.law.rows[0] == (1 << 15, 1 << 14, 1 << 14)
    device = Device(HALVES, HALVES, values=2, reports=9)
    assert one_value_changed(device, 10_000).loss == pytest.approx(math.log(2), rel=1e-12)  # counts are too many to try


def test_what_is_too_much_to_try_has_bounds() -> None:
    device = Device(skewed(3), skewed(3), values=2, reports=10_000)
    with pytest.raises(NoAnswer) as refused:
        one_value_changed(device, 5000)
    assert 0.5 < refused.value.lower <= refused.value.upper <= 1.0


def test_a_window_table_has_an_exact_loss_of_one_value_and_bounds_of_several_or_with_a_second_step() -> None:
    points, base = np.array([0.0, 0.3, 0.55, 1.0]), np.array([0.15, 0.1, 0.1, 0.15])
    window = make_table(Window(1.0, Interval(0, 1), points, base, 2.7), 16)
    assert one_value_changed(Device(window, None, values=3, reports=9), 9).ratio == window.ratio
    assert changes_bounded(Device(window, None, values=0, reports=9), 9, 4).ratio == window.ratio**9
    assert all_values_changed(Device(window, None, values=1, reports=9), 9).ratio == window.ratio
    with pytest.raises(NoAnswer) as several:
        all_values_changed(Device(window, None, values=3, reports=9), 9)
    assert several.value.upper == pytest.approx(3 * several.value.lower)
    again = make_table(catalogue.pm(1.0, Interval(0, 1)), 16)
    with pytest.raises(NoAnswer) as refused:
        one_value_changed(Device(window, again, values=3, reports=9), 9)
    assert refused.value.upper == window.privacy_loss


def test_a_table_whose_rows_no_inputs_reach_has_a_bound() -> None:
    table = make_table(catalogue.pm(1.0, Interval(0, 1)), 16)
    with pytest.raises(NoAnswer) as refused:
        one_value_changed(Device(table, None, values=0, reports=3), 3)
    assert refused.value.upper == pytest.approx(3 * table.privacy_loss)


@pytest.mark.parametrize("rounds", [0, -1, 1.5, True, 10_001])
def test_numbers_of_reports_are_whole_and_not_too_many(rounds: object) -> None:
    with pytest.raises(InvalidInput):
        one_value_changed(SMALL["remembered"](), rounds)


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "blh", "olh", "ss", "hr", "cms"])
def test_every_protocol_on_items_reaches_its_ratio_with_each_value_remembered(name: str) -> None:
    table = protocol_table(name, 1.0, 9)
    device = Device(table, None, values=5, reports=7)
    assert one_value_changed(device, 7).ratio == table.ratio
    assert all_values_changed(device, 7).ratio == table.ratio**5
    assert all_values_changed(device, 3).ratio == table.ratio**3
    assert changes_bounded(device, 7, 1).ratio is None
    assert changes_bounded(Device(table, None, 0, 4), 4, 1).ratio == table.ratio**4
