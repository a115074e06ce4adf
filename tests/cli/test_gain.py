"""`gain`: the table, the JSON and the picture, and every refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SMALL = (
    "gain",
    "-e",
    "1,4",
    "--bins",
    "8,16",
    "--users",
    "500",
    "-p",
    "grr,oue",
    "--laws",
    "poisson,uniform",
    "-r",
    "1",
)
LIMIT = (*SMALL, "--method", "ibu")


def test_the_table_has_laws_protocols_and_settings(run: Any) -> None:
    out = run(*LIMIT).out
    assert "gain of ibu over norm-mul in mse (%), averaged over 4 settings of eps, bins and users, 1 runs each" in out
    lines = [line.split("  ")[0] for line in out.splitlines()]
    assert [line for line in lines if line in ("poisson", "uniform", "average")] == [
        "poisson",
        "uniform",
        "average",
    ] * 2
    assert {"eps = 1", "eps = 4", "bins = 8", "bins = 16", "users = 500"} <= set(lines)


def test_averages_are_those_of_the_cells(run: Any) -> None:
    document = run(*LIMIT, "--json").json
    (poisson,) = (one for one in document["averages"] if one["value"] == "poisson")
    gains = [cell["mse"] for cell in document["cells"] if cell["law"] == "poisson"]
    assert len(gains) == 8
    assert poisson["mse"] == pytest.approx(sum(gains) / 8)


def test_the_published_steps_are_the_default(run: Any) -> None:
    one = ("gain", "-e", "1", "--bins", "4", "--users", "200", "-p", "grr", "--laws", "uniform", "-r", "1", "--json")
    assert run(*one).json["plan"]["method"] == "ibu-10000"
    assert run(*one).json["cells"] == run(*one, "--method", "ibu-10000").json["cells"]


def test_the_picture_is_drawn(run: Any, tmp_path: Path) -> None:
    assert run(*LIMIT, "--plot", str(tmp_path / "gain.png")).code == 0
    assert (tmp_path / "gain.png").stat().st_size > 20_000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-e", "0"), "eps"),
        (("--bins", "1"), "bins must be"),
        (("--bins", "many"), "be whole numbers K,K,..."),
        (("--users", "1"), "users must be"),
        (("-p", "she"), "support that is a count"),
        (("-p", "olhh"), "did you mean olh?"),
        (("--laws", "normal"), "law must be one of gaussian"),
        (("--method", "raw"), "method must be one of ibu-10000, ibu"),
        (("-r", "0"), "runs"),
        (("--seed", "-1"), "seed"),
    ],
)
def test_bad_input_exits_with_2(run: Any, options: tuple[str, ...], words: str) -> None:
    outcome = run("gain", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
