"""Sparse non-negative regression with standard errors, which turns noisy bit counts into counts of strings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, require_chance
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.values.later import optimize, stats

_MOST_SWEEPS = 10_000
_TOLERANCE = 1e-10


@frozen
class Decoded:
    """Counts of candidate strings with their standard errors, most frequent first, and which of them are ``found``."""

    strings: tuple[str, ...]
    counts: Floats = array(np.asarray)
    standard_errors: Floats = array(np.asarray)
    found: NDArray[np.bool_] = array(np.asarray)
    converged: bool


def decode(strings: Sequence[str], design: Floats, counted: Floats, spread: Floats, error: float) -> Decoded:
    """Counts b of the strings from ``counted = design b + noise`` with standard deviations ``spread``.

    First the non-negative lasso ``min |W (design b - counted)|^2 / 2 + sum_j l_j b_j`` with the universal penalty
    ``l_j = |W design_j| sqrt(2 ln M)`` picks candidates; least squares on those alone gives counts without its bias.
    """
    if not strings or len(set(strings)) != len(strings):
        raise InvalidInput("candidates", len(strings), "be distinct strings, at least one")
    require_chance(error, "error")
    weighted, target = design / spread[:, None], counted / spread
    norms = np.linalg.norm(weighted, axis=0)
    penalty = norms * math.sqrt(2 * math.log(max(2, len(strings))))
    chosen, converged = _lasso(weighted, target, penalty)
    counts, errors = np.zeros(len(strings)), np.full(len(strings), np.inf)
    # a candidate that was not picked has at least the error it would have alone
    np.divide(1, norms, out=errors, where=norms > 0)
    picked = np.flatnonzero(chosen > 0)
    if picked.size:
        part = weighted[:, picked]
        counts[picked] = optimize.nnls(part, target)[0]
        errors[picked] = np.sqrt(np.diag(np.linalg.pinv(part.T @ part, hermitian=True)))
    beyond = float(stats.norm.isf(error / len(strings)))
    order = np.argsort(-counts, kind="stable")
    found = counts > beyond * errors
    return Decoded(tuple(strings[j] for j in order), counts[order], errors[order], found[order], converged)


def _lasso(design: Floats, target: Floats, penalty: Floats) -> tuple[Floats, bool]:
    """Coordinate descent from zero, and whether it came to rest."""
    gram, pull = design.T @ design, design.T @ target - penalty
    scale = np.diag(gram)
    b = np.zeros(design.shape[1])
    gradient = pull.copy()  # pull - gram b
    alive = np.flatnonzero(scale > 0).tolist()
    for _ in range(_MOST_SWEEPS):
        moved = 0.0
        for j in alive:
            step = max(0.0, b[j] + gradient[j] / scale[j]) - b[j]
            if step:
                b[j] += step
                gradient -= step * gram[j]
                moved = max(moved, abs(step) * math.sqrt(scale[j]))
        if moved <= _TOLERANCE * max(1.0, float(np.abs(target).max())):
            return b, True
    return b, False
