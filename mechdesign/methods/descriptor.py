"""The distribution that explains noisy shares best: a linear program onto the simplex (section 3.4 of the AAA paper).

**Formulation.** A protocol shows shares f of its reports, in expectation ``A p`` for the law p of the data. Sampling
noise makes ``A^-1 f`` leave the simplex. The program asks for the law with the least shortfall,

    ``minimise t  subject to  (A p)_y + t >= f_y for every report y,  sum p = 1,  p >= 0``.

**Uniqueness.** For ``A = (p* - q*) I + q* 11^T`` (randomised response, and every unbiased estimate itself with A = I)
the optimum is unique: it takes the same cut from every estimate and stops at 0, ``p_j = max(0, e_j - tau)``. This is
also the point of the simplex nearest to the estimate e in Euclidean distance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.words.domains import require_numbers

Floats = NDArray[np.float64]

_SLACK = 1e-6


def nearest_distribution(shares: ArrayLike, channel: ArrayLike | None = None) -> Floats:
    """The law on the inputs with the least shortfall; ``channel[x, y]`` is ``P(y|x)``, the identity if left out.

    >>> nearest_distribution([0.7, 0.5, -0.2]).round(9).tolist()
    [0.6, 0.4, 0.0]
    """
    wanted = require_numbers(shares, "shares").ravel()
    if wanted.size == 0 or not np.isfinite(wanted).all():
        raise InvalidInput("shares", shares, "be finite, and at least one")
    table = np.eye(wanted.size) if channel is None else require_numbers(channel, "channel")
    if table.ndim != 2 or table.shape[1] != wanted.size or table.shape[0] == 0:
        raise InvalidInput("channel", table.shape, f"have a row an input and {wanted.size} columns")
    if not (np.isfinite(table) & (table >= 0)).all() or not np.allclose(table.sum(axis=1), 1, rtol=0, atol=_SLACK):
        raise InvalidInput("channel", "rows", "be probabilities that sum to 1")
    return _least_shortfall(wanted, table)


def _least_shortfall(wanted: Floats, table: Floats) -> Floats:
    from mechdesign_solvers import Highs, LinearProgram, Status  # only paid for by those who ask for it

    inputs, reports = table.shape
    matrix = np.zeros((reports + 1, inputs + 1))
    matrix[:reports, :inputs], matrix[:reports, inputs], matrix[reports, :inputs] = table.T, 1.0, 1.0
    program = LinearProgram.of(
        cost=np.append(np.zeros(inputs), 1.0),
        matrix=matrix,
        row_lower=np.append(wanted, 1.0),
        row_upper=np.append(np.full(reports, np.inf), 1.0),
        lower=np.append(np.zeros(inputs), -np.inf),
    )
    solution = Highs(method="simplex").solve(program)
    if solution.status is not Status.OPTIMAL or solution.primal is None:
        raise CheckFailed(f"the program onto the simplex ended as {solution.status.value}")
    weights = np.maximum(solution.primal[:inputs], 0.0)
    total = float(weights.sum())
    if not abs(total - 1) <= _SLACK:
        raise CheckFailed(f"the program onto the simplex gave weights that sum to {total!r}")
    return np.asarray(weights / total)
