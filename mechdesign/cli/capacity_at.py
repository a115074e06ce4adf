"""Capacity alarms at one epsilon: the probabilities of all four events, and what an adversary learns there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mechdesign.budget.adversary import detection, threat
from mechdesign.budget.capacity import Capacity, Requirement
from mechdesign.budget.choice import FREQUENCY
from mechdesign.budget.outlook import Outlook, outlook
from mechdesign.budget.simulation import ProtocolFamily
from mechdesign.cli import output
from mechdesign.cli.certified import if_shown
from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.values.declare import field, frozen
from mechdesign.values.schema import shaped


@frozen
class Adversary:
    """What one report gives away; with --eta, how well it tells who is at most eta."""

    success_rate: float
    mean_squared_error: float
    precision: float | None = if_shown()
    recall: float | None = if_shown()
    f_score: float | None = if_shown()


@frozen
class Asked:
    """Households, capacities, and the epsilon the events are asked for."""

    households: int
    true_total: float
    capacities: tuple[float, ...]
    epsilon: float
    requirements: tuple[str, ...]


@frozen
class Judged:
    """Which requirements the events under a protocol meet, and what one report gives away."""

    holds: Mapping[str, bool]
    adversary: Adversary | None


@frozen
class EventsAt:
    """All protocols at one capacity."""

    capacity: float
    protocols: tuple[Mapping[str, Any], ...] = field(
        metadata=shaped(lambda schemas: {"type": "array", "items": schemas.merged(Outlook, Judged)})
    )


@frozen
class AtEpsilon:
    """All capacities; the keys of the only row stand beside them, too."""

    problem: Asked
    cases: tuple[EventsAt, ...]


GUESSED = "guessed: true values a Bayesian adversary gets right"


def f_score_words(eta: float) -> str:
    """What the F-score is about."""
    return f"F-score: of telling who is at most {eta:g}"


def in_words(seen: Adversary | None, eta: float | None) -> list[str]:
    """The share guessed right and, with eta, the F-score; empty where reports are too many to enumerate."""
    guessed = "" if seen is None else f"{100 * seen.success_rate:.2f}%"
    score = "" if seen is None or seen.f_score is None else f"{seen.f_score:.4f}"
    return [guessed] if eta is None else [guessed, score]


def adversary_of(capacity: Capacity, protocol: str, epsilon: float, eta: float | None) -> Adversary | None:
    """What one report gives away, or None for a protocol whose reports are too many to enumerate."""
    law = ProtocolFamily(protocol)(epsilon, capacity.v.size)
    try:
        seen = threat(law, capacity.v, capacity.x)
    except InvalidInput:
        return None
    if eta is None:
        return Adversary(seen.success, seen.squared_error)
    told = detection(law, capacity.v, capacity.x, eta)
    return Adversary(seen.success, seen.squared_error, told.precision, told.recall, told.f_score)


def at_one_epsilon(
    caps: Sequence[Capacity],
    names: Sequence[str],
    epsilon: float,
    requirements: Sequence[Requirement],
    eta: float | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Every protocol at every capacity, as one JSON object or a table a capacity."""
    require_epsilon(epsilon, "at eps")
    with output.progress(f"probabilities at eps = {epsilon:g}", quiet=quiet):
        found = {capacity.cap: [outlook(capacity, name, epsilon) for name in names] for capacity in caps}
    if as_json:
        first, wishes = caps[0], tuple(wish.words for wish in requirements)
        asked = Asked(first.users, first.total, tuple(capacity.cap for capacity in caps), epsilon, wishes)
        cases = tuple(
            EventsAt(capacity.cap, tuple(_row(capacity, seen, requirements, eta) for seen in found[capacity.cap]))
            for capacity in caps
        )
        rows = [row for case in cases for row in case.protocols]
        output.print_json(AtEpsilon(asked, cases), rows[0] if len(rows) == 1 else None)
        return
    for capacity in caps:
        _print(capacity, found[capacity.cap], epsilon, requirements, eta)


def _row(capacity: Capacity, seen: Outlook, requirements: Sequence[Requirement], eta: float | None) -> dict[str, Any]:
    adversary = _seen_through(capacity, seen, eta)
    holds = {wish.words: wish.holds(seen.probability[wish.event.upper()]) for wish in requirements}
    return output.merged(seen, Judged(holds, adversary))


def _seen_through(capacity: Capacity, seen: Outlook, eta: float | None) -> Adversary | None:
    """What a report gives away where it is that of a frequency protocol."""
    return adversary_of(capacity, seen.name, seen.epsilon, eta) if seen.route == FREQUENCY else None


def _print(
    capacity: Capacity, found: list[Outlook], epsilon: float, requirements: Sequence[Requirement], eta: float | None
) -> None:
    events = list(found[0].probability)
    rows = []
    for seen in found:
        chances = [*(seen.probability[event] for event in events), seen.chebyshev]
        more = [] if eta is None else in_words(_seen_through(capacity, seen, eta), eta)
        rows.append([seen.name, seen.method, *map(output.number, chances), *more])
    title = (
        f"At eps = {epsilon:g}: {capacity.users:,} households, total {capacity.total:,.12g}, "
        f"capacity {capacity.cap:,.12g}"
    )
    headings = ["protocol", "computed by", *(f"Pr[{event}]" for event in events), "Chebyshev"]
    if eta is not None:
        headings += ["guessed", "F-score"]
    output.print_table(title, headings, rows, left=2)
    for wish in requirements:
        met = [seen.name for seen in found if wish.holds(seen.probability[wish.event.upper()])]
        output.console.print(f"  {wish.words}: {', '.join(met) if met else 'none of them'}", soft_wrap=True)
    loose = [f"{seen.name} {seen.error:.2g}" for seen in found if seen.error is not None]
    if loose:
        output.console.print(f"  The normal law is off by at most: {', '.join(loose)}.", soft_wrap=True)
    notes = ["Chebyshev: his bound on the wrong alarm", *([] if eta is None else [GUESSED, f_score_words(eta)])]
    output.console.print("  " + "; ".join(notes) + ".", soft_wrap=True)
    output.console.print()
