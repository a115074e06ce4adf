"""What is shipped beside the code: the schema, the marker of types, and a checker that needs nothing else."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mechdesign
from mechdesign.mechanisms import catalogue
from mechdesign.tables import checker, make_table

ROOT = Path(mechdesign.__file__).parents[1]
BUILD = "from setuptools import setup; setup()"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The files of a wheel, as its build lays them out: no network, nothing left in the tree."""
    source, library = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("library")
    for name in ("mechdesign", "solvers"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "README.md").write_bytes((ROOT / "README.md").read_bytes())
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    # setuptools before 77 stumbles over the words of a licence, which are not what is tested
    kept = [line for line in lines if not line.startswith(("license =", "license-files ="))]
    (source / "pyproject.toml").write_text("\n".join(kept) + "\n", encoding="utf-8")
    command = [sys.executable, "-c", BUILD, "-q", "build_py", "--build-lib", str(library)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return library


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "mechdesign/tables/table.schema.json",
        "mechdesign/tables/export/text/LICENSE",
        "mechdesign/tables/export/text/README.md",
        "mechdesign/tables/export/text/pyproject.toml.jinja",
        "mechdesign/runtimes/c/Makefile",
        "mechdesign/runtimes/js/package/demo/index.html",
        "mechdesign/runtimes/python/mechdesign_runtime/__init__.py",
        "mechdesign/runtimes/rust/src/lib.rs",
        "mechdesign/runtimes/sql/postgresql.sql",
        "mechdesign/runtimes/vectors/window.json",
        "mechdesign/tables/checker.py",
        "mechdesign/py.typed",
        "mechdesign_solvers/py.typed",
    ],
)
def test_the_build_holds_what_the_tree_holds(built, name):
    in_tree = ROOT / "solvers" / name if name.startswith("mechdesign_solvers") else ROOT / name
    assert (built / name).read_bytes() == in_tree.read_bytes()


@pytest.mark.slow
def test_the_build_holds_every_module_and_nothing_but_the_packages(built):
    modules = {path for path in files_of(ROOT / "mechdesign") if path.endswith(".py")}
    assert {f"mechdesign/{path}" for path in modules} <= files_of(built)
    assert {path.name for path in built.iterdir()} == {"mechdesign", "mechdesign_solvers"}


@pytest.mark.slow
def test_tables_can_be_made_and_checked_from_the_build_alone(built, tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import mechdesign; from mechdesign.tables import make_table;"
        "print(mechdesign.__file__, make_table(mechdesign.catalogue.duchi(1.0), 16).sha256)"
    )
    command = [sys.executable, "-c", code, str(built)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    place, sha256 = done.stdout.split()
    assert Path(place).is_relative_to(built)
    assert sha256 == make_table(catalogue.duchi(1.0), 16).sha256


def test_the_schema_that_is_shipped_is_json_of_a_schema():
    schema = json.loads((ROOT / "mechdesign/tables/table.schema.json").read_bytes())
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert set(schema["required"]) == set(checker.KEYS.split())


def test_the_checker_runs_from_another_folder_without_the_package(tmp_path):
    table = make_table(catalogue.duchi(1.0), 16)
    script, good = tmp_path / "anywhere.py", table.save(tmp_path / "good.json")
    shutil.copy(checker.__file__, script)
    bad = tmp_path / "bad.json"
    bad.write_bytes(table.content.replace(b'"bits":16', b'"bits":32'))

    def run(*arguments):
        command = [sys.executable, "-I", "-S", str(script), *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (run(good).returncode, run(good).stdout[:4]) == (0, "PASS")
    assert (run(bad).returncode, run(bad).stdout[:4]) == (1, "FAIL")
    assert run().returncode == 2


def test_without_site_packages_there_is_no_package_to_lean_on(tmp_path):
    code = "import importlib.util as u; print([n for n in ('mechdesign', 'numpy', 'scipy') if u.find_spec(n)])"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
