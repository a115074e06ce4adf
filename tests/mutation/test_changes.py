"""Which single changes are made, and what is left alone."""

from __future__ import annotations

import json

import pytest

from tests.mutation import places
from tests.mutation.__main__ import SURVIVORS
from tests.mutation.changes import applied, changes
from tests.mutation.places import GROUPS, ROOT, population


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("a < b <= c", {"(a <= b <= c)", "(a < b < c)"}),
        ("a == b", {"(a != b)"}),
        ("a in b", {"(a not in b)"}),
        ("a - most * b", {"(a + most * b)", "a - (most / b)"}),
        ("-(-a // b)", {"(-a // b)", "-((-(--a // b)))", "-((a) // b)"}),
        ("a << 1", {"(a >> 1)", "a << 2", "a << 0"}),
        ("all(a)", {"any(a)", "pass"}),
        ("min(a, b)", {"max(a, b)", "pass"}),
        ("(a > 0).all()", {"(a > 0).any()", "((a >= 0)).all()", "(a > 1).all()", "(a > -1).all()", "pass"}),
        ("exp_upper(a)", {"exp_lower(a)", "pass"}),
        ("f(up=True)", {"f(up=False)", "pass"}),
        ("a and not b", {"(a or not b)", "a and (b)"}),
        ("a[b:c]", {"a[b:c - 1]"}),
        ("[a for a in b if a]", {"[a for a in b if True]"}),
        ("a if b else c", {"a if (not (b)) else c"}),
        ("need(a, 'words 1')", {"pass"}),
        ("raise E(f'{a - 1}')", set()),
        ("'text < 1'", set()),
    ],
)
def test_an_expression_has_these_changes(line: str, changed: set[str]) -> None:
    assert {applied(line, change) for change in changes(line)} == changed


def test_a_condition_is_turned_and_a_step_dropped() -> None:
    source = "def f(a):\n    b = 'ü'\n    if a > b:\n        a += b\n    return a\n"
    found = {change.rule: applied(source, change) for change in changes(source)}
    assert found.keys() == {"condition", "comparison", "dropped"}
    assert "if (not (a > b)):" in found["condition"]
    assert found["dropped"] == source.replace("a += b", "pass")


def test_changes_say_where_they_are_and_whether_an_import_meets_them() -> None:
    source = "A = 1\nclass B:\n    c = 2\n    def d(self, e=3):\n        return 4 + 4\n"
    found = [(change.function, change.before, change.inside) for change in changes(source) if change.after == "5"]
    assert found == [("B.d", "4", True), ("B.d", "4", True)]
    assert [change.inside for change in changes(source) if change.before in "123"] == [False] * 6
    assert len({change.key for change in changes(source)}) == len(changes(source))


def test_the_same_change_elsewhere_in_a_file_keeps_its_name() -> None:
    source = "def f(a):\n    return a < 1\n"
    assert [change.key for change in changes(source)] == [change.key for change in changes("# a word\n" + source)]


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_has_changes_that_leave_a_program_and_tests_for_its_modules(group: str) -> None:
    found = list(population(group))
    assert len(found) > 100
    for module, change in found[:: len(found) // 20]:
        source = (ROOT / module).read_text(encoding="utf-8")
        other = applied(source, change)
        assert other != source
        compile(other, module, "exec")
        assert all((ROOT / name).exists() for name in places.tests_of(module))


def test_of_the_checker_the_lines_that_say_privacy_are_a_group() -> None:
    found = {change.before for module, change in population("privacy") if module.endswith("/checker.py")}
    assert {"sum(weights) == whole", "ratio * 2 ** 96 <= cap", "own + (groups - 1) * other"} <= found
    assert not any("provenance" in text for text in found)


def test_who_survived_is_explained_in_words() -> None:
    known = json.loads(SURVIVORS.read_text(encoding="utf-8"))
    for module, reasons in known.items():
        assert (ROOT / module).exists()
        for key, reason in reasons.items():
            assert " -> " in key
            assert len(reason.split()) >= 4
