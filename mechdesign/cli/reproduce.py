"""The papers' printed numbers beside ours, each with a verdict that follows from the two.

NAME is a claim such as ogpm.example-8, or a family such as ogpm; all claims that take no more than two seconds are
computed unless names or --all are given. --data FOLDER takes the data sets of the papers that lie there and computes
what depends on them; without names, --all or --quick that alone. With a folder as --out the report is a page with
pictures: reproduce --all --out report. What the folder holds already is taken and said to be, so a run that was ended
goes on. With --plot the picture of one claim is a file: the axes of its figure, the printed points under our lines. The
exit code is 0 whatever the verdicts are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import JustifyMethod
from rich.table import Table

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part
from mechdesign.errors import InvalidInput
from mechdesign.papers import report
from mechdesign.papers.claims.claim import Claim, Outcome, Picture, judge
from mechdesign.papers.report.tables import counts, lines_of, markdown, of_claims, spreadsheet, summary, taken_words
from mechdesign.values.declare import evolved, field, frozen
from mechdesign.values.rules import left_out_with
from mechdesign.values.schema import shaped

_FORMATS = (".md", ".csv")
_OTHERS = (".json", ".html", ".htm", ".pdf", ".png", ".svg", ".txt", ".tex", ".xlsx")  # meant as files
_SLOW = "it is slow; --all computes it"


@frozen
class About:
    """A claim of a paper."""

    id: str
    paper: str
    place: str
    words: str
    erratum: int | None
    beyond: str | None
    in_code: str | None
    stand_in: str | None
    cost: Literal["slow", "quick"]


@frozen
class Number:
    """A printed number beside ours: how it is to be read, and both ends of what we computed.

    The ``p_value`` is for what the paper simulated: how likely it is as far from ours as printed.
    """

    label: str
    relation: str
    printed: float
    corrected: float | None
    lower: float
    upper: float
    as_corrected: tuple[float, float] | None
    p_value: float | None


@frozen
class Verdict:
    """What follows from the numbers."""

    verdict: str
    seconds: float
    numbers: tuple[Number, ...]


@frozen
class Judged:
    """Claims with verdicts, how often each was given, the claims that this run left out, and those it did not compute.

    What is ``taken`` is as files of an earlier run in the folder say.
    """

    claims: tuple[Mapping[str, Any], ...] = field(
        metadata=shaped(lambda schemas: {"type": "array", "items": schemas.merged(About, Verdict)})
    )
    verdicts: Mapping[str, int]
    left_out: tuple[str, ...]
    taken: tuple[str, ...]


@frozen
class Listed:
    """Claims that were not computed."""

    claims: tuple[About, ...]


ANSWERS = ((Judged,), (Listed,))
EXAMPLE = "reproduce jrr.partner"
RULES = (
    left_out_with("listed", "out", "plot", why="it computes nothing: name the claims"),
    left_out_with("names", "every", "quick", why="give one or the other"),
    left_out_with("every", "quick", why="give one or the other"),
)


def run(
    sent: Annotated[Sent, Part(out="Save the report: .md, .csv, or a folder for a page with pictures.")],
    names: Annotated[list[str] | None, typer.Argument(help="Claims or families.", metavar="[NAME ...]")] = None,
    every: Annotated[bool, typer.Option("--all", help="The slow claims too (some minutes).")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="The quick claims only, as without names.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="What there is, without computing it.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", help="A folder with data sets of the papers.", metavar="FOLDER")
    ] = None,
) -> None:
    from mechdesign.papers.claims.catalogue import CLAIMS, named, with_data

    known = CLAIMS if data is None else with_data(data)
    if listed:
        _list(named(names, known) if names else known, as_json=sent.as_json)
        return
    if names:
        claims = named(names, known)
    elif data is not None and not (every or quick):
        claims = [claim for claim in known if claim.data]
    else:
        claims = [claim for claim in known if every or not claim.slow]
    picture = None if sent.plot is None else _require_picture(sent.plot, claims, known)
    folder = _require_place(sent)
    found: list[report.Part] = []
    try:
        with output.ending_cleanly(), output.counted(len(claims), "claims", quiet=sent.quiet) as say:
            for count, claim in enumerate(claims):
                say(count, claim.key)
                found.append(report.Part(judge(claim), None) if folder is None else report.part_of(claim, folder))
            if picture is not None:
                sent.draw(plot.drawn_by(picture))
    except (KeyboardInterrupt, SystemExit):
        if found:  # what took minutes is not lost
            _deliver(found, claims, known, folder, sent)
            onwards = (
                "name the others to compute them" if folder is None else "the same command goes on with the others"
            )
            output.warn(f"ended after {len(found)} of {len(claims)} claims; {onwards}")
        raise
    _deliver(found, claims, known, folder, sent)


def _require_picture(path: Path, claims: Sequence[Claim], known: Sequence[Claim]) -> Picture:
    """How the one claim that was named is drawn."""
    drawn = [claim.key for claim in known if claim.picture is not None]
    if len(claims) != 1:
        rule = "come with the name of one claim, whose picture it is"
        raise InvalidInput(
            "picture", str(path), rule, f"got {len(claims)}; for example reproduce {drawn[0]} --plot F.png"
        )
    (claim,) = claims
    if claim.picture is None:
        family = claim.key.partition(".")[0]
        near = [key for key in drawn if key.startswith(f"{family}.")]
        raise InvalidInput("claim", claim.key, "have a picture", f"those of {family} with one: {', '.join(near)}")
    return claim.picture


def _require_place(sent: Sent) -> Path | None:
    """The folder that --out names unless it names a file; refused is what could not be written at the end.

    A folder may have a dot in its name, as claims do; what is there already, and formats of other reports, are files.
    """
    out = sent.out
    if out is not None and (out.is_dir() or out.suffix.lower() not in (*_FORMATS, *_OTHERS)) and not out.is_file():
        evolved(sent, out=None).require_writable()
        report.require_folder(out, overwrite=sent.force)
        report.make(out)
        return out
    sent.require_writable()
    if out is not None and out.suffix.lower() not in _FORMATS:
        rule = f"end in {' or '.join(_FORMATS)}, or be a folder"
        raise InvalidInput("output file", str(out), rule, "for example --out REPORT.md")
    return None


def _deliver(
    found: Sequence[report.Part], claims: Sequence[Claim], known: Sequence[Claim], folder: Path | None, sent: Sent
) -> None:
    outcomes = [part.outcome for part in found]
    taken = tuple(part.outcome.claim.key for part in found if part.is_taken)
    computed = {outcome.claim.key for outcome in outcomes}
    missing = [(claim, _why_left(claim, claims, known)) for claim in known if claim.key not in computed]
    if folder is not None:
        report.write(found, folder, missing)
    elif sent.out is not None:
        sent.keep(markdown(outcomes) if sent.out.suffix.lower() == ".md" else spreadsheet(outcomes))
    if sent.as_json:
        left_out = tuple(claim.key for claim, _ in missing)
        output.print_json(Judged(tuple(map(_judged, outcomes)), counts(outcomes), left_out, taken))
        return
    _print(outcomes)
    if taken:
        output.console.print(f"  {taken_words(taken)}.", soft_wrap=True)
    if any(one.claim.erratum is not None for one in outcomes):
        output.console.print("  Errata by number: ERRATA.md in the repository.", soft_wrap=True)
    slow = sum(why == _SLOW for _, why in missing)
    if slow:
        output.console.print(f"  {slow} slow claims are left out; --all computes them.", soft_wrap=True)
    if folder is None:
        sent.say_saved()
    else:
        for name in (report.PAGE, report.TABLE):
            output.say_saved(folder / name)
        evolved(sent, out=None).say_saved()


def _why_left(claim: Claim, wanted: Sequence[Claim], known: Sequence[Claim]) -> str:
    keys = {one.key for one in wanted}
    if claim.key in keys:
        return "the run was ended before"
    is_quick_run = keys == {one.key for one in known if not one.slow}
    return _SLOW if is_quick_run else "it was not asked for"


def _about(claim: Claim) -> About:
    said = claim.key, claim.paper, claim.place, claim.words, claim.erratum
    about_other = claim.beyond or None, claim.in_code or None, claim.stand_in or None
    return About(*said, *about_other, "slow" if claim.slow else "quick")


def _judged(outcome: Outcome) -> dict[str, Any]:
    numbers = tuple(
        Number(
            item.label,
            item.relation,
            float(item.printed),
            float(item.corrected) if item.corrected else None,
            *outcome.ours[k],
            None if outcome.mended is None else outcome.mended[k],
            item.p_value(outcome.ours[k]) if item.is_simulated else None,
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
    output.print_table(of_claims(len(claims)), ["claim", "place", ""], rows, left=3)


def _print(outcomes: Sequence[Outcome]) -> None:
    for paper in dict.fromkeys(outcome.claim.paper for outcome in outcomes):
        output.console.print(paper, style="bold", soft_wrap=True)
        table = Table(box=None, pad_edge=False, padding=(0, 2))
        for heading in ("claim", "printed", "ours", "corrected", "verdict"):
            justify: JustifyMethod = "left" if heading in ("claim", "verdict") else "right"
            table.add_column(heading, justify=justify, overflow="fold", no_wrap=heading == "claim")
        for outcome in (outcome for outcome in outcomes if outcome.claim.paper == paper):
            table.add_row(outcome.claim.key, "", "", "", outcome.in_words)
            for label, *numbers in lines_of(outcome):
                table.add_row(f"  {label}", *numbers, "")
        output.console.print(table)
        for outcome in (outcome for outcome in outcomes if outcome.claim.paper == paper and outcome.claim.reason):
            said = f"{outcome.claim.key} is {outcome.verdict}: {outcome.claim.reason}"
            output.console.print(f"  {said}", soft_wrap=True)
        output.console.print()
    output.console.print(f"{of_claims(len(outcomes))}: {summary(outcomes)}", soft_wrap=True)
