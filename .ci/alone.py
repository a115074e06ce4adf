"""Every target of the Makefile, each from a fresh clone and with nothing installed but what it asks for itself.

``python .ci/alone.py [TARGET ...]`` (all of them unless some are named); ``--in-turn`` tries one, another for every
commit, of those that take minutes: CI does. What a target lacks in its own extra is found
here: in one environment for all of them another target would have brought it.

Targets that install the same share one environment, which is then what each of them would have made; before each of
them everything is removed that the repository does not keep, so that none finds what another wrote. Environments are
made one after the other; targets that use one core run beside those of another environment, those that use two alone.
What is cloned is the last commit: a change that is not committed is an error. Packages come from where pip is told to
find them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = {"clean": "it removes", "toolchains": "`.ci/optional` runs it, and it may fail"}
TWO_CORES = ("test", "lowest", "bench")
FEW_ROWS = {"bench": ("ONLY=jrr",)}
"""All rows take a quiet machine and an hour; a few show that the target works."""

_RULE = re.compile(r"^([a-z]+):(?: (.+))?$")
_ENVIRONMENT = re.compile(r"\$\(\w+\)/\.installed(-\w+)?")


def targets() -> dict[str, str]:
    """Every public target and what it installs, as the Makefile says it; a second environment is its own matter."""
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    (public,) = (line.removeprefix(".PHONY:").split() for line in lines if line.startswith(".PHONY:"))
    rules = {rule[1]: rule[2] or "" for line in lines if (rule := _RULE.match(line))}
    return {name: next((found[0] for found in _ENVIRONMENT.finditer(rules[name])), "") for name in public}


def groups(names: Sequence[str]) -> dict[str, list[str]]:
    """The named targets by what they install."""
    known = targets()
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no such target: {', '.join(unknown)}; there are {', '.join(known)}")
    found: dict[str, list[str]] = {}
    for name in names or [name for name in known if name not in LEFT_OUT]:
        found.setdefault(known[name], []).append(name)
    return found


def in_turn() -> str:
    """One target, by the number of commits; those that take two cores for long are tried by name."""
    few = [name for name in targets() if name not in LEFT_OUT and name not in ("test", "lowest")]
    return few[int(_output("git", "rev-list", "--count", "HEAD")) % len(few)]


def main(names: Sequence[str]) -> None:
    if names == ["--in-turn"]:
        names = [in_turn()]
    if changed := _output("git", "status", "--porcelain"):
        sys.exit(f"commit first, the last commit is what is tried:\n{changed}")
    found = list(groups(names).values())
    alone = [group for group in found if any(name in TWO_CORES for name in group)]
    beside = [group for group in found if group not in alone]
    with ThreadPoolExecutor(2) as both:
        failed = [name for group in both.map(tried, beside) for name in group]
    failed += [name for group in map(tried, alone) for name in group]
    if failed:
        sys.exit(f"failed alone: {', '.join(failed)}")


def tried(group: Sequence[str]) -> list[str]:
    """The targets of a group that failed, run in one fresh clone; what a target said is shown when it has ended."""
    with tempfile.TemporaryDirectory(prefix="alone-") as folder:
        clone = Path(folder) / "clone"
        _output("git", "clone", "--quiet", str(ROOT), str(clone))
        return [name for name in group if not _is_well(name, clone)]


def _is_well(name: str, clone: Path) -> bool:
    _output("git", "clean", "--quiet", "-ffdx", "--exclude", ".venv*", cwd=clone)
    _output("git", "checkout", "--quiet", "--", ".", cwd=clone)
    toolchains = ROOT / ".toolchains"
    if toolchains.is_dir():
        (clone / ".toolchains").symlink_to(toolchains.resolve())
    begun = time.monotonic()
    command = ["make", name, *FEW_ROWS.get(name, ())]
    done = subprocess.run(
        command, cwd=clone, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    took = f"{time.monotonic() - begun:.0f} s"
    _say(f"== make {name}, alone, from a fresh clone: {'well' if done.returncode == 0 else 'FAILED'}, {took}")
    _say(done.stdout)
    return done.returncode == 0


def _environment() -> dict[str, str]:
    """Nothing of the environment this runs in: neither its packages nor its modules."""
    own = str(Path(sys.prefix) / "bin") if sys.prefix != sys.base_prefix else None
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "MAKE"))}
    kept["PATH"] = os.pathsep.join(part for part in kept.get("PATH", os.defpath).split(os.pathsep) if part != own)
    return kept


def _output(*command: str, cwd: Path = ROOT) -> str:
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
