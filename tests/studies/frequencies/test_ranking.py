"""Columns of a bench: means with and without post-processing, who wins, what is gained."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.studies.frequencies import bench, metrics
from mechdesign.studies.frequencies.datasets import Dataset
from mechdesign.studies.frequencies.ranking import Row, compared, ranking, utility_gain

MEASURED = {
    ("oue", "raw"): [0.4, 0.4],
    ("oue", "norm-mul"): [0.2, 0.4],
    ("oue", "norm-sub"): [0.1, 0.5],
    ("oue", "ibu"): [0.3, 0.1],
    ("grr", "raw"): [0.9, 0.9],
    ("grr", "norm-mul"): [0.8, 0.8],
    ("grr", "norm-sub"): [0.8, 0.6],
}


def rows(metric: str = "l1") -> list[Row]:
    return [
        Row(protocol, method, 1.0, run, {metric: value})
        for (protocol, method), values in MEASURED.items()
        for run, value in enumerate(values)
    ]


def test_the_average_with_is_over_all_methods_but_raw() -> None:
    effects = {one.protocol: one for one in compared(rows(), metrics.metric("l1"), 4, 100, 2).effects}
    assert effects["oue"].without == pytest.approx(0.4)
    assert effects["oue"].average_with == pytest.approx((0.3 + 0.3 + 0.2) / 3)
    assert effects["oue"].best == "ibu"
    assert (effects["grr"].without, effects["grr"].best) == (pytest.approx(0.9), "norm-sub")


def test_win_rates_are_shares_of_runs_within_a_protocol_and_ties_are_shared() -> None:
    found = {(rank.protocol, rank.method): rank.win_rate for rank in ranking(rows(), "l1", 4)}
    assert found["oue", "norm-sub"] == found["oue", "ibu"] == 0.5
    assert found["oue", "norm-mul"] == 0
    assert (found["grr", "norm-mul"], found["grr", "norm-sub"]) == (0.25, 0.75)  # the first run is a tie
    assert found["oue", "raw"] is found["grr", "raw"] is None


def test_where_more_is_better_the_largest_wins_and_nothing_is_gained() -> None:
    found = {(rank.protocol, rank.method): rank for rank in ranking(rows("kendall"), "kendall", 4)}
    assert found["grr", "norm-mul"].win_rate == 0.75
    assert all(rank.gain is None for rank in found.values())


def test_the_gain_is_that_of_equation_1_over_the_inverted_estimate() -> None:
    found = {(rank.protocol, rank.method): rank.gain for rank in ranking(rows(), "l1", 4)}
    assert found["oue", "ibu"] == pytest.approx(100 * (0.3 - 0.2) / 0.3)
    assert found["oue", "raw"] == 0  # worse, which the paper prints as no gain
    assert found["oue", "norm-mul"] is None
    assert utility_gain(0.3, 0.2) == pytest.approx(100 / 3)


def test_one_post_processing_alone_has_no_rival_and_no_table_of_effects() -> None:
    found = compared([row for row in rows() if row.method in ("raw", "ibu")], metrics.metric("l1"), 4, 100, 2)
    assert all(rank.win_rate is None for rank in found.ranks)
    (only,) = found.grids()
    assert only.headings == ("rank", "protocol", "post-processing", "l1", "95% interval")


def test_runs_that_not_all_methods_have_finished_decide_no_winner() -> None:
    some = [row for row in rows() if (row.method, row.run) != ("ibu", 1)]
    found = {(rank.protocol, rank.method): rank.win_rate for rank in ranking(some, "l1", 4)}
    assert (found["oue", "norm-sub"], found["oue", "ibu"]) == (1, 0)


def test_a_bench_in_one_call_is_a_table_in_a_notebook() -> None:
    data = Dataset(tuple("abc"), np.array([60, 30, 10]))
    plan = bench.BenchPlan(("grr",), ("raw", "norm-mul", "ibu"), (1.0,), 2, ("l1", "mse"))
    found = bench.bench(plan, data)
    assert list(found) == ["l1", "mse"]
    shown = found["mse"]._repr_html_()
    assert all(word in shown for word in ("win rate", "gain over norm-mul", "average with", "without"))
    assert found["l1"].ranks == tuple(bench.ranking(bench.run(plan, data), "l1", 3))
