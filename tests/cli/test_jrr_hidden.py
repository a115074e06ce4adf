"""`jrr` where the grouping is hidden: three numbers for groups, the optimum over all laws, servers, encodings."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint_encodings import JointHashing, JointUnary
from mechdesign.methods import load_design
from mechdesign.studies.joint_inside import strongest
from mechdesign.values.codec import Codec

HIDDEN = ("jrr", "--eps", "1", "--users", "1000", "--share", "0.033", "--hidden")


def test_groups_say_what_is_told_in_three_ways(run: Any) -> None:
    """At the chapter's own law, with the numbers of the exact account."""
    out = run("jrr", "--eps", "1", "--users", "10000", "--share", "0.033").out
    assert "the grouping is known and a partner colludes:          infinite" in out
    assert "the grouping is hidden and nobody colludes:            1.0000 (but for a chance of 1e-06)" in out
    assert "the grouping is hidden and everybody else colludes:    1.036 (but for a chance of 1e-06)" in out


def test_a_delta_of_nothing_gives_the_pure_losses(run: Any) -> None:
    told = run("jrr", "--eps", "1", "--users", "1000", "--colluders", "10", "--delta", "0", "--json").json["hidden"]
    assert told["delta"] == 0
    assert told["if_all_others_collude"] == ["inf", "inf"]
    assert 1 < told["if_they_collude"][1] < 1.1


def test_the_three_numbers_of_json_are_intervals(run: Any) -> None:
    told = run("jrr", "--eps", "1", "--users", "10000", "--share", "0.033", "--colluders", "500", "--json").json[
        "hidden"
    ]
    assert (told["delta"], told["colluders"]) == (1e-6, 500)
    for low, high in (told["if_they_collude"], told["if_all_others_collude"]):
        assert low <= high <= low + 1e-8


def test_too_many_users_are_said_to_be_too_many(run: Any) -> None:
    outcome = run("jrr", "--eps", "1", "--users", "100000", "--share", "0.033")
    assert outcome.code == 0
    assert "not computed for more than 20000 users" in outcome.out
    assert "hidden" not in run("jrr", "--eps", "1", "--users", "100000", "--json").json


def test_hidden_says_the_optimum_and_whom_to_trust(run: Any) -> None:
    out = run(*HIDDEN).out
    assert "298.416" in out
    assert "32.4% of independent answers' 920.674" in out
    assert "everybody else colludes:     1 (asked for 1)" in out
    assert "e^(-1 |k - 308|)" in out
    assert "must not work with the collector" in out
    assert "12.8% are left however many users there are" in out


def test_hidden_writes_a_file_that_show_reads_again(run: Any, tmp_path: Path) -> None:
    path, picture = tmp_path / "hidden.json", tmp_path / "hidden.png"
    outcome = run(*HIDDEN, "--out", str(path), "--plot", str(picture))
    assert outcome.code == 0
    assert picture.stat().st_size > 1000
    assert load_design(path).mechanism.peak == 308
    shown = run("show", str(path))
    assert "derived again" in shown.out
    assert "298.416" in shown.out
    assert json.loads(run("show", str(path), "--json").out)["variance"] == load_design(path).certificate.upper


def test_hidden_answers_as_json(run: Any) -> None:
    said = run(*HIDDEN, "--colluders", "100", "--json").json
    assert said["variance"] == said["certificate"]["upper"] == pytest.approx(298.4158, abs=1e-4)
    assert said["floor"] == pytest.approx(4 * 0.033 * 0.967 * said["independent_variance"])
    assert said["hidden"]["if_all_others_collude"][1] == 1.0
    assert said["hidden"]["if_they_collude"][1] < 1
    assert said["one_in_ten_stay_away"] > said["variance"]


