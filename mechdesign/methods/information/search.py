"""The mechanism whose reports tell most of one parameter, over *all* epsilon-LDP mechanisms of cells, with its proof.

**Program.** ``max sum_z w_z (z.p')^2 / (z.p)`` with ``sum_z w_z z = 1``, over rows z in {1, c}^k: a linear program.
Its rows are found as they are needed: for prices nu the row that they miss most is among those that a sweep over one
number visits (`mechdesign.exact.sweep`), at any k. The program is solved by an interior point, whose prices lie
inside those allowed.

**Proof.** The prices, see `mechdesign.methods.information.proof`.

Up to some epsilon the best mechanism for the mean of a normal law is the noisy sign of the observation; beyond it
others are. Sources: Barnes, Chen, Ozgur, Fisher information under local differential privacy, 2020; Kalinin,
Steinberger, Efficient estimation of a Gaussian mean with local differential privacy, 2024.
"""

from __future__ import annotations

import math

import numpy as np
from threadpoolctl import threadpool_limits

from mechdesign.methods.information.proof import InformationBound
from mechdesign.methods.information.supports import model_of
from mechdesign.methods.method import Demands
from mechdesign.methods.private_table import private_table
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.methods.workload.pricing import Bits, swept
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Finite
from mechdesign.words.models import Binned, Model
from mechdesign.words.problem import Problem

