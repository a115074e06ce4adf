"""Where the batches of an experiment run: this process, local processes, or a Dask cluster.

An engine takes a function and batches and gives ``(position, result)`` in the order they finish. Results depend on the
batches alone: a worker that dies costs time, because its batches run again, and no number.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from itertools import islice
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from textwrap import shorten
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from mechdesign.errors import InvalidInput, MechDesignError, unusable_extra
from mechdesign.values.declare import frozen, whole

Batch = TypeVar("Batch")
Result = TypeVar("Result")

MOST_DEATHS = 3
_ANSWER_SECONDS = 10.0
_CLOSE_SECONDS = 2.0
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "ucxx")


class WorkFailed(MechDesignError):
    """Work that a worker could not do; what other batches gave is kept by who asked."""


class Engine(Protocol):
    """Runs a function on every batch."""

    def __call__(self, work: Callable[[Batch], Result], batches: Sequence[Batch]) -> Iterator[tuple[int, Result]]: ...


@frozen
class Local:
    """This process if ``workers`` is 1, else that many processes of this machine."""

    workers: int = whole("workers", 1, 1024, default=1)

    def __call__(self, work: Callable[[Batch], Result], batches: Sequence[Batch]) -> Iterator[tuple[int, Result]]:
        if self.workers == 1:
            for position, batch in enumerate(batches):
                yield position, work(batch)
            return
        waiting, suspects = dict(enumerate(batches)), dict[int, Batch]()
        while waiting:
            in_flight = yield from _until_a_death(work, waiting, self.workers, 2 * self.workers)
            # each of them may be what killed the process: they run again alone, when all others are done
            suspects.update({position: waiting.pop(position) for position in in_flight})
        yield from _one_by_one(work, suspects)


def _one_by_one(work: Callable[[Batch], Result], waiting: dict[int, Batch]) -> Iterator[tuple[int, Result]]:
    """One batch at a time, so that a death has one batch to blame; who dies too often is left out, and named."""
    deaths, lost = Counter[int](), list[Batch]()
    while waiting:
        for position in (yield from _until_a_death(work, waiting, 1, 1)):
            batch = waiting.pop(position)
            deaths[position] += 1
            if deaths[position] < MOST_DEATHS:
                waiting[position] = batch  # behind the others
            else:
                lost.append(batch)
    if lost:
        first = shorten(repr(lost[0]), 200)
        many = f"{len(lost)} batch{'es' * (len(lost) > 1)} of work killed the process {MOST_DEATHS} times each, alone"
        raise WorkFailed(f"{many} (out of memory?), all others are done; the first one: {first}")


def _until_a_death(
    work: Callable[[Batch], Result], waiting: dict[int, Batch], workers: int, most_in_flight: int
) -> Generator[tuple[int, Result], None, list[int]]:
    """What one pool of processes finishes, taken off ``waiting``; returns what was in flight if a process died."""
    # fresh processes: forks would inherit locks held by the threads of other libraries
    context = get_context("spawn")
    leash, hand = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(min(workers, len(waiting)), context, _on_a_leash, (leash,))
    in_flight: dict[Future[Any], int] = {}
    try:
        _require_start(pool)
        queued = iter(list(waiting.items()))
        while True:
            for position, batch in islice(queued, most_in_flight - len(in_flight)):
                in_flight[pool.submit(_guarded, work, batch)] = position
            if not in_flight:
                pool.shutdown()
                return []
            for future in wait(in_flight, return_when=FIRST_COMPLETED).done:
                result = _opened(future.result())
                position = in_flight.pop(future)
                del waiting[position]
                yield position, result
    except BrokenProcessPool:
        return list(in_flight.values())
    finally:
        hand.close()  # workers still at it end now: nobody waits for their results
        pool.shutdown(cancel_futures=True)
        leash.close()


def _require_start(pool: ProcessPoolExecutor) -> None:
    """Processes that die before any work would die for every batch."""
    try:
        pool.submit(_nothing).result()
    except BrokenProcessPool:
        reason = "out of memory, or a script that starts them without `if __name__ == '__main__'`?"
        raise WorkFailed(f"worker processes died before any work ({reason})") from None


def _nothing() -> None:
    pass


@frozen
class Dask:
    """A Dask cluster: the one whose scheduler has this address, or a local one with ``workers`` processes."""

    scheduler: str | None = None
    workers: int = whole("workers", 1, 1024, default=1)

    def __attrs_post_init__(self) -> None:
        if self.scheduler is not None:
            _place(self.scheduler)

    def require_ready(self) -> None:
        """Dask is installed and something answers at the address, or an error: to be asked before long preparations."""
        _distributed()
        if self.scheduler is None:
            return
        scheme, host, port = _place(self.scheduler)
        try:
            with socket.create_connection((host, port), _ANSWER_SECONDS) as line:
                # a scheduler greets first; for what never does, Dask's own client waits without end
                if scheme == "tcp" and not line.recv(1):
                    raise ConnectionAbortedError
        except OSError as error:
            raise _no_answer(self.scheduler, error) from None

    def __call__(self, work: Callable[[Batch], Result], batches: Sequence[Batch]) -> Iterator[tuple[int, Result]]:
        distributed = _distributed()
        if self.scheduler is None:
            options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
            with (
                distributed.LocalCluster(n_workers=self.workers, **options) as cluster,
                distributed.Client(cluster, set_as_default=False) as client,
            ):
                yield from _on_dask(distributed, client, work, batches)
            return
        self.require_ready()
        with _quiet_log():
            try:
                client = distributed.Client(self.scheduler, timeout=_ANSWER_SECONDS, set_as_default=False)
            except (OSError, TimeoutError, ValueError) as error:
                raise _no_answer(self.scheduler, error) from None
            try:
                yield from _on_dask(distributed, client, work, batches)
            finally:
                with contextlib.suppress(OSError, TimeoutError):
                    client.close(timeout=_CLOSE_SECONDS)


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise unusable_extra("engine 'dask'", "data", error) from None


def _place(address: str) -> tuple[str, str, int]:
    """Scheme, host and port of a scheduler's address; without a scheme it is TCP, as Dask has it."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname, parts.port
    except (AttributeError, TypeError, ValueError):
        host, port = None, None
    if not host or not port or parts.scheme not in _SCHEMES:
        raise InvalidInput(
            "scheduler", address, "be an address such as tcp://127.0.0.1:8786", "Dask prints it at start"
        )
    return parts.scheme, host, port


