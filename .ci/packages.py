"""Builds the wheel and the source distribution and uses them as a stranger would: ``python .ci/packages.py FOLDER``.

* The wheel holds every file of the two packages that the repository keeps, and no other.
* The source distribution alone builds the same wheel.
* Installed with nothing but what it asks for, into an environment that was empty, it answers: commands, example data,
  tables with both checkers, and it says that it is typed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"mechdesign": ROOT / "mechdesign", "mechdesign_solvers": ROOT / "solvers" / "mechdesign_solvers"}

INSTALLED = """
import pathlib, sys
from importlib import metadata, resources
import mechdesign, mechdesign_solvers

home = pathlib.Path(sys.prefix).resolve()
for package in (mechdesign, mechdesign_solvers):
    assert pathlib.Path(package.__file__).resolve().is_relative_to(home), package.__file__
    assert resources.files(package).joinpath("py.typed").is_file(), package.__name__
assert metadata.version("mechdesign") == mechdesign.__version__
from mechdesign.papers import gallery
assert gallery.entry("randomised_response").judge().agrees
"""

COMMANDS = (
    "ogpm --eps 2",
    "examples",
    "mean salaries.csv --column salary --eps 1 --bounds 0,250000 --mechanism pm --seed 1",
    "minimax --eps 2 --loss squared --out best.json --plot best.png",
    "table best.json --out t.json",
    "verify t.json",
    "export t.json --to c --out sampler",
    "schema minimax",
    "protocols --eps 1 --size 16",
)


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    source, built, again, empty, work = (folder / name for name in ("source", "built", "again", "empty", "work"))
    _copy(source)
    wheel, archive = _build(source, built)
    _require_same(wheel, _wheel_of(archive, again))
    _require_all_files(wheel)
    python = _empty_environment(empty)
    run(python, "-m", "pip", "install", "--quiet", str(wheel))
    run(python, "-m", "pip", "check")
    work.mkdir()
    run(python, "-c", INSTALLED, cwd=work)
    for command in COMMANDS:
        run(python, "-m", "mechdesign", *command.split(), cwd=work)
    for checker in ("checker", "privacy_checker"):
        run(python, "-m", f"mechdesign.tables.{checker}", "t.json", cwd=work)
    run(python.with_name("mechdesign"), "ogpm", "--eps", "2", cwd=work)
    said(f"{wheel.name} and {archive.name} are whole, build the same wheel and work in an empty environment")


def _copy(folder: Path) -> None:
    """What the repository keeps, and nothing that earlier builds left beside it."""
    for name in _kept(ROOT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)


def _kept(folder: Path) -> list[str]:
    return subprocess.check_output(["git", "ls-files"], cwd=folder, text=True).splitlines()


def _build(source: Path, folder: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution, both from the source."""
    run(sys.executable, "-m", "build", "--sdist", "--wheel", "--outdir", folder, source)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


def _wheel_of(archive: Path, folder: Path) -> Path:
    """The wheel that the source distribution builds where nothing else of the repository is."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, archive)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _require_same(wheel: Path, other: Path) -> None:
    one, two = _content(wheel), _content(other)
    if one != two:
        different = sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))
        sys.exit(f"the source distribution builds another wheel: {', '.join(different)}")


def _require_all_files(wheel: Path) -> None:
    kept = {
        f"{package}/{name}": (folder / name).read_bytes()
        for package, folder in PACKAGES.items()
        for name in _kept(folder)
    }
    held = {name: content for name, content in _content(wheel).items() if name.partition("/")[0] in PACKAGES}
    if kept != held:
        different = sorted(name for name in kept.keys() | held.keys() if kept.get(name) != held.get(name))
        sys.exit(f"the wheel does not hold what the repository keeps: {', '.join(different)}")


def _content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _empty_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    listed = json.loads(run(python, "-m", "pip", "list", "--format", "json"))
    others = {one["name"] for one in listed} - {"pip", "setuptools", "wheel"}
    if others:
        sys.exit(f"the environment is not empty: {', '.join(sorted(others))}")
    return python


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """What it prints; it must end well. Nothing of this environment's paths is handed on."""
    said(" ".join(str(word) for word in command if "\n" not in str(word)))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def said(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
