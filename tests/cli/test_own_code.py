"""``module:name`` on the command line: found from the current folder, run, and refused with the next step."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

MINE = """
import random
import numpy as np

class grr:
    @staticmethod
    def perturb(value, epsilon, size):
        p = np.exp(epsilon) / (np.exp(epsilon) + size - 1)
        if random.random() < p:
            return value
        other = random.randrange(size - 1)
        return other if other < value else other + 1

    @staticmethod
    def aggregate(reports, epsilon, size):
        p = np.exp(epsilon) / (np.exp(epsilon) + size - 1)
        q = (1 - p) / (size - 1)
        return (np.bincount(reports, minlength=size) - len(reports) * q) / (p - q)

def halved(estimate):
    return (estimate + 1 / estimate.size) / 2

def Worst(truth, estimate):
    return np.abs(truth - estimate).max()

def short(estimate):
    return estimate[1:]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with modules of one's own and data, in which the command runs."""
    (tmp_path / "mine_of_test.py").write_text(MINE)
    (tmp_path / "broken_of_test.py").write_text("x = 1\n\nprint(1 / 0)\n")
    (tmp_path / "wrong_of_test.py").write_text("def f(:\n")
    (tmp_path / "needs_of_test.py").write_text("import no_such_module_anywhere\n")
    package = tmp_path / "protocols_of_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "grr.py").write_text(
        MINE.partition("class")[0] + "from mine_of_test import grr\nperturb, aggregate = grr.perturb, grr.aggregate\n"
    )
    (tmp_path / "data.csv").write_text("\n".join("abcd"[v] for v in np.repeat(range(4), [60, 25, 10, 5])))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != ""])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if "of_test" in name:
            del sys.modules[name]


BENCH = ("bench", "-e", "1", "-d", "data.csv", "-r", "2")


def test_a_protocol_a_method_and_a_metric_come_from_a_module_of_this_folder(run: Any, folder: Path) -> None:
    names = ("-p", "grr", "mine_of_test:grr", "-m", "raw", "mine_of_test:halved", "-u", "mine_of_test:Worst")
    outcome = run(*BENCH, *names, "--json")
    document = outcome.json
    (ranked,) = document["ranking"].values()
    assert list(document["ranking"]) == ["mine_of_test:Worst"]
    assert {(row["protocol"], row["method"]) for row in ranked} == {
        (protocol, method) for protocol in ("grr", "mine_of_test:grr") for method in ("raw", "mine_of_test:halved")
    }
    assert "mine_of_test:grr: run user by user, 200 calls of perturb" in outcome.err
    assert any("the word of its author" in note for note in document["notes"])


def test_a_module_of_a_package_is_a_protocol_as_in_ldp3(run: Any, folder: Path) -> None:
    """It need not be imported by its package, and its two functions are its own."""
    document = run(*BENCH, "-p", "protocols_of_test:grr", "-m", "raw", "--json").json
    assert document["ranking"]["l1"][0]["protocol"] == "protocols_of_test:grr"


def test_pictures_and_kept_results_take_names_of_one_s_own(run: Any, folder: Path) -> None:
    options = ("-p", "mine_of_test:grr", "-m", "raw", "-u", "mine_of_test:Worst", "--results", "kept.json")
    assert run(*BENCH, *options, "--plot", "a.png").code == 0
    assert run(*BENCH, *options).code == 0
    assert run("plot", "kept.json", "--out", "b.png").code == 0


def test_the_help_says_that_code_is_run(run: Any) -> None:
    out = " ".join(run("bench", "--help").out.split())
    assert "of your own are module:name: bench runs the code of module.py in this folder" in out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere_of_test:f", "there is no module nowhere_of_test here or on Python's path"),
        ("needs_of_test:f", "load without an error: it needs no_such_module_anywhere"),
        ("broken_of_test:f", "ZeroDivisionError in line 3 of broken_of_test.py"),
        ("wrong_of_test:f", "SyntaxError in line 1 of wrong_of_test.py"),
        ("mine_of_test:halve", "did you mean halved?"),
        ("mine_of_test:grr.nothing", "name something that is in grr"),
        ("mine_of_test:short", "be 4 numbers"),
        ("mine_of_test:np", "be a function here"),
    ],
)
def test_what_cannot_be_loaded_or_run_exits_with_2(run: Any, folder: Path, name: str, words: str) -> None:
    outcome = run(*BENCH, "-p", "grr", "-m", name)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


def test_a_function_is_no_protocol(run: Any, folder: Path) -> None:
    outcome = run(*BENCH, "-p", "mine_of_test:halved")
    assert outcome.code == 2
    assert "be two functions, or have them: perturb, and aggregate or estimate" in outcome.err


def test_code_of_one_s_own_is_not_sent_to_a_cluster(run: Any, folder: Path) -> None:
    outcome = run(*BENCH, "-m", "mine_of_test:halved", "--engine", "dask")
    assert outcome.code == 2
    assert "be local where mine_of_test:halved is run" in outcome.err
