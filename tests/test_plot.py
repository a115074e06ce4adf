"""Pictures show the numbers they are about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Finite, Interval, InvalidInput, Power, catalogue, plot
from mechdesign.mechanisms.window import Window
from mechdesign.methods.registry import solve
from mechdesign.words.priors import Atoms
from tests.methods.problems import numbers

UNIT = Interval(0, 1)
ABSOLUTE = Power(1.0)
TWO = Window(1.0, UNIT, np.array([0.25, 0.75]), np.array([0.27, 0.27]), 2.5)
MANY = Window(1.0, UNIT, np.linspace(0, 1, 101), np.full(101, 0.5 / 101), 2.5)


def line(axes, label):
    return next(drawn for drawn in axes.get_lines() if drawn.get_label() == label)


def test_the_error_over_the_inputs_is_the_mechanism_s_own() -> None:
    figure = plot.window_law(TWO, ABSOLUTE, level=plot.Line(0.4, "certified optimum"))
    axes = next(axes for axes in figure.axes if axes.get_title() == "Error over the inputs")
    drawn = line(axes, "error at x")
    assert drawn.get_ydata() == pytest.approx(TWO.expected_loss(drawn.get_xdata(), ABSOLUTE))
    assert set(line(axes, "certified optimum").get_ydata()) == {0.4}


def test_few_outputs_are_stems_at_their_places() -> None:
    figure = plot.window_law(TWO, ABSOLUTE)
    axes = figure.axes[0]
    assert "2 outputs" in axes.get_title()
    assert axes.get_lines()[0].get_xdata().tolist() == [0.25, 0.75]
    assert axes.get_lines()[0].get_ydata().tolist() == [0.27, 0.27]


def test_many_outputs_are_steps_that_hold_all_the_mass() -> None:
    axes = plot.window_law(MANY, ABSOLUTE).axes[0]
    steps = axes.patches[0].get_data().values
    assert steps.sum() == pytest.approx(0.5)


def test_the_prior_is_drawn_only_where_there_is_one() -> None:
    with_prior = plot.window_law(TWO, ABSOLUTE, Atoms(np.array([0.0, 1.0]), np.array([0.5, 0.5])))
    assert [axes.get_title() for axes in with_prior.axes if axes.get_visible()][2] == "Least-favourable prior: 2 atoms"
    assert sum(axes.get_visible() for axes in plot.window_law(TWO, ABSOLUTE).axes) == 3


def slices(counts: list[int]) -> list[plot.Slice]:
    prior = Atoms(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    return [
        plot.Slice(float(k), Atoms(np.linspace(0.1, 0.9, count), np.full(count, 1 / count)), prior)
        for k, count in enumerate(counts, start=1)
    ]


def test_the_structure_of_few_outputs_has_markers_with_areas_of_the_shares() -> None:
    figure = plot.structure(slices([2, 4]), "structure")
    marks = figure.axes[0].collections
    assert [mark.get_offsets().tolist()[0] for mark in marks] == [[1.0, 0.1], [2.0, 0.1]]
    assert marks[0].get_sizes()[0] == pytest.approx(2 * marks[1].get_sizes()[0])


def test_the_structure_of_many_outputs_is_a_heat_map_of_all_the_mass() -> None:
    figure = plot.structure(slices([2, 400]), "structure")
    cells = figure.axes[0].collections[0].get_array()
    assert np.asarray(cells.filled(0.0)).reshape(120, 2).sum(axis=0) == pytest.approx([1.0, 1.0])


def test_the_structure_without_priors_has_one_panel() -> None:
    bare = [plot.Slice(cut.epsilon, cut.outputs, None) for cut in slices([2, 3])]
    assert len(plot.structure(bare, "structure").axes) == 1


def test_a_leaderboard_says_how_far_each_is_above_the_optimum() -> None:
    figure = plot.comparison([1.0], {"a": [0.4], "b": [0.2]}, {"a": TWO, "b": TWO}, ABSOLUTE, 1.0, [(0.2, 0.2)])
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["+100.0%", "+0.0%"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a", "b"]


def test_a_wide_interval_is_not_called_the_optimum() -> None:
    figure = plot.comparison([1.0], {"a": [0.4]}, {"a": TWO}, ABSOLUTE, 1.0, [(0.1, 0.3)])
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert labels == ["best known", "where the optimum is"]
    assert figure.axes[0].texts[0].get_text() == "≥ +33.3%"


def test_a_sweep_draws_the_upper_ends_and_the_excess() -> None:
    figure = plot.sweep([1.0, 2.0], [(0.3, 0.3), (0.2, 0.2)], {"a": [0.6, 0.3]}, "error", "title")
    left, right = figure.axes
    assert line(left, "certified optimum").get_ydata() == pytest.approx([0.3, 0.2])
    assert left.get_yscale() == "log"
    assert line(right, "a").get_ydata() == pytest.approx([100.0, 50.0])


def test_the_field_never_wears_the_colour_of_the_optimum() -> None:
    field = {str(k): [0.6 + k, 0.3 + k] for k in range(8)}
    left = plot.sweep([1.0, 2.0], [(0.3, 0.3), (0.2, 0.2)], field, "error", "title").axes[0]
    looks = {(drawn.get_color(), drawn.get_linestyle()) for drawn in left.get_lines()}
    black = [drawn for drawn in left.get_lines() if drawn.get_color() == "#000000"]
    assert len(looks) == 9
    assert [drawn.get_label() for drawn in black] == ["certified optimum"]


def test_a_table_is_drawn_with_rows_that_sum_to_one() -> None:
    mechanism = catalogue.randomised_response(1.0, Finite((0, 1, 2)))
    axes = plot.probability_table(mechanism).axes[0]
    assert np.asarray(axes.images[0].get_array()).sum(axis=1) == pytest.approx([1.0, 1.0, 1.0])
    assert len(axes.texts) == 9


def test_the_trade_off_shows_the_curve_and_rivals_within_sight() -> None:
    field = {"near": (0.3, 0.2), "far": (9.0, 9.0)}
    axes = plot.pareto([(0.2, 0.19), (0.25, 0.15)], field, ABSOLUTE, "title").axes[0]
    assert line(axes, "certified trade-off").get_xdata() == pytest.approx([0.2, 0.25])
    assert axes.get_legend_handles_labels()[1] == ["certified trade-off", "near"]


def test_a_certified_optimum_s_error_never_passes_its_upper_end() -> None:
    design = solve(numbers(1.0, Power(2.0)))
    figure = plot.window_law(design.mechanism, Power(2.0))
    errors = line(figure.axes[-1], "error at x").get_ydata()
    assert max(errors) <= design.certificate.upper * (1 + 1e-12)


def test_dollars_and_control_characters_in_labels_are_drawn_as_they_are(tmp_path: Path) -> None:
    mechanism = catalogue.randomised_response(1.0, Finite((0, 1, 2)))
    names = ["$x_{", "a\x1b[31m$b$", "n" * 60]
    figure = plot.probability_table(mechanism, (names, names))
    plot.save(figure, tmp_path / "labels.svg")
    shown = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert shown == [r"\$x_{", r"a?[31m\$b\$", "n" * 15 + "…"]


def test_a_large_table_wears_the_names_of_its_outputs(tmp_path: Path) -> None:
    mechanism = catalogue.randomised_response(1.0, Finite(tuple(range(100, 140))))
    axes = plot.probability_table(mechanism).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()][:3] == ["100", "104", "108"]
    assert axes.get_xticks().tolist()[:3] == [0, 4, 8]


def test_the_atoms_of_a_prior_are_drawn_one_by_one() -> None:
    prior = Atoms(np.linspace(0, 1, 197), np.full(197, 1 / 197))
    stems = plot.window_law(TWO, ABSOLUTE, prior, "prior").axes[2].collections[0]
    assert len(stems.get_segments()) == 197


def test_without_a_prior_there_is_no_empty_panel_and_the_criterion_is_named() -> None:
    figure = plot.window_law(TWO, ABSOLUTE, criterion="worst case")
    assert len(figure.axes) == 3
    assert figure.get_suptitle().endswith(": worst case")


def test_the_optimum_at_a_single_epsilon_is_a_marker() -> None:
    left, right = plot.sweep([1.0], [(0.3, 0.3)], {"a": [0.6]}, "error", "title", "this design").axes
    assert right.get_ylabel() == "above this design (%)"
    assert line(left, "this design").get_marker() == "o"


def test_the_trade_off_says_how_many_rivals_are_in_sight() -> None:
    axes = plot.pareto([(0.2, 0.19)], {"near": (0.3, 0.2), "far": (9.0, 9.0)}, ABSOLUTE, "title").axes[0]
    assert "1 of 2 published mechanisms in sight" in axes.get_title()


@given(ratio=st.floats(1.0, 1e6))
def test_at_least_is_never_more(ratio: float) -> None:
    text = plot.above(ratio, 1.0, at_least=True)
    said = float(text[:-2]) if text.endswith("x") else 1 + float(text[:-1]) / 100
    assert said <= ratio * (1 + 1e-12)
    assert said >= ratio * 0.989 - 0.001


def test_densities_are_refused_for_finite_inputs() -> None:
    with pytest.raises(InvalidInput, match="continuous domain"):
        plot.densities(catalogue.randomised_response(1.0, Finite((0, 1))))


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_pictures_are_saved_in_the_format_of_their_name(ending: str, tmp_path: Path) -> None:
    path = plot.save(plot.window_law(TWO, ABSOLUTE), tmp_path / f"p.{ending}")
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[ending]
    assert path.read_bytes().startswith(start)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\.png, \.pdf, \.svg"):
        plot.require_plot_format("picture.gif")


def test_measured_errors_are_lines_over_epsilon_with_their_intervals() -> None:
    lines = {
        "oue": [plot.Measured(1.0, 0.4, (0.3, 0.5)), plot.Measured(2.0, 0.2, (-0.1, 0.3))],
        "grr": [plot.Measured(1.0, 0.9), plot.Measured(2.0, 0.1)],
    }
    axes = plot.measured_over_epsilon(lines, "error", "title").axes[0]
    assert axes.get_yscale() == "log"
    assert line(axes, "oue").get_xydata().tolist() == [[1.0, 0.4], [2.0, 0.2]]
    first, second = (bar[:, 1].tolist() for bar in axes.collections[0].get_segments())
    assert first == [0.3, 0.5]
    assert second == pytest.approx([0.1 / 3, 0.3])
    falling = {"oue": [plot.Measured(1.0, -0.2), plot.Measured(2.0, 0.4)]}
    assert plot.measured_over_epsilon(falling, "tau", "title").axes[0].get_yscale() == "linear"
