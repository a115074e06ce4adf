"""Designed mechanisms and tables as protocols."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import mechdesign as md
from mechdesign import Circle, Finite, Interval, catalogue
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import Discrete, Product
from mechdesign.studies.frequencies.protocols import OperatingSystem, designed, protocol
from mechdesign.tables import make_table
from tests.methods.problems import numbers

RATE = 1e-6
UNIT = Interval(0, 1)


def sources():
    return {
        "ogpm": (catalogue.ogpm(2.0), 8),
        "circle": (catalogue.ogpm_circle(2.0), 8),
        "pm": (catalogue.pm(2.0), 6),
        "laplace": (catalogue.laplace(2.0, UNIT), 4),
        "truncated laplace": (catalogue.truncated_laplace(2.0, UNIT), 4),
        "staircase": (catalogue.staircase(2.0, UNIT, md.Absolute()), 4),
        "minimax": (md.solve(numbers(1.0, md.Absolute(), UNIT)), 5),
        "duchi": (catalogue.duchi(2.0), 2),
    }


NAMES = ("ogpm", "circle", "pm", "laplace", "truncated laplace", "staircase", "minimax", "duchi")


@pytest.fixture(scope="module")
def made():
    return {
        name: (source, designed(source, size), designed(make_table(source), size))
        for name, (source, size) in sources().items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_decoders_invert_the_channel(made, name):
    for law in made[name][1:]:
        assert np.allclose(law.channel() @ law.decoder, np.eye(law.size), rtol=0, atol=1e-8)
        assert np.allclose(law.channel().sum(axis=1), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_losses_never_exceed_epsilon(made, name):
    for law in made[name][1:]:
        assert 0 < law.privacy_loss() <= law.epsilon * (1 + 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_tables_have_the_variances_of_their_mechanisms(made, name):
    """Cells of noise on the whole line reach as far as the mechanism's 0.1% tails; a table's may be a little wider."""
    _, law, shipped = made[name]
    assert shipped.variance([0.0, 0.5], 10) == pytest.approx(law.variance([0.0, 0.5], 10), rel=0.2)
    if law.edges is None or law.edges[0] == shipped.edges[0]:
        assert shipped.variance([0.0, 0.5], 10) == pytest.approx(law.variance([0.0, 0.5], 10), rel=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_shipped_reports_follow_the_channel_computed_from_the_table(made, name):
    """20 000 reports an item in integers from the operating system, chi-square at the rate 1e-9 (there is no seed)."""
    shipped = made[name][2]
    for v in range(shipped.size):
        histogram = shipped.histogram(shipped.report(np.full(20_000, v), OperatingSystem()))
        expected = shipped.channel()[v] * 20_000
        often = expected >= 5
        observed = np.append(histogram[often], histogram[~often].sum())
        expected = np.append(expected[often], max(expected[~often].sum(), 1e-12))
        distance = ((observed - expected) ** 2 / np.maximum(expected, 0.5)).sum()
        assert stats.chi2.sf(distance, max(1, often.sum() - 1)) > 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_single_and_simulated_reports_have_the_mean_and_covariance_stated(exact, made, name):
    """30 collections of 2 000 users by reports, 200 of 10^6 by simulation, seed 1, rate 1e-6 each."""
    law, rng = made[name][1], np.random.default_rng(1)
    shares = np.zeros(law.size)
    shares[:2] = 0.7, 0.3
    for users, runs, path in ((2000, 30, "report"), (10**6, 200, "simulate")):
        counts = (shares * users).round().astype(int)
        if path == "simulate":
            supports = [law.simulate(counts, rng) for _ in range(runs)]
        else:
            values = np.repeat(np.arange(law.size), counts)
            supports = [law.support(law.report(values, rng)) for _ in range(runs)]
        estimates = np.stack([law.estimate(support, users) for support in supports])
        assert exact.quadratic_p_value(estimates, shares, law.covariance(shares, users)) > RATE


def test_randomised_response_is_grr(exact):
    law, grr = designed(catalogue.randomised_response(1.0, Finite(range(5)))), protocol("grr", 1.0, 5)
    assert np.allclose(law.channel(), grr.channel(), rtol=1e-9)
    shares = np.array([0.5, 0.3, 0.2, 0.0, 0.0])
    # the decoder is another unbiased one only up to the sum of the estimates, which GRR has exactly 1
    assert np.allclose(law.covariance(shares, 100), grr.covariance(shares, 100), rtol=1e-6, atol=1e-12)
    assert law.privacy_loss() == pytest.approx(1.0, rel=1e-9)


def test_the_mean_variance_at_one_over_k_is_that_of_uniform_data():
    law = designed(catalogue.ogpm(2.0), 8)
    uniform = np.full(8, 1 / 8)
    assert law.variance(1 / 8, 10).item() == pytest.approx(np.trace(law.covariance(uniform, 10)) / 8, rel=1e-9)


def test_no_linear_decoder_has_less_variance_on_uniform_data():
    """Outputs of very different chances; against the least-squares inverse, and 20 others with the same guarantee."""
    rng = np.random.default_rng(1)
    rows = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256.0]) * rng.uniform(1, math.e, (3, 9))
    rows /= rows.sum(axis=1, keepdims=True)
    law = designed(Discrete(2.0, Finite(range(3)), Finite(range(9)), rows))
    weights, inverse = rows.mean(axis=0), np.linalg.pinv(rows)

    def total(decoder):
        assert np.allclose(rows @ decoder, np.eye(3))
        return (weights @ decoder**2).sum()

    assert total(law.decoder) < 0.8 * total(inverse)
    for _ in range(20):
        assert total(law.decoder) < total(law.decoder + (np.eye(9) - inverse @ rows) @ rng.normal(size=(9, 3)))


def test_inputs_between_the_steps_of_a_noise_table_mix_the_laws_of_their_neighbours():
    table = make_table(catalogue.laplace(2.0, UNIT))
    step = math.ldexp(1.0, -table.law.shift)
    edges = np.array([-1.0, 0.25 + 0.5 * step, 0.25 + 1.5 * step, 0.25 + 2.5 * step, 2.0])
    inputs = np.array([0.25 + step, 0.25 + 2 * step, 0.25 + 1.25 * step])
    low, high, between = table.law.cell_probabilities(inputs, edges)
    assert between == pytest.approx(0.75 * low + 0.25 * high, rel=1e-9)
    assert abs(low[1] - high[1]) > 1e-8


def test_items_are_points_or_centres_of_bins():
    assert designed(catalogue.ogpm(2.0), 4).items.tolist() == [0.125, 0.375, 0.625, 0.875]
    assert designed(catalogue.ogpm(2.0), [0.0, 0.5, 1.0]).items.tolist() == [0, 0.5, 1]
    assert designed(catalogue.ogpm_circle(2.0, Circle(360)), 2).items.tolist() == [90, 270]
    assert designed(catalogue.randomised_response(1.0, Finite((1, 5, 9)))).items.tolist() == [1, 5, 9]


def test_mechanisms_that_merge_items_are_protocols_without_an_unbiased_estimate():
    law = designed(catalogue.duchi(1.0), 50)
    assert not law.has_inverse
    assert law.privacy_loss() <= 1 + 1e-9
    assert law.simulate_histogram(np.full(law.size, 10), np.random.default_rng(1)).sum() == 10 * law.size


def test_finer_cells_never_raise_the_variance():
    variances = [designed(catalogue.ogpm(2.0), 4, cells=4 * 2**j).variance(0.25, 1).item() for j in range(5)]
    assert all(b <= a * (1 + 1e-9) for a, b in zip(variances, variances[1:], strict=False))


BAD = [
    (lambda: designed(catalogue.ogpm(1.0)), "items"),
    (lambda: designed(catalogue.ogpm(1.0), 1), "size"),
    (lambda: designed(catalogue.ogpm(1.0), [0.5, 0.1]), "items"),
    (lambda: designed(catalogue.ogpm(1.0), [0.5, 1.5]), "items"),
    (lambda: designed(catalogue.ogpm(1.0), 4, cells=3), "cells"),
    (lambda: designed(catalogue.ogpm(1.0), 4, cells=10**6), "cells"),
    (lambda: designed(catalogue.ogpm(1.0), 4, cells=[0.0, 0.0, 1.0]), "cells"),
    (lambda: designed(catalogue.ogpm(1.0), 4, cells="many"), "cells"),
    (lambda: designed(catalogue.ogpm(1.0), "many"), "items"),
    (lambda: designed(catalogue.ogpm(1.0), 4, cells=[0.0, math.nan, 1.0]), "cells"),
    (lambda: designed(catalogue.duchi(1.0), 3).decoder, "3 items apart by their 2 reports, whose channel has rank 2"),
    (lambda: designed(catalogue.duchi(1.0), 3).support([0, 1]), "rank 2"),
    (lambda: designed(catalogue.ogpm(1.0), 4, cells=[0.0, 0.4, 1.0]).variance(0.1, 10), "rank 2"),
    (lambda: designed(Product((catalogue.ogpm(1.0),)), 4), "source"),
    (lambda: designed("oue", 4), "source"),
    (lambda: designed(catalogue.randomised_response(1.0, Finite((0, 1))), 2), "items"),
    (lambda: designed(catalogue.ogpm(1.0), 4).report([0], OperatingSystem()), "make a table"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_what_cannot_be_a_protocol_is_refused(case):
    make, words = BAD[case]
    with pytest.raises(InvalidInput, match=words):
        make()
