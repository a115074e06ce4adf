"""The picture of estimated means."""

from __future__ import annotations

from mechdesign.collect.mean import interval
from mechdesign.plot.means import mean_intervals


def test_every_estimate_has_its_interval_at_its_place() -> None:
    estimates = {"pm": interval(1.0, 0.5, 100, 0.9), "$duchi": interval(2.0, 0.25, 100, 0.9)}
    plain = interval(1.5, 0.1, 100, 0.9)
    axes = mean_intervals(estimates, plain, "age", "Means").axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["pm", r"\$duchi"]
    drawn = [tuple(line.get_xdata()) for line in axes.lines]
    for estimate in estimates.values():
        assert (estimate.lower, estimate.upper) in drawn
        assert (estimate.value,) in drawn
    assert axes.get_xlabel() == "age"
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
