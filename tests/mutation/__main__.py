"""Changes the package, one place at a time, and sees whether its tests notice: ``python -m tests.mutation``.

Changes are made in a copy, and the tests beside the changed module are run there until one fails. A seed, which is the
day, chooses modules and changes; a time ends the run, and outcomes are kept, so that the next run goes on. Who survives
must be explained in ``survivors.json``: by the change, why it is none or who notices it. More than 5 % of a run's
changes without an explanation end in exit code 1.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.mutation.changes import Change
from tests.mutation.places import GROUPS, ROOT, population, tests_of

SURVIVORS = Path(__file__).with_name("survivors.json")
_MOST_UNEXPLAINED = 0.05
_COPIED = (
    *("mechdesign", "solvers", "tests", "benchmarks", "pyproject.toml", "Makefile"),
    *("FORMAT.md", "README.md", "ERRATA.md", "CERTIFIED.md", "CONTRIBUTING.md"),
)


def main(arguments: list[str]) -> int:
    asked = _asked(arguments)
    known: dict[str, dict[str, str]] = json.loads(SURVIVORS.read_text(encoding="utf-8"))
    outcomes: list[tuple[str, Change, str]] = []
    stop = time.monotonic() + asked.seconds
    with _copied() as folder:
        for module, wanted in _order(asked):
            results = asked.results / f"{module.replace('/', '.')}.jsonl"
            outcomes += _of_module(folder, module, wanted, results, stop)
    return _said(outcomes, known)


@contextlib.contextmanager
def _copied() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        for part in _COPIED:
            source, target = ROOT / part, Path(name, part)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copy(source, target)
        yield Path(name)


def _of_module(
    folder: Path, module: str, wanted: list[Change], results: Path, stop: float
) -> Iterator[tuple[str, Change, str]]:
    """The outcomes of changes, those that are known from before and those that there was time for."""
    tests = tests_of(module)
    marks = {"module": _digest((ROOT / module).read_bytes()), "tests": _asked_of(tests)}
    before = _read(results, marks)
    yield from ((module, change, before[change.key]) for change in wanted if change.key in before)
    left = {change.key: change for change in wanted if change.key not in before}
    seconds = stop - time.monotonic()
    if not left or seconds < 0:
        return
    paths = os.pathsep.join([str(folder), str(folder / "solvers")])
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.mutation.trials"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    json.dump({"module": module, "keys": list(left), "tests": tests, "seconds": seconds}, child.stdin)
    child.stdin.close()
    for line in child.stdout:
        if not line.startswith("{"):
            continue
        entry = json.loads(line)
        if "broken" in entry:
            raise SystemExit(f"the tests of {module} fail without any change: {entry['broken']}")
        if "change" in entry:
            _append(results, marks | entry)
            if entry["outcome"] == "survived":
                print(f"{module}:{left[entry['change']].lines[0]} survived: {entry['change']}", flush=True)
            yield module, left[entry["change"]], entry["outcome"]
        else:
            print(f"{module}: {entry}", flush=True)
    child.wait()


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--groups", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--seconds", type=float, default=150, help="start no further change after so long")
    parser.add_argument("--most", type=int, default=15, help="so many changes of a module at most")
    parser.add_argument("--seed", default=datetime.datetime.now(tz=datetime.UTC).date().isoformat())
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--function", default="", help="functions whose name contains this")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants")
    return parser.parse_args(arguments)


def _order(asked: argparse.Namespace) -> Iterator[tuple[str, list[Change]]]:
    """Modules in an order of the seed, groups in turns, each with its changes, shuffled by the seed."""
    found: dict[str, dict[str, list[Change]]] = {}
    for group in asked.groups:
        for module, change in population(group):
            if asked.only in module and asked.function in change.function:
                found.setdefault(group, {}).setdefault(module, []).append(change)
    queues = [sorted(modules.items(), key=lambda item: _shuffled(asked.seed, item[0])) for modules in found.values()]
    for turn in itertools.zip_longest(*queues):
        for module, changes in filter(None, turn):
            yield module, sorted(changes, key=lambda change: _shuffled(asked.seed, change.key))[: asked.most]


def _shuffled(seed: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


def _asked_of(tests: list[str]) -> str:
    """The tests as they are: a change that survived them is tried again when they are others."""
    files = [ROOT / name for name in tests if name.endswith(".py")]
    files += [path for name in tests for path in sorted((ROOT / name).rglob("*.py"))]
    return _digest(*(path.read_bytes() for path in files))


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:16]


def _read(results: Path, marks: dict[str, str]) -> dict[str, str]:
    """Outcomes for the module as it is; those that survived other tests are open again."""
    if not results.exists():
        return {}
    entries = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    return {
        entry["change"]: entry["outcome"]
        for entry in entries
        if entry["module"] == marks["module"] and (entry["outcome"] != "survived" or entry["tests"] == marks["tests"])
    }


def _append(results: Path, entry: dict[str, str]) -> None:
    results.parent.mkdir(parents=True, exist_ok=True)
    with results.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def _said(outcomes: list[tuple[str, Change, str]], known: dict[str, dict[str, str]]) -> int:
    survived = [(module, change) for module, change, outcome in outcomes if outcome == "survived"]
    left = [(module, change) for module, change in survived if change.key not in known.get(module, {})]
    explained = len(survived) - len(left)
    print(f"{len(outcomes)} changes: {len(outcomes) - len(survived)} noticed, {explained} explained, {len(left)} left:")
    for module, change in left:
        print(f"  {module}:{change.lines[0]} {change.key}")
    return 1 if len(left) > _MOST_UNEXPLAINED * len(outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
