"""Each law of each mechanism is a probability law, and its cdf, quantiles and moments are those of its density."""

import math

import numpy as np
import pytest
from scipy import integrate

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue as c
from mechdesign.words.domains import Circle, Finite, Interval

PROBABILITIES = np.array([0.0, 1e-12, 1e-3, 0.2, 0.5, 0.77, 0.999, 1 - 1e-12, 1.0])


def test_the_integrator_of_these_tests_agrees_with_quad(tanh_sinh):
    expected, _ = integrate.quad(lambda z: math.sqrt(z) * math.exp(-3 * z), 0, 2, epsabs=1e-14, epsrel=1e-13)
    assert tanh_sinh(lambda z: np.sqrt(z) * np.exp(-3 * z), [0, 0.7, 2]) == pytest.approx(expected, rel=1e-12, abs=0)


def test_total_mass_is_one(case, expectation):
    for x in case.xs:
        assert expectation(case, x, np.ones_like) == pytest.approx(1, abs=2e-12)


def test_density_and_mass_are_never_negative(case):
    for x in case.xs:
        grid = np.concatenate([np.linspace(case.span[0] - 1, case.span[1] + 1, 1001), case.atoms])
        assert (case.mechanism.density(grid, x) >= 0).all()
        assert (case.mechanism.mass(grid, x) >= 0).all()


def test_cdf_is_the_integral_of_the_density_and_the_atoms_below(case, expectation):
    lower, upper = case.span
    for x in case.xs:
        for y in (lower, lower + 0.21 * (upper - lower), x, lower + 0.68 * (upper - lower), upper, *case.atoms[:40:7]):
            below = expectation(case, x, lambda z, y=y: (z <= y) * 1.0, kinks=[y])
            assert case.mechanism.cdf(y, x) == pytest.approx(below, abs=2e-12)


def test_cdf_runs_from_zero_to_one_without_falling(case):
    lower, upper = case.span
    grid = np.concatenate(
        [[-np.inf], np.sort(np.append(np.linspace(lower - 1, upper + 1, 4001), case.atoms)), [np.inf]]
    )
    for x in case.xs:
        values = case.mechanism.cdf(grid, x)
        assert values[0] == 0
        assert values[-1] == pytest.approx(1, abs=1e-12)
        assert (np.diff(values) >= -1e-15).all()


def test_cdf_of_a_quantile_reaches_the_probability(case):
    for x in case.xs:
        outputs = case.mechanism.quantile(PROBABILITIES, x)
        sharpest = float(np.max(case.mechanism.density(outputs[np.isfinite(outputs)], x), initial=0.0))
        slack = 1e-13 + 4 * sharpest * np.spacing(abs(x) + case.length)
        assert (case.mechanism.cdf(outputs, x) >= PROBABILITIES - slack).all()


def test_quantile_of_the_cdf_never_overshoots(case):
    lower, upper = case.span
    for x in case.xs:
        middle = case.mechanism.quantile([0.02, 0.98], x)
        grid = np.append(np.linspace(*middle, 301), case.atoms)
        grid = grid[(grid >= middle[0]) & (grid <= middle[1])]
        beyond = case.mechanism.quantile(case.mechanism.cdf(grid, x), x) - grid
        assert (beyond <= 1e-11 * (upper - lower + abs(x))).all()


def test_quantiles_at_zero_and_one_are_the_ends_of_the_outputs(case):
    outputs = case.mechanism.outputs
    for x in case.xs:
        first, last = case.mechanism.quantile([0.0, 1.0], x)
        if isinstance(outputs, Interval | Circle | Finite):
            assert first == pytest.approx(outputs.lower, abs=1e-12)
            assert last == pytest.approx(outputs.upper, abs=1e-12)
        else:
            assert (first, last) == (-math.inf, math.inf)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_moments_are_those_of_the_density(line_case, expectation, order):
    for x in line_case.xs:
        expected = expectation(line_case, x, lambda y: y**order)
        assert line_case.mechanism.moment(x, order) == pytest.approx(expected, rel=1e-10, abs=1e-11)


