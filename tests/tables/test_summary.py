"""Tables explain themselves: in plain words, and in a notebook."""

from __future__ import annotations

import math

import pytest

import mechdesign as md
from mechdesign import catalogue
from mechdesign.tables import Table, make_table
from mechdesign.tables.labels import Labels
from tests.methods.problems import numbers

TWO = md.Finite((0, 1))


@pytest.fixture(scope="module")
def labelled() -> Table:
    response = catalogue.randomised_response(math.log(3), TWO)
    return make_table(response, labels=Labels(("no", "<b>yes"), ("no", "<b>yes")))


def test_kind_size_privacy_and_hash_are_said(labelled: Table) -> None:
    said = labelled.summary()
    assert said.startswith(
        "finite table 'randomised response' (named in the file), probabilities are multiples of 2^-32"
    )
    assert f"privacy loss: {labelled.privacy_loss:.12g} (computed exactly, at most eps)" in said
    assert said.endswith(f"sha256: {labelled.sha256}")


def test_labels_are_said_once_if_both_sides_have_the_same(labelled: Table) -> None:
    assert labelled.summary().count('2: "no", "<b>yes"') == 1


def test_the_proven_error_is_said_beside_the_bound() -> None:
    table = make_table(md.solve(numbers(1.0), gap=1e-2))
    assert "no eps-private mechanism has less than" in table.summary()


def test_a_notebook_shows_the_words_and_no_markup_of_labels(labelled: Table) -> None:
    assert "sha256" in labelled._repr_html_()
    assert "<b>" not in labelled._repr_html_()


def test_a_notebook_shows_the_law_of_a_table_under_its_words(tables: dict[str, Table]) -> None:
    for table in (tables["finite"], tables["pieces"], tables["small"]):
        assert table.plot().axes
        assert '<img alt="" src="data:image/png' in table._repr_html_()
