"""One forged table for every rule of the checker: all else in it fits, so that this rule alone can refuse it.

What a forged law implies (ratio, estimator) is computed by a copy of the checker that refuses nothing. That the
numbers themselves are right is decided by the reader that was written from FORMAT.md alone.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign.mechanisms.window import Window
from mechdesign.tables import checker, make_table
from mechdesign.tables.document import decimal
from mechdesign.words.domains import Interval
from tests.oracles import format_reader as by_text
from tests.tables.conftest import rehashed
from tests.tables.forging import (
    HALF,
    MADE,
    ONE,
    WHOLE,
    Document,
    cap_of,
    changed,
    document,
    edges,
    fitted,
    more,
    most_beside,
    moved,
    rows_at,
    with_pairs,
)


def refusal(content: bytes) -> str:
    with pytest.raises(checker.Failed) as refused:
        checker.check(content)
    return str(refused.value)


@pytest.mark.parametrize("kind", MADE)
def test_every_number_of_a_table_is_the_one_a_second_reader_computes(kind: str) -> None:
    content = rehashed(document(kind))
    found = checker.check(content)
    by_hand = by_text.read_table(content)
    assert (found["kind"], found["bits"]) == (by_hand.kind, by_hand.bits)
    assert (found["ratio"], found["epsilon"]) == (by_hand.privacy, by_hand.epsilon)


@pytest.mark.parametrize("kind", MADE)
def test_forging_nothing_changes_nothing(kind: str) -> None:
    assert fitted(document(kind)) == rehashed(document(kind))


FINE: dict[str, Any] = {"bits": 32, "law.weights": lambda weights: [n << 16 for n in weights]}
"""The counts of a table of 16 bits as those of one of 32."""

FORGED: list[tuple[str, dict[str, Any], str]] = [
    # the frame
    ("window", {"format": "another table"}, "format: must be 'mechdesign table'"),
    ("window", {"version": 3}, "version: must be 2"),
    ("window", {"version": True}, "version: must be 2"),
    ("window", {"kind": "windows"}, "kind: must be one of"),
    ("window", {"kind": []}, "kind: must be one of"),
    ("window", {"name": 1}, "name, provenance"),
    ("window", {"provenance": []}, "name, provenance"),
    ("window", {"provenance": {"a": "b", "c": 1}}, "provenance: must hold texts"),
    ("window", {"bits": 17}, "bits: must be 16, 32, 53 or 62"),
    ("window", {"bits": "16"}, "bits: must be 16, 32, 53 or 62"),
    ("window", {"epsilon": "65"}, "epsilon: must be at least 1e-12 and at most 64"),
    ("window", {"epsilon": "1/3"}, "epsilon: must be a double"),
    ("pieces", {"epsilon": str(Fraction(1e-13))}, "epsilon: must be at least"),
    ("window", {"more": 1}, "file: must be an object with"),
    ("window", {"law.more": 1}, "law: must be an object with"),
    ("window", {"repair": {"dropped": 0, "mixed": "0"}}, "repair: must be null"),
    # windows
    ("window", {"law.outputs": lambda y: [y[1], y[0], *y[2:]]}, "law.outputs[1]: must be above"),
    ("window", {"law.outputs": lambda y: [*y, "7"]}, "law.base, outputs: must be of one length"),
    ("window", {"law.base": [], "law.caps": [], "law.outputs": []}, "law.base, outputs: must be of one length"),
    ("window", {"law.base.0": 0}, "law.base[0]: must be an integer from 1"),
    ("window", {"law.caps.1": more(1)}, "law.caps[1]: must be floor(cap base / 2^96)"),
    ("window", {"law.caps.2": more(-1)}, "law.caps[2]: must be floor(cap base / 2^96)"),
    ("window", {"law.starts.0": more(1)}, "law.starts[0]"),
    ("window", {"law.starts": lambda s: s[:-1]}, "law.starts: must be"),
    ("window", {"law.thresholds.0": "0.125"}, "law.thresholds[0]"),
    ("window", {"law.thresholds": lambda x: x[:-1]}, "law.thresholds: must be"),
    ("window", {"domain.kind": "circle"}, "domain.kind: must be interval"),
    ("window", {"domain.upper": "0"}, "domain[1]: must be above"),
    # unbiased windows
    ("unbiased", {"bits": 53}, "bits: must be 16 or 32 for unbiased"),
    ("unbiased", {"law.shift": -17}, "law.shift: out of range"),
    ("unbiased", {"law.shift": 985}, "law.shift: out of range"),
    ("unbiased", {"law.shift": "1"}, "law.shift: out of range"),
    ("unbiased", {"law.offset": "1"}, "law.offset: must be 0"),
    ("unbiased", {"law.units.0": more(1)}, "law.outputs[0]"),
    ("unbiased", {"law.means.1": more(1)}, "law.means[1]"),
    ("unbiased", {"law.starts.1": more(1)}, "law.starts[1]"),
    ("unbiased", {"domain.upper": "1.5"}, "law.means: must cover the domain"),
    ("unbiased", {"domain.lower": "-1.5"}, "law.means: must cover the domain"),
    # one row an input
    ("finite", {"domain.points.2": "1"}, "domain.points[2]: must be above"),
    ("finite", {"domain.kind": "items"}, "domain.kind, law.rows"),
    ("finite", {"law.rows": lambda rows: rows[:-1]}, "law.rows: must be as many"),
    ("finite", {"law.rows.1": lambda row: [*row, 1]}, "law.rows[1]: must be as long as outputs"),
    ("finite", {"law.rows.0.1": more(1)}, "law.rows[0]: sums to 65537, not 2^bits"),
    ("finite", {"law.rows.2.1": more(-1)}, "law.rows[2]: sums to 65535, not 2^bits"),
    ("finite", {"law.rows": lambda r: [[2 * n for n in row] for row in r]}, "law.rows[0]: sums to 131072"),
    # windows of cells
    ("pieces", {"law.cells": 2**41}, "law.cells, inside, weight, first: too large"),
    ("pieces", {"law.cells": 2**40 + 1}, "law.cells, inside, weight, first: too large"),
    ("pieces", {"law.first": 2**51}, "law.cells, inside, weight, first: too large"),
    ("pieces", {"law.first": -(2**51)}, "law.cells, inside, weight, first"),
    ("pieces", {"law.weight": 2**16}, "law.cells, inside, weight, first: too large"),
    ("pieces", {"law.weight": 0}, "law.cells, inside, weight, first[2]: must be an integer from 1"),
    ("pieces", {"law.inside": 0}, "law.cells, inside, weight, first[1]: must be an integer from 1"),
    ("pieces", {"law.first": "0"}, "law.cells, inside, weight, first[3]: must be an integer from 1"),
    ("pieces", {"law.step": "0"}, "law.step, law.scale: must be above 0"),
    ("pieces", {"law.scale": "-1"}, "law.step, law.scale: must be above 0"),
    ("pieces", {"law.step": str(2**500)}, "law.step, law.scale: must be above 0"),
    ("pieces", {"law.scale": decimal(2.0**-500)}, "law.step, law.scale: must be above 0"),
    ("pieces", {"law.anchor": str(2**60)}, "law.anchor, law.scale: must map"),
    ("pieces", {"law.weight": 1}, "law.weight: must be more than"),
    ("clamped", {"law.clamp": ["-1", "0.5"]}, "law.clamp: must be the domain"),
    ("clamped", {"law.clamp": ["1", "-1"]}, "law.clamp[1]: must be above"),
    ("clamped", {"law.clamp": ["-1"]}, "law.clamp: must be a list"),
    ("circle", {"law.first": 1}, "law.first, law.step: must be 0 and the period over cells"),
    ("circle", {"law.step": lambda step: decimal(float(step) / 2)}, "law.first, law.step: must be 0"),
    ("circle", {"law.scale": lambda scale: decimal(np.nextafter(float(scale), 9e9))}, "law.scale: must be 1 / step"),
    ("circle", {"law.anchor": lambda at: decimal(np.nextafter(float(at), 9e9))}, "law.anchor: must be (inside - 1)"),
    ("circle", {"domain.lower": "0"}, "domain: must be an object with kind period"),
    # noise
    ("additive", {"law.weights": lambda w: [2 * n for n in w]}, "law.weights: sum to 131072, not 2^bits"),
    ("additive", {"law.weights": lambda w: moved(w, 2, 1, 9000)}, "law.weights[2]: must not increase"),
    ("additive", {"law.weights": lambda w: moved(w, 5, 4, 1500)}, "law.weights[5]: must not increase"),
    ("additive", {"law.weights.5": 0}, "law.weights[5]: must be an integer from 1"),
    ("additive", {"law.tail": 0}, "law.tail: must be between 0 and 2^bits"),
    ("additive", {"law.tail": 2**16}, "law.tail: must be between 0 and 2^bits"),
    ("additive", {"law.tail": 2.0}, "file: not valid JSON: 2.0 is not allowed"),
    ("additive", {"law.tail": "9"}, "law.tail: must be between 0 and 2^bits"),
    ("additive", FINE | {"law.tail": 2**32 - 2**16 + 1}, "law.tail: the noise must end within a block"),
    ("additive", {"law.least": "0"}, "law.shift, least, most: must be integers"),
    ("additive", {"law.shift": 1001}, "law.shift: out of range"),
    ("additive", {"law.offset": "1"}, "law.offset: must be 0"),
    ("additive", {"law.least": -1, "law.weights": lambda w: [w[0] - 9, *w[1:], 9]}, "law.least: must be the grid step"),
    ("additive", {"law.most": 7, "law.weights": lambda w: [w[0] - 9, *w[1:], 9]}, "law.most: must be the grid step"),
    ("additive", {"law.weights": lambda w: [w[0] - 9, *w[1:], 9]}, "law.weights: must be as many as grid steps"),
    ("additive", {"law.weights": lambda w: [w[0] + w[-1], *w[1:-1]]}, "law.weights: must be as many as grid steps"),
    ("additive", {"law.clamp": ["0", "5"]}, "law.clamp: must be the domain"),
    # items
    ("response", {"domain.kind": "finite"}, "domain.kind: must be items"),
    ("response", {"domain.count": 2**16 + 1}, "domain.count: must be an integer from 2 to 65536"),
    ("response", {"domain.count": 1}, "domain.count: must be an integer from 2"),
    ("response", {"domain.count": True}, "domain.count: must be an integer"),
    ("response", {"law.own": more(1)}, "law.own, other: sum to 65537 over 5 groups"),
    ("response", {"law.other": more(-1)}, "law.own, other: sum to 65532 over 5 groups"),
    ("response", {"law.other": 0}, "law.own, other[1]: must be an integer from 1"),
    ("response", {"law.own": 2**16 - 4 * 13108, "law.other": 13108}, "law.own: must be more likely"),
    ("unary", {"domain.count": 2**14 + 1}, "domain.count: must be an integer from 2 to 16384"),
    ("unary", {"law.own_bit.1": more(1)}, "law.own_bit: must be two counts with sum 2^bits"),
    ("unary", {"law.other_bit.0": more(1)}, "law.other_bit: must be two counts with sum 2^bits"),
    ("unary", {"law.own_bit": lambda b: [b[0], b[1] - 1, 1]}, "law.own_bit: must be two counts with sum 2^bits"),
    ("unary", {"law.own_bit": [0, 2**16]}, "law.own_bit[0]: must be an integer from 1"),
    ("unary", {"law.own_bit": [2**15] * 2, "law.other_bit": [2**15] * 2}, "law.own: must be more likely"),
    ("hashing", {"law.hashes": 1, "law.own": 2**16}, "law.hashes: must be an integer from 2"),
    ("hashing", {"law.hashes": 2**31 + 1}, "law.hashes: must be an integer from 2 to 2147483648"),
    ("hashing", {"law.own": more(1)}, "law.own, other: sum to 65537 over 3 groups"),
    ("subset", {"domain.count": 2**14 + 1}, "domain.count: must be an integer from 2 to 16384"),
    ("subset", {"law.subset": 5}, "law.subset: must be an integer from 1 to 4"),
    ("subset", {"law.subset": 0}, "law.subset: must be an integer from 1 to 4"),
    ("subset", {"law.own": more(1)}, "law.own, other: sum to 65537, not 2^bits"),
    ("subset", {"law.other": 0, "law.own": 2**16}, "law.own, other[1]: must be an integer from 1"),
    ("subset", {"law.own": 20000, "law.other": 45536}, "law.own: must be more likely"),
    (
        "hadamard",
        {"law.blocks": 16, "law.own": 2**16 - 31, "law.other": 1},
        "law.blocks: must be an integer from 1 to 8",
    ),
    ("hadamard", {"law.blocks": 0}, "law.blocks: must be an integer from 1"),
    ("hadamard", {"law.blocks": 3, "law.own": 2**16 - 5 * 9000, "law.other": 9000}, "law.blocks: must be a power"),
    ("hadamard", {"law.own": more(1)}, "law.own, other: sum to 65537 over 4 groups"),
    ("sketch", {"law.functions": 1}, "law.functions: must be an integer from 2"),
    ("sketch", {"law.functions": 3}, "law.functions: must be a power of two"),
    ("sketch", {"law.functions": 2048}, "law.functions: must be an integer from 2 to 1024"),
    ("sketch", {"law.buckets": 1}, "law.buckets: must be an integer from 2"),
    ("sketch", {"law.buckets": 2**14 + 1}, "law.buckets: must be an integer from 2 to 16384"),
    ("sketch", {"law.functions": 1024, "law.buckets": 4097}, "law.functions, buckets: must be at most 4194304"),
    ("sketch", {"law.other_bit.0": more(-1)}, "law.other_bit: must be two counts with sum 2^bits"),
    # what else it says
    ("repaired", {"repair.mixed": "3/2"}, "repair.mixed: must be between 0 and 1"),
    ("repaired", {"repair.mixed": "-1/2"}, "repair.mixed: must be between 0 and 1"),
    ("repaired", {"repair.dropped": -1}, "repair.dropped[0]: must be an integer from 0"),
    ("repaired", {"repair.more": 1}, "repair: must be an object with dropped mixed"),
    ("labelled", {"labels.inputs": ["yes", "yes"]}, "labels.inputs: must be different"),
    ("labelled", {"labels.outputs": ["a"]}, "labels.outputs: must be a list of 2"),
    ("response", {"labels": {"inputs": None, "outputs": ["a"]}}, "labels.outputs: must be null, as reports are bytes"),
    ("response", {"labels": {"inputs": ["a"], "outputs": None}}, "labels.inputs: must be a list of 5"),
    ("window", {"labels": {"inputs": ["a"], "outputs": None}}, "labels: must be null but for finite tables"),
    ("window", {"workload": {}}, "workload: must be left out but for finite tables"),
    ("absolute", {"certificate.exponent": 3}, "certificate.exponent: must be 1 or 2"),
    ("absolute", {"certificate.exponent": True}, "certificate.exponent: must be 1 or 2"),
    ("absolute", {"certificate.criterion": "average"}, "certificate.criterion: must be 'worst case'"),
    ("absolute", {"certificate.error": "1"}, "certificate.error: the worst error is"),
    ("absolute", {"certificate.lower": "0"}, "certificate.lower: the atoms prove"),
    ("absolute", {"certificate.atoms": []}, "certificate.atoms: must be a list"),
    ("absolute", {"certificate.atoms.0.1": "-1"}, "certificate.atoms: must have r at least 0 and w above 0"),
    ("absolute", {"certificate.atoms.0.2": "0"}, "certificate.atoms: must have r at least 0 and w above 0"),
    ("absolute", {"certificate.atoms.0.0": "2"}, "certificate.atoms[0]: must be an input of the domain"),
    ("finite", {"certificate": {}}, "certificate: must be an object with"),
]


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    FORGED,
    ids=[f"{kind}-{'-'.join(changes)}-{i}" for i, (kind, changes, _) in enumerate(FORGED)],
)
def test_a_table_that_breaks_one_rule_is_refused_by_it(kind: str, changes: dict[str, Any], words: str) -> None:
    forged = document(kind)
    for path, value in changes.items():
        changed(forged, path, value)
    assert words in refusal(fitted(forged))


# -- privacy: the last count within the cap passes, the first one beyond it does not -----------------------------------


@pytest.mark.parametrize(("kind", "change", "last"), edges(), ids=lambda value: getattr(value, "__name__", str(value)))
@pytest.mark.parametrize("epsilon", ["1", "3/2"])
def test_the_last_count_within_the_cap_passes_and_the_next_one_does_not(
    kind: str, change: Callable[[Document, int], None], last: Callable[[Fraction], int], epsilon: str
) -> None:
    forged = document(kind) | {"epsilon": epsilon}
    most = last(cap_of(forged))
    change(forged, most)
    within = fitted(forged)
    assert checker.check(within)["ratio"] == by_text.read_table(within).privacy
    change(forged, most + 1)
    beyond = fitted(forged)
    assert re.search("above cap / 2.96|is over cap times", refusal(beyond))
    with pytest.raises(by_text.Refused):
        by_text.read_table(beyond)


# -- the ends of what is allowed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("response", {"domain.count": 2**16, "law.own": 1 + 1, "bits": 32}),
        ("unary", {"domain.count": 2**14}),
        ("unary", {"domain.count": 2}),
        ("subset", {"domain.count": 3, "law.subset": 2, "law.own": 2**16 - 19000, "law.other": 19000}),
        ("subset", {"law.subset": 1, "law.own": 20000, "law.other": 45536}),
        ("hashing", {"law.hashes": 2, "law.own": 40000, "law.other": 25536}),
        ("hadamard", {"law.blocks": 8, "law.own": 2**16 - 15 * 4000, "law.other": 4000}),
        ("hadamard", {"law.blocks": 1, "law.own": 40000, "law.other": 25536}),
        ("sketch", {"law.functions": 2}),
        ("sketch", {"law.functions": 1024, "law.buckets": 4096}),
        ("sketch", {"law.functions": 256, "law.buckets": 2**14}),
        ("sketch", {"law.buckets": 2}),
        ("pieces", {"law.first": 2**51 - 1}),
        ("pieces", {"law.first": 1 - 2**51}),
        ("pieces", {"law.cells": 2**40, "law.inside": 2**39, "law.weight": 40000}),
        ("pieces", {"law.step": decimal(float(np.nextafter(2.0**500, 0)))}),
        ("pieces", {"law.anchor": decimal(-(2.0**52) + 3), "law.scale": "1"}),
        ("additive", {"law.tail": 2**16 - 1}),
        ("additive", FINE | {"law.tail": 2**32 - 2**16}),
        ("repaired", {"repair.mixed": "1"}),
        ("repaired", {"repair.mixed": "0", "repair.dropped": 0}),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else str(value),
)
def test_what_lies_just_within_its_bounds_passes_both_readers(kind: str, changes: dict[str, Any]) -> None:
    forged = document(kind)
    for path, value in changes.items():
        changed(forged, path, value)
    if kind == "response":  # own + (k - 1) other = 2^32
        forged["law"] |= {"own": 2**32 - (2**16 - 1) * 65535, "other": 65535}
    content = fitted(forged)
    assert checker.check(content)["ratio"] == by_text.read_table(content).privacy


@pytest.mark.parametrize("base", [[2**14, 2**14, 2**14, 2**14 + 1], [5000, 5000, 5000, 5000]])
def test_rows_that_cannot_sum_to_all_counts_are_refused(base: list[int]) -> None:
    forged = document("window")
    forged["law"]["base"] = base
    forged["law"]["caps"] = [int(forged["cap"]) * n >> 96 for n in base]
    assert sum(base) > 2**16 or sum(forged["law"]["caps"]) < 2**16
    assert "law.base, caps: rows cannot sum to 2^bits" in refusal(fitted(forged))


@pytest.mark.parametrize("least", [2**62 // 4, 2**62 // 5])
def test_caps_that_do_not_fit_into_63_bits_together_are_refused(least: int) -> None:
    forged = document("wide window")
    forged["law"]["base"] = [least] * 4
    forged["law"]["caps"] = [int(forged["cap"]) * least >> 96] * 4
    assert sum(forged["law"]["caps"]) >= 2**63 > max(forged["law"]["caps"])
    assert "law.caps: must sum to less than 2^63" in refusal(fitted(forged))


def test_means_that_need_more_than_62_bits_are_refused() -> None:
    """The same numbers on a finer grid: all fits, but samplers could not compare the means."""
    forged = document("unbiased")
    finer = 62 - max(map(abs, forged["law"]["means"])).bit_length()
    for step, passes in ((finer, True), (finer + 1, False)):
        law = copy.deepcopy(forged["law"])
        law |= {name: [n << step for n in law[name]] for name in ("units", "means")}
        content = fitted(forged | {"law": law | {"shift": law["shift"] + step}})
        if passes:
            checker.check(content)
        else:
            assert re.search(r"law\.means(\[0\])?: must be (below 2\^62|an integer from)", refusal(content))


@pytest.mark.parametrize("length", [1100, 1101])
def test_a_text_of_a_number_is_read_up_to_1100_characters(length: int) -> None:
    forged = changed(document("pieces"), "law.anchor", "0." + "0" * (length - 2))
    words = "not an exact double" if length == 1100 else "must be a decimal text"
    assert refusal(rehashed(forged)) == f"law.anchor[0]: {words}"


def test_a_file_that_is_not_there_fails_in_words(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert checker.main([str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().out == "FAIL file: No such file or directory\n"


def test_the_command_says_pass_or_the_rule(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.json"
    path.write_bytes(rehashed(document("finite")))
    assert checker.main([str(path)]) == 0
    ratio = float(by_text.read_table(path.read_bytes()).privacy)
    assert capsys.readouterr().out == f"PASS finite table, 2^16, ratio {ratio!r} <= e^1\n"
    path.write_bytes(rehashed(document("finite") | {"name": 1}))
    assert checker.main([str(path)]) == 1
    assert capsys.readouterr().out == "FAIL name, provenance: must be a text and an object\n"
    assert checker.main([]) == 2
    assert capsys.readouterr().out == "usage: python checker.py TABLE.json\n"


# -- an epsilon for each pair ------------------------------------------------------------------------------------------


def test_every_pair_keeps_its_own_limit_to_the_last_count() -> None:
    """Row 1 is as far from row 0 as 1/2 allows, row 2 as far from row 1; rows 0 and 2 have the limit 1."""
    first = 20000
    second = most_beside(first, HALF)
    third = min(most_beside(second, HALF), most_beside(first, ONE))
    of = [[-1, 0, 1], [0, -1, 0], [1, 0, -1]]
    content = with_pairs(rows_at(first, second, third), [HALF, ONE], of)
    assert checker.check(content)["ratio"] == by_text.read_table(content).privacy
    for rows, pair in (((first, second + 1, third), (1, 0)), ((first, second, third + 1), (2, 1))):
        words = refusal(with_pairs(rows_at(*rows), [HALF, ONE], of))
        assert re.fullmatch(r"law.rows\[\d\]: a count is over the limit of inputs (\d) and (\d) .*", words)
        assert {int(n) for n in re.findall(r"inputs (\d) and (\d)", words)[0]} == set(pair)


def test_a_limit_holds_in_one_direction_only_where_it_is_said_in_one() -> None:
    """Row 0 is at most e^(1/4) times row 1, but not row 1 as much of row 0."""
    rows, quarter = rows_at(60000, 57000), "1/4"
    assert 60000 < 1.28 * 57000
    assert WHOLE - 57000 > 1.29 * (WHOLE - 60000)
    assert checker.check(with_pairs(rows, [quarter], [[-1, 0], [-1, -1]]))
    assert "inputs 1 and 0" in refusal(with_pairs(rows, [quarter], [[-1, -1], [0, -1]]))


@pytest.mark.parametrize(
    ("epsilons", "of", "words"),
    [
        ("1", [[-1, 0], [0, -1]], "law.pairs.epsilons, of: must be lists"),
        (["1"], {}, "law.pairs.epsilons, of: must be lists"),
        (["1"], [[-1, 0]], "law.pairs.of: must be 2 rows"),
        (["65"], [[-1, 0], [0, -1]], "law.pairs.epsilons[0]: must be a double, 1e-12 to 64"),
        (["1/3"], [[-1, 0], [0, -1]], "law.pairs.epsilons[0]: must be a double, 1e-12 to 64"),
        ([str(Fraction(1e-13))], [[-1, 0], [0, -1]], "law.pairs.epsilons[0]: must be a double, 1e-12 to 64"),
        (["1", "1/2"], [[-1, 0], [1, -1]], "law.pairs.epsilons: must increase"),
        (["1", "1"], [[-1, 0], [1, -1]], "law.pairs.epsilons: must increase"),
        (["1", "2"], [[-1, 0], [0, -1]], "law.pairs.epsilons: must all be used"),
        (["1", "2"], [[-1, 1], [1, -1]], "law.pairs.epsilons: must all be used"),
        (["1"], [[-1, 0, 0], [0, -1, 0]], "law.pairs.of[0]: must be 2 entries"),
        (["1"], [[-1, 1], [0, -1]], "law.pairs.of[0]: must be places in epsilons"),
        (["1"], [[-1, 0], [0, 0]], "law.pairs.of[1]: must be places in epsilons, -1 at place 1"),
        (["1"], [[-1, -2], [0, -1]], "law.pairs.of[0][1]: must be an integer from -1"),
    ],
)
def test_limits_of_pairs_that_are_no_limits_are_refused(epsilons: Any, of: Any, words: str) -> None:
    assert words in refusal(with_pairs(rows_at(30000, 33000), epsilons, of))


def test_all_limits_of_pairs_are_at_most_the_whole() -> None:
    assert checker.check(with_pairs(rows_at(30000, 33000), ["64"], [[-1, 0], [0, -1]]))
    least = str(Fraction(1e-12))
    assert checker.check(with_pairs(rows_at(30000, 30000), [least], [[-1, 0], [-1, -1]]))


# -- windows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.5])
def test_the_ratio_of_random_windows_is_that_of_all_their_rows(epsilon: float) -> None:
    """Seed 11. Also where outer outputs lie far from the domain, so that no start fills or empties their columns."""
    rng, ratios = np.random.default_rng(11), set()
    for _ in range(25):
        size = int(rng.integers(2, 7))
        points = np.sort(rng.choice(np.arange(-40, 60), size, replace=False)) / 10
        weights = rng.uniform(0.02, 1, size)
        ratio = math.exp(epsilon) * (1 - 1e-9)
        base = weights / weights.sum() * rng.uniform(1.02 / ratio, 0.98)
        content = make_table(Window(epsilon, Interval(0, 1), points, base, ratio), 16).content
        exact = by_text.read_table(content).privacy
        assert checker.check(content)["ratio"] == exact
        ratios.add(exact)
    assert len(ratios) > 8


def one_row(base: list[int]) -> Document:
    """A window that no input moves."""
    forged = document("window")
    caps = [int(forged["cap"]) * n >> 96 for n in base]
    forged["law"] |= {"base": base, "caps": caps, "starts": [0], "thresholds": []}
    return forged


def test_a_window_whose_base_or_caps_are_all_of_it_passes() -> None:
    whole_base = one_row([16000, 16768, 16384, 16384])
    assert checker.check(fitted(whole_base))["ratio"] == 1
    caps = int(whole_base["cap"])
    for first in range(7000, 9000):  # counts whose caps are 2^16 to the last one
        rest = -(-((WHOLE - sum(caps * n >> 96 for n in (first, 7000, 4000))) << 96) // caps)
        if sum(caps * n >> 96 for n in (first, 7000, 4000, rest)) == WHOLE:
            break
    else:
        raise AssertionError
    content = fitted(one_row([first, 7000, 4000, rest]))
    assert checker.check(content)["ratio"] == by_text.read_table(content).privacy == 1


@pytest.mark.parametrize("kind", ["pieces", "response", "finite"])
@pytest.mark.parametrize("step", [-1, 1])
def test_a_cap_is_the_one_of_its_epsilon(kind: str, step: int) -> None:
    forged = document(kind)
    forged["cap"] = str(int(forged["cap"]) + step)
    assert refusal(rehashed(forged)) == "cap: must be floor(2^96 e^epsilon)"


@pytest.mark.parametrize("epsilon", ["1", "1/2", "5", "64", str(Fraction(1e-12)), str(Fraction(0.3))])
def test_the_cap_is_the_floor_of_the_exponential(epsilon: str) -> None:
    """Between the sum of the series and that sum with all that is left of it."""
    number, term, total = Fraction(epsilon), Fraction(1), Fraction(0)
    for n in range(1, 500):
        total += term
        term = term * number / n
    assert total * 2**96 - 1 < checker.exponential(number) <= total * 2**96
    assert checker.exponential(number) == int((total + 2 * term) * 2**96)
