"""`show`: what a saved file holds, checked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def saved(run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "design.json"
    assert run("ogpm", "--eps", "1", "--loss", "squared", "--out", str(path)).code == 0
    return path


def test_pieces_errors_and_certificate_are_shown(run: Any, saved: Path) -> None:
    outcome = run("show", str(saved))
    assert outcome.code == 0
    assert "1.50933" in outcome.out
    assert "0.217299" in outcome.out
    assert "squared error, worst case; checked again" in outcome.out


def test_a_claimed_certificate_is_not_called_checked(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    assert run("ogpm", "--eps", "1", "--loss", "power:1.5", "--at", "0.2", "--out", str(path)).code == 0
    outcome = run("show", str(path))
    assert "at 0.2; bounds as claimed in the file" in outcome.out
    assert "checked again" not in outcome.out


def test_json_holds_errors_for_both_losses(run: Any, saved: Path) -> None:
    document = run("show", str(saved), "--json").json
    errors = {row["loss"]: row["worst"] for row in document["errors"]}
    assert errors["squared"] == pytest.approx(0.2172985, abs=1e-7)
    assert errors["absolute"] > 0.37754


def test_the_loss_that_was_asked_about_is_among_the_errors(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    assert run("ogpm", "--eps", "1", "--loss", "power:1.5", "--out", str(path)).code == 0
    outcome = run("show", str(path))
    assert "average (uniform)" in outcome.out
    document = run("show", str(path), "--json").json
    asked = next(row for row in document["errors"] if row["loss"] == "power:1.5")
    assert asked["worst"] == pytest.approx(document["certificate"]["upper"])


def test_the_density_is_drawn(run: Any, saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "density.pdf"
    assert run("show", str(saved), "--plot", str(path)).code == 0
    assert path.read_bytes().startswith(b"%PDF")


def test_a_polar_design_is_shown_coordinate_by_coordinate(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "polar.json"
    assert run("ogpm", "--eps", "6", "--polar", "--out", str(path)).code == 0
    outcome = run("show", str(path))
    assert outcome.code == 0
    assert outcome.out.count("Pieces") == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 1}', b'{"a": 1, "a": 2}', b"NaN", b"{} trailing", b"[" * 100_000],
    ids=range(9),
)
def test_corrupt_files_exit_with_2(run: Any, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "corrupt.json"
    path.write_bytes(content)
    outcome = run("show", str(path))
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


def test_a_tampered_density_exits_with_2(run: Any, saved: Path) -> None:
    document = json.loads(saved.read_text())
    document["mechanism"]["high"] *= 1.5
    saved.write_text(json.dumps(document))
    outcome = run("show", str(saved))
    assert outcome.code == 2
    assert "certificate" in outcome.err


def test_a_missing_file_exits_with_2(run: Any, tmp_path: Path) -> None:
    outcome = run("show", str(tmp_path / "nothing.json"))
    assert outcome.code == 2
    assert "readable" in outcome.err
