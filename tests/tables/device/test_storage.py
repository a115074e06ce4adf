"""A state in a file survives a kill at every step, is there to stay, and has one user at a time."""

from __future__ import annotations

import itertools
import os
import signal
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from mechdesign.errors import FileProblem, StateRefused
from mechdesign.tables.device import Device, FileStorage, Memory, known, storage as module
from tests.oracles.device_reports import PERIOD, response

DEVICE = Device(response(1.0, 3), None, values=2, reports=50)
STEPS = ("open", "write", "fsync", "replace", "close")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "state"
    with FileStorage(target) as storage:
        Memory(DEVICE, storage).create(PERIOD, DEVICE.reports)
    return target


def asked(path: Path) -> float | str:
    with FileStorage(path) as storage:
        return Memory(DEVICE, storage).report(1, PERIOD)


def child(path: Path, before_step: Callable[[str], None]) -> tuple[int, bytes]:
    """A process that asks, and what it said before it ended; every call of the system is announced."""
    receive, send = os.pipe()
    process = forked()
    if process == 0:
        for name in STEPS:
            real = getattr(os, name)

            def announced(*arguments: object, _real: Callable[..., object] = real, _name: str = name) -> object:
                before_step(_name)
                return _real(*arguments)

            setattr(module.os, name, announced)
        said = str(asked(path)).encode()
        _write(send, said)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as stream:
        said = stream.read()
    return os.waitpid(process, 0)[1], said


_write = os.write


def forked() -> int:
    """A copy of this process, which uses no other thread of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def test_a_child_of_fork_has_no_state(path: Path) -> None:
    with FileStorage(path) as storage:
        process = forked()
        if process == 0:
            try:
                storage.load()
            except StateRefused as refused:
                os._exit(7 if refused.reason == "busy" else 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
        Memory(DEVICE, storage).report(1, PERIOD)


def test_a_kill_at_any_step_leaves_one_state_or_the_next_and_a_report_only_with_the_next(path: Path) -> None:
    before = path.read_bytes()
    outcomes = []
    for last in itertools.count(1):
        path.write_bytes(before)
        steps = itertools.count(1)

        def kill(_: str, steps: itertools.count[int] = steps, last: int = last) -> None:
            if next(steps) == last:
                os.kill(os.getpid(), signal.SIGKILL)

        status, said = child(path, kill)
        after = path.read_bytes()
        serial = known(DEVICE, after).serial
        assert serial in (1, 2)
        assert not said or serial == 2
        outcomes.append((serial, bool(said)))
        if status == 0:
            break
    assert outcomes[0] == (1, False)
    assert outcomes[-1] == (2, True)
    assert (2, False) in outcomes  # killed after the state was stored: one report is lost, and counted
    assert len(outcomes) >= 8


def test_a_step_that_fails_makes_no_report(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("open", "write", "fsync", "replace"):
        before = path.read_bytes()

        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        with FileStorage(path) as storage, monkeypatch.context() as patched:
            patched.setattr(module.os, name, full)
            with pytest.raises(FileProblem, match="no space left"):
                Memory(DEVICE, storage).report(1, PERIOD)
        assert path.read_bytes() == before
        assert not path.with_name("state.new").exists()


def test_a_second_use_at_the_same_time_is_refused(path: Path) -> None:
    with FileStorage(path) as storage:
        with pytest.raises(StateRefused) as refused, FileStorage(path):
            pass
        assert refused.value.reason == "busy"
        with pytest.raises(StateRefused), storage:
            pass
        Memory(DEVICE, storage).report(1, PERIOD)
    assert asked(path) in (0, 1, 2)


def test_a_storage_that_is_not_entered_is_refused(path: Path) -> None:
    storage = FileStorage(path)
    for use in (storage.load, lambda: storage.store(b"")):
        with pytest.raises(StateRefused):
            use()


def test_another_process_is_refused_and_a_killed_one_gives_its_lock_back(path: Path) -> None:
    program = (
        "import sys; from mechdesign.tables.device.storage import FileStorage\n"
        "with FileStorage(sys.argv[1]): print('locked', flush=True); sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"locked\n"
    with pytest.raises(StateRefused) as refused:
        asked(path)
    assert refused.value.reason == "busy"
    other.kill()
    other.communicate()
    assert asked(path) in (0, 1, 2)


def test_no_report_is_lost_or_made_twice_by_many_processes(path: Path) -> None:
    """Who is refused asks again: as many reports are counted as were made."""
    children = []
    for _ in range(6):
        process = forked()
        if process == 0:
            made = 0
            while made < 5:
                try:
                    asked(path)
                    made += 1
                except StateRefused as refused:
                    if refused.reason != "busy":
                        os._exit(1)
            os._exit(0)
        children.append(process)
    assert [os.waitpid(process, 0)[1] for process in children] == [0] * 6
    assert known(DEVICE, path.read_bytes()).reports == 30


def test_only_its_user_may_read_a_state(path: Path) -> None:
    asked(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="no such file"), FileStorage(tmp_path / "nowhere" / "state"):
        pass


def test_apples_disks_are_asked_for_more_than_fsync(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``F_FULLFSYNC`` for the file and its folder, and ``fsync`` where a disk cannot do that."""
    fcntl = pytest.importorskip("fcntl", reason="there is none on Windows")
    asked_for: list[object] = []
    refused = False

    def full(handle: int, what: object) -> None:
        asked_for.append(what)
        if refused:
            raise OSError

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", full)
    monkeypatch.setattr(module.os, "fsync", lambda handle: asked_for.append("fsync"))
    with FileStorage(path) as storage:
        monkeypatch.setattr(module.sys, "platform", "darwin")
        Memory(DEVICE, storage).report(1, PERIOD)
        assert asked_for == [51, 51]
        refused = True
        Memory(DEVICE, storage).report(1, PERIOD)
        assert asked_for == [51, 51, 51, "fsync", 51, "fsync"]
