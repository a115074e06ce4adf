"""What the pictures of budgets show."""

from __future__ import annotations

from mechdesign import plot


def test_lines_and_brackets_are_drawn_where_they_belong():
    panels = [
        plot.BudgetPanel("grr", {"bs": [(0.1, 1.0), (0.5, 2.0)]}, [(0.1, 0.8, 1.2)]),
        plot.BudgetPanel("oue", {"bs": [(0.1, 0.5)], "rbs": [(0.1, 0.6)]}),
        plot.BudgetPanel("ss", {}),
    ]
    figure = plot.budgets(panels, "threshold", "title")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == ["grr", "oue", "ss"]
    assert shown[0].lines[0].get_xydata().tolist() == [[0.1, 1.0], [0.5, 2.0]]
    assert len(shown[1].lines) == 2
    (bar,) = shown[0].containers[0].lines[2]
    assert bar.get_segments()[0].tolist() == [[0.1, 0.8], [0.1, 1.2]]


def test_the_selected_epsilon_is_marked_in_both_halves():
    curve = plot.Curve([0.1, 1.0], [0.2, 0.8], [0.1, 0.7], [0.3, 0.9], [0.05, 0.1])
    figure = plot.trade_off(curve, "kendall", 0.5, (0.4, 0.5), "title")
    for axes in figure.axes:
        assert any(list(line.get_xdata()) == [0.5, 0.5] for line in axes.lines)
    assert list(figure.axes[1].lines[0].get_ydata()) == [5.0, 10.0]


def test_lines_of_different_names_have_a_legend_each():
    same = [plot.BudgetPanel(title, {"a": [(0.1, 1.0)]}) for title in ("one", "two")]
    apart = [plot.BudgetPanel(name, {name: [(0.1, 1.0)]}) for name in ("a", "b")]
    assert sum(axes.get_legend() is not None for axes in plot.budgets(same, "t", "").axes) == 1
    legends = [axes.get_legend() for axes in plot.budgets(apart, "t", "").axes]
    assert [legend.get_texts()[0].get_text() for legend in legends] == ["a", "b"]


ROWS = [
    plot.Selection("oue", "certified", 0.25, (0.24, 0.25)),
    plot.Selection("oue", "bs", 0.26),
    plot.Selection("grr", "certified", None),
]


def test_one_threshold_is_a_row_a_selection_with_its_bracket_as_a_bar():
    figure = plot.selections(ROWS, "title")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["oue, certified", "oue, bs", "grr, certified"]
    drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
    assert ([0.24, 0.25], [0, 0]) in drawn
    assert ([0.25], [0]) in drawn
    assert ([0.26], [1]) in drawn
    assert [text.get_text() for text in axes.texts] == ["0.24 to 0.25", "0.26", "none in range"]
    assert axes.get_xlabel() == "selected privacy parameter ε"
    low, high = axes.get_xlim()
    assert low < 0.24 < 0.26 < high
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_selections_without_any_answer_can_be_drawn(tmp_path):
    figure = plot.selections([plot.Selection("grr", "bs", None)], "title")
    assert plot.save(figure, tmp_path / "none.png").stat().st_size > 2000
