"""What callers pass by mistake is refused in typed words, or does what it says."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.errors import FileProblem, InvalidInput, NoAnswer
from mechdesign.mechanisms import catalogue
from mechdesign.methods.registry import solve
from mechdesign.studies.frequencies import bench
from mechdesign.studies.frequencies.mean import calibrate
from mechdesign.studies.frequencies.protocols import protocol
from mechdesign.tables import estimate, make_table
from mechdesign.words.classes import UnbiasedPiecewise
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods.problems import numbers


@pytest.mark.parametrize("points", [3, 3.0, None, "01", b"01"])
def test_a_finite_domain_is_made_of_points(points: Any) -> None:
    with pytest.raises(InvalidInput, match="domain must be several points"):
        Finite(points)


def test_ragged_reports_are_refused() -> None:
    with pytest.raises(InvalidInput, match="reports"):
        estimate(make_table(catalogue.pm(1.0)), [[1.0], [2.0, 3.0]])


def test_a_mask_is_not_ignored() -> None:
    shares = np.ma.array([0.5, 0.5], mask=[False, True])
    with pytest.raises(InvalidInput, match="no masked entries"):
        protocol("grr", 1.0, 2).variance(shares, 100)
    whole = np.ma.array([0.5, 0.5], mask=False)
    assert protocol("grr", 1.0, 2).variance(whole, 100).shape == (2,)


def test_seconds_are_numbers_of_any_type() -> None:
    assert solve(numbers(1.0, Power(2.0)), Decimal(600)).certificate.upper > 0  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="seconds"):
        solve(numbers(1.0, Power(2.0)), Decimal(0))  # type: ignore[arg-type]


def test_an_epsilon_that_doubles_do_not_resolve_leaves_bounds() -> None:
    with pytest.raises(NoAnswer, match="pass a larger one") as caught:
        solve(Problem(inputs=Interval(0, 1), loss="squared", privacy=Pure(1e-12), among=UnbiasedPiecewise()))
    assert 0 < caught.value.lower <= caught.value.upper


@pytest.mark.parametrize("epsilon", [1.0, 1e-6, 1e-9, 1e-12])
def test_unbiased_mechanisms_are_unbiased_for_small_epsilon_too(epsilon: float) -> None:
    assert calibrate(catalogue.pm(epsilon)).is_unbiased
    assert not calibrate(catalogue.ogpm(epsilon)).is_unbiased


@pytest.mark.parametrize("change", [{"metrics": []}, {"l1": 1e308}])
def test_results_edited_by_hand_are_a_file_problem(tmp_path: Path, change: dict[str, Any]) -> None:
    from mechdesign.studies.frequencies.datasets import Dataset

    path = tmp_path / "results.json"
    bench.run(bench.BenchPlan(("grr",), ("raw",), (1.0,), runs=1), Dataset.of_labels(["a", "b"] * 50), results=path)
    document = json.loads(path.read_text())
    if "metrics" in change:
        document["origin"]["metrics"] = []
    else:
        document["rows"][0][4]["l1"] = 1e308
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match="results file"):
        bench.read_results(path)
