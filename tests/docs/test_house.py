"""The page of folders names every module at the top, and only what is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(mechdesign/[\w./]+|solvers|tests|notebooks|docs|benchmarks)`", PAGE)


def test_every_path_that_is_named_is_there() -> None:
    assert [name for name in NAMED if not (ROOT / name).exists()] == []


def test_every_module_at_the_top_is_named() -> None:
    here = [
        f"mechdesign/{path.name}"
        for path in (ROOT / "mechdesign").iterdir()
        if path.suffix == ".py" or (path.is_dir() and path.name != "__pycache__")
    ]
    told = {name for name in NAMED if name.count("/") == 1}
    assert set(here) - told == {"mechdesign/__init__.py", "mechdesign/__main__.py"}
    assert told <= set(here)
