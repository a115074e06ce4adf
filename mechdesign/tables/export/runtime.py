"""Runtimes as they stand: the program of a language is text that no export changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files


@cache
def runtime(path: str) -> str:
    """The text of a file of the runtimes, such as ``js/src/table.mjs``, as it stands."""
    return files("mechdesign").joinpath("runtimes", *path.split("/")).read_bytes().decode()


def runtime_hash(paths: Iterable[str]) -> str:
    """SHA-256 of what ``sha256sum`` prints of these files of the runtimes, in the order of their paths."""
    rows = (f"{hashlib.sha256(runtime(path).encode()).hexdigest()}  {path}\n" for path in sorted(set(paths)))
    return hashlib.sha256("".join(rows).encode()).hexdigest()
