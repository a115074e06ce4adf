"""`gallery`: the list, one file with its numbers and verdict, its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mechdesign.papers.gallery import CHAPTERS, ENTRIES, Entry, Outcome
from mechdesign.papers.gallery.agreement import near


def test_the_list_has_chapters_names_and_titles(run: Any) -> None:
    shown = run("gallery").out
    assert all(chapter in shown for chapter, _ in CHAPTERS)
    assert all(one.name in shown and one.title in shown for one in ENTRIES)
    document = run("gallery", "--json").json
    assert [one["name"] for one in document["entries"]] == [one.name for one in ENTRIES]


def test_the_list_computes_nothing(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Entry, "exhibit", None)
    assert run("gallery").code == 0


def test_one_file_is_statement_source_numbers_and_verdict(run: Any) -> None:
    outcome = run("gallery", "ldp3_power")
    assert outcome.code == 0
    lines = [line.split() for line in outcome.out.splitlines()]
    assert "The Power post-processing of published code expects noise 64 times too small." in outcome.out
    assert "From: Wang et al. 2020" in outcome.out
    assert ["ours", "73653.88754"] in lines
    assert ["reference", "73653.88754"] in lines
    assert ["printed", "1150.84"] in lines
    assert "ours and the reference agree (ours is within 1e-09 of the reference)" in outcome.out
    assert "``" not in outcome.out


def test_json_has_both_numbers_and_how_they_are_compared(run: Any) -> None:
    document = run("gallery", "free_reports", "--json").json
    assert document["ours"] < document["reference"]
    assert (document["relation"], document["tolerance"], document["agrees"]) == ("at most", 0.0, True)
    assert document["printed"] is None


def test_a_picture_is_written_once(run: Any, tmp_path: Path) -> None:
    picture = tmp_path / "two.svg"
    outcome = run("gallery", "two_points", "--plot", str(picture), "--title", "Mine")
    assert outcome.code == 0
    assert "saved" in outcome.out
    assert b"<svg" in picture.read_bytes()
    assert run("gallery", "two_points", "--plot", str(picture)).code == 2


def test_numbers_that_do_not_agree_end_with_exit_code_1(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Entry, "judge", lambda _: Outcome(1.0, 2.0, near(1e-3), None))
    outcome = run("gallery", "two_points")
    assert outcome.code == 1
    assert "DO NOT AGREE" in outcome.out
    assert "the two numbers of gallery file two_points do not agree" in outcome.err
    told = run("gallery", "two_points", "--json")
    assert (told.code, told.json["agrees"]) == (1, False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("two_point",), "nearest: two_points"),
        (("--plot", "a.png"), "come with the name of a file"),
        (("two_points", "--plot", "a.txt"), ".png"),
        (("two_points", "--title", "Mine"), "--plot"),
    ],
)
def test_bad_input_names_the_next_step(run: Any, options: tuple[str, ...], said: str) -> None:
    outcome = run("gallery", *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.out == ""
