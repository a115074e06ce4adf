"""One table of every kind, and what a test needs to alter one."""

from __future__ import annotations

import copy
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.window import Window
from mechdesign.methods.registry import solve
from mechdesign.tables import Labels, Table, checker, make_table, repaired
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Absolute, Squared
from tests.methods.problems import numbers, unbiased_under


def small_window(bits: int = 32) -> Table:
    points, base = np.array([0.0, 0.3, 0.55, 1.0]), np.array([0.15, 0.1, 0.1, 0.15])
    return make_table(Window(1.0, Interval(0, 1), points, base, 2.7), bits)


def labelled() -> Table:
    names = Labels(("no", "yes", "neither, nor"), ("-1", "0", "1"))
    return make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), labels=names)


KINDS = ("absolute", "squared", "small", "unbiased", "duchi", "finite", "pieces", "circle", "additive", "clamped")
"""Tables for inputs that are numbers: each is checked, sampled, changed and read again by the tests of this folder."""


@pytest.fixture(scope="session")
def tables() -> dict[str, Table]:
    unit = Interval(0, 1)
    return {
        "absolute": make_table(solve(numbers(2.0, Absolute(), unit), gap=1e-2)),
        "squared": make_table(solve(numbers(1.0, Squared(), unit), gap=1e-2)),
        "small": small_window(),
        "unbiased": make_table(solve(unbiased_under(1.0), gap=1e-2, size=9)),
        "duchi": make_table(catalogue.duchi(1.0), 16),
        "finite": make_table(catalogue.randomised_response(1.0, Finite((0, 1, 5)))),
        "pieces": make_table(catalogue.pm(1.0)),
        "circle": make_table(catalogue.ogpm_circle(2.0)),
        "additive": make_table(catalogue.laplace(1.0), 16),
        "clamped": make_table(catalogue.truncated(catalogue.pm(1.0))),
        "clamped wave": make_table(catalogue.truncated(catalogue.sw(1.0, unit))),
        "clamped noise": make_table(catalogue.truncated(catalogue.laplace(1.0, unit)), 16),
        "labelled": labelled(),
        "repaired": repaired(1.0, Finite((0, 1)), Finite((0, 1, 2)), [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]),
    }


def rehashed(document: dict[str, Any]) -> bytes:
    """The canonical file of an altered document, with a hash that fits."""
    body = {key: value for key, value in document.items() if key != "sha256"}
    return checker.canonical(body | {"sha256": hashlib.sha256(checker.canonical(body)).hexdigest()})


@pytest.fixture
def altered() -> Callable[..., bytes]:
    def alter(table: Table, path: tuple[Any, ...], value: Any, *, rehash: bool = True) -> bytes:
        document = copy.deepcopy(dict(table.document))
        inner: Any = document
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        return rehashed(document) if rehash else checker.canonical(document)

    return alter


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL server of the test's own, in a folder of its own."""

    folder: Path
    user: str | None

    def run(self, *command: str, text: str = "") -> str:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=120, check=False, user=self.user, cwd="/"
        )
        return (done.stdout + done.stderr).strip()

    def query(self, text: str) -> str:
        options = ("-h", str(self.folder), "-qXAt", "-v", "ON_ERROR_STOP=1", "-d", "postgres")
        return self.run("psql", *options, text=text)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Cluster]:
    for tool in ("initdb", "pg_ctl", "psql"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    user = None
    if os.geteuid() == 0:  # the server refuses to run as root
        import pwd

        if "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        user = "postgres"
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if user is not None:
        shutil.chown(folder, user)
    cluster = Cluster(folder, user)
    data, options = str(folder / "data"), f"-k {folder} -c listen_addresses= -c fsync=off"
    try:
        said = cluster.run("initdb", "-D", data, "-A", "trust", "--no-sync", "-U", user or "postgres")
        assert (folder / "data" / "PG_VERSION").exists(), said
        cluster.run("pg_ctl", "-D", data, "-o", options, "-w", "-l", str(folder / "log"), "start")
        yield cluster
    finally:
        cluster.run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)
