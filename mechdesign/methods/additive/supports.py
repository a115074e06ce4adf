"""Which problems it answers: the variance under a prior among unbiased mechanisms with reports on a grid."""

from __future__ import annotations

import math
from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.conditional import LARGEST, require_shape
from mechdesign.methods.line import line_of, missing_of_variance
from mechdesign.values.declare import evolved
from mechdesign.words.classes import USUAL_BINS, OnGrid
from mechdesign.words.criteria import Average
from mechdesign.words.problem import Problem

_USUAL_SPAN = 4  # reports reach this many lengths of the domain beyond it, unless eps asks for more
_REACH, _LEAST_REACH = 1.5, 1.25  # times coth(eps / 2), the reach without which nothing is unbiased
_BARE_REACH = 1 + 1e-3


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    missed = missing_of_variance(problem, OnGrid, Average)
    if missed is None:
        try:
            with_tails(problem)
        except InvalidInput as error:
            return str(error)
    return missed


def with_tails(problem: Problem) -> OnGrid:
    """The grid, with the usual reach and tail where they were left out, or `InvalidInput` where it is too short."""
    assert isinstance(problem.among, OnGrid)
    epsilon, among, bins = problem.epsilon, problem.among, problem.among.bins
    needed = 1 / math.tanh(epsilon / 2)
    if among.reach is None and not fits(epsilon, bins):
        raise InvalidInput("eps", epsilon, f"be at least {_least_epsilon(bins):g} with {bins} bins", "take fewer bins")
    usual = max(_USUAL_SPAN * bins, math.ceil(bins * (_REACH * needed - 1) / 2))
    reach = among.reach or min(usual, _most_reach(bins))
    missing = math.ceil(bins * (_LEAST_REACH * needed - 1) / 2) - reach
    tail = among.tail or max(1, missing)
    require_shape(bins, reach, tail)
    if bins / 2 + reach + tail < _BARE_REACH * needed * bins / 2:
        rule = f"reach {math.ceil(_BARE_REACH * needed * bins / 2 - bins / 2)} steps together"
        raise InvalidInput("reach and tail", (reach, tail), rule, "leave out tail, or raise reach")
    return evolved(among, reach=reach, tail=tail)


def grid_of(problem: Any) -> tuple[OnGrid, int, int]:
    """The grid that a problem is about, its reach and its tail, or `CheckFailed`: evidence may be given any problem."""
    line_of(problem, supports)
    grid = with_tails(problem)
    assert grid.reach is not None
    assert grid.tail is not None
    return grid, grid.reach, grid.tail


def span(bins: int, reach: int) -> float:
    """The paper's ``q = |A| / |X|``: the noise from -M to M steps, over the inputs."""
    return (2 * reach + 1) / (bins + 1)


def usual_bins(epsilon: float) -> int:
    """The usual number of bins, or the half of it where epsilon asks for so long a reach that more would not fit.

    >>> usual_bins(1.0), usual_bins(1e-3)
    (32, 16)
    """
    return USUAL_BINS if fits(epsilon, USUAL_BINS) else USUAL_BINS // 2


def fits(epsilon: float, bins: int) -> bool:
    """Whether the reach that this epsilon needs fits into the table of laws.

    >>> fits(1.0, 512), fits(1e-3, 64)
    (True, False)
    """
    return bins * (_REACH / math.tanh(epsilon / 2) - 1) / 2 <= _most_reach(bins)


def _most_reach(bins: int) -> int:
    return (LARGEST // (bins + 1) - bins - 1) // 2


def _least_epsilon(bins: int) -> float:
    """The smallest epsilon that `fits`, in three digits."""
    least = 2 * math.atanh(_REACH / (2 * _most_reach(bins) / bins + 1))
    digit = 10.0 ** (math.floor(math.log10(least)) - 2)
    return float(f"{math.ceil(least / digit) * digit:.3g}")
