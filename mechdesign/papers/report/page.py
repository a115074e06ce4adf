"""The report as one HTML page that needs nothing else: its style and its pictures are inside, and it has no scripts."""

from __future__ import annotations

import base64
import platform
from collections.abc import Sequence
from html import escape

import mechdesign
from mechdesign.papers.claims.claim import (
    BEYOND,
    CORRECTED,
    FAILS,
    HOLDS,
    IN_CODE,
    LEVEL,
    REPLACED,
    SIMULATED,
    STAND_IN,
    Claim,
    Outcome,
)
from mechdesign.papers.report.parts import Part, versions
from mechdesign.papers.report.tables import HEADINGS, counts, lines_of, of_claims, taken_words, uncovered

_SIGNS = {
    HOLDS: "✓",
    SIMULATED: "✓~",
    CORRECTED: "✓*",
    REPLACED: "≠",
    IN_CODE: "≠c",
    FAILS: "✗",
    STAND_IN: "·d",
    BEYOND: "·",
}
_RULES = {
    HOLDS: "every number of the claim agrees with ours",
    SIMULATED: "the same, some only within the noise of the paper's own simulation: if ours is right, a simulation of "
    f"its size is as far off with the probability p, of at least {LEVEL:g}",
    CORRECTED: "the printed numbers agree with ours once the claim is read as the erratum of that number says",
    REPLACED: "the printed numbers do not agree with ours; the erratum of that number has others, which do",
    IN_CODE: "what is printed is right, and ours; the authors' published code computes the other numbers, in brackets",
    FAILS: "the printed numbers do not agree with ours, and no erratum says why",
    STAND_IN: "computed on data made here, as the paper's may not be shipped: no verdict on the paper; --data computes "
    "some of these on the paper's own",
    BEYOND: "a sentence of ours about which the paper says nothing; it counts neither for nor against it",
}
_STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d2330; --soft: #5a6375; --line: #d9dee7; --card: #f6f8fb; --link: #1a5a96;
  --holds: #1b7f4d; --corrected: #5d7a12; --replaced: #b0530a; --fails: #b3261e; --beyond: #5a6375;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171d; --ink: #e6e9ef; --soft: #a3acbd; --line: #333a47; --card: #1c2129; --link: #7ab7ee;
    --holds: #5fd49a; --corrected: #bcd65f; --replaced: #f5a65b; --fails: #ff8a80; --beyond: #a3acbd;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main { max-width: 72rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .6rem 0; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 .6rem; padding-top: .6rem; border-top: 2px solid var(--line); }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