_GAP = 1e-6  # unless another is demanded
_MOST_ROUNDS = 300
_MOST_STEPS = 80
_STEP, _CENTRING = 0.99, 0.1
_FIRST_TOLERANCE = 0.1
_AHEAD, _LAST = 0.1, 0.02
_INSIDE = 0.4
_FRESH = 0.01
_KEPT = 1e-12
_LEAST_SHARE = 1e-12  # far enough from 0 for the interior point to move
_FEW = 48  # cells, of which all stretches are tried
_COARSE = 1e-7
_HELD = 2000  # rows without weight, which hold prices up; or four times the cells
_MOVED = 32  # rows of half as many cells whose edges are moved
_SLIVERS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
_SLIM_SHARE = 0.2


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the time runs out first, with the design found until then.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.models import GaussianLocation
    >>> from mechdesign.words.privacy import Pure
    >>> problem = Problem(loss=GaussianLocation(40), privacy=Pure(1.0), criterion=Average())
    >>> design = answer(problem, Demands())
    >>> round(1 / design.certificate.upper, 6)  # the sign mechanism: (2 / pi) tanh(1/2)^2
    0.135952
    """
    model, clock, gap = model_of(problem), demands.clock(), demands.within(_GAP)
    chances, ratio = model.chances / model.chances.sum(), math.exp(problem.epsilon)
    with threadpool_limits(1, user_api="blas"):
        found = _solved(chances, model.slopes, ratio, _INSIDE * gap, clock)
    rows = np.asarray(1 + (ratio - 1) * found.bits)
    base = found.shares / (rows @ chances)
    channel, base = _slim(rows, base, (chances, model.slopes), gap)
    outputs = Finite(tuple(range(len(base))))
    name = str(problem.words.optimum)
    mechanism = private_table(problem.epsilon, problem.numbers, outputs, channel, base, name)
    details = {"outputs": len(base), "rounds": found.rounds}
    report = Report(clock.used, "interior point on rows", versions("numpy", "scipy"), details, gap)
    stopped = "the time limit was reached" if clock.is_over else "the search ended"
    design = saying_why(Design(problem, mechanism, InformationBound(found.prices), report), gap, stopped)
    return within_gap(design, gap, stopped)


@frozen
class _Found:
    """Rows of bits with shares ``u = w (p.z)``, prices, and what they attain and bound."""

    bits: Bits
    shares: Floats
    prices: Floats
    value: float
    bound: float
    rounds: int


def _solved(chances: Floats, slopes: Floats, ratio: float, gap: float, clock: Clock) -> _Found:
    """Many cells start from what half as many need: few rows have weight, and prices of cells apart are undecided."""
    size = chances.size
    prices: Floats | None = None
    if size > _FEW:
        starts = np.arange(0, size, 2)
        pairs = np.add.reduceat(chances, starts), np.add.reduceat(slopes, starts)
        coarse = _solved(*pairs, ratio, max(gap, _COARSE), clock)
        each = np.repeat(np.arange(starts.size), 2)[:size]
        prices = coarse.prices[each] * chances / pairs[0][each]
        order = np.argsort(-coarse.shares, kind="stable")
        bits = np.vstack(
            [_with_neighbours(coarse.bits[order[:_MOVED]][:, each]), coarse.bits[order[_MOVED : 2 * size]][:, each]]
        )
        bits = _proper(bits)
    else:
        bits = _stretches(size)
    shares, tolerance, best, count = np.full(len(bits), 1 / len(bits)), _FIRST_TOLERANCE, None, 0
    while True:
        count += 1
        rows, worth = _scaled(bits, ratio, chances, slopes)
        shares, prices = _best_shares(worth, rows, shares, prices, tolerance)
        fresh = np.vstack([swept(slopes, prices, chances), bits])
        scaled, own = _scaled(fresh, ratio, chances, slopes)
        excess = own - scaled @ prices
        slack = rows @ prices - worth
        wanting = max(0.0, float(excess.max(initial=0.0)), -float(slack.min()))
        value, bound = float(worth @ shares), float(prices.sum()) + wanting
        if best is None or bound < best.bound:
            best = _Found(bits, shares, prices, value, bound, count)
        open_gap = best.bound - value
        if open_gap <= gap * best.bound or clock.is_over or count == _MOST_ROUNDS:
            return _Found(bits, shares, best.prices, value, best.bound, count)
        tolerance = max(min(tolerance, _AHEAD * open_gap / value), _LAST * gap)
        order = np.argsort(-excess, kind="stable")[: max(64, 2 * size)]
        kept = shares > _KEPT
        if size <= _FEW:
            kept[np.argsort(slack, kind="stable")[:_HELD]] = True
        together = np.unique(np.vstack([bits[kept], fresh[order]]), axis=0)
        bits, shares = _carried(together, bits[kept], shares[kept])


def _with_neighbours(bits: Bits) -> Bits:
    """These rows, and those in which one edge between cells is moved by one cell."""
    found = [bits]
    for shift in (-1, 1):
        moved = np.roll(bits, shift, axis=1)
        moved[:, 0 if shift > 0 else -1] = bits[:, 0 if shift > 0 else -1]
        for row, other in zip(bits, moved, strict=True):
            for k in np.flatnonzero(row != other).tolist():
                one = row.copy()
                one[k] = other[k]
                found.append(one[None, :])
    return np.asarray(_proper(np.vstack(found)))


def _proper(bits: Bits) -> Bits:
    bits = np.unique(bits, axis=0)
    return np.asarray(bits[bits.any(axis=1) & ~bits.all(axis=1)])


def _stretches(size: int) -> Bits:
    """All stretches of cells and their complements."""
    first, last = np.triu_indices(size)
    cells = np.arange(size)
    stretches = (first[:, None] <= cells) & (cells <= last[:, None])
    return _proper(np.vstack([stretches, ~stretches]))


def _scaled(bits: Bits, ratio: float, chances: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """Rows ``z / (p.z)`` and their worth ``(z.p')^2 / (p.z)^2``."""
    rows = 1 + (ratio - 1) * bits
    rows = rows / (rows @ chances)[:, None]
    return rows, (rows @ slopes) ** 2


def _carried(together: Bits, bits: Bits, shares: Floats) -> tuple[Bits, Floats]:
    own = {row.tobytes(): share for row, share in zip(bits, shares.tolist(), strict=True)}
    fresh = _FRESH / len(together)
    return together, np.array([max(own.get(row.tobytes(), fresh), _LEAST_SHARE) for row in together])


def _best_shares(
    worth: Floats, rows: Floats, shares: Floats, prices: Floats | None, tolerance: float
) -> tuple[Floats, Floats]:
    """``max worth.u`` with ``rows'u = 1``, ``u >= 0``: shares and prices within about ``tolerance`` of each other."""
    count, size = rows.shape
    u, nu = shares, prices
    if nu is None:
        nu = np.full(size, float(worth.max()))
    s = np.maximum(rows @ nu - worth, tolerance * float(worth @ u) / count)
    for _ in range(_MOST_STEPS):
        dual_rest, primal_rest = rows @ nu - worth - s, 1 - rows.T @ u
        gap, value = float(u @ s), float(worth @ u)
        if gap < tolerance * value and np.abs(primal_rest).max() < 1e-12 and np.abs(dual_rest).max() < 1e-9 * value:
            break
        level = _CENTRING * gap / count
        weights = u / s
        rest = level / u - s - dual_rest
        system = rows.T @ (rows * weights[:, None])
        change_nu = np.linalg.lstsq(system, rows.T @ (weights * rest) - primal_rest, rcond=None)[0]
        change_u = weights * (rest - rows @ change_nu)
        change_s = level / u - s - s / u * change_u
        length = min(_longest(u, change_u), _longest(s, change_s))
        u, nu, s = u + length * change_u, nu + length * change_nu, s + length * change_s
    return u, nu


def _longest(values: Floats, change: Floats) -> float:
    falls = change < 0
    return min(1.0, _STEP * float((-values[falls] / change[falls]).min())) if falls.any() else 1.0


def _slim(rows: Floats, base: Floats, cells: tuple[Floats, Floats], gap: float) -> tuple[Floats, Floats]:
    """The channel with as few rows as a part of the gap pays for."""
    chances, slopes = cells

    def told(share: float) -> tuple[float, Floats, Floats]:
        used = base > share * base.sum()
        weights = base[used]
        for _ in range(4):
            roots = np.sqrt(weights)
            scaled = rows[used] * roots[:, None]
            change, *_ = np.linalg.lstsq(scaled.T, 1 - rows[used].T @ weights, rcond=1e-10)
            weights = np.maximum(weights + roots * change, 0.0)
        channel = (rows[used] * weights[:, None]).T
        if not (weights > 0).all() or np.abs(channel.sum(axis=1) - 1).max() > 1e-9:
            return -math.inf, channel, weights
        return float(((slopes @ channel) ** 2 / (chances @ channel)).sum()), channel, weights

    tried = [told(share) for share in _SLIVERS]
    least = max(value for value, _, _ in tried) * (1 - _SLIM_SHARE * gap)
    _, channel, weights = next(found for found in tried if found[0] >= least)
    return channel, weights


# -- the sign ----------------------------------------------------------------------------------------------------------


def sign_information(epsilon: float, model: Model) -> float:
    """Of reports that tell a sign, and lie with chance ``1 / (1 + e^eps)``.

    It is the sign of the observation, ``(2 f(0) tanh(eps/2))^2`` for a density f that is symmetric around 0; of cells
    that stand for nothing else it is the sign of their slope.

    >>> from mechdesign.words.models import GaussianLocation
    >>> round(sign_information(1.0, GaussianLocation(3)), 6), round(2 / math.pi * math.tanh(0.5) ** 2, 6)
    (0.135952, 0.135952)
    """
    if not isinstance(model, Binned):
        return (2 * model.middle * math.tanh(epsilon / 2)) ** 2
    chances, rises = model.chances / model.chances.sum(), model.slopes > 0
    ratio = math.exp(epsilon)
    rows = [np.where(side, ratio, 1.0) / (1 + ratio) for side in (rises, ~rises)]
    return float(sum((row @ model.slopes) ** 2 / (row @ chances) for row in rows))


def cells_tell_sign(model: Model) -> bool:
    """Whether the cell alone tells the sign: an odd number of equal cells has one around 0."""
    return isinstance(model, Binned) or model.cells % 2 == 0
