"""Functions of one's own in a bench: as good as the package's own where they are the same, and checked every time."""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.engine import Local
from mechdesign.errors import FileProblem, InvalidInput, showing_values
from mechdesign.studies.frequencies import bench, metrics, postprocess
from mechdesign.studies.frequencies.bench import BenchPlan
from mechdesign.studies.frequencies.datasets import Dataset
from mechdesign.studies.frequencies.own import OwnProtocol, is_own
from mechdesign.studies.frequencies.protocols import protocol

DATA = Dataset(tuple("abcd"), np.array([600, 250, 100, 50]))


def chances(epsilon: float, size: int) -> tuple[float, float]:
    grown = math.exp(epsilon)
    return grown / (grown + size - 1), 1 / (grown + size - 1)


def perturb(value: int, epsilon: float, size: int) -> int:
    """Randomised response as LDP3 writes it, with the generator of the standard library."""
    p, _ = chances(epsilon, size)
    if random.random() < p:
        return value
    other = random.randrange(size - 1)
    return other if other < value else other + 1


def aggregate(reports: list[int], epsilon: float, size: int) -> np.ndarray:
    p, q = chances(epsilon, size)
    return (np.bincount(reports, minlength=size) - len(reports) * q) / (p - q)


def shares(reports: list[int], epsilon: float, size: int) -> np.ndarray:
    return aggregate(reports, epsilon, size) / len(reports)


def halved(estimate: np.ndarray) -> np.ndarray:
    return (estimate + 1 / estimate.size) / 2


def worst(truth: np.ndarray, estimate: np.ndarray) -> float:
    return float(np.abs(truth - estimate).max())


GRR = OwnProtocol(perturb, aggregate)


def plan_of(own: dict[str, Any], **more: Any) -> BenchPlan:
    asked = {"protocols": ("grr",), "methods": ("raw",), "epsilons": (1.0,), "runs": 2} | more
    return BenchPlan(**asked, own=own)


def test_two_functions_estimate_as_the_package_s_own_protocol_does() -> None:
    """GRR twice, 40 runs of 1,000 users: both mean squared errors within 6 standard errors of the exact (rate 4e-9)."""
    plan = plan_of({"mine:grr": GRR}, protocols=("grr", "mine:grr"), runs=40, metrics=("mse",))
    exact = float(np.mean(protocol("grr", 1.0, 4).variance(DATA.frequencies, DATA.n)))
    rows = bench.run(plan, DATA)
    for name in plan.protocols:
        errors = np.array([row.values["mse"] for row in rows if row.protocol == name])
        assert abs(errors.mean() - exact) < 6 * errors.std() / math.sqrt(40)


def test_a_run_is_the_same_in_any_company_and_leaves_the_global_generators_alone() -> None:
    plan = plan_of({"mine:grr": GRR}, protocols=("mine:grr",), runs=3)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    wanted = random.random(), np.random.random()  # noqa: NPY002
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    first = bench.run(plan, DATA)
    assert (random.random(), np.random.random()) == wanted  # noqa: NPY002
    longer = plan_of({"mine:grr": GRR}, protocols=("grr", "mine:grr"), runs=5)
    assert [row for row in bench.run(longer, DATA) if row.protocol == "mine:grr" and row.run < 3] == first


def test_a_function_that_asks_for_a_generator_gets_one() -> None:
    def exact(value: int, epsilon: float, size: int, rng: np.random.Generator) -> int:
        rng.random()
        return value

    law = OwnProtocol(exact, lambda reports, epsilon, size: np.bincount(reports, minlength=size))
    (row,) = bench.run(plan_of({"no:noise": law}, protocols=("no:noise",), runs=1), DATA)
    assert row.values["l1"] == 0


@pytest.mark.parametrize(
    "said", [(perturb, aggregate), GRR, type("Both", (), {"perturb": perturb, "aggregate": aggregate})]
)
def test_a_pair_a_value_and_a_class_are_the_same_protocol(said: Any) -> None:
    assert OwnProtocol.of(said, "mine:grr") == GRR


def test_counts_and_shares_are_told_apart_by_the_name_of_the_function() -> None:
    plans = [plan_of({"a:b": law}, protocols=("a:b",)) for law in (GRR, OwnProtocol(perturb, estimate=shares))]
    counted, shared = (bench.run(plan, DATA) for plan in plans)
    assert [row.values["l1"] for row in counted] == pytest.approx([row.values["l1"] for row in shared])


