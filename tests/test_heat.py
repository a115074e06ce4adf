"""Heat maps show the numbers they are about, and frame the best one."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign import plot

VALUES = {("a", "x"): 3.0, ("a", "y"): 1.0, ("b", "x"): 2.0}


def figure(count: int = 1, **options: bool):
    panels = [plot.HeatMap(f"eps = {k}", VALUES) for k in range(count)]
    return plot.heat_maps(panels, ["a", "b"], ["x", "y"], "error", "title", **options)


def test_every_cell_shows_its_number_and_missing_ones_a_dash() -> None:
    axes = figure().axes[0]
    assert [text.get_text() for text in axes.texts] == ["3", "1", "2", "-"]
    shown = np.ma.filled(axes.images[0].get_array(), np.nan)
    assert shown == pytest.approx(np.array([[3.0, 1.0], [2.0, np.nan]]), nan_ok=True)


@pytest.mark.parametrize(("more_is_better", "corner"), [(False, (0.5, -0.5)), (True, (-0.5, -0.5))])
def test_the_best_cell_is_framed(more_is_better: bool, corner: tuple[float, float]) -> None:
    frame = figure(more_is_better=more_is_better).axes[0].patches[0]
    assert frame.get_xy() == corner


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_panels_share_one_scale(count: int) -> None:
    drawn = figure(count)
    panels = [axes for axes in drawn.axes if axes.images]
    assert [axes.get_title() for axes in panels] == [f"eps = {k}" for k in range(count)]
    assert {(axes.images[0].norm.vmin, axes.images[0].norm.vmax) for axes in panels} == {(1.0, 3.0)}


def test_wide_ranges_are_coloured_by_their_logarithm() -> None:
    panel = plot.HeatMap("", {("a", "x"): 1e-4, ("b", "x"): 1.0})
    norm = plot.heat_maps([panel], ["a", "b"], ["x"], "error", "title").axes[0].images[0].norm
    assert norm(1e-2) == pytest.approx(0.5)


def test_equal_and_missing_numbers_can_be_drawn(tmp_path) -> None:
    for values in ({("a", "x"): 0.0, ("a", "y"): 0.0}, {}):
        drawn = plot.heat_maps([plot.HeatMap("$", values)], ["a"], ["x", "y"], "error", "t")
        assert plot.save(drawn, tmp_path / "map.png", overwrite=True).stat().st_size > 5000


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("columns", [1, 2, 9])
def test_titles_and_the_frame_are_inside_the_picture(columns: int, count: int) -> None:
    """Drawn, and measured in pixels: also of a map with one column and one row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    names = [f"column {k}" for k in range(columns)]
    panels = [plot.HeatMap(f"eps = {k}", {("a", name): 1.0 for name in names}) for k in range(count)]
    title = "Sum of absolute errors of 1,024 frequencies, 1,000,000 users"
    drawn = plot.heat_maps(panels, ["a"], names, "l1", title)
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    renderer, page = canvas.get_renderer(), drawn.bbox
    parts = [drawn._suptitle, *(axes.title for axes in drawn.axes), drawn.axes[0].patches[0]]
    for box in (part.get_window_extent(renderer) for part in parts):
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    assert not drawn.axes[0].patches[0].get_clip_on()
    assert drawn._suptitle.get_text().replace("\n", " ") == title