def test_mean_and_variance_are_those_of_the_density(line_case, expectation):
    for x in line_case.xs:
        mean = expectation(line_case, x, lambda y: y)
        variance = expectation(line_case, x, lambda y, mean=mean: (y - mean) ** 2)
        assert line_case.mechanism.mean(x) == pytest.approx(mean, rel=1e-11, abs=1e-11)
        assert line_case.mechanism.variance(x) == pytest.approx(variance, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("entry", [entry for entry in c.ON_INTERVALS if entry.unbiased], ids=lambda entry: entry.key)
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 3.0, 12.0])
def test_what_the_catalogue_calls_unbiased_is(entry, epsilon):
    law = c.build(entry.key, epsilon, Interval(-5, 3))
    grid = np.linspace(-5, 3, 33)
    np.testing.assert_allclose(law.mean(grid), grid, atol=1e-12 * 8 / epsilon)


@pytest.mark.parametrize(
    "entry", [entry for entry in c.ON_INTERVALS if not entry.unbiased], ids=lambda entry: entry.key
)
def test_what_the_catalogue_does_not_call_unbiased_is_not(entry):
    assert abs(float(c.build(entry.key, 1.0, Interval(0, 1)).mean(0.0))) > 0.01


def test_moments_on_a_circle_are_refused(circle_case):
    assert circle_case.mechanism.moment(1.0, 0) == pytest.approx(1)
    with pytest.raises(InvalidInput, match="line"):
        circle_case.mechanism.moment(1.0, 1)
    with pytest.raises(InvalidInput, match="line"):
        circle_case.mechanism.variance(1.0)


def test_laws_on_a_circle_are_rotations_of_each_other(circle_case):
    law, circle = circle_case.mechanism, circle_case.mechanism.inputs
    # half-way points of a grid: no output sits on an edge, where either height would do
    outputs = (np.arange(997) + 0.4321) / 997 * circle.period
    for turn in (0.1, 0.37, 0.5, 0.9):
        turned = circle.reduce(outputs + turn * circle.period)
        at = circle.reduce(0.3 * circle.period + turn * circle.period)
        np.testing.assert_allclose(law.density(turned, at), law.density(outputs, 0.3 * circle.period), rtol=1e-9)


def test_both_names_of_the_point_zero_on_a_circle_have_one_law(circle_case):
    law, circle = circle_case.mechanism, circle_case.mechanism.inputs
    outputs = (np.arange(97) + 0.4321) / 97 * circle.period
    np.testing.assert_allclose(law.density(outputs, circle.period), law.density(outputs, 0.0), rtol=1e-12)
    np.testing.assert_allclose(law.cdf(outputs, circle.period), law.cdf(outputs, 0.0), atol=1e-12)


def test_arguments_broadcast_like_numpy(case):
    law, xs = case.mechanism, np.array(case.xs)
    outputs = np.array(law.quantile([0.2, 0.5, 0.6, 0.9], xs[0]))[:, None]
    for method in (law.density, law.mass, law.cdf):
        table = method(outputs, xs)
        assert table.shape == (4, 3)
        assert table.dtype == np.float64
        singles = [[float(method(float(y), float(x))) for x in xs] for y in outputs[:, 0]]
        np.testing.assert_allclose(table, singles, rtol=1e-12, atol=1e-15)
    assert law.quantile(np.array([[0.2], [0.7]]), xs).shape == (2, 3)
    assert law.density(outputs[:0], xs).shape == (0, 3)


def test_small_epsilon_leaves_bounded_laplace_quantiles_their_digits():
    law = c.bounded_laplace(1e-9, Interval(0, 1))
    np.testing.assert_allclose(law.quantile([0.1, 0.5, 0.9], 0.25), [0.1, 0.5, 0.9], atol=1e-8)


def test_the_rare_output_of_duchi_keeps_its_digits():
    law = c.duchi(40.0)
    rare = float(law.mass(law.outputs.points[0], 1.0))
    assert rare == pytest.approx(math.exp(-40) / (1 + math.exp(-40)), rel=1e-12, abs=0)


def test_geometric_quantiles_are_exact_at_every_whole_number():
    law = c.two_sided_geometric(1.0, Finite(tuple(range(11))))
    outputs = np.arange(-100.0, 110.0)
    assert (law.quantile(law.cdf(outputs, 5.0), 5.0) <= outputs).all()


def test_purkayastha_is_defined_at_the_antipode_at_the_largest_epsilon():
    law = c.purkayastha(64.0, Circle(1.0))
    assert float(law.quantile(0.5, 0.0)) == 0.5
    assert float(law.quantile(0.5, 0.5)) == 0.5
