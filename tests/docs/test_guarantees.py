"""What the page of guarantees names is there: modules, evidence and its kind, lines of the checker, tests."""

from __future__ import annotations

import importlib.util
import re
from importlib import import_module
from pathlib import Path

import pytest

from mechdesign.methods.registry import EVIDENCE

ROOT = Path(__file__).parents[2]
FENCE = "```{include} guarantees_of_methods.txt\n```\n"


def _page() -> str:
    """The page with what stands beside the proofs, as the site puts it together."""
    spec = importlib.util.spec_from_file_location("guarantees", ROOT / "docs" / "_extensions" / "guarantee_pages.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    assert page.count(FENCE) == 1
    return page.replace(FENCE, made.text())


PAGE = _page()
CODE = re.compile(r"`([^`\n]+)`")
ITEMS = ["Why", "Where", "Evidence", "Checker", "Tests"]
GUARANTEES = PAGE.split("\n### ")[1:]


def named(line: str) -> list[str]:
    """The names in code in the item that begins with ``line``, over the whole page."""
    items = re.findall(rf"^- \*\*{line}:\*\*(.*?)(?=^- |^$)", PAGE, re.MULTILINE | re.DOTALL)
    return [name for item in items for name in CODE.findall(item)]


@pytest.mark.parametrize("name", sorted({name for name in CODE.findall(PAGE) if name.startswith("mechdesign.")}))
def test_every_module_and_evidence_named_exists(name: str) -> None:
    module, _, last = name.rpartition(".")
    if last[0].isupper():
        assert hasattr(import_module(module), last)
    else:
        import_module(name)


@pytest.mark.parametrize(("evidence", "kind"), re.findall(r"`(mechdesign\.[\w.]+\.[A-Z]\w+)` \(kind `([^`]+)`\)", PAGE))
def test_every_evidence_has_the_kind_named(evidence: str, kind: str) -> None:
    module, _, name = evidence.rpartition(".")
    assert getattr(import_module(module), name).kind == kind


@pytest.mark.parametrize("name", sorted({name for name in named("Checker") if re.fullmatch(r"[a-z_]+", name)}))
def test_every_line_of_the_checker_named_exists(name: str) -> None:
    assert callable(getattr(import_module("mechdesign.tables.checker"), name))


@pytest.mark.parametrize("name", named("Tests"))
def test_every_test_named_exists(name: str) -> None:
    path, _, function = name.partition("::")
    assert re.search(rf"^def {function}\(", (ROOT / path).read_text(), re.MULTILINE)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda text: text.splitlines()[0])
def test_every_guarantee_names_a_test(guarantee: str) -> None:
    assert "- **Tests:** `tests/" in guarantee


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda text: text.splitlines()[0])
def test_every_guarantee_says_why_where_on_what_it_rests_and_what_checks_it(guarantee: str) -> None:
    assert re.findall(r"^- \*\*(\w+):\*\*", guarantee, re.MULTILINE) == ITEMS


def test_every_kind_of_evidence_that_a_design_may_rest_on_is_on_the_page() -> None:
    assert len(EVIDENCE) >= 18
    assert {f"`{kind.__module__}.{kind.__name__}`" for kind in EVIDENCE} <= set(re.findall(r"`[^`\n]+`", PAGE))


def test_there_are_names_to_check() -> None:
    assert len(GUARANTEES) >= 18
    assert len(named("Tests")) >= 35
