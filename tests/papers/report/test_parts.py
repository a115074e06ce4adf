"""A part is believed if it is whole, of this claim and of this software; anything else is computed anew."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mechdesign.papers.claims import CLAIMS, Claim, Item, judge
from mechdesign.papers.report import parts
from mechdesign.papers.report.parts import Part, keep, kept

HALF = Claim("a.half", "a paper", "page 1", "half", (Item("share", "0.5"), Item("end", "inf")), lambda: [0.5, math.inf])


def stored(folder: Path) -> Path:
    (path,) = folder.glob("*.json")
    return path


def test_what_is_kept_comes_back_with_infinities_and_its_picture(tmp_path: Path) -> None:
    part = Part(judge(HALF), b"\x89PNG picture")
    keep(part, tmp_path)
    assert kept(HALF, tmp_path) == part


def test_every_quick_claim_is_the_same_after_a_file(tmp_path: Path) -> None:
    for claim in (claim for claim in CLAIMS if claim.key.startswith(("jrr", "ogpm.example", "tracs.same"))):
        part = Part(judge(claim), None)
        keep(part, tmp_path)
        again = kept(claim, tmp_path)
        assert again is not None
        assert (again.outcome.ours, again.outcome.mended) == (part.outcome.ours, part.outcome.mended)
        assert again.outcome.in_words == part.outcome.in_words


def test_a_part_holds_no_verdict(tmp_path: Path) -> None:
    keep(Part(judge(HALF), None), tmp_path)
    assert "verdict" not in stored(tmp_path).read_text()
    assert "holds" not in stored(tmp_path).read_text()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))

    return edit


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        emptied,
        lambda path: path.write_bytes(b"\xff\x00 not text"),
        edited(lambda said: said.update(ours=[[0.4, 0.4], ["inf", "inf"]])),
        edited(lambda said: said.update(ours=[[0.5, 0.5]])),
        edited(lambda said: said.update(ours="0.5")),
        edited(lambda said: said.update(seconds=0.0)),
        edited(lambda said: said.update(picture="AAAA")),
        edited(lambda said: said.update(picture="not base 64")),
        edited(lambda said: said.update(more=1)),
        edited(lambda said: said.pop("checksum")),
    ],
)
def test_a_damaged_part_is_none(damage: Callable[[Path], object], tmp_path: Path) -> None:
    keep(Part(judge(HALF), b"picture"), tmp_path)
    damage(stored(tmp_path))
    assert kept(HALF, tmp_path) is None


def test_bounds_that_cross_are_refused_whatever_the_checksum_says(tmp_path: Path) -> None:
    crossed = replace(judge(HALF), ours=((0.6, 0.4), (0.0, 1.0)))
    keep(Part(crossed, None), tmp_path)
    assert kept(HALF, tmp_path) is None


def test_a_claim_with_other_printed_numbers_has_no_part_yet(tmp_path: Path) -> None:
    keep(Part(judge(HALF), None), tmp_path)
    assert kept(replace(HALF, items=(Item("share", "0.50"), HALF.items[1])), tmp_path) is None


def test_a_part_of_another_claim_under_this_name_is_none(tmp_path: Path) -> None:
    other = replace(HALF, key="a.quarter")
    keep(Part(judge(other), None), tmp_path)
    stored(tmp_path).rename(tmp_path / f"{HALF.key}-{parts.key_of(HALF)[:16]}.json")
    assert kept(HALF, tmp_path) is None


def test_other_software_has_no_part_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(Part(judge(HALF), None), tmp_path)
    monkeypatch.setattr(parts, "_software", lambda: "another release")
    assert kept(HALF, tmp_path) is None
