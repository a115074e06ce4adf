"""Numbers and categories under one epsilon: the shares of questions, the error that is said, and the bound."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols.subset import ss
from mechdesign.studies.frequencies.record_designs import record_designs
from mechdesign.studies.record import RecordStudy
from mechdesign.words.domains import Interval
from mechdesign.words.workloads import Histogram, Workload

CITIES = ("Bern", "Rome", "Ulm")
ASKED: dict[str, Any] = {
    "columns": "age,income",
    "bounds": "18,90;0,100",
    "categories": {"city": CITIES, "smokes": ("no", "yes")},
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, n = np.random.default_rng(0), 20_000
    ages, pay = rng.uniform(18, 60, n).round(2), rng.uniform(0, 50, n).round(2)
    cities = np.array(CITIES)[rng.choice(3, n, p=[0.7, 0.2, 0.1])]
    smokes = np.array(["no", "yes"])[rng.choice(2, n, p=[0.8, 0.2])]
    path = tmp_path_factory.mktemp("record") / "people.csv"
    rows = zip(ages.tolist(), cities.tolist(), pay.tolist(), smokes.tolist(), strict=True)
    path.write_text("age,city,income,smokes\n" + "".join(f"{a},{c},{p},{s}\n" for a, c, p, s in rows))
    return path


def test_no_other_shares_of_the_questions_have_less_error() -> None:
    """The variances are computed from the laws here; 99 shares of the first question are tried."""
    design = next(one for one in record_designs(1.2, [Interval(-1, 1)], [1.0], [3], [1.0]) if one.drawn == 1)
    second = np.array([design.numbers.worst + 1, _second(1.2, 3)])
    errors = [(second / np.array([share, 1 - share])).sum() - 1 - 2 / 3 for share in np.linspace(0.01, 0.99, 99)]
    assert design.worst <= min(errors) <= 1.001 * design.worst


def _second(epsilon: float, size: int) -> float:
    """``E|Y - 1/k|^2`` of subset selection, summed over its reports."""
    law = ss(epsilon, size)
    chances = law.channel()[0]
    sets = np.array([[float(v in chosen) for v in range(size)] for chosen in combinations(range(size), law.subset)])
    reports = (sets - law.q) / (law.p - law.q)
    return float(chances @ ((reports - 1 / size) ** 2).sum(axis=1))


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1.0), (3, 0.5), (5, 1.0), (5, 4.0)])
def test_a_category_has_the_least_noise_of_all_unbiased_mechanisms(size: int, epsilon: float) -> None:
    """Its part of the bound is what the certified optimum of a histogram has, and what subset selection has."""
    certificate = md.solve(md.Problem(loss=Workload(Histogram(size)), privacy=md.Pure(epsilon))).certificate
    noise = _second(epsilon, size) - (1 - 1 / size)
    assert certificate.lower * (1 - 1e-6) <= noise <= certificate.upper * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0, 8.0])
def test_the_design_lies_above_the_bound_and_below_published_practice(epsilon: float) -> None:
    found = RecordStudy(epsilon, **ASKED).answer()
    ways = {way.name: way.worst for way in found.ways}
    assert found.lower < found.worst == min(ways.values())
    assert sum(" of " in name or "eps split" in name for name in ways) >= 2
    assert min(error for name, error in ways.items() if "oue" in name) > found.worst


def test_estimates_are_those_of_the_people_and_their_errors_no_larger_than_is_said(people: Path) -> None:
    """Seed 5, 20,000 people: 7 comparisons of 5 standard errors, off by chance in 5e-6 of all runs."""
    found = RecordStudy(2.0, **ASKED, data=people, seed=5).answer()
    rows = [line.split(",") for line in people.read_text().splitlines()[1:]]
    held = {name: [row[place] for row in rows] for place, name in enumerate(("age", "city", "income", "smokes"))}
    squares = 0.0
    for one in found.questions:
        assert one.users is not None
        if one.labels:
            assert one.users == pytest.approx(20_000 * one.asked, abs=350)  # 5 standard deviations
        half = 1.0 if one.labels else {"age": 36.0, "income": 50.0}[one.name]
        values = held[one.name]
        truths = [values.count(label) / len(values) for label in one.labels] or [np.mean([float(v) for v in values])]
        for estimate, truth in zip(one.estimates, truths, strict=True):
            assert estimate.standard_error is not None
            assert abs(estimate.estimate - truth) <= 5 * estimate.standard_error
            squares += 20_000 * (estimate.standard_error / half) ** 2
    spreads = (1 - 1 / 3) + (1 - 1 / 2)
    assert squares <= 1.03 * (found.worst + spreads)


def test_a_column_that_counts_more_is_asked_for_more_often() -> None:
    shares = [RecordStudy(1.0, **ASKED, weights=(1, 1, weight, 1)).answer().questions[2].asked for weight in (1, 16)]
    assert shares[1] > 1.5 * shares[0]


def test_the_same_seed_simulates_the_same(people: Path) -> None:
    assert (
        RecordStudy(2.0, **ASKED, data=people, seed=3).answer()
        == RecordStudy(2.0, **ASKED, data=people, seed=3).answer()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ()}, "columns must be given"),
        ({"categories": ()}, "categories must be given"),
        ({"categories": "city"}, "NAME=LABEL,LABEL"),
        ({"categories": 5}, "names, each with its labels"),
        ({"epsilon": 9.0}, "epsilon must lie between"),
        ({"categories": {"city": ("Bern", 3)}}, "domain"),
        ({"categories": "city=Bern"}, "at least two items"),
        ({"categories": "age=1,2"}, "each once"),
        ({"weights": "1,2"}, "weights must be 4"),
        ({"weights": "1,0,1,1"}, r"weights\[1\] must be above 0"),
        ({"bounds": "0,1;0,1;0,1"}, "bounds must be 2"),
        ({"seed": 1}, "seed must come with --data"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        RecordStudy(**{"epsilon": 1.0} | ASKED | options)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("30,Paris,1,no", "row 3 of bad.csv, column 'city'"),
        ("30,,1,no", "row 3 of bad.csv, column 'city'"),
        ("131,Bern,1,no", "column 'age', data row 2 first"),
        ("30,Bern,,no", "income"),
    ],
)
def test_values_that_are_not_allowed_are_named_by_their_place_alone(tmp_path: Path, row: str, words: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"age,city,income,smokes\n30,Ulm,1,no\n{row}\n")
    with pytest.raises(InvalidInput, match=re.escape(words)) as refused:
        RecordStudy(1.0, **ASKED, data=path).answer()
    assert "Paris" not in str(refused.value)
    assert "131" not in str(refused.value)


def test_too_few_people_for_a_question_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("age,city,income,smokes\n30,Ulm,1,no\n31,Bern,2,yes\n")
    with pytest.raises(InvalidInput, match="each question is put to two"):
        RecordStudy(1.0, **ASKED, data=path, seed=1).answer()


def test_a_parquet_file_says_the_same_as_text(people: Path, tmp_path: Path) -> None:
    from pyarrow import csv, parquet

    copy = tmp_path / "people.parquet"
    parquet.write_table(csv.read_csv(people), copy)
    asked = [RecordStudy(2.0, **ASKED, data=path, seed=4).answer() for path in (people, copy)]
    assert asked[0] == asked[1]
