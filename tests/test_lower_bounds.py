"""The lower bounds of pyproject.toml are those that `make lowest` tests: constraints-lowest.txt pins them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9-]+)(\[[a-z,]+\])?>=(?P<bound>[0-9.]+)")
UNTESTED = {"dev"}  # tools of this repository, no part of what users install


def _declared() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for name in extras.keys() - UNTESTED for line in extras[name])]
    found = [REQUIREMENT.fullmatch(line) for line in wanted if not line.startswith("mechdesign[")]
    assert all(found)  # each dependency has a lower bound and nothing else
    return {match["name"]: match["bound"] for match in found if match}


def _pinned() -> dict[str, str]:
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def _release(version: str) -> tuple[int, ...]:
    """Without trailing zeros: 1.14 and 1.14.0 are one release."""
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def test_every_declared_bound_is_the_version_pinned_and_no_other_is() -> None:
    declared, pinned = _declared(), _pinned()
    assert {name: _release(bound) for name, bound in declared.items()} == {
        name: _release(version) for name, version in pinned.items()
    }


def test_the_tests_against_the_lowest_versions_run_in_ci() -> None:
    assert "make lowest" in (ROOT / ".ci" / "run").read_text()
    recipe = (ROOT / "Makefile").read_text()
    assert "--constraint constraints-lowest.txt" in recipe
