"""Strict JSON in, atomic JSON out: nothing is half-written, nothing doubtful is read."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from mechdesign.errors import FileProblem

_LARGEST = 64 * 2**20
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def write_atomically(path: Path | str, content: bytes, *, overwrite: bool = False) -> Path:
    """Write a file under a temporary name, then rename it, so that readers see all of it or none."""
    with replacing(path, overwrite=overwrite) as stream:
        stream.write(content)
    return Path(path)


@contextlib.contextmanager
def replacing(path: Path | str, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A stream that becomes the file ``path`` if all goes well, and otherwise leaves nothing."""
    target = Path(path)
    _require_free(target, overwrite)
    temporary = None
    try:
        # the start of the name only: the longest name allowed must leave room for what is added
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        _publish(temporary, target, overwrite)
    except OSError as error:
        step = "free space or choose another disk" if error.errno in _FULL else "check the folder"
        raise FileProblem("output file", str(target), f"be writable: {_reason(error)}", step) from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _publish(temporary: str, target: Path, overwrite: bool) -> None:
    if overwrite:
        Path(temporary).replace(target)
        return
    try:
        os.link(temporary, target)  # unlike a rename, fails if another process was faster
    except FileExistsError:
        raise FileProblem("output file", str(target), "not exist yet", "choose another name or pass --force") from None
    except OSError:
        Path(temporary).replace(target)  # a file system without hard links


def require_writable(path: Path | str, *, overwrite: bool = False) -> None:
    """Refuse early, before any solving, what `write_atomically` would refuse at the end."""
    target = Path(path)
    _require_free(target, overwrite)
    if not target.parent.is_dir():
        raise FileProblem("output file", str(target), "lie in an existing folder", f"create {target.parent} first")
    if not os.access(target.parent, os.W_OK):
        raise FileProblem("output file", str(target), "lie in a writable folder")


def _require_free(target: Path, overwrite: bool) -> None:
    try:
        taken, regular, folder = os.path.lexists(target), target.is_file(), target.is_dir()
    except OSError as error:
        raise FileProblem("output file", str(target), f"be writable: {_reason(error)}") from None
    if "\0" in str(target):
        raise FileProblem("output file", str(target), "have a name without null characters")
    if folder:
        raise FileProblem("output file", str(target), "be a file, not a folder")
    if taken and not overwrite:
        raise FileProblem("output file", str(target), "not exist yet", "choose another name or pass --force")
    if taken and not regular and not target.is_symlink():
        raise FileProblem("output file", str(target), "be a regular file", "devices and pipes are never replaced")


def dump_json(document: dict[str, Any]) -> str:
    """JSON with infinities as the strings "inf" and "-inf", and no NaN ever."""
    return json.dumps(_finite(document), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def read_bytes(path: Path | str) -> bytes:
    """All of a file of reasonable size, or `FileProblem`."""
    target = Path(path)
    try:
        with target.open("rb") as stream:
            content = stream.read(_LARGEST + 1)  # not by its size: a device or a pipe has none
    except OSError as error:
        raise FileProblem("file", str(target), f"be readable: {_reason(error)}") from None
    except ValueError as error:  # a null character in the name
        raise FileProblem("file", str(target), f"be readable: {error}") from None
    if len(content) > _LARGEST:
        raise FileProblem("file", str(target), f"be at most {_LARGEST // 2**20} MB")
    return content


def read_json(path: Path | str) -> dict[str, Any]:
    """A JSON object without duplicate keys, NaN, infinities or trailing data, or `FileProblem`."""
    return parse_json(read_bytes(path), str(path))


def parse_json(content: bytes, source: str = "bytes") -> dict[str, Any]:
    """The same from bytes that were read already."""
    try:
        document = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_reject_constant,
            parse_float=_finite_float,
        )
    except (ValueError, RecursionError) as error:
        raise FileProblem("file", source, f"be valid JSON: {error}", "was it cut short, or edited by hand?") from None
    if not isinstance(document, dict):
        raise FileProblem("file", source, "hold one JSON object")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} appears twice")
    return result


def _reject_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number JSON allows")


def _finite_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is larger than any double")
    return number


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
