"""Noise in tables: bulk samples, masses of two inputs and random bytes, against sums over the noise itself."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import make_table
from mechdesign.tables.kinds.additive import AdditiveLaw
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Absolute


def law_of(points: int, epsilon: float = 2.0, bits: int = 16) -> AdditiveLaw:
    law = make_table(catalogue.two_sided_geometric(epsilon, Finite(tuple(range(points)))), bits).law
    assert isinstance(law, AdditiveLaw)
    return law


def chance(law: AdditiveLaw, z: int) -> Fraction:
    """``P(Z = z)``: block ``abs(z) // R`` of the magnitudes, each ``tail / D`` of the one before."""
    q, size = Fraction(law.tail, law.whole), len(law.weights)
    total = 2 * law.whole / (1 - q) - law.weights[0]
    return q ** (abs(z) // size) * law.weights[abs(z) % size] / total


@pytest.mark.parametrize("bits", [16, 32, 62])
def test_bulk_samples_have_the_exact_law(bits: int) -> None:
    """The system's randomness: n = 40,000, false-positive rate 1e-7; .02 moved to another report: power .99."""
    law, count = law_of(4, bits=bits), 40_000
    found = Counter(law.sampler()(np.full(count, 1.0)).tolist())
    chances = {v: float(chance(law, v - 1)) * count for v in range(-4, 7)}
    rest = count - sum(chances.values())
    seen = [found[v] for v in chances]
    assert stats.chisquare([*seen, count - sum(seen)], [*chances.values(), rest]).pvalue > 1e-7


@pytest.mark.parametrize(("x", "other"), [(0.0, 1.0), (0.25, 0.75), (0.1, 0.9)])
def test_masses_of_two_inputs_lose_what_all_reports_do(x: float, other: float) -> None:
    """Hockey-stick distances at several ratios, against 40 blocks of reports at each side."""
    law = make_table(catalogue.laplace(1.0, Interval(0, 1)), 16).law
    assert isinstance(law, AdditiveLaw)
    size, sides = len(law.weights), []
    block = np.array([float(chance(law, z)) for z in range(size)])
    noise = np.concatenate([block * (law.tail / law.whole) ** b for b in range(42)])
    outputs = np.arange(-40 * size, 41 * size)
    for at in (x, other):
        place = at * 2.0**law.shift
        step, share = math.floor(place), place % 1.0
        sides.append((1 - share) * noise[abs(outputs - step)] + share * noise[abs(outputs - step - 1)])
    masses = np.array([(float(a), float(b)) for a, b in law.masses(x, other)])
    masses /= masses.sum(axis=0)
    for ratio in (1.0, 1.2, 2.0, 2.7):
        for first, second in ((0, 1), (1, 0)):
            said = np.maximum(masses[:, first] - ratio * masses[:, second], 0).sum()
            exact = np.maximum(sides[first] - ratio * sides[second], 0).sum()
            assert said == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("bits", [16, 32, 53, 62])
def test_enough_bytes_are_those_of_all_but_two_to_the_minus_64(bits: int) -> None:
    law = law_of(7, 1.0, bits)
    q, zero = law.tail / law.whole, law.weights[0] / law.whole * (1 - law.tail / law.whole) / 2
    blocks, runs = (1 + math.ceil(64 / -math.log2(p)) for p in (q, zero))
    size = {16: 2, 32: 4, 53: 7, 62: 8}[bits]
    assert law.enough_bytes == 8 + runs * (1 + 2 * size) + blocks * size
    assert q ** (blocks - 1) <= 2.0**-64 < q ** (blocks - 2)


@pytest.mark.parametrize("rare", [1e-3, 1e-6])
def test_beyond_its_reach_noise_is_rare(rare: float) -> None:
    """At most ``rare`` at either side, and more than that three blocks before."""
    for epsilon in (0.5, 2.0):
        law = law_of(5, epsilon)
        low, high = law.reach(1.0, 3.0, rare)
        assert 3.0 - low == high - 1.0
        q, size = Fraction(law.tail, law.whole), len(law.weights)
        norm = 2 * law.whole / (1 - q) - law.weights[0]

        def beyond(z: int, law: AdditiveLaw = law, q: Fraction = q, size: int = size, norm: Fraction = norm) -> float:
            """``P(Z > z)``."""
            block, place = divmod(z + 1, size)
            return float(q**block * (sum(law.weights[place:]) + law.whole * q / (1 - q)) / norm)

        assert beyond(math.floor(high - 3.0)) <= rare
        assert beyond(math.floor(high - 3.0 - 3 * size)) > rare


def test_domains_of_one_step_and_of_the_most_steps_fit() -> None:
    assert law_of(2).weights == (2**16,)
    assert len(law_of(2**12 + 1, 8.0).weights) == 2**12
    with pytest.raises(InvalidInput, match="span at most 4096 grid steps"):
        law_of(2**12 + 2, 8.0)


@pytest.mark.parametrize("name", ["laplace", "staircase"])
def test_noise_that_would_hardly_ever_end_is_refused_and_a_little_less_is_not(name: str) -> None:
    """A block is the last with the chance ``1 - e^-eps``, which is 2^-16 at 1.526e-5."""
    assert make_table(catalogue.build(name, 1.6e-5, Interval(0, 1), Absolute()), 53).ratio > 1
    with pytest.raises(InvalidInput, match=r"noise ends .*take a larger eps"):
        make_table(catalogue.build(name, 1.5e-5, Interval(0, 1), Absolute()), 53)
