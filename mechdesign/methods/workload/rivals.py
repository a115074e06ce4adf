"""What published mechanisms answer of a workload: the noise of each type, with the best linear estimator of the shares.

That estimator is generous to them: those of the papers have no less noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import hadamard
from scipy.stats import binom

from mechdesign.errors import CheckFailed, MechDesignError
from mechdesign.exact.grids import Grid
from mechdesign.mechanisms.catalogue import SYMMETRIC
from mechdesign.methods.method import Demands
from mechdesign.methods.unbiased.search import answer
from mechdesign.methods.unbiased.supports import UnbiasedOptions
from mechdesign.methods.workload.decoder import decoder, noise
from mechdesign.methods.workload.grid_proof import parts_of
from mechdesign.methods.workload.grid_search import shape_of
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.declare import Floats
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.losses import Squared
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Marginals, Workload

_MOST_UNBIASED = 64


def rival_noises(problem: Problem, prior: Floats) -> dict[str, Floats]:
    """The noise of each type (queries times the roots of their weights), by the name of the mechanism."""
    workload, ratio = workload_of(problem), math.exp(problem.epsilon)
    queries, size = workload.weighted, workload.size
    channels: dict[str, Callable[[], Floats]] = {
        "randomised response": lambda: response(size, ratio),
        "hadamard response": lambda: hadamard_response(size, ratio),
        "hierarchical, hadamard": lambda: hierarchical(size, ratio),
        "haar, hadamard": lambda: haar(size, ratio),
    }
    if 3 <= size <= _MOST_UNBIASED:
        channels["unbiased optimum"] = lambda: _unbiased(problem, prior)
    sizes = np.arange(size + 1.0)
    domains = range(2, 3 + math.ceil(ratio))
    hashed = [binom.pmf(sizes, size, 1 / g) * _weights(sizes, size, ratio) for g in domains]
    unary = binom.pmf(sizes, size, 1 / (1 + ratio)) * _weights(sizes, size, ratio)
    found = {
        "subset selection": _best([_of_sizes(queries, np.eye(size + 1)[d], ratio) for d in range(1, size)], prior),
        "optimised unary": _of_sizes(queries, unary, ratio),
        "optimised local hashing": _best([_of_sizes(queries, own, ratio) for own in hashed], prior),
    }
    shape = shape_of(problem)
    if isinstance(workload.queries, Marginals) and shape is not None:
        noise_of_one = one_table(workload, ratio, Grid(shape), workload.queries.order)
        found["one table, subset selection"] = np.full(size, noise_of_one)
    for name, made in channels.items():
        try:
            found[name] = channel_noise(made(), queries, prior)
        except MechDesignError:
            continue  # its reports do not tell all types apart
    return found


def one_table(workload: Workload, ratio: float, grid: Grid, order: int) -> float:
    """The noise of each type where one of the tables is drawn, and its cells are reported by subset selection.

    A set of m of a table's K cells has, on average over all such sets, ``m (K - m) / (K (K - 1))`` of each direction
    that the table sees.
    """
    parts, diagonal = parts_of(workload, grid)
    kinds = [kind for kind, own in enumerate(grid.classes) if sum(own) == order]
    drawn = 1 / sum(grid.tables[kind] for kind in kinds)
    seen = np.zeros(len(grid.classes))  # of each direction in each part
    for kind in kinds:
        cells = grid.blocks[kind]
        m = np.arange(1.0, cells)
        gain = ((ratio - 1) / (1 + (ratio - 1) * m / cells)) ** 2
        best = float((gain * m * (cells - m)).max()) / (cells * (cells - 1)) * grid.size / cells
        seen += drawn * best * grid.pairs_within(kind).astype(np.float64)
    noise = sum(g * n / own for g, n, own in zip(parts[1:], grid.valencies[1:], seen[1:], strict=True) if g)
    return float(noise + parts[0] / grid.size - diagonal)


def channel_noise(channel: Floats, queries: Floats, prior: Floats) -> Floats:
    """The noise of each type of a channel, one row a type."""
    used = channel[:, channel.max(axis=0) > 0]
    return noise(used, decoder(used, prior) @ queries.T, queries)


def _best(found: list[Floats], prior: Floats) -> Floats:
    return min(found, key=lambda own: float(own @ prior))


def _weights(sizes: Floats, size: int, ratio: float) -> Floats:
    """The row sum of a set of so many types, which sets of equal base are reported in proportion to."""
    return np.asarray(1 + (ratio - 1) * sizes / size)


def _of_sizes(queries: Floats, chances: Floats, ratio: float) -> Floats:
    """The noise of each type where a report is a set of types, c times as likely for those in it.

    Sets of one size are alike; ``chances`` are those of the sizes, under equal shares. Subset selection has one size,
    hashing and unary encoding those of coins.

    M is ``a I + b J`` then, and a set S of m types adds ``d (1_S - m/k) / a + 1/k`` to the shares, with
    ``d = (c - 1) / (1 + (c - 1) m/k)``.
    """
    size = queries.shape[1]
    gram = queries.T @ queries
    sums, diagonal = gram.sum(axis=1), np.diagonal(gram)
    chances = chances / chances.sum()
    sizes = np.arange(size + 1.0)
    rows = _weights(sizes, size, ratio)
    trace = float(chances @ ((sizes * ratio**2 + size - sizes) / rows**2))
    a = (trace - size) / (size - 1)
    found = np.full(size, float(sums.sum()) / size**2)
    for m in np.flatnonzero(chances[:-1]).tolist():
        step, centre = (ratio - 1) / rows[m] / a, m / size
        inside = m * ratio / (m * ratio + size - m)
        for is_in, chance in ((1, inside), (0, 1 - inside)):
            rest = m - is_in
            if chance == 0 or rest > size - 1:
                continue
            one = rest / (size - 1)
            two = rest * (rest - 1) / ((size - 1) * (size - 2)) if size > 2 else 0.0
            own = sums - diagonal
            apart = sums.sum() - diagonal - 2 * own - (np.trace(gram) - diagonal)
            square = diagonal * is_in + 2 * is_in * one * own + one * (np.trace(gram) - diagonal) + two * apart
            linear = sums * is_in + one * (sums.sum() - sums)
            centred = square - 2 * centre * linear + centre**2 * sums.sum()
            moved = linear - centre * sums.sum()
            found = found + chances[m] * chance * (step**2 * centred + 2 * step / size * moved)
    return np.asarray(found - diagonal)


def response(size: int, ratio: float) -> Floats:
    """Randomised response."""
    return np.asarray((1 + (ratio - 1) * np.eye(size)) / (ratio + size - 1))


def hadamard_response(size: int, ratio: float) -> Floats:
    """Each type has the half of the reports where its row of a Hadamard matrix is 1 (Acharya, Sun, Zhang 2019)."""
    order = 1 << (size).bit_length()
    signs = hadamard(order)[1 : size + 1]
    return np.asarray(np.where(signs > 0, ratio, 1.0) / (order / 2 * (1 + ratio)))


def hierarchical(size: int, ratio: float) -> Floats:
    """A level of a binary tree at random, and its blocks by Hadamard response (Cormode, Kulkarni, Srivastava 2019)."""
    depth = max(1, (size - 1).bit_length())
    types = np.arange(size)
    parts = []
    for level in range(1, depth + 1):
        blocks = types >> (depth - level)
        count = int(blocks[-1]) + 1
        own = response(count, ratio) if count <= 2 else hadamard_response(count, ratio)
        parts.append(own[blocks] / depth)
    return np.hstack(parts)


def haar(size: int, ratio: float) -> Floats:
    """A level of the Haar wavelets at random, and the sign there by a row of a Hadamard matrix (the same source)."""
    depth = max(1, (size - 1).bit_length())
    types = np.arange(size)
    parts = []
    for level in range(depth):
        blocks, halves = types >> (depth - level), (types >> (depth - level - 1)) & 1
        count = 1 << level
        signs = hadamard(count)[blocks] * np.where(halves, -1, 1)[:, None]
        for sign in (1, -1):
            parts.append(np.where(signs == sign, ratio, 1.0) / ((1 + ratio) * count * depth))
    return np.hstack(parts)


def _unbiased(problem: Problem, prior: Floats) -> Floats:
    """The unbiased optimum for the types as equispaced numbers, its reports decoded for all shares."""
    places = np.linspace(-1.0, 1.0, prior.size)
    average = Average(Atoms(places, prior))
    asked = Problem(inputs=SYMMETRIC, loss=Squared(), privacy=problem.privacy, criterion=average, among=Unbiased())
    law = answer(asked, Demands(1e-2, options=UnbiasedOptions(prior.size))).scalar_law
    if not hasattr(law, "points"):
        raise CheckFailed("the law has no list of reports")
    return np.asarray(law.mass(law.points[None, :], places[:, None]))
