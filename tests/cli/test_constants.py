"""`constants`: the document and its JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def test_the_document_is_written_whole_and_never_over_another(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "CERTIFIED.md"
    arguments = ("constants", "--criteria", "worst", "--eps", "1", "--gap", "1e-4", "--out", str(path))
    assert run(*arguments).code == 0
    text = path.read_text()
    assert "| squared | - | 1 | 0.196611" in text
    assert "`minimax --eps 1 --loss squared --gap 0.0001`" in text
    assert run(*arguments).code == 2
    assert run(*arguments, "--force").code == 0


def test_json_lists_intervals_and_their_digits(run: Any) -> None:
    rows = run("constants", "--criteria", "worst", "--eps", "1", "--gap", "1e-4", "--json").json["constants"]
    assert [row["loss"] for row in rows] == ["absolute", "squared"]
    assert all(row["lower"] <= row["upper"] and str(row["upper"]).startswith(row["digits"][:5]) for row in rows)


def test_the_command_of_a_row_is_accepted(run: Any) -> None:
    row = run("constants", "--criteria", "average", "--eps", "2", "--json").json["constants"][1]
    outcome = run(*row["command"].split(), "--json")
    assert outcome.code == 0
    assert outcome.json["certificate"]["upper"] == pytest.approx(row["upper"], rel=1e-5)


def test_a_row_after_others_has_the_digits_of_its_command(run: Any) -> None:
    arguments = ("constants", "--criteria", "worst", "--eps", "1,1.2345678", "--gap", "1e-4", "--json")
    row = run(*arguments).json["constants"][1]
    certificate = run(*row["command"].split(), "--json").json["certificate"]
    assert (certificate["lower"], certificate["upper"]) == (row["lower"], row["upper"])


def test_a_row_that_takes_too_long_exits_with_3(run: Any) -> None:
    outcome = run("constants", "--criteria", "worst", "--eps", "4", "--gap", "1e-6", "--time-limit", "0.05")
    assert outcome.code == 3
    assert "the optimum lies in [" in outcome.err
    assert outcome.out == ""


def test_with_best_so_far_such_a_row_has_the_interval_found_and_says_how(run: Any) -> None:
    arguments = ("--criteria", "worst", "--eps", "6", "--gap", "1e-6", "--time-limit", "0.3", "--best-so-far")
    rows = run("constants", *arguments, "--json").json["constants"]
    assert [row["loss"] for row in rows] == ["absolute", "squared"]
    assert all(row["command"].endswith("--best-so-far") and 0 < row["lower"] < row["upper"] for row in rows)


def test_rows_of_the_two_output_theorem_show_digits_enough_to_tell_their_ends_apart(run: Any) -> None:
    """``c / (1 + c)^2`` at eps = 1 with 17 digits, from an independent computation."""
    outcome = run("constants", "--criteria", "worst", "--eps", "1", "--gap", "1e-4")
    row = next(line for line in outcome.out.splitlines() if line.startswith("| squared"))
    lower, upper, digits = (cell.strip() for cell in row.split("|")[4:7])
    assert lower < "0.19661193324148185" < upper
    assert digits == "0.196611933241481"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--criteria", "median"), "worst case, average, unbiased"),
        (("--eps", "2,1"), "increase"),
        (("--gap", "0"), "gap must"),
        (("--out", "no/such/folder/x.md"), "existing folder"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(run: Any, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("constants", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""
