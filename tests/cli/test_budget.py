"""`budget`: constraints in, epsilons with evidence out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mechdesign.studies.budgets import Constraint, Question, Task, run as search
from mechdesign.studies.budgets.populations import POPULATIONS

FAST = ("--most-runs", "500", "--phi", "0.05", "--quiet")
ASKED = ("budget", "-p", "oue", "--at-least", "0.5", "--population", "msnbc-like", *FAST)


@pytest.fixture
def labels(tmp_path: Path) -> str:
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["a"] * 500 + ["b"] * 300 + ["c"] * 200))
    return str(path)


def test_the_answer_comes_with_its_bracket_and_error_rate(run: Any) -> None:
    document = run(*ASKED, "--json").json
    assert document["problem"] == {
        "metric": "kendall",
        "direction": "at least",
        "probability": 0.9,
        "postprocess": "raw",
        "users": 989_818,
        "items": 17,
        "eps_range": [0.001, 20.0],
        "phi": 0.05,
        "seed": 0,
    }
    (found,) = document["budgets"]
    low, high = found["bracket"]
    assert (found["protocol"], found["method"], found["eps"], found["error_rate"]) == ("oue", "certified", high, 0.05)
    assert 0.05 < low < high < 0.2


def test_a_bracket_wider_than_phi_says_so_and_what_would_shorten_it(run: Any) -> None:
    options = ("budget", "-p", "oue", "--at-least", "0.7", "--population", "msnbc-like", "--users", "20000")
    few = (*options, "--most-runs", "1000")
    (found,) = run(*few, "--json").json["budgets"]
    low, high = found["bracket"]
    assert high - low > 0.01
    assert found["wider_than_phi"] is True
    text = " ".join(run(*few).out.split())
    assert "wider than --phi 0.01: 1,000 collections do not decide eps =" in text
    assert "Raise --most-runs." in text
    enough = (*options, "--phi", "0.5", "--most-runs", "4000")
    (found,) = run(*enough, "--json").json["budgets"]
    assert found["bracket"][1] - found["bracket"][0] <= 0.5
    assert found["wider_than_phi"] is False
    assert "--most-runs" not in run(*enough).out


def test_files_of_labels_are_populations_and_can_be_scaled(run: Any, labels: str) -> None:
    options = ("budget", "-p", "grr", "--metric", "l1", "--at-most", "0.1", "--data", labels, *FAST, "--json")
    small, large = run(*options).json, run(*options, "--users", "100000").json
    assert (small["problem"]["users"], large["problem"]["users"]) == (1000, 100_000)
    assert large["budgets"][0]["eps"] < small["budgets"][0]["eps"]


def test_protocols_are_ranked_in_the_table(run: Any) -> None:
    outcome = run("budget", "-p", "grr,oue", "--at-least", "0.5", "--population", "msnbc-like", *FAST)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "kendall at least 0.5 with probability at least 0.9: 17 items, 989,818 users"
    assert [line.split()[0] for line in lines[2:4]] == ["oue", "grr"]
    assert "error rate at most 0.05" in outcome.out


def test_the_published_searches_come_by_name(run: Any) -> None:
    options = ("-m", "bs,rbs,dbs,mpass", "--runs", "100", "--json", "--probability", "0.5")
    found = run(*ASKED, *options).json["budgets"]
    assert [budget["method"] for budget in found] == ["bs", "rbs", "dbs", "mpass"]
    assert all(budget["bracket"] is None and 0.02 < budget["eps"] < 0.2 for budget in found)


def test_the_parameters_of_the_published_searches_are_options(run: Any) -> None:
    def told(method: str, *more: str) -> Any:
        asked = ("budget", "-p", "grr", "--metric", "kendall", "--at-least", "0.3", "--population", "msnbc-like")
        return run(*asked, "--probability", "0.5", "-m", method, *more, "--quiet", "--json").json

    wish = Constraint("kendall", 0.3, 0.5)
    for method, options in (
        ("rbs", {"g": 3.0, "runs": 60}),
        ("dbs", {"c": 2.0, "least_runs": 20, "most_runs": 90}),
        ("mpass", {"passes": 2, "g": 5.0, "runs": 20}),
    ):
        words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", f"{value:g}")]
        task = Task(Question("grr", POPULATIONS["msnbc-like"](), wish), method, options=options)
        (answer,) = search([task])
        found = told(method, *words)
        assert (found["eps"], found["simulations"]) == (answer.epsilon, answer.result.simulations)


def test_the_names_of_the_paper_are_names_of_the_options(run: Any) -> None:
    pytest.importorskip("sklearn", reason="an optional dependency")
    asked = ("budget", "-p", "grr", "--at-least", "0.3", "--population", "msnbc-like", "--probability", "0.5")
    few = ("-m", "bayes", "--max-eps", "0.3", "--runs", "50", "--init-points", "9", "--iter-num", "2")
    found = run(*asked, *few, "--quiet", "--json")
    assert found.json["simulations"] == 50 * 11


@pytest.mark.parametrize(
    ("method", "options", "having"),
    [
        ("bs", ("--g", "3"), "--g must come with a method that has it: rbs, mpass"),
        ("certified", ("--runs", "50"), "--runs must come with a method that has it: bs, rbs, mpass, bayes"),
        ("bs,rbs", ("--most-runs", "50"), "--most-runs must come with a method that has it: certified, dbs"),
        ("bs", ("--error", "0.05"), "--error must come with a method that has it: certified"),
        ("mpass", ("--phi", "0.1"), "phi must come with a --method that stops by it: certified, bs, rbs, dbs"),
    ],
)
def test_a_parameter_no_chosen_search_has_is_refused(
    run: Any, method: str, options: tuple[str, str], having: str
) -> None:
    outcome = run("budget", "-p", "grr", "--at-least", "0.5", "--population", "msnbc-like", "-m", method, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert having in " ".join(outcome.err.split())


def test_post_processing_lowers_the_budget(run: Any, labels: str) -> None:
    options = ("budget", "-p", "oue", "--metric", "l2", "--at-most", "0.2", "--data", labels, *FAST, "--json")
    raw, sub = run(*options).json["budgets"][0], run(*options, "--postprocess", "norm-sub").json["budgets"][0]
    assert sub["eps"] < raw["eps"]


def test_numeric_mechanisms_over_bins_have_budgets(run: Any, labels: str) -> None:
    options = ("budget", "-p", "sw", "--metric", "mae", "--at-most", "0.1", "--data", labels, *FAST, "--json")
    assert 0.1 < run(*options).json["budgets"][0]["eps"] < 5


def test_a_results_file_is_resumed_from(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    first = run(*ASKED, "--results", str(path), "--json")
    kept = json.loads(path.read_text())
    second = run(*ASKED, "--results", str(path), "--json")
    assert second.json == first.json
    assert json.loads(path.read_text()) == kept


def test_dask_gives_the_same_answer(run: Any) -> None:
    pytest.importorskip("distributed", reason="an optional dependency")
    assert run(*ASKED, "--engine", "dask", "--json").json == run(*ASKED, "--json").json


def test_pictures_are_saved(run: Any, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.png", "many.svg", "curve.pdf")]
    many = ("budget", "-p", "oue,grr", "--at-least", "0.3,0.5", "--population", "msnbc-like", *FAST, "--runs", "50")
    assert run(*ASKED, "--plot", str(files[0]), "--curve", str(files[2])).code == 0
    assert run(*many, "-m", "certified,bs", "--plot", str(files[1])).code == 0
    assert all(path.stat().st_size > 2000 for path in files)
    assert run(*ASKED, "--plot", str(files[0])).code == 2


def test_a_constraint_out_of_reach_exits_with_2_and_the_best_seen(run: Any) -> None:
    outcome = run(*ASKED[:3], "--at-least", "0.9", "--population", "msnbc-like", "--max-eps", "0.1", *FAST)
    assert (outcome.code, outcome.out) == (2, "")
    assert "best seen: probability" in outcome.err
    assert "at eps = 0.1" in outcome.err


def test_an_undecided_end_exits_with_3(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "binary.json"
    path.write_text('{"a": 120, "b": 80}')
    outcome = run(
        *("budget", "-p", "grr", "--metric", "l1", "--at-most", "0.2", "--probability", "0.8", "--data", str(path)),
        *("--min-eps", "0.5", "--max-eps", "1.05", "--phi", "0.1", "--most-runs", "100"),
    )
    assert (outcome.code, outcome.out) == (3, "")
    assert "do not decide" in outcome.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"-p": "rsa"}, "protocol"),
        ({"--at-least": "1.5"}, "range [-1, 1]"),
        ({"--at-least": "much"}, "threshold"),
        ({"--at-most": "0.5"}, "one of --at-least, --at-most, and one only"),
        ({"--probability": "1"}, "strictly between"),
        ({"--probability": "0"}, "strictly between"),
        ({"--metric": "speed"}, "metric"),
        ({"--metric": "l1"}, "direction"),
        ({"--population": "bees"}, "population"),
        ({"--data": __file__}, "--population"),
        ({"--users": "0"}, "users"),
        ({"-m": "guess"}, "method"),
        ({"--postprocess": "magic"}, "method"),
        ({"--min-eps": "0"}, "eps"),
        ({"--min-eps": "30"}, "range"),
        ({"--error": "0.7"}, "error"),
        ({"-m": "bs", "--runs": "1000000000000"}, "runs must be a whole number from 1 to 10000000"),
        ({"--most-runs": "1000000000000"}, "most runs must be a whole number from 100 to 10000000"),
        ({"--engine": "gpu"}, "engine"),
        ({"--scheduler": "tcp://nowhere:1"}, "scheduler"),
        ({"--plot": "a.txt"}, ".png"),
        ({"--domain": "a,b"}, "come with --data"),
        ({"--column": "page"}, "come with --data"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(run: Any, change: dict[str, str], words: str) -> None:
    options = {"-p": "oue", "--at-least": "0.5", "--population": "msnbc-like"} | change
    outcome = run("budget", *(part for pair in options.items() for part in pair))
    assert (outcome.code, outcome.out) == (2, "")
    assert words in " ".join(outcome.err.split())


def test_several_searches_without_an_answer_exit_with_2(run: Any) -> None:
    many = ("budget", "-p", "oue,grr", "--at-least", "0.9", "--population", "msnbc-like", "--max-eps", "0.1", *FAST)
    outcome = run(*many)
    assert (outcome.code, outcome.out) == (2, "")
    assert all(f"with {name} (got" in " ".join(outcome.err.split()) for name in ("oue", "grr"))


def test_a_wrong_option_of_several_searches_is_told_once(run: Any) -> None:
    outcome = run("budget", "-p", "grr,oue", "--at-least", "0.5", "--population", "msnbc-like", "--most-runs", "5")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("most runs must be a whole number from 100") == 1
    assert "eps in the range" not in outcome.err


def test_a_threshold_given_twice_is_one(run: Any) -> None:
    document = run(*ASKED, "--at-least", "0.5,0.5", "--json").json
    assert len(document["budgets"]) == 1
