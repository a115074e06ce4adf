"""Check a table file: ``python checker.py TABLE.json`` prints PASS, or the exact entry that fails.

One file, the standard library only, integers and fractions only: what it says does not depend on rounding, nor on the
package that made the table. FORMAT.md describes the fields. In short: a report has probability ``count / 2^bits``, and
the table is epsilon-LDP because the counts of any one output differ between inputs by at most ``cap / 2^96 <= e^eps``.

The lines marked ``# privacy`` are what that rests on: read them first. All else checks what the file says about means,
variance, error and optimality. So a single entry that is changed is noticed, also when the hash is made anew, but for

* ``name`` and ``provenance``, ``labels`` (what a category is called) and ``repair`` (what made a channel private): only
  their form is checked;
* ``domain``, if all else in the file is true of the changed domain too, such as a narrower one;
* ``certificate.atoms``, if the changed atoms prove exactly the same.

Whoever changes several entries so that they fit each other has written another table. A hash is no signature: keep the
hash of the table you mean apart from its file. For privacy alone, one page: ``privacy_checker.py`` beside this file
passes all that this one passes, and nothing that is not private.
"""

import hashlib
import json
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from math import inf, nextafter
from operator import mul
from pathlib import Path
from typing import Any

Fields = dict[str, Any]
Pair = tuple[Fraction, Fraction]
Finding = tuple[Fraction, Fields | None, Callable[[int], Fraction] | None]

KEYS = (
    "bits cap certificate domain epsilon estimator format kind labels law name privacy provenance repair sha256 version"
)
LAWS = {
    "window": "base caps outputs starts thresholds",
    "unbiased": "base caps means offset outputs shift starts units",
    "finite": "outputs rows",
    "pieces": "anchor cells clamp first inside scale step weight",
    "additive": "clamp least most offset shift tail weights",
    "response": "other own",
    "unary": "other_bit own_bit",
    "hashing": "hashes other own",
    "subset": "other own subset",
    "hadamard": "blocks other own",
    "sketch": "buckets functions other_bit own_bit",
}
MAY_HAVE = {"finite": "pairs"}  # a field of the law that may be left out
LARGEST = 64 * 2**20
VERSION_1 = "version: 1 is not read any more:"
MOST_ITEMS, MOST_BITS, MOST_HASHES, MOST_FUNCTIONS, MOST_CELLS = 2**16, 2**14, 2**31, 2**10, 2**22
MOST_ENTRIES, MOST_PRODUCTS = 2**20, 2**27  # of a workload: seconds
LEAST_EPSILON = Fraction(1e-12)
LAST_BLOCK = 16  # noise ends within a block with a chance of at least 2^-16: nobody draws for ever
LABEL = "must be a text of 1 to 200 characters, none of them a control character, without blanks at its ends"


class Failed(Exception):
    """The first entry found that is not what it must be."""


def need(true: object, entry: str) -> None:
    if not true:
        raise Failed(entry)


def check(content: bytes) -> Fields:
    """What the bytes of a table file prove, or `Failed`."""
    t = checked(content)
    return {"kind": t["kind"], "epsilon": Fraction(t["epsilon"]), "ratio": Fraction(t["privacy"]), "bits": t["bits"]}


