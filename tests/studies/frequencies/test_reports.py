"""Reports in files are counted as the protocol counts them, and doubtful ones are named by their row."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.data.headers import TakenName
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies import reports
from mechdesign.studies.frequencies.protocols import PROTOCOLS, protocol
from mechdesign.studies.frequencies.reports import HASH_FIRST, SEED_FIRST, count_reports

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
    found = count_reports(path, law, LABELS)
    assert found.n == VALUES.size
    assert found.support == pytest.approx(law.support(sent), rel=1e-12)


@pytest.mark.parametrize("name", [entry.key for entry in PROTOCOLS])
def test_a_saved_array_counts_like_itself(tmp_path: Path, name: str) -> None:
    law, sent = made(name)
    np.save(tmp_path / "reports.npy", sent)
    found = count_reports(tmp_path / "reports.npy", law, LABELS)
    assert found.n == VALUES.size
    assert found.support == pytest.approx(law.support(sent))


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float64, np.float32])
def test_saved_zeros_and_ones_are_bits(tmp_path: Path, kind: type) -> None:
    law, sent = made("oue")
    np.save(tmp_path / "reports.npy", sent.astype(kind))
    assert count_reports(tmp_path / "reports.npy", law, LABELS).support.tolist() == law.support(sent).tolist()
    np.save(tmp_path / "reports.npy", sent.astype(kind) + 1)
    with pytest.raises(InvalidInput, match="bits"):
        count_reports(tmp_path / "reports.npy", law, LABELS)


def test_bits_may_stand_in_one_word(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("0110\n1000\n0100\n")
    found = count_reports(path, protocol("sue", 1.0, 4), LABELS)
    assert (found.support.tolist(), found.n) == ([1, 2, 1, 0], 3)


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
        ("olh", "12,99\n", "row 1 .*below g = 3"),
        ("olh", "-1,0\n", "whole numbers"),
        ("olh", f"{2**64},0\n", "whole numbers"),
        ("she", "0.1,0.2,nan,1\n", "finite"),
        ("she", "0.1,0.2,x,1\n", "numbers"),
        ("hr", "999\n", "row 1 .*0 to 7"),
        ("hr", f"{2**64 - 1}\n", "row 1 .*0 to 7"),
        ("olh", "1,0\n", "which column is y.*--pairs"),
        ("olh", "77,0\n0,77\n", "in one order"),
        ("she", "0.1,0.2,inf,1\n", "column 3.*finite"),
        ("oue", "0,1.0,0,0.5\n", "column 4.*bits"),
        ("grr", 'ape\n"bee\n', "CSV"),
        ("grr", "ape\n\nbee\n", "row 2 .*empty lines"),
    ],
)
def test_doubtful_reports_are_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / "reports.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=words):
        count_reports(path, protocol(name, 1.0, 4), LABELS)


@pytest.mark.parametrize(("name", "text"), [("grr", "item\nape\nbee\n"), ("olh", "seed,hash\n12,0\n3,1\n")])
def test_names_above_reports_are_taken_and_told(tmp_path: Path, name: str, text: str) -> None:
    named, plain = tmp_path / "named.csv", tmp_path / "plain.csv"
    named.write_text(text)
    plain.write_text(text.partition("\n")[2])
    law = protocol(name, 1.0, 4)
    with pytest.warns(TakenName):
        found = count_reports(named, law, LABELS, order=SEED_FIRST)
    assert found.n == 2
    assert np.array_equal(found.support, count_reports(plain, law, LABELS, order=SEED_FIRST).support)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.npy").write_text("no array")
    np.save(tmp_path / "empty.npy", np.empty(0, dtype=np.int64))
    for name in ("none.csv", "none.npy", "bad.npy", "empty.npy"):
        with pytest.raises(FileProblem):
            count_reports(tmp_path / name, protocol("grr", 1.0, 4), LABELS)


def test_a_domain_of_another_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="4 items"):
        count_reports(tmp_path / "x.csv", protocol("grr", 1.0, 4), LABELS[:3])


# -- as other programs save them ---------------------------------------------------------------------------------------


def pairs_of(law: Any) -> np.ndarray:
    return np.asarray(law.report(np.arange(4).repeat(50), np.random.default_rng(3)))


@pytest.mark.parametrize("kind", [np.uint64, np.int64])
@pytest.mark.parametrize("order", [1, -1])
def test_pairs_of_either_order_and_sign_count_alike(tmp_path: Path, kind: type, order: int) -> None:
    """Seeds of 64 bits as int64 are negative half the time: the bits are the same."""
    law = protocol("olh", 1.0, 4)
    sent = pairs_of(law)
    np.save(tmp_path / "reports.npy", sent.astype(kind)[:, ::order])
    found = count_reports(tmp_path / "reports.npy", law, LABELS)
    assert found.support.tolist() == law.support(sent).tolist()
    assert found.hashes is not None
    assert found.hashes.tolist() == np.bincount(sent[:, 1].astype(int), minlength=law.hashes).tolist()


def test_pairs_that_do_not_tell_their_order_are_asked_for_it(tmp_path: Path) -> None:
    law = protocol("olh", 1.0, 4)
    path = tmp_path / "reports.csv"
    path.write_text("2,0\n1,2\n")
    with pytest.raises(FileProblem, match="--pairs"):
        count_reports(path, law, LABELS)
    sent = np.array([[2, 0], [1, 2]], dtype=np.uint64)
    for order, pairs in ((SEED_FIRST, sent), (HASH_FIRST, sent[:, ::-1])):
        assert count_reports(path, law, LABELS, order=order).support.tolist() == law.support(pairs).tolist()
    with pytest.raises(InvalidInput, match="order of pairs"):
        count_reports(path, law, LABELS, order="y")


def test_an_order_that_is_wrong_is_refused_by_row(tmp_path: Path) -> None:
    np.save(tmp_path / "reports.npy", pairs_of(protocol("olh", 1.0, 4)))
    with pytest.raises(FileProblem, match=r"row 1 of reports\.npy, column 1.*below g = 3"):
        count_reports(tmp_path / "reports.npy", protocol("olh", 1.0, 4), LABELS, order=HASH_FIRST)


def test_seeds_as_floats_have_lost_digits(tmp_path: Path) -> None:
    np.save(tmp_path / "reports.npy", pairs_of(protocol("olh", 1.0, 4)).astype(np.float64))
    with pytest.raises(FileProblem, match="lost digits"):
        count_reports(tmp_path / "reports.npy", protocol("olh", 1.0, 4), LABELS)


def test_seeds_that_repeat_are_counted(tmp_path: Path) -> None:
    """Reports of one user in several rounds are not reports of several users; nor are 50 hash functions for 200."""
    law = protocol("olh", 1.0, 4)
    sent = pairs_of(law)
    np.save(tmp_path / "reports.npy", np.concatenate([sent, sent]))
    assert count_reports(tmp_path / "reports.npy", law, LABELS).repeats == 200


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh", "she", "hr"])
def test_a_parquet_file_counts_like_the_array(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(reports, "_CHUNK", 8)
    law, sent = made(name)
    rows = sent.reshape(len(sent), -1)
    labelled = name in ("grr", "ss")
    columns = [[LABELS[v] for v in column] if labelled else column for column in rows.T]
    parquet.write_table(pa.table({f"c{place}": column for place, column in enumerate(columns)}), tmp_path / "r.parquet")
    lists = [[LABELS[v] for v in row] if labelled else row.tolist() for row in rows]
    kind = pa.list_(pa.uint64()) if name == "olh" else None
    parquet.write_table(pa.table({"report": pa.array(lists, kind)}), tmp_path / "lists.parquet")
    for file in ("r.parquet", "lists.parquet"):
        found = count_reports(tmp_path / file, law, LABELS)
        assert found.n == VALUES.size
        assert found.support == pytest.approx(law.support(sent))


def test_columns_called_as_the_items_are_taken_by_name(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    law, sent = made("oue")
    columns = {label: sent[:, place].astype(float) for place, label in enumerate(LABELS)}
    parquet.write_table(pa.table(dict(reversed(columns.items()))), tmp_path / "reports.parquet")
    assert count_reports(tmp_path / "reports.parquet", law, LABELS).support.tolist() == law.support(sent).tolist()


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        ("grr", {"a": ["ape", None]}, "row 2 .*hold a value"),
        ("grr", {"a": ["ape", "owl-Smith"]}, "row 2 .*items of the domain"),
        ("grr", {"a": [True, False]}, "items of the domain"),
        ("oue", {"a": [1], "b": [0]}, "have 4 columns"),
        ("oue", {"a": [1.0], "b": [0.0], "c": [0.5], "d": [0.0]}, "row 1 .*column 3.*bits"),
        ("oue", {"a": [[1, 0, 0]]}, "hold 4 values"),
        ("olh", {"a": [1.5], "b": [2.0]}, "lost digits"),
    ],
)
def test_doubtful_columns_are_refused(tmp_path: Path, name: str, columns: dict[str, Any], words: str) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table(columns), tmp_path / "reports.parquet")
    with pytest.raises(InvalidInput, match=words) as caught:
        count_reports(tmp_path / "reports.parquet", protocol(name, 1.0, 4), LABELS)
    assert "Smith" not in str(caught.value)


def test_other_files_called_npy_are_refused(tmp_path: Path) -> None:
    """An archive of arrays once ended in a traceback, or was taken for an array."""
    path = tmp_path / "fake.npy"
    with path.open("wb") as stream:
        np.savez(stream, a=np.zeros(3))
    with zipfile.ZipFile(tmp_path / "cut.npy", "w") as archive:
        archive.writestr("a", "b")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:20])
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "short.npy", np.zeros(1000))
    (tmp_path / "short.npy").write_bytes((tmp_path / "short.npy").read_bytes()[:500])
    np.save(tmp_path / "one.npy", np.float64(1))
    for name in ("fake", "cut", "objects", "short", "one"):
        with pytest.raises(FileProblem):
            count_reports(tmp_path / f"{name}.npy", protocol("grr", 1.0, 4), LABELS)


@pytest.mark.parametrize(
    ("name", "reports_", "words"),
    [
        ("grr", np.array([0, 1, 44441]), "row 3 .*0 to 3"),
        ("grr", np.array([0.0, 1.0]), "items, as numbers"),
        ("ss", np.array([[1], [44441]]), "row 2 .*0 to 3"),
        ("oue", np.array([[0, 1, 0, 44441]]), "row 1 .*column 4.*bits"),
        ("oue", np.zeros((2, 3)), "4 numbers a report, as OUE has .got '3 a report'"),
        ("she", np.array([[0.0, 1.0, np.nan, 0.0]]), "row 1 .*column 3.*finite"),
        ("hr", np.array([44441]), "row 1"),
        ("olh", np.array([[44441, 44442]]), "row 1"),
    ],
)
def test_what_people_reported_is_never_shown(tmp_path: Path, name: str, reports_: np.ndarray, words: str) -> None:
    np.save(tmp_path / "reports.npy", reports_)
    law = protocol(name, 1.0, 4, **({"subset": 1} if name == "ss" else {}))
    with pytest.raises(InvalidInput, match=words) as caught:
        count_reports(tmp_path / "reports.npy", law, LABELS)
    assert "4444" not in str(caught.value)
    assert "4444" not in repr(caught.value.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [("grr", "ape\nSmith\n"), ("oue", "0,0,1,Smith\n"), ("olh", "1,Smith\n"), ("she", "1,2,3,Smith\n")],
)
def test_what_people_wrote_is_never_shown(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "reports.csv"
    path.write_text(text)
    with pytest.raises(FileProblem, match="row") as caught:
        count_reports(path, protocol(name, 1.0, 4), LABELS)
    assert "Smith" not in str(caught.value)


def test_sets_hold_distinct_items(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("ape,bee\nbee,bee\n")
    with pytest.raises(FileProblem, match=r"row 2 .*distinct"):
        count_reports(path, protocol("ss", 0.1, 4), LABELS)


def test_positions_stand_for_items_where_clients_send_them(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("0\n3\n3\n")
    law = protocol("grr", 1.0, 4)
    assert count_reports(path, law, LABELS, positions=True).support.tolist() == [1, 0, 0, 2]
    with pytest.raises(FileProblem, match="items of the domain"):
        count_reports(path, law, LABELS)
