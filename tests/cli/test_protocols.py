"""`protocols`: the table and its JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mechdesign.studies.frequencies.protocols import PROTOCOLS, protocol
from mechdesign.studies.frequencies.survey import Survey


def test_json_lists_every_protocol_with_its_numbers(run: Any) -> None:
    said = run("protocols", "--eps", "1", "--size", "100", "--json").json
    assert (said["epsilon"], said["size"], said["limit"]) == (1.0, 100, 2.0)
    rows = {row["key"]: row for row in said["protocols"]}
    assert list(rows) == [line.key for line in PROTOCOLS]
    for key, row in rows.items():
        law = protocol(key, 1.0, 100)
        assert (row["p"], row["q"], row["report_bits"]) == (law.p, law.q, law.report_bits)
        assert row["variance"] == law.variance(0.01, 100_000).item()
        assert row["variance_absent"] == law.variance(0.0, 100_000).item()
        assert row["privacy_loss"] == pytest.approx(1.0, rel=1e-12)
        assert row["limit_loss"] == (2.0 if row["longitudinal"] else None)
    assert rows["olh"]["parameters"] == {"g": 4}
    assert rows["ss"]["parameters"] == {"d": 27}


def test_the_table_names_every_protocol(run: Any) -> None:
    outcome = run("protocols", "--eps", "1", "--size", "100", "--users", "1000")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert [line.split()[0] for line in lines[2 : 2 + len(PROTOCOLS)]] == [line.key.upper() for line in PROTOCOLS]
    assert "1000 users" in lines[0]
    assert max(map(len, lines)) <= 120


def test_what_many_reports_lose_is_said_by_relation(run: Any) -> None:
    """The numbers of the finding: L-GRR, k = 3, eps 1, limit 2, after 1 000 rounds; without a memory 1 000 eps."""
    arguments = ("protocols", "--eps", "1", "--size", "3", "--limit", "2", "--rounds", "1000")
    rows = {row["key"]: row for row in run(*arguments, "--json").json["protocols"]}
    assert rows["l-grr"]["losses_together"] == {
        "same_value": pytest.approx(2.0), "one_value_replaced": pytest.approx(2.0),
        "one_change": pytest.approx(747.97, abs=0.01),
    }  # fmt: skip
    assert rows["oue"]["losses_together"] == dict.fromkeys(rows["l-grr"]["losses_together"], pytest.approx(1000))
    text = run(*arguments).out
    assert "L-GRR                           2                     2       747.973" in text
    assert "no limit holds" in text
    assert "in all" not in text


def test_an_infinite_loss_is_said_as_such(run: Any) -> None:
    """At limit = eps every report repeats the first one, until the value changes."""
    arguments = ("protocols", "--eps", "1", "--size", "3", "--limit", "1", "--rounds", "2")
    assert "infinite" in run(*arguments).out
    rows = {row["key"]: row for row in run(*arguments, "--json").json["protocols"]}
    assert rows["l-grr"]["losses_together"]["one_change"] == "inf"


def test_longitudinal_protocols_that_cannot_be_are_named_with_the_reason(run: Any) -> None:
    arguments = ("protocols", "--eps", "1", "--size", "10", "--limit", "1.2")
    text = " ".join(run(*arguments).out.split())
    assert "L-SOUE is impossible here: eps must be at most 0.794822" in text
    rows = {row["key"]: row for row in run(*arguments, "--json").json["protocols"]}
    assert "at most 0.794822" in rows["l-soue"]["impossible"]
    assert "p" in rows["l-sue"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--eps", "0", "--size", "10"), "eps must"),
        (("--eps", "nan", "--size", "10"), "eps must"),
        (("--eps", "1", "--size", "1"), "size must"),
        (("--eps", "1", "--size", "10", "--users", "0"), "n must"),
        (("--eps", "1", "--size", "10", "--limit", "0.5"), "limit must"),
        (("--eps", "1", "--size", "10", "--rounds", "0"), "rounds must"),
        (("--eps", "1", "--size", "10", "--rounds", "1000000000000"), "rounds must"),
        (("--eps", "1"), "--size"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(run: Any, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("protocols", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""


def test_one_protocol_is_written_as_a_survey(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "survey.json"
    options = ("--domain", "a,b,c", "--protocol", "l-olh", "--limit", "3", "--out", str(path))
    outcome = run("protocols", "--eps", "1", *options)
    assert outcome.code == 0
    assert [line.split()[0] for line in outcome.out.splitlines()[2:3]] == ["L-OLH"]
    assert Survey.read(path) == Survey("l-olh", 1.0, ("a", "b", "c"), parameters={"limit": 3.0})
    again = ("protocols", "--eps", "1", "--size", "3", "-p", "grr", "--out", str(path))
    assert run(*again).code == 2
    assert run(*again, "--force").code == 0
    assert Survey.read(path).items == ("0", "1", "2")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--eps", "1", "--size", "3", "--domain", "a,b,c"), "one of them"),
        (("--eps", "1", "--size", "3", "--out", "survey.json"), "protocol must be given"),
        (("--eps", "1", "--size", "3", "-p", "xyz"), "protocol must be one of"),
        (("--eps", "1", "--domain", "a,a"), "once"),
        (("--eps", "3", "--size", "3", "-p", "l-soue", "--limit", "3", "--out", "survey.json"), "limit 3"),
    ],
    ids=str,
)
def test_surveys_that_cannot_be_are_refused(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("protocols", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert not list(tmp_path.iterdir())
