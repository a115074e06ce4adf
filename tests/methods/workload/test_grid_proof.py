"""The bound that rests on symmetry, term by term: parts as projections in fractions, rows by brute force."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import Finite, catalogue
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.grids import Grid, greatest_by_pairs
from mechdesign.methods.workload import GridBound
from mechdesign.methods.workload.grid_proof import has_even_types, parts_of
from mechdesign.methods.workload.proof import attained_noise, ratio_above
from mechdesign.values.declare import evolved
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import AnyQueries, Histogram, Marginals, Parity, Prefix, Queries, Workload
from tests.methods.problems import workload_problem

SHAPES: list[tuple[AnyQueries, tuple[int, ...]]] = [
    (Marginals((2, 3), 1), (2, 3)),
    (Marginals((3, 2, 2), 2), (3, 2, 2)),
    (Marginals((2, 2, 2), 2), (2, 2, 2)),
    (Parity(3, 2), (2, 2, 2)),
    (Histogram(5), (5,)),
]


def _asked(workload: AnyQueries, criterion: str = "average", **more: Any) -> Problem:
    return workload_problem(1.0, workload, criterion=criterion, **more)


def _projections(shape: tuple[int, ...]) -> list[list[list[Fraction]]]:
    """E_S, the empty class first: ``1 - J/n`` for attributes of a table times J/n for others, over its tables."""
    cells, sizes = list(itertools.product(*map(range, shape))), sorted(set(shape))
    found: dict[tuple[int, ...], list[list[Fraction]]] = {}
    for counts in itertools.product(*(range(shape.count(size) + 1) for size in sizes)):
        found[counts] = [[Fraction(0)] * len(cells) for _ in cells]
    for table in itertools.product((False, True), repeat=len(shape)):
        counts = tuple(sum(t for t, n in zip(table, shape, strict=True) if n == size) for size in sizes)
        for i, j in itertools.product(range(len(cells)), repeat=2):
            entry = Fraction(1)
            for own, n, x, y in zip(table, shape, cells[i], cells[j], strict=True):
                entry *= Fraction(x == y) - Fraction(1, n) if own else Fraction(1, n)
            found[counts][i][j] += entry
    return list(found.values())


def _gram(workload: AnyQueries) -> list[list[Fraction]]:
    w = [[Fraction(n) for n in row] for row in workload.matrix.tolist()]
    size = len(w[0])
    return [[sum((row[i] * row[j] for row in w), Fraction(0)) for j in range(size)] for i in range(size)]


def _inner(left: Any, right: Any) -> Fraction:
    return sum((a * b for rows in zip(left, right, strict=True) for a, b in zip(*rows, strict=True)), Fraction(0))


def _page(workload: AnyQueries, shape: tuple[int, ...]) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """g_S, n_S, and the trace of G over the number of types."""
    gram, projections = _gram(workload), _projections(shape)
    ranks = [sum((own[i][i] for i in range(len(own))), Fraction(0)) for own in projections]
    parts = [_inner(gram, own) / rank for own, rank in zip(projections, ranks, strict=True)]
    return parts, ranks, sum((gram[i][i] for i in range(len(gram))), Fraction(0)) / len(gram)


@pytest.mark.parametrize(("workload", "shape"), SHAPES)
def test_parts_are_those_of_the_projections(workload: AnyQueries, shape: tuple[int, ...]) -> None:
    parts, _, diagonal = _page(workload, shape)
    assert parts_of(Workload(workload), Grid(shape)) == (parts, diagonal)


def _evidence(shape: tuple[int, ...], seed: int) -> GridBound:
    grid, rng = Grid(shape), np.random.default_rng(seed)
    multipliers = rng.exponential(1.0, (2, len(grid.inequalities.left) + 1)) * rng.choice([0.0, 1e-2, 1.0])
    multipliers[:, 0] = rng.normal(0, 1, 2)
    return GridBound(shape, rng.normal(0.3, 0.5, len(grid.classes) - 1), multipliers)


@pytest.mark.parametrize(("workload", "shape"), SHAPES)
def test_the_bound_is_the_one_of_the_page_exactly(workload: AnyQueries, shape: tuple[int, ...]) -> None:
    parts, ranks, diagonal = _page(workload, shape)
    grid, ratio, clipped = Grid(shape), ratio_above(1.0), 0
    for seed in range(40):
        evidence = _evidence(shape, seed)
        mu = list(map(Fraction, evidence.scales.tolist()))
        weights = [g * m**2 for g, m in zip(parts[1:], mu, strict=True)]
        nu = max(greatest_by_pairs(grid, weights, evidence.multipliers, ratio))
        t = sum(g * n * m for g, n, m in zip(parts[1:], ranks[1:], mu, strict=True))
        expected = t**2 / nu + parts[0] / grid.size - diagonal if t > 0 and nu > 0 else Fraction(0)
        for criterion in ("average", "worst"):
            problem = _asked(workload, criterion)
            assert evidence.value(problem) == expected
            bound = evidence.bound(problem, None)
            assert bound >= 0
            assert bound == 0 or Fraction(bound) <= expected < Fraction(math.nextafter(bound, math.inf))
        clipped += expected == 0
    assert clipped < 40


@pytest.mark.parametrize(("workload", "shape"), SHAPES[:1])
def test_prices_are_enough_for_every_row(workload: AnyQueries, shape: tuple[int, ...]) -> None:
    """No bound is above that of the least nu, found by trying all rows."""
    parts, ranks, diagonal = _page(workload, shape)
    projections = [np.array(own, dtype=float) for own in _projections(shape)[1:]]
    rows = np.array(list(itertools.product((1.0, math.e), repeat=math.prod(shape))))
    for seed in range(30):
        evidence = _evidence(shape, seed)
        mixed = sum(float(g) * m**2 * e for g, m, e in zip(parts[1:], evidence.scales, projections, strict=True))
        nu = (np.einsum("ni,ij,nj->n", rows, mixed, rows) / rows.mean(axis=1) ** 2).max()
        t = float(
            sum(g * n * Fraction(m) for g, n, m in zip(parts[1:], ranks[1:], evidence.scales.tolist(), strict=True))
        )
        least = t**2 / nu + float(parts[0]) / math.prod(shape) - float(diagonal)
        assert float(evidence.value(_asked(workload))) <= max(least, 0.0) + 1e-9


def _plain(shape: tuple[int, ...] = (2, 2), scales: Any = (1.0, 1.0)) -> GridBound:
    return GridBound(shape, list(scales), np.zeros((1, len(Grid(shape).inequalities.left) + 1)))


def test_what_is_attained_is_the_noise_at_even_shares_rounded_up() -> None:
    problem = _asked(Marginals((2, 2), 1))
    table = catalogue.randomised_response(1.0, Finite(range(4)))
    exact = attained_noise(problem, table, np.full(4, 0.25))
    found = _plain().attained(problem, table)
    assert Fraction(math.nextafter(found, 0.0)) < exact <= Fraction(found)
    worst = attained_noise(_asked(Marginals((2, 2), 1), "worst"), table, np.full(4, 0.25))
    assert _plain().attained(_asked(Marginals((2, 2), 1), "worst"), table) >= worst
    assert _plain().weights_of_types(problem).tolist() == [0.25] * 4
    for other in (catalogue.randomised_response(2.0, Finite(range(4))), catalogue.laplace(1.0)):
        with pytest.raises(CheckFailed):
            _plain().attained(problem, other)


@pytest.mark.parametrize(
    ("bound", "problem", "words"),
    [
        (_plain(), _asked(Histogram(5)), "4 types, the problem 5"),
        (_plain(), _asked(Marginals((2, 2), 1), prior=[0.4, 0.2, 0.2, 0.2]), "equal shares"),
        (_plain(scales=(1.0,)), _asked(Marginals((2, 2), 1)), "must have 2 scales"),
        (_plain(), _asked(Marginals((2, 2), 1), weights=[1.0] * 4), "whole queries without weights"),
        (_plain(), _asked(Queries(np.eye(4) / 2)), "whole queries without weights"),
        (_plain(), _asked(Prefix(4)), "not alike in the values"),
        (_plain(), _asked(Queries(np.kron(np.eye(2), [[1.0, 1.0]]))), "not alike in the values"),
    ],
    ids=range(7),
)
def test_what_has_no_such_symmetry_is_refused(bound: GridBound, problem: Problem, words: str) -> None:
    with pytest.raises(CheckFailed, match=words):
        bound.value(problem)


def test_queries_are_as_large_as_doubles_hold_their_squares() -> None:
    """Two queries of 2^26 have squares that add up to 2^53."""
    most = 2.0**26
    assert parts_of(Workload(Queries(np.eye(2) * (most - 1))), Grid((2,))) == ([(2**26 - 1) ** 2] * 2, (2**26 - 1) ** 2)
    for size in (most, -most):
        with pytest.raises(CheckFailed, match="too large"):
            parts_of(Workload(Queries(np.eye(2) * size)), Grid((2,)))


def test_nothing_is_claimed_and_it_is_about_unbiased_linear_estimators() -> None:
    assert not GridBound.claimed
    assert "unbiased" in _plain().scope(_asked(Marginals((2, 2), 1)), None).words
    for method in (_plain().bound, _plain().attained, _plain().scope):
        with pytest.raises(CheckFailed, match="about the noise of a workload"):
            method(Finite((0, 1)), None)


def test_types_are_even_where_none_has_a_weight_of_its_own() -> None:
    pair = Marginals((2, 2), 1)
    assert has_even_types(_asked(pair))
    assert has_even_types(_asked(pair, "worst"))
    assert not has_even_types(_asked(pair, prior=[0.4, 0.2, 0.2, 0.2]))


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": (2, 1)},
        {"shape": (2, True)},
        {"shape": (2, 2.0)},
        {"shape": (2, 0)},
        {"scales": [math.nan, 1.0]},
        {"scales": [[1.0]]},
        {"multipliers": [1.0]},
        {"multipliers": [[0.0, math.inf]]},
    ],
    ids=str,
)
def test_bad_fields_are_refused_by_name(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        evolved(_plain(), **fields)
    assert refused.value.field.startswith(next(iter(fields)))


def test_sizes_may_be_numbers_of_numpy() -> None:
    assert evolved(_plain(), shape=(np.int64(2), 2)) == _plain()
