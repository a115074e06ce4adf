"""Is a table private? ``python privacy_checker.py TABLE.json`` prints PASS, or FAIL and the reason.

A report is a function of a number j, drawn from a row of counts; the input only says which row, or
the chances of rows (FORMAT.md). So a table is epsilon-LDP if every input has a row, rows sum to
2^bits, and no two rows' counts of a j differ by more than the factor cap / 2^96 <= e^epsilon; in a
finite table, where a pair of inputs has an epsilon of its own, also by no more than that one's.
This is decided here, in whole numbers (inputs in doubles, as samplers do); checker.py does more.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, inf
from pathlib import Path
from typing import Any

LARGEST, POWERS = 64 * 2**20, [2**i for i in range(1, 11)]
NUMBER, WORD = r"-?[0-9]+([.][0-9]+)?", r"[a-z0-9 ]+"
RATIO = r"[1-9][0-9]{0,999}(/[1-9][0-9]{0,999})?"
OF_FORM: list[tuple[Any, str]] = [  # and all others are whole numbers
    ([int], "base caps starts means weights own_bit other_bit"),
    ([[int]], "rows of"),
    ([RATIO], "epsilons"),
    (NUMBER, "offset anchor scale lower upper period"),
    ([NUMBER], "outputs thresholds points"),
    (WORD, "format kind cap sha256"),
    (RATIO, "epsilon"),
    (dict, "domain law pairs"),
]
FORMS = {name: form for form, names in OF_FORM for name in names.split()}
canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Failed(Exception):
    """Begins with the entry that is wrong."""


class Entries(dict[str, Any]):
    """An object of the file; what is read from it is there, and of its form."""

    def __getitem__(self, name: str) -> Any:
        form = FORMS.get(name, int)
        need(name in self and fits(self.get(name), form), f"{name}: missing, or malformed")
        return self.get(name)


def fits(value: Any, form: Any) -> bool:
    if isinstance(form, list):
        return isinstance(value, list) and all(fits(part, form[0]) for part in value)
    if isinstance(form, str):
        return isinstance(value, str) and re.fullmatch(form, value) is not None
    return isinstance(value, form) and not isinstance(value, bool)


def need(true: object, reason: str) -> None:
    if not true:
        raise Failed(reason)


def check(content: bytes) -> Fraction:
    """The epsilon for which the law in a table file is private; `Failed` says why there is none."""
    need(len(content) <= LARGEST, f"file: larger than {LARGEST} bytes")
    try:  # floats are written as texts
        t = json.loads(content, parse_float=str, parse_constant=str, object_hook=Entries)
        is_canonical = type(t) is Entries and canonical(t) + "\n" == content.decode()
    except (ValueError, RecursionError) as error:
        raise Failed(f"file: not JSON: {error}") from None
    need(is_canonical, "file: not canonical, no object, a key twice, float or NaN")
    body = canonical({key: t.get(key) for key in t if key != "sha256"}) + "\n"
    need(t["sha256"] == hashlib.sha256(body.encode()).hexdigest(), "sha256: not of this content")
    known = (t["format"], t["version"]) == ("mechdesign table", 2) and t["bits"] in (16, 32, 53, 62)
    need(known, "format, version, bits: must be 'mechdesign table', 2 and 16, 32, 53 or 62")
    cap = exponential(epsilon := Fraction(t["epsilon"]))
    need(t["cap"] == str(cap), f"cap: must be {cap}")
    for most, least, entry in extremes(t["kind"], t["law"], t["domain"], t["bits"]):
        need(least > 0 and most << 96 <= cap * least, f"{entry}: {most} is over cap times {least}")
    return epsilon


def exponential(epsilon: Fraction) -> int:
    """At most 2^96 e^epsilon: every term of the series is rounded down, at 2^-400."""
    need(epsilon <= 64, "epsilon: must be at most 64")
    terms = [1 << 400]
    while terms[-1]:
        terms.append(terms[-1] * epsilon.numerator // (epsilon.denominator * len(terms)))
    return sum(terms) >> 304


def places(domain: Any, origin: str, scale: str, shift: int = 0) -> tuple[float, float]:
    """The ends of the domain on the law's grid: rounding keeps the order, so inputs lie between."""
    need(domain["kind"] in ("interval", "circle"), "domain.kind: must be interval or circle")
    is_circle = domain["kind"] == "circle"
    ends = ("0", domain["period"]) if is_circle else (domain["lower"], domain["upper"])
    need(abs(shift) <= 1000, "law.shift: out of range")
    low, high = ((float(x) - float(origin)) * float(scale) * 2.0**shift for x in ends)
    need(abs(low) < 2**62 > abs(high), "domain: must lie within 2^62 steps of the law")
    return low, high


def keep_pairs(epsilons: list[str], of: list[list[int]], rows: list[list[int]]) -> None:
    """Row i is at most e^epsilons[of[i][k]] times row k; no limit where that place is -1."""
    size, used = len(rows), {at for part in of for at in part}
    need(len(of) == size == max(map(len, of)) == min(map(len, of)), "law.pairs.of: not square")
    need(-1 <= min(used) <= max(used) < len(epsilons), "law.pairs.of: no such epsilon")
    caps = {at: exponential(Fraction(epsilons[at])) if at >= 0 else inf for at in used}
    for i, k in product(range(size), repeat=2):
        cap, both = caps[of[i][k]], zip(rows[i], rows[k], strict=True)
        need(cap == inf or all(a << 96 <= cap * b for a, b in both), f"law.rows[{i}]: over {k}")


