"""Strict JSON in, atomic JSON out: nothing is half-written, nothing doubtful is read."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from mechdesign.errors import FileProblem

try:
    import fcntl
except ImportError:  # Windows, where nobody can remove a file that another process has open
    fcntl = None  # type: ignore[assignment]

MOST_PIPED = 2**30
"""Bytes that are read of what has no end to be seen, such as a pipe or a device."""

_LARGEST = 64 * 2**20
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_PART = ".mechdesign-part"
_SYSTEM = ("/dev", "/proc", "/sys")  # what these folders hold is not kept on any disk
_SHARED_MEMORY = "/dev/shm"
_MOST_LINKS = 40


def write_atomically(path: Path | str, content: bytes, *, overwrite: bool = False) -> Path:
    """Write a file under a temporary name, then rename it, so that readers see all of it or none."""
    with replacing(path, overwrite=overwrite) as stream:
        stream.write(content)
    return Path(path)


@contextlib.contextmanager
def replacing(path: Path | str, *, overwrite: bool = False, like: Path | None = None) -> Iterator[BinaryIO]:
    """A stream that becomes the file ``path`` if all goes well, and otherwise leaves nothing.

    Who may read it: a replaced file keeps its mode (and as root its owner); a new one has that of ``like``, a file
    whose rows it holds, but never more than any new file of this user has. Until it is done only this user may.

    A process that is killed leaves its part, which holds a lock that ends with the process: whoever writes into the
    folder next removes it.
    """
    target = Path(path)
    _require_free(target, overwrite)
    temporary = lock = None
    try:
        _sweep(target.parent)
        mode, owner = _access_of(target, like)
        handle, temporary, lock = _locked_part(target)
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if owner is not None:
            os.chown(temporary, *owner)
        Path(temporary).chmod(mode)
        _publish(temporary, target, overwrite)
    except OSError as error:
        step = remedy(error, "check the folder")
        raise FileProblem("output file", str(target), f"be writable: {_reason(error)}", step) from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def remedy(error: OSError | ValueError, otherwise: str) -> str:
    """The next step after something could not be written: where the disk is full, space."""
    return MAKE_ROOM if getattr(error, "errno", None) in _FULL else otherwise


MAKE_ROOM = "free space or choose another disk"


def _access_of(target: Path, like: Path | None) -> tuple[int, tuple[int, int] | None]:
    """The mode of the file to be, and its owner where that has to be set."""
    with contextlib.suppress(FileNotFoundError):
        old = target.stat()
        is_other = hasattr(os, "geteuid") and os.geteuid() == 0 and (old.st_uid, old.st_gid) != (0, os.getegid())
        return stat.S_IMODE(old.st_mode) & 0o777, (old.st_uid, old.st_gid) if is_other else None
    mask = os.umask(0)
    os.umask(mask)
    mode = 0o666 & ~mask
    return (mode if like is None else mode & like.stat().st_mode), None


def _locked_part(target: Path) -> tuple[int, str, int | None]:
    """A new file beside the target and its name, with a lock for as long as the last number is open."""
    while True:
        # the start of the name only: the longest name allowed must leave room for what is added
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=_PART)
        if fcntl is None:
            return handle, temporary, None
        with contextlib.suppress(OSError):  # a file system without locks: nobody sweeps there either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, temporary, os.dup(handle)
        os.close(handle)  # swept between its birth and its lock


def _sweep(folder: Path) -> None:
    """Remove the parts that killed processes of this user left: those whose lock is free."""
    if fcntl is None:
        return
    for part in folder.glob(f".*{_PART}"):
        with contextlib.suppress(OSError):
            handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                found = os.fstat(handle)
                if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    part.unlink()
            finally:
                os.close(handle)


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


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by links too, and whether they exist or not."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)


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
    if (taken and not regular) or _is_of_the_system(target):
        rule = "be a regular file, or a link to one: devices, pipes and other links are never replaced"
        raise FileProblem("output file", str(target), rule, "name a file; --json answers go to standard output")


def _is_of_the_system(target: Path) -> bool:
    """Whether a path, or a link on its way, stands among devices and processes, as ``/dev/stdout`` does."""
    for _ in range(_MOST_LINKS):
        folder = os.path.realpath(target.parent)
        roots = [root for root in _SYSTEM if folder == root or folder.startswith(f"{root}/")]
        if roots and not f"{folder}/".startswith(f"{_SHARED_MEMORY}/"):
            return True
        if not target.is_symlink():
            return False
        target = target.parent / target.readlink()
    return True


def dump_json(document: dict[str, Any]) -> str:
    """JSON with infinities as the strings "inf" and "-inf", and no NaN ever."""
    return json.dumps(_finite(document), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def dump_json_line(document: dict[str, Any]) -> str:
    """The same on one line, for streams that hold other lines too."""
    return json.dumps(_finite(document), allow_nan=False, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def read_bytes(path: Path | str, what: str = "file", most: int | None = None) -> bytes:
    """All of a file of reasonable size, or `FileProblem`."""
    limit = _LARGEST if most is None else most
    with opened(path, what, limit) as stream:
        return stream.read(limit + 1)  # not by its size: a device or a pipe has none


@contextlib.contextmanager
def opened(path: Path | str, what: str = "file", most: int | None = None) -> Iterator[BinaryIO]:
    """The one door for reading: a stream that is `FileProblem` where the file cannot be read, or goes on too long.

    It ends after ``most`` bytes; without a limit of its own after `MOST_PIPED`, if it is no regular file.
    """
    target = Path(path)
    try:
        raw = target.open("rb", buffering=0)
    except OSError as error:
        raise FileProblem(what, str(target), f"be readable: {_reason(error)}") from None
    except ValueError as error:  # a null character in the name
        raise FileProblem(what, str(target), f"be readable: {error}") from None
    with raw, io.BufferedReader(_Limited(raw, _too_long(raw, what, target, most))) as stream:
        try:
            yield cast(BinaryIO, stream)
        except OSError as error:
            raise FileProblem(what, str(target), f"be readable: {_reason(error)}") from None


def _too_long(raw: io.FileIO, what: str, target: Path, most: int | None) -> tuple[float, FileProblem]:
    """After how many bytes a file is refused, and how."""
    if most is not None:
        size = f"{most // 2**20} MB" if most >= 2**20 else f"{most} bytes"
        return most, FileProblem(what, str(target), f"be at most {size}")
    rule = f"be a regular file, or hold at most {MOST_PIPED / 2**30:.3g} GB"
    is_regular = stat.S_ISREG(os.fstat(raw.fileno()).st_mode)
    return math.inf if is_regular else MOST_PIPED, FileProblem(what, str(target), rule, "save it to a file first")


class _Limited(io.RawIOBase):
    """A file of which more than the limit is an error."""

    def __init__(self, raw: io.FileIO, limit: tuple[float, FileProblem]) -> None:
        self._raw, self._read = raw, 0
        self._most, self._problem = limit

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._raw.seekable()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._read = self._raw.seek(offset, whence)
        return self._read

    def readinto(self, buffer: Any) -> int | None:
        count = self._raw.readinto(buffer)
        self._read += count or 0
        if self._read > self._most:
            raise self._problem
        return count


def require_there(path: Path | str, what: str = "file") -> None:
    """`FileProblem` where nothing has this name: what `read_bytes` would say, before anything else is asked."""
    try:
        Path(path).stat()
    except OSError as error:
        raise FileProblem(what, str(path), f"exist and be readable: {_reason(error)}") from None
    except ValueError as error:  # a null character in the name
        raise FileProblem(what, str(path), f"exist and be readable: {error}") from None


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
        raise ValueError("a number is larger than any double")
    return number


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