def checked(content: bytes) -> Fields:
    """The entries of a table file that passes the whole check, or `Failed`."""
    need(len(content) <= LARGEST, f"file: larger than {LARGEST} bytes")
    try:
        t: Fields = json.loads(content, object_pairs_hook=unique, parse_float=refuse, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Failed(f"file: not valid JSON: {error}") from None
    if type(t) is dict and t.get("format") == "mechdesign table" and t.get("version") == 1 and "labels" not in t:
        raise Failed(f"{VERSION_1} make the table again from its design, the counts are the same")
    has_workload = type(t) is dict and "workload" in t
    fields(t, KEYS + " workload" if has_workload else KEYS, "file")
    need(t["format"] == "mechdesign table", "format: must be 'mechdesign table'")
    need(type(t["version"]) is int and t["version"] == 2, "version: must be 2")
    need(canonical(t) == content, "file: its bytes are not canonical")
    body = {key: value for key, value in t.items() if key != "sha256"}
    need(t["sha256"] == hashlib.sha256(canonical(body)).hexdigest(), "sha256: does not match the content")
    need(type(t["kind"]) is str and t["kind"] in LAWS, f"kind: must be one of {', '.join(LAWS)}")
    need(type(t["name"]) is str and type(t["provenance"]) is dict, "name, provenance: must be a text and an object")
    need(all(type(v) is str for v in t["provenance"].values()), "provenance: must hold texts")
    need(type(t["bits"]) is int and t["bits"] in (16, 32, 53, 62), "bits: must be 16, 32, 53 or 62")
    epsilon = rational(t["epsilon"], "epsilon")
    need(LEAST_EPSILON <= epsilon <= 64, "epsilon: must be at least 1e-12 and at most 64")
    need(Fraction(float(epsilon)) == epsilon, "epsilon: must be a double")  # any two doubles have different caps
    need(t["cap"] == str(exponential(epsilon)), "cap: must be floor(2^96 e^epsilon)")  # privacy
    extra = MAY_HAVE.get(t["kind"], "")
    has_extra = type(t["law"]) is dict and extra in t["law"]
    fields(t["law"], f"{LAWS[t['kind']]} {extra}" if has_extra else LAWS[t["kind"]], "law")
    cap, whole = int(t["cap"]), 1 << t["bits"]
    ratio, estimator, error_of = globals()["check_" + t["kind"]](t, t["law"], whole, cap)
    need(t["repair"] is None or t["kind"] == "finite", "repair: must be null")
    need(rational(t["privacy"], "privacy") == ratio, f"privacy: the largest ratio is {ratio}")
    need(ratio * 2**96 <= cap, f"privacy: the ratio {ratio} is above cap / 2^96")  # privacy
    need(t["estimator"] == estimator, f"estimator: must be {estimator}")
    check_repair(t)
    check_labels(t)
    if has_workload:
        check_workload(t, whole)
    if t["certificate"] is not None:
        check_certificate(t, cap, error_of)
    return t


# -- the kinds: each returns the largest ratio, the estimator, and the worst error as a function of its exponent ------


def check_window(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    low, high = interval(t)
    y = decimals(law["outputs"], "law.outputs", strict=True)
    at = decimals(law["thresholds"], "law.thresholds")
    starts = integers(law["starts"], 0, "law.starts")
    bath = Bath(law, y, whole, cap)
    found, turns = [0], []
    for start, left, right in bath.moves():
        turn = (y[left] + y[right]) / 2
        if turn >= high:
            break
        if turn < low:
            found = [start]
        else:
            found.append(start)
            turns.append(turn)
    same(starts, found, "law.starts")
    same(at, [floor_double(turn) for turn in turns], "law.thresholds")
    ends = [low, *at, high]
    rows = [(s, *bath.moments(s)) for s in starts]
    pairs = [(mean, x) for (_, mean, _), pair in zip(rows, pairwise(ends), strict=True) for x in pair]
    estimator = mean_estimator(pairs, max(second - mean**2 for _, mean, second in rows))

    def error(exponent: int) -> Fraction:
        worst = Fraction(0)
        for (start, mean, second), pair in zip(rows, pairwise(ends), strict=True):
            for x in pair:
                value = second - 2 * x * mean + x * x if exponent == 2 else bath.absolute(start, mean, x)
                worst = max(worst, value)
        return worst

    return bath.ratio(starts), estimator, error  # privacy


def check_unbiased(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    low, high = interval(t)
    units = integers(law["units"], -(2**62), "law.units")
    y = decimals(law["outputs"], "law.outputs", strict=True)
    offset = decimals([law["offset"]], "law.offset")[0]
    need(t["bits"] <= 32, "bits: must be 16 or 32 for unbiased tables")
    shift = law["shift"]
    need(type(shift) is int and 0 <= shift + t["bits"] <= 1000, "law.shift: out of range")
    need(offset == exact_offset(low, high), f"law.offset: must be {exact_offset(low, high)}")
    step = 1 / Fraction(2) ** shift
    same(y, [offset + unit * step for unit in units], "law.outputs")
    bath = Bath(law, [Fraction(unit) for unit in units], whole, cap)
    rows: list[tuple[int, Fraction, Fraction]] = []
    means: list[Fraction] = []
    fine = step / whole
    for start in [0, *(start for start, _, _ in bath.moves())]:
        mean, second = bath.moments(start)
        if means and mean * whole == means[-1]:
            continue
        if means and offset + mean * whole * fine <= low:
            rows, means = [], []  # a tighter first row
        if means and offset + means[-1] * fine >= high:
            break
        rows.append((start, mean, second))
        means.append(mean * whole)
    need(offset + means[0] * fine <= low and high <= offset + means[-1] * fine, "law.means: must cover the domain")
    need(len(means) >= 2, "law.means: must be at least two")
    starts, said = integers(law["starts"], 0, "law.starts"), integers(law["means"], -(2**62), "law.means")
    same(starts, [start for start, _, _ in rows], "law.starts")
    same(said, means, "law.means")
    need(max(map(abs, said)) < 2**62, "law.means: must be below 2^62 in size")
    variance = Fraction(0)
    for (_, a, first), (_, b, last) in pairwise(rows):  # E[Y^2] is linear in the mean: a concave variance
        slope = (last - first) / (b - a)
        left, right = max(a, (low - offset) / step), min(b, (high - offset) / step)
        for x in (left, right, min(max(slope / 2, left), right)):
            variance = max(variance, (first + slope * (x - a) - x * x) * step**2)
    return bath.ratio(starts), mean_estimator([(low, low), (high, high)], variance), None  # privacy


def check_finite(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    fields(t["domain"], "kind points", "domain")
    x = decimals(t["domain"]["points"], "domain.points", strict=True)
    y = decimals(law["outputs"], "law.outputs", strict=True)
    need(t["domain"]["kind"] == "finite" and type(law["rows"]) is list, "domain.kind, law.rows: must be finite, a list")
    need(0 < len(law["rows"]) == len(x), "law.rows: must be as many as points of the domain, at least one")
    for i, row in enumerate(law["rows"]):
        need(len(integers(row, 1, f"law.rows[{i}]")) == len(y), f"law.rows[{i}]: must be as long as outputs")
        need(sum(row) == whole, f"law.rows[{i}]: sums to {sum(row)}, not 2^bits")  # privacy
    ratio = Fraction(1)
    for j, column in enumerate(zip(*law["rows"], strict=True)):
        most, least = max(column), min(column)
        need(most << 96 <= cap * least, f"law.rows[{column.index(most)}][{j}]: {most} is over cap times {least}")
        ratio = max(ratio, Fraction(most, least))  # privacy
    if "pairs" in law:
        check_pairs(law)
    scale = max(value.denominator for value in y)
    powers = [[int(value * scale) ** p for value in y] for p in (1, 2)]
    sums = [
        [Fraction(sum(map(mul, row, column)), whole * scale**p) for p, column in enumerate(powers, 1)]
        for row in law["rows"]
    ]
    pairs = [(mean, at) for (mean, _), at in zip(sums, x, strict=True)]
    return ratio, mean_estimator(pairs, max(second - mean**2 for mean, second in sums)), None


def check_pairs(law: Fields) -> None:
    """Each ordered pair of rows that has a limit keeps it: ``of[i][k]`` says which epsilon, -1 that there is none."""
    pairs, rows = law["pairs"], law["rows"]
    fields(pairs, "epsilons of", "law.pairs")
    need(type(pairs["epsilons"]) is list and type(pairs["of"]) is list, "law.pairs.epsilons, of: must be lists")
    need(len(pairs["of"]) == len(rows), f"law.pairs.of: must be {len(rows)} rows")
    epsilons = [rational(text, f"law.pairs.epsilons[{k}]") for k, text in enumerate(pairs["epsilons"])]
    for k, eps in enumerate(epsilons):
        entry = f"law.pairs.epsilons[{k}]"
        need(LEAST_EPSILON <= eps <= 64 and Fraction(float(eps)) == eps, f"{entry}: must be a double, 1e-12 to 64")
    need(all(a < b for a, b in pairwise(epsilons)), "law.pairs.epsilons: must increase")
    used = {-1}
    for i, said in enumerate(pairs["of"]):
        entry = f"law.pairs.of[{i}]"
        need(len(integers(said, -1, entry)) == len(rows), f"{entry}: must be {len(rows)} entries")
        need(max(said) < len(epsilons) and said[i] == -1, f"{entry}: must be places in epsilons, -1 at place {i}")
        used.update(said)
    need(len(used) == len(epsilons) + 1, "law.pairs.epsilons: must all be used")
    caps = [exponential(eps) for eps in epsilons]
    for i, row in enumerate(rows):
        for k, place in enumerate(pairs["of"][i]):
            if place >= 0:
                cap = caps[place]
                keeps = all(a << 96 <= cap * b for a, b in zip(row, rows[k], strict=True))  # privacy
                need(keeps, f"law.rows[{i}]: a count is over the limit of inputs {i} and {k} times law.rows[{k}]'s")


def check_pieces(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    cells, inside, weight, first = (law[name] for name in ("cells", "inside", "weight", "first"))
    entry = "law.cells, inside, weight, first"
    integers([cells, inside, weight, first + 2**51 if type(first) is int else None], 1, entry)
    need(inside < cells <= 2**40 and weight < whole and abs(first) < 2**51, f"{entry}: too large")
    step, anchor, scale = (decimals([law[name]], f"law.{name}")[0] for name in ("step", "anchor", "scale"))
    need(all(2**-500 < size < 2**500 for size in (step, scale)), "law.step, law.scale: must be above 0, within 2^500")
    check_clamp(t, law)
    on_circle = type(t["domain"]) is dict and t["domain"].get("kind") == "circle"
    if on_circle:
        fields(t["domain"], "kind period", "domain")
        low, high = Fraction(0), decimals([t["domain"]["period"]], "domain.period")[0]
        need((first, cells * step) == (0, high), "law.first, law.step: must be 0 and the period over cells")
        need(scale == Fraction(float(1 / step)), "law.scale: must be 1 / step, rounded to a double")
        need(anchor == Fraction(float((inside - 1) * step / 2)), "law.anchor: must be (inside - 1) step / 2, rounded")
    else:
        low, high = interval(t)
    far = max(abs(x - anchor) for x in (low, high)) * scale
    need(far < 2**52, "law.anchor, law.scale: must map the domain to cells that doubles can count")
    ratio = Fraction(weight * (cells - inside), (whole - weight) * inside)  # privacy
    need(ratio > 1, "law.weight: must be more than the window's share of the cells")
    estimator = None
    if not on_circle:
        # u = (x - anchor) scale is computed with error at most (far + 1) / 2^51, and floor(u) is within 1/2 of u - 1/2:
        # the start that is used is within ``off`` of u - 1/2, also after both are clamped to [0, N - w]
        off = Fraction(1, 2) + (far + 1) / 2**51
        estimator = pieces_estimator(law, Fraction(weight, whole), (low, high), step, anchor, scale, off)
    return ratio, estimator, None


def pieces_estimator(
    law: Fields, share: Fraction, ends: Pair, step: Fraction, anchor: Fraction, scale: Fraction, off: Fraction
) -> Fields:
    """The row at start s is the uniform law with a share ``gain`` of it moved into the window: E[Y] is affine in s.

    Counted in cells from the middle, a window t off it gives the mean gain t and the variance spread +
    gain (1 - gain) t^2.
    """
    half, cells, inside = Fraction(1, 2), Fraction(law["cells"]), Fraction(law["inside"])
    rest = cells - inside
    gain = (share * cells - inside) / rest
    spread = ((1 - share) / rest * (cells**3 - cells) + gain * (inside**2 - 1)) / 12

    def place(x: Fraction) -> Fraction:
        return min(max((x - anchor) * scale - half, Fraction(0)), rest) - rest / 2

    turns = [anchor + (start + half) / scale for start in (0, rest)]  # between them E[Y] - x is affine in x
    knots = [ends[0], *(x for x in turns if ends[0] < x < ends[1]), ends[1]]
    pairs = [(step * (law["first"] + cells / 2 + gain * place(x)), x) for x in knots]
    widest = min(max(abs(place(x)) for x in ends) + off, rest / 2)
    variance = spread + gain * (1 - gain) * widest**2
    return mean_estimator(pairs, variance * step**2, gain * off * step, law["clamp"] is not None)


def check_additive(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    low, high = interval(t)
    weights, tail = integers(law["weights"], 1, "law.weights"), law["tail"]
    need(sum(weights) == whole, f"law.weights: sum to {sum(weights)}, not 2^bits")  # privacy
    for i, (here, following) in enumerate(pairwise(weights)):
        need(here >= following, f"law.weights[{i + 1}]: must not increase")  # privacy
    need(type(tail) is int and 0 < tail < whole, "law.tail: must be between 0 and 2^bits")
    need(whole - tail << LAST_BLOCK >= whole, "law.tail: the noise must end within a block with a chance of 2^-16")
    need(all(type(law[name]) is int for name in ("shift", "least", "most")), "law.shift, least, most: must be integers")
    need(abs(law["shift"]) <= 1000, "law.shift: out of range")
    step, offset = 1 / Fraction(2) ** law["shift"], decimals([law["offset"]], "law.offset")[0]
    need(offset == exact_offset(low, high), f"law.offset: must be {exact_offset(low, high)}")
    need(law["least"] == (low - offset) // step, "law.least: must be the grid step below the domain")
    need(law["most"] == -((offset - high) // step), "law.most: must be the grid step above the domain")
    blocks = law["most"] - law["least"]
    need(blocks == len(weights), "law.weights: must be as many as grid steps in the domain")  # privacy
    check_clamp(t, law)
    q = Fraction(tail, whole)
    one, two = (sum(w * r**p for r, w in enumerate(weights)) for p in (1, 2))
    far = blocks**2 * whole * q * (1 + q) / (1 - q) ** 3 + 2 * blocks * one * q / (1 - q) ** 2 + two / (1 - q)
    variance = (2 * far / (2 * whole / (1 - q) - weights[0]) + Fraction(1, 4)) * step**2
    estimator = mean_estimator([(low, low), (high, high)], variance, is_clamped=law["clamp"] is not None)
    return max(1 / q, Fraction(weights[0], weights[-1])), estimator, None  # privacy


# -- laws on items 0 ... k - 1: frequencies are (support / n - q) / (p - q) --------------------------------------------


def check_response(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    ratio = choice(law, items(t), whole)  # privacy
    return ratio, frequencies(Fraction(law["own"], whole), Fraction(law["other"], whole)), None


def check_unary(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    items(t, MOST_BITS)
    ratio, own, other = coins(law, whole)  # privacy
    return ratio, frequencies(own, other), None


def check_hashing(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    items(t)
    hashes = within(law["hashes"], 2, MOST_HASHES, "law.hashes")
    ratio = choice(law, hashes, whole)  # privacy
    return ratio, frequencies(Fraction(law["own"], whole), Fraction(1, hashes)), None


def check_subset(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    k = items(t, MOST_BITS)
    d, own, other = (law[name] for name in ("subset", "own", "other"))
    within(d, 1, k - 1, "law.subset")
    integers([own, other], 1, "law.own, other")
    need(own + other == whole, f"law.own, other: sum to {own + other}, not 2^bits")  # privacy
    ratio = above_one(Fraction(own * (k - d), other * d))  # privacy
    p = Fraction(own, whole)
    return ratio, frequencies(p, (p * (d - 1) + (1 - p) * d) / (k - 1)), None


def check_hadamard(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    k = items(t)
    blocks = within(law["blocks"], 1, 1 << (k - 1).bit_length(), "law.blocks")
    need(blocks & (blocks - 1) == 0, "law.blocks: must be a power of two")
    ratio = choice(law, 2 * blocks, whole)  # privacy
    return ratio, frequencies(1 - Fraction(blocks * law["other"], whole), Fraction(1, 2)), None


def check_sketch(t: Fields, law: Fields, whole: int, cap: int) -> Finding:
    items(t)
    functions = within(law["functions"], 2, MOST_FUNCTIONS, "law.functions")
    need(functions & (functions - 1) == 0, "law.functions: must be a power of two")
    buckets = within(law["buckets"], 2, MOST_BITS, "law.buckets")
    need(functions * buckets <= MOST_CELLS, f"law.functions, buckets: must be at most {MOST_CELLS} together")
    ratio, own, other = coins(law, whole)  # privacy
    return ratio, frequencies(own, own / buckets + other * (1 - Fraction(1, buckets))), None


def items(t: Fields, most: int = MOST_ITEMS) -> int:
    fields(t["domain"], "count kind", "domain")
    need(t["domain"]["kind"] == "items", "domain.kind: must be items")
    return within(t["domain"]["count"], 2, most, "domain.count")


def within(value: Any, least: int, most: int, entry: str) -> int:
    if type(value) is not int or not least <= value <= most:
        raise Failed(f"{entry}: must be an integer from {least} to {most}")
    return value


def choice(law: Fields, groups: int, whole: int) -> Fraction:  # privacy
    """One's own of so many groups has ``own`` counts, every other one ``other``."""
    own, other = law["own"], law["other"]
    integers([own, other], 1, "law.own, other")
    total = own + (groups - 1) * other
    need(total == whole, f"law.own, other: sum to {total} over {groups} groups, not 2^bits")
    return above_one(Fraction(own, other))


def coins(law: Fields, whole: int) -> tuple[Fraction, Fraction, Fraction]:  # privacy
    """Independent bits, of which two change with the item; and the chances of a 1."""
    for name in ("own_bit", "other_bit"):
        counts = integers(law[name], 1, f"law.{name}")
        need(len(counts) == 2 and sum(counts) == whole, f"law.{name}: must be two counts with sum 2^bits")
    (miss, own), (kept, other) = law["own_bit"], law["other_bit"]
    return above_one(Fraction(own * kept, miss * other)), Fraction(own, whole), Fraction(other, whole)


def above_one(ratio: Fraction) -> Fraction:
    need(ratio > 1, "law.own: must be more likely than other")
    return ratio


def place_bits(count: int, blocks: int) -> int:
    """The binary logarithm of the indices in a block of Hadamard response: more than the rows that are in use."""
    return (-(-count // blocks)).bit_length()


def frequencies(p: Fraction, q: Fraction) -> Fields:
    """Expected support of one's own item and of another one: of hashed items under an ideal hash function."""
    return {"kind": "frequencies", "p": str(p), "q": str(q)}


class Bath:
    """Counts between ``base`` and ``caps``: row ``start`` fills the stretch [start, start + extra] of the gains."""

    def __init__(self, law: Fields, values: list[Fraction], whole: int, cap: int) -> None:
        self.base, caps = integers(law["base"], 1, "law.base"), integers(law["caps"], 1, "law.caps")
        need(len(self.base) == len(values) > 0, "law.base, outputs: must be of one length")
        same(caps, [cap * least >> 96 for least in self.base], "law.caps", "floor(cap base / 2^96) = ")  # privacy
        need(sum(caps) < 2**63, "law.caps: must sum to less than 2^63")
        self.gain = [most - least for least, most in zip(self.base, caps, strict=True)]
        self.reached = [0, *accumulate(self.gain)]
        self.counts = [0, *accumulate(self.base)]
        self.extra, self.whole = whole - self.counts[-1], whole
        need(0 <= self.extra <= self.reached[-1], "law.base, caps: rows cannot sum to 2^bits")  # privacy
        self.scale = max(value.denominator for value in values)
        self.values = [int(value * self.scale) for value in values]  # doubles: every denominator is a power of two
        self.sums = [
            [
                [0, *accumulate(c * v**p for c, v in zip(part, self.values, strict=True))]
                for part in (self.base, self.gain)
            ]
            for p in (1, 2)
        ]

    def moves(self) -> Iterator[tuple[int, int, int]]:
        """The starts after 0, each with the outputs that mass moves from and to on the way there."""
        start, left, right, g, last = 0, 0, 0, self.reached, len(self.base) - 1
        while self.extra and start + self.extra < g[-1]:
            while g[left + 1] <= start:
                left += 1
            while right < last and g[right + 1] <= start + self.extra:
                right += 1
            start += min(g[left + 1] - start, g[right + 1] - start - self.extra)
            yield start, left, right

    def upto(self, place: int, p: int) -> int:
        """The sum of value^p over the gains up to a place."""
        j = min(bisect_right(self.reached, place), len(self.base)) - 1
        value: int = self.values[j] ** p
        return self.sums[p - 1][1][j] + (place - self.reached[j]) * value

    def moments(self, start: int) -> tuple[Fraction, Fraction]:
        """E[Y] and E[Y^2] of a row."""
        totals = [self.sums[p - 1][0][-1] + self.upto(start + self.extra, p) - self.upto(start, p) for p in (1, 2)]
        first, second = (Fraction(total, self.whole * self.scale**p) for p, total in enumerate(totals, 1))
        return first, second

    def absolute(self, start: int, mean: Fraction, x: Fraction) -> Fraction:
        """E|Y - x| of a row, with the outputs up to x counted in integers."""
        j = bisect_right(self.values, x * self.scale)
        place = min(max(self.reached[j], start), start + self.extra)
        count = self.counts[j] + place - start
        first = Fraction(self.sums[0][0][j] + self.upto(place, 1) - self.upto(start, 1), self.scale)
        return mean - x + 2 * (x * count - first) / self.whole

    def ratio(self, starts: list[int]) -> Fraction:  # privacy
        """The largest ratio in a column: a count rises until the window starts where its outputs do, and then falls."""
        worst, first, last = Fraction(1), starts[0], starts[-1]
        for j, least in enumerate(self.base):
            a, b = self.reached[j], self.reached[j + 1]
            places = first, last, min(max(a, first), last)
            row = [least + max(0, min(b, s + self.extra) - max(a, s)) for s in places]
            most, few = max(row), min(row[:2])
            if most * worst.denominator > few * worst.numerator:
                worst = Fraction(most, few)
        return worst


# -- the certificate: no epsilon-LDP mechanism has a smaller worst error than `lower` ----------------------------------


def check_certificate(t: Fields, cap: int, error_of: Callable[[int], Fraction] | None) -> None:
    """For any inputs x of the domain, levels r and weights w that sum to 1, with phi(t) = min(t, c t),

    ``max_x E|Y - x|^p >= sum w r^p + min(0, min over y of sum w phi(|y - x|^p - r^p))``.
    """
    said = t["certificate"]
    fields(said, "atoms criterion error exponent lower", "certificate")
    if said["criterion"] != "worst case" or error_of is None:
        raise Failed("certificate.criterion: must be 'worst case', of a window table")
    p = said["exponent"]
    need(type(p) is int and p in (1, 2), "certificate.exponent: must be 1 or 2")
    error = error_of(p)
    need(rational(said["error"], "certificate.error") == error, f"certificate.error: the worst error is {error}")
    lower, (low, high) = proven_lower(said["atoms"], cap, p), interval(t)
    for i, atom in enumerate(said["atoms"]):
        need(low <= Fraction(atom[0]) <= high, f"certificate.atoms[{i}]: must be an input of the domain")
    need(rational(said["lower"], "certificate.lower") == lower, f"certificate.lower: the atoms prove {float(lower)!r}")
    need(lower <= error, "certificate.lower: above the error")


def proven_lower(said: Any, cap: int, p: int) -> Fraction:
    """The lower bound that atoms [x, r, w] prove."""
    need(type(said) is list and said, "certificate.atoms: must be a list")
    atoms = [decimals(atom, f"certificate.atoms[{i}]", count=3) for i, atom in enumerate(said)]
    need(all(r >= 0 and w > 0 for _, r, w in atoms), "certificate.atoms: must have r at least 0 and w above 0")
    c = Fraction(cap + 1, 2**96)  # at least e^epsilon
    level = sum(w * r**p for _, r, w in atoms)
    return (level + min(Fraction(0), least_value(atoms, c, p))) / sum(w for _, _, w in atoms)


def least_value(atoms: list[list[Fraction]], c: Fraction, p: int) -> Fraction:
    """The least value over y of ``sum w phi(|y - x|^p - r^p)``, which is linear or quadratic between events."""
    units = [max(a[i].denominator for a in atoms) for i in range(3)]
    unit = max(units[:2])
    whole = [(int(x * unit), int(r * unit), int(w * units[2])) for x, r, w in atoms]
    high, one = c.numerator, c.denominator
    if p == 1:
        turns = [(x + side * r, one - high, w) for x, r, w in whole for side in (-1, 1)]
        slope, value = -one * sum(w for _, _, w in whole), one * sum(w * (x - r) for x, r, w in whole)
        values = []
        for at, turn, w in sorted(turns + [(x, 2 * high, w) for x, _, w in whole]):
            values.append(value + slope * at)
            slope, value = slope + turn * w, value - turn * w * at
        return Fraction(min(values), one * unit * units[2])
    # a y^2 - 2 b y + d, all times ``one``, which rises where atoms come into reach and falls where they leave it
    moves = [(x + side * r, side * (high - one) * w, x, r) for x, r, w in whole for side in (-1, 1)]
    a, b = one * sum(w for _, _, w in whole), one * sum(w * x for x, _, w in whole)
    d = one * sum(w * (x * x - r * r) for x, r, w in whole)
    least = Fraction(d * a - b * b, a)
    for _, loss, x, r in sorted(moves):  # at one place those that come first, so that a stays above 0
        a, b, d = a - loss, b - loss * x, d - loss * (x * x - r * r)
        if (d * a - b * b) * least.denominator < least.numerator * a:
            least = Fraction(d * a - b * b, a)
    return least / (one * unit**2 * units[2])


# -- words -------------------------------------------------------------------------------------------------------------


def check_repair(t: Fields) -> None:
    if t["repair"] is not None:
        fields(t["repair"], "dropped mixed", "repair")
        integers([t["repair"]["dropped"]], 0, "repair.dropped")
        need(0 <= rational(t["repair"]["mixed"], "repair.mixed") <= 1, "repair.mixed: must be between 0 and 1")


def check_labels(t: Fields) -> None:
    """Names of inputs and outputs: their form, their number, and that no two are the same. Not what they mean."""
    if t["labels"] is None:
        return
    on_items = type(t["domain"]) is dict and t["domain"].get("kind") == "items"
    need(t["kind"] == "finite" or on_items, "labels: must be null but for finite tables and tables of items")
    fields(t["labels"], "inputs outputs", "labels")
    need(any(texts is not None for texts in t["labels"].values()), "labels: must be null if there are none")
    need(not on_items or t["labels"]["outputs"] is None, "labels.outputs: must be null, as reports are bytes")
    counts = (t["domain"]["count"], 0) if on_items else (len(t["domain"]["points"]), len(t["law"]["outputs"]))
    for side, count in zip(("inputs", "outputs"), counts, strict=True):
        texts = t["labels"][side]
        if texts is not None:
            need(type(texts) is list and len(texts) == count, f"labels.{side}: must be a list of {count}")
            for i, text in enumerate(texts):
                need(is_label(text), f"labels.{side}[{i}]: {LABEL}")
            need(len(set(texts)) == len(texts), f"labels.{side}: must be different")


def check_workload(t: Fields, whole: int) -> None:
    """The queries, and an estimator with one entry an output whose bias for the table's own counts is as said."""
    need(t["kind"] == "finite", "workload: must be left out but for finite tables")
    said = t["workload"]
    fields(said, "bias estimator queries rows", "workload")
    names = said["queries"]
    need(type(names) is list and len(names) > 0, "workload.queries: must be a list of texts")
    need(all(is_label(name) for name in names), f"workload.queries: {LABEL}")
    need(len(set(names)) == len(names), "workload.queries: must be different")
    matrices, n, m = [], len(t["domain"]["points"]), len(t["law"]["outputs"])
    need(len(names) * (n + m) <= MOST_ENTRIES, f"workload: must have at most {MOST_ENTRIES} numbers")
    need(len(names) * n * m <= MOST_PRODUCTS, f"workload: queries by points by outputs must be at most {MOST_PRODUCTS}")
    for name, width in (("rows", n), ("estimator", m)):
        rows = said[name]
        need(type(rows) is list and len(rows) == len(names), f"workload.{name}: must be one row a query")
        matrices.append([decimals(row, f"workload.{name}[{i}]") for i, row in enumerate(rows)])
        need(all(len(row) == width for row in matrices[-1]), f"workload.{name}: must have rows of {width}")
    bias = workload_bias(matrices[0], matrices[1], t["law"]["rows"], whole)
    need(rational(said["bias"], "workload.bias") == bias, f"workload.bias: must be {bias}")


def workload_bias(queries: Any, estimator: Any, rows: Any, whole: int) -> Fraction:
    """The most that the estimator's mean is off, over queries and inputs, in whole numbers."""
    bias = Fraction(0)
    for query, answers in zip(queries, estimator, strict=True):
        scale = max(value.denominator for value in (*query, *answers))  # powers of two
        asked, worth = ([n.numerator * (scale // n.denominator) for n in numbers] for numbers in (query, answers))
        off = max(abs(sum(map(mul, worth, row)) - wanted * whole) for wanted, row in zip(asked, rows, strict=True))
        bias = max(bias, Fraction(off, scale * whole))
    return bias


def is_label(text: Any) -> bool:
    if type(text) is not str or not 0 < len(text) <= 200 or text != text.strip():
        return False
    return not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in text)


def check_clamp(t: Fields, law: Fields) -> None:
    if law["clamp"] is not None:
        low, high = decimals(law["clamp"], "law.clamp", strict=True, count=2)
        need((low, high) == interval(t), "law.clamp: must be the domain")


def mean_estimator(
    pairs: list[Pair], variance: Fraction, off: Fraction = Fraction(0), is_clamped: bool = False
) -> Fields:
    """``slope Y + intercept``, right on average at the first and the last input; pairs are (E[Y|x], x).

    The bias is exact over all pairs, and wider where E[Y|x] is only known up to ``off``; the variance is the slope
    squared times the largest variance of Y. Of a clamped table Y is what is drawn before it is moved to the domain.
    """
    (first, low), (last, high) = pairs[0], pairs[-1]
    slope = (high - low) / (last - first) if last > first and high > low else Fraction(1)
    intercept = low - slope * first
    bias = max(abs(slope * mean + intercept - x) for mean, x in pairs) + slope * off
    texts = {"slope": slope, "intercept": intercept, "bias": bias, "variance": slope**2 * variance}
    kind = "mean before clamping" if is_clamped else "mean"
    return {"kind": kind} | {name: str(number) for name, number in texts.items()}


def interval(t: Fields) -> tuple[Fraction, Fraction]:
    fields(t["domain"], "kind lower upper", "domain")
    need(t["domain"]["kind"] == "interval", "domain.kind: must be interval")
    ends = [t["domain"]["lower"], t["domain"]["upper"]]
    low, high = decimals(ends, "domain", strict=True)
    return low, high


def exact_offset(low: Fraction, high: Fraction) -> Fraction:
    """A number near the domain with ``x - offset`` exact in doubles for every x in it (by Sterbenz' lemma).

    Far from 0 it is the nearer end, moved away from 0 to a multiple of the power of two just below the length.
    """
    near, far = sorted((abs(low), abs(high)))
    if low * high <= 0 or far > 2 * near:
        return Fraction(0)
    length = high - low
    unit = Fraction(2) ** (length.numerator.bit_length() - length.denominator.bit_length())
    return -(-near // unit) * unit * (1 if low > 0 else -1)


def fields(value: Any, names: str, entry: str) -> None:
    need(type(value) is dict and sorted(value) == sorted(names.split()), f"{entry}: must be an object with {names}")


def same(said: list[Any], true: list[Any], entry: str, rule: str = "") -> None:
    need(len(said) == len(true), f"{entry}: must be {len(true)}")
    for i, (given, exact) in enumerate(zip(said, true, strict=True)):
        need(given == exact, f"{entry}[{i}]: must be {rule}{exact}")


def integers(values: Any, least: int, entry: str) -> list[int]:
    need(type(values) is list, f"{entry}: must be a list")
    found: list[int] = values
    for i, value in enumerate(values):
        if type(value) is not int or not least <= value < 2**63:
            raise Failed(f"{entry}[{i}]: must be an integer from {least} to 2^63")
    return found


def decimals(values: Any, entry: str, strict: bool = False, count: int | None = None) -> list[Fraction]:
    """Exact decimals of doubles, non-decreasing lists if ``strict`` increasing."""
    need(type(values) is list and count in (None, len(values)), f"{entry}: must be a list")
    numbers: list[Fraction] = []
    for i, text in enumerate(values):
        if type(text) is not str or len(text) > 1100:
            raise Failed(f"{entry}[{i}]: must be a decimal text")
        try:
            double = float(text)
            number = Fraction(double)
        except (ValueError, OverflowError):
            raise Failed(f"{entry}[{i}]: {text!r} is not a finite decimal") from None
        if text != (format(Decimal(double), "f") if double else "0"):
            raise Failed(f"{entry}[{i}]: not an exact double")
        if strict and numbers and numbers[-1] >= number:
            raise Failed(f"{entry}[{i}]: must be above the entry before it")
        numbers.append(number)
    return numbers


def rational(text: Any, entry: str) -> Fraction:
    try:
        need(type(text) is str and set(text) <= set("-/0123456789"), f"{entry}: must be a text p or p/q")
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise Failed(f"{entry}: not a fraction") from None
    need(str(number) == text, f"{entry}: not in lowest terms")
    return number


def floor_double(value: Fraction) -> Fraction:
    """The largest double at most an exact midpoint of doubles, as a fraction."""
    near = float(value)
    return Fraction(near if Fraction(near) <= value else nextafter(near, -inf))


def exponential(epsilon: Fraction) -> int:
    """floor(2^96 e^epsilon): every term of the series is rounded down, at 2^-400."""
    p, q = epsilon.numerator, epsilon.denominator
    term = total = 1 << 400
    n = 0
    while term:
        n += 1
        term = term * p // (q * n)
        total += term
    return total >> 304


def canonical(value: Fields) -> bytes:
    return (json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n").encode()


def unique(pairs: list[tuple[str, Any]]) -> Fields:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key appears twice")
    return result


def refuse(text: str) -> Any:
    raise ValueError(f"{text} is not allowed: integers and texts only")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python checker.py TABLE.json")
        return 2
    try:
        with Path(arguments[0]).open("rb") as stream:
            found = check(stream.read(LARGEST + 1))
    except OSError as error:
        print(f"FAIL file: {error.strerror}")
        return 2
    except Failed as failure:
        print(f"FAIL {failure}")
        return 1
    print(f"PASS {found['kind']} table, 2^{found['bits']}, ratio {float(found['ratio'])!r} <= e^{found['epsilon']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
