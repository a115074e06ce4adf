"""Searches in files and on engines: the same answers however they are run, stopped or resumed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mechdesign.engine import Dask, Local
from mechdesign.errors import FileProblem, InvalidInput, NoAnswer
from mechdesign.studies.budgets import runner
from mechdesign.studies.budgets.capacity import Capacity, Requirement
from mechdesign.studies.budgets.choice import capacity_options, ranked
from mechdesign.studies.budgets.constraint import Constraint
from mechdesign.studies.budgets.ledger import Ledger
from mechdesign.studies.budgets.populations import msnbc_like, water_like, water_sample
from mechdesign.studies.budgets.runner import METHODS, Answer, Task
from mechdesign.studies.budgets.searches import Range
from mechdesign.studies.budgets.simulation import Question

COUNTS = np.array([500, 300, 150, 50])
SPAN = Range(0.05, 8.0, 0.1)


def question(name: str = "oue", threshold: float = 0.6) -> Question:
    return Question(name, COUNTS, Constraint("kendall", threshold, 0.8))


def task(name: str = "oue", method: str = "certified", threshold: float = 0.6) -> Task:
    options = {"most_runs": 1000} if method == "certified" else {} if method == "dbs" else {"runs": 100}
    return Task(question(name, threshold), method, SPAN, options)


def plain(answers: list[Answer]) -> list[object]:
    return [(answer.task.question.name, answer.task.method, answer.result, answer.reason) for answer in answers]


HOPELESS = Task(question(threshold=1.0), "bs", Range(0.05, 0.5, 0.1), {"runs": 100})
TASKS = [HOPELESS, task("oue"), task("grr"), task("grr", "bs"), task("oue", "mpass"), task("oue", "dbs")]


def test_methods_are_the_certified_one_and_the_five():
    assert METHODS == ("certified", "bs", "rbs", "dbs", "mpass", "bayes")


def test_answers_do_not_depend_on_the_engine():
    here = runner.run(TASKS)
    assert plain(runner.run(TASKS, Local(2))) == plain(here)


def test_answers_do_not_depend_on_a_dask_cluster():
    pytest.importorskip("distributed", reason="an optional dependency")
    assert plain(runner.run(TASKS[:2], Dask(None, 1))) == plain(runner.run(TASKS[:2]))


def test_a_finished_run_is_not_simulated_again(tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    first = runner.run(TASKS, results=path)
    monkeypatch.setattr(Question, "values", lambda *_: pytest.fail("simulated again"))
    assert plain(runner.run(TASKS, results=path)) == plain(first)


def test_a_run_that_is_interrupted_resumes_with_the_same_answer(tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    whole = runner.run([task("grr")])
    original, calls = Question.values, []

    def stops(self, *arguments):
        calls.append(arguments)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(Question, "values", stops)
    with pytest.raises(KeyboardInterrupt):
        runner.run([task("grr")], results=path)
    assert len(next(iter(json.loads(path.read_text())["questions"].values()))) == 4
    resumed = runner.run([task("grr")], results=path)
    assert plain(resumed) == plain(whole)
    # four batches were remembered, the fifth was drawn anew
    assert len(calls) == 1 + sum(verdict.tally.runs for verdict in whole[0].result.verdicts) // 100


def test_ledgers_count_only_what_they_simulate():
    ledger = Ledger(question())
    ledger.tally(1.0, 1, 250)
    assert (ledger.simulated, len(ledger.entries)) == (250, 3)
    ledger.tally(1.0, 1, 250)
    assert ledger.simulated == 250


def test_questions_share_a_file_and_keep_apart(tmp_path):
    path = tmp_path / "results.json"
    runner.run([task("oue")], results=path)
    runner.run([task("grr")], results=path)
    assert len(json.loads(path.read_text())["questions"]) == 2


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        '{"kind": "mechdesign budget results", "version": 2, "questions": {}}',
        '{"kind": "mechdesign budget results", "version": 1, "questions": []}',
        '{"kind": "mechdesign budget results", "version": 1, "questions": {"a": [[1, 2]]}}',
        '{"kind": "mechdesign budget results", "version": 1, "questions": {"a": [["0x1p+0", 0, 0, 100, 100, 101, 1]]}}',
        '{"kind": "mechdesign budget results", "ver',
    ],
)
def test_doubtful_results_files_are_refused(tmp_path, content):
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(FileProblem):
        runner.run([task()], results=path)


def test_functions_cannot_be_told_apart_in_files(tmp_path):
    asked = Question(lambda eps, k: question().build(eps, k), COUNTS, Constraint("kendall", 0.6, 0.8))
    with pytest.raises(InvalidInput, match="functions"):
        runner.run([Task(asked)], results=tmp_path / "results.json")


def test_failures_are_answers_too():
    found = runner.run([HOPELESS, task()])
    assert found[0].epsilon is None
    assert "best seen" in found[0].reason
    assert isinstance(found[0].error(), InvalidInput)
    assert found[1].error() is None


def test_an_undecided_search_keeps_its_bounds():
    # at the largest epsilon the chance is so near what is wanted that 100 collections decide nothing
    wish = Constraint("l1", 0.2, 0.8)
    narrow = Task(Question("grr", np.array([120, 80]), wish), "certified", Range(0.5, 1.05, 0.1), {"most_runs": 100})
    found = runner.run([narrow])[0]
    assert isinstance(found.error(), NoAnswer)
    assert found.stopped[1] == 0.5


def test_progress_tells_the_bracket_while_it_shrinks():
    said: list[str] = []
    runner.run([task("oue"), task("grr")], say=said.append)
    assert said[0].startswith("search 1 of 2: oue certified, eps = 8")
    assert any("eps in [" in text for text in said)
    assert said[-1].startswith("search 2 of 2: grr certified, eps in [")


def test_protocols_are_ranked_by_the_epsilon_they_need():
    tasks = [
        Task(Question(name, msnbc_like(), Constraint("kendall", 0.5, 0.5)), options={"most_runs": 2000})
        for name in ("grr", "oue", "olh")
    ]
    tasks.append(Task(tasks[0].question, span=Range(0.001, 0.02, 0.005)))
    places = ranked(runner.run(tasks))
    assert [place.answer.task.question.name for place in places][2:] == ["grr", "grr"]
    assert places[-1].answer.epsilon is None
    # OUE and OLH with the best g have nearly the same law: the evidence does not tell them apart, and says so
    assert [place.tied for place in places] == [False, True, False, False]


def test_capacity_options_put_the_smallest_epsilon_first():
    capacity = Capacity(np.arange(41), water_like(), 1_700_000)
    options = capacity_options(capacity, Requirement("fp", 0.05), ["sue", "grr", "ss", "hm"])
    assert [option.name for option in options] == ["hm", "ss", "grr", "sue"]
    assert [(option.route, option.exact) for option in options] == [
        ("mean", False),
        ("frequency", False),
        ("frequency", True),
        ("frequency", True),
    ]


def test_options_that_need_more_than_allowed_come_last_with_the_reason():
    capacity = Capacity(np.arange(41), water_sample(), 18_000)
    options = capacity_options(capacity, Requirement("fp", 0.05), ["sue", "grr", "pm"], most=3.0)
    assert [option.epsilon is None for option in options] == [False, False, True]
    assert "best reached" in options[-1].reason


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: runner.run([]), "tasks"),
        (lambda: task(method="guess"), "method"),
        (lambda: capacity_options(Capacity([0, 1], [1, 1], 2), Requirement("fp", 0.1), []), "protocol"),
        (lambda: capacity_options(Capacity([0, 1], [1, 1], 2), Requirement("fp", 0.1), ["rsa"]), "protocol"),
        (lambda: capacity_options(Capacity([0, 1], [1, 1], 0.5), Requirement("fp", 0.1), ["grr"]), "can happen"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
