"""A state in a file: replaced at once, there to stay, and used by one process at a time."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import TracebackType

from mechdesign.errors import FileProblem, StateRefused
from mechdesign.values import files

_MOST_BYTES = 1 << 20


class FileStorage:
    """The file ``path``, locked through ``path.lock`` from entering to leaving a ``with``.

    *Guarantee.* ``store`` writes ``path.new``, has the disk confirm it, renames it and has the disk confirm the folder:
    at every moment the file holds one state or the other. A process that is killed gives its lock back. A second one,
    a second use in the same process, and a child of ``fork`` are `StateRefused` (``busy``).
    """

    __slots__ = ("_lock", "_owner", "path")

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock: int | None = None
        self._owner: int | None = None

    def __enter__(self) -> FileStorage:
        if self._lock is not None:
            raise StateRefused("busy")
        try:
            handle = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except (OSError, ValueError) as error:
            raise self._problem(error) from None
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            raise StateRefused("busy") from None
        self._lock, self._owner = handle, os.getpid()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def load(self) -> bytes | None:
        self._require_lock()
        if not os.path.lexists(self.path):
            return None
        return files.read_bytes(self.path, "state", _MOST_BYTES)

    def store(self, content: bytes) -> None:
        self._require_lock()
        new = f"{self.path}.new"
        try:
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                left = memoryview(content)
                while left:
                    left = left[os.write(handle, left) :]
                _confirm(handle)
            finally:
                os.close(handle)
            os.replace(new, self.path)  # noqa: PTH105  # as the other steps are
            _confirm_folder(self.path.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(new)  # noqa: PTH108
            raise self._problem(error) from None

    def _require_lock(self) -> None:
        if self._lock is None or self._owner != os.getpid():  # a child of fork() shares the lock
            raise StateRefused("busy")

    def _problem(self, error: OSError | ValueError) -> FileProblem:
        reason = str(getattr(error, "strerror", None) or error).lower()
        step = files.remedy(error, "check the folder")
        return FileProblem("state", str(self.path), f"be stored before a report is made: {reason}", step)


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _confirm(handle: int) -> None:
        os.fsync(handle)

    def _confirm_folder(folder: Path) -> None:
        """Folders cannot be opened there; a rename is in the journal of the file system."""
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _confirm(handle: int) -> None:
        """Until the disk has it. Apple's fsync waits for less, and its fcntl fails where a disk cannot."""
        if sys.platform == "darwin":
            with contextlib.suppress(OSError):
                fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
                return
        os.fsync(handle)

    def _confirm_folder(folder: Path) -> None:
        handle = os.open(folder, os.O_RDONLY)
        try:
            _confirm(handle)
        finally:
            os.close(handle)
