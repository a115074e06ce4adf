"""Engines give every result exactly once, whatever dies on the way."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from mechdesign.collect.engine import Dask, Local, WorkFailed
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
def test_work_that_kills_every_worker_ends_after_all_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechdesign.collect.engine.MOST_DEATHS", 1)
    found: dict[int, int] = {}
    with pytest.raises(WorkFailed, match="died 1 times"):  # noqa: PT012 - what came before the error counts
        for position, result in Local(2)(always_dying, BATCHES):
            found[position] = result
    assert found == {k: v for k, v in SUMS.items() if k != 3}


def test_errors_of_workers_keep_their_words() -> None:
    with pytest.raises(WorkFailed, match="batch must be another one"):
        list(Local(2)(failing, BATCHES[:1]))


def test_no_batches_start_no_process() -> None:
    assert list(Local(4)(sum, [])) == []


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2", 10**6])
def test_numbers_of_workers_that_make_no_sense_are_refused(workers: object) -> None:
    with pytest.raises(InvalidInput, match="workers"):
        Local(workers)  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "127.0.0.1"])
def test_a_scheduler_that_is_not_there_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="an optional dependency")
    monkeypatch.setattr("mechdesign.collect.engine._ANSWER_SECONDS", 0.5)
    with pytest.raises(InvalidInput, match="scheduler"):
        list(Dask(address)(sum, BATCHES))


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="an optional dependency")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, protocol="tcp", host="127.0.0.1"
    ) as cluster:
        assert sorted(Dask(cluster.scheduler_address)(sum, BATCHES)) == sorted(SUMS.items())
        with pytest.raises(WorkFailed, match="batch must be another one"):
            list(Dask(cluster.scheduler_address)(failing, BATCHES[:1]))
