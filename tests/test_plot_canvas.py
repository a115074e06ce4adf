"""Lines of one picture can be told apart: by colour, dashes and marker, by people with colour blindness, and where
they run together."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import Interval, InvalidInput, Power, catalogue, plot
from mechdesign.plot import canvas
from tests.methods import problems

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
CONFUSED = {
    "none": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, eyes: str) -> np.ndarray:
    """CIE L*a*b* of a colour as such eyes see it."""
    coded = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    shares = TO_XYZ @ np.clip(CONFUSED[eyes] @ linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    x, y, z = np.where(shares > 0.008856, np.cbrt(shares), 7.787 * shares + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", CONFUSED)
def test_colours_of_lines_are_told_apart_by_all_eyes(eyes: str) -> None:
    """A difference of 2.3 is just noticeable; black is the optimum's, white the page."""
    for one, other in itertools.combinations([*canvas.COLOURS, canvas.BLACK, "#FFFFFF"], 2):
        assert np.linalg.norm(lab(one, eyes) - lab(other, eyes)) > 15, (one, other)


def axes():
    return canvas.empty_figure(6, 4).subplots()


def looks(drawn) -> list[tuple[object, ...]]:
    return [(line.get_color(), line._dash_pattern, line.get_marker()) for line in drawn.lines]


@given(count=st.integers(1, 60), alike=st.booleans())
def test_no_two_lines_share_colour_dashes_and_marker(count: int, alike: bool) -> None:
    drawn = axes()
    places = np.linspace(0, 1, 5)
    canvas.draw_lines(drawn, {str(k): (places, places + (0 if alike else k)) for k in range(count)})
    seen = [(colour, str(dashes), marker) for colour, dashes, marker in looks(drawn)]
    assert len(set(seen)) == count


def test_eight_lines_have_eight_colours() -> None:
    assert len({canvas.line_style(k)["color"] for k in range(8)}) == 8


def covered(lines, length: float) -> np.ndarray:
    """At each of many places along a path, how many of the lines have a dash there."""
    along = np.linspace(0, length, 4000, endpoint=False)
    counts = np.zeros(along.size, dtype=int)
    for line in lines:
        offset, (on, off) = line._unscaled_dash_pattern
        counts += (along + offset) % (on + off) < on
    return counts


@pytest.mark.parametrize("count", [2, 3, 5])
def test_lines_that_run_together_take_turns(count: int) -> None:
    """Everywhere along them exactly one is seen, and each somewhere."""
    drawn = axes()
    places = np.linspace(0, 1, 50)
    canvas.draw_lines(
        drawn, {str(k): (places, 1 + places + 1e-9 * k) for k in range(count)} | {"other": (places, 3 * places)}
    )
    together = drawn.lines[:count]
    assert (covered(together, 3.0 * count * 7) == 1).all()
    assert drawn.lines[count].get_linestyle() == "-"
    starts = [line.get_markevery()[0] for line in drawn.lines]
    assert len(set(starts)) == count + 1


def test_lines_that_only_cross_stay_whole() -> None:
    drawn = axes()
    places = np.linspace(0, 1, 50)
    canvas.draw_lines(drawn, {"up": (places, places), "down": (places, 1 - places)})
    assert [line.get_linestyle() for line in drawn.lines] == ["-", "-"]


