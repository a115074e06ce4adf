"""How low any mechanism at all could go: an interval on the unrestricted optimum."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.design.piecewise import PiecewiseProblem, optimal_piecewise
from mechdesign.domains import Circle, Interval
from mechdesign.losses import Power
from mechdesign.mechanisms import catalogue
from mechdesign.proof import float_down
from mechdesign.proof.two_inputs import two_input_bound

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Floor:
    """``[lower, upper]`` holds the least worst-case error over all epsilon-LDP mechanisms.

    ``lower`` is proven by ``bound``; ``upper`` is attained by the mechanism named ``attained_by``.
    """

    lower: float
    upper: float
    bound: str
    attained_by: str


def floor_of(epsilon: float, loss: Power, domain: Interval | Circle) -> Floor:
    """The floor on a circle (exact: rotation averaging makes the piecewise optimum global) or an interval.

    >>> from mechdesign.losses import Squared
    >>> floor = floor_of(1.0, Squared(), Interval(0, 1))
    >>> round(floor.lower, 5) <= 0.19661 <= floor.upper
    True
    """
    best = optimal_piecewise(PiecewiseProblem(epsilon, loss, domain))
    if isinstance(domain, Circle):
        return Floor(best.certificate.lower, best.certificate.upper, "rotation averaging", best.mechanism.name)
    rivals = {"OGPM": best.certificate.upper}
    for entry in catalogue.ON_INTERVALS:
        rivals[entry.key] = entry.build(epsilon, domain, loss).worst_case(loss)[0]
    name = min(rivals, key=rivals.__getitem__)
    return Floor(_two_inputs(epsilon, loss, domain), rivals[name] * (1 + _ROUNDING), "two inputs", name)


def _two_inputs(epsilon: float, loss: Power, domain: Interval) -> float:
    if loss.exponent < 1:
        return 0.0
    scale = float(domain.length**loss.exponent)
    return float_down(two_input_bound(epsilon, loss.exponent)) * scale * (1 - _ROUNDING)
