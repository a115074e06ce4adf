"""Designs with their field, asked for from Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.studies.joint_column import Column
from mechdesign.words.classes import Together
from mechdesign.words.counts import Count
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.priors import uniform
from mechdesign.words.privacy import Hidden
from mechdesign.words.workloads import Workload, parse_workload
from tests.methods import problems
from tests.methods.problems import joint_problem, numbers

UNIT = md.Interval(0, 1)
PLACES = md.Problem(loss=md.Distances(1.0), privacy=md.Metric([[0.0], [1.0], [2.0]], 1.0))
CROWD = md.Problem(
    inputs=md.Finite((0, 1)), loss=Count(0.1), privacy=Hidden(1.0, users=100), criterion=Worst(), among=Together()
)


def _queries(name: str, size: int) -> md.Problem:
    return md.Problem(loss=Workload(parse_workload(name, size)), privacy=md.Pure(1.0), criterion=Average())


ASKED: dict[str, tuple[Any, str]] = {
    "one": (md.OptimumStudy(numbers(1.0), gap=1e-2), "minimax --eps 1 --gap 1e-2"),
    "sweep": (md.SweepStudy(numbers(1.0), (1.0, 2.0), gap=1e-2), "minimax --sweep 1,2 --gap 1e-2"),
    "curve": (
        md.ParetoStudy(numbers(1.0, criterion=md.Lexicographic(uniform(UNIT))), 2, gap=1e-2),
        "minimax --eps 1 --criterion pareto --points 2 --gap 1e-2",
    ),
    "queries": (
        md.WorkloadStudy(_queries("prefix", 4), users=100),
        "workload --eps 1 --queries prefix --size 4 --users 100",
    ),
    "groups": (
        md.JointStudy(joint_problem(1.0, users=1000, share=0.03, colluders=50)),
        "jrr --eps 1 --users 1000 --share 0.03 --colluders 50",
    ),
    "everybody": (
        md.HiddenJointStudy(CROWD, 3),
        "jrr --hidden --eps 1 --users 100 --share 0.1 --colluders 3",
    ),
    "inside": (
        md.InsideStudy(joint_problem(1.0, users=1000, share=0.03, caps=(1.5,))),
        "jrr --inside oue --eps 1 --users 1000 --share 0.03 --conditional-eps 1.5",
    ),
    "noise": (
        md.AdditiveStudy(problems.additive(1.0, bins=4)),
        "aaa --eps 1 --prior uniform --bins 4",
    ),
}


@pytest.fixture(params=ASKED, scope="module")
def asked(request: pytest.FixtureRequest) -> tuple[Any, str]:
    study, words = ASKED[request.param]
    return study.answer(), words


def _timeless(said: Any) -> Any:
    """Everything that two runs have in common."""
    if isinstance(said, dict):
        return {name: _timeless(value) for name, value in said.items() if name != "seconds"}
    return [_timeless(one) for one in said] if isinstance(said, list) else said


def test_the_answer_in_python_is_that_of_the_command(asked: tuple[Any, str]) -> None:
    found, words = asked
    run = [sys.executable, "-m", "mechdesign", *words.split(), "--json", "--quiet"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert _timeless(json.loads(found.json())) == _timeless(json.loads(done.stdout))


def test_text_html_and_frame_hold_every_row(asked: tuple[Any, str]) -> None:
    found, _ = asked
    frame = found.frame()
    assert len(frame) == len(found.rows) > 0
    assert all(name in str(found) and name in found._repr_html_() for name in frame.get("name", ()))


@pytest.mark.parametrize("name", [name for name in ASKED if name != "inside"])
def test_a_design_draws_itself(name: str) -> None:
    assert ASKED[name][0].answer().plot().axes


def test_a_column_is_collected_by_groups_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "smokers.csv"
    path.write_text("smokes\n" + "yes\nno\nno\nno\n" * 100)
    column = Column(path, "smokes", runs=50)
    everyone = column.read()
    assert everyone is not None
    problem = joint_problem(1.0, users=400, share=0.25)
    found = md.JointStudy(problem, column=column, everyone=everyone).answer()
    assert found.collected is not None
    assert (found.collected.count, found.collected.users) == (100, 400)
    assert len(found.frame()) == 2
    with pytest.raises(InvalidInput, match="users must be 400"):
        md.JointStudy(joint_problem(1.0, users=10, share=0.2), column=column, everyone=everyone).answer()


def test_a_sweep_draws_the_structure_of_its_optima() -> None:
    assert md.SweepStudy(numbers(1.0), (1.0, 2.0), gap=1e-2, compare=False).answer().structure().axes


def test_places_say_what_an_adversary_is_left_with_only_under_a_prior() -> None:
    prior = md.Problem(loss=PLACES.loss, privacy=PLACES.privacy, criterion=Average([0.5, 0.25, 0.25]))
    worst, average = (md.PairsStudy(problem).answer() for problem in (PLACES, prior))
    assert worst.around.adversary_error is None
    assert average.around.adversary_error is not None
    assert 0 < average.around.adversary_error <= average.design.certificate.upper * (1 + 1e-9)


def test_nobody_is_ranked_where_that_is_not_wanted() -> None:
    found = md.PairsStudy(PLACES, compare=False).answer()
    assert found.frame().empty
    assert "comparison" not in found.as_dict()


def test_a_grid_that_is_tuned_is_nearly_the_best_of_those_tried() -> None:
    problem = problems.additive(1.0)
    found = md.AdditiveStudy(problem, tuned=True, seconds=20, compare=False).answer()
    assert found.tuning is not None
    totals = {(trial.bins, trial.reach): trial.total for trial in found.tuning.trials}
    assert totals[found.problem.among.bins, found.problem.among.reach] <= 1.001 * min(totals.values())


def test_every_mechanism_has_its_average_under_the_prior_itself_too() -> None:
    found = md.AdditiveStudy(problems.additive(1.0, md.priors.Atoms([0.3], [1.0]), bins=2), seconds=20).answer()
    for row in found.rows:
        at_ends = [float(found.rivalry.mechanisms[row.name].variance(x)) for x in (0.0, 1.0)] if row.published else []
        assert row.total is not None
        if row.name == "duchi":
            assert row.total == pytest.approx(float(md.catalogue.duchi(1.0).variance(0.3)), rel=1e-12)
            assert row.average == pytest.approx(0.7 * at_ends[0] + 0.3 * at_ends[1], rel=1e-12)


def test_time_that_ran_out_says_that_more_may_help() -> None:
    problem = _queries("ranges", 12)
    with pytest.raises(NoAnswer, match="more time may close it"):
        md.WorkloadStudy(problem, seconds=0.01, gap=1e-8, compare=False).answer()


def test_an_unknown_form_is_refused() -> None:
    form: Any = "bound"
    with pytest.raises(InvalidInput, match="form"):
        md.AdditiveStudy(problems.additive(1.0), form=form)
