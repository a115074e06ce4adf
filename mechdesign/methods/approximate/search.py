"""The best (epsilon, delta)-LDP mechanism for any loss matrix, with its proof.

**Program.** Variables are the table ``q(y|x)``, what a row has above another, ``s[x, x', y] >= 0``, and for the worst
case its value t. Minimise t, or the average under the prior, subject to

    ``q(y|x) - c q(y|x') <= s[x, x', y]``,  ``sum_y s[x, x', y] <= delta``,  ``sum_y q(y|x) = 1``,  ``loss(x) <= t``.

**Lift.** Rows of the program's table, mixed with one law for all inputs, until the exact sums are at most delta: of a
mixture with a share a of that law they are at most ``1 - a`` times those of the table.

**Proof.** The program's duals, evaluated in rational arithmetic (`mechdesign.methods.approximate.proof`). The bound
holds for all (epsilon, delta)-LDP mechanisms with the outputs of the matrix.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from mechdesign_solvers import Highs, Limits, LinearProgram, Solution, Status
from scipy.sparse import coo_array, csr_array, hstack, vstack

from mechdesign.errors import NoAnswer, SolverFailed
from mechdesign.exact.hockey import hockey_excess
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.approximate.proof import HockeyBound, sparse_prices
from mechdesign.methods.approximate.supports import asked_of
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, saying_why, versions
from mechdesign.values.declare import Floats
from mechdesign.words.domains import Finite
from mechdesign.words.problem import Problem

_GAP = 1e-6  # unless another is demanded
_TOLERANCE = 1e-10
_SHARES = (0.0, *(2.0**k for k in range(-50, 1)))


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` with the bounds that were found.

    Outputs are numbers of columns of the loss matrix; those that are never used are left out.

    >>> from mechdesign.words.privacy import Approximate
    >>> problem = Problem(loss=1 - np.eye(3), privacy=Approximate(1.0, 0.05))
    >>> design = answer(problem, Demands())  # randomised response: 2 (1 - delta) / (e + 2)
    >>> [round(end, 6) for end in (design.certificate.lower, design.certificate.upper)]
    [0.402689, 0.402689]
    """
    clock, gap = demands.clock(), demands.within(_GAP)
    losses, _ = asked_of(problem)
    scale = float(losses.max()) or 1.0
    solution = Highs(tolerance=_TOLERANCE).solve(_program(problem, losses / scale), Limits(seconds=clock.left()))
    if solution.status is not Status.OPTIMAL or solution.primal is None or solution.row_duals is None:
        if clock.is_over:
            raise NoAnswer("the time limit was reached", 0.0, float(losses.max(axis=0).min()))
        raise SolverFailed("HiGHS", solution.status.value, "a larger eps or delta, or fewer inputs")
    mechanism = _table(problem, solution.primal[: losses.size].reshape(losses.shape))
    evidence = _evidence(problem, solution, scale)
    report = Report(clock.used, "linear program (HiGHS)", versions("numpy", "scipy", "highspy"), {}, gap)
    design = Design(problem, mechanism, evidence, report)
    lower, upper = design.certificate.lower, design.certificate.upper
    if upper - lower > max(gap * upper, problem.negligible):
        reason = f"the program ended at a relative gap of {(upper - lower) / upper:.2g}"
        raise NoAnswer(reason, lower, upper, design=saying_why(design, gap, reason))
    return design


def _pairs(inputs: int) -> list[tuple[int, int]]:
    return [(x, other) for x in range(inputs) for other in range(inputs) if x != other]


