"""Packages say their names once, load them when asked, and the package itself imports from where they are defined."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import mechdesign

ROOT = Path(mechdesign.__file__).parents[1]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "mechdesign").rglob("*.py"))
}
FACADES = [name for name, path in FILES.items() if "= facade(__name__)" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("package", FACADES)
def test_every_name_is_the_one_of_the_module_it_is_said_to_come_from(package: str) -> None:
    module = import_module(package)
    said = {
        alias.asname: (node.module, alias.name) for node in imports(package) for alias in node.names if alias.asname
    }
    assert module.__all__ == sorted(said)
    for name, (home, own) in said.items():
        found = import_module(f"{home}.{own}") if f"{home}.{own}" in FILES else getattr(import_module(home), own)
        assert getattr(module, name) is found


def test_what_is_said_under_a_name_is_no_module_of_the_same_name() -> None:
    """A module that is imported takes its name in the package: where both are called alike, the name comes first."""
    for package in FACADES:
        for name in import_module(package).__all__:
            both = f"{package}.{name}" in FILES and not said_as_module(package, name)
            assert not both or name in vars(import_module(package))


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'mechdesign\.studies\.budgets' has no attribute 'nonsense'"):
        mechdesign.studies.budgets.nonsense  # noqa: B018


def test_a_module_is_found_in_its_package() -> None:
    assert mechdesign.studies.frequencies.two_phase.__name__ == "mechdesign.studies.frequencies.two_phase"


def test_modules_import_from_where_a_name_is_defined() -> None:
    """Through a package contracts would not see what is imported, and a proof could load a search."""
    found = [
        f"{name}: from {node.module} import {alias.name}"
        for name in FILES
        if name not in FACADES
        for node in imports(name)
        for alias in node.names
        if node.module in FACADES and f"{node.module}.{alias.name}" not in FILES and alias.name != "__version__"
    ]
    assert found == []


PROOFS = [name for name in FILES if name.startswith("mechdesign.exact.") or name.endswith("proof")]


def test_reading_every_proof_loads_no_search_and_no_solver() -> None:
    assert len(PROOFS) > 40
    assert loaded(PROOFS) == []


def test_the_look_at_what_is_loaded_can_fail() -> None:
    assert "mechdesign.methods.minimax.search" in loaded(["mechdesign.methods.minimax.search"])


def imports(name: str) -> Iterator[ast.ImportFrom]:
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))


def said_as_module(package: str, name: str) -> bool:
    return any(node.module == package and any(alias.name == name for alias in node.names) for node in imports(package))


def loaded(modules: list[str]) -> list[str]:
    """Searches and solvers that a fresh interpreter holds after importing the modules."""
    code = (
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        "print(*[name for name in sys.modules if name.startswith('mechdesign_solvers') or name.endswith('.search')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()
