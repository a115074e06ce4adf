"""Finite channels: repaired by the least that makes them private, then rounded."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.catalogue import randomised_response
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.tables import make_table, repair, repaired
from mechdesign.tables.channels import finite_counts, within
from mechdesign.words.domains import Finite


@st.composite
def channels(draw):
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    epsilon = draw(st.floats(0.05, 6))
    base = np.array(draw(st.lists(st.floats(0.02, 1), min_size=columns, max_size=columns)))
    tilt = np.array(draw(st.lists(st.floats(0, 1), min_size=rows * columns, max_size=rows * columns)))
    table = base * np.exp(0.49 * epsilon * tilt.reshape(rows, columns))
    table /= table.sum(axis=1, keepdims=True)
    return Discrete(epsilon, Finite(tuple(range(rows))), Finite(tuple(range(columns))), table)


@settings(max_examples=150, deadline=None)
@given(channels(), st.sampled_from((16, 32, 53, 62)))
def test_private_channels_ship_without_repair_close_to_what_they_were(mechanism, bits):
    table = make_table(mechanism, bits)
    assert table.document["repair"] is None
    rows = np.array(table.law.rows, dtype=float) / 2.0**bits
    assert np.abs(rows - mechanism.probabilities).max() <= 2.0 ** (2 - bits) * (3 + math.exp(mechanism.epsilon)) + 1e-12
    assert all(sum(row) == 2**bits for row in table.law.rows)
    assert all(Fraction(max(c), min(c)) <= table.ratio for c in zip(*table.law.rows, strict=True))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=2, max_size=4), st.data())
def test_repair_mixes_the_least_that_makes_the_channel_private(table, data):
    ratio = Fraction(data.draw(st.integers(11, 60)), 10)
    fixed = repair([[Fraction(entry, sum(row)) for entry in row] for row in table], ratio)
    cap = math.floor(ratio * 2**96)
    assert all(sum(row) == 1 for row in fixed.rows)
    assert all(max(column) <= ratio * min(column) for column in zip(*fixed.rows, strict=True))
    kept = [[Fraction(row[j], sum(row)) for j in fixed.columns] for row in table]
    less = fixed.mixed * Fraction(999, 1000)
    mixed = [[(1 - less) * entry + less / len(row) for entry in row] for row in kept]
    assert fixed.mixed == 0 or not within(cap, mixed)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 5), st.integers(2, 4), st.data())
def test_repaired_entries_are_the_given_ones_clipped_normalised_and_mixed(height, width, data):
    entries = st.fractions(-1, 10, max_denominator=10**6) | st.floats(-1, 10)
    rows = data.draw(st.lists(st.lists(entries, min_size=width, max_size=width), min_size=height, max_size=height))
    rows = [[*row, 1] for row in rows]
    ratio = Fraction(data.draw(st.integers(11, 60)), 10)
    clipped = [[max(Fraction(entry), Fraction(0)) for entry in row] for row in rows]
    columns = [j for j, column in enumerate(zip(*clipped, strict=True)) if any(column)]
    law = [[row[j] / sum(row) for j in columns] for row in clipped]
    fixed = repair(rows, ratio, noise=0.0)
    assert list(fixed.columns) == columns
    mixed, even = fixed.mixed, Fraction(1, len(columns))
    assert fixed.rows == [[(1 - mixed) * entry + mixed * even for entry in row] for row in law]


def test_entries_that_doubles_cannot_tell_apart_are_told_apart():
    tiny = Fraction(1, 10**60)
    rows = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(2, 3) + tiny, Fraction(1, 3) - tiny]]
    over = Fraction(1, 2) - Fraction(3, 2) * (Fraction(1, 3) - tiny)
    assert repair([*rows[:1], [Fraction(2, 3), Fraction(1, 3)]], Fraction(3, 2)).mixed == 0
    assert repair(rows, Fraction(3, 2)).mixed == over / (over + Fraction(1, 4)) > 0


def test_fractions_are_made_for_columns_not_for_entries(monkeypatch):
    made = 0

    class Counted(Fraction):
        def __new__(cls, *arguments):
            nonlocal made
            made += 1
            return super().__new__(Fraction, *arguments)

    def fractions(size):
        nonlocal made
        mechanism, made = randomised_response(1.0, Finite(tuple(range(size)))), 0
        finite_counts(repair(mechanism.probabilities.tolist(), Fraction(27, 10)), 32, 27 * 2**96 // 10)
        return made

    monkeypatch.setattr("mechdesign.tables.channels.Fraction", Counted)
    assert 20 <= fractions(20) <= 5 * 20
    assert fractions(200) <= 5 * 200


def test_noise_columns_are_dropped_and_reported():
    probabilities = [[0.75, 0.25 - 1e-14, 1e-14], [0.25, 0.75, 0.0]]
    table = make_table(Discrete(1.2, Finite((0, 1)), Finite((0, 1, 2)), probabilities))
    assert table.document["repair"] == {"dropped": 1, "mixed": "0"}
    assert table.law.outputs == (0.0, 1.0)


def test_a_table_over_its_epsilon_by_a_rounding_error_is_repaired():
    epsilon = math.log(3)
    table = make_table(Discrete(epsilon, Finite((0, 1)), Finite((0, 1)), [[0.75 + 1e-10, 0.25 - 1e-10], [0.25, 0.75]]))
    assert 0 < Fraction(table.document["repair"]["mixed"]) < 1e-8
    assert table.privacy_loss <= epsilon


def test_a_table_far_over_its_epsilon_is_refused_unless_allowed():
    mechanism = Discrete(0.5, Finite((0, 1)), Finite((0, 1)), [[0.9, 0.1], [0.1, 0.9]])
    with pytest.raises(InvalidInput, match="private after mixing in at most"):
        make_table(mechanism)
    table = make_table(mechanism, most_mixed=1.0)
    assert 0.4 < Fraction(table.document["repair"]["mixed"]) < 0.8
    assert table.privacy_loss <= 0.5


@pytest.mark.parametrize(
    ("rows", "ratio", "rule"),
    [
        ([], 2, "one length"),
        ([[1.0], [0.5, 0.5]], 2, "one length"),
        ([[1.0]], 1, "above 1"),
        ([[0.0, 0.0]], 2, "positive"),
    ],
)
def test_nonsense_is_refused(rows, ratio, rule):
    with pytest.raises(InvalidInput, match=rule):
        repair(rows, Fraction(ratio), noise=-1.0)


@settings(max_examples=60, deadline=None)
@given(channels(), st.data())
def test_noise_of_a_solver_costs_no_more_than_its_size(mechanism, data):
    size = mechanism.probabilities.size
    noise = np.array(data.draw(st.lists(st.floats(-1e-9, 1e-9), min_size=size, max_size=size)))
    raw = mechanism.probabilities + noise.reshape(mechanism.probabilities.shape)
    table = repaired(mechanism.epsilon, mechanism.inputs, mechanism.outputs, raw.tolist())
    assert table.privacy_loss <= mechanism.epsilon
    report = table.document["repair"]
    assert report is None or Fraction(report["mixed"]) < 1e-5


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ([[0.5, 0.5]], "2 rows of 2"),
        ([[0.5, 0.5], [1.0]], "2 rows of 2"),
        ([[0.5, 0.5], [math.nan, 1.0]], "finite"),
        ([[0.5, 0.5], [1.1, -0.1]], "at least 0 and sum to 1"),
        ([[0.5, 0.5], [0.5, 0.6]], "at least 0 and sum to 1"),
    ],
    ids=range(5),
)
def test_raw_tables_that_are_no_laws_are_refused(rows, rule):
    with pytest.raises(InvalidInput, match=rule):
        repaired(1.0, Finite((0, 1)), Finite((0, 1)), rows)


def test_debiased_reports_of_randomised_response_have_the_mean_of_the_inputs():
    table = make_table(randomised_response(1.0, Finite((0, 1, 5))), 32)
    said = {name: Fraction(text) for name, text in table.document["estimator"].items() if name != "kind"}
    assert said["slope"] > 1
    assert said["bias"] < 1e-8
    for x, row in zip((0, 1, 5), table.law.rows, strict=True):
        values = [said["slope"] * y + said["intercept"] for y in (0, 1, 5)]
        mean = sum(w * z for w, z in zip(row, values, strict=True)) / Fraction(2**32)
        assert abs(mean - x) <= said["bias"]
        assert sum(w * z * z for w, z in zip(row, values, strict=True)) / Fraction(2**32) - mean**2 <= said["variance"]


def test_randomised_response_keeps_its_epsilon_to_the_last_count():
    table = make_table(randomised_response(1.0, Finite(tuple(range(100)))))
    assert 1 - 1e-6 < table.privacy_loss <= 1
