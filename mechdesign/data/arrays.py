"""One NumPy array from a ``.npy`` file, of which nothing is believed that its size does not bear out."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import FileProblem

_SAVE = "save it with numpy.save"
_BROKEN = (ValueError, EOFError, SyntaxError, TokenError, TypeError, RecursionError)  # a header is parsed as Python


def read_array(path: Path, what: str, most: int | None = None) -> NDArray[Any]:
    """The array, of at most ``most`` bytes, or `FileProblem`; objects are never unpickled."""
    try:
        with path.open("rb") as stream:
            size = _size(stream, path, what)
            if most is not None and size > most:
                raise FileProblem(what, str(path), f"be at most {most // 2**20} MB")
            _require_promise_kept(stream, size)
            return np.lib.format.read_array(stream, allow_pickle=False)
    except OSError as error:
        raise FileProblem(what, str(path), f"be readable: {(error.strerror or str(error)).lower()}") from None
    except _BROKEN as error:
        if isinstance(error, FileProblem):
            raise
        raise FileProblem(what, str(path), f"be a NumPy array of numbers: {error}", _SAVE) from None


def mapped_array(path: Path, what: str) -> NDArray[Any]:
    """The array of people's data, left in its file: what is used of it is read then. No error quotes it."""
    try:
        with path.open("rb") as stream:
            _size(stream, path, what)
            np.lib.format.read_magic(stream)
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (*_BROKEN, OSError, OverflowError) as error:
        if isinstance(error, FileProblem):
            raise
        said = error.strerror.lower() if isinstance(error, OSError) and error.strerror else ""
        reason = said or "it is damaged, another format, or holds Python objects"
        raise FileProblem(what, str(path), f"be a readable .npy file: {reason}") from None


def _size(stream: BinaryIO, path: Path, what: str) -> int:
    """Where the file ends; a pipe or a device, of which nobody knows that, is refused."""
    found = os.fstat(stream.fileno())
    if not stat.S_ISREG(found.st_mode):
        raise FileProblem(
            what, str(path), "be a regular file, whose size says where it ends", "save it to a file first"
        )
    return found.st_size


def _require_promise_kept(stream: Any, size: int) -> None:
    """The header must not promise more than the file holds: memory would be asked for all of it."""
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    reader = readers.get(np.lib.format.read_magic(stream))
    if reader is None:
        raise ValueError("its format is not version 1 or 2")
    shape, _, kind = reader(stream)
    if math.prod(shape) * kind.itemsize > size:
        raise ValueError("it is shorter than its header says")
    stream.seek(0)
