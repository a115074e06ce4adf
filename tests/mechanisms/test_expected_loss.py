"""Expected losses, their worst case and their averages, against integrals of the density."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms import Piecewise, SublevelWindow, catalogue as c
from mechdesign.words import priors
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.losses import Absolute, Custom, Power, Squared

EXPONENTS = [0.5, 1.0, 1.5, 2.0, 3.0]


def pinball(case):
    return Custom(lambda y, x: np.where(y > x, 3 * (y - x), x - y), "pinball")


def step(case):
    edge = 0.1 * case.length if case.length else 1.5
    return Custom(lambda y, x: np.where(np.abs(y - x) > edge, 1.0, 0.0), "step", lambda x: (x - edge, x + edge))


def bimodal(case):
    twice, gap = 2 * case.mechanism.inputs.lower + case.length, 0.05 * max(case.length, 1)

    def kinks(x):
        return x, twice - x, (twice - gap) / 2, (twice + gap) / 2

    return Custom(lambda y, x: np.minimum(np.abs(y - x), gap + np.abs(twice - x - y)), "bimodal", kinks)


CUSTOM = [pinball, step, bimodal]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_expected_powers_of_the_distance_are_those_of_the_density(line_case, expectation, exponent):
    for x in line_case.xs:
        expected = expectation(line_case, x, lambda y, x=x: np.abs(y - x) ** exponent)
        assert line_case.mechanism.expected_loss(x, Power(exponent)) == pytest.approx(expected, rel=2e-10, abs=1e-14)


@pytest.mark.parametrize("loss_of", CUSTOM)
def test_expected_custom_losses_are_those_of_the_density(line_case, expectation, loss_of):
    loss = loss_of(line_case)
    for x in line_case.xs:
        expected = expectation(line_case, x, lambda y, x=x: loss.function(y, x), kinks=loss.kinks(x))
        assert line_case.mechanism.expected_loss(x, loss) == pytest.approx(expected, rel=2e-10, abs=1e-13)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_circular_losses_of_flattened_mechanisms_are_those_of_the_density(interval_case, expectation, exponent):
    period = 1.1 * interval_case.length  # not the domain's own length, which would hide mistakes about it
    loss = Power(exponent, period)
    lower, upper = interval_case.span
    for x in interval_case.xs:
        first, last = math.floor((lower - x) / period * 2), math.ceil((upper - x) / period * 2)
        kinks = [x + k * period / 2 for k in range(first, last + 1)]
        expected = expectation(interval_case, x, lambda y, x=x: _round_the_circle(y - x, period) ** exponent, kinks)
        assert interval_case.mechanism.expected_loss(x, loss) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def _round_the_circle(gap, period):
    return np.abs(gap - period * np.round(gap / period))


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_circular_losses_on_a_circle_are_those_of_the_density(circle_case, expectation, exponent):
    period = circle_case.length
    for x in circle_case.xs:
        expected = expectation(circle_case, x, lambda y, x=x: _round_the_circle(y - x, period) ** exponent)
        assert circle_case.mechanism.expected_loss(x, Power(exponent, period)) == pytest.approx(
            expected, rel=1e-10, abs=0
        )


def test_custom_losses_on_a_circle_see_outputs_on_the_circle_only(circle_case, expectation):
    period = circle_case.length
    loss = Custom(lambda y, x: np.where((y >= 0) & (y <= period), np.sqrt(np.abs(y)) / period, np.nan), "root of y")
    for x in circle_case.xs:
        expected = expectation(circle_case, x, lambda y: np.sqrt(y) / period)
        assert circle_case.mechanism.expected_loss(x, loss) == pytest.approx(expected, rel=1e-9, abs=0)


def test_discontinuous_losses_on_a_circle_are_those_of_the_density(circle_case, expectation):
    period = circle_case.length

    def far(y, x):
        return (_round_the_circle(y - x, period) > 0.1 * period) * 1.0

    wrapped = [lambda x, k=k: x + k * period for k in (-0.9, -0.1, 0.1, 0.9)]
    loss = Custom(far, "far", lambda x: tuple(at(x) for at in wrapped))
    for x in circle_case.xs:
        expected = expectation(circle_case, x, lambda y, x=x: far(y, x), [at(x) for at in wrapped])
        assert circle_case.mechanism.expected_loss(x, loss) == pytest.approx(expected, rel=1e-9, abs=0)


def test_losses_of_another_circle_are_refused(circle_case):
    for loss in (Absolute(), Squared(), Squared(period=1.25 * circle_case.length)):
        with pytest.raises(InvalidInput, match="be circular with period"):
            circle_case.mechanism.expected_loss(1.0, loss)


def _dense(case):
    inputs = case.mechanism.inputs
    return np.array(inputs.points) if isinstance(inputs, Finite) else np.linspace(inputs.lower, inputs.upper, 1501)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_worst_case_is_attained_and_never_exceeded(affine_case, exponent):
    case = affine_case
    period = case.length if isinstance(case.mechanism.inputs, Circle) else None
    loss, grid = Power(exponent, period), _dense(case)
    value, at = case.mechanism.worst_case(loss)
    assert value == pytest.approx(float(case.mechanism.expected_loss(at, loss)), rel=1e-13, abs=0)
    assert value >= float(np.max(case.mechanism.expected_loss(grid, loss))) * (1 - 1e-12)


@pytest.mark.slow
def test_the_worst_case_of_sublevel_windows_is_attained_and_never_exceeded():
    law = Piecewise(2.0, Interval(0, 1), Interval(0, 1), 0.4, 2.5, SublevelWindow(Power(1.5)))
    value, at = law.worst_case(Absolute())
    assert value == pytest.approx(float(law.expected_loss(at, Absolute())), rel=1e-13, abs=0)
    assert value >= float(np.max(law.expected_loss(np.linspace(0, 1, 31), Absolute()))) * (1 - 1e-12)
    assert value == pytest.approx(_centred_twin(law).worst_case(Absolute())[0], rel=1e-12, abs=0)


def _centred_twin(law):
    return Piecewise(law.epsilon, law.inputs, law.outputs, law.low, law.high)


@pytest.mark.parametrize("loss_of", [pinball, step])
@pytest.mark.parametrize("key", ["t-laplace", "pm", "t-pm", "ogpm", "sw-c", "hm", "duchi"])
def test_the_worst_case_of_custom_losses_is_attained_and_never_exceeded(key, loss_of):
    law = c.build(key, 1.5, Interval(-5, 3))
    width = 8.0

    class Stand:
        length, mechanism = width, law

    loss = loss_of(Stand)
    value, at = law.worst_case(loss)
    assert value == pytest.approx(float(law.expected_loss(at, loss)), rel=1e-13, abs=0)
    assert value >= float(np.max(law.expected_loss(np.linspace(-5, 3, 201), loss))) * (1 - 1e-9)


@pytest.mark.parametrize(
    "key", ["laplace", "t-laplace", "b-laplace", "duchi", "pm", "t-pm", "pm-c", "hm", "t-sw", "ogpm"]
)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_the_worst_case_of_flattened_mechanisms_is_attained_and_never_exceeded(key, epsilon):
    law, loss = c.build(key, epsilon, Interval(0, 360)), Squared(period=360.0)
    value, at = law.worst_case(loss)
    assert value == pytest.approx(float(law.expected_loss(at, loss)), rel=1e-13, abs=0)
    assert value >= float(np.max(law.expected_loss(np.linspace(0, 360, 1001), loss))) * (1 - 1e-11)


def test_an_undeclared_jump_is_reported_not_smoothed_over():
    loss = Custom(lambda y, x: np.where(np.sin(1e5 * x) > 0, 1.0, 0.0), "hidden steps")
    with pytest.raises(CheckFailed, match="not smooth"):
        c.duchi(1.0).worst_case(loss)


PRIORS = {
    "uniform": lambda domain: priors.uniform(domain),
    "normal": lambda domain: priors.normal(domain.lower + 0.2 * domain.length, 0.05 * domain.length, domain),
    "histogram": lambda domain: priors.histogram(
        domain.lower + domain.length * np.array([0.1, 0.25, 0.3, 0.9]), [0.5, 0.1, 0.4]
    ),
}


@pytest.mark.parametrize("prior_of", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("key", ["laplace", "t-laplace", "b-laplace", "pm", "t-pm", "hm", "sw-c", "ogpm"])
def test_average_losses_are_integrals_over_the_prior(key, exponent, prior_of, tanh_sinh):
    domain = Interval(-5, 3)
    law, loss, prior = c.build(key, 1.3, domain), Power(exponent), prior_of(domain)
    cuts = [*np.linspace(-5, 3, 161), *prior.breakpoints, prior.domain.lower, prior.domain.upper]
    inside = [cut for cut in cuts if prior.domain.lower <= cut <= prior.domain.upper]

    def integrand(x):
        return law.expected_loss(x.ravel(), loss).reshape(x.shape) * prior(x)

    assert law.average_loss(loss, prior) == pytest.approx(tanh_sinh(integrand, inside), rel=2e-8, abs=0)


def test_the_average_without_a_prior_is_the_uniform_one(affine_case):
    case, law = affine_case, affine_case.mechanism
    loss = Power(1.5, case.length if isinstance(law.inputs, Circle) else None)
    if isinstance(law.inputs, Finite):
        expected = float(np.mean(law.expected_loss(np.array(law.inputs.points), loss)))
    else:
        expected = law.average_loss(loss, priors.uniform(law.inputs))
        middles = law.inputs.lower + (np.arange(4000) + 0.5) / 4000 * law.inputs.length
        assert expected == pytest.approx(float(np.mean(law.expected_loss(middles, loss))), rel=1e-5, abs=0)
    assert law.average_loss(loss) == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_average_over_data_is_the_mean_over_its_values(case):
    law, data = case.mechanism, np.array([*case.xs, case.xs[0], case.xs[0]])
    loss = Power(2.0, case.length if isinstance(law.inputs, Circle) else None)
    expected = float(np.mean(law.expected_loss(data, loss)))
    assert law.average_loss(loss, priors.Atoms.of_data(data)) == pytest.approx(expected, rel=1e-13, abs=0)


def test_the_average_of_a_polynomial_error_agrees_with_quad():
    law = c.ogpm(2.0)
    expected, _ = integrate.quad(
        lambda x: float(law.expected_loss(x, Absolute())), 0, 1, epsabs=1e-13, limit=300, points=[0.1, 0.2, 0.8, 0.9]
    )
    assert law.average_loss(Absolute()) == pytest.approx(expected, abs=1e-10)


def test_priors_that_reach_beyond_the_inputs_are_refused():
    for prior in (
        priors.uniform(Interval(-0.1, 1)),
        priors.uniform(Interval(0, 1.1)),
        priors.Atoms([0.5, 1.5], [0.5, 0.5]),
    ):
        with pytest.raises(InvalidInput):
            c.ogpm(1.0).average_loss(Absolute(), prior)


def test_densities_are_refused_as_priors_of_points():
    with pytest.raises(InvalidInput, match="Atoms"):
        c.randomised_response(1.0, Finite((0, 1))).average_loss(Absolute(), priors.uniform(Interval(0, 1)))


@pytest.mark.parametrize("loss", [Power(0.5), Power(1.0), Power(2.0), Power(3.0)])
@pytest.mark.parametrize("x", [0.0, 0.03, 0.5, 0.81, 1.0])
def test_no_window_of_the_same_width_beats_the_sublevel_set(loss, x):
    law = Piecewise(2.0, Interval(0, 1), Interval(0, 1), 0.4, 2.5, SublevelWindow(loss))
    starts = np.linspace(0, 1 - law.width, 2001)
    inside = loss.integral(starts - x, starts + law.width - x, x)
    best = law.low * float(loss.integral(-x, 1 - x, x)) + (law.high - law.low) * float(inside.min())
    assert float(law.expected_loss(x, loss)) <= best * (1 + 1e-12)


DOMAINS = st.sampled_from([Interval(0, 1), Interval(-5, 3), Interval(1e3, 1e3 + 2), Interval(-1e-3, 2e-3)])


@settings(max_examples=150, deadline=None)
@given(
    key=st.sampled_from([entry.key for entry in c.ON_INTERVALS]),
    epsilon=st.floats(1e-3, 20),
    domain=DOMAINS,
    place=st.floats(0, 1),
    exponent=st.sampled_from([1.0, 2.0, 3.0]),
)
def test_errors_scale_with_the_domain(key, epsilon, domain, place, exponent):
    """Theorem 6: a mechanism moved to another interval keeps its errors, in units of the length."""
    law, unit = c.build(key, epsilon, domain), c.build(key, epsilon, Interval(0, 1))
    x = min(domain.lower + place * domain.length, domain.upper)
    expected = float(unit.expected_loss((x - domain.lower) / domain.length, Power(exponent)))
    got = float(law.expected_loss(x, Power(exponent))) / domain.length**exponent
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-11)


@settings(max_examples=100, deadline=None)
@given(key=st.sampled_from([entry.key for entry in c.ON_INTERVALS]), epsilon=st.floats(1e-3, 20), place=st.floats(0, 1))
def test_the_squared_error_is_variance_plus_squared_bias(key, epsilon, place):
    law = c.build(key, epsilon, Interval(-5, 3))
    x = -5 + 8 * place
    second, mean = float(law.moment(x, 2)), float(law.mean(x))
    size = 1 + abs(second)
    assert float(law.variance(x)) == pytest.approx(second - mean**2, abs=1e-9 * size)
    assert float(law.expected_loss(x, Squared())) == pytest.approx(second - 2 * x * mean + x * x, abs=1e-9 * size)


def test_periods_that_go_too_often_into_the_outputs_are_refused():
    with pytest.raises(InvalidInput, match="period"):
        c.pm(1e-6).worst_case(Squared(period=2.0))
