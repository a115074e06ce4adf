"""What two inputs alone forbid: a lower bound on the worst-case error of *every* epsilon-LDP mechanism on an interval.

Give the inputs 0 and 1 weight 1/2 each. Given an output y, the posterior of the input 0 lies between ``1/(1+c)`` and
``c/(1+c)``, so the expected loss given y is at least ``min over t of (c t^p + (1-t)^p) / (1 + c)``; so is their
average. Randomised response between the two minimisers attains it on these two inputs. For p = 2 this is
``c / (1+c)^2``, the exact optimum over the whole interval up to eps = ln(3 + 2 sqrt 2); in general it is only a floor.
"""

from __future__ import annotations

from fractions import Fraction

from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.exact.rational import exp_upper


def two_input_bound(epsilon: float, exponent: float) -> Fraction:
    """A rational lower bound on ``max over x in [0, 1] of E|Y - x|^exponent``, for any outputs.

    >>> round(float(two_input_bound(1.0, 2.0)), 8), round(float(two_input_bound(1.0, 1.0)), 8)
    (0.19661193, 0.26894142)
    """
    require_epsilon(epsilon)
    if exponent < 1:
        raise InvalidInput("exponent", exponent, "be at least 1: the bound rests on convexity")
    whole = int(exponent)
    if exponent != whole:
        # outputs outside [0, 1] gain nothing, and for distances up to 1 the loss lies above its next whole power
        whole += 1
    ratio = exp_upper(epsilon)
    if whole == 1:
        return 1 / (1 + ratio)

    def share(t: Fraction) -> Fraction:
        return (ratio * t**whole + (1 - t) ** whole) / (1 + ratio)

    def slope(t: Fraction) -> Fraction:
        return whole * (ratio * t ** (whole - 1) - (1 - t) ** (whole - 1)) / (1 + ratio)

    # any t will do: the convex share lies above its tangent there, and its minimiser lies in [0, 1/2]
    t = Fraction(1 / (1 + float(ratio) ** (1 / (whole - 1))))
    return share(t) - abs(slope(t)) / 2
