"""The share and the bins of the two-phase protocol with the least total error, for a guess of the distribution.

A larger first group sees the distribution more sharply, but leaves fewer users to report numbers; more bins resolve
the distribution better, but each is seen less clearly. Both effects are computed, not modelled: descriptors are drawn
(their counts are multinomial), the mechanism is designed for each, and its variance under the guess is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.methods.grid_prior import grid_weights
from mechdesign.studies.frequencies.descriptor import describe_support
from mechdesign.studies.frequencies.two_phase import DesignStep, TwoPhasePlan, additive_form
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Interval
from mechdesign.words.priors import Atoms, Density, Prior

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
BINS = (4, 8, 16, 32)
_GUESS_PLACES = 513
_LEAST_GROUP = 2.5  # rounds to 2 or more


@frozen
class Choice:
    """A plan and its root mean squared error under the guess, averaged over descriptors."""

    plan: TwoPhasePlan
    error: float


def tune_two_phase(
    epsilon: float,
    users: int,
    guess: Prior,
    inputs: Interval,
    seed: int,
    shares: Sequence[float] | None = None,
    bins: Sequence[int] = BINS,
    draws: int = 4,
    step: DesignStep = additive_form,
    weight: float | None = None,
) -> list[Choice]:
    """All plans with these shares and bins, the one with the least total error first.

    Unless ``shares`` are given they are those of `SHARES` that leave both groups at least two users. The guess must be
    public: what the data are like, not the data. The same ``seed`` gives the same answer.

    >>> from mechdesign.words.priors import normal
    >>> domain = Interval(-1, 1)
    >>> guess = normal(0, 0.2, domain)
    >>> best = tune_two_phase(4.0, 10_000, guess, domain, seed=1, shares=[0.02, 0.5], bins=[8], draws=2)
    >>> best[0].plan.share, len(best)
    (0.02, 2)
    """
    require_whole(draws, "draws", 1)
    require_whole(seed, "seed", 0)
    wanted = _usual_shares(users) if shares is None else shares
    cells = [TwoPhasePlan(epsilon, users, inputs, count, share, weight, step) for share in wanted for count in bins]
    if not cells:
        rule = "name at least one plan with two users in each group"
        raise InvalidInput("users, shares and bins", (users, tuple(wanted), tuple(bins)), rule)
    law = _on_points(guess, inputs)
    sequences = np.random.SeedSequence(int(seed)).spawn(len(cells))
    choices = [
        Choice(plan, _total_error(plan, law, int(draws), np.random.default_rng(sequence)))
        for plan, sequence in zip(cells, sequences, strict=True)
    ]
    return sorted(choices, key=lambda choice: choice.error)


def _usual_shares(users: int) -> list[float]:
    """Those of `SHARES` which leave each group large enough."""
    return [share for share in SHARES if share * users >= _LEAST_GROUP]


def _total_error(plan: TwoPhasePlan, law: Atoms, draws: int, rng: np.random.Generator) -> float:
    response = plan.response
    shares = response.q + (response.p - response.q) * grid_weights(law, plan.inputs, response.size)
    squares = []
    for _ in range(draws):
        support = rng.multinomial(plan.first, shares / shares.sum())
        descriptor = describe_support(response, support, plan.first, plan.inputs)
        squares.append(plan.error_under(law, plan.design(descriptor)) ** 2)
    return math.sqrt(float(np.mean(squares)))


def _on_points(guess: Prior, inputs: Interval) -> Atoms:
    if isinstance(guess, Density):
        weights = grid_weights(guess, inputs, _GUESS_PLACES)
        return Atoms(np.linspace(inputs.lower, inputs.upper, _GUESS_PLACES), weights / weights.sum())
    if not isinstance(guess, Atoms):
        raise InvalidInput("guess", guess, "be priors.Atoms or priors.Density")
    inputs.require(guess.points, "guess points")
    return guess
