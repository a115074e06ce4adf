"""What the papers print, where they are right, and the corrected numbers where they are not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize

from mechdesign.mechanisms import catalogue as c
from mechdesign.values.declare import evolved
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Absolute, Power, Squared

EPSILONS = [1e-3, 0.1, 1.0, 2.0, 5.0, 20.0]
UNIT, SYMMETRIC = Interval(0, 1), Interval(-1, 1)
TURN = 2 * math.pi


# -- unbiased mechanisms on [-1, 1] -----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pm_has_the_variance_of_its_paper(epsilon):
    h, xs = math.exp(epsilon / 2), np.linspace(-1, 1, 21)
    printed = xs**2 / (h - 1) + (h + 3) / (3 * (h - 1) ** 2)
    np.testing.assert_allclose(c.pm(epsilon).variance(xs), printed, rtol=1e-10)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pm_is_worst_at_the_ends_with_4h_over_3_h_minus_1_squared(epsilon):
    h = math.exp(epsilon / 2)
    value, at = c.pm(epsilon).worst_case(Squared())
    assert value == pytest.approx(4 * h / (3 * (h - 1) ** 2), rel=1e-10, abs=0)
    assert abs(at) == pytest.approx(1)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_duchi_has_the_variance_of_its_paper(epsilon):
    xs, spread = np.linspace(-1, 1, 21), (math.exp(epsilon) + 1) / math.expm1(epsilon)
    np.testing.assert_allclose(c.duchi(epsilon).variance(xs), spread**2 - xs**2, rtol=1e-9, atol=1e-15)
    value, at = c.duchi(epsilon).worst_case(Squared())
    assert value == pytest.approx(spread**2, rel=1e-10, abs=0)
    assert at == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.65, 1.0, 2.0, 5.0, 20.0])
def test_hm_has_the_worst_variance_of_its_paper(epsilon):
    h, e = math.exp(epsilon / 2), math.exp(epsilon)
    printed = (h + 3) / (3 * h * (h - 1)) + (e + 1) ** 2 / (h * (e - 1) ** 2)
    law = c.hm(epsilon)
    assert law.worst_case(Squared())[0] == pytest.approx(printed, rel=1e-10, abs=0)
    # with the weight of the paper the variance does not depend on the input
    np.testing.assert_allclose(law.variance(np.linspace(-1, 1, 11)), printed, rtol=1e-10)


def test_hm_switches_from_duchi_where_the_two_printed_variances_cross():
    def gain(epsilon):
        h, e = math.exp(epsilon / 2), math.exp(epsilon)
        mixed = (h + 3) / (3 * h * (h - 1)) + (e + 1) ** 2 / (h * (e - 1) ** 2)
        return mixed - ((e + 1) / (e - 1)) ** 2

    switch = optimize.brentq(gain, 0.3, 1.0, xtol=1e-14)
    assert switch == pytest.approx(0.61, abs=0.005)
    assert c.hm(switch - 1e-9) == evolved(c.duchi(switch - 1e-9), name="HM")
    assert c.hm(switch + 1e-9).spread == c.pm(switch + 1e-9)


def test_hm_never_does_worse_than_its_parts():
    for epsilon in (0.3, 0.7, 1.3, 3.0):
        best = min(c.pm(epsilon).worst_case(Squared())[0], c.duchi(epsilon).worst_case(Squared())[0])
        assert c.hm(epsilon).worst_case(Squared())[0] <= best * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_pm_has_the_windows_of_its_paper(epsilon):
    h = math.exp(epsilon / 2)
    reach = (h + 1) / (h - 1)
    for x in (-1.0, -0.2, 0.0, 0.7, 1.0):
        left = (reach + 1) / 2 * x - (reach - 1) / 2
        edges = c.pm(epsilon).pieces(x).edges
        for edge in (left, left + reach - 1):
            assert np.abs(edges - edge).min() < 1e-12 * reach
        assert edges[[0, -1]] == pytest.approx([-reach, reach])


# -- theorem 10 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_theorem_10_has_its_printed_windows(epsilon):
    reach = (math.exp(epsilon / 2) + 1) / (math.exp(epsilon / 2) - 1)
    law = c.ogpm_unbiased(epsilon)
    assert law.high == pytest.approx(math.exp(epsilon / 2) / (2 * reach + 1))
    for x in (0.0, 0.3, 1.0):
        left = (reach + 1) / 2 * x - (3 * reach + 1) * (reach - 1) / (4 * reach)
        right = (reach + 1) / 2 * x + (reach + 1) * (reach - 1) / (4 * reach)
        edges = law.pieces(x).edges
        assert edges[[0, -1]] == pytest.approx([-reach, reach + 1])
        for edge in (left, right):
            assert np.abs(edges - edge).min() < 1e-12 * reach


def test_theorem_10_has_far_more_variance_than_pm_rescaled():
    assert float(c.ogpm_unbiased(1.0).variance(0.0)) == pytest.approx(5.02, abs=0.005)
    assert float(c.pm(1.0, UNIT).variance(0.0)) == pytest.approx(1.31, abs=0.005)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0, 6.0])
def test_pm_rescaled_beats_theorem_10_by_a_factor_of_at_least_3(epsilon):
    assert c.ogpm_unbiased(epsilon).worst_case(Squared())[0] > 3 * c.pm(epsilon, UNIT).worst_case(Squared())[0]


# -- additive noise ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_staircase_has_the_error_of_its_theorem_3(epsilon):
    for domain in (UNIT, Interval(-5, 3)):
        expected = domain.length * math.exp(epsilon / 2) / math.expm1(epsilon)
        assert c.staircase(epsilon, domain).worst_case(Absolute())[0] == pytest.approx(expected, rel=1e-10, abs=0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0, 40.0])
def test_the_staircase_tuned_to_the_squared_error_beats_every_share_on_a_grid(epsilon):
    best = c.staircase(epsilon, loss=Squared()).worst_case(Squared())[0]
    shares = np.exp(np.linspace(-epsilon - 1, -1e-6, 4001))
    b = math.exp(-epsilon)
    # E Z^2 of the staircase law with share g, from its definition
    inner = shares + b * (1 - shares)
    top = (1 - b) / (2 * inner)
    levels = np.arange(math.ceil(60 / epsilon) + 2)[:, None]
    terms = (levels + shares) ** 3 - levels**3 + b * ((levels + 1) ** 3 - (levels + shares) ** 3)
    errors = 2 * top * np.sum(b**levels * terms, axis=0) / 3
    assert best <= errors.min() * (1 + 1e-6)
    assert best >= errors.min() * (1 - 1e-2)


def test_the_staircase_beats_laplace():
    for epsilon in (0.5, 2.0, 8.0):
        for loss in (Absolute(), Squared()):
            assert c.staircase(epsilon, UNIT, loss).worst_case(loss)[0] < c.laplace(epsilon).worst_case(loss)[0]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_noise_has_variance_two_over_epsilon_squared(epsilon):
    assert float(c.laplace(epsilon).variance(0.3)) == pytest.approx(2 / epsilon**2)


def test_truncated_laplace_is_error_free_with_probability_half_at_the_ends():
    law = c.truncated_laplace(2.0)
    assert law.mass([0.0, 1.0], [0.0, 1.0]).tolist() == pytest.approx([0.5, 0.5])


def printed_bounded_laplace(epsilon, y, x):
    return epsilon / (1 - math.exp(-epsilon)) * np.exp(-epsilon * np.abs(y - x))


def test_the_printed_constant_of_bounded_laplace_is_right_at_the_ends_only(tanh_sinh):
    def total(x):
        return tanh_sinh(lambda y: printed_bounded_laplace(2.0, y, x), [0, x, 1])

    assert total(0.0) == pytest.approx(1)
    assert total(0.5) == pytest.approx(1.46, abs=0.005)
    law = c.bounded_laplace(2.0)
    assert float(law.density(0.3, 0.0)) == pytest.approx(printed_bounded_laplace(2.0, 0.3, 0.0))
    assert float(law.density(0.3, 0.5)) == pytest.approx(printed_bounded_laplace(2.0, 0.3, 0.5) / total(0.5))


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 2.0, 4.0, 20.0])
def test_bounded_laplace_has_the_error_of_c28_divided_by_its_true_mass(epsilon):
    x = np.linspace(0, 1, 21)
    left, right = np.exp(-epsilon * x), np.exp(-epsilon * (1 - x))
    printed = (2 - (1 + epsilon * x) * left - (1 + epsilon * (1 - x)) * right) / (epsilon * -math.expm1(-epsilon))
    mass = (2 - left - right) / -math.expm1(-epsilon)
    np.testing.assert_allclose(c.bounded_laplace(epsilon).expected_loss(x, Absolute()), printed / mass, rtol=1e-8)


# -- distribution estimation ------------------------------------------------------------------------------------------


def test_sw_has_a_squared_error_of_029_at_the_end_for_epsilon_1():
    assert float(c.sw(1.0).expected_loss(0.0, Squared())) == pytest.approx(0.29, abs=0.005)


@pytest.mark.parametrize("epsilon", [1e-6, 9.99e-6, 1.01e-5, 0.1, 1.0, 20.0])
def test_sw_has_the_window_of_its_paper(epsilon):
    half = sum(epsilon**k * (k - 1) / math.factorial(k) for k in range(2, 130)) / (
        2 * math.exp(epsilon) * sum(epsilon**k / math.factorial(k) for k in range(2, 130))
    )  # (eps e^eps - e^eps + 1) / (2 e^eps (e^eps - 1 - eps)), both brackets as series
    law = c.sw(epsilon)
    assert -law.outputs.lower == pytest.approx(half, rel=1e-8, abs=0)
    assert law.outputs.upper == pytest.approx(1 + half, rel=1e-8, abs=0)
    assert law.high == pytest.approx(math.exp(epsilon) / (2 * half * math.exp(epsilon) + 1), rel=1e-8, abs=0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_redesigned_sw_keeps_the_central_density_of_sw_on_the_domain(epsilon):
    for domain in (UNIT, Circle(360.0)):
        assert c.redesigned_sw(epsilon, domain).high * domain.length == pytest.approx(math.expm1(epsilon) / epsilon)


# -- OGPM -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "worst"), [(1.0, 0.37754), (2.0, 0.26894), (4.0, 0.11920)])
def test_theorem_7_has_its_absolute_error(epsilon, worst):
    value, at = c.ogpm(epsilon).worst_case(Absolute())
    assert value == pytest.approx(worst, abs=1e-5)
    assert value == pytest.approx(1 / (1 + math.exp(epsilon / 2)))
    assert at in (0.0, 1.0)


def test_theorem_7_at_epsilon_1_has_a_first_window_up_to_03775():
    pieces = c.ogpm(1.0).pieces(0.0)
    assert pieces.edges == pytest.approx([0, 0.3775, 1], abs=1e-4)
    assert pieces.densities == pytest.approx([1.6487, 0.60653], abs=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "height", "error"),
    [(1, 1.509333, 0.21729852), (2, 2.230012, 0.13111451), (4, 4.625211, 0.04063565), (8, 18.081562, 0.00302367)],
)
def test_corrected_heights_for_the_squared_error(epsilon, height, error):
    law = c.ogpm_squared(epsilon)
    assert law.high == pytest.approx(height, abs=1e-6)
    assert law.worst_case(Squared())[0] == pytest.approx(error, abs=1e-8)


@settings(max_examples=100, deadline=None)
@given(epsilon=st.floats(1e-3, 40))
def test_corrected_heights_solve_the_cubic(epsilon):
    m = c.ogpm_squared(epsilon).low
    assert m**3 * math.expm1(epsilon) ** 2 == pytest.approx((1 - m) ** 2 * (m + 2), rel=1e-6, abs=0)


@pytest.mark.parametrize(("epsilon", "printed"), [(1.0, 0.22087), (2.0, 0.13787), (4.0, 0.04921)])
def test_printed_heights_do_worse_in_the_squared_error(epsilon, printed):
    assert c.ogpm(epsilon).worst_case(Squared())[0] == pytest.approx(printed, abs=1e-5)
    assert c.ogpm_squared(epsilon).worst_case(Squared())[0] < printed


@settings(max_examples=60, deadline=None)
@given(epsilon=st.floats(1e-2, 15), other=st.floats(1e-3, 0.999))
def test_no_other_base_density_beats_the_two_optima(epsilon, other):
    rival = c.two_heights(epsilon, UNIT, UNIT, math.exp(-epsilon * other))
    assert c.ogpm(epsilon).worst_case(Absolute())[0] <= rival.worst_case(Absolute())[0] * (1 + 1e-9)
    assert c.ogpm_squared(epsilon).worst_case(Squared())[0] <= rival.worst_case(Squared())[0] * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_theorem_9_is_the_squared_error_of_the_printed_heights_on_the_circle(epsilon):
    high = math.exp(epsilon / 2) / TURN
    half = math.pi * math.expm1(epsilon / 2) / math.expm1(epsilon)
    printed = 2 / 3 * ((math.pi**3 - half**3) * high / math.exp(epsilon) + half**3 * high)
    law = c.ogpm_circle(epsilon)
    np.testing.assert_allclose(law.expected_loss([0.0, 1.0, 4.0], Squared(TURN)), printed, rtol=1e-10)


def test_theorem_9_prints_048566_where_040106_is_possible():
    assert c.ogpm_circle(4.0).worst_case(Squared(TURN))[0] == pytest.approx(0.48566, abs=1e-5)
    assert c.ogpm_circle_squared(4.0).worst_case(Squared(TURN))[0] == pytest.approx(0.40106, abs=1e-5)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 4.0, 20.0])
def test_purkayastha_has_its_closed_form_errors(epsilon):
    rate, lost = epsilon / math.pi, math.exp(-epsilon)
    absolute = 1 / rate - math.pi * lost / -math.expm1(-epsilon)
    squared = (2 / rate**2 - lost * (math.pi**2 + TURN / rate + 2 / rate**2)) / -math.expm1(-epsilon)
    law = c.purkayastha(epsilon)
    assert law.worst_case(Absolute(TURN))[0] == pytest.approx(absolute, rel=1e-7, abs=0)
    assert law.worst_case(Squared(TURN))[0] == pytest.approx(squared, rel=1e-6, abs=0)


def test_ogpm_beats_purkayastha_on_the_circle():
    for epsilon in (0.5, 2.0, 6.0):
        assert (
            c.ogpm_circle(epsilon).worst_case(Absolute(TURN))[0] < c.purkayastha(epsilon).worst_case(Absolute(TURN))[0]
        )


# -- section 5.6 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "pm_share", "sw_share"), [(2.0, 0.942, 0.923), (4.0, 0.905, 0.747)])
def test_average_absolute_errors_relative_to_pm_c_and_sw_c(epsilon, pm_share, sw_share):
    ours = c.ogpm(epsilon).average_loss(Absolute())
    assert ours / c.build("pm-c", epsilon, UNIT).average_loss(Absolute()) == pytest.approx(pm_share, abs=5e-4)
    assert ours / c.build("sw-c", epsilon, UNIT).average_loss(Absolute()) == pytest.approx(sw_share, abs=5e-4)


def circular_shares(law, epsilon):
    """Our error round the circle over that of PM-C and SW-C, flattened and judged by the linear squared loss."""
    ours, flat = law.average_loss(Squared(TURN)), Interval(0, TURN)
    return [ours / c.build(key, epsilon, flat).average_loss(Squared()) for key in ("pm-c", "sw-c")]


@pytest.mark.parametrize(("epsilon", "shares"), [(2.0, [0.475, 0.430]), (4.0, [0.413, 0.246])])
def test_the_printed_circular_shares_come_out_with_the_corrected_heights(epsilon, shares):
    """Within 0.11 points, while the printed heights are 2.5 points off: the exact shares at 2 are 47.55% and 43.10%."""
    assert circular_shares(c.ogpm_circle_squared(epsilon), epsilon) == pytest.approx(shares, abs=1.1e-3)


def test_the_printed_heights_give_other_circular_shares_than_the_printed_ones():
    assert circular_shares(c.ogpm_circle(2.0), 2.0) == pytest.approx([0.500, 0.453], abs=5e-4)


def test_flattened_mechanisms_do_better_when_judged_round_the_circle():
    for key in ("pm-c", "sw-c"):
        law = c.build(key, 2.0, Interval(0, TURN))
        assert law.average_loss(Power(2.0, TURN)) < law.average_loss(Squared())
        assert c.ogpm_circle_squared(2.0).average_loss(Squared(TURN)) < law.average_loss(Power(2.0, TURN))
