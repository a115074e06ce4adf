"""Test vectors: they replay, they are the same every time, and they hold both sides of every boundary."""

import itertools
import json
import math
from fractions import Fraction

import pytest

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import checker, fixed_stream, make_table, report, test_vectors, vectors_content
from mechdesign.tables.boundaries import boundary_cases
from mechdesign.tables.vectors import boundaries_left_out
from mechdesign.words.domains import Finite, Interval
from tests.tables.conftest import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_replay_from_their_own_bytes(tables, kind):
    table = tables[kind]
    vectors = test_vectors(table, 40)
    assert vectors["table"] == table.sha256
    assert len(vectors["cases"]) == 40 + len(boundary_cases(table))
    for case in vectors["cases"]:
        content = bytes.fromhex(case["bytes"])
        stream = fixed_stream(content)
        assert checker.decimals([case["y"]], "y") == [Fraction(report(table, float(case["x"]), stream))]
        assert stream.used == case["used"] < len(content)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_of_a_boundary_case_are_the_draws_it_names(tables, kind):
    table = tables[kind]
    for case in boundary_cases(table):
        stream = fixed_stream(case.stream)
        report(table, case.x, stream)
        assert stream.used == len(case.stream)


def test_vectors_are_the_same_every_time_and_canonical(tables):
    content = vectors_content(tables["small"], 10)
    assert content == vectors_content(tables["small"], 10)
    assert content != vectors_content(tables["small"], 10, b"another")
    assert checker.canonical(json.loads(content)) == content


def test_vectors_hold_both_ends_and_both_sides_of_thresholds(tables):
    for name in ("small", "absolute"):
        turns = list(tables[name].law.thresholds)
        inputs = {case.x for case in boundary_cases(tables[name])}
        assert {0.0, 1.0} | {y for turn in turns for y in (turn, math.nextafter(turn, math.inf))} <= inputs


def test_vectors_hold_both_sides_of_every_count_of_every_row_of_a_small_window(tables):
    """By the formula of the format, row by row: ``W_j = N_j + min(max(G_j - s, 0), E)``."""
    table = tables["small"]
    law, turns = table.document["law"], list(table.law.thresholds)
    drawn = {(sum(turn < case.x for turn in turns), case.draws[0][1]) for case in boundary_cases(table)}
    gains = [most - least for least, most in zip(law["base"], law["caps"], strict=True)]
    for i, start in enumerate(law["starts"]):
        for j in range(1, len(law["base"])):
            most = min(max(sum(gains[:j]) - start, 0), 2**table.bits - sum(law["base"]))
            edge = sum(law["base"][:j]) + most
            assert {(i, edge - 1), (i, edge)} <= drawn


def test_vectors_hold_both_sides_of_every_count_of_a_finite_table():
    table = make_table(catalogue.randomised_response(2.0, Finite(tuple(range(9)))))
    drawn = {(case.x, case.draws[0][1]) for case in boundary_cases(table)}
    for x, row in enumerate(table.law.rows):
        for edge in itertools.accumulate(row[:-1]):
            assert {(x, edge - 1), (x, edge)} <= drawn


@pytest.mark.parametrize("kind", ["unbiased", "pieces", "circle", "additive"])
def test_some_vectors_begin_a_rejection_anew(tables, kind):
    """A sampler reads more for them than for the others at the same input."""
    table = tables[kind]
    lengths = {}
    for case in boundary_cases(table):
        lengths.setdefault(case.x, set()).add(len(case.draws))
    assert max(map(len, lengths.values())) > 1


@pytest.mark.parametrize("domain", [Interval(-1, 1), Interval(3, 4), Interval(-7.5, -5.25), Interval(-3e4, 2.5)])
@pytest.mark.parametrize("law", ["laplace", "sw", "duchi"])
def test_cases_are_steered_on_every_domain(domain, law):
    table = make_table(getattr(catalogue, law)(1.3, domain), 16)
    cases = boundary_cases(table)
    assert {domain.lower, domain.upper} <= {case.x for case in cases}
    for case in cases:
        stream = fixed_stream(case.stream)
        report(table, case.x, stream)
        assert stream.used == len(case.stream)


def test_more_cases_than_allowed_are_thinned_out_over_all_rows():
    table = make_table(catalogue.randomised_response(2.0, Finite(tuple(range(30)))))
    assert len(boundary_cases(table)) == 30 * 30 * 2
    cases = test_vectors(table, 0, most=300)["cases"]
    assert len(cases) == 300
    assert (boundaries_left_out(table, 300), boundaries_left_out(table)) == (1500, 0)
    assert {float(case["x"]) for case in cases} == set(range(30))


@pytest.mark.parametrize(
    ("given", "name"), [({"count": -1}, "count"), ({"count": 100_001}, "count"), ({"most": -1}, "most")]
)
def test_vectors_need_sensible_numbers(tables, given, name):
    with pytest.raises(InvalidInput, match=name):
        test_vectors(tables["small"], **given)
