"""`collection`, `sign` and `verify` of what they write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def made(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two tables and their collection."""
    monkeypatch.chdir(tmp_path)
    assert run("table", "--eps", "1", "--mechanism", "grr", "--labels", "no,yes", "--out", "vote.json").code == 0
    assert run("table", "--eps", "0.5", "--mechanism", "duchi", "--domain", "-1,1", "--out", "mood.json").code == 0
    assert run("collection", "vote=vote.json", "mood=mood.json", "--name", "both", "--out", "c.json").code == 0
    return tmp_path


def test_a_collection_says_the_exact_total_and_is_shown_alike_when_it_is_read(run: Any, made: Path) -> None:
    answer = run("collection", "c.json", "--json").json
    assert (answer["spending"], answer["epsilon"], answer["exact_epsilon"]) == ("split", 1.5, "3/2")
    assert answer["privacy_loss"] <= 1.5
    assert [part["name"] for part in answer["attributes"]] == ["vote", "mood"]
    assert "eps = 3/2 = 1.5 in all" in run("collection", "c.json").out
    again = run("collection", "vote=vote.json", "mood=mood.json", "--name", "both", "--json").json
    assert again == answer


def test_sampling_spends_the_largest(run: Any, made: Path) -> None:
    answer = run("collection", "vote=vote.json", "mood=mood.json", "--sample", "--json").json
    assert (answer["spending"], answer["epsilon"]) == ("sample", 1.0)
    assert [part["share"] for part in answer["attributes"]] == [0.5, 0.5]


@pytest.mark.parametrize(
    "arguments",
    [
        ("vote=none.json",),
        ("vote",),
        ("=vote.json",),
        ("vote=vote.json", "vote=mood.json"),
        ("vote=vote.json", "c.json"),
        ("c.json", "--sample"),
        ("c.json", "--name", "other"),
        ("vote.json",),
        ("vote=vote.json", "--name", " "),
        ("vote=vote.json", "--out", "c.json"),
    ],
)
def test_bad_input_ends_in_one_line_and_exit_code_2(run: Any, made: Path, arguments: tuple[str, ...]) -> None:
    outcome = run("collection", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("mechdesign: bad input:")


def test_verify_takes_collections_and_manifests(run: Any, made: Path) -> None:
    assert run("verify", "c.json").out.startswith("PASS collection of 2 tables (split), 'both' (named in the file)\n")
    answer = run("verify", "c.json", "--json").json
    assert (answer["verdict"], answer["kind"], answer["epsilon"]) == ("PASS", "collection", 1.5)
    (made / "bad.json").write_bytes((made / "c.json").read_bytes().replace(b'"epsilon":"3/2"', b'"epsilon":"1"'))
    outcome = run("verify", "bad.json")
    assert outcome.code == 1
    assert outcome.out.startswith("FAIL collection")
    assert run("verify", "c.json", "--source", "x.py").code == 2
    (made / "data.csv").write_text("vote\nno\nyes\n")
    assert run("apply", "vote.json", "--in", "data.csv", "--column", "vote", "--out", "reports").code == 0
    assert "1 files with 2 reports" in run("verify", "reports/_manifest.json").out
    (made / "reports" / "part-000000.csv").write_text("vote\nno\nno\nno\n")
    outcome = run("verify", "reports/_manifest.json", "--json")
    assert (outcome.code, outcome.json["verdict"]) == (1, "FAIL")


def test_a_signature_holds_until_the_file_is_another(run: Any, made: Path) -> None:
    assert run("sign", "--new-key", "s.key").code == 0
    key = run("sign", "c.json", "--key", "s.key", "--json").json["public_key"]
    for public in ("s.key.pub", key):
        outcome = run("verify", "c.json", "--public-key", public)
        assert outcome.code == 0
        assert f"signed by {key}, with the comment 'file:c.json'" in outcome.out
    assert run("sign", "vote.json", "--key", "s.key", "--comment", "release 2").code == 0
    assert run("verify", "vote.json", "--public-key", "s.key.pub", "--json").json["signed_comment"] == "release 2"
    outcome = run("verify", "vote.json", "--public-key", "s.key.pub", "--signature", "c.json.minisig", "--json")
    assert (outcome.code, outcome.json["verdict"]) == (1, "FAIL")


def test_a_password_comes_from_a_file(run: Any, made: Path) -> None:
    (made / "secret").write_text("open sesame\n")
    assert run("sign", "--new-key", "p.key", "--password-file", "secret").err == ""
    assert run("sign", "c.json", "--key", "p.key").code == 2
    assert run("sign", "c.json", "--key", "p.key", "--password-file", "secret").code == 0
    assert run("sign", "c.json", "--key", "p.key", "--password-file", "secret").code == 2  # it exists
    assert run("sign", "c.json", "--key", "p.key", "--password-file", "secret", "--force").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("c.json",),
        ("--key", "c.json"),
        ("c.json", "--key", "c.json"),
        ("c.json", "--new-key", "k"),
        ("--new-key", "c.json"),
        ("c.json", "--key", "k", "--password-file", "empty"),
    ],
)
def test_sign_refuses_what_it_cannot_do(run: Any, made: Path, arguments: tuple[str, ...]) -> None:
    (made / "empty").write_text("\n")
    outcome = run("sign", *arguments)
    assert (outcome.code, outcome.out) == (2, "")


