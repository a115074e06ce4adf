"""Samplers: exact where a sampler is an inversion, statistical for the law of the others.

The statistical tests turn a sample into ``cdf(y) - V mass(y)`` with V uniform, which is uniform when the sampler is
right. Seed and n are fixed; the critical value is that of the Kolmogorov-Smirnov statistic at a false-positive rate of
1e-6 a test, about 1e-4 for all of them. A sampler whose cdf is off by 2 critical values (0.024) somewhere is caught
with probability 1 - 1e-6.
"""

import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import Discrete, Laplace, Piecewise, Product, Staircase, TwoSidedGeometric, catalogue as c
from mechdesign.words.domains import Circle, Finite, Interval

N, RATE = 50_000, 1e-6
CRITICAL = stats.kstwo.ppf(1 - RATE, N)


def distance_from_uniform(law, sample, x, rng):
    u = law.cdf(sample, x) - rng.random(sample.size) * law.mass(sample, x)
    return stats.kstest(u, "uniform").statistic


def test_samples_of_one_input_follow_its_law(case):
    """n = 50 000 an input, false-positive rate 1e-6 a test; see the head of the file for the power."""
    rng = np.random.default_rng(20240517)
    for x in case.xs[:2]:
        sample = case.mechanism.sample(x, rng, N)
        assert distance_from_uniform(case.mechanism, sample, x, rng) < CRITICAL


def test_samples_of_many_inputs_follow_their_laws(affine_case):
    """n = 50 000 outputs of inputs drawn at random, false-positive rate 1e-6 a test."""
    case = affine_case  # a sublevel window takes milliseconds an input; its sampler is its quantile function
    rng, inputs = np.random.default_rng(99), case.mechanism.inputs
    if isinstance(inputs, Finite):
        xs = rng.choice(np.array(inputs.points), N)
    else:
        xs = np.minimum(inputs.lower + rng.random(N) * inputs.length, inputs.upper)
    sample = case.mechanism.sample(xs, rng)
    assert distance_from_uniform(case.mechanism, sample, xs, rng) < CRITICAL


@pytest.mark.parametrize("points", [2, 5, 40])
def test_shares_of_randomised_response_pass_a_chi_square_test(points):
    """n = 50 000, false-positive rate 1e-6; a share off by 0.02 is caught with probability above 1 - 1e-6."""
    law = c.randomised_response(1.0, Finite(tuple(range(points))))
    sample = law.sample(1.0, np.random.default_rng(3), N)
    expected = N * law.mass(np.arange(points), 1.0)
    observed = np.bincount(sample.astype(int), minlength=points)
    assert stats.chisquare(observed, expected).pvalue > RATE


def test_shares_of_geometric_noise_pass_a_chi_square_test():
    """n = 50 000, false-positive rate 1e-6; a share off by 0.02 is caught with probability above 1 - 1e-6."""
    law = c.two_sided_geometric(3.0, Finite((0, 3)))
    sample = law.sample(0.0, np.random.default_rng(4), N)
    near = np.arange(-6, 7)
    expected = np.append(law.mass(near, 0.0), 1 - law.mass(near, 0.0).sum()) * N
    observed = np.append([(sample == y).sum() for y in near], (np.abs(sample) > 6).sum())
    assert stats.chisquare(observed, expected).pvalue > RATE


INVERTED = ["ogpm", "ogpm-squared", "pm", "pm-c", "sw", "sw-c", "r-sw", "ogpm-u", "t-pm", "t-sw"]


@pytest.mark.parametrize("key", INVERTED)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0])
@pytest.mark.parametrize("domain", [Interval(0, 1), Interval(-5, 3), Interval(1e3, 1e3 + 2)], ids=str)
def test_piecewise_samples_are_quantiles_of_the_generators_uniforms(key, epsilon, domain):
    law = c.build(key, epsilon, domain)
    xs = np.linspace(domain.lower, domain.upper, 20_011)  # more than two of the sampler's chunks, and not a multiple
    sample = law.sample(xs, np.random.default_rng(7))
    expected = law.quantile(np.random.default_rng(7).random(xs.size), xs)
    np.testing.assert_allclose(sample, expected, rtol=0, atol=1e-10 * (abs(domain.lower) + domain.length) / epsilon)


