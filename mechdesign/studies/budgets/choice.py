"""Which protocol allows the smallest epsilon (section 5.2.2.2), for a utility constraint or a capacity."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets import capri_exact, mean_route
from mechdesign.studies.budgets.capacity import LEAST, MOST, Capacity, Requirement
from mechdesign.studies.budgets.certified import Bracket
from mechdesign.studies.budgets.runner import Answer
from mechdesign.studies.budgets.simulation import ProtocolFamily
from mechdesign.values.declare import frozen

FREQUENCY, MEAN = "frequency", "mean"

Ends = tuple[float | None, float | None]


@frozen
class Place:
    """A protocol in the ranking. ``tied`` says that its bracket overlaps that of the best, so evidence is lacking."""

    answer: Answer
    tied: bool


def ranked(answers: Sequence[Answer]) -> list[Place]:
    """Protocols by the epsilon they need, those that meet the constraint nowhere last."""
    ordered = sorted(answers, key=lambda answer: (answer.epsilon is None, answer.epsilon or 0.0))
    best = ordered[0].result if ordered else None
    return [Place(answer, place > 0 and _overlap(best, answer.result)) for place, answer in enumerate(ordered)]


def _overlap(best: object, other: object) -> bool:
    if not isinstance(best, Bracket) or not isinstance(other, Bracket):
        return False
    return (other.lower or 0.0) < best.upper


@frozen
class Option:
    """A way to collect: its route, the epsilon it needs, and how sure that is, or why it needs more than allowed.

    ``interval`` surely holds the epsilon where it is not exact (Berry-Esseen); its upper end may be missing.
    ``bracket`` is where the requirement was found to fail and to hold, with the event's ``probability`` at both ends;
    an end the range does not have is None.
    """

    name: str
    route: str
    epsilon: float | None
    exact: bool = False
    interval: Ends | None = None
    reason: str = ""
    bracket: Ends = (None, None)
    probability: Ends = (None, None)


def capacity_options(
    capacity: Capacity, requirement: Requirement, names: Sequence[str], *, least: float = LEAST, most: float = MOST
) -> list[Option]:
    """Frequency protocols and unbiased numeric mechanisms for one capacity, by the epsilon they need."""
    requirement.require_possible(capacity)
    if not names:
        raise InvalidInput("protocol", "none", "name at least one")
    options = [_option(capacity, requirement, name, least, most) for name in dict.fromkeys(names)]
    return sorted(options, key=lambda option: (option.epsilon is None, option.epsilon or 0.0))


def _option(capacity: Capacity, requirement: Requirement, name: str, least: float, most: float) -> Option:
    key = name.strip().lower()
    if key in mean_route.NAMES:
        try:
            found = mean_route.mean_budget(capacity, requirement, key, least=least, most=most)
        except InvalidInput as error:
            return _none(key, MEAN, error)
        ends = (found.lower, found.upper)
        chances = tuple(None if end is None else _numeric(capacity, requirement, key, end) for end in ends)
        return Option(key, MEAN, found.epsilon, interval=ends, bracket=ends, probability=(chances[0], chances[1]))
    family = ProtocolFamily(key)  # refuses unknown names before anything is computed
    try:
        exact = capri_exact.budget(capacity, requirement, family, least=least, most=most)
    except InvalidInput as error:
        return _none(family.name, FREQUENCY, error)
    low = None
    if exact.lower is not None:
        low = requirement.probability(capacity, capri_exact.Exceedance(capacity, family)(exact.lower).value)
    return Option(
        family.name,
        FREQUENCY,
        exact.epsilon,
        exact=exact.probability.exact,
        bracket=(exact.lower, exact.epsilon),
        probability=(low, exact.probability.value),
    )


def _numeric(capacity: Capacity, requirement: Requirement, key: str, epsilon: float) -> float:
    return requirement.probability(capacity, mean_route.exceedance(capacity, key, epsilon).value)


def _none(name: str, route: str, error: InvalidInput) -> Option:
    if error.field != "requirement":
        raise error
    return Option(name, route, None, reason=str(error))
