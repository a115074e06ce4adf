"""The mean route (section 6.1.4): ETC as the sum of unbiased numeric reports, with any mechanism of the package.

Every household reports its consumption by an unbiased mechanism on [least, largest consumption] and the server adds the
reports up. ETC is then a sum of N independent numbers whose means, variances and third absolute moments the mechanism
knows exactly, so it is nearly normal, and the Berry-Esseen theorem says how nearly:

    ``sup |P(ETC <= t) - Phi| <= 0.56 sum E|Y - v|^3 / (sum Var)^(3/2)``   (Shevtsova 2010).

*Guarantee.* The probability is inside ``[value - error, value + error]``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from mechdesign.budget.capacity import LEAST, MOST, Capacity, Requirement, unmet
from mechdesign.design import UnbiasedProblem, optimal_unbiased
from mechdesign.domains import Interval
from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.losses import Power
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.priors import Atoms

CERTIFIED = "certified"
NAMES = (*(line.key for line in catalogue.ON_INTERVALS if line.unbiased), CERTIFIED)
"""Unbiased mechanisms by name; ``certified`` is the proven least variance for this very population."""

ROOT_PRECISION, CERTIFIED_PRECISION = 1e-6, 1e-3
_BERRY_ESSEEN = 0.56
_UNBIASED = 1e-6
_CERTIFIED_GAP, _CERTIFIED_SIZE = 1e-3, 41


@dataclass(frozen=True, slots=True)
class Sum:
    """The law of ETC at one epsilon: its standard deviation, and how far from normal it may be."""

    deviation: float
    error: float


@dataclass(frozen=True, slots=True)
class MeanBudget:
    """The epsilon at which the requirement holds under the normal law, and where it surely lies.

    At ``upper`` the requirement holds whatever the error, at ``lower`` it fails whatever the error. Either is None if
    the range has no such epsilon.
    """

    mechanism: str
    epsilon: float
    lower: float | None
    upper: float | None
    law: Sum


def law_of_sum(capacity: Capacity, mechanism: Mechanism) -> Sum:
    """Exact variance and Berry-Esseen error of the sum of reports."""
    inputs = mechanism.inputs
    if not isinstance(inputs, Interval):
        raise InvalidInput("mechanism", mechanism.name, "take inputs from an interval")
    used = capacity.x > 0
    values, counts = capacity.v[used], capacity.x[used]
    bias = float(np.abs(mechanism.mean(values) - values).max())
    if bias > _UNBIASED * inputs.length:
        rule = f"be unbiased (off by {bias:.3g} at some consumption)"
        raise InvalidInput("mechanism", mechanism.name, rule, f"use one of {', '.join(NAMES)}")
    variance = float(counts @ mechanism.variance(values))
    third = float(counts @ mechanism.expected_loss(values, Power(3.0)))
    return Sum(math.sqrt(variance), min(1.0, _BERRY_ESSEEN * third / variance**1.5))


def built(name: str, epsilon: float, capacity: Capacity) -> Mechanism:
    """The unbiased mechanism of that name on the range of consumption."""
    key = name.strip().lower() if isinstance(name, str) else name
    if key not in NAMES:
        raise InvalidInput("mechanism", name, f"be one of {', '.join(NAMES)}")
    domain = Interval(float(capacity.v[0]), float(capacity.v[-1]))
    if key == CERTIFIED:
        shares = Atoms(capacity.v, capacity.x / capacity.users)
        problem = UnbiasedProblem(epsilon, shares, domain, size=_CERTIFIED_SIZE, gap=_CERTIFIED_GAP)
        mechanism = optimal_unbiased(problem).mechanism
        assert not isinstance(mechanism, Product)
        return mechanism
    return catalogue.build(key, epsilon, domain)


def mean_budget(
    capacity: Capacity,
    requirement: Requirement,
    mechanism: str | Callable[[float], Mechanism],
    *,
    least: float = LEAST,
    most: float = MOST,
) -> MeanBudget:
    """The epsilon of the mean route, to 1e-6 (0.001 for ``certified``, every epsilon of which is an optimisation).

    >>> capacity = Capacity([0, 10, 40], [4000, 5000, 1000], 100_000)
    >>> round(mean_budget(capacity, Requirement("fp", 0.05), "hm").epsilon, 3)
    0.679
    """
    requirement.require_possible(capacity)
    low, high = require_epsilon(least, "least eps"), require_epsilon(most, "most eps")
    if low >= high:
        raise InvalidInput("eps range", (low, high), "go up")
    is_certified = isinstance(mechanism, str) and mechanism.strip().lower() == CERTIFIED
    precision = CERTIFIED_PRECISION if is_certified else ROOT_PRECISION
    laws: dict[float, Sum] = {}

    def law_at(epsilon: float) -> Sum:
        if epsilon not in laws:
            chosen = built(mechanism, epsilon, capacity) if isinstance(mechanism, str) else mechanism(epsilon)
            laws[epsilon] = law_of_sum(capacity, chosen)
        return laws[epsilon]

    def probability(epsilon: float, slack: float) -> float:
        """With the error against the requirement (slack 1), in its favour (-1), or left out (0)."""
        law = law_at(epsilon)
        value = float(special.ndtr((capacity.total - capacity.cap) / law.deviation))
        bad = 1 if requirement.event in ("fp", "fn") else -1
        return requirement.probability(capacity, value) + bad * slack * law.error

    def root(slack: float) -> tuple[float, float] | None:
        """Where the requirement fails still and where it holds, or None if it never does."""
        if not requirement.holds(probability(high, slack)):
            return None
        if requirement.holds(probability(low, slack)):
            return low, low
        start, stop = low, high
        while stop - start > precision:
            middle = (start + stop) / 2
            start, stop = (start, middle) if requirement.holds(probability(middle, slack)) else (middle, stop)
        return start, stop

    found, easiest, safest = root(0.0), root(-1.0), root(1.0)
    if found is None:
        raise unmet(requirement, low, high, probability(high, 0.0), high)
    epsilon = found[1]
    name = mechanism if isinstance(mechanism, str) else mechanism(epsilon).name
    lower = None if easiest is None or easiest[0] == low else easiest[0]
    return MeanBudget(name, epsilon, lower, None if safest is None else safest[1], law_at(epsilon))
