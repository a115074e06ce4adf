"""Loss matrices from CSV and NumPy files; nothing doubtful is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mechdesign.data.matrices import read_matrix
from mechdesign.errors import FileProblem

LOSSES = [[0.0, 1.5], [2.0, 0.0], [3.0, 4.0]]
PLAIN = "0,1.5\n2,0\n3,4\n"


def _written(tmp_path: Path, text: str | bytes, name: str = "losses.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


GOOD = {
    "numbers only": (PLAIN, None, None),
    "a header": ("low,high\n" + PLAIN, None, ("low", "high")),
    "labels": ("a,0,1.5\nb,2,0\nc,3,4\n", ("a", "b", "c"), None),
    "both": ("input,low,high\na,0,1.5\nb,2,0\nc,3,4\n", ("a", "b", "c"), ("low", "high")),
    "numeric labels": (",10,20\n1,0,1.5\n2,2,0\n3,3,4\n", ("1", "2", "3"), ("10", "20")),
    "quoted labels": ('input,"low, or so",high\n"a",0,1.5\nb,2,0\nc,3,4', ("a", "b", "c"), ("low, or so", "high")),
    "ranges as labels": (
        "age,18-24,25 to 34\n18-24,0,1.5\n25-34,2,0\n> 34,3,4\n",
        ("18-24", "25-34", "> 34"),
        ("18-24", "25 to 34"),
    ),
    "spaces, blank lines, a mark": ("\ufeff 0 , 1.5\r\n\r\n2,0\r\n3,4\r\n\r\n", None, None),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_a_csv_file_says_is_read(name: str, tmp_path: Path) -> None:
    text, inputs, outputs = GOOD[name]
    table = read_matrix(_written(tmp_path, text))
    np.testing.assert_array_equal(table.values, LOSSES)
    assert (table.input_labels, table.output_labels) == (inputs, outputs)


def test_a_single_column_may_have_a_header(tmp_path: Path) -> None:
    table = read_matrix(_written(tmp_path, "only\n1\n2\n"))
    np.testing.assert_array_equal(table.values, [[1.0], [2.0]])
    assert table.output_labels == ("only",)


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "uint8"])
def test_numpy_files_are_read(kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "losses.npy", np.array([[0, 1], [2, 0]], dtype=kind))
    table = read_matrix(str(tmp_path / "losses.npy"))
    np.testing.assert_array_equal(table.values, [[0.0, 1.0], [2.0, 0.0]])
    assert table.values.dtype == np.float64


BAD = {
    "empty": ("", "empty"),
    "blank": ("\n\n", "empty"),
    "only a header": ("a,b\n", "have an input"),
    "ragged": ("0,1\n2\n", "line 2 has 1"),
    "negative": ("0,1\n-2,0\n", "line 2, cell 1 has '-2'"),
    "NaN": ("0,1\nnan,0\n", "line 2, cell 1 has 'nan'"),
    "infinite": ("0,inf\n1,0\n", "line 1, cell 2 has 'inf'"),
    "a missing cell": ("0,1\n2,\n", "line 2, cell 2 has ''"),
    "a word among numbers": ("0,1,2\n0,x,1\n", "line 2, cell 2 has 'x'"),
    "a word in the first line": ("0,1,x\n0,1,2\n", "only labels or only numbers"),
    "a word in the first column": ("0,1\nx,2\n", "only labels or only numbers"),
    "labels twice": ("input,a,a\nu,0,1\nv,1,0\n", "'a' is there twice"),
    "inputs twice": ("u,0,1\nu,1,0\n", "'u' is there twice"),
    "other separators": ("0;1\n1;0\n", "separate its cells by commas: every line has semicolons"),
    "tabs in every line": ("a\tb\n0\t1\n1\t0\n", "separate its cells by commas: every line has tabs"),
    "a letter for a nought": ("0,O\n1,0\n", "line 1, cell 2 has 'O'"),
    "a missing cell of two columns": ("0,\n1,0\n", "line 1, cell 2 has ''"),
    "words off the diagonal": ("0,a\nb,0\n", "line 1, cell 2 has 'a'"),
    "decimal commas and semicolons": ("0,5;1\n1;0,5\n", "every line has semicolons"),
    "semicolons in every cell": ("0;a,5;1\n1;0,5\n", "every line has semicolons"),
    "quoted decimal commas": ('"0,5","1,5"\n"1,5",0\n', "line 1, cell 2 has '1,5'"),
    "tabs": ("a\tb,c\n0,1\n", "line 1, cell 1 has"),
    "a number above labels": ("0,a,b\nu,0,1\nv,1,0\n", "line 1, cell 2 has 'a'"),
    "an empty output label": ("input,low,\na,0,1\nb,1,0\n", "line 1, cell 3 has ''"),
    "an empty input label": ("a,0,1\n,1,0\n", "line 2, cell 1 has ''"),
    "an empty label under a corner": (",low,high\na,0,1\n,1,0\n", "line 3, cell 1 has ''"),
    "a word in the only line": ("O,1\n", "line 1, cell 1 has 'O'"),
    "a missing first cell": (",1\n1,0\n", "line 1, cell 1 is empty"),
    "not text": (b"\xff\xfe\x00", "UTF-8"),
    "an open quote": ('"a,0,1\n', "CSV"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_doubtful_csv_file_is_refused(name: str, tmp_path: Path) -> None:
    text, reason = BAD[name]
    with pytest.raises(FileProblem, match=reason):
        read_matrix(_written(tmp_path, text))


ARRAYS = {
    "one axis": np.zeros(3),
    "three axes": np.zeros((1, 1, 1)),
    "no entries": np.zeros((0, 2)),
    "text": np.array([["a"]]),
    "truth values": np.array([[True]]),
    "complex": np.array([[1j]]),
    "NaN": np.array([[np.nan]]),
    "negative": np.array([[-1.0]]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_doubtful_array_is_refused(name: str, tmp_path: Path) -> None:
    np.save(tmp_path / "losses.npy", ARRAYS[name])
    with pytest.raises(FileProblem):
        read_matrix(tmp_path / "losses.npy")


@pytest.mark.parametrize("shape", [b"(2, 3000000000), }", b"(2, 3000000000),  ", b"(2, 3               "])
def test_a_header_that_lies_is_refused(shape: bytes, tmp_path: Path) -> None:
    np.save(tmp_path / "losses.npy", np.zeros((2, 3)))
    content = (tmp_path / "losses.npy").read_bytes().replace(b"(2, 3), }         ", shape)
    assert shape in content
    with pytest.raises(FileProblem):
        read_matrix(_written(tmp_path, content, "losses.npy"))


def test_pickled_arrays_are_never_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "losses.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(FileProblem):
        read_matrix(tmp_path / "losses.npy")


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"PK\x03\x04", b"not an array"])
def test_broken_array_files_are_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileProblem):
        read_matrix(_written(tmp_path, content, "losses.npy"))


@pytest.mark.parametrize("name", ["missing.csv", "losses.xlsx", "losses"])
def test_missing_files_and_other_kinds_are_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="loss matrix file"):
        read_matrix(tmp_path / name)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileProblem, match="readable"):
        read_matrix(tmp_path / "folder.csv")
