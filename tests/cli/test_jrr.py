"""`jrr`: its answer in plain words, as JSON, as a picture, and the protocol between processes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from mechdesign.exact.collusion import all_lied_ratio, log_up, privacy_of, prove_joint_privacy
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods import load_design
from mechdesign.tables import parties
from mechdesign.values.codec import Codec

SPEC = ("jrr", "--eps", "1", "--users", "10000", "--colluders", "500", "--share", "0.03")


def _law(said: Any) -> JointResponse:
    law = Codec().decoded(JointResponse, said, "mechanism")
    assert isinstance(law, JointResponse)
    return law


def test_the_command_of_the_spec_says_what_partners_learn(run: Any) -> None:
    outcome = run(*SPEC, "--group", "8", "--conditional-eps", "1")
    assert outcome.code == 0
    assert "p = 0.625 " in outcome.out
    assert "47.4% of independent answers' 9206.74" in outcome.out
    assert "proven in rational arithmetic" in outcome.out
    assert "if one of your partners colludes:        0.9163 (capped at 1)" in outcome.out
    assert "if 3 of your partners collude:           infinite" in outcome.out


def test_pairs_stand_beside_the_paper_s_heuristic(run: Any) -> None:
    out = run(*SPEC).out
    assert "if your partner colludes:                infinite" in out
    assert "The paper's heuristic: p = 0.731059, rho = -0.367879" in out
    assert "1.070 - more than asked for" in out
    assert "optimal up to 14.1% colluders" in out


def test_json_holds_the_law_the_interval_and_the_privacy(run: Any) -> None:
    document = run(*SPEC, "--json").json
    law = _law(document["mechanism"])
    prove_joint_privacy(law, 1.0, 10000, 500)
    assert document["certificate"]["lower"] <= document["variance"] == document["certificate"]["upper"]
    assert document["variance"] == pytest.approx(float(law.variance(10000, 300)))
    assert document["privacy"]["averaged_epsilon"] <= 1
    assert document["privacy"]["conditional_epsilons"][1] == "inf"
    assert document["heuristic"]["averaged_epsilon"] == pytest.approx(1.0695, abs=1e-4)
    assert document["report"]["seconds"] > 0


def test_a_range_and_a_prior_are_taken_as_shares(run: Any) -> None:
    ranged = run("jrr", "--eps", "1", "--share", "0.02,0.1", "--json").json
    assert ranged["problem"]["loss"]["share"] == [0.02, 0.1]
    assert "the worst share from 0.02 to 0.1" in run("jrr", "--eps", "1", "--share", "0.02,0.1").out
    assert "the mean over the prior" in run("jrr", "--eps", "1", "--prior", "beta:2,8").out


@pytest.fixture
def smokers(tmp_path: Path) -> str:
    path = tmp_path / "smokers.csv"
    path.write_text("id,smokes\n" + "".join(f"{k},{'yes' if k % 8 == 0 else 'no'}\n" for k in range(2001)))
    return str(path)


def test_a_column_is_collected_beside_independent_answers(run: Any, smokers: str) -> None:
    """MSE within 5 deviations of 2000 normal errors (16%) of the exact variance; seed 0, false positives below 1e-5."""
    asked = ("jrr", "--eps", "1", "--data", smokers, "--column", "smokes", "--runs", "2000")
    document = run(*asked, "--json").json
    found = document["collected"]
    assert (found["value"], found["users"], found["left_out"], found["runs"]) == ("yes", 2000, 1, 2000)
    assert found["count"] in (250, 251)
    assert found["joint"]["variance"] == pytest.approx(document["variance"])
    assert found["independent"]["variance"] == pytest.approx(document["independent_variance"])
    for one in (found["joint"], found["independent"]):
        assert one["mse"] == pytest.approx(one["variance"], rel=0.16)
        assert one["are"] < one["are_percentiles"]["80"] < one["are_percentiles"]["95"]
    assert found["joint"]["are"] < found["independent"]["are"]
    assert run(*asked, "--json", "--seed", "0").json["collected"] == found
    text = run(*asked).out
    assert "of 2,000 users answer 'yes', 1 left out at random: groups are whole" in text


def test_the_share_may_be_assumed_and_the_counted_answer_named(run: Any, smokers: str) -> None:
    asked = ("jrr", "--eps", "1", "--data", smokers, "--column", "smokes", "--value", "no", "--share", "0.5,0.9")
    found = run(*asked, "--runs", "10", "--json").json
    assert found["problem"]["loss"]["share"] == [0.5, 0.9]
    assert found["collected"]["count"] in (1749, 1750)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--users", "10"), "options must be left out with --data (got '--users')"),
        (("--categories", "3"), "options must be left out with --data (got '--categories')"),
        (("--hidden",), "options must be left out with --data (got '--hidden')"),
        (("--run-parties", "2"), "options must be left out with --data (got '--run-parties')"),
        (("--inside", "oue"), "options must be left out with --data (got '--inside')"),
        (("--value", "maybe"), "value must be one of the answers in the data"),
        (("--runs", "0"), "runs must be a whole number"),
        (("--seed", "-1"), "seed must be"),
    ],
)
def test_what_does_not_go_with_data_is_refused(run: Any, smokers: str, more: tuple[str, ...], words: str) -> None:
    outcome = run("jrr", "--eps", "1", "--data", smokers, "--column", "smokes", *more)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in " ".join(outcome.err.split())


@pytest.mark.parametrize("more", [("--column", "x"), ("--value", "yes"), ("--runs", "5"), ("--seed", "1")])
def test_what_is_about_data_needs_them(run: Any, more: tuple[str, str]) -> None:
    outcome = run("jrr", "--eps", "1", *more)
    assert (outcome.code, outcome.out) == (2, "")
    assert "come with --data" in outcome.err


def test_where_correlation_does_not_help_that_is_said(run: Any) -> None:
    assert "plain randomised response" in run("jrr", "--eps", "1", "--conditional-eps", "1").out


def test_more_categories_have_no_heuristic(run: Any) -> None:
    outcome = run("jrr", "--eps", "1", "--categories", "4", "--json")
    assert outcome.json["heuristic"] is None
    assert outcome.json["mechanism"]["categories"] == 4
    assert "4 values" in run("jrr", "--eps", "1", "--categories", "4").out


@pytest.mark.parametrize("group", ["2", "4"])
def test_the_picture_and_the_file_are_written(run: Any, tmp_path: Path, group: str) -> None:
    picture, file = tmp_path / "jrr.png", tmp_path / "jrr.json"
    outcome = run("jrr", "--eps", "1", "--group", group, "--plot", str(picture), "--out", str(file))
    assert outcome.code == 0
    assert picture.stat().st_size > 30_000
    assert json.loads(file.read_text())["format"] == "mechdesign research file"
    assert isinstance(load_design(file).mechanism, JointResponse)
    again = run("jrr", "--eps", "1", "--out", str(file))
    assert again.code == 2
    assert "not exist yet" in again.err


def test_scip_gives_the_same_answer(run: Any) -> None:
    exact, other = (run(*SPEC, "--method", method, "--json").json for method in ("exact", "scip"))
    assert other["certificate"]["claimed"]
    assert other["variance"] == pytest.approx(exact["variance"], rel=1e-6)


def test_eight_parties_run_the_protocol(run: Any) -> None:
    outcome = run("jrr", "--run-parties", "8", "--json")
    assert outcome.code == 0, outcome.err
    played = outcome.json["run"]
    assert (played["parties"], played["tolerated_colluders"], len(played["reports"])) == (8, 3, 8)
    assert set(played["reports"]) <= {0, 1}
    law = _law(outcome.json["mechanism"])
    assert played["estimate"] == pytest.approx(float(law.estimate(sum(played["reports"]), 8)))
    assert played["group"] == 2
    drawn = _law(played["law"])
    assert drawn == law
    assert played["averaged_epsilon_of_their_truths"] == privacy_of(drawn, 8, 3).averaged
    assert played["worst_epsilon_of_their_truths"] == log_up(all_lied_ratio(drawn, 8, 3))
    assert played["worst_epsilon_of_their_truths"] == pytest.approx(2.116, abs=1e-3)


def test_two_parties_have_a_helper(run: Any) -> None:
    outcome = run("jrr", "--run-parties", "2")
    assert "Run between 2 users and a helper" in outcome.out
    assert "messages are safe against 1 who pool them; what their own truth bits tell is above" in outcome.out
    assert "true count 1" in outcome.out  # a share of .1 is rounded to at least one user


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_request_to_end_stops_the_parties(run: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ended = []

    def killed(*_: Any, **__: Any) -> None:
        try:
            os.kill(os.getpid(), getattr(signal, name))
            time.sleep(5)
        finally:
            ended.append(name)

    # were the command to leave signals alone, this handler would let the run go on
    before = signal.signal(getattr(signal, name), lambda *_: None)
    monkeypatch.setattr(parties, "run_parties", killed)
    try:
        outcome = run("jrr", "--run-parties", "2", "--quiet")
    finally:
        signal.signal(getattr(signal, name), before)
    assert outcome.code == 128 + getattr(signal, name)
    assert ended == [name]


def test_the_protocol_has_the_time_that_the_search_left(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def spied(*_: Any, seconds: float, **__: Any) -> None:
        given.append(seconds)
        raise parties.RunFailed("over")

    monkeypatch.setattr(parties, "run_parties", spied)
    assert run("jrr", "--run-parties", "2", "--time-limit", "30").code == 1
    assert 0 < given[0] < 30


def test_the_average_is_said_to_be_no_bound_given_all_truths_once_and_only_with_colluders(run: Any) -> None:
    assert run(*SPEC).out.count("not a bound given the truths of all who collude") == 1
    assert "not a bound" not in run("jrr", "--eps", "1").out


@pytest.mark.parametrize("eps", ["46", "64"])
def test_the_largest_eps_are_answered(run: Any, eps: str) -> None:
    assert run("jrr", "--eps", eps, "--share", "0.1").code == 0


def test_a_search_without_time_exits_with_3_and_bounds(run: Any) -> None:
    outcome = run(*SPEC, "--group", "8", "--gap", "1e-7", "--time-limit", "0.05")
    assert outcome.code == 3
    assert "the optimum lies in [" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "eps must be given"),
        (("--eps", "0"), "above 0"),
        (("--eps", "1", "--users", "101"), "multiple of the group size 2"),
        (("--eps", "1", "--colluders", "10000"), "less than the users"),
        (("--eps", "1", "--group", "20", "--users", "10"), "at most the number of users"),
        (("--eps", "1", "--share", "1.5"), "between 0 and 1"),
        (("--eps", "1", "--share", "a"), "be a number or LEAST,MOST"),
        (("--eps", "1", "--share", "0.1", "--prior", "uniform"), "one or the other"),
        (("--eps", "1", "--conditional-eps", "0"), "every cap above 0 is feasible"),
        (("--eps", "1", "--conditional-eps", "1,2"), "larger --group"),
        (("--eps", "1", "--conditional-eps", "x"), "be numbers"),
        (("--eps", "1", "--method", "magic"), "one of exact, scip"),
        (("--eps", "1", "--share", ""), "be a number or LEAST,MOST"),
        (("--eps", "1", "--time-limit", "0"), "time limit must be a finite number of seconds"),
        (("--eps", "1", "--run-parties", "3"), "run parties must be a multiple"),
        (("--eps", "1", "--run-parties", "0"), "run parties must be at least 2"),
        (("--eps", "1", "--run-parties", "40"), "run parties must be at most 10"),
        (("--eps", "17", "--run-parties", "2"), "at most 16 with --run-parties"),
        (("--eps", "1", "--plot", "x.gif"), ".png"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(run: Any, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("jrr", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""