def test_a_post_processing_and_a_metric_of_one_s_own_are_what_they_say() -> None:
    """By hand from the raw estimate of the same cell."""
    plan = plan_of({"a:halved": halved, "a:worst": worst}, methods=("raw", "a:halved"), metrics=("a:worst",), runs=1)
    raw, own = (row.values["a:worst"] for row in bench.run(plan, DATA))
    law, cell = protocol("grr", 1.0, 4), bench.BenchCell("grr", 1.0, 0)
    estimate = law.estimate(law.simulate(DATA.counts, cell.generator(0)), DATA.n)
    assert raw == worst(DATA.frequencies, estimate)
    assert own == worst(DATA.frequencies, halved(estimate))


def test_post_processings_of_the_package_work_on_a_protocol_of_one_s_own_but_for_those_that_need_its_variance() -> None:
    plan = plan_of({"mine:grr": GRR}, protocols=("mine:grr",), methods=bench.METHODS, runs=1)
    (offer,) = bench.offers(plan, 4)
    assert set(offer.methods) == {"raw", *postprocess.METHODS} - {"power", "power-ns"}
    assert set(offer.missing) == {"power", "power-ns", "ibu", "ml"}
    assert {row.method for row in bench.run(plan, DATA)} == set(offer.methods)


@pytest.mark.slow
def test_workers_give_the_same_numbers() -> None:
    plan = plan_of({"mine:grr": GRR, "a:halved": halved}, protocols=("mine:grr",), methods=("raw", "a:halved"))
    assert bench.run(plan, DATA, Local(2)) == bench.run(plan, DATA)


def test_functions_that_no_worker_can_be_given_are_refused_before_any_work() -> None:
    plan = plan_of({"a:b": lambda estimate: estimate}, methods=("a:b",))
    with pytest.raises(InvalidInput, match="a:b must be importable by worker processes"):
        bench.run(plan, DATA, Local(2))


def test_results_are_gone_on_with_by_the_same_code_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, kept = plan_of({"a:halved": halved}, methods=("a:halved",)), tmp_path / "r.json"
    rows = bench.run(plan, DATA, results=kept)
    assert bench.run(plan, DATA, results=kept) == rows
    monkeypatch.setattr("mechdesign.studies.frequencies.own._digest", lambda name, said: "0")
    with pytest.raises(FileProblem, match="its own differ"):
        bench.run(plan, DATA, results=kept)


def test_kept_results_name_a_metric_of_one_s_own(tmp_path: Path) -> None:
    plan = plan_of({"a:worst": worst}, metrics=("a:worst",))
    bench.run(plan, DATA, results=tmp_path / "r.json")
    kept = bench.read_results(tmp_path / "r.json")
    assert kept.metrics == ("a:worst",)
    assert len(bench.ranking(kept.rows, "a:worst", kept.items)) == 1


# -- what is checked ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gives", "words"),
    [
        ([1.0, 2.0, 3.0], r"be 4 numbers \(got 'an array of shape \(3,\)'\)"),
        ([[1.0] * 4], "be 4 numbers"),
        ([1.0, 2.0, math.nan, 4.0], "be finite"),
        ([1.0, 2.0, math.inf, 4.0], "be finite"),
        ([1e200, 0, 0, 0], "be finite, at most 1e\\+100"),
        ("abcd", "be 4 numbers"),
        (None, "be 4 numbers"),
        ({"a": 1}, "be 4 numbers"),
        ([1j, 0, 0, 0], "be 4 numbers"),
    ],
)
@pytest.mark.parametrize("part", ["protocol", "method"])
def test_what_is_no_list_of_finite_numbers_is_refused(gives: Any, words: str, part: str) -> None:
    if part == "protocol":
        law = OwnProtocol(perturb, lambda reports, epsilon, size: gives)
        plan = plan_of({"a:bad": law}, protocols=("a:bad",))
    else:
        plan = plan_of({"a:bad": lambda estimate: gives}, methods=("a:bad",))
    with pytest.raises(InvalidInput, match=f"what a:bad gives for 4 .* must {words}"):
        bench.run(plan, DATA)


