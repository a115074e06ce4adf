"""Capacity alarms at one epsilon: the probabilities of all four events, and what an adversary learns there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.budget import Capacity, Outlook, Requirement, detection, outlook, threat
from mechdesign.budget.choice import FREQUENCY
from mechdesign.budget.simulation import ProtocolFamily
from mechdesign.cli import output
from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.values.codec import encoded


def adversary_of(capacity: Capacity, protocol: str, epsilon: float, eta: float | None) -> dict[str, float] | None:
    """What one report gives away, or None for a protocol whose reports are too many to enumerate."""
    law = ProtocolFamily(protocol)(epsilon, capacity.v.size)
    try:
        seen = threat(law, capacity.v, capacity.x)
    except InvalidInput:
        return None
    found = {"success_rate": seen.success, "mean_squared_error": seen.squared_error}
    if eta is not None:
        told = detection(law, capacity.v, capacity.x, eta)
        found |= {"precision": told.precision, "recall": told.recall, "f_score": told.f_score}
    return found


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
        output.print_json(_document(caps, found, epsilon, requirements, eta))
        return
    for capacity in caps:
        _print(capacity, found[capacity.cap], epsilon, requirements)


def _document(
    caps: Sequence[Capacity],
    found: dict[float, list[Outlook]],
    epsilon: float,
    requirements: Sequence[Requirement],
    eta: float | None,
) -> dict[str, Any]:
    first = caps[0]
    problem = {
        "households": first.users,
        "true_total": first.total,
        "capacities": [capacity.cap for capacity in caps],
        "epsilon": epsilon,
        "requirements": [requirement.words for requirement in requirements],
    }
    answers = {
        capacity.cap: [_row(capacity, seen, requirements, eta) for seen in found[capacity.cap]] for capacity in caps
    }
    cases = [{"capacity": cap, "protocols": rows} for cap, rows in answers.items()]
    every = [row for rows in answers.values() for row in rows]
    return {"problem": problem, "cases": cases} | output.lone(every)


def _row(capacity: Capacity, seen: Outlook, requirements: Sequence[Requirement], eta: float | None) -> dict[str, Any]:
    fields: dict[str, Any] = encoded(seen)
    adversary = adversary_of(capacity, seen.name, seen.epsilon, eta) if seen.route == FREQUENCY else None
    holds = {wish.words: wish.holds(seen.probability[wish.event.upper()]) for wish in requirements}
    return {"protocol": fields.pop("name")} | fields | {"holds": holds, "adversary": adversary}


def _print(capacity: Capacity, found: list[Outlook], epsilon: float, requirements: Sequence[Requirement]) -> None:
    events = list(found[0].probability)
    rows = []
    for seen in found:
        chances = [*(seen.probability[event] for event in events), seen.chebyshev]
        rows.append([seen.name, seen.method, *map(output.number, chances)])
    title = (
        f"At eps = {epsilon:g}: {capacity.users:,} households, total {capacity.total:,.12g}, "
        f"capacity {capacity.cap:,.12g}"
    )
    headings = ["protocol", "computed by", *(f"Pr[{event}]" for event in events), "Chebyshev"]
    output.print_table(title, headings, rows, left=2)
    for wish in requirements:
        met = [seen.name for seen in found if wish.holds(seen.probability[wish.event.upper()])]
        output.console.print(f"  {wish.words}: {', '.join(met) if met else 'none of them'}", soft_wrap=True)
    loose = [f"{seen.name} {seen.error:.2g}" for seen in found if seen.error is not None]
    if loose:
        output.console.print(f"  The normal law is off by at most: {', '.join(loose)}.", soft_wrap=True)
    output.console.print("  Chebyshev: his bound on the wrong alarm.", soft_wrap=True)
    output.console.print()
