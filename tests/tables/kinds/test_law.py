"""What holds for the laws of all kinds: they are what files say, and their readers agree with each other."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import attrs
import numpy as np
import pytest

from mechdesign.tables import Table, checker, fixed_stream
from mechdesign.tables.kinds import KINDS, Listed, Spread, law_of
from mechdesign.words.domains import Circle, Finite

LISTED = ("absolute", "squared", "small", "unbiased", "duchi", "finite", "labelled", "repaired")
SPREAD = ("pieces", "circle", "additive", "clamped", "clamped wave", "clamped noise")


def inputs_of(table: Table) -> list[float]:
    domain = table.domain
    if isinstance(domain, Finite):
        return list(domain.points)
    low, high = table.law.ends
    within = np.linspace(low, high, 7).tolist()
    return within[:-1] if isinstance(domain, Circle) else within


@pytest.mark.parametrize("kind", checker.LAWS)
def test_a_kind_declares_the_fields_that_the_checker_knows(kind: str) -> None:
    fields = [field.name for field in attrs.fields(KINDS[kind]) if field.name not in ("domain", "bits")]
    may_have = [name for name in [checker.MAY_HAVE.get(kind)] if name is not None]
    assert sorted(fields) == sorted(checker.LAWS[kind].split() + may_have)
    assert KINDS[kind].kind == kind
    assert KINDS[kind].check is getattr(checker, f"check_{kind}")


def test_there_are_as_many_kinds_as_the_checker_knows() -> None:
    assert set(KINDS) == set(checker.LAWS)


@pytest.mark.parametrize("name", [*LISTED, *SPREAD])
def test_a_law_is_written_as_its_file_holds_it(tables: dict[str, Table], name: str) -> None:
    table = tables[name]
    assert table.law.written() == table.document["law"]


@pytest.mark.parametrize("name", [*LISTED, *SPREAD])
def test_a_law_is_a_value(tables: dict[str, Table], name: str) -> None:
    table = tables[name]
    other = law_of(table.document)
    assert other == table.law
    assert hash(other) == hash(table.law)
    changed = attrs.evolve(table.law, bits=table.bits + 1)
    assert changed != table.law


@pytest.mark.parametrize("name", LISTED)
def test_rows_are_counts_of_the_whole(tables: dict[str, Table], name: str) -> None:
    law = tables[name].law
    assert isinstance(law, Listed)
    assert all(sum(law.row(x)) == law.whole for x in inputs_of(tables[name]))


@pytest.mark.parametrize("name", LISTED)
def test_probabilities_are_the_rows_in_doubles(tables: dict[str, Table], name: str) -> None:
    law, inputs = tables[name].law, inputs_of(tables[name])
    assert isinstance(law, Listed)
    exact = [[float(count / law.whole) for count in law.row(x)] for x in inputs]
    assert np.allclose(law.probabilities(np.array(inputs)), exact, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["absolute", "squared", "small", "finite", "labelled", "repaired"])
def test_the_rule_gives_an_output_for_as_many_draws_as_its_row_has(tables: dict[str, Table], name: str) -> None:
    """At the first and the last draw of every output: between them the rule is a search in sorted counts."""
    law, size = tables[name].law, tables[name].bits // 8
    assert isinstance(law, Listed)
    rule = law.rule()
    for x in inputs_of(tables[name]):
        ends = np.cumsum([0, *map(int, law.row(x))], dtype=object).tolist()
        for y, (first, stop) in zip(law.outputs, pairwise(ends), strict=True):
            for draw in (first, stop - 1):
                assert rule(x, fixed_stream(draw.to_bytes(size, "little"))) == y


@pytest.mark.parametrize("name", [*LISTED, *SPREAD])
def test_the_masses_of_two_inputs_are_two_laws(tables: dict[str, Table], name: str) -> None:
    """They have one sum, and no ratio above the table's."""
    table = tables[name]
    first, *_, last = inputs_of(table)
    masses = table.law.masses(first, last)
    assert sum(a for a, _ in masses) == sum(b for _, b in masses)
    assert max(Fraction(max(pair), min(pair)) for pair in masses if any(pair)) <= table.ratio


@pytest.mark.parametrize("name", SPREAD)
def test_cells_share_the_whole_of_a_law(tables: dict[str, Table], name: str) -> None:
    law, inputs = tables[name].law, np.array(inputs_of(tables[name]))
    assert isinstance(law, Spread)
    low, high = law.reach(float(inputs[0]), float(inputs[-1]), 1e-3)
    found = law.cell_probabilities(inputs, np.linspace(low, high, 12))
    assert np.allclose(found.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert found.min() >= -1e-12


@pytest.mark.parametrize("name", [*LISTED, "pieces", "additive"])
def test_what_is_read_from_reports_is_their_sums(tables: dict[str, Table], name: str) -> None:
    """Of the outputs that the rule can give: exact sums and squares, and no report that is taken for none."""
    law = tables[name].law
    stream = fixed_stream(bytes(range(256)) * 64)
    rule = law.rule()
    reports = np.array([rule(x, stream) for x in inputs_of(tables[name]) for _ in range(5)])
    reading = law.reading()
    places, wrong = reading.find(reports)
    total, squares, ends = law.moments(reading.add_up(places), reports.size)
    exact = [Fraction(y) for y in reports.tolist()]
    slack = Fraction(math.ulp(float(np.abs(reports).max()))) * reports.size  # of grids whose points doubles round
    assert not wrong.any()
    assert abs(total - sum(exact)) <= slack
    assert abs(squares - sum(y * y for y in exact)) <= 2 * slack * Fraction(float(np.abs(reports).max()) + 1)
    assert ends is None or ends[0] <= min(exact) <= max(exact) <= ends[1]
