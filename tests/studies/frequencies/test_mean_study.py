"""Section 7.2's experiment: reproducible across workers, exact where it can be, and its verdicts."""

import csv
import math

import numpy as np
import pytest

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies.mean_study import (
    DRAWS,
    MeanStudy,
    Ordering,
    StudyRow,
    run_study,
    save_rows,
    verdicts,
)

SMALL = MeanStudy(("gaussian", "bernoulli"), (200,), (1.0, 4.0), ("aaa-paper", "aaa", "pm", "duchi", "sw-em"), trials=3)


def test_data_are_the_papers_moved_to_the_unit():
    rng = np.random.default_rng(0)
    for law, mean in (("gaussian", 0.0), ("exponential", 2 * (1 - math.exp(-5)) / 5 - 1), ("bernoulli", 0.0)):
        values = DRAWS[law](rng, 100_000)
        assert values.min() >= -1
        assert values.max() <= 1
        assert abs(values.mean() - mean) < 6 * values.std() / math.sqrt(values.size)
    assert set(DRAWS["bernoulli"](rng, 100).tolist()) == {-1.0, 1.0}


@pytest.mark.slow
def test_rows_do_not_depend_on_the_number_of_workers():
    alone = run_study(SMALL)
    assert run_study(SMALL, workers=2) == alone
    assert run_study(SMALL, workers=3) == alone


def test_every_cell_has_a_row_for_each_method():
    rows = run_study(SMALL)
    assert len(rows) == 2 * 2 * 5
    for row in rows:
        assert row.trials == 3
        assert 0 < row.mean_absolute_error <= row.rmse
        assert (row.expected is None) == (row.coverage is None) == (row.method == "sw-em")
        assert row.coverage is None or 0 <= row.coverage <= 1
        assert row.best_known == (row.rmse if row.expected is None else row.expected)


def test_expected_errors_are_the_closed_form_s():
    rows = run_study(MeanStudy(("bernoulli",), (400,), (1.0,), ("duchi",), trials=2))
    assert rows[0].expected == pytest.approx(math.sqrt((((math.e + 1) / (math.e - 1)) ** 2 - 1) / 400), rel=1e-9)


def row(method, expected, rmse=1.0, eps=1.0):
    return StudyRow("gaussian", 10, eps, method, 5, rmse, rmse, expected, 1.0)


def test_verdicts_compare_with_the_best_rival():
    rows = [row("aaa-paper", 1.0), row("aaa", 0.1), row("pm", 1.25), row("hm", 2.0), row("sw-em", None, 0.5)]
    assert verdicts(rows) == [Ordering("gaussian", 10, 1.0, "sw-em", 2.0)]
    assert verdicts(rows, rivals=["pm", "hm"]) == [Ordering("gaussian", 10, 1.0, "pm", 0.8)]
    assert verdicts(rows, rivals=["pm"])[0].holds
    assert not verdicts(rows)[0].holds


def test_verdicts_without_the_method_or_a_rival_are_refused():
    for rows in ([row("pm", 1.0)], [row("aaa-paper", 1.0), row("aaa", 1.0)]):
        with pytest.raises(InvalidInput, match="rival"):
            verdicts(rows)


def test_rows_are_saved_as_csv(tmp_path):
    path = save_rows([row("pm", 1.5), row("sw-em", None)], tmp_path / "rows.csv")
    with path.open() as stream:
        found = list(csv.DictReader(stream))
    assert [line["method"] for line in found] == ["pm", "sw-em"]
    assert [line["expected"] for line in found] == ["1.5", ""]
    with pytest.raises(FileProblem, match="not exist"):
        save_rows([], path)


@pytest.mark.parametrize(
    "changed",
    [
        {"laws": ("cauchy",)},
        {"laws": ()},
        {"methods": ("gauss",)},
        {"methods": ()},
        {"users": (0,)},
        {"users": ()},
        {"users": (10.5,)},
        {"epsilons": ()},
        {"epsilons": (-1.0,)},
        {"trials": 0},
        {"trials": True},
        {"seed": -1},
        {"seed": 0.5},
    ],
    ids=str,
)
def test_studies_that_cannot_be_are_refused(changed):
    with pytest.raises(InvalidInput):
        MeanStudy(**changed)


def test_cells_too_small_for_the_split_are_refused_before_anything_runs():
    with pytest.raises(InvalidInput, match="users for each group"):
        run_study(MeanStudy(users=(10**7, 5)), workers=2)


@pytest.mark.parametrize("workers", [0, 1.5, True, None])
def test_numbers_of_workers_that_are_none_are_refused(workers):
    with pytest.raises(InvalidInput, match="workers"):
        run_study(SMALL, workers)