@pytest.mark.parametrize("key", ["duchi", "b-laplace"])
def test_other_inversions_are_quantiles_of_the_generators_uniforms(key):
    law, xs = c.build(key, 1.0, Interval(-5, 3)), np.linspace(-5, 3, 501)
    np.testing.assert_array_equal(
        law.sample(xs, np.random.default_rng(7)), law.quantile(np.random.default_rng(7).random(501), xs)
    )


def test_one_input_and_the_same_input_repeated_draw_alike(case):
    x = case.xs[1]
    one = case.mechanism.sample(x, np.random.default_rng(11), 300)
    many = case.mechanism.sample(np.full(300, x), np.random.default_rng(11))
    np.testing.assert_array_equal(one, many)


def test_the_same_generator_state_gives_the_same_sample(case):
    draws = [case.mechanism.sample(case.xs[1], np.random.default_rng(5), 100) for _ in range(2)]
    np.testing.assert_array_equal(*draws)


def hardly_ever_changes(case):
    """Whether a report is one value but for a chance so small that two samples of 100 may well be equal."""
    law = case.mechanism
    if isinstance(law, TwoSidedGeometric):
        return law.mass(case.xs[1], case.xs[1]) > 0.9
    return isinstance(law, Discrete) and law.probabilities.max(axis=1).min() > 0.9


def test_another_seed_gives_another_sample(case):
    if hardly_ever_changes(case):
        return
    draws = [case.mechanism.sample(case.xs[1], np.random.default_rng(seed), 100) for seed in (5, 6)]
    assert (draws[0] != draws[1]).any()


def test_a_sample_advances_its_generator(case):
    rng = np.random.default_rng(5)
    before = rng.bit_generator.state["state"]["state"]
    case.mechanism.sample(case.xs[0], rng, 10)
    assert rng.bit_generator.state["state"]["state"] != before


def test_samples_are_doubles_of_the_shape_of_the_inputs(case):
    rng = np.random.default_rng(0)
    for shape in ((), (1,), (4,), (2, 3), (0,)):
        sample = case.mechanism.sample(np.full(shape, case.xs[1]), rng)
        assert sample.shape == shape
        assert sample.dtype == np.float64
    assert case.mechanism.sample(case.xs[0], rng, 7).shape == (7,)
    assert case.mechanism.sample(case.xs[0], rng, np.int64(7)).shape == (7,)
    assert case.mechanism.sample(case.xs[0], rng, 0).shape == (0,)


def test_samples_lie_in_the_outputs(case):
    rng, outputs = np.random.default_rng(1), case.mechanism.outputs
    for x in case.xs:
        sample = case.mechanism.sample(x, rng, 5000)
        assert np.isfinite(sample).all()
        if isinstance(outputs, Finite):
            outputs.require(sample)
        elif isinstance(outputs, Interval):
            assert ((sample >= outputs.lower) & (sample <= outputs.upper)).all()
        elif isinstance(outputs, Circle):
            assert ((sample >= 0) & (sample < outputs.period)).all()


def test_inputs_are_left_as_they_were(case):
    xs = np.array(case.xs)
    kept = xs.copy()
    case.mechanism.sample(xs, np.random.default_rng(1))
    np.testing.assert_array_equal(xs, kept)


class Constant(np.random.Generator):
    """A generator whose uniforms are all one value, to reach the ends of a sampler's range."""

    def __init__(self, value):
        super().__init__(np.random.PCG64(0))
        self.value = value

    def random(self, size=None, dtype=np.float64, out=None):
        if out is None:
            return np.full(size if size is not None else (), self.value)
        out[...] = self.value
        return out


