"""Tables in a trusted accountant: their privacy-loss distributions for ``dp_accounting``, ready to be composed.

Masses and ratios are whole numbers until the last step. There losses are rounded up to the accountant's grid, which is
decided by whole numbers too where doubles cannot tell, and masses go to the nearest double.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import InvalidInput, require_finite, unusable_extra
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.tables.kinds import FiniteLaw, Masses
from mechdesign.tables.table import Table

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_MOST_LOSSES = 1 << 22  # points of the accountant's grid
_DOUBLES = 1e-13  # relative, above the error of a logarithm and a quotient in doubles


def privacy_loss_distribution(
    table: Table, pair: tuple[float, float] | None = None, interval: float = 1e-4
) -> PrivacyLossDistribution:
    """The privacy-loss distribution of one report, for ``dp_accounting`` to compose.

    *Guarantee.* With ``pair = (x, x')`` it is the one of the table's laws of x and x', in both orders (of a clamped
    table after the clamp), with losses rounded up to multiples of ``interval``. Without, it dominates every pair of
    inputs in either order: ``delta(t) >= sup over x, x' of sum_y max(0, q(y|x) - e^t q(y|x'))`` for all t, so what it
    composes to holds for any users' inputs. How:

    * ``pieces``: the two windows that overlap least are attained and dominate, since delta grows as overlap shrinks;
    * ``additive``: noise that is symmetric and falls away from 0 is the more distinct the farther it is shifted, and
      inputs rounded at random are mixtures: the two grid steps at the ends of the domain dominate;
    * ``window``, ``unbiased``: as for pieces, with the rows' windows on the gains and the largest ``C_j / n_j``;
    * ``finite`` with up to about 200 rows: the upper envelope of delta over all pairs of rows;
    * else randomised response at the exact largest ratio, which dominates every law with that ratio.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> once = privacy_loss_distribution(make_table(duchi(1.0)))  # needs mechdesign[accounting]
    >>> round(once.get_epsilon_for_delta(0.0), 3), round(once.self_compose(100).get_epsilon_for_delta(1e-6), 1)
    (1.0, 83.5)
    """
    try:
        from dp_accounting.pld import pld_pmf
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution as Distribution
    except ImportError as error:
        raise unusable_extra("privacy_loss_distribution", "accounting", error) from None
    grid = require_finite(interval, "interval")
    if not 0 < grid <= 1 or LikelihoodRatio(table.ratio).loss / grid > _MOST_LOSSES:
        rule = f"be above 0, at most 1, and give at most {_MOST_LOSSES} steps up to the privacy loss"
        raise InvalidInput("interval", interval, rule, "pass for example interval=1e-4")
    if pair is None:
        masses = table.law.dominating(table.ratio)
        if masses is None:
            assert isinstance(table.law, FiniteLaw)
            losses, deltas = _envelope(table.law, grid)
            return Distribution(pld_pmf.create_pmf_pessimistic_connect_dots(grid, losses, deltas))
    else:
        masses = table.law.masses(*_pair(table, pair))
    there, back = _losses(masses, grid), _losses([(b, a) for a, b in masses], grid)
    if there == back:
        return Distribution.create_from_rounded_probability(there, 0.0, grid)
    return Distribution.create_from_rounded_probability(there, 0.0, grid, True, back, 0.0, symmetric=False)


def _pair(table: Table, pair: tuple[float, float]) -> list[float]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidInput("pair", pair, "be two inputs")
    return [float(table.domain.require(require_finite(x, f"pair[{i}]"), f"pair[{i}]")) for i, x in enumerate(pair)]


# -- losses on the grid ------------------------------------------------------------------------------------------------


def _losses(masses: Masses, interval: float) -> dict[int, float]:
    """The first law's mass at every loss ``ln(a / b)``, rounded up to a multiple of the interval."""
    total = sum(a for a, _ in masses)
    by_ratio: dict[tuple[int, int], int] = {}
    for a, b in masses:
        common = math.gcd(a, b)
        ratio = a // common, b // common
        by_ratio[ratio] = by_ratio.get(ratio, 0) + a
    steps: dict[int, int] = {}
    for (a, b), mass in by_ratio.items():
        step = _step(a, b, interval)
        steps[step] = steps.get(step, 0) + mass
    return {step: float(Fraction(mass, total)) for step, mass in steps.items()}


def _step(a: int, b: int, interval: float) -> int:
    """The least i with ``e^(i interval) >= a / b``."""
    if a == b:
        return 0
    place = LikelihoodRatio(Fraction(a, b)).loss / interval
    slack = _DOUBLES * abs(place)
    low, high = math.ceil(place - slack), math.ceil(place + slack)
    while low < high and exp_lower(low * Fraction(interval)) < Fraction(a, b):
        low += 1
    return low


def _envelope(law: FiniteLaw, interval: float) -> tuple[list[int], list[float]]:
    """The largest delta over all pairs of rows, at the steps around every loss that occurs."""
    above = {_step(a, b, interval) for a, b in law.ratios()}
    steps = sorted({step - back for step in above for back in (0, 1)})
    laws = np.array([[count / law.whole for count in row] for row in law.rows])
    deltas = []
    for factor in np.exp(np.array(steps) * interval).tolist():
        deltas.append(min(1.0, max(float(np.maximum(law - factor * laws, 0.0).sum(axis=1).max()) for law in laws)))
    deltas[-1] = 0.0  # exactly: no ratio is above e^(this step)
    return steps, deltas
