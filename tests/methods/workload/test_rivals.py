"""The noise of published mechanisms, against their channels written out."""

from __future__ import annotations

import math
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

import mechdesign as md
from mechdesign.exact.grids import Grid
from mechdesign.field import THIS, Rank
from mechdesign.methods.workload.rivals import (
    channel_noise,
    haar,
    hadamard_response,
    hierarchical,
    one_table,
    response,
    rival_noises,
)
from mechdesign.words.workloads import Histogram, Marginals, Prefix, Ranges, Workload
from tests.methods.problems import workload_problem
from tests.oracles.staircase_rows import noise_of

SIZE, EPSILON = 5, 1.3
RATIO = math.exp(EPSILON)
UNIFORM = np.full(SIZE, 1 / SIZE)


def _unary() -> np.ndarray:
    vectors = np.array(list(product((0, 1), repeat=SIZE)))
    kept, other = 0.5, 1 / (RATIO + 1)
    chance = np.where(np.eye(SIZE)[:, None, :] == 1, kept, other)
    return np.where(vectors[None] == 1, chance, 1 - chance).prod(axis=2)


def _subsets(d: int) -> np.ndarray:
    sets = np.array([[x in chosen for chosen in combinations(range(SIZE), d)] for x in range(SIZE)])
    channel = np.where(sets, RATIO, 1.0)
    return channel / channel.sum(axis=1, keepdims=True)


def _hashing(g: int) -> np.ndarray:
    hashes = np.array(list(product(range(g), repeat=SIZE)))
    reports = [np.where(y == hashes.T, RATIO, 1.0) / (RATIO + g - 1) / len(hashes) for y in range(g)]
    return np.hstack(reports)


@pytest.mark.parametrize("workload", [Prefix(SIZE), Ranges(SIZE), Histogram(SIZE)])
def test_sets_of_types_have_the_noise_of_their_channel(workload) -> None:  # type: ignore[no-untyped-def]
    found = rival_noises(workload_problem(EPSILON, workload), UNIFORM)
    queries = workload.matrix
    selection = min((noise_of(queries, _subsets(d), UNIFORM) for d in range(1, SIZE)), key=lambda own: own @ UNIFORM)
    hashing = min((noise_of(queries, _hashing(g), UNIFORM) for g in range(2, 7)), key=lambda own: own @ UNIFORM)
    assert found["subset selection"] == pytest.approx(selection)
    assert found["optimised unary"] == pytest.approx(noise_of(queries, _unary(), UNIFORM))
    assert found["optimised local hashing"] == pytest.approx(hashing)
    assert found["randomised response"] == pytest.approx(noise_of(queries, response(SIZE, RATIO), UNIFORM))


@pytest.mark.parametrize("made", [response, hadamard_response, hierarchical, haar])
@pytest.mark.parametrize("size", [2, 3, 5, 8, 13])
def test_rivals_are_private_channels(made, size: int) -> None:  # type: ignore[no-untyped-def]
    channel = made(size, RATIO)
    assert channel.sum(axis=1) == pytest.approx(np.ones(size))
    assert (channel.max(axis=0) / channel.min(axis=0)).max() <= RATIO * (1 + 1e-12)


@pytest.mark.parametrize("workload", [Prefix(8), Ranges(6), Histogram(6)])
@pytest.mark.parametrize("criterion", ["average", "worst"])
def test_no_rival_is_better_than_what_is_proven(workload, criterion: str) -> None:  # type: ignore[no-untyped-def]
    design = md.solve(workload_problem(EPSILON, workload, criterion=criterion))
    field = md.field_of(design)
    rank = Rank.WORST if criterion == "worst" else Rank.AVERAGE
    assert field.rank is rank
    assert all(row.by(rank) >= design.certificate.lower * (1 - 1e-9) for row in field.rows)
    assert field.this.by(rank) == design.certificate.upper


def test_a_matrix_of_ones_own_is_ranked_with_them() -> None:
    problem = workload_problem(1.0, Prefix(4))
    design = md.solve(problem)
    law = md.mechanisms.Discrete(1.0, problem.inputs, md.Finite(range(4)), response(4, math.e * (1 - 1e-12)))
    row = md.field_of(design, {"mine": law}).row("mine")
    assert row is not None
    assert not row.published
    published = md.field_of(design).row("randomised response")
    assert published is not None
    assert row.average == pytest.approx(published.average, rel=1e-9)
    assert md.field_of(design).row(THIS) is not None


@pytest.mark.parametrize(("shape", "order"), [((2, 3), 1), ((2, 2, 2), 2), ((3, 2), 2)])
def test_one_table_drawn_has_the_noise_of_its_channel(shape: tuple[int, ...], order: int) -> None:
    """All sets of the best size of every table's cells, written out."""
    workload = Workload(Marginals(shape, order))
    types = np.array(list(product(*map(range, shape))))
    ratio, columns = math.exp(1.5), []
    for table in combinations(range(len(shape)), order):
        cells = list(product(*(range(shape[k]) for k in table)))
        of_types = [cells.index(tuple(own)) for own in types[:, list(table)].tolist()]
        gains = [m * (len(cells) - m) / (1 + (ratio - 1) * m / len(cells)) ** 2 for m in range(1, len(cells))]
        for chosen in combinations(range(len(cells)), 1 + int(np.argmax(gains))):
            columns.append(np.where(np.isin(of_types, chosen), ratio, 1.0) / comb(len(cells), len(chosen)))
            columns[-1] /= 1 + (ratio - 1) * len(chosen) / len(cells)
    channel = np.array(columns).T
    little = 1e-9 * response(len(types), ratio)  # tells all types apart
    channel = np.hstack([channel / channel.sum(axis=1, keepdims=True) * (1 - 1e-9), little])
    written = channel_noise(channel, workload.queries.matrix, np.full(len(types), 1 / len(types)))
    noise = one_table(workload, ratio, Grid(shape), order)
    assert written == pytest.approx(np.full(len(types), noise), rel=1e-5)
