"""One forged table for every rule of the privacy page: all else in it fits, so that this rule alone can refuse it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from mechdesign.tables import privacy_checker
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
    rows_at,
    with_pairs,
)


def refusal(content: bytes) -> str:
    with pytest.raises(privacy_checker.Failed) as refused:
        privacy_checker.check(content)
    return str(refused.value)


@pytest.mark.parametrize("kind", MADE)
def test_every_kind_is_private_for_its_epsilon(kind: str) -> None:
    forged = document(kind)
    assert privacy_checker.check(rehashed(forged)) == Fraction(forged["epsilon"])


@pytest.mark.parametrize(("kind", "change", "last"), edges(), ids=lambda value: getattr(value, "__name__", str(value)))
@pytest.mark.parametrize("epsilon", ["1", "3/2"])
def test_the_last_count_within_the_cap_passes_and_the_next_one_does_not(
    kind: str, change: Callable[[Document, int], None], last: Callable[[Fraction], int], epsilon: str
) -> None:
    forged = document(kind) | {"epsilon": epsilon}
    most = last(cap_of(forged))
    change(forged, most)
    assert privacy_checker.check(fitted(forged)) == Fraction(epsilon)
    change(forged, most + 1)
    assert re.fullmatch(r"law\S*: \d+ is over cap times \d+", refusal(fitted(forged)))


@pytest.mark.parametrize("kind", ["response", "unary", "pieces", "subset"])
def test_what_is_one_s_own_may_not_be_the_rarer_by_more_either(kind: str) -> None:
    """The same laws with own and other exchanged: as private, and no more so with a count more."""
    edge = {name: (change, last) for name, change, last in edges()}[kind]
    forged = document(kind)
    most = edge[1](cap_of(forged))
    edge[0](forged, most)
    law = forged["law"]
    match kind:
        case "response":
            law |= {"own": law["other"], "other": law["own"]}
        case "unary":
            law |= {"own_bit": law["other_bit"], "other_bit": law["own_bit"]}
        case "pieces":  # the window holds 8 of 11 cells, so that the other 3 are the likely ones
            law |= {"inside": 8, "weight": WHOLE - most}
        case "subset":  # 3 of 5, and one's own is in it as rarely as it may be
            law |= {"subset": 3, "own": law["other"], "other": law["own"]}
    assert privacy_checker.check(rehashed(forged)) == 1
    match kind:
        case "unary":
            law["own_bit"] = [law["own_bit"][0] + 1, law["own_bit"][1] - 1]
        case "pieces":
            law["weight"] -= 1
        case _:
            law |= {"own": law["own"] - 1, "other": law["other"] + 1}
    assert re.fullmatch(r"law\S*: \d+ is over cap times \d+", refusal(rehashed(forged)))


# a domain of five and a half steps of 2^-1000
SMALL = {"law.offset": "0", "domain.lower": "0", "domain.upper": f"{5.5 * 2.0**-1000:.400f}"}


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        ("window", {"format": "another table"}, "format, version, bits"),
        ("window", {"version": 1}, "format, version, bits"),
        ("window", {"bits": 17}, "format, version, bits"),
        ("window", {"epsilon": "65"}, "epsilon: must be at most 64"),
        ("window", {"epsilon": "1e0"}, "epsilon: missing, or malformed"),
        ("window", {"epsilon": 1}, "epsilon: missing, or malformed"),
        ("window", {"epsilon": "0"}, "epsilon: missing, or malformed"),
        ("window", {"law.outputs": lambda y: [*y, "7"]}, "law.base, caps, outputs: not as many"),
        ("window", {"law.caps": lambda caps: [*caps, 9]}, "law.base, caps, outputs: not as many"),
        ("window", {"law.base.0": 2**15}, "law.base: must be at most caps"),
        ("window", {"law.thresholds": lambda x: x[:-1]}, "law.starts: must be"),
        ("window", {"law.starts.0": -1}, "law.starts: must be 0 to"),
        ("unbiased", {"law.starts": lambda s: s[:-1]}, "law.starts: must be"),
        ("unbiased", {"law.shift": 985}, "law.shift: out of range"),
        ("unbiased", {"law.means": lambda m: [m[1], m[1]]}, "law.means: must increase"),
        ("unbiased", {"law.means.0": -1}, "law.means: miss inputs"),
        ("unbiased", {"law.means.0": -(2**62)}, "law.means: miss inputs"),
        ("unbiased", {"law.means.1": 2**62}, "law.means: miss inputs"),
        ("unbiased", {"domain.upper": "-2"}, "law.means: miss inputs"),
        ("unbiased", {"domain.upper": "-1"}, "law.means: miss inputs"),
        (
            "unbiased",
            {"law.means": lambda m: [m[0], m[1], m[0] + 1], "law.starts": [0] * 3},
            "law.means: must increase",
        ),
        ("unbiased", {"law.means": [], "law.starts": []}, "law.means: must increase"),
        ("finite", {"domain.kind": "items"}, "domain.kind: must be finite"),
        ("finite", {"law.rows": lambda rows: rows[:-1]}, "law.rows: not one a point"),
        ("finite", {"law.rows": [], "domain.points": []}, "law.rows: not one a point"),
        ("finite", {"domain.points.2": "1"}, "domain.points: must increase"),
        ("finite", {"law.rows.1": lambda row: [row[0] - 1, *row[1:], 1]}, "law.rows[1]: must be as long as outputs"),
        ("finite", {"law.rows.0.1": more(1)}, "law.rows[0]: sums to 65537, not 2^bits"),
        ("pieces", {"law.cells": 2**40 + 1}, "law.inside, cells"),
        ("pieces", {"law.inside": 0}, "law.inside, cells"),
        ("pieces", {"law.inside": 9, "law.cells": 9}, "law.inside, cells"),
        ("pieces", {"law.scale": str(2**70)}, "domain: must lie within 2^62 steps"),
        ("pieces", {"domain.lower": str(-(2**62)), "law.scale": "1", "law.anchor": "0"}, "domain: must lie within"),
        ("pieces", {"domain.upper": str(2**62), "law.scale": "1", "law.anchor": "0"}, "domain: must lie within"),
        ("additive", {"kind": "noise"}, "kind: not known"),
        ("additive", {"law.weights": lambda w: [2 * n for n in w]}, "law.weights, tail: must sum to"),
        ("additive", {"law.tail": 2**16}, "law.weights, tail: must sum to"),
        ("additive", {"law.weights": lambda w: w[::-1]}, "law.weights: must not increase"),
        ("additive", {"domain.upper": "6.5"}, "law.weights: not all steps of the domain"),
        ("additive", {"domain.lower": "-0.5"}, "law.weights: not all steps of the domain"),
        ("additive", {"domain.lower": "6"}, "law.weights: not all steps of the domain"),
        ("additive", {"domain.lower": "9"}, "law.weights: not all steps of the domain"),
        ("response", {"domain.count": 2**16 + 1}, "domain.count: must be 2 to 2^16"),
        ("response", {"domain.count": 1, "law.own": 2**16}, "domain.count: must be 2 to 2^16"),
        ("response", {"kind": "responses"}, "kind: not known"),
        ("response", {"law.own": 2**16, "law.other": 0}, "law.own, other: must be above 0"),
        ("response", {"law.own": 0, "law.other": 2**14}, "law.own, other: must be above 0"),
        ("response", {"law.own": more(1)}, "law.own, other: must sum to 2^bits"),
        ("hashing", {"law.hashes": 1, "law.own": 2**16, "law.other": 2**15}, "law.own, other: must be above 0"),
        (
            "hadamard",
            {"law.blocks": 0, "law.own": 2**16 + 2**15, "law.other": 2**15},
            "law.own, other: must be above 0",
        ),
        ("subset", {"law.subset": 5}, "law.own, other: must be above 0"),
        ("subset", {"law.subset": 0}, "law.own, other: must be above 0"),
        ("subset", {"law.own": more(1)}, "law.own, other: must sum to 2^bits"),
        ("unary", {"law.own_bit": [1, 2**15, 2**15 - 1]}, "law.own_bit: no counts"),
        ("unary", {"law.other_bit": [1, 2**15, 2**15 - 1]}, "law.own_bit: no counts"),
        ("unary", {"law.own_bit": [0, 2**16]}, "law.own_bit: no counts"),
        ("unary", {"law.other_bit": [2**16, 0]}, "law.own_bit: no counts"),
        ("unary", {"law.own_bit.0": more(1)}, "law.own_bit, other_bit: must sum to 2^bits"),
        ("sketch", {"law.other_bit.0": more(1)}, "law.own_bit, other_bit: must sum to 2^bits"),
        *(("sketch", {"law.functions": n}, "law.buckets, functions") for n in (1, 6, 2048)),
        *(("sketch", {"law.buckets": n}, "law.buckets, functions") for n in (1, 2**14 + 1)),
        *(("window", {"bits": bits}, "format, version, bits") for bits in (52, 54)),
        ("window", {"cap": "1"}, "cap: must be"),
        ("window", {"law.base.0": "x"}, "base: missing, or malformed"),
        ("pieces", {"law.weight": "5"}, "weight: missing, or malformed"),
        ("pieces", {"law.inside": True}, "inside: missing, or malformed"),
        ("pieces", {"domain.kind": "disc"}, "domain.kind: must be interval or circle"),
        ("additive", {"law.weights": lambda w: [*w[:-2], w[-1], w[-2]]}, "law.weights: must not increase"),
        ("additive", {"law.shift": 1001, **SMALL}, "law.shift: out of range"),
        ("wide window", {"law.base": [2**60] * 4, "law.caps": [2**61] * 4}, "law.base, caps: rows cannot sum"),
    ],
)
def test_a_law_that_breaks_one_rule_is_refused_by_it(kind: str, changes: dict[str, Any], words: str) -> None:
    forged = document(kind)
    for path, value in changes.items():
        changed(forged, path, value)
    assert words in refusal(rehashed(forged))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("pieces", {"law.inside": 2**39, "law.cells": 2**40, "law.weight": 2**15}),
        ("pieces", {"domain.upper": str(2**62 - 512), "law.scale": "1", "law.anchor": "0"}),
        ("pieces", {"domain.lower": str(512 - 2**62), "law.scale": "1", "law.anchor": "0"}),
        ("additive", {"domain.upper": "5.5"}),
        ("additive", {"domain.lower": "0.5"}),
        ("additive", {"law.tail": 2**16 - 1}),
        ("response", {"domain.count": 2**16, "bits": 32, "law.own": 2**32 - (2**16 - 1) * 65535, "law.other": 65535}),
        ("unary", {"domain.count": 2}),
        ("hashing", {"law.hashes": 2, "law.own": 40000, "law.other": 25536}),
        ("hadamard", {"law.blocks": 1, "law.own": 40000, "law.other": 25536}),
        ("subset", {"law.subset": 1, "law.own": 20000, "law.other": 45536}),
        ("subset", {"law.subset": 4, "law.own": 54000, "law.other": 11536}),
        ("window", {"law.starts.0": 0, "law.thresholds.0": "7"}),
        ("unbiased", {"law.means": [1 - 2**62, 2**62 - 1]}),
        ("unbiased", {"law.means": lambda m: [m[0], 0, m[1]], "law.starts": [0] * 3}),
        ("finite", {"law.rows": [[2**16 - 2, 1, 1]] * 3}),
        ("finite", {"law.rows": [[2**16 - 2, 1, 1]], "domain.points": ["0"]}),
        *(("sketch", {"law.functions": n}) for n in (2, 8, 1024)),
        *(("sketch", {"law.buckets": n}) for n in (2, 2**14)),
        ("response", {"bits": 53, "domain.count": 2, "law.own": 2**52, "law.other": 2**52}),
        ("response", {"domain.count": 2**16, "law.own": 1, "law.other": 1}),
        ("unary", {"law.own_bit": [1, 2**16 - 1], "law.other_bit": [1, 2**16 - 1]}),
        ("window", {"law.base": [2**14] * 4, "law.caps": [2**14] * 4, "law.starts": [0], "law.thresholds": []}),
        ("pieces", {"law.inside": 1, "law.cells": 2, "law.weight": 2**15}),
        ("additive", {"law.shift": 1000, **SMALL}),
        ("additive", {"law.shift": 0, "law.offset": "0", "domain.lower": "0", "domain.upper": "1"}),
    ],
)
def test_what_lies_just_within_its_bounds_passes(kind: str, changes: dict[str, Any]) -> None:
    forged = document(kind)
    for path, value in changes.items():
        changed(forged, path, value)
    assert privacy_checker.check(rehashed(forged)) == Fraction(forged["epsilon"])


def test_means_at_the_very_ends_of_the_domain_cover_it() -> None:
    forged = document("unbiased")
    end = 1 << forged["law"]["shift"] + forged["bits"]  # of [-1, 1], about 0
    forged["law"] |= {"means": [-end, end]}
    assert privacy_checker.check(rehashed(forged)) == 1
    for means in ([1 - end, end], [-end, end - 1]):
        forged["law"]["means"] = means
        assert "law.means: miss inputs" in refusal(rehashed(forged))


def test_a_report_that_no_row_has_is_no_report() -> None:
    forged = changed(document("finite"), "law.rows", [[2**16 - 1, 1, 0]] * 3)
    assert refusal(rehashed(forged)) == "law.rows[][2]: 0 is over cap times 0"


@pytest.mark.parametrize("content", [b"[]\n", rehashed(document("window"))[:-1], rehashed(document("window")) + b" "])
def test_what_is_no_canonical_object_is_refused(content: bytes) -> None:
    assert "file: not canonical" in refusal(content)


def test_entries_in_another_order_are_not_canonical() -> None:
    said = json.loads(rehashed(document("window")))
    turned = json.dumps({name: said[name] for name in sorted(said, reverse=True)}, separators=(",", ":")) + "\n"
    assert "file: not canonical" in refusal(turned.encode())


def test_a_hash_of_something_else_is_refused() -> None:
    content = rehashed(document("window"))
    own = json.loads(content)["sha256"].encode()
    assert refusal(content.replace(own, own[::-1])) == "sha256: not of this content"


def test_an_epsilon_of_64_is_the_last() -> None:
    assert privacy_checker.check(fitted(document("response") | {"epsilon": "64"})) == 64


def test_no_limit_at_all_is_a_limit_of_pairs() -> None:
    assert privacy_checker.check(with_pairs(rows_at(30000, 33000), ["1"], [[-1, -1], [-1, -1]])) == 2


def test_a_file_of_64_megabytes_is_read() -> None:
    assert refusal(b" " * (64 * 2**20)).startswith("file: not JSON")


def test_a_file_of_more_than_64_megabytes_is_refused() -> None:
    assert refusal(b" " * (64 * 2**20 + 1)) == f"file: larger than {64 * 2**20} bytes"


def test_the_last_start_is_where_the_gains_end() -> None:
    forged = document("window")
    room = sum(forged["law"]["caps"]) - WHOLE
    assert privacy_checker.check(rehashed(changed(forged, "law.starts.0", room))) == 1
    assert f"law.starts: must be 0 to {room}" in refusal(rehashed(changed(forged, "law.starts.0", room + 1)))


@pytest.mark.parametrize("base", [[2**14, 2**14, 2**14, 2**14 + 1], [5000, 5000, 5000, 5000]])
def test_rows_that_cannot_sum_to_all_counts_are_refused(base: list[int]) -> None:
    forged = document("window")
    forged["law"] |= {"base": base, "caps": [int(forged["cap"]) * n >> 96 for n in base], "starts": [0]}
    forged["law"]["thresholds"] = []
    assert "law.base, caps: rows cannot sum to 2^bits" in refusal(rehashed(forged))


@pytest.mark.parametrize("least", [2**62 // 4, 2**62 // 5])
def test_caps_that_do_not_fit_into_63_bits_together_are_refused(least: int) -> None:
    forged = document("wide window")
    forged["law"] |= {"base": [least] * 4, "caps": [int(forged["cap"]) * least >> 96] * 4}
    assert "law.base, caps: rows cannot sum to 2^bits" in refusal(rehashed(forged))


# -- an epsilon for each pair ------------------------------------------------------------------------------------------


def test_every_pair_keeps_its_own_limit_to_the_last_count() -> None:
    """Row 1 is as far from row 0 as 1/2 allows, row 2 as far from row 1; rows 0 and 2 have the limit 1."""
    first = 20000
    second = most_beside(first, HALF)
    third = min(most_beside(second, HALF), most_beside(first, ONE))
    of = [[-1, 0, 1], [0, -1, 0], [1, 0, -1]]
    assert privacy_checker.check(with_pairs(rows_at(first, second, third), [HALF, ONE], of)) == 2
    for rows, pair in (((first, second + 1, third), {0, 1}), ((first, second, third + 1), {1, 2})):
        words = refusal(with_pairs(rows_at(*rows), [HALF, ONE], of))
        found = re.fullmatch(r"law.rows\[(\d)\]: over (\d)", words)
        assert found is not None
        assert {int(n) for n in found.groups()} == pair


def test_a_limit_holds_in_one_direction_only_where_it_is_said_in_one() -> None:
    rows, quarter = rows_at(60000, 57000), "1/4"
    assert privacy_checker.check(with_pairs(rows, [quarter], [[-1, 0], [-1, -1]])) == 2
    assert refusal(with_pairs(rows, [quarter], [[-1, -1], [0, -1]])) == "law.rows[1]: over 0"


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ([[-1, 0]], "law.pairs.of: not square"),
        ([[-1, 0], [0, -1, 0]], "law.pairs.of: not square"),
        ([[-1, 0], [0]], "law.pairs.of: not square"),
        ([[-1, 0], [1, -1]], "law.pairs.of: no such epsilon"),
        ([[-1, 1], [0, -1]], "law.pairs.of: no such epsilon"),
        ([[-1, -2], [0, -1]], "law.pairs.of: no such epsilon"),
    ],
)
def test_limits_of_pairs_that_are_no_limits_are_refused(of: list[list[int]], words: str) -> None:
    assert words in refusal(with_pairs(rows_at(30000, 33000), ["1"], of))
