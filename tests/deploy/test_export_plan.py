"""What is refused before a sampler is written: numbers that 64-bit words cannot hold, and what is no table."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from mechdesign.deploy import Table
from mechdesign.deploy.export.plan import plan_of
from mechdesign.errors import FileProblem


def changed(table: Table, **law: Any) -> dict[str, Any]:
    document = copy.deepcopy(dict(table.document))
    document["law"] |= law
    return document


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("small", {"caps": [2**62] * 4}),
        ("unbiased", {"means": [-(2**62), 0, 2**62]}),
        ("duchi", {"shift": 70}),
        ("finite", {"rows": [[2**63, 0, 0]] * 3}),
        ("pieces", {"weight": 2**63}),
        ("circle", {"scale": str(2**62)}),
        ("additive", {"weights": [2**62, 2**62]}),
        ("additive", {"shift": 63}),
    ],
)
def test_numbers_beyond_a_word_are_refused(tables: dict[str, Table], name: str, law: dict[str, Any]) -> None:
    with pytest.raises(FileProblem, match="counts below 2\\^63"):
        plan_of(changed(tables[name], **law))


@pytest.mark.parametrize("law", [{"rows": 3}, {"rows": None}, {"more": 1}, {"outputs": ["one", "two", "three"]}])
def test_what_is_no_table_is_refused(tables: dict[str, Table], law: dict[str, Any]) -> None:
    with pytest.raises(FileProblem, match="schema version 2"):
        plan_of(changed(tables["finite"], **law))
