"""The worst type of any queries: games between mechanisms and priors that come nearer to the least favourable one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog

from mechdesign.errors import CheckFailed
from mechdesign.methods.result import Design
from mechdesign.methods.workload.channel import channel_table, mixture_of, noises_of
from mechdesign.methods.workload.multipliers import multipliers
from mechdesign.methods.workload.pricing import Bits
from mechdesign.methods.workload.routes.rows import INSIDE
from mechdesign.methods.workload.task import COLUMNS_SHARE, Task
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Worst

_PRIOR_ROUNDS = 60
_MOVES = 1e-3
_INWARDS = (0.1, 0.01, 1e-3, 1e-4, 0.03, 3e-3, 3e-4, 3e-5)  # towards even shares
_PRIOR_STEPS = 2000
_LIFTS, _LIFTED = 6, 1e-2
_LEAST_SHARE = 1e-6
_EVEN = 1e-9


def fits(task: Task) -> bool:
    return isinstance(task.problem.criterion, Worst)


def answer(task: Task) -> Design:
    """Mechanisms for priors that come nearer to the least favourable one, and their best mixture.

    The noise of each mechanism is linear in the prior: the best mixture is that of a game. The next prior is the
    one that the mixture, with an estimator of its own, finds hardest.
    """
    clock = task.part(COLUMNS_SHARE)
    columns, known = task.columns(), (task.queries**2).sum(axis=0)
    prior = np.full(task.size, 1 / task.size)
    highest, lowest, inner = -math.inf, math.inf, 10 * task.gap
    noises: list[Floats] = []
    weighted: list[dict[bytes, float]] = []
    stuck = 0
    for _ in range(_PRIOR_ROUNDS):
        rows = columns.run(prior, inner, task.known(prior), clock)
        weights = rows.weights(task.ratio, prior)
        noises.append(noises_of(task, rows.bits, weights, prior))
        weighted.append({row.tobytes(): own for row, own in zip(rows.bits, weights.tolist(), strict=True)})
        value = rows.bound - float(known @ prior)
        if value > highest:
            highest, best, at = value, rows, prior
        bits, weights = mixture_of(weighted, _mixture(np.array(noises)))
        prior, upper = _hardest(task, bits, weights, at)
        is_stuck = upper > lowest * (1 - _MOVES * task.gap) and value < highest * (1 + _MOVES)
        if upper < lowest:
            lowest, mechanism = upper, (bits, weights, prior)
        task.say(highest, lowest)
        if upper - highest <= 2 * inner * upper:
            if inner <= INSIDE * task.gap:
                break
            inner = max(inner / 4, INSIDE / 2 * task.gap)
        if clock.is_over:
            break
        if is_stuck:  # at an end of the simplex: mechanisms for priors inside know of all types
            inside = _INWARDS[stuck % len(_INWARDS)]
            prior, stuck = (1 - inside) * prior + inside / task.size, stuck + 1
    # the prior of the evidence is also that of the estimator: the hardest one for the mixture, which is nearly the
    # least favourable one, where the bound is flat
    bits, weights, prior = mechanism
    last = columns.run(prior, inner, task.known(prior), clock)
    table = channel_table(task, bits, weights, prior)
    if last.bound - float(known @ prior) < highest - task.gap * lowest:
        last, prior = best, at
    task.details |= {"rounds": columns.rounds, "priors": len(noises)}
    return task.designed(table, multipliers(task, last, prior, prior), "interior point on rows, games over priors")


def _hardest(task: Task, bits: Bits, weights: Floats, prior: Floats) -> tuple[Floats, float]:
    """The prior under which a channel has the most noise with the estimator made for it, and its worst type there.

    The noise is concave in the prior, and its slopes are the noises of the types.
    """
    from scipy.optimize import minimize

    def less(logits: Floats) -> tuple[float, Floats]:
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        own = noises_of(task, bits, weights, shares)
        value = float(own @ shares)
        return -value / scale, -shares * (own - value) / scale

    scale = max(float(noises_of(task, bits, weights, prior).max()), 1e-300)
    options = {"maxiter": _PRIOR_STEPS, "maxfun": 2 * _PRIOR_STEPS, "ftol": 1e-15, "gtol": 1e-12}
    best, least = prior, math.inf
    start = prior
    for _ in range(_LIFTS):
        logits = np.log(np.maximum(start, _LEAST_SHARE))
        found: Any = minimize(less, logits, jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
        shares = np.exp(found.x - found.x.max())
        shares /= shares.sum()
        own = noises_of(task, bits, weights, shares)
        if float(own.max()) < least:
            best, least = shares, float(own.max())
        if own.max() <= float(own @ shares) * (1 + _EVEN):
            break
        # a share near 0 hardly moves, whatever its type's noise: lift the one that has most
        start = shares.copy()
        start[int(own.argmax())] += _LIFTED
        start /= start.sum()
    return best, least


def _mixture(noises: Floats) -> Floats:
    """The mixture of mechanisms, one a row, whose worst type has the least noise."""
    count, size = noises.shape
    cost = np.append(np.zeros(count), 1.0)
    below = np.column_stack([noises.T, -np.ones(size)])
    equal = np.append(np.ones(count), 0.0)[None, :]
    found: Any = linprog(cost, below, np.zeros(size), equal, [1.0], [(0, None)] * count + [(None, None)])
    if found.status != 0:
        raise CheckFailed("the mixture of mechanisms could not be found")
    shares = np.maximum(found.x[:count], 0.0)
    return np.asarray(shares / shares.sum())
