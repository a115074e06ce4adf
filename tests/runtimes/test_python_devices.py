"""The Python runtime's devices: every rule is needed, only what was stored is reported, and kills lose nothing."""

from __future__ import annotations

import ast
import fcntl
import itertools
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import fixed_stream
from mechdesign.tables.device import Device, InMemory, known
from mechdesign.tables.device.vectors import Step, create, vectors
from mechdesign.tables.export.shared_vectors import FOLDER
from mechdesign.tables.vectors import digits
from tests.oracles.device_reports import LABELS, PERIOD, response
from tests.runtimes.test_python import whole

RUNTIME = FOLDER.parent / "python"
DEVICES = {
    "labelled": Device(response(2.0, 3, LABELS), response(1.0, 3, LABELS), values=2, reports=5),
    "labelled once": Device(response(1.0, 3, LABELS), None, values=2, reports=5),
    "fresh": Device(response(1.0, 3), None, values=0, reports=3),
    "items": Device(protocol_table("ss", 1.0, ("cat", "dog", "no $pet", "other")), None, values=2, reports=5),
}
CALLS = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,close,openat,ftruncate"
APP = """import sys
sys.path.insert(0, sys.argv[1])
import mechdesign_runtime as runtime
from mechdesign_runtime import device as devices

device = devices.Device.read(*(open(path).read() for path in sys.argv[3:4]), *map(
    runtime.Table.read, (open(path).read() for path in sys.argv[4:])))
try:
    with devices.FileStorage(sys.argv[2]) as storage:
        print(device.report_code(storage, 1, %d))
except devices.StateRefused as refused:
    print(refused.reason)
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """Makes one report of the device from the state in the folder."""
    device = DEVICES["labelled"]
    assert device.again is not None
    (tmp_path / "app.py").write_text(APP % PERIOD)
    paths = [tmp_path / name for name in ("device.json", "once.json", "again.json")]
    for path, content in zip(paths, (device.content, device.table.content, device.again.content), strict=True):
        path.write_bytes(content)
    return [sys.executable, "app.py", str(RUNTIME), str(tmp_path / "state"), *map(str, paths)]


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return (done.stdout + done.stderr).strip()


def test_a_state_that_is_used_or_cannot_be_stored_makes_no_report(command: list[str], tmp_path: Path) -> None:
    state, lock = tmp_path / "state", tmp_path / "state.lock"
    content = create(DEVICES["labelled"], None, PERIOD, 5).after
    assert content is not None
    state.write_bytes(content)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run(command, tmp_path) == "busy"
    (tmp_path / "state.new").mkdir()
    assert run(command, tmp_path) not in ("0.0", "1.0", "2.0")
    assert state.read_bytes() == content


@pytest.mark.slow
def test_a_kill_at_any_call_leaves_one_state_or_the_next_and_a_report_only_with_the_next(
    command: list[str], tmp_path: Path
) -> None:
    if shutil.which("strace") is None or "+++ exited" not in run(["strace", "true"], tmp_path):
        pytest.skip("strace is not installed, or may not trace")
    state, device = tmp_path / "state", DEVICES["labelled"]
    first = create(device, None, PERIOD, 5).after
    assert first is not None
    watched = [part for path in (state, tmp_path / "state.new", tmp_path) for part in ("-P", str(path))]
    seen = set()
    for last in itertools.count(1):
        state.write_bytes(first)
        kill = ["strace", "-f", "-o", "/dev/null", *watched, "-e", f"inject={CALLS}:signal=KILL:when={last}"]
        done = subprocess.run([*kill, *command], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        serial = known(device, state.read_bytes()).serial
        assert not done.stdout or serial == 2
        seen.add((serial, bool(done.stdout)))
        if done.returncode == 0:
            break
    assert seen >= {(1, False), (2, True)}


def is_reproduced(module: types.ModuleType, device: Device, steps: list[Step]) -> bool:
    """Whether a runtime does and stores what every step says."""
    tables = [table for table in (device.table, device.again) if table is not None]
    kept = module.Device(dict(device.document), *(module.Table(dict(table.document)) for table in tables))
    for step in steps:
        storage, stream = InMemory(step.before or None), fixed_stream(step.stream)
        try:
            if step.x is None:
                kept.create(storage, step.period, step.allowance, step.least)
                said = "done"
            else:
                said = digits(kept.report_code(storage, step.x, step.period, step.least, stream._read))
        except module.StateRefused as refused:
            said = refused.reason
        except ValueError:
            said = "input"
        except Exception:
            return False
        if (said, storage.content or b"") != (step.outcome, step.after or step.before or b""):
            return False
    return True


def test_vectors_notice_every_rule_that_is_left_out() -> None:
    """Those of some device: what is about items is never asked of a device on numbers."""
    assert set.intersection(*(unnoticed(device) for device in DEVICES.values())) == set()


def unnoticed(device: Device) -> set[tuple[int, bool]]:
    """The lines of rules of the machine that can always hold, or never, and no vector of the device says otherwise."""
    tree, steps = ast.parse(whole()), vectors(device)

    def runs() -> bool:
        module = types.ModuleType("runtime")
        exec(compile(tree, "runtime", "exec"), module.__dict__)
        return is_reproduced(module, device, steps)

    assert runs()
    machine = {"create", "report_code", "known", "written", "may_hold"}
    (kept,) = (part for part in tree.body if isinstance(part, ast.ClassDef) and part.name == "Device")
    parts = [part for part in kept.body if isinstance(part, ast.FunctionDef) and part.name in machine]
    rules: list[Any] = [rule for part in parts for rule in ast.walk(part) if isinstance(rule, ast.If)]
    assert len(rules) > 12
    found = set()
    for rule in rules:
        for instead in (False, True):
            before, rule.test = rule.test, ast.copy_location(ast.Constant(instead), rule.test)
            if runs():
                found.add((rule.lineno, instead))
            rule.test = before
    return found
