"""Pictures of claims: what is printed lies under our lines, and is named."""

from __future__ import annotations

from matplotlib.figure import Figure

from mechdesign.papers.claims.drawing import curves


def test_printed_points_are_drawn_first_and_named() -> None:
    axes = Figure().add_subplot()
    ours = {"ours": ((0.0, 1.0), (1.0, 2.0))}
    curves("Errors", "eps", "error", lambda: ours, printed=((0.5, 1.6),), ylim=(0, 3))(axes)
    points, line = axes.get_lines()
    assert (points.get_label(), line.get_label()) == ("printed", "ours")
    assert [tuple(point) for point in points.get_xydata()] == [(0.5, 1.6)]
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"printed", "ours"}
    assert axes.get_ylim() == (0, 3)


def test_a_single_line_without_printed_points_has_no_legend() -> None:
    axes = Figure().add_subplot()
    curves("Errors", "eps", "error", lambda: {"ours": ((0.0, 1.0), (1.0, 2.0))})(axes)
    assert axes.get_legend() is None
