"""The picture of estimated means."""

from __future__ import annotations

from mechdesign.plot.means import mean_intervals
from mechdesign.studies.frequencies.mean import EstimatedMean


def around(value: float, error: float) -> EstimatedMean:
    return EstimatedMean(value, error, value - 1.64 * error, value + 1.64 * error, 0.9, 100)


def test_every_estimate_has_its_interval_at_its_place() -> None:
    estimates = {"pm": around(1.0, 0.5), "$duchi": around(2.0, 0.25)}
    plain = around(1.5, 0.1)
    axes = mean_intervals(estimates, plain, "age", "Means").axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["pm", r"\$duchi"]
    drawn = [tuple(line.get_xdata()) for line in axes.lines]
    for estimate in estimates.values():
        assert (estimate.lower, estimate.upper) in drawn
        assert (estimate.value,) in drawn
    assert axes.get_xlabel() == "age"
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_an_estimate_without_an_interval_is_a_point() -> None:
    estimates = {"sw-em": EstimatedMean(0.5, None, None, None, 0.9, 100), "pm": around(1.0, 0.5)}
    figure = mean_intervals(estimates, around(1.5, 0.1), "age", "Means")
    drawn = [(tuple(line.get_xdata()), tuple(line.get_ydata())) for line in figure.axes[0].lines]
    assert ((0.5,), (0,)) in drawn
    assert [line for line in drawn if len(line[0]) == 2 and line[1] == (0, 0)] == []
    assert [text.get_text() for text in figure.legends[0].get_texts()].count("90% interval") == 1


def test_one_wide_interval_does_not_press_the_others_together() -> None:
    estimates = {name: around(1.0 + k / 10, 0.5) for k, name in enumerate(("pm", "hm", "duchi"))}
    plain = around(1.1, 0.1)
    widest = estimates["duchi"].upper - estimates["pm"].lower
    axes = mean_intervals(estimates | {"ogpm": around(40.0, 30.0)}, plain, "age", "Means").axes[0]
    low, high = axes.get_xlim()
    assert low < estimates["pm"].lower
    assert estimates["duchi"].upper < high
    assert high - low < 1.2 * widest
    (text,) = axes.texts
    assert text.get_text().startswith("40 [")
    marks = [line.get_marker() for line in axes.lines if line.get_marker() in ("<", ">")]
    assert sorted(marks) == ["<", ">"]
