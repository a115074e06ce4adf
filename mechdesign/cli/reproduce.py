"""The papers' printed numbers beside ours, each with a verdict that follows from the two.

NAME is a claim such as ogpm.example-8, or a family such as ogpm; all claims that take no more than two seconds are
computed unless names or --all are given. The exit code is 0 whatever the verdicts are.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer
from rich.console import JustifyMethod
from rich.table import Table

from mechdesign.cli import output
from mechdesign.cli.sent import Sent, kept
from mechdesign.errors import InvalidInput
from mechdesign.reproduce import CLAIMS, VERDICTS, Claim, Outcome, judge, named
from mechdesign.reproduce.claim import IS, Bounds, Item
from mechdesign.values.declare import field, frozen
from mechdesign.values.schema import shaped

_FORMATS = (".md", ".csv")


@frozen
class About:
    """A claim of a paper."""

    id: str
    paper: str
    place: str
    words: str
    erratum: int | None
    beyond: str | None
    cost: Literal["slow", "quick"]


@frozen
class Number:
    """A printed number beside ours: how it is to be read, and both ends of what we computed."""

    label: str
    relation: str
    printed: float
    corrected: float | None
    lower: float
    upper: float
    as_corrected: tuple[float, float] | None


@frozen
class Verdict:
    """What follows from the numbers."""

    verdict: str
    seconds: float
    numbers: tuple[Number, ...]


@frozen
class Judged:
    """Claims with verdicts, and how often each was given."""

    claims: tuple[Mapping[str, Any], ...] = field(
        metadata=shaped(lambda schemas: {"type": "array", "items": schemas.merged(About, Verdict)})
    )
    verdicts: Mapping[str, int]


@frozen
class Listed:
    """Claims that were not computed."""

    claims: tuple[About, ...]


ANSWERS = ((Judged,), (Listed,))
EXAMPLE = "reproduce jrr.partner"


def run(
    sent: Annotated[Sent, kept("Save the report: .md or .csv.")],
    names: Annotated[list[str] | None, typer.Argument(help="Claims or families.", metavar="[NAME ...]")] = None,
    every: Annotated[bool, typer.Option("--all", help="The slow claims too (some minutes).")] = False,
    listed: Annotated[bool, typer.Option("--list", help="What there is, without computing it.")] = False,
) -> None:
    if names and every:
        raise InvalidInput("options", "NAME, --all", "be given one or the other")
    sent.require_writable()
    out = sent.out
    if out is not None and (listed or out.suffix.lower() not in _FORMATS):
        rule = "be left out with --list" if listed else f"end in {' or '.join(_FORMATS)}"
        raise InvalidInput("output file", str(out), rule, "for example --out REPORT.md")
    claims = named(names) if names else [claim for claim in CLAIMS if every or listed or not claim.slow]
    if listed:
        _list(claims, as_json=sent.as_json)
        return
    outcomes: list[Outcome] = []
    try:
        with output.ending_cleanly(), output.progress(_claims(len(claims)), quiet=sent.quiet) as say:
            for count, claim in enumerate(claims):
                say(f"{count} of {len(claims)} claims, now {claim.key}")
                outcomes.append(judge(claim))
    except (KeyboardInterrupt, SystemExit):
        if outcomes:  # what took minutes is not lost
            _deliver(outcomes, sent)
            output.warn(f"ended after {len(outcomes)} of {len(claims)} claims; name the others to compute them")
        raise
    _deliver(outcomes, sent)
    left = len(CLAIMS) - len(claims)
    if left and not names and not sent.as_json:
        output.console.print(f"  {left} slow claims are left out; --all computes them.", soft_wrap=True)


def _deliver(outcomes: Sequence[Outcome], sent: Sent) -> None:
    if sent.out is not None:
        sent.keep(_markdown(outcomes) if sent.out.suffix.lower() == ".md" else _csv(outcomes))
    if sent.as_json:
        output.print_json(Judged(tuple(map(_judged, outcomes)), _counts(outcomes)))
        return
    _print(outcomes)
    if any(one.claim.erratum is not None for one in outcomes):
        output.console.print("  Errata by number: ERRATA.md in the repository.", soft_wrap=True)
    sent.say_saved()


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    found = Counter(outcome.verdict for outcome in outcomes)
    return {verdict: found[verdict] for verdict in VERDICTS}


def _about(claim: Claim) -> About:
    said = claim.key, claim.paper, claim.place, claim.words, claim.erratum, claim.beyond or None
    return About(*said, "slow" if claim.slow else "quick")


def _judged(outcome: Outcome) -> dict[str, Any]:
    numbers = tuple(
        Number(
            item.label,
            item.relation,
            float(item.printed),
            float(item.corrected) if item.corrected else None,
            *outcome.ours[k],
            None if outcome.mended is None else outcome.mended[k],
        )
        for k, item in enumerate(outcome.claim.items)
    )
    return output.merged(_about(outcome.claim), Verdict(outcome.verdict, outcome.seconds, numbers))


# -- for people -------------------------------------------------------------------------------------------------------


def _list(claims: Sequence[Claim], *, as_json: bool) -> None:
    if as_json:
        output.print_json(Listed(tuple(map(_about, claims))))
        return
    rows = [[claim.key, claim.place, "slow" if claim.slow else ""] for claim in claims]
    output.print_table(_claims(len(claims)), ["claim", "place", ""], rows, left=3)


def _printed(item: Item, claim: Claim) -> str:
    """In brackets if the paper does not print it for this."""
    text = item.printed if item.relation == IS else f"{item.relation} {item.printed}"
    return f"({text})" if claim.beyond else text


def _number(item: Item, ours: Bounds) -> str:
    """Ours, in one significant digit more than is printed."""
    digits = max(4, len(item.printed.strip("-").replace(".", "").lstrip("0")) + 1)
    low, high = (f"{round(end, 12) + 0.0:.{digits}g}" for end in ours)
    return low if low == high else f"[{low}, {high}]"


def _lines(outcome: Outcome) -> list[list[str]]:
    """A line a number: label, printed, ours, and the number after correction, by the erratum or under its reading."""
    lines = []
    for k, (item, ours) in enumerate(zip(outcome.claim.items, outcome.ours, strict=True)):
        corrected = item.corrected if outcome.mended is None else _number(item, outcome.mended[k])
        lines.append([item.label, _printed(item, outcome.claim), _number(item, ours), corrected])
    return lines


def _print(outcomes: Sequence[Outcome]) -> None:
    for paper in dict.fromkeys(outcome.claim.paper for outcome in outcomes):
        output.console.print(paper, style="bold", soft_wrap=True)
        table = Table(box=None, pad_edge=False, padding=(0, 2))
        for heading in ("claim", "printed", "ours", "corrected", "verdict"):
            justify: JustifyMethod = "left" if heading in ("claim", "verdict") else "right"
            table.add_column(heading, justify=justify, overflow="fold", no_wrap=heading == "claim")
        for outcome in (outcome for outcome in outcomes if outcome.claim.paper == paper):
            table.add_row(outcome.claim.key, "", "", "", outcome.in_words)
            for label, *numbers in _lines(outcome):
                table.add_row(f"  {label}", *numbers, "")
        output.console.print(table)
        for claim in (outcome.claim for outcome in outcomes if outcome.claim.paper == paper):
            if claim.beyond:
                output.console.print(f"  {claim.key} is beyond the claim: {claim.beyond}", soft_wrap=True)
        output.console.print()
    output.console.print(f"{_claims(len(outcomes))}: {_summary(outcomes)}", soft_wrap=True)


def _claims(count: int) -> str:
    return f"{count} claim{'s' * (count != 1)}"


def _summary(outcomes: Sequence[Outcome]) -> str:
    return ", ".join(f"{verdict}: {count}" for verdict, count in _counts(outcomes).items())


# -- for files --------------------------------------------------------------------------------------------------------


def _markdown(outcomes: Sequence[Outcome]) -> str:
    parts = [f"# Printed numbers and ours\n\n{_claims(len(outcomes))}. {_summary(outcomes)}.\n"]
    for paper in dict.fromkeys(outcome.claim.paper for outcome in outcomes):
        parts.append(f"\n## {paper}\n")
        for outcome in (outcome for outcome in outcomes if outcome.claim.paper == paper):
            claim = outcome.claim
            said = f" ({claim.beyond})" if claim.beyond else ""
            parts.append(f"\n**{claim.key}** ({claim.place}): {claim.words}. Verdict: *{outcome.in_words}*{said}.\n\n")
            parts.append("| number | printed | ours | corrected |\n|---|---|---|---|\n")
            parts += ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in _lines(outcome)]
    return "".join(parts)


def _csv(outcomes: Sequence[Outcome]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    about, numbers = ["id", "paper", "place", "label", "relation"], ["printed", "corrected", "lower", "upper"]
    writer.writerow([*about, *numbers, "corrected_lower", "corrected_upper", "verdict"])
    for outcome in outcomes:
        claim = outcome.claim
        for k, (item, ours) in enumerate(zip(claim.items, outcome.ours, strict=True)):
            mended = ["", ""] if outcome.mended is None else map(repr, outcome.mended[k])
            row = [claim.key, claim.paper, claim.place, item.label, item.relation, item.printed, item.corrected]
            writer.writerow([*row, *map(repr, ours), *mended, outcome.in_words])
    return text.getvalue()
