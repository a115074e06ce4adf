"""The Bayesian adversary, against enumeration of channels and simulated attacks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets.adversary import confusion, detection, threat
from mechdesign.studies.budgets.populations import water_sample
from mechdesign.studies.frequencies.protocols import protocol

PRIOR = np.array([0.45, 0.3, 0.15, 0.1])


def enumerated(name: str, epsilon: float, prior: np.ndarray) -> np.ndarray:
    """Report by report, ties drawn evenly."""
    channel = protocol(name, epsilon, prior.size).channel()
    table = np.zeros((prior.size, prior.size))
    for report in channel.T:
        posterior = report * prior
        winners = np.flatnonzero(posterior >= posterior.max() * (1 - 1e-12))
        for winner in winners:
            table[:, winner] += report / winners.size
    return table


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "olh", "ss", "hr"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(
    "prior",
    [np.full(4, 0.25), PRIOR, PRIOR[::-1], [0.3, 0.3, 0.2, 0.2], [0.0, 0.5, 0.5, 0.0]],
    ids=["even", "falling", "rising", "in pairs", "half"],
)
def test_confusion_is_the_enumerated_one(name, epsilon, prior):
    prior = np.asarray(prior)
    assert confusion(protocol(name, epsilon, 4), prior) == pytest.approx(enumerated(name, epsilon, prior), abs=1e-12)


@pytest.mark.parametrize(("name", "once"), [("l-grr", "grr"), ("l-sue", "sue"), ("l-olh", "olh")])
def test_one_round_of_a_memoised_protocol_tells_what_the_one_time_protocol_tells(name, once):
    both = [confusion(protocol(key, 1.0, 4), PRIOR) for key in (name, once)]
    assert both[0] == pytest.approx(both[1], abs=1e-9)


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "ss"])
def test_no_prior_is_an_even_one(name):
    law = protocol(name, 1.0, 5)
    assert confusion(law) == pytest.approx(confusion(law, np.ones(5)), abs=1e-12)


@pytest.mark.parametrize("name", ["sue", "oue", "olh"])
def test_closed_forms_hold_for_attacked_reports(name):
    """Binomial test at 1e-6 of the success rate; seed 1, n = 4,000 users. A rate off by 0.05 is found: power 0.98."""
    law, rng = protocol(name, 2.0, 12), np.random.default_rng(1)
    values = rng.integers(0, 12, 4_000)
    reports = law.report(values, rng)
    guesses = np.array([guess(law, report, rng) for report in reports])
    success = threat(law, np.arange(12), np.ones(12)).success
    assert stats.binomtest(int((guesses == values).sum()), 4_000, success).pvalue > 1e-6


def guess(law, report, rng):
    supported = np.flatnonzero(law.support(report[None]) > 0)
    return rng.choice(supported) if supported.size else rng.integers(law.size)


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "ss"])
def test_success_rises_with_epsilon_from_chance_to_certainty_of_the_protocol(name):
    rates = [threat(protocol(name, eps, 20), np.arange(20), np.ones(20)).success for eps in (0.001, 0.5, 1, 2, 4, 8)]
    assert rates[0] == pytest.approx(1 / 20, rel=2e-3)
    assert all(a < b for a, b in zip(rates, rates[1:], strict=False))
    # eps-LDP: at most e^eps times what is guessed blindly
    assert all(rate <= np.exp(eps) / 20 for rate, eps in zip(rates[1:4], (0.5, 1, 2), strict=True))


def test_a_prior_makes_the_adversary_better():
    counts = water_sample()
    for name in ("grr", "oue"):
        law = protocol(name, 1.0, 41)
        assert threat(law, np.arange(41), counts, counts).success >= threat(law, np.arange(41), counts).success


def test_figure_6_1_s_order_of_protocols():
    """At large eps, GRR is guessed most often and RAPPOR least, as the paper has it."""
    counts = water_sample()
    grr, oue, sue = (threat(protocol(name, 4.0, 41), np.arange(41), counts) for name in ("grr", "oue", "sue"))
    assert grr.success > oue.success > sue.success
    assert grr.squared_error < oue.squared_error < sue.squared_error


def test_detection_is_precision_recall_and_their_harmonic_mean():
    law, counts = protocol("grr", np.log(3), 2), [300, 100]
    found = detection(law, [0, 1], counts, 0.0)
    # 225 of 300 below are told below, and 25 of 100 above
    assert found.precision == pytest.approx(0.9)
    assert found.recall == pytest.approx(0.75)
    assert found.f_score == pytest.approx(2 * 0.9 * 0.75 / 1.65)


def test_detection_has_an_answer_where_nobody_is_below_or_all_are():
    law = protocol("grr", 1.0, 2)
    assert detection(law, [1, 2], [1, 1], 0.0).f_score == 0.0
    assert detection(law, [1, 2], [1, 1], 2.0).f_score == pytest.approx(1.0)


def test_squared_error_is_that_of_the_values():
    law = protocol("grr", np.log(3), 2)
    assert threat(law, [0, 10], [1, 1]).squared_error == pytest.approx(25.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: confusion(protocol("grr", 1.0, 3), [1, 1]), "prior"),
        (lambda: confusion(protocol("grr", 1.0, 3), [0, 0, 0]), "prior"),
        (lambda: confusion(protocol("grr", 1.0, 3), [1, -1, 1]), "prior"),
        (lambda: confusion(protocol("she", 1.0, 3)), "protocol"),
        (lambda: threat(protocol("grr", 1.0, 3), [1, 2], [1, 1]), "values"),
        (lambda: threat(protocol("grr", 1.0, 2), [1, 2], [0, 0]), "counts"),
        (lambda: detection(protocol("grr", 1.0, 2), [1, 2], [1, 1], float("nan")), "eta"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
