"""Engines give every result exactly once, whatever dies on the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mechdesign.engine import Dask, Local, WorkFailed
from mechdesign.errors import InvalidInput

BATCHES = [[1, 2], [3], [4, 5, 6], [7], [8]]
SUMS = {0: 3, 1: 3, 2: 15, 3: 7, 4: 8}


def dying_once(marker: Path, batch: list[int]) -> int:
    """The process that meets 4 first is gone without a word."""
    if 4 in batch and not marker.exists():
        marker.touch()
        os._exit(9)
    return sum(batch)


def always_dying(batch: list[int]) -> int:
    if 7 in batch:
        os._exit(9)
    return sum(batch)


def failing(batch: list[int]) -> int:
    raise InvalidInput("batch", batch, "be another one")


def test_one_worker_is_this_process() -> None:
    assert list(Local()(sum, BATCHES)) == list(SUMS.items())


@pytest.mark.slow
def test_a_worker_that_dies_costs_no_result(tmp_path: Path) -> None:
    work = partial(dying_once, tmp_path / "died")
    assert sorted(Local(2)(work, BATCHES)) == sorted(SUMS.items())
    assert (tmp_path / "died").exists()


@pytest.mark.slow
def test_work_that_kills_its_worker_costs_no_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechdesign.engine.MOST_DEATHS", 1)
    found: dict[int, int] = {}
    with pytest.raises(WorkFailed, match=r"2 batches of work killed .* 1 times each.*\[7\]"):  # noqa: PT012
        for position, result in Local(2)(always_dying, [[7], *BATCHES]):
            found[position] = result
    assert found == {k + 1: v for k, v in SUMS.items() if k != 3}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGTERM])
def test_no_worker_outlives_its_parent(tmp_path: Path, signal_sent: signal.Signals) -> None:
    """The parent is killed while both workers are in the middle of a batch of a minute."""
    script = tmp_path / "parent.py"
    script.write_text(LONG_WORK.format(folder=str(tmp_path)))
    parent = subprocess.Popen([sys.executable, str(script)], env=os.environ | {"PYTHONPATH": str(Path.cwd())})
    try:
        workers = within(
            60, lambda: sorted(path.name for path in tmp_path.glob("[0-9]*")), lambda found: len(found) == 2
        )
        parent.send_signal(signal_sent)
        parent.wait(20)
        within(10, lambda: [pid for pid in workers if is_running(pid)], lambda left: not left)
    finally:
        parent.kill()
        parent.wait()


LONG_WORK = """
import os, pathlib, time
from mechdesign.cli.output import ending_cleanly
from mechdesign.engine import Local

def work(batch):
    pathlib.Path({folder!r}, str(os.getpid())).touch()
    time.sleep(60)

if __name__ == "__main__":
    with ending_cleanly():
        list(Local(2)(work, [1, 2, 3]))
"""


def within(seconds: float, look: Callable[[], list[str]], is_right: Callable[[list[str]], bool]) -> list[str]:
    """What is seen as soon as it is right."""
    end = time.monotonic() + seconds
    while not is_right(seen := look()):
        assert time.monotonic() < end, seen
        time.sleep(0.05)
    return seen


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_results_nobody_waits_for_end_their_workers(tmp_path: Path) -> None:
    """One batch is done at once, the other takes a minute: an interrupted caller does not wait for it."""
    started = time.monotonic()
    answers = Local(2)(time.sleep, [0, 60])
    assert next(answers) == (0, None)
    answers.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 30


@pytest.mark.slow
def test_a_script_that_starts_itself_again_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text("from mechdesign.engine import Local\nprint(list(Local(2)(sum, [[1], [2]])))\n")
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    ended = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "WorkFailed: worker processes died before any work" in ended.stderr


def test_errors_of_workers_keep_their_words() -> None:
    with pytest.raises(WorkFailed, match="batch must be another one"):
        list(Local(2)(failing, BATCHES[:1]))


def test_no_batches_start_no_process() -> None:
    assert list(Local(4)(sum, [])) == []


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2", 10**6])
def test_numbers_of_workers_that_make_no_sense_are_refused(workers: object) -> None:
    with pytest.raises(InvalidInput, match="workers"):
        Local(workers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address", ["nonsense://x", "127.0.0.1", "tcp://:8786", "tcp://x:port", "tcp://x:99999", "", 8786]
)
def test_what_is_no_address_is_refused_at_once(address: object) -> None:
    with pytest.raises(InvalidInput, match="scheduler must be an address"):
        Dask(address)  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1:9"])
def test_a_scheduler_that_is_not_there_is_named_before_any_client_is_built(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="an optional dependency")
    monkeypatch.setattr(distributed, "Client", None)
    with pytest.raises(InvalidInput, match="scheduler that answers: ConnectionRefusedError"):
        list(Dask(address)(sum, BATCHES))
    with pytest.raises(InvalidInput, match="scheduler that answers"):
        Dask(address).require_ready()


def test_something_else_at_the_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="an optional dependency")
    monkeypatch.setattr("mechdesign.engine._ANSWER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(InvalidInput, match="scheduler that answers"):
        list(Dask(f"tcp://127.0.0.1:{server.getsockname()[1]}")(sum, BATCHES))


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_said_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    """A scheduler of its own process, killed while its only worker sleeps."""
    pytest.importorskip("distributed", reason="an optional dependency")
    cluster = subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert cluster.stdout is not None
    with cluster.stdout:
        answers = Dask(cluster.stdout.readline().strip())(time.sleep, [0, 60])
        assert next(answers) == (0, None)
        cluster.kill()
        cluster.wait()
        with pytest.raises(WorkFailed, match=r"the scheduler was lost .*run again to resume"):
            next(answers)
    assert "Traceback" not in capfd.readouterr().err


CLUSTER = """
import time
from distributed import LocalCluster

cluster = LocalCluster(
    n_workers=1,
    threads_per_worker=2,
    processes=False,
    dashboard_address="127.0.0.1:0",
    protocol="tcp",
    host="127.0.0.1",
)
print(cluster.scheduler_address, flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="an optional dependency")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        dashboard_address="127.0.0.1:0",
        protocol="tcp",
        host="127.0.0.1",
    ) as cluster:
        assert sorted(Dask(cluster.scheduler_address)(sum, BATCHES)) == sorted(SUMS.items())
        with pytest.raises(WorkFailed, match="batch must be another one"):
            list(Dask(cluster.scheduler_address)(failing, BATCHES[:1]))
