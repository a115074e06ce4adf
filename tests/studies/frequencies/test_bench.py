"""The benchmark runner: the same numbers however they are computed, and never a doubtful results file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from mechdesign import Finite, catalogue
from mechdesign.engine import Local
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.intervals import interval_of_runs
from mechdesign.methods.result import versions
from mechdesign.studies.frequencies import bench, estimators, metrics
from mechdesign.studies.frequencies.bench import BenchCell, BenchPlan, Row, ranking
from mechdesign.studies.frequencies.datasets import Dataset
from mechdesign.studies.frequencies.protocols import designed, protocol

COUNTS = np.array([5000, 2500, 1200, 800, 400, 100, 0])
DATA = Dataset(tuple("abcdefg"), COUNTS)
PLAN = BenchPlan(("grr", "oue"), ("raw", "norm-sub", "ibu"), (0.5, 2.0), 3, ("mae", "kendall"), seed=5)


class Backwards:
    """An engine that finishes last batches first, one cell at a time, and stops where told."""

    def __init__(self, most: int | None = None) -> None:
        self.most, self.cells = most, 0

    def __call__(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for position in reversed(range(len(batches))):
            if self.most is not None and self.cells >= self.most:
                raise KeyboardInterrupt
            self.cells += len(batches[position])
            yield position, [row for cell in batches[position] for row in work([cell])]


def test_rows_come_in_the_order_of_the_plan() -> None:
    rows = bench.run(PLAN, DATA)
    assert [(row.epsilon, row.protocol, row.run, row.method) for row in rows] == [
        (epsilon, name, run, method)
        for epsilon in PLAN.epsilons
        for name in PLAN.protocols
        for run in range(3)
        for method in PLAN.methods
    ]


def test_neither_order_nor_batches_nor_company_change_a_number() -> None:
    rows = bench.run(PLAN, DATA)
    assert bench.run(PLAN, DATA, Backwards()) == rows
    alone = BenchPlan(("oue",), ("ibu",), (2.0,), 2, ("mae", "kendall"), seed=5)
    assert bench.run(alone, DATA) == [
        row for row in rows if (row.protocol, row.method, row.epsilon) == ("oue", "ibu", 2.0) and row.run < 2
    ]


@pytest.mark.slow
def test_one_two_and_seven_workers_give_the_same() -> None:
    rows = bench.run(PLAN, DATA)
    assert bench.run(PLAN, DATA, Local(2)) == rows
    assert bench.run(PLAN, DATA, Local(7)) == rows


def test_another_seed_gives_other_numbers() -> None:
    other = BenchPlan(PLAN.protocols, PLAN.methods, PLAN.epsilons, 3, PLAN.metrics, seed=6)
    assert all(a.values != b.values for a, b in zip(bench.run(PLAN, DATA), bench.run(other, DATA), strict=True))


def test_cells_draw_independently() -> None:
    draws = {
        BenchCell(name, eps, run).generator(0).integers(2**62) for name in "ab" for eps in (1.0, 2.0) for run in (0, 1)
    }
    assert len(draws) == 8


def test_a_row_is_what_its_generator_makes_of_the_data() -> None:
    """The whole pipeline by hand, for one cell."""
    law, n = protocol("oue", 2.0, 7), int(COUNTS.sum())
    support = law.simulate(COUNTS, BenchCell("oue", 2.0, 1).generator(5))
    found = estimators.ibu(support, law.p, law.q).frequencies
    row = next(r for r in bench.run(PLAN, DATA) if (r.protocol, r.epsilon, r.run, r.method) == ("oue", 2.0, 1, "ibu"))
    assert row.values["mae"] == metrics.mae(COUNTS / n, found)
    assert row.values["kendall"] == metrics.kendall(COUNTS / n, found)


def test_mean_squared_errors_are_the_protocols_own_variances() -> None:
    """Raw estimates over 400 runs; the mean of squared errors is within 6 of its own standard errors (rate 2e-9)."""
    plan = BenchPlan(("grr", "sue", "olh", "ss", "she"), ("raw",), (1.0,), 400, ("mse",))
    rows = bench.run(plan, DATA)
    for name in plan.protocols:
        errors = np.array([row.values["mse"] for row in rows if row.protocol == name])
        expected = float(np.mean(protocol(name, 1.0, 7).variance(DATA.frequencies, DATA.n)))
        assert abs(errors.mean() - expected) < 6 * errors.std() / math.sqrt(errors.size)


def test_a_billion_users_need_no_more_cells_or_memory() -> None:
    many = Dataset(DATA.labels, COUNTS * 100_000)
    plan = BenchPlan(bench.ONE_TIME, ("raw", "power-ns"), (1.0,), 1, ("l1",))
    assert all(row.values["l1"] < 0.01 for row in bench.run(plan, many))


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 20.0, 64.0])
def test_extreme_epsilons_have_finite_answers(epsilon: float) -> None:
    plan = BenchPlan(bench.ONE_TIME, bench.METHODS, (epsilon,), 1, tuple(metrics.METRICS))
    rows = bench.run(plan, DATA)
    assert all(math.isfinite(value) for row in rows for value in row.values.values())
    # at 64 randomised response, alone among these, keeps every value
    if epsilon == 64.0:
        assert all(row.values["l1"] < 1e-12 for row in rows if row.protocol == "grr" and row.method == "raw")


def test_longitudinal_protocols_are_cells_like_others() -> None:
    plan = BenchPlan(bench.LONGITUDINAL, ("raw", "norm-sub"), (1.0,), 1)
    assert {row.protocol for row in bench.run(plan, DATA)} == set(bench.LONGITUDINAL)


def test_methods_without_a_likelihood_are_left_out_of_their_protocols() -> None:
    rows = bench.run(BenchPlan(("grr", "oue", "she", "hr"), ("ibu", "ml"), (1.0,), 1), DATA)
    assert {(row.protocol, row.method) for row in rows} == {
        ("grr", "ibu"), ("grr", "ml"), ("oue", "ibu"), ("hr", "ibu"), ("hr", "ml")
    }  # fmt: skip


def test_for_randomised_response_ibu_is_maximum_likelihood() -> None:
    rows = bench.run(BenchPlan(("grr",), ("ibu", "ml"), (1.0,), 2), DATA)
    assert rows[0].values == rows[1].values


def test_ibu_as_published_is_ten_thousand_plain_steps() -> None:
    plan = BenchPlan(("oue",), ("ibu", "ibu-10000"), (1.0,), 1, ("l1",))
    law, n = protocol("oue", 1.0, 7), int(COUNTS.sum())
    support = law.simulate(COUNTS, BenchCell("oue", 1.0, 0).generator(0))
    channel = (law.p - law.q) * np.eye(7) + law.q
    f, shares = np.full(7, 1 / 7), support / support.sum()
    for _ in range(10_000):
        f = f * (channel @ (shares / (f @ channel)))
    found = {row.method: row.values["l1"] for row in bench.run(plan, DATA)}
    assert found["ibu-10000"] == pytest.approx(metrics.l1(COUNTS / n, f), abs=1e-9)
    assert found["ibu"] == pytest.approx(metrics.l1(COUNTS / n, estimators.ibu(support, law.p, law.q).frequencies))


def test_designed_mechanisms_are_cells_at_their_own_epsilon() -> None:
    law = designed(catalogue.randomised_response(1.5, Finite(range(7))), name="mine")
    plan = BenchPlan(("grr", "mine"), ("raw", "norm-sub", "ibu", "ml"), (1.0,), 30, ("mse",), designs={"mine": law})
    rows = bench.run(plan, DATA)
    assert {(row.protocol, row.epsilon) for row in rows} == {("grr", 1.0), ("mine", 1.5)}
    assert {row.method for row in rows if row.protocol == "mine"} == {"raw", "norm-sub", "ibu", "ml"}
    errors = [row.values["mse"] for row in rows if (row.protocol, row.method) == ("mine", "raw")]
    own = float(np.mean(protocol("grr", 1.5, 7).variance(DATA.frequencies, DATA.n)))
    assert abs(np.mean(errors) - own) < 6 * np.std(errors) / math.sqrt(30)  # rate 1e-7 at 29 degrees of freedom
    with pytest.raises(InvalidInput, match="have 2 items"):
        bench.run(plan, Dataset(("a", "b"), np.array([1, 2])))


def test_a_mechanism_that_merges_items_has_likelihoods_only() -> None:
    law = designed(catalogue.duchi(2.0), 7)  # two reports for seven items
    rows = bench.run(BenchPlan(("two",), bench.METHODS, (1.0,), 2, ("mae",), designs={"two": law}), DATA)
    assert {row.method for row in rows} == {"ibu", "ml"}
    assert all(a.values == b.values for a, b in zip(rows[::2], rows[1::2], strict=True))
    rng = BenchCell("two", law.epsilon, 0).generator(0)
    likely = estimators.maximum_likelihood(law.simulate_histogram(COUNTS, rng), law.channel(), tolerance=1e-7)
    assert rows[0].values["mae"] == pytest.approx(metrics.mae(DATA.frequencies, likely.frequencies))


@pytest.mark.parametrize(
    ("names", "methods", "words"),
    [
        (("she",), ("ibu",), "no ibu of she"),
        (("she", "oue"), ("ml",), "no ml of she, no ml of oue"),
        (("two",), ("raw", "norm-sub"), "no raw of two, no norm-sub of two"),
        (("l-soue",), ("raw",), "l-soue at eps = 40: eps must be at most 32.69"),
    ],
)
def test_plans_without_a_cell_are_refused_with_the_pairs_that_do_not_exist(
    names: tuple[str, ...], methods: tuple[str, ...], words: str
) -> None:
    plan = BenchPlan(names, methods, (40.0,), 1, designs={"two": designed(catalogue.duchi(2.0), 7)})
    with pytest.raises(InvalidInput, match=words):
        bench.run(plan, DATA)


def test_impossible_cells_are_left_out_and_named() -> None:
    plan = BenchPlan(("l-sue", "l-soue"), ("raw", "ml"), (1.0, 40.0), 1)
    assert {(row.protocol, row.method, row.epsilon) for row in bench.run(plan, DATA)} == {
        ("l-sue", "raw", 1.0), ("l-soue", "raw", 1.0), ("l-sue", "raw", 40.0)
    }  # fmt: skip
    last = bench.offers(plan, 7)[-1]
    assert (last.protocol, last.epsilon, last.methods, last.missing) == ("l-soue", 40.0, (), ())
    assert "eps must be at most" in last.impossible


def test_the_limit_is_that_of_the_memoised_protocols(tmp_path: Path) -> None:
    plans = [BenchPlan(("l-oue", "grr"), ("raw",), (1.0,), 1, limit=limit) for limit in (None, 2.0, 6.0)]
    default, same, other = (bench.run(plan, DATA) for plan in plans)
    assert default == same
    assert [a.values == b.values for a, b in zip(same, other, strict=True)] == [False, True]
    law = protocol("l-oue", 1.0, 7, limit=6.0)
    seen = law.simulate(COUNTS, BenchCell("l-oue", 1.0, 0).generator(0))
    assert other[0].values["l1"] == metrics.l1(DATA.frequencies, law.estimate(seen, DATA.n))
    bench.run(plans[1], DATA, results=tmp_path / "r.json")
    with pytest.raises(FileProblem, match="its limit differ"):
        bench.run(plans[2], DATA, results=tmp_path / "r.json")


# -- ranking ----------------------------------------------------------------------------------------------------------


def rows_of(values: dict[str, list[float]], metric: str) -> list[Row]:
    return [Row(name, "raw", 1.0, run, {metric: v}) for name, all_ in values.items() for run, v in enumerate(all_)]


def test_the_best_comes_first_whichever_way_is_better() -> None:
    values = {"a": [0.3, 0.5], "b": [0.1, 0.2], "c": [0.9, 0.8]}
    assert [rank.protocol for rank in ranking(rows_of(values, "l1"), "l1", 4)] == ["b", "a", "c"]
    assert [rank.protocol for rank in ranking(rows_of(values, "kendall"), "kendall", 4)] == ["c", "a", "b"]


def test_intervals_are_student_s() -> None:
    sample = [0.3, 0.5, 0.45, 0.2, 0.33]
    rank = ranking(rows_of({"a": sample}, "l1"), "l1", 4)[0]
    expected = stats.t.interval(0.95, 4, loc=np.mean(sample), scale=stats.sem(sample))
    assert rank.interval == pytest.approx(expected)


@pytest.mark.parametrize("runs", [1, 2, 4])
def test_few_runs_have_no_interval(runs: int) -> None:
    assert ranking(rows_of({"a": [0.3] * runs}, "l1"), "l1", 4)[0].interval is None


@pytest.mark.parametrize(("metric", "step"), [("top:5", 0.2), ("top", 0.1), ("kendall", 4 / 90)])
def test_runs_that_agree_may_have_missed_one_step_of_a_count(metric: str, step: float) -> None:
    rank = ranking(rows_of({"a": [0.8] * 10}, metric), metric, 10)[0]
    assert rank.interval is not None
    assert rank.interval[1] - 0.8 == pytest.approx((1 - 0.025**0.1) * step)


@pytest.mark.parametrize("runs", [5, 10])
def test_intervals_of_the_top_cover_its_expectation(runs: int) -> None:
    """OUE, 10 items, 1,000 users, eps 6, seed 2: 400 intervals, false alarms below 1e-5 at 95%.

    Student's alone covers about 86% and 93%. The expectation is that of the 4,000 runs themselves.
    """
    counts = np.array([300, 200, 120, 100, 80, 60, 50, 40, 30, 20])
    rng, law, measure = np.random.default_rng(2), protocol("oue", 6.0, 10), metrics.metric("top:5")
    truth = counts / counts.sum()
    once = np.array([measure.measure(truth, law.estimate(law.simulate(counts, rng), 1000)) for _ in range(4000)])
    found = [interval_of_runs(some, measure.step(10)) for some in once.reshape(-1, runs)[:400]]
    covered = sum(low <= once.mean() <= high for low, high in found)
    assert covered >= stats.binom.ppf(1e-5, 400, 0.95)


# -- the results file -------------------------------------------------------------------------------------------------


def test_a_killed_run_resumes_with_the_same_numbers(tmp_path: Path) -> None:
    path, rows = tmp_path / "results.json", bench.run(PLAN, DATA)
    with pytest.raises(KeyboardInterrupt):
        bench.run(PLAN, DATA, Backwards(most=6), results=path)
    kept = json.loads(path.read_text())["rows"]
    assert 0 < len(kept) < len(rows)
    rest = Backwards()
    assert bench.run(PLAN, DATA, rest, results=path) == rows
    assert rest.cells == 12 - len(kept) // 3
    assert bench.run(PLAN, DATA, Backwards(most=0), results=path) == rows


def test_a_results_file_with_other_numbers_is_refused(tmp_path: Path) -> None:
    """All cells were changed, so whichever is computed again differs."""
    path = tmp_path / "results.json"
    bench.run(PLAN, DATA, results=path)
    document = json.loads(path.read_text())
    for row in document["rows"]:
        row[4] = {name: value + 1e-4 for name, value in row[4].items()}
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match=r"must hold what is computed again: .* at eps = .*; remove the file"):
        bench.run(PLAN, DATA, results=path)


def test_a_run_says_how_many_cells_it_took_from_a_file(tmp_path: Path) -> None:
    path, said = tmp_path / "results.json", []
    bench.run(PLAN, DATA, results=path, say_taken=lambda *counts: said.append(counts))
    assert said == []
    bench.run(PLAN, DATA, results=path, say_taken=lambda *counts: said.append(counts))
    assert said == [(12, 3)]


def test_more_protocols_and_runs_use_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    bench.run(PLAN, DATA, results=path)
    more, engine = BenchPlan(("grr", "oue", "ss"), PLAN.methods, PLAN.epsilons, 4, PLAN.metrics, seed=5), Backwards()
    assert bench.run(more, DATA, engine, results=path) == bench.run(more, DATA)
    assert engine.cells == 24 - 12


def test_progress_counts_every_cell(tmp_path: Path) -> None:
    said: list[tuple[int, int]] = []
    bench.run(PLAN, DATA, results=tmp_path / "r.json", say=lambda done, total: said.append((done, total)))
    assert said[0] == (0, 12)
    assert said[-1] == (12, 12)


@pytest.mark.parametrize(
    ("plan", "data", "words"),
    [
        (PLAN, Dataset(DATA.labels, COUNTS[::-1].copy()), "its data differ"),
        (BenchPlan(PLAN.protocols, PLAN.methods, PLAN.epsilons, 3, PLAN.metrics, seed=6), DATA, "its seed differ"),
        (BenchPlan(PLAN.protocols, PLAN.methods, PLAN.epsilons, 3, ("l1",), seed=5), DATA, "its metrics differ"),
    ],
)
def test_results_of_another_run_are_refused(tmp_path: Path, plan: BenchPlan, data: Dataset, words: str) -> None:
    path = tmp_path / "results.json"
    bench.run(PLAN, DATA, results=path)
    before = path.read_bytes()
    with pytest.raises(FileProblem, match=words):
        bench.run(plan, data, results=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"kind": "other"}'])
def test_files_that_are_no_results_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(FileProblem):
        bench.run(PLAN, DATA, results=path)
    assert path.read_text() == text


@pytest.mark.parametrize(
    "rows",
    [
        None,
        [["grr"]],
        [["grr", "raw", "x", 0, {}]],
        [["grr", "raw", 1.0, 0, {"mae": None}]],
        [["grr", "raw", 1.0, 0, {"mae": "5", "kendall": 0.0}]],
        [["grr", "raw", 1.0, 0.5, {"mae": 5.0, "kendall": 0.0}]],
        [["grr", "raw", "1", 0, {"mae": 5.0, "kendall": 0.0}]],
        [[1, "raw", 1.0, 0, {"mae": 5.0, "kendall": 0.0}]],
    ],
    ids=str,
)
def test_broken_rows_are_refused(tmp_path: Path, rows: object) -> None:
    path = tmp_path / "results.json"
    bench.run(PLAN, DATA, results=path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"rows": rows}))
    with pytest.raises(FileProblem, match="complete rows"):
        bench.run(PLAN, DATA, results=path)


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    bench.run(PLAN, DATA, results=path)
    document = json.loads(path.read_text())
    assert document["origin"]["mechdesign"] == versions()["mechdesign"]
    document["origin"]["mechdesign"] = "0.0.1"
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match="its mechdesign differ"):
        bench.run(PLAN, DATA, results=path)


def test_a_results_file_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(FileProblem):
        bench.run(PLAN, DATA, Backwards(most=0), results=tmp_path / "none" / "results.json")


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"protocols": ("xyz",)}, {"protocols": ()}, {"protocols": ("grr", "grr")}, {"methods": ("norms",)},
        {"methods": ()}, {"epsilons": ()}, {"epsilons": (1.0, 1.0)}, {"epsilons": (0.0,)}, {"epsilons": (math.nan,)},
        {"epsilons": (-1.0,)}, {"epsilons": (math.inf,)}, {"epsilons": (1e-15,)}, {"runs": 0}, {"runs": 1.5},
        {"runs": True}, {"seed": -1}, {"metrics": ("l9",)}, {"metrics": ()}, {"protocols": "grr"}, {"protocols": None},
        {"protocols": (1,)}, {"protocols": (["grr"],)}, {"methods": "raw"}, {"methods": (None,)}, {"epsilons": 1.0},
        {"epsilons": ([1.0],)}, {"epsilons": "1"}, {"metrics": "l1"}, {"metrics": (1,)}, {"metrics": ("l1", 1)},
        {"designs": None}, {"designs": {"x": "y"}}, {"limit": 0}, {"limit": "2"},
    ],
    ids=str,
)  # fmt: skip
def test_plans_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        BenchPlan(**({"protocols": ("grr",), "methods": ("raw",), "epsilons": (1.0,)} | change))


def test_the_name_of_a_file_without_its_queries_is_no_metric() -> None:
    with pytest.raises(InvalidInput, match="be among the workloads"):
        BenchPlan(("grr",), ("raw",), (1.0,), 1, ("own.csv",))
    plan = BenchPlan(("grr",), ("raw",), (1.0,), 1, ("own.csv",), workloads={"own.csv": np.ones((1, 2))})
    assert plan.metric("own.csv").measure([1, 0], [0, 0]) == 1
