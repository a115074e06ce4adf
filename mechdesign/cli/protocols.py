"""All frequency protocols for one eps and number of items: p*, q*, variance, report size, exact privacy losses.

What many reports of a user tell together depends on the two histories that are compared: losses are printed by
relation (`mechdesign.studies.frequencies.protocols.histories`). With --protocol only that one; --out then writes what
its clients run, for `estimate-counts --survey`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from mechdesign import glossary
from mechdesign.cli import output
from mechdesign.cli.options import Eps
from mechdesign.cli.sent import Sent, kept
from mechdesign.cli.signatures import completion
from mechdesign.errors import MAX_EPSILON, InvalidInput, require_epsilon
from mechdesign.studies.frequencies.datasets import parse_domain_labels
from mechdesign.studies.frequencies.protocols.arguments import require_item_count, require_users
from mechdesign.studies.frequencies.protocols.catalogue import PROTOCOLS, ProtocolEntry, entry, protocol
from mechdesign.studies.frequencies.protocols.histories import require_rounds
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.survey import Survey
from mechdesign.values.declare import frozen

_RELATIONS = {
    "same_value": "same value throughout",
    "one_value_replaced": "one value replaced",
    "one_change": "one change",
}
_PARAMETERS = ("hashes", "subset", "threshold", "blocks", "columns")
_SHORT = {"hashes": "g", "subset": "d", "threshold": "theta", "blocks": "B", "columns": "K"}


@frozen
class Line:
    """A protocol: chances, variances of one estimated frequency, and losses; or why it is impossible here."""

    key: str
    longitudinal: bool
    citation: str
    name: str
    p: float | None = output.if_shown()
    q: float | None = output.if_shown()
    variance: float | None = output.if_shown()
    variance_absent: float | None = output.if_shown()
    report_bits: float | None = output.if_shown()
    privacy_loss: float | None = output.if_shown()
    limit_loss: float | None = None
    losses_together: Mapping[str, float] | None = output.if_shown()
    parameters: Mapping[str, float] | None = output.if_shown()
    impossible: str | None = output.if_shown()

    @property
    def is_possible(self) -> bool:
        return self.impossible is None


@frozen
class Answer:
    """All protocols for one epsilon, number of items and number of users."""

    epsilon: float
    size: int
    users: int
    limit: float
    rounds: int
    protocols: tuple[Line, ...]


ANSWERS = ((Answer,),)
EXAMPLE = "protocols --eps 1 --size 100"


def run(
    eps: Eps,
    sent: Annotated[Sent, kept("Save what clients of --protocol run: a survey, JSON.")],
    size: Annotated[int | None, typer.Option("--size", "-k", help="Number of items k (or --domain).")] = None,
    users: Annotated[int, typer.Option("--users", "-n", help="Number of users n the variances are for.")] = 100_000,
    limit: Annotated[
        float | None,
        typer.Option("--limit", help="Loss of all reports of users who never change, if longitudinal (2 eps)."),
    ] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="All items, in the order the clients number them: A,B,C or LO..HI.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            "-p",
            help="One protocol only, such as olh.",
            autocompletion=completion(lambda: [line.key for line in PROTOCOLS]),
        ),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", help="Reports of each user the losses together are for.")] = 10,
) -> None:
    sent.require_writable()
    if (domain is None) == (size is None):
        given = None if domain is None else f"{domain} and {size}"
        raise InvalidInput("--domain or --size", given, "be given, one of them", "for example --size 100")
    labels = None if domain is None else parse_domain_labels(domain)
    items = require_item_count(size if labels is None else len(labels))
    epsilon, n, reports = require_epsilon(eps), require_users(users), require_rounds(rounds)
    most = require_epsilon(min(2 * epsilon, MAX_EPSILON) if limit is None else limit, "limit")
    if most < epsilon:
        raise InvalidInput("limit", limit, f"be at least eps = {epsilon:g}, the loss of the first report")
    chosen = PROTOCOLS if name is None else (entry(name),)
    if sent.out is not None and name is None:
        raise InvalidInput("protocol", name, "be given with --out: a survey has one", "for example --protocol olh")
    with output.progress("protocols", quiet=sent.quiet):
        rows = [_row(line, epsilon, items, n, most, reports) for line in chosen]
        if sent.out is not None:
            names = tuple(map(str, range(items))) if labels is None else labels
            options = {"limit": most} if chosen[0].longitudinal else {}
            Survey(chosen[0].key, epsilon, names, parameters=options).write(sent.out, overwrite=sent.force)
    if sent.as_json:
        output.print_json(Answer(epsilon, items, n, most, reports, tuple(rows)))
        return
    _print(rows, epsilon, items, n)
    _print_together(rows, most, reports)
    sent.say_saved()


def _row(line: ProtocolEntry, epsilon: float, size: int, users: int, limit: float, rounds: int) -> Line:
    options = {"limit": limit} if line.longitudinal else {}
    about = line.key, line.longitudinal, glossary.entry(line.key).citation
    try:
        law = protocol(line.key, epsilon, size, **options)
    except InvalidInput as problem:
        if not line.longitudinal:
            raise
        return Line(*about, line.key.upper(), impossible=str(problem))
    return Line(
        *about,
        law.name,
        law.p,
        law.q,
        law.variance(1 / size, users).item(),
        law.variance(0.0, users).item(),
        law.report_bits,
        law.privacy_loss(),
        law.limit if isinstance(law, Longitudinal) else None,
        _together(law, rounds),
        _parameters(law.once if isinstance(law, Longitudinal) else law),
    )


def _together(law: FrequencyProtocol, rounds: int) -> dict[str, float]:
    """Exact losses of so many reports by relation; without a memory reports are independent and their losses add up."""
    if not isinstance(law, Longitudinal):
        return dict.fromkeys(_RELATIONS, rounds * law.privacy_loss())
    found = law.losses(rounds)
    return {name: getattr(found, name) for name in _RELATIONS}


def _parameters(law: FrequencyProtocol) -> dict[str, float]:
    return {_SHORT[name]: getattr(law, name) for name in _PARAMETERS if hasattr(law, name)}


def _print(rows: Sequence[Line], epsilon: float, size: int, users: int) -> None:
    output.print_table(
        f"Frequency protocols: eps = {epsilon:g}, {size} items, {users} users",
        ["protocol", "p*", "q*", "variance", "absent item", "root", "bits", "loss", ""],
        [_cells(row) for row in rows if row.is_possible],
    )
    output.console.print(
        "\nvariance: of one estimated frequency, averaged over the items, the same for all data (HR with more than\n"
        "one block: at even frequencies; there an item's noise grows with what its block holds)\n"
        "absent item: that of an item nobody holds; root: square root of the variance; loss: of the first report",
        soft_wrap=True,
    )
    for row in rows:
        if not row.is_possible:
            output.console.print(f"{row.name} is impossible here: {row.impossible}", soft_wrap=True)


def _print_together(rows: Sequence[Line], limit: float, rounds: int) -> None:
    """What all reports of a user lose together, for the protocols that remember."""
    remembering = [row for row in rows if row.longitudinal and row.is_possible]
    if not remembering:
        return
    output.console.print()
    output.print_table(
        f"Loss of {rounds} reports of a user together, by the two histories compared",
        ["protocol", *_RELATIONS.values()],
        [[row.name, *(_loss((row.losses_together or {})[name]) for name in _RELATIONS)] for row in remembering],
    )
    output.console.print(
        f"\nsame value throughout: of users who never change, at most {limit:g} however many reports\n"
        "one value replaced: the same history, but one value is another one, held in no other round, throughout;\n"
        "  two values can have one hash, and then one memory: with hashing no limit holds there either\n"
        "one change: a user who never changes against one who changes once; no limit holds\n"
        "Protocols without a memory draw every report anew, and lose the loss of one report times the reports "
        "in each case.",
        soft_wrap=True,
    )


def _loss(loss: float) -> str:
    return f"{loss:.6g}" if math.isfinite(loss) else "infinite"


def _cells(row: Line) -> list[str]:
    parameters = ", ".join(f"{name} = {value:.4g}" for name, value in (row.parameters or {}).items())
    variance = row.variance or 0.0
    numbers = (row.p, row.q, variance, row.variance_absent, math.sqrt(variance))
    return [
        row.name,
        *(f"{number:.5g}" for number in numbers),
        f"{row.report_bits:g}",
        f"{row.privacy_loss:.9g}",
        parameters,
    ]
