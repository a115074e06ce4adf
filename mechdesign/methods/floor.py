"""How low any mechanism at all could go: an interval on the unrestricted optimum."""

from __future__ import annotations

import contextlib

from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.exact.rational import float_down
from mechdesign.exact.two_inputs import two_input_bound
from mechdesign.mechanisms import catalogue
from mechdesign.methods.method import Demands
from mechdesign.methods.minimax.supports import MinimaxOptions, supports
from mechdesign.methods.result import Design
from mechdesign.values.declare import frozen
from mechdesign.words.classes import Piecewise
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

_GAP = 2e-4
_GRID = 1025
_SECONDS = 2.0  # at eps above 6 the floor is then wider than the gap asked for, and never wrong
_ROUNDING = 1e-12


@frozen
class Floor:
    """``[lower, upper]`` holds the least worst-case error over all epsilon-LDP mechanisms.

    ``lower`` is proven by ``bound`` (in doubles only, if ``claimed``); ``upper`` is attained by the mechanism named
    ``attained_by``.
    """

    lower: float
    upper: float
    bound: str
    attained_by: str
    claimed: bool = False


def floor_of(epsilon: float, loss: Power, domain: Interval | Circle) -> Floor:
    """The floor: exact on a circle, a narrow certified interval for the absolute and squared error, a wide one else.

    On a circle any mechanism can be averaged over rotations without raising its worst error, and the average is a
    density around the input between a base and ``c`` times it: the piecewise optimum is global.

    >>> from mechdesign.words.losses import Squared
    >>> floor = floor_of(1.0, Squared(), Interval(0, 1))
    >>> round(floor.lower, 4), round(floor.upper, 4)
    (0.1966, 0.1966)
    """
    from mechdesign.methods.minimax.search import answer

    if not isinstance(loss, Power):
        raise InvalidInput("loss", loss, "be a power of the distance")
    if isinstance(domain, Circle):
        best = _piecewise(epsilon, loss, domain)
        found = best.certificate
        return Floor(found.lower, found.upper, "rotation averaging", best.own_law.name, found.claimed)
    problem = Problem(inputs=domain, loss=loss, privacy=Pure(epsilon))
    if supports(problem) is not None:
        return _wide_floor(epsilon, loss, domain)
    try:
        certificate = answer(problem, Demands(_GAP, _SECONDS, options=MinimaxOptions(_GRID))).certificate
        name = "the certified minimax design"
        return Floor(certificate.lower, certificate.upper, "atoms", name, certificate.claimed)
    except NoAnswer as stopped:
        attained = Floor(stopped.lower, stopped.upper, "atoms", "a window mechanism", stopped.claimed)
        return _narrower(attained, _wide_floor(epsilon, loss, domain))


def _piecewise(epsilon: float, loss: Power, domain: Interval | Circle) -> Design:
    from mechdesign.methods.registry import solve

    return solve(Problem(inputs=domain, loss=loss, privacy=Pure(epsilon), among=Piecewise()))


def _wide_floor(epsilon: float, loss: Power, domain: Interval) -> Floor:
    """What two inputs forbid, and the best of the published mechanisms."""
    rivals = {"this design": _piecewise(epsilon, loss, domain).certificate.upper}
    for entry in catalogue.ON_INTERVALS:
        with contextlib.suppress(CheckFailed):  # a rival whose error doubles cannot resolve is no help
            rivals[entry.key] = entry.build(epsilon, domain, loss).worst_case(loss)[0] * (1 + _ROUNDING)
    name = min(rivals, key=rivals.__getitem__)
    return Floor(_two_inputs(epsilon, loss, domain), rivals[name], "two inputs", name)


def _narrower(first: Floor, second: Floor) -> Floor:
    """The intersection of two intervals that both hold the optimum."""
    low = max(first, second, key=lambda floor: floor.lower)
    high = min(first, second, key=lambda floor: floor.upper)
    return Floor(low.lower, high.upper, low.bound, high.attained_by, low.claimed)


def _two_inputs(epsilon: float, loss: Power, domain: Interval) -> float:
    if loss.exponent < 1:
        return 0.0
    scale = float(domain.length**loss.exponent)
    return float_down(two_input_bound(epsilon, loss.exponent)) * scale * (1 - _ROUNDING)