def extremes(kind: str, law: Any, domain: Any, bits: int) -> list[tuple[int, int, str]]:
    """(most, least, entry): all rows' counts of a j are between two such, but for one factor."""
    whole = 1 << bits
    if kind in ("window", "unbiased"):
        # row s: base, and of all gains caps - base end to end the part s ... s + 2^bits - sum(base)
        base, caps, room = law["base"], law["caps"], sum(law["caps"]) - whole
        need(len(base) == len(caps) == len(law["outputs"]), "law.base, caps, outputs: not as many")
        pairs = [(most, base[j], f"law.caps[{j}]") for j, most in enumerate(caps)]
        need(all(n <= most for most, n, _ in pairs), "law.base: must be at most caps")
        need(sum(base) <= whole <= sum(caps) < 2**63, "law.base, caps: rows cannot sum to 2^bits")
        rows = law["means"] if kind == "unbiased" else [None, *law["thresholds"]]
        need(len(law["starts"]) == len(rows), f"law.starts: must be {len(rows)}")
        need(all(0 <= s <= room for s in law["starts"]), f"law.starts: must be 0 to {room}")
        if kind == "unbiased":  # one row or the other of the two means around the input, at random
            low, high = places(domain, law["offset"], "1", law["shift"] + bits)
            need(rows and all(a < b for a, b in pairwise(rows)), "law.means: must increase")
            need(-(2**62) < rows[0] <= low < high <= rows[-1] < 2**62, "law.means: miss inputs")
        return pairs
    if kind == "finite":
        need(domain["kind"] == kind, "domain.kind: must be finite")
        points, rows = [float(point) for point in domain["points"]], law["rows"]
        need(0 < len(rows) == len(points), "law.rows: not one a point")
        need(all(x < y for x, y in pairwise(points)), "domain.points: must increase")
        for i, row in enumerate(rows):
            need(len(row) == len(law["outputs"]), f"law.rows[{i}]: must be as long as outputs")
            need(sum(row) == whole, f"law.rows[{i}]: sums to {sum(row)}, not 2^bits")
        if "pairs" in law:
            keep_pairs(law["pairs"]["epsilons"], law["pairs"]["of"], rows)
        return [(max(c), min(c), f"law.rows[][{j}]") for j, c in enumerate(zip(*rows, strict=True))]
    if kind == "pieces":  # the cells of a window share weight, the others whole - weight
        places(domain, law["anchor"], law["scale"])  # the window may be anywhere
        cells, inside, weight = law["cells"], law["inside"], law["weight"]
        need(0 < inside < cells <= 2**40, "law.inside, cells: must be 0 < inside < cells <= 2^40")
        other, each = (whole - weight) * inside, weight * (cells - inside)
        return [(each, other, "law.weight"), (other, each, "law.weight")]
    if domain["kind"] == "items":
        return items(kind, law, domain["count"], whole)
    # noise +-(b R + r) has chance ~ (tail / 2^bits)^b weights[r]. Inputs are within R steps, so of
    # two noises with one report the larger has the same b, or 1 more and a weights[r] no smaller
    need(kind == "additive", "kind: not known")
    weights, tail = law["weights"], law["tail"]
    need(weights and sum(weights) == whole > tail, "law.weights, tail: must sum to 2^bits, be less")
    need(all(a >= b for a, b in pairwise(weights)), "law.weights: must not increase")
    low, high = places(domain, law["offset"], "1", law["shift"])
    need(0 < ceil(high) - floor(low) <= len(weights), "law.weights: not all steps of the domain")
    return [(weights[0], weights[-1], "law.weights[0]"), (whole, tail, "law.tail")]


def items(kind: str, law: Any, k: int, whole: int) -> list[tuple[int, int, str]]:
    """How likely a report is under one's own of k items, and under any other that makes it less."""
    need(1 < k <= 2**16, "domain.count: must be 2 to 2^16")
    sizes = {"hashing": "hashes", "subset": "subset", "hadamard": "blocks", "sketch": "buckets"}
    n = law[sizes[kind]] if kind in sizes else k
    if kind in ("unary", "sketch"):  # counts of 0 and 1: two bits change with the item, or its hash
        exists = kind == "unary" or (1 < n <= 2**14 and law["functions"] in POWERS)
        need(exists, "law.buckets, functions: must be 2 to 2^14, and 2, 4, 8, ... 2^10")
        mine, others = law["own_bit"], law["other_bit"]
        need(len(mine) == len(others) == 2 and min(mine + others) > 0, "law.own_bit: no counts")
        need(sum(mine) == sum(others) == whole, "law.own_bit, other_bit: must sum to 2^bits")
        one, two = mine[1] * others[0], mine[0] * others[1]
    else:  # one draw among groups; in subset the other d or d - 1 items of the set are uniform
        own, other = law["own"], law["other"]
        need(kind in sizes or kind == "response", "kind: not known")
        groups = {"subset": 2, "hadamard": 2 * n}.get(kind, n)
        one, two = (own * (k - n), other * n) if kind == "subset" else (own, other)
        need(groups > 1 and min(own, other, one, two) > 0, "law.own, other: must be above 0")
        need(own + (groups - 1) * other == whole, "law.own, other: must sum to 2^bits")
    return [(one, two, "law.own"), (two, one, "law.other")]


if __name__ == "__main__":
    try:
        need(len(sys.argv) == 2, "usage: python privacy_checker.py TABLE.json")
        with Path(sys.argv[1]).open("rb") as stream:
            print(f"PASS private for epsilon = {check(stream.read(LARGEST + 1))}")
    except (Failed, OSError, MemoryError) as error:
        reason = f"file: {error.strerror}" if isinstance(error, OSError) else str(error)
        print(f"FAIL {reason or 'file: too large for the memory'}")
        sys.exit(1)
