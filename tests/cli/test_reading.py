"""Every command that reads a file stops at a limit, and says which: a device without an end ends it within seconds."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mechdesign.cli.app import NAMES
from mechdesign.tables.reports import new_key

FORMS = ("csv", "npy", "parquet", "json", "geojson", "skops", "onnx", "pkl", "mjs", "txt")
SECONDS = 60

T, BOX = "t.json", "--bounds=0,1,0,1"
BUDGET = ("--metric", "kendall", "--at-least", "0.7", "--phi", "0.1")
COMMANDS = {
    "aaa data": ("aaa", "--eps", "1", "--data", "0.csv", "--column", "x", "--bounds", "0,1"),
    "advise data": ("advise", "--want", "mean", "--eps", "1", "--data", "0.csv", "--column", "x", "--bounds", "0,1"),
    "advise losses": ("advise", "--want", "matrix", "--eps", "1", "--loss-matrix", "0.csv"),
    "apply table": ("apply", "0", "--in", "d.csv", "--column", "x", "--out", "o.csv"),
    "apply data": ("apply", T, "--in", "0.csv", "--column", "x", "--out", "o.csv"),
    "apply rows": ("apply", T, "--in", "0.parquet", "--column", "x", "--out", "o.parquet"),
    "bench data": ("bench", "-d", "0.csv", "-e", "1", "-p", "grr"),
    "bench json": ("bench", "-d", "0.json", "-e", "1", "-p", "grr"),
    "bench queries": ("bench", "-d", "d.csv", "-e", "1", "-p", "grr", "-u", "0.csv"),
    "bench results": ("bench", "-d", "d.csv", "-e", "1", "-p", "grr", "--results", "0.json"),
    "budget data": ("budget", "--data", "0.csv", "-p", "grr", *BUDGET),
    "budget results": ("budget", "-p", "grr", *BUDGET, "--population", "msnbc-like", "--results", "0.json"),
    "capacity data": (
        "capacity",
        "--data",
        "0.csv",
        "-p",
        "grr",
        "--capacity",
        "9",
        "--metric",
        "fp",
        "--tau",
        "0.05",
        "--domain",
        "0,9",
    ),
    "classifier model": ("classifier", "0.skops", "--data", "d.csv", "--eps", "1"),
    "classifier pickle": ("classifier", "0.pkl", "--data", "d.csv", "--unpickle", "--eps", "1"),
    "collect-reports envelopes": ("collect-reports", "0", "--of", T, "--store", "s.db", "--new-store"),
    "collect-reports table": ("collect-reports", "e.txt", "--of", "0", "--store", "s.db", "--new-store"),
    "collect-reports store": ("collect-reports", "e.txt", "--of", T, "--store", "0"),
    "collection table": ("collection", "a=0", "--name", "c", "--out", "c.json"),
    "compare channel": ("compare", "--eps", "1", "--channel", "0.csv"),
    "compare losses": ("compare", "--eps", "1", "--channel", "m.csv", "--loss-matrix", "0.csv"),
    "jrr data": ("jrr", "--eps", "1", "--data", "0.csv", "--column", "x"),
    "estimate table": ("estimate", "0", "--in", "d.csv"),
    "estimate reports": ("estimate", T, "--in", "0.csv"),
    "estimate-counts reports": ("estimate-counts", "0.csv", "-p", "grr", "--eps", "1", "--domain", "no,yes"),
    "estimate-counts array": ("estimate-counts", "0.npy", "-p", "grr", "--eps", "1", "--domain", "no,yes"),
    "estimate-counts survey": ("estimate-counts", "d.csv", "--survey", "0"),
    "export table": ("export", "0", "--to", "python", "--out", "o"),
    "export second": (
        "export",
        T,
        *["--again", "0", "--values", "2", "--reports", "3", "--to", "python", "--package", "p"],
    ),
    "mean data": ("mean", "0.csv", "--eps", "1", "--column", "x", "--bounds", "0,1"),
    "vector data": ("vector", "--data", "0.csv", "--eps", "1", "--columns", "x,y", "--bounds", "0,1"),
    "record data": ("record", "--data", "0.csv", "--eps", "1", "--columns", "x", "--categories", "y=a,b"),
    "vector reports": ("vector", "--reports", "0.csv", "--eps", "1", "--columns", "x,y", "--bounds", "0,1"),
    "metric points": ("metric", "--points", "0.csv", "--eps", "1"),
    "minimax losses": ("minimax", "--eps", "1", "--loss-matrix", "0.csv"),
    "minimax array": ("minimax", "--eps", "1", "--loss-matrix", "0.npy"),
    "minimax privacy": ("minimax", "--privacy-matrix", "0.csv", "--loss-matrix", "m.csv"),
    "minimax prior": ("minimax", "--eps", "1", "--criterion", "prior", "--prior-data", "0.csv", "--column", "x"),
    "plot": ("plot", "0.json", "--out", "p.png"),
    "show": ("show", "0"),
    "sign file": ("sign", "0", "--key", "k"),
    "sign key": ("sign", T, "--key", "0"),
    "sign password": ("sign", T, "--key", "k", "--password-file", "0"),
    "solve": ("solve", "0"),
    "table design": ("table", "0", "--out", "o.json"),
    "table labels": ("table", "--eps", "1", "--mechanism", "grr", "--labels-file", "0", "--out", "o.json"),
    "table channel": ("table", "--eps", "1", "--channel", "0.csv", "--out", "o.json"),
    "trajectory perturb": ("trajectory", "perturb", "0.csv", "--eps", "1", BOX, "--out", "o.csv"),
    "trajectory places": ("trajectory", "perturb", "0.geojson", "--eps", "1", BOX, "--out", "o.geojson"),
    "trajectory points": ("trajectory", "perturb", "d.csv", "--eps", "1", BOX, "--points", "0.csv", "--out", "o.csv"),
    "trajectory polygon": ("trajectory", "perturb", "d.csv", "--eps", "1", "--polygon", "0.csv", "--out", "o.csv"),
    "trajectory apply": ("trajectory", "apply", "d.csv", "--x-table", "0", "--y-table", T, BOX, "--out", "o.csv"),
    "trajectory compare": ("trajectory", "compare", "--eps", "1", "--data", "0.csv", BOX),
    "verify table": ("verify", "0"),
    "verify source": ("verify", T, "--source", "0.mjs"),
    "verify key": ("verify", T, "--public-key", "0"),
    "verify signature": ("verify", T, "--public-key", "key.pub", "--signature", "0"),
    "verify device": ("verify", T, "--device", "0"),
    "workload prior": (
        "workload",
        "--eps",
        "1",
        "--queries",
        "prefix",
        "--size",
        "3",
        "--prior-data",
        "0.csv",
        "--column",
        "x",
    ),
    "workload queries": ("workload", "--eps", "1", "--queries", "0.csv"),
}
READ_NOTHING = {
    "constants", "examples", "gain", "gallery", "glossary", "information", "ogpm", "protocols", "reproduce", "schema"
}  # fmt: skip


class Endless(Exception):
    """A command that did not end."""


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Endless

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def endless(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with links to /dev/zero under names of every format, and files that are sound."""
    monkeypatch.chdir(tmp_path)
    for name in ("0", *(f"0.{form}" for form in FORMS)):
        Path(name).symlink_to("/dev/zero")
    Path("d.csv").write_text("x\nno\nyes\n")
    Path("m.csv").write_text("0.5,0.5\n0.5,0.5\n")
    Path("e.txt").write_text("\n")
    Path("k").write_text("k\n")
    new_key("key")
    assert run("table", "--eps", "1", "--mechanism", "grr", "--labels", "no,yes", "--out", T).code == 0
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_device_without_an_end_is_refused_by_a_limit(run: Any, endless: Path, alarm: None, name: str) -> None:
    outcome = run(*COMMANDS[name])
    assert (outcome.code, outcome.out) == (2, ""), outcome.err
    limits = ("be at most ", "lines of at most", "hold at most", "be a file", "regular file", "exist", "source must")
    assert any(limit in outcome.err for limit in limits), outcome.err
    assert "0" in outcome.err


def test_every_command_is_asked_or_reads_nothing() -> None:
    assert {said[0] for said in COMMANDS.values()} | READ_NOTHING == set(NAMES)
