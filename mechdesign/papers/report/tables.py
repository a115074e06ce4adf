"""Printed numbers beside ours as tables: in Markdown for people, as comma-separated values for programs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence

from mechdesign.papers.claims.claim import IS, VERDICTS, Bounds, Claim, Item, Outcome
from mechdesign.papers.claims.left_out import LEFT_OUT, LeftOut

HEADINGS = ("number", "printed", "ours", "corrected")


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How often each verdict was given."""
    found = Counter(outcome.verdict for outcome in outcomes)
    return {verdict: found[verdict] for verdict in VERDICTS}


def summary(outcomes: Sequence[Outcome]) -> str:
    """The same on a line."""
    return ", ".join(f"{verdict}: {count}" for verdict, count in counts(outcomes).items())


def lines_of(outcome: Outcome) -> list[list[str]]:
    """A line a number: label, printed, ours, and the number after correction, by the erratum or under its reading."""
    lines = []
    for k, (item, ours) in enumerate(zip(outcome.claim.items, outcome.ours, strict=True)):
        corrected = item.corrected if outcome.mended is None else _number(item, outcome.mended[k])
        lines.append([item.label, _printed(item, outcome.claim), _number(item, ours) + _noise(item, ours), corrected])
    return lines


def _noise(item: Item, ours: Bounds) -> str:
    """How likely a simulation is as far from ours as the printed one."""
    return f" (p = {item.p_value(ours):.2g})" if item.is_simulated else ""


def _printed(item: Item, claim: Claim) -> str:
    """In brackets if the paper does not print it for this."""
    text = item.printed if item.relation == IS else f"{item.relation} {item.printed}"
    return text if claim.is_of_the_page else f"({text})"


def _number(item: Item, ours: Bounds) -> str:
    """Ours, in one significant digit more than is printed."""
    digits = max(4, len(item.printed.strip("-").replace(".", "").lstrip("0")) + 1)
    low, high = (f"{round(end, 12) + 0.0:.{digits}g}" for end in ours)
    return low if low == high else f"[{low}, {high}]"


def uncovered(outcomes: Sequence[Outcome]) -> list[LeftOut]:
    """What no claim covers in the papers of these."""
    papers, keys = {one.claim.paper for one in outcomes}, {one.claim.key for one in outcomes}
    return [left for left in LEFT_OUT if left.paper in papers and not (left.claims and keys.issuperset(left.claims))]


def taken_words(keys: Sequence[str]) -> str:
    """What nobody computed again."""
    return f"Taken from files of an earlier run, not computed again: {of_claims(len(keys))}"


def markdown(outcomes: Sequence[Outcome], missing: Sequence[tuple[Claim, str]] = (), taken: Sequence[str] = ()) -> str:
    """A table a claim; at the end what was not computed, and why."""
    papers = list(dict.fromkeys(outcome.claim.paper for outcome in outcomes))
    parts = [f"# Printed numbers and ours\n\n{of_claims(len(outcomes))}. {summary(outcomes)}.\n"]
    if taken:
        parts.append(f"\n{taken_words(taken)} ({', '.join(taken)}).\n")
    for paper in papers:
        parts.append(f"\n## {paper}\n")
        parts += [_section(outcome) for outcome in outcomes if outcome.claim.paper == paper]
    if missing:
        parts.append("\n## Left out of this run\n\n")
        parts += [f"- **{claim.key}** ({claim.place}): {why}\n" for claim, why in missing]
    if uncovered(outcomes):
        parts.append("\n## Covered by no claim\n\n")
        parts += [f"- {left.paper}, {left.place}: {left.words}; {left.why}\n" for left in uncovered(outcomes)]
    return "".join(parts)


def _section(outcome: Outcome) -> str:
    claim = outcome.claim
    said = f" ({claim.reason})" if claim.reason else ""
    head = f"\n**{claim.key}** ({claim.place}): {claim.words}. Verdict: *{outcome.in_words}*{said}.\n\n"
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines_of(outcome)]
    return "".join([head, f"| {' | '.join(HEADINGS)} |\n", "|---|---|---|---|\n", *rows])


def of_claims(count: int) -> str:
    """So many claims, in words."""
    return f"{count} claim{'s' * (count != 1)}"


def spreadsheet(outcomes: Sequence[Outcome]) -> str:
    """A line a number, with both ends of ours."""
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
