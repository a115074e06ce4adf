"""The page: everything is inside it, every claim is on it, and it says what it leaves out."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from mechdesign.papers.claims import LEFT_OUT, Claim, Item, judge, named
from mechdesign.papers.report.page import page
from mechdesign.papers.report.parts import Part
from mechdesign.papers.report.tables import markdown

PIXEL = b"\x89PNG\r\n\x1a\n"
SLY = Claim("a.sly", "A & B <i>", "page <1>", 'p is "half" & more', (Item("<b>", "0.5"),), lambda: [0.25])


class Tags(HTMLParser):
    """Tags in order, and those that were opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attributes)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def shown() -> str:
    claims = named(["jrr.theorem-3", "jrr.heuristic", "capri.figure-4.1a"])
    parts = [Part(judge(claim), PIXEL if claim.key == "jrr.theorem-3" else None) for claim in claims]
    return page([*parts, Part(judge(SLY), None)], [(claim, "it is slow") for claim in named(["ibu.table-2"])])


def tags(text: str) -> Tags:
    parser = Tags()
    parser.feed(text)
    return parser


def test_all_tags_are_closed_in_order(shown: str) -> None:
    assert tags(shown).open == []


def test_nothing_is_fetched_and_nothing_runs(shown: str) -> None:
    found = tags(shown).seen
    assert {tag for tag, _ in found}.isdisjoint({"script", "link", "iframe", "object", "embed", "base", "form"})
    for tag, attributes in found:
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("src") or "data:").startswith("data:")
        assert tag != "a" or (attributes.get("href") or "").startswith("#")
    assert "@import" not in shown
    assert "url(" not in shown


def test_it_adapts_to_narrow_screens_and_to_the_dark(shown: str) -> None:
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in shown
    assert "prefers-color-scheme: dark" in shown
    assert "color-scheme: light dark" in shown


def test_every_link_has_its_place(shown: str) -> None:
    found = tags(shown).seen
    places = {attributes["id"] for _, attributes in found if "id" in attributes}
    links = {(attributes["href"] or "")[1:] for tag, attributes in found if tag == "a"}
    assert links <= places
    assert {"jrr.theorem-3", "jrr.heuristic", "capri.figure-4.1a", "a.sly", "left-out"} <= places


def test_words_of_claims_are_text(shown: str) -> None:
    assert "A &amp; B &lt;i&gt;" in shown
    assert "page &lt;1&gt;" in shown
    assert "<i>" not in shown


def test_verdicts_stand_beside_their_numbers(shown: str) -> None:
    assert "≠ does not hold as printed (erratum 6)" in shown
    assert "✗ does not hold</p>" in shown
    assert re.search(r"<td>Chebyshev \(400, 500, .4\)</td><td>0.588</td><td>0.6167</td><td>0.61673</td>", shown)


def test_pictures_are_inside_and_have_words(shown: str) -> None:
    (image,) = [attributes for tag, attributes in tags(shown).seen if tag == "img"]
    assert (image["src"] or "").startswith("data:image/png;base64,")
    assert (image["alt"] or "").startswith("Picture of jrr.theorem-3: the bound holds")


def test_it_says_what_the_run_left_out_and_what_no_claim_covers(shown: str) -> None:
    assert "1 claim left out of this run" in shown
    assert re.search(r"<b>ibu.table-2</b>.*Left out: it is slow\.", shown)
    budget = [left for left in LEFT_OUT if "Optimus" in left.paper]
    assert budget
    assert all(left.place in shown for left in budget)


def test_the_table_says_so_too() -> None:
    claims = named(["capri.figure-4.1a"])
    text = markdown([judge(claim) for claim in claims], [(named(["ibu.table-2"])[0], "it is slow")])
    assert "## Left out of this run\n\n- **ibu.table-2**" in text
    assert "## Covered by no claim" in text
