"""The mean route (section 6.1.4): ETC as the sum of unbiased numeric reports, with any mechanism of the package.

Every household reports its consumption by an unbiased mechanism on [least, largest consumption] and the server adds the
reports up. ETC is then a sum of N independent numbers whose means, variances and third absolute moments the mechanism
knows exactly, so it is nearly normal, and the Berry-Esseen theorem says how nearly:

    ``sup |P(ETC <= t) - Phi| <= 0.56 sum E|Y - v|^3 / (sum Var)^(3/2)``   (Shevtsova 2010).

Two mechanisms are optimised for the population of the question, which capacity planning knows: ``aaa`` adds the noise
of the second phase of AAA (its first phase would learn that population), ``certified`` is the least variance there is.

*Guarantee.* The probability is inside ``[value - error, value + error]``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mechdesign.errors import InvalidInput, NoAnswer, require_name
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.studies.budgets.capacity import LEAST, MOST, Capacity, Requirement, require_range, unmet_requirement
from mechdesign.values.declare import frozen
from mechdesign.values.later import special
from mechdesign.words.classes import OnGrid, Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power, Squared
from mechdesign.words.priors import Atoms
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

ADDITIVE, CERTIFIED = "aaa", "certified"
OPTIMISED = (ADDITIVE, CERTIFIED)
NAMES = (*(line.key for line in catalogue.ON_INTERVALS if line.unbiased), *OPTIMISED)
"""Unbiased mechanisms by name; ``certified`` has the proven least variance for this very population."""

ROOT_PRECISION, OPTIMISED_PRECISION = 1e-6, 1e-4
_BERRY_ESSEEN = 0.56
_STRIDE = 1.05
_UNBIASED = 1e-6
_GAP, _WIDEST_GAP, _CERTIFIED_SIZE = 1e-3, 0.1, 41
# below the small epsilon a coarse grid costs a ten-thousandth of the variance, a fine one seconds
_BINS, _BINS_WHERE_SMALL, _SMALL = 16, 4, 0.05


@frozen
class Sum:
    """The law of ETC at one epsilon: its standard deviation, and how far from normal it may be."""

    deviation: float
    error: float


@frozen
class Normal:
    """A probability under the normal law, and the Berry-Esseen error of it."""

    value: float
    error: float


@frozen
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


def law_of_sum(capacity: Capacity, mechanism: ScalarMechanism) -> Sum:
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


def exceedance(capacity: Capacity, name: str, epsilon: float) -> Normal:
    """``Pr[ETC > cap]`` of a mechanism by name under the normal law, and how far from it the truth can be.

    >>> city = Capacity([0, 10, 40], [4000, 5000, 1000], 100_000)
    >>> found = exceedance(city, "hm", 0.679)
    >>> round(found.value, 3), found.error < 0.05
    (0.05, True)
    """
    return normal_exceedance(capacity, law_of_sum(capacity, built(name, epsilon, capacity)))


def normal_exceedance(capacity: Capacity, law: Sum) -> Normal:
    """``Pr[ETC > cap]`` under the normal law of a sum."""
    return Normal(float(special.ndtr((capacity.total - capacity.cap) / law.deviation)), law.error)


def built(name: str, epsilon: float, capacity: Capacity) -> ScalarMechanism:
    """The unbiased mechanism of that name on the range of consumption."""
    key = require_name(name, "mechanism", NAMES)
    domain = Interval(float(capacity.v[0]), float(capacity.v[-1]))
    if key not in OPTIMISED:
        return catalogue.build(key, epsilon, domain)
    shares = Atoms(capacity.v, capacity.x / capacity.users)
    return _designed(key, epsilon, shares, domain, _GAP)


def _designed(key: str, epsilon: float, shares: Atoms, domain: Interval, gap: float) -> ScalarMechanism:
    """The optimised mechanism: private and unbiased anyway, and proven nearly the best where doubles prove no more."""
    from mechdesign.methods.registry import solve

    is_additive = key == ADDITIVE
    among = OnGrid(_BINS if epsilon >= _SMALL else _BINS_WHERE_SMALL) if is_additive else Unbiased()
    asked = Problem(inputs=domain, loss=Squared(), privacy=Pure(epsilon), criterion=Average(shares), among=among)
    options: dict[str, Any] = {} if is_additive else {"size": _CERTIFIED_SIZE}
    try:
        return solve(asked, gap=gap, **options).scalar_law
    except NoAnswer:
        if gap >= _WIDEST_GAP:
            raise
        return _designed(key, epsilon, shares, domain, 10 * gap)


def mean_budget(
    capacity: Capacity,
    requirement: Requirement,
    mechanism: str | Callable[[float], ScalarMechanism],
    *,
    least: float = LEAST,
    most: float = MOST,
) -> MeanBudget:
    """The epsilon of the mean route, to 1e-6 (1e-4 for ``aaa`` and ``certified``: each epsilon is a design).

    >>> capacity = Capacity([0, 10, 40], [4000, 5000, 1000], 100_000)
    >>> round(mean_budget(capacity, Requirement("fp", 0.05), "hm").epsilon, 3)
    0.679
    """
    requirement.require_possible(capacity)
    low, high = require_range(least, most)
    is_optimised = isinstance(mechanism, str) and mechanism.strip().lower() in OPTIMISED
    precision = OPTIMISED_PRECISION if is_optimised else ROOT_PRECISION
    laws: dict[float, Sum] = {}

    def law_at(epsilon: float) -> Sum:
        if epsilon not in laws:
            chosen = built(mechanism, epsilon, capacity) if isinstance(mechanism, str) else mechanism(epsilon)
            laws[epsilon] = law_of_sum(capacity, chosen)
        return laws[epsilon]

    def probability(epsilon: float, slack: float) -> float:
        """With the error against the requirement (slack 1), in its favour (-1), or left out (0)."""
        law = law_at(epsilon)
        value = normal_exceedance(capacity, law).value
        bad = 1 if requirement.event in ("fp", "fn") else -1
        return requirement.probability(capacity, value) + bad * slack * law.error

    def root(slack: float) -> tuple[float, float] | None:
        """Where the requirement fails still and where it holds, or None if it never does."""
        if not requirement.holds(probability(high, slack)):
            return None
        if requirement.holds(probability(low, slack)):
            return low, low
        return between(low, high, slack)

    def between(fails: float, holds: float, slack: float) -> tuple[float, float]:
        while holds - fails > precision:
            middle = (fails + holds) / 2
            is_met = requirement.holds(probability(middle, slack))
            fails, holds = (fails, middle) if is_met else (middle, holds)
        return fails, holds

    def safest(start: float) -> float | None:
        """The first of growing epsilons: at large ones reports are far from normal again, and the error grows."""
        fails, holds = low, start
        while not requirement.holds(probability(holds, 1.0)):
            if holds >= high:
                return None
            fails, holds = holds, min(high, holds * _STRIDE)
        return holds if holds == low else between(fails, holds, 1.0)[1]

    found, easiest = root(0.0), root(-1.0)
    if found is None:
        raise unmet_requirement(requirement, low, high, probability(high, 0.0), high)
    epsilon = found[1]
    name = mechanism if isinstance(mechanism, str) else mechanism(epsilon).name
    lower = None if easiest is None or easiest[0] == low else easiest[0]
    return MeanBudget(name, epsilon, lower, safest(epsilon), law_at(epsilon))
