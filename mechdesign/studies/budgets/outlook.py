"""What a given epsilon does for a capacity: the probabilities of all four events, exactly where the protocol allows it.

The true total is above the capacity or not, so two of the four events are impossible; the other two add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from mechdesign.errors import require_epsilon
from mechdesign.studies.budgets import mean_route
from mechdesign.studies.budgets.capacity import EVENTS, Capacity, Requirement, require_capacity
from mechdesign.studies.budgets.capri_exact import Exceedance, chebyshev, chebyshev_bound
from mechdesign.studies.budgets.choice import FREQUENCY, MEAN
from mechdesign.studies.budgets.simulation import ProtocolFamily
from mechdesign.values.codec import named
from mechdesign.values.declare import field, frozen

EXACT, NORMAL = "characteristic function", "normal law"


@frozen
class Outlook:
    """The events at one epsilon.

    *Guarantee.* By ``characteristic function`` the probabilities are right to 1e-10 (``exact``). By the ``normal law``
    mean and variance are exact and the shape is not: ``error`` bounds the difference where it is known (Berry-Esseen).
    ``chebyshev`` bounds the probability of the wrong alarm for any law with this variance.
    """

    name: str = field(metadata=named("protocol"))
    route: str
    epsilon: float
    probability: Mapping[str, float]
    exact: bool
    method: str
    error: float | None
    chebyshev: float


def outlook(capacity: Capacity, name: str, epsilon: float) -> Outlook:
    """The probabilities of TP, TN, FP and FN, for a frequency protocol or an unbiased numeric mechanism.

    >>> found = outlook(Capacity([0, 1], [400, 600], 500), "grr", 0.8)
    >>> round(found.probability["FN"], 8), found.exact, round(found.chebyshev, 5)
    (0.00523595, True, 0.14818)
    """
    require_capacity(capacity)
    key, eps = name.strip().lower(), require_epsilon(epsilon)
    if key in mean_route.NAMES:
        law = mean_route.law_of_sum(capacity, mean_route.built(key, eps, capacity))
        above = mean_route.normal_exceedance(capacity, law).value
        bound = chebyshev_bound(capacity, law.deviation)
        return Outlook(key, MEAN, eps, _events(capacity, above), False, NORMAL, law.error, bound)
    family = ProtocolFamily(key)
    found = Exceedance(capacity, family)(eps)
    bound = chebyshev(capacity, family(eps, capacity.v.size))
    method = EXACT if found.exact else NORMAL
    return Outlook(family.name, FREQUENCY, eps, _events(capacity, found.value), found.exact, method, None, bound)


def _events(capacity: Capacity, above: float) -> dict[str, float]:
    return {event.upper(): Requirement(event, 0.5).probability(capacity, above) for event in EVENTS}
