"""Tables that answer a workload, end to end: design, table, reports, answers with intervals and a band."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import mechdesign as md
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.tables import checker, privacy_checker, sample, workloads
from mechdesign.tables.estimators import Tally, WorkloadEstimate
from mechdesign.tables.workloads import increasing
from mechdesign.words.workloads import Marginals, Mean, Prefix, Ranges
from tests.methods.problems import workload_problem


@pytest.fixture(scope="module")
def table() -> md.Table:
    return md.make_table(md.solve(workload_problem(1.0, Prefix(8))))


def _answers(table: md.Table, counts: np.ndarray, rng: np.random.Generator, confidence: float) -> WorkloadEstimate:
    """A collection by its sufficient statistics: how often each output is reported."""
    tally = Tally(table)
    whole = 1 << table.bits
    rows = np.array(table.law.rows) / whole
    tally._sums = rng.multinomial(counts, rows).sum(axis=0).tolist()
    tally.count = int(counts.sum())
    return tally.workload(confidence)


def test_both_checkers_pass_it_and_its_estimator_is_unbiased_for_its_own_counts(table: md.Table) -> None:
    checker.check(table.content)
    assert privacy_checker.check(table.content) == 1
    said = table.workload
    assert said is not None
    rows = np.array(table.law.rows) / (1 << table.bits)
    assert said.estimator @ rows.T == pytest.approx(np.tri(8), abs=1e-12)
    assert 0 <= said.bias < 1e-12


@pytest.mark.parametrize("entry", ["estimator", "rows"])
def test_an_edited_estimator_is_refused(table: md.Table, entry: str) -> None:
    document = json.loads(table.content)
    document["workload"][entry][0][0] = "0.25"
    body = {key: value for key, value in document.items() if key != "sha256"}
    document["sha256"] = hashlib.sha256(checker.canonical(body)).hexdigest()
    with pytest.raises(FileProblem, match=r"workload.bias"):
        md.Table(checker.canonical(document))


def test_a_bias_that_is_there_is_said_exactly(table: md.Table) -> None:
    queries, estimator = [[Fraction(1), Fraction(0)]], [[Fraction(2), Fraction(-1)]]
    assert checker.workload_bias(queries, estimator, [[3, 1], [1, 3]], 4) == Fraction(1, 4)


def test_a_million_users_are_answered_from_their_reports(table: md.Table) -> None:
    """10^6 users through the table's own sampler (operating system's randomness): all queries within 6 deviations.

    False-positive rate below 2e-8 by the normal approximation; an estimator that is off by 1% of a share is seen with
    certainty (0.01 is five deviations more).
    """
    rng = np.random.default_rng(20)
    values = rng.choice(8, 10**6, p=np.array([1, 2, 3, 4, 4, 3, 2, 1]) / 20).astype(float)
    found = Tally(table).add(sample(table, values)).estimate()
    assert isinstance(found, WorkloadEstimate)
    truth = np.cumsum(np.bincount(values.astype(int), minlength=8)) / len(values)
    deviations = np.sqrt(np.maximum(np.diag(found.covariance), 0))
    assert (abs(found.estimates - truth) <= 6 * deviations + 1e-9).all()
    assert deviations[:-1].max() < 0.0025
    assert found.monotone is not None
    assert (np.diff(found.monotone) >= 0).all()
    assert found.quantile(0.5)[1] <= int(np.searchsorted(truth, 0.5)) <= found.quantile(0.5)[2]


def test_the_band_covers_the_whole_distribution_function_as_often_as_stated(table: md.Table) -> None:
    """Seed 3, 1000 collections of 5,000 users from a population, confidence 0.9: at least 0.9 of them hold the truth.

    The critical count has a false-positive rate of 1e-6 for a band that covers exactly 90%, and so has that of the
    median's interval, which is read off the band; a band that covers 84% is found with a chance above 0.8 (power).
    """
    rng, runs, confidence = np.random.default_rng(3), 1000, 0.9
    shares = np.array([0.05, 0.1, 0.3, 0.05, 0.2, 0.1, 0.15, 0.05])
    truth, held, held_quantiles = np.cumsum(shares), 0, 0
    median = int(np.searchsorted(truth, 0.5))
    for _ in range(runs):
        found = _answers(table, rng.multinomial(5000, shares), rng, confidence)
        assert found.band is not None
        low, high = found.band
        held += bool(((low <= truth + 1e-9) & (truth <= high + 1e-9)).all())
        held_quantiles += found.quantile(0.5)[1] <= median <= found.quantile(0.5)[2]
    critical = binom.ppf(1e-6, runs, confidence)
    assert held >= critical
    assert held_quantiles >= critical
    assert binom.cdf(critical - 1, runs, 0.84) > 0.8


def test_tables_of_attributes_are_answered_from_reports() -> None:
    """A design that rests on symmetry, 30,000 users (operating system's randomness): all 27 cells within 6 deviations.

    False-positive rate below 6e-8 by the normal approximation; a cell that is off by 0.15 is seen with a chance above
    0.99, as deviations are below 0.017.
    """
    workload = Marginals((3, 3, 3), 2)
    table = md.make_table(md.solve(workload_problem(1.0, workload), gap=2e-2))
    shares = np.arange(1.0, 28.0) / np.arange(1.0, 28.0).sum()
    values = np.random.default_rng(21).choice(27, 30_000, p=shares).astype(float)
    found = Tally(table).add(sample(table, values)).estimate()
    assert isinstance(found, WorkloadEstimate)
    truth = workload.matrix @ np.bincount(values.astype(int), minlength=27) / len(values)
    deviations = np.sqrt(np.maximum(np.diag(found.covariance), 0))
    assert deviations.max() < 0.017
    assert (abs(found.estimates - truth) <= 6 * deviations).all()
    assert found.names == workload.names


def test_intervals_of_each_query_cover_as_often_as_stated(table: md.Table) -> None:
    """Seed 4, 1000 collections of 2,000 users, confidence 0.9: each query's count is above the 1e-7 quantile."""
    rng, runs = np.random.default_rng(4), 1000
    shares = np.full(8, 1 / 8)
    held = np.zeros(8)
    for _ in range(runs):
        found = _answers(table, rng.multinomial(2000, shares), rng, 0.9)
        held += (found.lower <= np.cumsum(shares) + 1e-9) & (np.cumsum(shares) <= found.upper + 1e-9)
    assert (held >= binom.ppf(1e-7, runs, 0.9)).all()


def test_noise_is_what_the_certificate_says() -> None:
    """Seed 5, 4000 collections of 1,000 users, all of them of given types: the mean square error within 6 of its own
    deviations (false-positive rate 2e-9 by the normal approximation); 10% more noise is seen with power above 0.9."""
    design = md.solve(workload_problem(1.0, Ranges(4)))
    table, rng, runs = md.make_table(design), np.random.default_rng(5), 4000
    counts = np.full(4, 250)
    truth = Ranges(4).matrix @ counts / counts.sum()
    squares = np.array([((_answers(table, counts, rng, 0.9).estimates - truth) ** 2).sum() for _ in range(runs)])
    deviation = squares.std(ddof=1) / np.sqrt(runs)
    assert abs(squares.mean() - design.certificate.upper / counts.sum()) <= 6 * deviation
    assert 6 * deviation < 0.1 * squares.mean()


def test_a_mean_has_no_distribution_function() -> None:
    table = md.make_table(md.solve(workload_problem(1.0, Mean([0.0, 1.0, 5.0]))))
    found = Tally(table).add(sample(table, np.array([0.0, 1.0, 2.0] * 50))).workload()
    assert found.band is None
    with pytest.raises(InvalidInput, match="distribution function"):
        found.quantile(0.5)


def test_a_table_without_a_workload_says_how_to_make_one() -> None:
    table = md.make_table(md.catalogue.randomised_response(1.0, md.Finite((0, 1))))
    with pytest.raises(InvalidInput, match="workload"):
        Tally(table).add(sample(table, np.array([0.0, 1.0]))).workload()


@pytest.mark.parametrize("values", [[0.1, 0.2, 1.0], [0.5, 0.1, 0.4, 1.2], [-0.2, 0.3, 0.2, 0.9], [1.0, 0.0]])
def test_monotone_values_are_the_nearest(values: list[float]) -> None:
    found = increasing(np.array(values), np.ones(len(values)))
    assert (np.diff(found) >= 0).all()
    assert found.min() >= 0
    assert found[-1] == 1


def with_queries(table: md.Table, count: int) -> bytes:
    """The table with so many equal queries under different names, and the hash that this has."""
    document = json.loads(table.content)
    said = document["workload"]
    said["queries"] = [f"query {k}" for k in range(count)]
    said |= {name: [said[name][0]] * count for name in ("rows", "estimator")}
    body = {key: value for key, value in document.items() if key != "sha256"}
    return checker.canonical(body | {"sha256": hashlib.sha256(checker.canonical(body)).hexdigest()})


def test_a_workload_of_more_numbers_than_a_check_may_read_is_refused_unread(
    table: md.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 MB of queries took a quarter of an hour: what is too large is known before a number is read."""
    width = len(table.law.rows) + len(table.law.outputs)
    most = checker.MOST_ENTRIES // width
    content = with_queries(table, most + 1)
    read = checker.decimals

    def counted(values: list[str], entry: str, **more: object) -> list[Fraction]:
        assert not entry.startswith("workload")
        return read(values, entry, **more)

    monkeypatch.setattr(checker, "decimals", counted)
    with pytest.raises(checker.Failed, match=r"workload: must have at most 1048576 numbers"):
        checker.check(content)


def test_a_workload_of_more_products_than_a_check_may_form_is_refused(
    table: md.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = len(table.law.rows) * len(table.law.outputs)
    monkeypatch.setattr(checker, "MOST_PRODUCTS", 8 * cells)
    checker.check(table.content)
    monkeypatch.setattr(checker, "MOST_PRODUCTS", 8 * cells - 1)
    with pytest.raises(checker.Failed, match="workload: queries by points by outputs must be at most"):
        checker.check(table.content)


def test_a_table_is_not_made_of_queries_that_no_file_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "MOST_ENTRIES", 10)
    with pytest.raises(InvalidInput, match="queries must be few enough for a file"):
        md.make_table(md.solve(workload_problem(1.0, Prefix(8))))
