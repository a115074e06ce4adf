"""PAC-LDP: deltas met exactly, bounds by name, composition, and the indicator where reports have mass."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.classifiers import (
    clipped_gaussian_deviation,
    composed,
    composed_gaussian_delta,
    dp_deviation,
    gaussian_deviation,
    indicator_delta,
    pac_delta,
    perturbation,
    printed_deviation,
    with_indicator,
)

CASES = [(0.1, 1e-6), (1.0, 0.1), (2.0, 0.1), (8.0, 0.01), (3.0, 0.6)]


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_gaussian_deviation_meets_delta_exactly(epsilon: float, delta: float) -> None:
    deviation = gaussian_deviation(epsilon, delta)
    # the loss of the worst pair is N(1/(2 s^2), 1/s^2)
    tail = stats.norm.sf(epsilon, loc=1 / (2 * deviation**2), scale=1 / deviation)
    assert tail == pytest.approx(delta, rel=1e-9)
    assert pac_delta(epsilon, deviation) <= delta < pac_delta(epsilon, deviation * (1 - 1e-9))


def test_the_ends_of_the_interval_are_the_worst_inputs() -> None:
    deviation = gaussian_deviation(2.0, 0.1)
    apart = np.linspace(0.01, 1, 50)
    tails = stats.norm.sf(2.0, loc=apart**2 / (2 * deviation**2), scale=apart / deviation)
    assert (np.diff(tails) >= 0).all()
    assert tails[-1] == pytest.approx(0.1)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_printed_bound_solves_its_equation_and_is_larger(epsilon: float, delta: float) -> None:
    printed = printed_deviation(epsilon, delta)
    assert epsilon * printed - 1 / (2 * printed) == pytest.approx(math.sqrt(2 * math.log(2 / delta)))
    assert printed > gaussian_deviation(epsilon, delta)


def test_the_two_notions_of_delta_are_told_apart() -> None:
    assert dp_deviation(1.0, 0.1) < gaussian_deviation(1.0, 0.1) < printed_deviation(1.0, 0.1)


def test_composition_is_the_chance_that_any_part_fails() -> None:
    assert composed(1.0, 0.1, 3) == (3.0, pytest.approx(1 - 0.9**3))
    deviation = gaussian_deviation(1.0, 0.1)
    assert composed_gaussian_delta(1.0, deviation, 1) == pytest.approx(0.1)
    rng = np.random.default_rng(5)
    losses = (rng.normal(0, 1, (200_000, 3)) / deviation + 1 / (2 * deviation**2)).sum(axis=1)
    exact = composed_gaussian_delta(1.0, deviation, 3)
    # 5 standard errors: false positives 6e-7
    assert abs(float((losses > 3.0).mean()) - exact) < 5 * math.sqrt(exact * (1 - exact) / 200_000)


def test_an_indicator_before_a_mechanism_with_mass_fails_more_often_than_delta() -> None:
    law, delta, epsilon = perturbation("k-rr", 2.0), 0.1, 2.0
    points, row = law.atoms(0.0)  # type: ignore[misc]
    other = law.atoms(1.0)[1]  # type: ignore[index]
    own, theirs = (1 - delta) * row, (1 - delta) * other
    own[0] += delta
    theirs[-1] += delta
    fails = own[np.log(own / theirs) > epsilon + 1e-9].sum()
    assert points[0] == 0
    assert fails == pytest.approx(indicator_delta(delta, law.self_mass))
    assert fails > delta
    assert perturbation("pm", 2.0).self_mass == 0


def test_the_indicator_mixes_the_utilities() -> None:
    assert with_indicator(0.4, 0.25) == pytest.approx(0.25 + 0.75 * 0.4)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_deltas_outside_their_range_are_refused(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        gaussian_deviation(1.0, delta)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(2.0, 0.1), (2.0, 0.4), (8.0, 0.4), (1.0, 0.45), (30.0, 0.01), (2.0, 0.6)]
)
def test_gaussian_reports_moved_into_the_interval_fail_no_more_often_than_delta(epsilon: float, delta: float) -> None:
    # moved reports are a point of mass: with the noise that alone keeps .4 at eps = 2 they failed half the time
    law = perturbation("gaussian", epsilon, delta)
    deviation = clipped_gaussian_deviation(epsilon, delta)
    edges = np.linspace(0, 1, 4001)
    middles = (edges[1:] + edges[:-1]) / 2
    for x1 in np.linspace(0, 1, 21):
        inside = law.above(x1, edges[:-1], edges[1:])
        inside[-1] -= float(law.mass(1.0, x1))
        for x2 in (0.0, 0.5, 1.0):
            failing = sum(
                float(law.mass(end, x1))
                for end in (0.0, 1.0)
                if math.log(float(law.mass(end, x1))) > epsilon + math.log(float(law.mass(end, x2))) + 1e-12
            )
            losses = ((middles - x2) ** 2 - (middles - x1) ** 2) / (2 * deviation**2)
            assert failing + float(inside[losses > epsilon].sum()) <= delta + 1e-3
