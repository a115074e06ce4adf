"""What is changed, and which tests must notice: those beside a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.mutation.changes import Change, changes

ROOT = Path(__file__).parents[2]

# quick, and about nothing else than the rules of a module that stands alone
_OWN_TESTS = {
    "mechdesign/tables/checker.py": ("tests/tables/test_checker_rules.py",),
    "mechdesign/tables/privacy_checker.py": ("tests/tables/test_privacy_rules.py",),
}
GROUPS: dict[str, tuple[str, ...]] = {
    "privacy": ("mechdesign/tables/privacy_checker.py", "mechdesign/tables/checker.py"),
    "proofs": ("mechdesign/methods/**/proof.py",),
    "exact": ("mechdesign/exact/*.py",),
    "checker": ("mechdesign/tables/checker.py",),
    "kinds": ("mechdesign/tables/kinds/*.py",),
    "protocols": ("mechdesign/studies/frequencies/protocols/*.py",),
    "mechanisms": ("mechdesign/mechanisms/*.py",),
}


def population(group: str) -> Iterator[tuple[str, Change]]:
    """All changes of a group, with the path of their file; in "privacy" those of lines that say so."""
    for pattern in GROUPS[group]:
        for path in sorted(ROOT.glob(pattern)):
            name, source = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
            marked = _privacy_lines(source) if group == "privacy" and name.endswith("/checker.py") else None
            for change in changes(source):
                if marked is None or not marked.isdisjoint(range(change.lines[0], change.lines[1] + 1)):
                    yield name, change


def _privacy_lines(source: str) -> set[int]:
    """Lines marked ``# privacy``, and of a function whose first line is marked all."""
    found, indent = set(), None
    for number, line in enumerate(source.splitlines(), start=1):
        own = len(line) - len(line.lstrip())
        if indent is not None and line.strip() and own <= indent:
            indent = None
        if line.endswith("# privacy"):
            found.add(number)
            if line.lstrip().startswith("def "):
                indent = own
        if indent is not None:
            found.add(number)
    return found


def tests_of(module: str) -> list[str]:
    """The tests beside a module: its own file, or the files of its folder where it has none."""
    if module in _OWN_TESTS:
        return list(_OWN_TESTS[module])
    path = Path(module)
    folder = Path("tests", *path.parts[1:-1])
    own = folder / f"test_{path.stem}.py"
    return [(own if (ROOT / own).exists() else folder).as_posix()]