@pytest.mark.parametrize("uniform", [0.0, 1 - 2.0**-53])
def test_extreme_uniforms_stay_inside_the_outputs(case, uniform):
    outputs = case.mechanism.outputs
    sample = case.mechanism.sample(np.array(case.xs), Constant(uniform))
    assert np.isfinite(sample).all()
    if isinstance(outputs, Interval):
        assert ((sample >= outputs.lower) & (sample <= outputs.upper)).all()
    if isinstance(outputs, Circle):
        assert ((sample >= 0) & (sample < outputs.period)).all()


def test_samples_on_far_away_intervals_do_not_fall_off_the_lower_end():
    domain = Interval(1e6 + 0.1, 1e6 + 0.3)
    xs = np.linspace(domain.lower, domain.upper, 5001)
    assert (c.ogpm(3.0, domain).sample(xs, Constant(0.0)) >= domain.lower).all()


def test_an_impossible_output_is_never_drawn_even_in_a_late_row():
    outputs = Finite((0, 1, 2))
    law = Discrete(1.0, Finite(tuple(range(3000))), outputs, [[0.0, 1e-14, 1 - 1e-14]] * 3000)
    assert float(law.sample(2999.0, Constant(1 - 2.0**-53))) == 1.0
    np.testing.assert_array_equal(law.quantile(2e-14, [0.0, 2999.0]), 2.0)
    np.testing.assert_array_equal(law.quantile(5e-15, [0.0, 2999.0]), 1.0)


@pytest.mark.parametrize("rng", [None, 3, np.random.RandomState(0), np.random.PCG64(0), np.random, "seed"])
def test_anything_but_a_generator_is_refused(case, rng):
    with pytest.raises(InvalidInput, match="numpy Generator"):
        case.mechanism.sample(case.xs[0], rng)


@pytest.mark.parametrize("size", [-1, 2.0, True, "3", (2, 3), np.float64(2)])
def test_sizes_that_are_not_counts_are_refused(case, size):
    with pytest.raises(InvalidInput, match="size must"):
        case.mechanism.sample(case.xs[0], np.random.default_rng(0), size)


def test_a_size_beside_an_array_is_refused(case):
    with pytest.raises(InvalidInput, match="left out"):
        case.mechanism.sample(np.array(case.xs), np.random.default_rng(0), 3)


def test_products_sample_each_coordinate_with_its_own_mechanism():
    """n = 50 000, two Kolmogorov-Smirnov tests at a false-positive rate of 1e-6 each."""
    parts = (c.ogpm(1.0), c.ogpm_circle(2.0))
    rng = np.random.default_rng(8)
    sample = Product(parts).sample([0.2, 6.0], rng, N)
    assert sample.shape == (N, 2)
    for part, column, x in zip(parts, sample.T, (0.2, 6.0), strict=True):
        assert distance_from_uniform(part, column, x, rng) < CRITICAL
    assert abs(stats.spearmanr(*sample.T).statistic) < stats.norm.ppf(1 - RATE / 2) / math.sqrt(N - 1)


@pytest.mark.parametrize("noise", [Laplace(0.7), Staircase(1.0, 2.0, 0.3)])
def test_noise_is_symmetric(noise):
    """n = 50 000, a sign test at a false-positive rate of 1e-6; a share of 0.52 is caught with probability 1 - 1e-5."""
    positive = int((noise.sample(np.random.default_rng(2), (N,)) > 0).sum())
    assert stats.binomtest(positive, N, 0.5).pvalue > RATE


def test_a_window_over_everything_samples_the_uniform_law():
    law = Piecewise(1.0, Interval(0, 1), Interval(0, 2), 0.5, 0.5)
    np.testing.assert_allclose(
        law.sample(0.3, np.random.default_rng(1), 100), 2 * np.random.default_rng(1).random(100), atol=1e-15
    )
