"""Arrays from MATLAB files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import io

from mechdesign.data.matlab import read_matlab, yes_no
from mechdesign.errors import FileProblem, InvalidData


@pytest.mark.parametrize("compressed", [False, True])
def test_arrays_of_numbers_are_read_and_cells_are_not(tmp_path: Path, compressed: bool) -> None:
    cells = np.empty(1, dtype=object)
    cells[0] = "x"
    content = {"kos": np.array([[0], [1], [1]], dtype=np.uint8), "cell": cells, "z": np.array([1j])}
    io.savemat(tmp_path / "kosarak.mat", content, do_compression=compressed)
    found = read_matlab(tmp_path / "kosarak.mat")
    assert {name: values.tolist() for name, values in found.items()} == {"kos": [0, 1, 1]}


def test_answers_are_zero_or_one_and_the_first_other_is_named() -> None:
    assert yes_no(np.array([0.0, 1.0]), "a").tolist() == [0, 1]
    with pytest.raises(InvalidData, match=r"kosarak.mat, array kos, row 2, must be 0 or 1$"):
        yes_no(np.array([0.0, 7.0]), "kosarak.mat, array kos")


@pytest.mark.parametrize("content", [b"", b"not MATLAB", b"MATLAB 5.0" + b"\0" * 200])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(FileProblem):
        read_matlab(tmp_path / "a.mat")


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    io.savemat(tmp_path / "a.mat", {"kos": np.arange(5000) % 2})
    whole = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileProblem, match="whole MATLAB file"):
        read_matlab(tmp_path / "a.mat")


def test_a_missing_file_and_one_of_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="be readable"):
        read_matlab(tmp_path / "none.mat")
    io.savemat(tmp_path / "a.mat", {"word": "yes"})
    with pytest.raises(FileProblem, match="hold an array of real numbers"):
        read_matlab(tmp_path / "a.mat")
