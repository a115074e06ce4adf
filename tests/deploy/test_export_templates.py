"""The templates of samplers: how lines are chosen, and that every kind has its lines in every language."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from mechdesign.deploy.export import layout
from mechdesign.deploy.kinds import KINDS, ItemsLaw

FOLDER = files("mechdesign.deploy.export").joinpath("templates")
ITEMS = "items/"
NAMES = sorted(entry.name for entry in FOLDER.iterdir() if entry.is_file())
for folder in (ITEMS, "randomness/", "replay/", "envelope/"):
    NAMES += sorted(folder + entry.name for entry in FOLDER.joinpath(folder).iterdir() if entry.is_file())
SAMPLERS = [name for name in NAMES if "sampler." in name.lower() and not name.endswith(".h")]
WORDS = {
    *KINDS,
    "points",
    "labels",
    "input_labels",
    "output_labels",
    "clamp",
    "circle",
    "items",
    "numbers",
    "choice",
    "coins",
    "hash",
}
OF_REPORTS = {"labels", "listed", "double", "bytes", "texts", "standalone"}
"""What lines of envelopes are chosen by: what a report is, and whether the writer stands without its sampler."""

MARK = re.compile(r"\W*@(if|else|end)\b(.*)")


def marks(name: str) -> list[tuple[str, list[str]]]:
    lines = layout.template(name).splitlines()
    return [(mark[1], mark[2].split()) for mark in map(MARK.match, lines) if mark is not None]


def test_there_is_a_sampler_in_every_language() -> None:
    endings = {"c", "rs", "java", "mjs", "py.in", "duckdb.sql", "postgresql.sql"}
    assert {name.partition(".")[2] for name in SAMPLERS if not name.startswith(ITEMS)} == endings
    assert {name.partition(".")[2] for name in SAMPLERS if name.startswith(ITEMS)} == endings


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_ends_and_has_one_other_side(name: str) -> None:
    open_: list[bool] = []
    for mark, _ in marks(name):
        if mark == "if":
            open_.append(False)
        elif mark == "else":
            assert not open_[-1]
            open_[-1] = True
        else:
            open_.pop()
    assert open_ == []


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_chosen_by_words_that_plans_have(name: str) -> None:
    assert {word for mark, words in marks(name) if mark == "if" for word in words} <= (
        OF_REPORTS if name.startswith("envelope/") else WORDS
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [(n, kind) for n in SAMPLERS for kind, law in KINDS.items() if n.startswith(ITEMS) == issubclass(law, ItemsLaw)],
)
def test_every_kind_has_its_lines_in_every_sampler(name: str, kind: str) -> None:
    assert any(kind in words for mark, words in marks(name) if mark == "if")


@pytest.mark.parametrize(
    ("words", "kept"),
    [({"a", "b"}, "1 2 5"), ({"a"}, "1 3 5"), ({"b"}, "4 5"), (set(), "4 5")],
)
def test_a_choice_inside_another_holds_where_both_do(words: set[str], kept: str) -> None:
    text = "# @if a\n1\n# @if b c\n2\n# @else\n3\n# @end\n# @else\n4\n# @end\n5\n"
    assert layout.chosen(text, words).split() == kept.split()


def test_a_place_that_nothing_fills_is_an_error() -> None:
    with pytest.raises(KeyError, match="missing"):
        layout.fill("@missing@", {"name": 1})