def test_hidden_takes_ranges_priors_categories_and_a_delta(run: Any) -> None:
    assert "the worst share from 0.02 to 0.1" in run(*HIDDEN[:5], "--share", "0.02,0.1", "--hidden").out
    assert "the mean over the prior" in run(*HIDDEN[:5], "--prior", "beta:2,8", "--hidden").out
    assert "5 values" in run(*HIDDEN, "--categories", "5").out
    out = run("jrr", "--eps", "1", "--users", "40", "--share", "0", "--delta", "1e-2", "--hidden").out
    assert "(but for a chance of 0.01)" in out
    assert "eps = 1 but for a chance of 0.01" in out


@pytest.mark.parametrize(
    "more",
    [("--delta", "0.1", "--share", "0.5"), ("--inside", "olh", "--share", "0.9"), ("--categories", "3")],
    ids=["delta", "hash values of which there are two", "categories"],
)
def test_no_floor_is_said_where_none_is_known(run: Any, more: tuple[str, ...]) -> None:
    """With a delta there are laws below it, and of hash values only the category's own users err together."""
    base = ("jrr", "--eps", "0.1", "--users", "40", "--hidden", *more)
    assert "however many users" not in run(*base).out
    assert "floor" not in {name for name, value in run(*base, "--json").json.items() if value is not None}


def test_what_some_colluders_learn_is_said_to_be_for_who_knows_nothing_else(run: Any) -> None:
    assert "whoever has an idea of them" in run(*HIDDEN).out
    assert "whoever has an idea of them" in run("jrr", "--eps", "1", "--users", "100").out
    everybody = run("jrr", "--eps", "1", "--users", "100", "--colluders", "99").out
    assert "whoever has an idea of them" not in everybody


def test_users_on_their_own_need_trust_nobody(run: Any) -> None:
    out = run("jrr", "--eps", "1", "--users", "100", "--share", "0.5", "--hidden").out
    assert "there is nobody whom they must trust" in out
    assert "must not work with the collector" not in out


def test_of_many_values_the_class_of_the_optimum_is_narrower(run: Any) -> None:
    assert "treat them alike, each lie drawn on its own, p above 1/5" in run(*HIDDEN, "--categories", "5").out
    assert "each lie" not in run(*HIDDEN).out


def test_inside_unary_encoding_oue_stands_beside(run: Any) -> None:
    """``n 4 e / (e - 1)^2`` and a term in the count, at which OUE is not the best of its kind."""
    out = run("jrr", "--eps", "1", "--users", "101", "--share", "0", "--inside", "oue", "--hidden").out
    assert "symmetric unary encoding at half the eps" in out
    assert f"has {101 * 4 * math.e / (math.e - 1) ** 2:.6g} with independent answers" in out


def test_an_epsilon_that_is_kept_is_said_as_it_was_asked_for(run: Any) -> None:
    """0.01 as a double is a little more than 0.01, and is not said to be .01001."""
    out = run("jrr", "--eps", "0.01", "--users", "200", "--share", "0", "--hidden").out
    assert "everybody else colludes:     0.01 (asked for 0.01)" in out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--delta", "2"), "delta must"),
        (("--inside", "oue", "--delta", "0.1"), "options must be left out with --inside (got '--delta')"),
        (("--inside", "oue", "--method", "scip"), "options must be left out with --inside (got '--method')"),
        (("--hidden", "--run-servers", "--share", "0.1,0.2"), "run servers must"),
        (("--hidden", "--run-servers", "--inside", "oue"), "run servers must"),
    ],
    ids=["delta", "delta of pairs in an encoding", "method", "range", "encoding"],
)
def test_what_has_no_effect_or_no_meaning_is_refused_before_anything_is_said(
    run: Any, more: tuple[str, ...], words: str
) -> None:
    outcome = run("jrr", "--eps", "1", "--users", "100", *more)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"bad input: {words}" in outcome.err


