"""The gallery: every file's two numbers agree, its statement has a source, and its picture can be read."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from mechdesign import plot
from mechdesign.errors import InvalidInput
from mechdesign.papers import gallery
from mechdesign.papers.gallery import ENTRIES, Entry, Outcome
from mechdesign.papers.gallery.agreement import Tolerance, at_least, at_most, near

FOLDER = Path(gallery.__file__).parent
NOT_ENTRIES = {"__init__", "agreement", "reference"}
MOST_LINES = 40

every_file = pytest.mark.parametrize("shown", ENTRIES, ids=lambda shown: shown.name)


@every_file
def test_ours_agrees_with_the_reference_and_not_with_what_an_erratum_says_is_wrong(shown: Entry) -> None:
    found = shown.judge()
    assert np.isfinite([found.ours, found.reference]).all()
    assert found.agrees, f"{found.ours!r} for {found.reference!r}"
    if found.printed is not None:
        apart = abs(found.printed - found.reference)
        assert not found.tolerance.holds(found.printed, found.reference)
        assert apart > 0.01 * abs(found.reference), "no rounding of a printed number is an erratum"


@every_file
def test_a_tolerance_is_a_small_share(shown: Entry) -> None:
    tolerance = shown.exhibit().TOLERANCE
    assert isinstance(tolerance, Tolerance)
    assert 0 <= tolerance.share <= 0.05


@every_file
def test_the_statement_has_a_title_a_formula_two_sides_and_a_source(shown: Entry) -> None:
    title, blank, *rest = shown.statement.splitlines()
    text = "\n".join(rest)
    assert title.endswith(".")
    assert len(title) < 90
    assert blank == ""
    assert re.search(r"``[^`]+``", text)
    assert re.search(r"\bOurs\s+is\b", text)
    assert re.search(r"\bthe\s+reference\b", text)
    source = text.rpartition("\n\nFrom: ")[2]
    assert re.search(r"\b(19|20)\d\d\b|chapter|section|figure|theorem|this package", source)
    assert ("erratum" in source) >= (shown.judge().printed is not None)


@every_file
def test_the_program_is_short(shown: Entry) -> None:
    """Without imports, statement and picture."""
    tree = ast.parse(shown.source)
    left_out: set[int] = set()
    for node in tree.body:
        is_statement = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_picture = isinstance(node, ast.FunctionDef) and node.name == "picture"
        if is_statement or is_picture or isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = [line.strip() for number, line in enumerate(shown.source.splitlines(), 1) if number not in left_out]
    assert sum(bool(line) and not line.startswith("#") for line in lines) < MOST_LINES


@every_file
def test_the_picture_has_a_title_and_labels_that_fit_and_names_its_lines(shown: Entry) -> None:
    figure = plot.exhibit(shown)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.get_title()
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.has_data()
    width, height = figure.get_size_inches() * figure.dpi
    for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
        box = text.get_window_extent()
        assert -1 <= box.x0 <= box.x1 <= width + 1
        assert -1 <= box.y0 <= box.y1 <= height + 1
    drawn = [line for line in axes.get_lines() if np.size(line.get_xdata()) > 2]
    named = [line for line in drawn if not str(line.get_label()).startswith("_")]
    assert len(drawn) < 2 or (named and axes.get_legend() is not None)
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in named]
    assert len(set(looks)) == len(looks)


@every_file
def test_programs_use_the_package_from_outside(shown: Entry) -> None:
    """So that what they show can be copied: no private names, nothing of the command line, no solver of ours."""
    imported = [
        name
        for node in ast.walk(ast.parse(shown.source))
        if isinstance(node, ast.ImportFrom)
        for name in [node.module or ""]
    ]
    assert not any(re.search(r"(^|\.)_|solvers|mechdesign\.(cli|proof|plot)", name) for name in imported)


def test_all_files_of_the_folder_are_listed_once() -> None:
    names = [shown.name for shown in ENTRIES]
    assert len(set(names)) == len(names) >= 32
    assert set(names) == {path.stem for path in FOLDER.glob("*.py")} - NOT_ENTRIES


def test_the_list_imports_neither_files_nor_matplotlib() -> None:
    code = (
        "import sys, mechdesign.papers.gallery as g; titles = [one.title for one in g.ENTRIES]; assert all(titles);"
        "assert not [m for m in sys.modules if m.startswith(('mechdesign.papers.gallery.', 'matplotlib'))]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_names_are_found_in_any_case_and_the_nearest_is_named() -> None:
    assert gallery.entry("Two-Points").name == "two_points"
    with pytest.raises(InvalidInput, match="nearest: two_points"):
        gallery.entry("two_point")
    with pytest.raises(InvalidInput, match="lists them"):
        gallery.entry("fermat's last theorem")


@pytest.mark.parametrize(
    ("tolerance", "ours", "agrees"),
    [
        (near(0.01), 1.009, True),
        (near(0.01), 1.011, False),
        (near(0.01), 0.989, False),
        (at_most(0.0), 0.5, True),
        (at_most(0.0), 1.0, True),
        (at_most(0.01), 1.009, True),
        (at_most(0.01), 1.011, False),
        (at_least(0.0), 2.0, True),
        (at_least(0.01), 0.991, True),
        (at_least(0.01), 0.989, False),
        (near(0.01), float("nan"), False),
        (at_most(0.01), float("nan"), False),
        (at_least(0.01), float("nan"), False),
    ],
)
def test_numbers_agree_on_the_side_they_are_said_to(tolerance: Tolerance, ours: float, agrees: bool) -> None:
    assert Outcome(ours, 1.0, tolerance, None).agrees is agrees
    assert Outcome(-ours, -1.0, near(tolerance.share), None).agrees is near(tolerance.share).holds(ours, 1.0)


def test_a_picture_goes_onto_axes_of_ones_own() -> None:
    axes = Figure().add_subplot()
    gallery.entry("two_points").exhibit().picture(axes)
    assert axes.get_title()