def _no_answer(address: str, error: Exception) -> InvalidInput:
    rule = f"be the address of a Dask scheduler that answers: {type(error).__name__}"
    return InvalidInput("scheduler", address, rule, "for example tcp://127.0.0.1:8786")


@contextlib.contextmanager
def _quiet_log() -> Iterator[None]:
    """Dask logs the traceback of a lost connection, which is said in one line here."""
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _on_dask(
    distributed: Any, client: Any, work: Callable[[Batch], Result], batches: Sequence[Batch]
) -> Iterator[tuple[int, Result]]:
    futures: dict[Any, int] = {}
    try:
        futures.update({client.submit(_guarded, work, batch, pure=False): k for k, batch in enumerate(batches)})
        for future in distributed.as_completed(futures, loop=client.loop):
            yield futures[future], _opened(future.result())
    except distributed.KilledWorker as error:
        raise WorkFailed(f"workers of the cluster died too often: {error}") from None
    except (CancelledError, OSError, TimeoutError) as error:
        raise WorkFailed(f"the scheduler was lost ({type(error).__name__}); run again to resume") from None
    finally:
        with contextlib.suppress(CancelledError, OSError, TimeoutError):
            client.cancel(list(futures))


def _guarded(work: Callable[[Batch], Result], batch: Batch) -> tuple[Result | None, str | None]:
    """A result or the words of an error: not every exception survives the way between processes."""
    try:
        return work(batch), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def _opened(answer: tuple[Result | None, str | None]) -> Result:
    result, failure = answer
    if failure is not None:
        raise WorkFailed(f"a worker failed: {failure}")
    return result  # type: ignore[return-value]  # None only together with a failure, or if work returns it


def _on_a_leash(leash: Connection) -> None:
    """Ctrl-C is the parent's business, and no worker outlives it: when the parent lets go or dies, the worker ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    ends: list[Connection | int] = [leash] if parent is None else [leash, parent.sentinel]

    def hold() -> None:
        connection.wait(ends)
        os._exit(1)

    threading.Thread(target=hold, daemon=True).start()
