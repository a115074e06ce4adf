"""Tables in a trusted accountant: their privacy-loss distributions for ``dp_accounting``, ready to be composed.

Masses and ratios are whole numbers until the last step. There losses are rounded up to the accountant's grid, which is
decided by whole numbers too where doubles cannot tell, and masses go to the nearest double.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.deploy.table import Table
from mechdesign.domains import Circle
from mechdesign.errors import InvalidInput, require_finite, unusable_extra
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.ratio import LikelihoodRatio

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

Masses = Sequence[tuple[int, int]]
Rows = Sequence[Sequence[int]]

_MOST_CELLS = 1 << 28  # pairs of rows times outputs times ratios: about a second
_MOST_PAIRS = 1 << 23
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

    >>> from mechdesign.deploy import make_table
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
        masses = _dominating(table)
        if masses is None:
            losses, deltas = _envelope(_rows(table), grid)
            return Distribution(pld_pmf.create_pmf_pessimistic_connect_dots(grid, losses, deltas))
    else:
        masses = _masses(table, *_pair(table, pair))
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


def _envelope(rows: Rows, interval: float) -> tuple[list[int], list[float]]:
    """The largest delta over all pairs of rows, at the steps around every loss that occurs."""
    above = {_step(a, b, interval) for a, b in _ratios(rows)}
    steps = sorted({step - back for step in above for back in (0, 1)})
    whole = sum(rows[0])
    laws = np.array([[count / whole for count in row] for row in rows])
    deltas = []
    for factor in np.exp(np.array(steps) * interval).tolist():
        deltas.append(min(1.0, max(float(np.maximum(law - factor * laws, 0.0).sum(axis=1).max()) for law in laws)))
    deltas[-1] = 0.0  # exactly: no ratio is above e^(this step)
    return steps, deltas


def _ratios(rows: Rows) -> set[tuple[int, int]]:
    return {(a, b) for column in zip(*rows, strict=True) for counts in [set(column)] for a in counts for b in counts}


# -- pairs of laws, as whole numbers with one sum ----------------------------------------------------------------------


def _dominating(table: Table) -> Masses | None:
    """Two laws that dominate all pairs; None where the envelope of the rows is small enough to take instead."""
    law = table.law
    match table.kind:
        case "pieces":
            return _pieces(table, 0, law["cells"] - law["inside"], clamp=None)
        case "window" | "unbiased":
            return _farthest_windows(table)
        case "additive" if law["weights"][-1] << table.bits >= law["tail"] * law["weights"][0]:  # never rises
            return _additive(table, (Fraction(law["least"]), Fraction(law["most"])), clamp=None)
        case "finite":
            size = len(law["outputs"]) * len(law["rows"]) ** 2
            if size <= _MOST_PAIRS and size * len(_ratios(law["rows"])) <= _MOST_CELLS:
                return None
    ratio = table.ratio
    return [(ratio.numerator, ratio.denominator), (ratio.denominator, ratio.numerator)]


def _farthest_windows(table: Table) -> Masses:
    """Two rows whose windows share as little as any two, at the largest ratio ``r = C_j / n_j`` everywhere in them.

    Spread the base of output j evenly over its ``g_j = C_j - n_j`` places on the line of gains: a row is that base and
    1 on its window, and the outputs only merge places. Of two rows, a place in the first window alone adds
    ``max(0, 1 - (e^t - 1) n_j / g_j) <= max(0, 1 - (e^t - 1) / (r - 1))`` to delta(t), t >= 0, every other adds 0; and
    rows mixed between are no farther apart than the rows.
    """
    law, whole = table.law, 1 << table.bits
    alone = min(whole - sum(law["base"]), law["starts"][-1] - law["starts"][0])
    ratio = max(Fraction(most, least) for most, least in zip(law["caps"], law["base"], strict=True))
    if not alone:
        return [(whole, whole)]
    a, b = alone * ratio.numerator, alone * ratio.denominator
    rest = whole * (ratio.numerator - ratio.denominator) - a - b
    return [(a, b), (b, a), (rest, rest)]


def _masses(table: Table, x: float, other: float) -> Masses:
    law = table.law
    match table.kind:
        case "pieces":
            return _pieces(table, _start(table, x), _start(table, other), law["clamp"])
        case "additive":
            steps = Fraction(2) ** law["shift"]
            places = [(Fraction(at) - Fraction(law["offset"])) * steps for at in (x, other)]
            return _additive(table, (places[0], places[1]), law["clamp"])
    return list(zip(*_common(_row(table, x), _row(table, other)), strict=True))


def _common(row: Sequence[Fraction], other: Sequence[Fraction]) -> tuple[list[int], list[int]]:
    unit = math.lcm(*(mass.denominator for mass in (*row, *other)))
    return [int(mass * unit) for mass in row], [int(mass * unit) for mass in other]


def _rows(table: Table) -> Rows:
    law = table.law
    if table.kind == "finite":
        rows: Rows = law["rows"]
        return rows
    counts = [0, *accumulate(law["base"])]
    reached = [0, *accumulate(most - least for least, most in zip(law["base"], law["caps"], strict=True))]
    extra = (1 << table.bits) - counts[-1]
    return [
        [b - a for a, b in pairwise(n + min(max(g - start, 0), extra) for n, g in zip(counts, reached, strict=True))]
        for start in law["starts"]
    ]


def _row(table: Table, x: float) -> list[Fraction]:
    """The counts of the outputs for x; between two rows of an unbiased table, their mixture with the mean x."""
    law, rows = table.law, _rows(table)
    if table.kind == "finite":
        return [Fraction(count) for count in rows[table.domain.points.index(x)]]  # type: ignore[union-attr]
    if table.kind == "window":
        return [Fraction(count) for count in rows[bisect_left([float(text) for text in law["thresholds"]], x)]]
    means = law["means"]
    mean = (Fraction(x) - Fraction(law["offset"])) * Fraction(2) ** (law["shift"] + table.bits)
    i = min(bisect_right(means, mean) - 1, len(means) - 2)
    share = (mean - means[i]) / (means[i + 1] - means[i])
    return [(1 - share) * a + share * b for a, b in zip(rows[i], rows[i + 1], strict=True)]


def _start(table: Table, x: float) -> int:
    """The first cell of the window, in doubles as FORMAT.md has it."""
    law = table.law
    start = math.floor((x - float(law["anchor"])) * float(law["scale"]))
    cells: int = law["cells"]
    return start % cells if isinstance(table.domain, Circle) else min(max(start, 0), cells - int(law["inside"]))


def _pieces(table: Table, start: int, other: int, clamp: Sequence[str] | None) -> Masses:
    """Stretches of cells on which both laws are constant; cells that a clamp sends to one end are one output."""
    law = table.law
    cells, inside = law["cells"], law["inside"]
    ends = _cells_within(law, clamp) if clamp else (0, cells)
    low = ((1 << table.bits) - law["weight"]) * inside
    high = law["weight"] * (cells - inside)
    turns = {(place + w) % cells for place in (start, other) for w in (0, inside)}
    masses: dict[int, list[int]] = {}
    for a, b in pairwise(sorted({0, cells, *ends, *turns})):
        output = 0 if b <= ends[0] else ends[1] if a >= ends[1] else a
        both = masses.setdefault(output, [0, 0])
        for side, place in enumerate((start, other)):
            both[side] += (b - a) * (high if (a - place) % cells < inside else low)
    return [(a, b) for a, b in masses.values()]


def _cells_within(law: Mapping[str, Any], clamp: Sequence[str]) -> tuple[int, int]:
    """How many cells a clamp sends to its lower end, and the first it sends to its upper end."""
    step, first = float(law["step"]), law["first"]

    def centre(cell: int) -> float:
        return float((first + cell + 0.5) * step)

    low, high = (float(end) for end in clamp)
    cells = range(law["cells"])
    return bisect_right(cells, low, key=centre), bisect_left(cells, high, key=centre)


def _additive(table: Table, places: tuple[Fraction, Fraction], clamp: Sequence[str] | None) -> Masses:
    """Every output between the ends of the grid, and one block beyond each: further blocks repeat its ratios.

    Noise z has mass ``tail^b D^(B - b) w_r`` with ``abs(z) = b R + r``; blocks further out sum to ``1 / (1 - q)``.
    """
    law, whole = table.law, 1 << table.bits
    weights, tail, least, most = law["weights"], law["tail"], law["least"], law["most"]
    size = len(weights)
    levels = [tail**b * whole ** (2 - b) for b in range(3)]
    noise = [level * weight for level in levels for weight in weights]
    unit = math.lcm(*(place.denominator for place in places))
    sides = [(math.floor(place), int((place - math.floor(place)) * unit)) for place in places]

    def mass(v: int, side: int) -> int:
        step, share = sides[side]
        value: int = (unit - share) * noise[abs(v - step)]
        return value + share * noise[abs(v - step - 1)] if share else value

    low, high = (float(end) for end in clamp) if clamp else (-math.inf, math.inf)
    offset, grid = float(law["offset"]), 2.0 ** -law["shift"]
    masses: dict[float, list[int]] = {}
    for v in range(least - size, most + size + 1):
        repeated = whole if v < least or v > most else whole - tail
        both = masses.setdefault(min(max(offset + v * grid, low), high), [0, 0])
        for side in (0, 1):
            both[side] += repeated * mass(v, side)
    return [(a, b) for a, b in masses.values()]
