"""PAC-LDP: pure privacy that may fail with probability delta. Three notions of delta, each under its own name.

**PAC** (definition 19). ``Pr[L > eps] <= delta`` for the privacy loss ``L = ln(p(Y|x1) / p(Y|x2))`` of a report Y of
x1, for all x1 and x2. For Gaussian noise of deviation s on [0, 1] and inputs a distance D apart, ``L ~ N(D^2/(2 s^2),
D^2/s^2)``, so ``Pr[L > eps] = Q(eps s / D - D / (2 s))`` with Q the normal tail. The argument falls with D: the worst
inputs are the ends, and the least deviation solves ``eps s - 1/(2 s) = z`` with ``Q(z) = delta``.

**Moved into [0, 1]**, reports from 1 on become one point of mass, of loss ``ln(Q((1 - x1)/s) / Q((1 - x2)/s))``, at
most ``ln(1/2 / Q(1/s))``, at the ends. PAC-LDP is not kept by every post-processing: where that is above eps, all
reports there lose too much, with probability 1/2 at ``x1 = 1``, whatever delta was. So for delta below 1/2 the
deviation must also keep ``Q(1/s) >= e^-eps / 2`` (`clipped_gaussian_deviation`; it decides only for delta above 0.3).
With that no pair fails more often than the noise alone does. With delta from 1/2 on inputs near to each other can: the
loss of the point is that of an average of ratios, and may be above eps where that of the density at 1 is not. The point
has probability 1/2 at most, so that delta is kept.

**Printed** (theorem 18): the same with ``z = sqrt(2 ln(2/delta))``, a bound on that tail, on both its sides.

**(eps, delta)-DP** (Balle and Wang 2018): ``Pr[L > eps] - e^eps Pr[L < -eps] <= delta``. Weaker than PAC at the same
delta, and another promise: it is never the default.

**Composition** (theorem 16). If all d parts stay within eps, their sum stays within d eps; with independent parts this
has probability at least ``(1 - delta)^d``. For Gaussian noise the sum of losses is normal and the delta is exact.

**Indicator** (theorem 17): the value itself with probability delta. The theorem holds where no report x1 of the
mechanism has mass. Where one has, seeing x1 itself happens with probability ``delta + (1 - delta) Pr[M(x1) = x1]``
and tells more than eps; so that is the delta of ``k-rr`` and the exponential mechanism, which the chapter leaves out.
"""

from __future__ import annotations

import math

from mechdesign.errors import InvalidInput, require_chance, require_epsilon, require_number, require_whole
from mechdesign.mechanisms.noise import Gaussian
from mechdesign.values.later import optimize, special


def require_delta(delta: float, field: str = "delta") -> float:
    return require_chance(delta, field, "for example 0.1")


def gaussian_deviation(epsilon: float, delta: float) -> float:
    """The least deviation that is (eps, delta)-PAC-LDP on [0, 1], rounded up so that delta is kept.

    >>> deviation = gaussian_deviation(2.0, 0.1)
    >>> round(deviation, 6), 0 <= 0.1 - pac_delta(2.0, deviation) < 1e-15
    (0.91423, True)
    """
    epsilon, delta = require_epsilon(epsilon), require_delta(delta)
    deviation = _solved(epsilon, -float(special.ndtri(delta)))
    while pac_delta(epsilon, deviation) > delta:
        deviation = math.nextafter(deviation, math.inf)
    return deviation


def clipped_gaussian_deviation(epsilon: float, delta: float) -> float:
    """The least deviation above `gaussian_deviation` at which reports moved into [0, 1] keep delta as well.

    >>> clipped_gaussian_deviation(2.0, 0.1) == gaussian_deviation(2.0, 0.1)
    True
    >>> round(gaussian_deviation(2.0, 0.4), 4), round(clipped_gaussian_deviation(2.0, 0.4), 4)
    (0.5673, 0.6696)
    """
    deviation = gaussian_deviation(epsilon, delta)
    if delta >= 0.5:
        return deviation
    deviation = max(deviation, -1 / float(special.ndtri_exp(-epsilon - math.log(2))))
    while float(special.log_ndtr(-1 / deviation)) < -epsilon - math.log(2):
        deviation = math.nextafter(deviation, math.inf)
    return deviation