a { color: var(--link); }
p, ul, dl { margin: .4rem 0; }
.soft { color: var(--soft); }
.tally, .index { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .35rem .6rem; }
.tally li { border: 1px solid var(--line); border-radius: .5rem; padding: .2rem .6rem; background: var(--card); }
.index a { text-decoration: none; color: inherit; border-bottom: 2px solid currentColor; overflow-wrap: anywhere; }
.index { font-size: .85rem; }
dt { font-weight: 600; }
dd { margin: 0 0 .4rem; }
article {
  border: 1px solid var(--line); border-radius: .6rem; background: var(--card); padding: .8rem 1rem; margin: .8rem 0;
  display: grid; gap: .2rem 1.5rem; grid-template-columns: minmax(0, 1fr);
}
.verdict { font-weight: 600; margin: 0; }
.holds { color: var(--holds); } .corrected { color: var(--corrected); } .replaced { color: var(--replaced); }
.fails { color: var(--fails); } .beyond { color: var(--beyond); }
table { border-collapse: collapse; width: 100%; max-width: 44rem; font-size: .88rem; margin: .4rem 0; }
th, td {
  text-align: right; padding: .25rem .4rem; border-bottom: 1px solid var(--line); vertical-align: top;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
th { color: var(--soft); font-weight: 600; overflow-wrap: normal; }
th:first-child, td:first-child { text-align: left; width: 34%; }
img {
  display: block; width: 100%; max-width: 32rem; height: auto; background: #fff; border-radius: .4rem; margin: .4rem 0;
}
.facts { min-width: 0; }
@media (min-width: 60rem) { article.drawn { grid-template-columns: minmax(0, 1fr) 26rem; align-items: start; } }
@media (max-width: 30rem) {
  main { padding: .6rem; }
  article { padding: .6rem .7rem; }
  table { font-size: .8rem; }
  th, td { padding: .2rem .25rem; }
}
"""
_TAKEN = '<p class="soft">These numbers are taken from a file of an earlier run, not computed again.</p>'
_CLASSES = {
    HOLDS: "holds",
    SIMULATED: "holds",
    CORRECTED: "corrected",
    REPLACED: "replaced",
    IN_CODE: "beyond",
    FAILS: "fails",
    STAND_IN: "beyond",
    BEYOND: "beyond",
}


def page(parts: Sequence[Part], missing: Sequence[tuple[Claim, str]]) -> str:
    """The whole page: the tally, the rule, the claims by paper, and what is not here and why."""
    outcomes = [part.outcome for part in parts]
    papers = list(dict.fromkeys(outcome.claim.paper for outcome in outcomes))
    by_paper = [(paper, [part for part in parts if part.outcome.claim.paper == paper]) for paper in papers]
    body = [
        "<h1>Printed numbers and ours</h1>",
        _introduction(parts, missing),
        _tally(outcomes),
        _rules(),
        "<h2>All claims</h2>",
        *(_index(paper, [part.outcome for part in of_paper]) for paper, of_paper in by_paper),
        *(_paper(paper, of_paper) for paper, of_paper in by_paper),
        _missing(missing),
        _uncovered(outcomes),
    ]
    head = (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Printed numbers and ours</title>\n<style>{_STYLE}</style>"
    )
    inside = "\n".join(filter(None, body))
    document = f"<head>\n{head}\n</head>\n<body>\n<main>\n{inside}\n</main>\n</body>"
    return f'<!doctype html>\n<html lang="en">\n{document}\n</html>\n'


def _introduction(parts: Sequence[Part], missing: Sequence[tuple[Claim, str]]) -> str:
    outcomes = [part.outcome for part in parts]
    seconds = sum(part.outcome.seconds for part in parts if not part.is_taken)
    keys = [part.outcome.claim.key for part in parts if part.is_taken]
    taken = f'\n<p class="soft">{taken_words(keys)}; each says so.</p>' if keys else ""
    software = ", ".join(f"{name} {version}" for name, version in versions().items())
    left = f' <a href="#left-out">{of_claims(len(missing))} left out of this run</a>.' if missing else ""
    return (
        f"<p>What papers on local differential privacy print, beside what is computed here: {of_claims(len(outcomes))}."
        f"{left}</p>\n"
        f'<p class="soft">mechdesign {escape(mechdesign.__version__)}, Python {escape(platform.python_version())}, '
        f"{escape(software)}; computed in {seconds:.0f} s.</p>{taken}"
    )


def _tally(outcomes: Sequence[Outcome]) -> str:
    entries = [
        f'<li><span class="{_CLASSES[verdict]}">{_SIGNS[verdict]} {escape(verdict)}</span> <b>{count}</b></li>'
        for verdict, count in counts(outcomes).items()
    ]
    return f'<ul class="tally">{"".join(entries)}</ul>'


def _rules() -> str:
    rules = "".join(
        f'<dt class="{_CLASSES[verdict]}">{_SIGNS[verdict]} {escape(verdict)}</dt><dd>{escape(rule)}</dd>'
        for verdict, rule in _RULES.items()
    )
    return (
        "<h2>How a verdict follows</h2>\n"
        "<p>Nobody states the verdicts: they follow from the two numbers. A printed number stands for all that round "
        "or are cut to it, so it agrees with ours if they differ by less than one unit of its last digit (or by what "
        "the claim says, where its words are vaguer or runs are random). Where ours is an interval that is proven to "
        "hold the number, all of it has to agree. “At most” and “at least” bound the far end.</p>\n"
        f"<dl>{rules}</dl>\n"
        "<p>Errata by number are in the file ERRATA.md of the package's repository.</p>"
    )


def _index(paper: str, outcomes: Sequence[Outcome]) -> str:
    links = "".join(
        f'<li class="{_CLASSES[outcome.verdict]}"><a href="#{_anchor(outcome.claim)}">{_SIGNS[outcome.verdict]} '
        f"{escape(outcome.claim.key)}</a></li>"
        for outcome in outcomes
    )
    return f'<p><b>{escape(paper)}</b></p>\n<ul class="index">{links}</ul>'


def _paper(paper: str, parts: Sequence[Part]) -> str:
    return "\n".join([f"<h2>{escape(paper)}</h2>", *map(_article, parts)])


def _article(part: Part) -> str:
    outcome, claim = part.outcome, part.outcome.claim
    reason = f'<p class="soft">{escape(_sentence(claim.reason))}</p>' if claim.reason else ""
    facts = (
        f"<h3>{escape(claim.key)}</h3>\n"
        f'<p class="soft">{escape(claim.place)}</p>\n<p>{escape(_sentence(claim.words))}</p>\n'
        f'<p class="verdict {_CLASSES[outcome.verdict]}">{_SIGNS[outcome.verdict]} {escape(outcome.in_words)}</p>\n'
        f"{reason}{_table(outcome)}{_TAKEN if part.is_taken else ''}"
    )
    drawn = "" if part.picture is None else _image(part.picture, claim)
    kind = ' class="drawn"' if drawn else ""
    return f'<article id="{_anchor(claim)}"{kind}><div class="facts">{facts}</div>{drawn}</article>'


def _sentence(words: str) -> str:
    first = words.partition(" ")[0]
    return f"{words}." if len(first) == 1 and first != "a" else f"{words[0].upper()}{words[1:]}."  # p stays p


def _table(outcome: Outcome) -> str:
    rows = lines_of(outcome)
    width = len(HEADINGS) if any(row[-1] for row in rows) else len(HEADINGS) - 1  # a column that says nothing is none
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in HEADINGS[:width])
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row[:width])}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _image(picture: bytes, claim: Claim) -> str:
    content = base64.b64encode(picture).decode("ascii")
    about = escape(f"Picture of {claim.key}: {claim.words}", quote=True)
    return f'<img src="data:image/png;base64,{content}" alt="{about}">'


def _missing(missing: Sequence[tuple[Claim, str]]) -> str:
    if not missing:
        return ""
    entries = "".join(
        f"<li><b>{escape(claim.key)}</b> ({escape(claim.place)}): {escape(claim.words)}. "
        f'<span class="soft">Left out: {escape(why)}.</span></li>'
        for claim, why in missing
    )
    return f'<h2 id="left-out">Left out of this run</h2>\n<ul>{entries}</ul>'


def _uncovered(outcomes: Sequence[Outcome]) -> str:
    entries = "".join(
        f"<li><b>{escape(left.paper)}</b>, {escape(left.place)}: {escape(left.words)}. "
        f'<span class="soft">Not computed: {escape(left.why)}.</span></li>'
        for left in uncovered(outcomes)
    )
    return f"<h2>Covered by no claim</h2>\n<ul>{entries}</ul>" if entries else ""


def _anchor(claim: Claim) -> str:
    return escape(claim.key, quote=True)
