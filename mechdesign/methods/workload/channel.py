"""From rows with weights to a table of chances: as few rows as the gap allows, telling all types apart."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.errors import CheckFailed
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.private_table import private_table
from mechdesign.methods.workload.decoder import decoder, information, noise
from mechdesign.methods.workload.pricing import Bits
from mechdesign.methods.workload.task import Task
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Finite

_LEAST_USED = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # of the weight: rows with less are left out
_SLIM_SHARE = 0.1
_TELLING, _MIXED = 1e-9, 1e-7  # the least eigenvalue of M that is left alone; else so much is mixed in


def channel_table(task: Task, bits: Bits, weights: Floats, prior: Floats) -> Discrete:
    """The channel with as few of these rows as a tenth of the gap pays for; their entries stay exactly 1 and c."""
    rows, best = 1 + (task.ratio - 1) * bits, None
    most = math.inf
    for share in (1e-14, *_LEAST_USED):
        used = weights > share * weights.sum()
        balanced = _balanced(rows[used], weights[used])
        if balanced is None:
            continue
        channel, balanced = _telling(task, rows[used], balanced, prior)
        try:
            here = _noise_of(task, channel, prior)
        except CheckFailed:  # too few rows to tell the types apart
            continue
        if best is None:
            most = here * (1 + _SLIM_SHARE * task.gap)
        if best is None or here <= most:
            best = channel, balanced
    if best is None:
        raise CheckFailed("the weights of the rows could not be balanced so that reports tell all types apart")
    return discrete(task, *best)


def discrete(task: Task, channel: Floats, base: Floats) -> Discrete:
    outputs = Finite(tuple(range(channel.shape[1])))
    name = str(task.problem.words.optimum)
    return private_table(task.problem.epsilon, task.problem.numbers, outputs, channel, base, name)


def noises_of(task: Task, bits: Bits, weights: Floats, prior: Floats) -> Floats:
    channel = ((1 + (task.ratio - 1) * bits) * weights[:, None]).T
    channel = channel / channel.sum(axis=1, keepdims=True)
    return noise(channel, decoder(channel, prior) @ task.queries.T, task.queries)


def _telling(task: Task, rows: Floats, weights: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """The channel of these rows; where it does not tell all types apart, with a little of randomised response.

    Few queries may not need it, but reports that do not tell are unbiased up to rounding only.
    """
    channel = (rows * weights[:, None]).T
    if np.linalg.eigvalsh(information(channel, prior))[0] > _TELLING:
        return channel, weights
    response = (1 + (task.ratio - 1) * np.eye(task.size)) / (task.ratio + task.size - 1)
    mixed = np.hstack([(1 - _MIXED) * channel, _MIXED * response])
    return mixed, np.concatenate([(1 - _MIXED) * weights, _MIXED * response.min(axis=0)])


def _noise_of(task: Task, channel: Floats, prior: Floats) -> float:
    own = noise(channel, decoder(channel, prior) @ task.queries.T, task.queries)
    return float(own.max() if isinstance(task.problem.criterion, Worst) else own @ prior)


def _balanced(rows: Floats, weights: Floats) -> Floats | None:
    """Weights next to these with ``sum_z w_z z = 1``; None where some would be below 0."""
    roots = np.sqrt(weights)
    scaled = rows * roots[:, None]
    found = weights
    for _ in range(4):
        change, *_ = np.linalg.lstsq(scaled.T, 1 - rows.T @ found, rcond=1e-10)
        found = found + roots * change
    return found if (found > 0).all() and np.abs(1 - rows.T @ found).max() < 1e-9 else None


def mixture_of(weighted: list[dict[bytes, float]], shares: Floats) -> tuple[Bits, Floats]:
    """One channel in which each row has the weight it has in all mechanisms."""
    total: dict[bytes, float] = {}
    for own, share in zip(weighted, shares.tolist(), strict=True):
        for row, weight in own.items() if share > 0 else ():
            total[row] = total.get(row, 0.0) + share * weight
    return np.array([np.frombuffer(row, dtype=bool) for row in total]), np.array(list(total.values()))