def printed_deviation(epsilon: float, delta: float) -> float:
    """Theorem 18 as printed: more noise than is needed.

    >>> round(printed_deviation(2.0, 0.1), 6)
    1.402169
    """
    return _solved(require_epsilon(epsilon), math.sqrt(2 * math.log(2 / require_delta(delta))))


def dp_deviation(epsilon: float, delta: float) -> float:
    """The least deviation that is (eps, delta)-DP, another notion than PAC: the analytic Gaussian mechanism.

    >>> round(dp_deviation(2.0, 0.1), 4), round(Gaussian(dp_deviation(2.0, 0.1)).delta(2.0, 1.0), 9)
    (0.732, 0.1)
    """
    epsilon, delta = require_epsilon(epsilon), require_delta(delta)
    high = gaussian_deviation(epsilon, delta)
    low = high
    while Gaussian(low).delta(epsilon, 1.0) <= delta and low > 1e-6:
        low /= 2
    root = optimize.brentq(lambda s: Gaussian(s).delta(epsilon, 1.0) - delta, low, high, xtol=1e-14)
    found = float(root)
    while Gaussian(found).delta(epsilon, 1.0) > delta:
        found *= 1 + 1e-14
    return found


def pac_delta(epsilon: float, deviation: float) -> float:
    """The probability that Gaussian noise on [0, 1] loses more than eps, at the worst pair of inputs."""
    return float(special.ndtr(1 / (2 * deviation) - epsilon * deviation))


def composed(epsilon: float, delta: float, parts: int) -> tuple[float, float]:
    """What independent (eps, delta)-PAC-LDP parts are together (theorem 16).

    >>> composed(1.0, 0.1, 2)[0], round(composed(1.0, 0.1, 2)[1], 12)
    (2.0, 0.19)
    """
    require_whole(parts, "parts", 1)
    delta = require_number(delta, "delta")
    if not 0 <= delta < 1:
        raise InvalidInput("delta", delta, "be at least 0 and below 1")
    return require_epsilon(epsilon) * parts, -math.expm1(parts * math.log1p(-delta))


def composed_gaussian_delta(epsilon: float, deviation: float, parts: int) -> float:
    """The exact delta at which Gaussian noise in every part keeps ``parts * epsilon``: losses add to a normal law.

    >>> deviation = gaussian_deviation(1.0, 0.1)
    >>> round(composed_gaussian_delta(1.0, deviation, 2), 4) < round(composed(1.0, 0.1, 2)[1], 4)
    True
    """
    require_whole(parts, "parts", 1)
    root = math.sqrt(parts)
    return float(special.ndtr(root / (2 * deviation) - root * epsilon * deviation))


def with_indicator(rho: float, delta: float) -> float:
    """Utility where the value itself is sent with probability delta.

    >>> round(with_indicator(0.5, 0.1), 12)
    0.55
    """
    return delta + (1 - delta) * rho


def indicator_delta(delta: float, self_mass: float) -> float:
    """The delta that the indicator has: what the chapter says where no report has mass, and more where one has.

    >>> round(indicator_delta(0.1, 0.07), 3)
    0.163
    """
    return delta + (1 - delta) * self_mass


def _solved(epsilon: float, tail: float) -> float:
    """The positive root of ``eps s - 1/(2 s) = tail``, without cancellation for negative tails."""
    root = math.hypot(tail, math.sqrt(2 * epsilon))
    return (tail + root) / (2 * epsilon) if tail >= 0 else 1 / (root - tail)
