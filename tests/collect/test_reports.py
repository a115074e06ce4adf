"""Reports in files are counted as the protocol counts them, and doubtful ones are named by their row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.collect import reports
from mechdesign.collect.protocols import PROTOCOLS, protocol
from mechdesign.collect.reports import read_support
from mechdesign.data.headers import TakenName
from mechdesign.errors import FileProblem, InvalidInput

LABELS = ("ape", "bee", "cat", "dog")
VALUES = np.array([0, 1, 1, 3, 2, 1, 0] * 5)


def made(name: str) -> tuple[Any, np.ndarray]:
    law = protocol(name, 1.0, 4)
    return law, law.report(VALUES, np.random.default_rng(1))


def written(folder: Path, sent: np.ndarray, labels: tuple[str, ...] | None) -> Path:
    path = folder / "reports.csv"
    rows = sent.reshape(len(sent), -1).tolist()
    with path.open("w") as stream:
        for row in rows:
            fields = (
                [labels[v] for v in row] if labels else [repr(int(v) if sent.dtype.kind == "b" else v) for v in row]
            )
            stream.write(",".join(fields) + "\n")
    return path


@pytest.mark.parametrize("name", [entry.key for entry in PROTOCOLS])
def test_a_file_counts_like_the_array(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "_CHUNK", 8)
    law, sent = made(name)
    path = written(tmp_path, sent, LABELS if name in ("grr", "l-grr", "ss") else None)
    support, n = read_support(path, law, LABELS)
    assert n == VALUES.size
    assert support == pytest.approx(law.support(sent), rel=1e-12)


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "she"])
def test_a_saved_array_counts_like_itself(tmp_path: Path, name: str) -> None:
    law, sent = made(name)
    np.save(tmp_path / "reports.npy", sent)
    support, n = read_support(tmp_path / "reports.npy", law, LABELS)
    assert n == VALUES.size
    assert support == pytest.approx(law.support(sent))


@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_saved_zeros_and_ones_are_bits(tmp_path: Path, kind: type) -> None:
    law, sent = made("oue")
    np.save(tmp_path / "reports.npy", sent.astype(kind))
    assert read_support(tmp_path / "reports.npy", law, LABELS)[0].tolist() == law.support(sent).tolist()
    np.save(tmp_path / "reports.npy", sent.astype(kind) + 1)
    with pytest.raises(InvalidInput, match="bits"):
        read_support(tmp_path / "reports.npy", law, LABELS)


def test_bits_may_stand_in_one_word(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("0110\n1000\n0100\n")
    support, n = read_support(path, protocol("sue", 1.0, 4), LABELS)
    assert (support.tolist(), n) == ([1, 2, 1, 0], 3)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("grr", "", "at least one report"),
        ("grr", "ape\nowl\n", "row 2.*items of the domain"),
        ("grr", "Ape\nbee\n", "row 1 .*items of the domain"),
        ("grr", "ape,bee\n", "have 1 field"),
        ("oue", "0,1,0\n", "have 4 fields"),
        ("oue", "0,1,0,2\n", "bits"),
        ("olh", "12,x\n", "whole numbers"),
        ("olh", "12\n", "have 2 fields"),
        ("olh", "12,99\n", "rows 1 to 1"),
        ("olh", "-1,0\n", "whole numbers"),
        ("olh", f"{2**64},0\n", "whole numbers"),
        ("she", "0.1,0.2,nan,1\n", "finite"),
        ("she", "0.1,0.2,x,1\n", "numbers"),
        ("hr", "999\n", "rows 1 to 1"),
        ("grr", 'ape\n"bee\n', "CSV"),
        ("grr", "ape\n\nbee\n", "row 2 .*empty lines"),
    ],
)
def test_doubtful_reports_are_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / "reports.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=words):
        read_support(path, protocol(name, 1.0, 4), LABELS)


@pytest.mark.parametrize(("name", "text"), [("grr", "item\nape\nbee\n"), ("olh", "seed,hash\n12,0\n3,1\n")])
def test_names_above_reports_are_taken_and_told(tmp_path: Path, name: str, text: str) -> None:
    named, plain = tmp_path / "named.csv", tmp_path / "plain.csv"
    named.write_text(text)
    plain.write_text(text.partition("\n")[2])
    law = protocol(name, 1.0, 4)
    with pytest.warns(TakenName):
        found = read_support(named, law, LABELS)
    assert found[1] == 2
    assert np.array_equal(found[0], read_support(plain, law, LABELS)[0])


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.npy").write_text("no array")
    np.save(tmp_path / "empty.npy", np.empty(0, dtype=np.int64))
    for name in ("none.csv", "none.npy", "bad.npy", "empty.npy"):
        with pytest.raises(FileProblem):
            read_support(tmp_path / name, protocol("grr", 1.0, 4), LABELS)


def test_a_domain_of_another_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="4 items"):
        read_support(tmp_path / "x.csv", protocol("grr", 1.0, 4), LABELS[:3])