def test_few_places_of_lines_that_run_together_are_marked_in_turn() -> None:
    drawn = axes()
    canvas.draw_lines(drawn, {name: ([1, 2, 3, 4], [4, 3, 2, 1]) for name in "ab"})
    assert [line.get_markevery() for line in drawn.lines] == [(0, 2), (1, 2)]
    drawn = axes()
    canvas.draw_lines(drawn, {name: ([1], [4]) for name in "ab"})
    sizes = [line.get_markersize() for line in drawn.lines]
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("epsilons", [[1.0], [0.5, 1.0, 2.0]])
def test_a_comparison_of_the_whole_catalogue_has_no_two_lines_alike(epsilons: list[float]) -> None:
    """PM-C, OGPM and the optimal piecewise mechanism have one worst case: all of them are seen."""
    field = {
        entry.key: [catalogue.build(entry.key, epsilon, Interval(0, 1), Power(1.0)) for epsilon in epsilons]
        for entry in catalogue.ON_INTERVALS
    }
    worst = {name: [float(law.worst_case(Power(1.0))[0]) for law in laws] for name, laws in field.items()}
    middle = len(epsilons) // 2
    shown = {name: laws[middle] for name, laws in field.items()}
    floor = [(0.3, 0.3)] * len(epsilons)
    for panel in plot.comparison(epsilons, worst, shown, Power(1.0), epsilons[middle], floor).axes:
        seen = [(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in panel.lines]
        assert len(set(seen)) == len(seen)


def test_a_title_of_one_s_own_stands_where_the_figure_s_was(tmp_path: Path) -> None:
    for figure, place in (
        (plot.errors_over_inputs({"ogpm": catalogue.ogpm(1.0)}, Power(1.0)), "axes"),
        (plot.densities(catalogue.ogpm(1.0)), "figure"),
    ):
        plot.save(figure, tmp_path / f"{place}.png", title="It costs $5", size=(7.0, 4.0))
        titles = {"axes": figure.axes[0].get_title(), "figure": figure.get_suptitle()}
        assert titles[place] == r"It costs \$5"
        assert figure.get_size_inches().tolist() == [7.0, 4.0]


@pytest.mark.parametrize("title", ["", "   ", "a\x1b[31m", "two\nlines", "x" * 201])
def test_titles_that_cannot_be_drawn_are_refused(title: str) -> None:
    with pytest.raises(InvalidInput, match="title must be 1 to 200 letters without control characters"):
        plot.require_title(title)


@pytest.mark.parametrize("size", [(0.5, 4.0), (4.0, 61.0), (float("nan"), 4.0), (-3.0, 4.0)])
def test_sizes_that_cannot_be_drawn_are_refused(size: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="from 1 to 60 inches"):
        plot.require_size(*size)


def test_titles_of_panels_do_not_meet_at_a_size_of_ones_own(tmp_path: Path) -> None:
    figure = canvas.empty_figure(14.0, 5.0)
    for axes in figure.subplots(1, 2):
        axes.set_title("What this panel is about, at length, with a number such as 0.474")
    plot.save(figure, tmp_path / "two.png", size=(7.0, 4.0))
    figure.draw_without_rendering()
    first, second = (axes.title.get_window_extent() for axes in figure.axes)
    assert first.x1 < second.x0
    assert first.x0 >= 0
    assert second.x1 <= figure.bbox.width


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["plot.save", "savefig"])
def test_letters_in_files_are_letters_that_publishers_take(tmp_path: Path, way: str) -> None:
    """No Type 3 font in PDF and PostScript, and text in SVG, whatever the reader's own settings are."""
    import matplotlib as mpl

    before = {name: mpl.rcParams[name] for name in ("pdf.fonttype", "ps.fonttype", "svg.fonttype")}
    design = md.solve(problems.piecewise(1.0))
    for suffix in ("pdf", "svg"):
        target = tmp_path / f"{way}.{suffix}"
        plot.save(design.plot(), target) if way == "plot.save" else design.plot().savefig(target)
    shown = (tmp_path / f"{way}.pdf").read_bytes()
    assert b"/Type3" not in shown
    assert b"/TrueType" in shown or b"/CIDFontType2" in shown
    assert "<text" in (tmp_path / f"{way}.svg").read_text(encoding="utf-8")
    if way == "savefig":
        design.plot().savefig(tmp_path / "page.eps")
        assert "/FontType 42" in (tmp_path / "page.eps").read_text(encoding="latin-1")
    assert before == {name: mpl.rcParams[name] for name in before}