def test_three_servers_draw_who_lies(run: Any) -> None:
    """The estimate is within 5 standard errors but for a chance of 1e-6."""
    outcome = run(*HIDDEN, "--run-servers", "--json")
    assert outcome.code == 0
    said = outcome.json["run"]
    assert (said["servers"], said["users"], said["true_count"]) == (3, 1000, 33)
    assert abs(said["estimate"] - 33) < 5 * math.sqrt(298.42)
    assert 0 < said["delta"] < 1e-30
    assert "each server sent" in run(*HIDDEN, "--run-servers").out


def test_hidden_inside_encodings(run: Any) -> None:
    unary = run(
        "jrr", "--eps", "1", "--users", "1000", "--categories", "20", "--inside", "oue", "--hidden", "--json"
    ).json
    assert unary["problem"]["among"]["encoding"] == "unary"
    assert unary["certificate"]["privacy_loss"] == 1
    hashing = run(
        "jrr", "--eps", "1", "--users", "1000", "--share", "0.4", "--inside", "olh", "--hidden", "--json"
    ).json
    assert hashing["problem"]["among"]["encoding"] == "hashing"
    assert hashing["variance"] < hashing["independent_variance"]


@pytest.mark.parametrize(("inside", "kind"), [("oue", JointUnary), ("olh", JointHashing)])
def test_inside_an_encoding_the_strength_is_the_largest_the_budget_allows(run: Any, inside: str, kind: type) -> None:
    base = ("jrr", "--eps", "1", "--users", "1000", "--share", "0.3", "--categories", "20", "--inside", inside)
    free = run(*base, "--json").json
    assert free["strength"] == 1
    capped = run(*base, "--conditional-eps", "2", "--json").json
    assert 0 < capped["strength"] < 1
    assert capped["epsilon_conditional"][1] <= 2
    assert free["variance"] < capped["variance"] < capped["independent_variance"]
    law = Codec().of_kind((JointUnary, JointHashing), capped["mechanism"], "mechanism")
    assert isinstance(law, kind)
    assert float(law.variance(1000, 300)) == capped["variance"]
    assert "coupled with strength" in run(*base).out


def test_the_strongest_coupling_is_decided_exactly() -> None:
    found = strongest(lambda strength: 1 + strength, exp_lower(0.2))
    assert found is not None
    assert 1 + found <= exp_lower(0.2) < 1 + found + 2**-29
    assert strongest(lambda strength: 2 + strength, exp_lower(0.1)) is None
    assert strongest(lambda strength: None, None) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*HIDDEN, "--group", "4"), "--group"),
        ((*HIDDEN, "--conditional-eps", "1"), "--conditional-eps"),
        ((*HIDDEN, "--run-parties", "4"), "--run-parties"),
        ((*HIDDEN, "--method", "scip"), "--method"),
        ((*HIDDEN, "--delta", "1e-6"), "at most 400 with a delta"),
        ((*HIDDEN, "--colluders", "1000"), "colluders"),
        ((*HIDDEN, "--prior", "uniform"), "--prior"),
        (("jrr", "--eps", "1", "--run-servers"), "--hidden"),
        (("jrr", "--hidden"), "eps"),
        (("jrr", "--eps", "1", "--inside", "grr"), "one of oue, olh"),
        (("jrr", "--eps", "1", "--inside", "oue", "--group", "4"), "pairs"),
        (("jrr", "--eps", "1", "--inside", "oue", "--colluders", "4"), "colluders"),
        (("jrr", "--eps", "1", "--inside", "oue", "--conditional-eps", "0.5"), "conditional eps"),
        (("jrr", "--eps", "1", "--inside", "oue", "--out", "x.json"), "out"),
    ],
)
def test_what_does_not_go_together_is_refused(run: Any, options: tuple[str, ...], said: str) -> None:
    outcome = run(*options)
    assert outcome.code == 2
    assert said in outcome.err
    assert not outcome.out


def test_a_search_without_time_ends_with_bounds(run: Any) -> None:
    outcome = run("jrr", "--eps", "1", "--users", "100000", "--hidden", "--time-limit", "0.01")
    assert outcome.code == 3
    assert "optimum lies in" in outcome.err