def _program(problem: Problem, losses: Floats) -> LinearProgram:
    """Rows: what every pair and output has above, sums of these, sums of the table, and losses below t."""
    _, privacy = asked_of(problem)
    inputs, outputs = losses.shape
    pairs, ratio = np.array(_pairs(inputs)), float(exp_lower(privacy.epsilon))
    slacks, entries = len(pairs) * outputs, inputs * outputs
    own = (pairs[:, 0, None] * outputs + np.arange(outputs)).ravel()
    others = (pairs[:, 1, None] * outputs + np.arange(outputs)).ravel()
    rows = np.arange(slacks)
    above = coo_array(
        (np.concatenate([np.ones(slacks), np.full(slacks, -ratio)]), (np.tile(rows, 2), np.concatenate([own, others]))),
        shape=(slacks, entries),
    )
    sums = coo_array((np.ones(slacks), (rows // outputs, rows)), shape=(len(pairs), slacks))
    whole = coo_array((np.ones(entries), (np.arange(entries) // outputs, np.arange(entries))), shape=(inputs, entries))
    identity = coo_array((np.ones(slacks), (rows, rows)), shape=(slacks, slacks))
    lost = coo_array((losses.ravel(), (np.arange(entries) // outputs, np.arange(entries))), shape=(inputs, entries))
    is_worst = problem.weights is None
    matrix = vstack(
        [
            hstack([above, -identity, csr_array((slacks, 1))]),
            hstack([csr_array((len(pairs), entries)), sums, csr_array((len(pairs), 1))]),
            hstack([whole, csr_array((inputs, slacks + 1))]),
            hstack([lost, csr_array((inputs, slacks)), csr_array(np.full((inputs, 1), -1.0))]),
        ]
    )
    free = math.inf
    lower = np.concatenate([np.full(slacks + len(pairs), -free), np.ones(inputs), np.full(inputs, -free)])
    most_lost = np.zeros(inputs) if is_worst else np.full(inputs, free)
    upper = np.concatenate([np.zeros(slacks), np.full(len(pairs), privacy.delta), np.ones(inputs), most_lost])
    average = np.zeros(entries) if problem.weights is None else (problem.weights[:, None] * losses).ravel()
    cost = np.concatenate([average, np.zeros(slacks), [float(is_worst)]])
    return LinearProgram.of(cost, csr_array(matrix), lower, upper, lower=0.0)


def _table(problem: Problem, found: Floats) -> Discrete:
    """The table mixed with the mean of its rows and all its outputs alike, as little as privacy needs."""
    _, privacy = asked_of(problem)
    table = np.maximum(found, 0.0)
    used = (table > 0).any(axis=0)
    table = table[:, used] / table[:, used].sum(axis=1, keepdims=True)
    common = (table.mean(axis=0) + 1 / table.shape[1]) / 2
    outputs = Finite(tuple(np.flatnonzero(used).tolist()))
    ratio, delta = exp_lower(privacy.epsilon), Fraction(privacy.delta)
    for share in _SHARES:
        rows = (1 - share) * table + share * common
        mechanism = Discrete(privacy.epsilon, problem.numbers, outputs, rows, "approximate optimum")
        if hockey_excess(mechanism, ratio) <= delta:
            return mechanism
    raise SolverFailed("HiGHS", "a table that no mixture makes private", "a larger eps or delta")


def _evidence(problem: Problem, solution: Solution, scale: float) -> HockeyBound:
    """The duals of privacy and of the worst case; weights of an average are the prior's."""
    losses, _ = asked_of(problem)
    inputs, outputs = losses.shape
    pairs = np.array(_pairs(inputs))
    assert solution.row_duals is not None
    duals = np.maximum(-solution.row_duals, 0.0)
    prices = np.zeros((inputs, inputs, outputs))
    prices[pairs[:, 0], pairs[:, 1]] = duals[: len(pairs) * outputs].reshape(len(pairs), outputs) * scale
    if problem.weights is not None:
        return sparse_prices(np.zeros(inputs), prices)
    total = float(duals[-inputs:].sum())
    if total == 0:  # where the best worst case is 0, nothing has a price
        return sparse_prices(np.full(inputs, 1 / inputs), np.zeros_like(prices))
    return sparse_prices(duals[-inputs:] / total, prices / total)