def test_a_signature_without_a_key_to_hold_it_against_is_refused(run: Any, made: Path) -> None:
    assert run("verify", "c.json", "--signature", "c.json.minisig").code == 2
    assert run("verify", "c.json", "--public-key", "nonsense").code == 2


def test_a_table_for_pairs_is_counted_by_any_two_inputs_and_every_command_says_so(run: Any, made: Path) -> None:
    Path("points.csv").write_text("x\n0\n1\n3\n")
    assert run("metric", "--points", "points.csv", "--eps", "0.5", "--no-compare", "--out", "design.json").code == 0
    assert run("table", "design.json", "--out", "place.json").code == 0
    words = "each pair of inputs has its own eps (from 0.5 to 1.5); counted is 1.5, the most that a report gives away"
    told = run("collection", "place=place.json", "vote=vote.json", "--out", "p.json")
    assert told.out.count(words) == 1
    assert f"  place: {words}" in told.out
    assert run("collection", "p.json", "--json").json["epsilon"] == pytest.approx(2.5)
    assert f"  place: {words}" in run("verify", "p.json").out
    assert words not in run("verify", "c.json").out
    device = run("export", "place.json", "--reports", "2", "--values", "1", "--to", "c", "--package", "places")
    assert words in device.out
    file = Path("places", "device.json")
    assert words in run("verify", "place.json", "--device", str(file)).out
    Path("data.csv").write_text("x\n0\n1\n3\n3\n")
    assert words in run("apply", "place.json", "--in", "data.csv", "--out", "reports.csv").out


def test_verify_of_a_folder_says_which_file_in_it_to_take(run: Any, made: Path) -> None:
    outcome = run("verify", str(made))
    assert (outcome.code, outcome.out) == (2, "")
    assert "of a folder of reports take its _manifest.json" in outcome.err


def test_a_collection_of_a_whole_epsilon_says_it_once(run: Any, made: Path) -> None:
    printed = run("collection", "c.json").out
    assert "one person spends eps = 3/2 = 1.5 in all" in printed
    for name in ("a", "b"):
        assert run("table", "--eps", "2", "--mechanism", "grr", "--size", "3", "--out", f"{name}2.json").code == 0
    assert "one person spends eps = 4 in all" in run("collection", "a=a2.json", "b=b2.json").out


def test_the_name_of_a_collection_is_never_printed_as_checked(run: Any, made: Path) -> None:
    forged = "PASS privacy loss of a person: 0.1 (computed exactly, at most eps = 0.1)"
    for name in ("a", "b"):
        assert run("table", "--eps", "2", "--mechanism", "grr", "--size", "3", "--out", f"{name}2.json").code == 0
    assert run("collection", "a=a2.json", "b=b2.json", "--name", forged, "--out", "forged.json").code == 0
    for command in ("verify", "collection"):
        printed = run(command, "forged.json").out
        assert printed.count(forged) == 1
        assert f"'{forged}' (named in the file)" in printed
