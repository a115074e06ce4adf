"""Coq's theories, compiled once, and the checker that is extracted from them; skipped by name where Coq is missing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mechdesign import Average, Pairwise, Problem, Pure, Worst, solve
from mechdesign.mechanisms import catalogue
from mechdesign.methods.result import Design
from mechdesign.tables import Table, make_table
from mechdesign.tables.formal import build_theories
from mechdesign.tables.formal.source import theories as texts
from mechdesign.tables.kinds import Encoding
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Absolute, Squared
from mechdesign.words.priors import Atoms
from mechdesign.words.workloads import Prefix, Ranges, Workload
from tests.methods.problems import numbers, unbiased_under

ITEMS = {
    "response": {},
    "unary": {"form": "symmetric"},
    "hashing": {"hashes": 3},
    "subset": {"subset": 2},
    "hadamard": {"blocks": 2},
    "sketch": {"functions": 4, "buckets": 3},
}


def workload(asked: Any, criterion: Average | Worst) -> Design:
    return solve(Problem(loss=asked, privacy=Pure(1.0), criterion=criterion), gap=1e-3)


LINE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
LIMITS = [[0, 1, 2], [1, 0, 0.5], [2, 0.5, 0]]
VALUES = Atoms([0.1, 0.2, 0.5, 0.9], [0.25, 0.25, 0.375, 0.125])
ENDS = Atoms([0.0, 1.5, 3.0], [0.5, 0.25, 0.25])


def under_prior(loss: Absolute | Squared) -> Design:
    return solve(Problem(inputs=Interval(0, 1), loss=loss, privacy=Pure(2.0), criterion=Average(VALUES)))


@pytest.fixture(scope="session")
def kinds() -> dict[str, Table]:
    """A small table of every kind."""
    made = {kind: make_table(Encoding(kind, 1.0, 5, kind, options), 16) for kind, options in ITEMS.items()}
    return made | {
        "finite": make_table(catalogue.randomised_response(1.0, Finite((0, 1, 5)))),
        "window": make_table(solve(numbers(1.0, Squared()), gap=1e-2)),
        "unbiased": make_table(solve(unbiased_under(1.0), gap=1e-2, size=9)),
        "pieces": make_table(catalogue.pm(1.0)),
        "additive": make_table(catalogue.laplace(1.0), 16),
    }


@pytest.fixture(scope="session")
def designs() -> dict[str, Design]:
    """A design with every kind of evidence that Coq checks."""
    return {
        "matrix, worst case": solve(Problem(loss=LINE, privacy=Pure(1.0))),
        "matrix, average": solve(Problem(loss=LINE, privacy=Pure(1.0), criterion=Average([0.5, 0.25, 0.25]))),
        "whole numbers": solve(Problem(inputs=Finite((0, 1, 5)), loss=Squared(), privacy=Pure(1.0))),
        "distance": solve(numbers(2.0, Absolute()), gap=1e-2),
        "square": solve(numbers(1.0, Squared()), gap=1e-2),
        "workload, average": workload(Prefix(4), Average()),
        "workload, worst type": workload(Prefix(4), Worst()),
        "queries with weights": workload(Workload(Prefix(3), [1, 4, 1]), Average()),
        "more queries than types": workload(Ranges(4), Average()),
        "prior, distance": under_prior(Absolute()),
        "prior, square": under_prior(Squared()),
        "without bias": solve(unbiased_under(1.0, ENDS, Interval(0, 3)), size=9, gap=1e-2),
        "pairs, worst case": solve(Problem(loss=LINE, privacy=Pairwise(LIMITS))),
        "pairs, average": solve(Problem(loss=LINE, privacy=Pairwise(LIMITS), criterion=Average([0.5, 0.25, 0.25]))),
    }


@pytest.fixture(scope="session")
def coq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the theories, checked."""
    if shutil.which("coqc") is None or shutil.which("coqchk") is None:
        pytest.skip("Coq is not installed")
    folder = tmp_path_factory.mktemp("coq")
    build_theories(folder)
    return folder


@pytest.fixture(scope="session")
def extracted(coq: Path) -> Path:
    """The checker that Coq writes and OCaml compiles."""
    for query in (["ocamlfind", "query", "zarith"], ["make", "--version"]):
        if shutil.which(query[0]) is None or subprocess.run(query, capture_output=True, check=False).returncode:
            pytest.skip(f"{' '.join(query)} finds nothing")
    for path, text in texts().items():
        if not path.endswith(".v") or path.startswith("checker"):
            (coq / path).parent.mkdir(exist_ok=True)
            (coq / path).write_text(text)
    done = subprocess.run(["make", "mechdesign-verify"], cwd=coq, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return coq / "mechdesign-verify"