@pytest.mark.parametrize("gives", [math.nan, math.inf, "far", None, [1.0, 2.0]])
def test_a_metric_that_is_no_finite_number_is_refused(gives: Any) -> None:
    with pytest.raises(InvalidInput, match="what a:bad gives must be"):
        bench.run(plan_of({"a:bad": lambda f, g: gives}, metrics=("a:bad",)), DATA)


def test_shares_where_counts_are_due_are_refused() -> None:
    with pytest.raises(InvalidInput, match="give numbers of users, of 1000 in all, as aggregate: these are shares"):
        bench.run(plan_of({"a:b": OwnProtocol(perturb, shares)}, protocols=("a:b",)), DATA)


def test_counts_of_few_users_are_not_taken_for_shares() -> None:
    few = Dataset(tuple("abc"), np.array([1, 1, 0]))
    law = OwnProtocol(
        lambda value, epsilon, size: value, lambda reports, epsilon, size: np.bincount(reports, minlength=size)
    )
    (row,) = bench.run(plan_of({"a:b": law}, protocols=("a:b",), runs=1), few)
    assert row.values["l1"] == 0


def test_an_error_of_the_function_is_told_by_kind_and_line_and_does_not_quote_its_words() -> None:
    def broken(estimate: np.ndarray) -> np.ndarray:
        raise KeyError("a value of a person")

    plan = plan_of({"a:broken": broken}, methods=("a:broken",))
    with pytest.raises(InvalidInput, match=r"KeyError in line \d+ of test_own.py") as caught:
        bench.run(plan, DATA)
    assert "person" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    with showing_values(), pytest.raises(InvalidInput, match="a value of a person"):
        bench.run(plan, DATA)


@pytest.mark.parametrize("code", [0, 5, None])
def test_a_function_that_ends_the_program_is_an_error(code: int | None) -> None:
    plan = plan_of({"a:ends": lambda estimate: sys.exit(code)}, methods=("a:ends",))
    with pytest.raises(InvalidInput, match="must run without an error"):
        bench.run(plan, DATA)


def test_a_function_with_other_arguments_is_not_told_a_line_of_the_package() -> None:
    plan = plan_of({"a:two": lambda truth, estimate: estimate}, methods=("a:two",))
    with pytest.raises(InvalidInput, match=r"got 'TypeError'"):
        bench.run(plan, DATA)


def test_what_a_function_prints_is_not_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    def prints(estimate: np.ndarray) -> np.ndarray:
        print("here")
        return estimate

    bench.run(plan_of({"a:prints": prints}, methods=("a:prints",)), DATA)
    told = capsys.readouterr()
    assert told.out == ""
    assert "here" in told.err


def test_more_users_than_can_be_run_one_by_one_are_refused() -> None:
    many = Dataset(tuple("ab"), np.array([10**7, 1]))
    with pytest.raises(InvalidInput, match="be at most 10000000 for a:b"):
        bench.run(plan_of({"a:b": GRR}, protocols=("a:b",)), many)


@pytest.mark.parametrize(
    ("own", "more", "words"),
    [
        ({"worst": worst}, {}, "map names of the form module:name"),
        ([("a:b", worst)], {}, "map names of the form module:name"),
        ({"top:5": worst}, {"metrics": ("top:5",)}, "map names of the form module:name"),
        ({"a:b": worst}, {}, "be among the protocols, methods or metrics"),
        ({"a:b": 3}, {"methods": ("a:b",)}, "be a function here"),
        ({"a:b": 3}, {"metrics": ("a:b",)}, "be a function here"),
        ({"a:b": 3}, {"protocols": ("a:b",)}, "be two functions, or have them"),
        ({"a:b": (perturb, 3)}, {"protocols": ("a:b",)}, "be given as one function"),
        ({"a:b": (3, aggregate)}, {"protocols": ("a:b",)}, "be a function of"),
        ({}, {"metrics": ("a:b",)}, "be among the plan's own"),
        ({}, {"methods": ("a:b",)}, "method must be one of"),
        ({}, {"protocols": ("a:b",)}, "protocol must be one of"),
    ],
)
def test_plans_with_functions_that_make_no_sense_are_refused(own: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        plan_of(own, **more)


def test_no_name_of_the_package_is_one_s_own() -> None:
    assert not any(map(is_own, (*metrics.METRICS, *bench.METHODS, *bench.ONE_TIME, "top:5", "a.json", "q.csv")))
