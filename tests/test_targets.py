"""Every target of the Makefile is tried alone, with what it installs itself: by name, or by CI in turn."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def alone() -> Any:
    spec = importlib.util.spec_from_file_location("alone", ROOT / ".ci" / "alone.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ci_tries_every_public_target_but_those_with_a_reason(alone: Any) -> None:
    tried = [name for group in alone.groups([]).values() for name in group]
    assert sorted([*tried, *alone.LEFT_OUT]) == sorted(alone.targets())
    assert len(tried) == len(set(tried)) > 10


def test_targets_share_an_environment_only_where_each_would_make_it(alone: Any) -> None:
    installed = alone.targets()
    for group in alone.groups([]).values():
        assert len({installed[name] for name in group}) == 1
    assert installed["docs"] == "$(VENV)/.installed-docs"
    assert installed["lint"] == "$(VENV)/.installed-dev" != installed["test"]


def test_an_unknown_target_is_refused(alone: Any) -> None:
    with pytest.raises(SystemExit, match="no such target: nosuch"):
        alone.groups(["nosuch"])


def test_the_documentation_installs_what_its_gallery_computes_with() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

    def installed(extra: str) -> set[str]:
        found = set(extras[extra])
        for named in filter(None, (re.fullmatch(r"mechdesign\[(.+)\]", one) for one in extras[extra])):
            found.update(*map(installed, named[1].split(",")))
        return found

    assert set(extras["bayes"]) <= installed("docs")


def test_ci_names_no_place_to_install_from() -> None:
    said = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / ".ci").iterdir()) if path.is_file())
    assert "http" not in said
    assert "index-url" not in said
