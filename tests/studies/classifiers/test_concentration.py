"""Concentration: cdf differences with both ends, closed forms, and the chapter's mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.classifiers import NAMES, concentration, curve, perturbation
from mechdesign.studies.classifiers.concentration import half_width


@pytest.mark.parametrize(("name", "value"), [("laplace", 0.4512), ("pm", 0.8528), ("k-rr", 0.6240)])
def test_numbers_of_section_7_3_1_at_two_and_three_tenths(name: str, value: float) -> None:
    assert concentration(perturbation(name, 2.0), [0.5], [0.2], [0.8]) == pytest.approx(value, abs=5e-5)


def test_a_box_that_reaches_beyond_the_window_gets_only_the_part_that_overlaps() -> None:
    # the printed formula gives the whole window: .706 for .408 (errata 14)
    c, high = half_width(2.0), math.e
    printed = 2 * c * high + (0.2 - 2 * c) * high / math.e**2
    x = 0.05
    window = (0.0, 2 * c)
    overlap = min(0.15, window[1]) - 0.0
    assert printed == pytest.approx(0.706, abs=5e-4)
    assert concentration(perturbation("pm", 2.0), [x], [x - 0.1], [x + 0.1]) == pytest.approx(high * overlap)
    assert high * overlap == pytest.approx(0.408, abs=5e-4)


@pytest.mark.parametrize("name", NAMES)
def test_all_of_the_outputs_have_probability_one(name: str) -> None:
    law = perturbation(name, 1.5, 0.1)
    x = np.array([0.0, 0.3, 1.0])
    assert law.between(x, -np.inf, np.inf) == pytest.approx(1.0, abs=1e-12)
    if not name.endswith("-raw"):
        assert law.between(x, 0.0, 1.0) == pytest.approx(1.0, abs=1e-9)


def test_points_of_mass_at_both_ends_of_a_box_count() -> None:
    law = perturbation("k-rr", 1.0)
    points, chances = law.atoms(0.5)  # type: ignore[misc]
    low, high = points[20], points[60]
    assert float(law.between(0.5, low, high)) == pytest.approx(chances[20:61].sum(), abs=1e-12)
    assert float(law.above(0.5, low, high)) == pytest.approx(chances[21:61].sum(), abs=1e-12)


def test_reports_moved_into_the_interval_collect_at_its_ends() -> None:
    clipped, raw = perturbation("laplace", 1.0), perturbation("laplace-raw", 1.0)
    assert float(clipped.mass(1.0, 0.79)) == pytest.approx(0.5 * math.exp(-0.21))
    # the stroke record's box, [.63, 1] x [0, 1]: clipping is what matters most at eps = 1
    x, low, high = [0.79, 0.5], [0.63, 0.0], [1.0, 1.0]
    assert concentration(clipped, x, low, high) == pytest.approx(1 - 0.5 * math.exp(-0.16))
    outside = (1 - 0.5 * math.exp(-0.16) - 0.5 * math.exp(-0.21)) * (1 - math.exp(-0.5))
    assert concentration(raw, x, low, high) == pytest.approx(outside)
    assert outside < 0.07 < 0.57 < concentration(clipped, x, low, high)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "certified"])
def test_closed_forms_are_the_mechanisms_own_cdf(name: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        x = rng.random(3)
        low, high = np.sort(rng.random((2, 3)) * 1.2 - 0.1, axis=0)
        epsilons = rng.uniform(0.1, 9, 4)
        delta = 0.4 if name.startswith("gaussian") else None
        one_by_one = [concentration(perturbation(name, e, delta), x, low, high) for e in epsilons]
        assert curve(name, epsilons, x, low, high, delta) == pytest.approx(one_by_one, abs=1e-10)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_the_exponential_mechanism_spends_what_it_is_given_and_the_printed_one_half(epsilon: float) -> None:
    ours = perturbation("exponential", epsilon).mechanism.privacy_loss()
    assert epsilon * (1 - 1e-9) <= ours <= epsilon
    assert perturbation("exponential-printed", epsilon).mechanism.privacy_loss() <= 0.51 * epsilon + 0.05


@pytest.mark.parametrize("name", ["pm", "laplace", "k-rr", "exponential", "certified", "gaussian"])
def test_samples_fall_into_a_box_as_often_as_concentration_says(name: str) -> None:
    # 40000 reports, two-sided normal limit at 5 standard errors: false positives 6e-7 a case
    law, n = perturbation(name, 2.0, 0.1), 40_000
    reports = law.sample(np.full(n, 0.3), np.random.default_rng(7))
    share = float(((reports >= 0.1) & (reports <= 0.6)).mean())
    chance = float(law.between(0.3, 0.1, 0.6))
    assert abs(share - chance) < 5 * math.sqrt(chance * (1 - chance) / n)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="k-rr"):
        perturbation("pmm", 1.0)
    with pytest.raises(InvalidInput, match="delta"):
        perturbation("gaussian", 1.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1000.0, "a"])
@pytest.mark.parametrize("name", NAMES)
def test_curves_refuse_what_is_no_eps(name: str, epsilon: float) -> None:
    with pytest.raises(InvalidInput, match="eps"):
        curve(name, [1.0, epsilon], [0.5], [0.2], [0.8], 0.1)


def test_curves_refuse_inputs_outside_the_unit_interval() -> None:
    for x in (1.5, -0.1, math.nan):
        with pytest.raises(InvalidInput, match="x must lie"):
            curve("k-rr", [1.0], [x], [0.2], [0.8])
