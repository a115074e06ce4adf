"""A second reader of table files, written from the text of FORMAT.md alone: fractions, and nothing of the package.

`read_table` gives a `Table` of which every entry was recomputed from the others, or raises `Refused`, which names the
entry. A table samples from given bytes, so that test vectors can be replayed. Where this reader and the package differ,
either the text is wrong or one of the two.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from bisect import bisect_left, bisect_right
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

ITEM_KINDS = ("response", "unary", "hashing", "subset", "hadamard", "sketch")
REAL_KINDS = ("window", "unbiased", "finite", "pieces", "additive")
SCALE = 2**96
TABLE_KEYS = frozenset(
    re.findall(
        r"\w+",
        "format version kind name epsilon bits cap domain law privacy estimator labels certificate repair provenance "
        "sha256",
    )
)


class Refused(ValueError):
    """What the text of FORMAT.md does not allow; the message begins with the entry."""


def need(condition, entry, rule=""):
    if not condition:
        raise Refused(f"{entry}: {rule}" if rule else entry)


# ---------------------------------------------------------------- JSON


def canonical(value):
    return (json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n").encode("ascii")


def no_float(text):
    raise Refused(f"JSON: a float or constant, {text[:20]}")


def parsed(data):
    """The JSON object of canonical bytes without floats."""
    try:
        value = json.loads(data.decode("utf-8"), parse_float=no_float, parse_constant=no_float)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as problem:
        raise Refused("JSON: no JSON") from problem
    need(type(value) is dict, "JSON", "no object")
    need(canonical(value) == data, "JSON", "not canonical")
    return value


def keys(value, required, entry, optional=()):
    need(type(value) is dict, entry, "no object")
    need(set(required) <= set(value) <= set(required) | set(optional), entry, "keys")


def hash_of(value):
    return hashlib.sha256(canonical({key: v for key, v in value.items() if key != "sha256"})).hexdigest()


def is_text(value):
    return type(value) is str


def whole_number(value, entry, least=-(2**63) + 1, most=2**63 - 1):
    need(type(value) is int and least <= value <= most, entry, f"no integer from {least} to {most}")
    return value


def listed(value, entry, least=0):
    need(type(value) is list and len(value) >= least, entry, "no list of this length")
    return value


DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?\Z", re.ASCII)
RATIONAL = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?\Z", re.ASCII)


def decimal(value, entry):
    need(is_text(value) and DECIMAL.match(value) and value != "-0", entry, "no DECIMAL")
    exact = Fraction(value)
    try:
        double = float(exact)
    except OverflowError:
        raise Refused(f"{entry}: no double") from None
    need(Fraction(double) == exact, entry, "no double")
    return exact


def rational(value, entry):
    need(is_text(value) and RATIONAL.match(value), entry, "no RATIONAL")
    exact = Fraction(value)
    need(str(exact) == value, entry, "not in lowest terms")
    return exact


def decimals(value, entry, least=0):
    return [decimal(v, f"{entry}[{i}]") for i, v in enumerate(listed(value, entry, least))]


def counts(value, entry, least=1, size=1):
    return [whole_number(v, f"{entry}[{i}]", least) for i, v in enumerate(listed(value, entry, size))]


def write_decimal(double):
    exact = Fraction(double)
    if exact == 0:
        return "0"
    text = format(Decimal(double), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def epsilon_of(value, entry):
    exact = rational(value, entry)
    need(Fraction(1e-12) <= exact <= 64 and Fraction(float(exact)) == exact, entry, "no double from 1e-12 to 64")
    return exact


def cap_of(epsilon):
    """floor(2^96 e^epsilon): 150 digits are correctly rounded, and e to a rational is no rational."""
    context = Context(prec=400)
    digits = context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    value = Context(prec=150).exp(digits)
    exact = Fraction(value) * SCALE
    low, high = exact * (1 - Fraction(1, 10**140)), exact * (1 + Fraction(1, 10**140))
    assert math.floor(low) == math.floor(high)
    return math.floor(exact)


def rounded_down(exact):
    double = float(exact)
    return math.nextafter(double, -math.inf) if Fraction(double) > exact else double


def label_text(value, entry):
    need(is_text(value) and 1 <= len(value) <= 200, entry, "no text of 1 to 200 characters")
    need(value.strip() == value, entry, "blanks at an end")
    forbidden = (range(32), range(127, 160), range(0xD800, 0xE000))
    need(not any(ord(c) in places for c in value for places in forbidden), entry, "a control character or surrogate")


def floor_log2(exact):
    power = exact.numerator.bit_length() - exact.denominator.bit_length()
    return power if Fraction(2) ** power <= exact else power - 1


# ---------------------------------------------------------------- random bits


class Stream:
    """Bytes that are read in order; `used` of them so far."""

    def __init__(self, data):
        self.data, self.used = data, 0

    def draw(self, bits):
        size = (bits + 7) // 8
        if self.used + size > len(self.data):
            raise EOFError
        taken = self.data[self.used : self.used + size]
        self.used += size
        return int.from_bytes(taken, "little") & ((1 << bits) - 1)

    def below(self, n):
        bits = (n - 1).bit_length()
        while True:
            r = self.draw(bits)
            if r < n:
                return r

    def fraction(self, f):
        while f > 0:
            f = f * 2.0**32
            t = math.floor(f)
            r = self.draw(32)
            if r != t:
                return r < t
            f = f - t
        return False

    def whole(self, z):
        a = abs(z)
        n = math.floor(a)
        if self.fraction(a - n):
            n += 1
        return -n if z < 0 else n


def pick(cumulative, u):
    return bisect_right(cumulative, u) - 1


def cumulated(row):
    total, sums = 0, [0]
    for count in row:
        total += count
        sums.append(total)
    return sums


# ---------------------------------------------------------------- laws


def moments(row, values, d):
    mean = sum(n * y for n, y in zip(row, values, strict=True)) / Fraction(d)
    square = sum(n * y * y for n, y in zip(row, values, strict=True)) / Fraction(d)
    return mean, square - mean * mean


def column_ratio(rows):
    return max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


def estimator_of(pairs, variance):
    """slope, intercept, bias, variance from pairs of a mean and an input."""
    (first_mean, first), (last_mean, last) = pairs[0], pairs[-1]
    slope = (last - first) / (last_mean - first_mean) if last > first and last_mean > first_mean else Fraction(1)
    intercept = first - slope * first_mean
    bias = max(abs(slope * mean + intercept - x) for mean, x in pairs)
    return slope, intercept, bias, slope * slope * variance


class Windows:
    """Rows of counts between a base and caps, one row a start."""

    def __init__(self, law, cap, d):
        self.base = counts(law["base"], "law.base")
        self.caps = counts(law["caps"], "law.caps")
        need(self.caps == [cap * n // SCALE for n in self.base], "law.caps", "not floor(c n)")
        need(sum(self.caps) < 2**63, "law.caps", "sum")
        self.d = d
        self.n = cumulated(self.base)
        self.g = cumulated([c - n for c, n in zip(self.caps, self.base, strict=True)])
        self.m = len(self.base)
        self.e = d - self.n[-1]
        need(0 <= self.e <= self.g[-1], "law.base", "E")
        self.last = self.g[-1] - self.e
        self.starts = counts(law["starts"], "law.starts", 0)
        need(all(s <= self.last for s in self.starts), "law.starts", "above G_m - E")

    def cumulative(self, s):
        return [n + min(max(g - s, 0), self.e) for n, g in zip(self.n, self.g, strict=True)]

    def row(self, s):
        w = self.cumulative(s)
        return [b - a for a, b in pairwise(w)]

    def possible_starts(self):
        if self.e == 0:
            return [0]
        values = {0, self.last}
        for g in self.g:
            values |= {v for v in (g, g - self.e) if 0 <= v <= self.last}
        return sorted(values)

    def moved(self, a):
        """From which output to which mass moves after the start a."""
        return bisect_right(self.g, a) - 1, bisect_right(self.g, a + self.e) - 1


def shifted_offset(lower, upper):
    if lower > 0 and upper <= 2 * lower:
        unit = Fraction(2) ** floor_log2(upper - lower)
        return math.ceil(lower / unit) * unit
    if upper < 0 and -lower <= -2 * upper:
        unit = Fraction(2) ** floor_log2(upper - lower)
        return math.floor(upper / unit) * unit
    return Fraction(0)


class Table:
    """A table of any kind; reading it recomputes every entry."""

    def __init__(self, value):
        keys(value, TABLE_KEYS, "table", ["workload"])
        self.value = value
        need(value["format"] == "mechdesign table", "format")
        need(type(value["version"]) is int and value["version"] == 2, "version")
        self.kind = value["kind"]
        need(self.kind in REAL_KINDS + ITEM_KINDS, "kind")
        need(is_text(value["name"]), "name")
        self.epsilon = epsilon_of(value["epsilon"], "epsilon")
        self.bits = value["bits"]
        need(type(self.bits) is int and self.bits in (16, 32, 53, 62), "bits")
        need(self.kind != "unbiased" or self.bits in (16, 32), "bits")
        self.d = 2**self.bits
        need(is_text(value["cap"]) and value["cap"] == str(cap_of(self.epsilon)), "cap")
        self.cap = int(value["cap"])
        self.read_domain(value["domain"])
        self.law = value["law"]
        need(type(self.law) is dict, "law")
        self.clamp = None
        self.outputs = None
        getattr(self, f"read_{self.kind}")()
        need(value["privacy"] == str(self.privacy), "privacy", f"is {self.privacy}")
        need(self.privacy * SCALE <= self.cap, "privacy", "above cap")
        self.check_estimator()
        self.check_labels()
        self.check_certificate()
        self.check_repair()
        self.check_workload()
        provenance = value["provenance"]
        need(type(provenance) is dict and all(map(is_text, provenance.values())), "provenance")
        self.sha256 = hash_of(value)
        need(value["sha256"] == self.sha256, "sha256")

    # -- domain

    def read_domain(self, domain):
        need(type(domain) is dict and is_text(domain.get("kind")), "domain")
        kind = domain["kind"]
        self.lower = self.upper = self.points = self.items = self.period = None
        if kind == "interval":
            keys(domain, ["kind", "lower", "upper"], "domain")
            self.lower, self.upper = decimal(domain["lower"], "domain.lower"), decimal(domain["upper"], "domain.upper")
            need(self.lower < self.upper, "domain")
        elif kind == "circle":
            keys(domain, ["kind", "period"], "domain")
            self.period = decimal(domain["period"], "domain.period")
            need(self.period > 0, "domain.period")
        elif kind == "finite":
            keys(domain, ["kind", "points"], "domain")
            self.points = decimals(domain["points"], "domain.points", 1)
            need(all(a < b for a, b in pairwise(self.points)), "domain.points")
        else:
            need(kind == "items", "domain.kind")
            keys(domain, ["kind", "count"], "domain")
            most = 16384 if self.kind in ("unary", "subset") else 65536
            self.items = whole_number(domain["count"], "domain.count", 2, most)
        allowed = {"finite": ("finite",), "pieces": ("interval", "circle")}
        expected = ("items",) if self.kind in ITEM_KINDS else allowed.get(self.kind, ("interval",))
        need(kind in expected, "domain.kind")

    # -- kinds

    def read_window(self):
        law = self.law
        keys(law, ["outputs", "base", "caps", "thresholds", "starts"], "law")
        self.outputs = decimals(law["outputs"], "law.outputs", 1)
        need(all(a < b for a, b in pairwise(self.outputs)), "law.outputs", "not increasing")
        self.window = window = Windows(law, self.cap, self.d)
        need(window.m == len(self.outputs), "law.base", "length")
        self.thresholds = decimals(law["thresholds"], "law.thresholds")
        starts, thresholds = self.filled()
        need(window.starts == starts, "law.starts", "fill rule")
        need([float(t) for t in self.thresholds] == thresholds, "law.thresholds", "fill rule")
        self.rows = [window.row(s) for s in window.starts]
        self.privacy = column_ratio(self.rows)

    def filled(self):
        possible = self.window.possible_starts()
        starts, thresholds = [possible[0]], []
        for a, b in pairwise(possible):
            left, right = self.window.moved(a)
            middle = (self.outputs[left] + self.outputs[right]) / 2
            if middle >= self.upper:
                break
            if middle < self.lower:
                starts = [b]
            else:
                starts.append(b)
                thresholds.append(rounded_down(middle))
        return starts, thresholds

    def read_unbiased(self):
        law = self.law
        keys(law, ["outputs", "base", "caps", "starts", "offset", "shift", "units", "means"], "law")
        self.outputs = decimals(law["outputs"], "law.outputs", 1)
        self.window = window = Windows(law, self.cap, self.d)
        need(window.m == len(self.outputs), "law.base", "length")
        self.offset = decimal(law["offset"], "law.offset")
        need(self.offset == shifted_offset(self.lower, self.upper), "law.offset")
        self.shift = whole_number(law["shift"], "law.shift")
        need(0 <= self.shift + self.bits <= 1000, "law.shift")
        self.units = counts(law["units"], "law.units", -(2**63) + 1)
        need(all(a < b for a, b in pairwise(self.units)), "law.units", "not increasing")
        step = Fraction(2) ** -self.shift
        need(self.outputs == [self.offset + u * step for u in self.units], "law.units", "not the outputs")
        self.means = counts(law["means"], "law.means", -(2**62) + 1, 2)
        self.rows = [window.row(s) for s in window.starts]
        need(self.means == [sum(n * u for n, u in zip(row, self.units, strict=True)) for row in self.rows], "law.means")
        need(all(abs(mean) < 2**62 for mean in self.means), "law.means", "too large")
        need(all(a < b for a, b in pairwise(self.means)), "law.means", "not increasing")
        unit = step / self.d
        places = [self.offset + mean * unit for mean in self.means]
        need(places[0] <= self.lower and places[-1] >= self.upper, "law.means", "do not cover the domain")
        need(places[1] > self.lower and places[-2] < self.upper, "law.means", "not the shortest stretch")
        expected = self.unbiased_starts()
        need(window.starts == expected, "law.starts", "not the possible ones")
        self.privacy = column_ratio(self.rows)

    def unbiased_starts(self):
        """The possible starts of different means (of equal ones the first), cut to the domain."""
        unit = Fraction(2) ** -self.shift / self.d
        kept = []
        for s in self.window.possible_starts():
            mean = self.offset + sum(n * u for n, u in zip(self.window.row(s), self.units, strict=True)) * unit
            if not kept or mean > kept[-1][0]:
                kept.append((mean, s))
        first = max(i for i, (mean, _) in enumerate(kept) if mean <= self.lower)
        last = min(i for i, (mean, _) in enumerate(kept) if mean >= self.upper)
        return [s for _, s in kept[first : last + 1]]

    def read_finite(self):
        law = self.law
        keys(law, ["outputs", "rows"], "law", ["pairs"])
        self.outputs = decimals(law["outputs"], "law.outputs", 1)
        need(all(a < b for a, b in pairwise(self.outputs)), "law.outputs", "not increasing")
        listed(law["rows"], "law.rows")
        self.rows = [counts(row, f"law.rows[{i}]") for i, row in enumerate(law["rows"])]
        need(len(self.rows) == len(self.points), "law.rows", "length")
        for i, row in enumerate(self.rows):
            need(len(row) == len(self.outputs) and sum(row) == self.d, f"law.rows[{i}]")
        self.privacy = column_ratio(self.rows)
        if "pairs" in law:
            self.read_pairs(law["pairs"])

    def read_pairs(self, pairs):
        keys(pairs, ["epsilons", "of"], "law.pairs")
        epsilons = [epsilon_of(e, "law.pairs.epsilons") for e in listed(pairs["epsilons"], "law.pairs.epsilons")]
        need(all(a < b for a, b in pairwise(epsilons)), "law.pairs.epsilons")
        caps = [cap_of(e) for e in epsilons]
        k = len(self.points)
        need(len(listed(pairs["of"], "law.pairs.of")) == k, "law.pairs.of")
        of = [counts(row, "law.pairs.of", -1, k) for row in pairs["of"]]
        used = set()
        for i in range(k):
            need(len(of[i]) == k and of[i][i] == -1, "law.pairs.of")
            for j in range(k):
                place = of[i][j]
                need(place < len(epsilons), "law.pairs.of")
                if place >= 0:
                    used.add(place)
                    worst = max(Fraction(a, b) for a, b in zip(self.rows[i], self.rows[j], strict=True))
                    need(worst * SCALE <= caps[place], "law.pairs.of", "ratio")
        need(used == set(range(len(epsilons))), "law.pairs.epsilons", "not all used")

    def read_pieces(self):
        law = self.law
        keys(law, ["cells", "inside", "weight", "first", "step", "anchor", "scale", "clamp"], "law")
        n = self.cells = whole_number(law["cells"], "law.cells", 2, 2**40)
        w = self.inside = whole_number(law["inside"], "law.inside", 1, n - 1)
        p = self.weight = whole_number(law["weight"], "law.weight", 1, self.d - 1)
        self.first = whole_number(law["first"], "law.first", -(2**51) + 1, 2**51 - 1)
        self.step, self.anchor, self.scale = (decimal(law[key], f"law.{key}") for key in ("step", "anchor", "scale"))
        for key in ("step", "scale"):
            need(Fraction(2) ** -500 < getattr(self, key) < Fraction(2) ** 500, f"law.{key}")
        need(p * n > self.d * w, "law.weight", "no window")
        self.privacy = Fraction(p * (n - w), (self.d - p) * w)
        self.read_clamp()
        ends = (Fraction(0), self.period) if self.period is not None else (self.lower, self.upper)
        for x in ends:
            need(abs((x - self.anchor) * self.scale) < 2**52, "law.scale", "q")
        if self.period is not None:
            need(self.first == 0, "law.first")
            need(n * self.step == self.period, "law.step")
            need(self.scale == Fraction(float(1 / self.step)), "law.scale")
            need(self.anchor == Fraction(float((w - 1) * self.step / 2)), "law.anchor")
            need(self.clamp is None, "law.clamp")

    def read_clamp(self):
        clamp = self.law["clamp"]
        if clamp is not None:
            need(len(listed(clamp, "law.clamp")) == 2, "law.clamp")
            need(decimals(clamp, "law.clamp") == [self.lower, self.upper], "law.clamp", "not the ends of the domain")
            self.clamp = [float(self.lower), float(self.upper)]

    def read_additive(self):
        law = self.law
        keys(law, ["offset", "shift", "least", "most", "weights", "tail", "clamp"], "law")
        self.offset = decimal(law["offset"], "law.offset")
        need(self.offset == shifted_offset(self.lower, self.upper), "law.offset")
        self.shift = whole_number(law["shift"], "law.shift", -1000, 1000)
        self.grid = Fraction(2) ** -self.shift
        self.least, self.most = whole_number(law["least"], "law.least"), whole_number(law["most"], "law.most")
        need(self.least == math.floor((self.lower - self.offset) / self.grid), "law.least")
        need(self.most == math.ceil((self.upper - self.offset) / self.grid), "law.most")
        self.weights = counts(law["weights"], "law.weights")
        need(len(self.weights) == self.most - self.least, "law.weights", "length")
        need(sum(self.weights) == self.d, "law.weights", "sum")
        need(all(a >= b for a, b in pairwise(self.weights)), "law.weights", "increase")
        self.tail = whole_number(law["tail"], "law.tail", 1, self.d - 1)
        need(2**16 * (self.d - self.tail) >= self.d, "law.tail", "a last block must be likely enough")
        self.privacy = max(Fraction(self.weights[0], self.weights[-1]), Fraction(self.d, self.tail))
        self.read_clamp()

    def own_other(self, others):
        own, other = (whole_number(self.law[key], f"law.{key}", 1) for key in ("own", "other"))
        need(own + others * other == self.d, "law.own", "sum")
        return own, other

    def bit_counts(self, key):
        pair = counts(self.law[key], f"law.{key}")
        need(len(pair) == 2 and sum(pair) == self.d, f"law.{key}")
        return pair

    def odds(self):
        (own0, own1), (other0, other1) = self.own_bit, self.other_bit
        return Fraction(own1 * other0, own0 * other1)

    def set_items(self, ratio, p, q):
        need(ratio > 1, "law", "ratio not above 1")
        self.privacy, self.p, self.q = ratio, Fraction(p), Fraction(q)

    def read_response(self):
        keys(self.law, ["own", "other"], "law")
        self.own, self.other = self.own_other(self.items - 1)
        self.set_items(Fraction(self.own, self.other), Fraction(self.own, self.d), Fraction(self.other, self.d))

    def read_unary(self):
        keys(self.law, ["own_bit", "other_bit"], "law")
        self.own_bit, self.other_bit = self.bit_counts("own_bit"), self.bit_counts("other_bit")
        self.set_items(self.odds(), Fraction(self.own_bit[1], self.d), Fraction(self.other_bit[1], self.d))

    def read_hashing(self):
        keys(self.law, ["hashes", "own", "other"], "law")
        self.hashes = whole_number(self.law["hashes"], "law.hashes", 2, 2**31)
        self.own, self.other = self.own_other(self.hashes - 1)
        self.set_items(Fraction(self.own, self.other), Fraction(self.own, self.d), Fraction(1, self.hashes))

    def read_subset(self):
        keys(self.law, ["subset", "own", "other"], "law")
        k = self.items
        d = self.subset = whole_number(self.law["subset"], "law.subset", 1, k - 1)
        self.own, self.other = self.own_other(1)
        p = Fraction(self.own, self.d)
        self.set_items(Fraction(self.own * (k - d), self.other * d), p, (p * (d - 1) + (1 - p) * d) / (k - 1))

    def read_hadamard(self):
        keys(self.law, ["blocks", "own", "other"], "law")
        b = self.blocks = whole_number(self.law["blocks"], "law.blocks", 1)
        need(b & (b - 1) == 0 and b <= 2 ** (self.items - 1).bit_length(), "law.blocks")
        self.own, self.other = self.own_other(2 * b - 1)
        self.row_bits = (-(-self.items // b)).bit_length()
        self.set_items(Fraction(self.own, self.other), 1 - Fraction(b * self.other, self.d), Fraction(1, 2))

    def read_sketch(self):
        keys(self.law, ["functions", "buckets", "own_bit", "other_bit"], "law")
        m = self.functions = whole_number(self.law["functions"], "law.functions", 2, 1024)
        w = self.buckets = whole_number(self.law["buckets"], "law.buckets", 2, 16384)
        need(m & (m - 1) == 0 and m * w <= 2**22, "law.functions")
        self.own_bit, self.other_bit = self.bit_counts("own_bit"), self.bit_counts("other_bit")
        p = Fraction(self.own_bit[1], self.d)
        q = p / w + (1 - Fraction(1, w)) * Fraction(self.other_bit[1], self.d)
        self.set_items(self.odds(), p, q)

    # -- what the table says of itself

    def check_estimator(self):
        estimator = self.value["estimator"]
        if self.period is not None:
            need(estimator is None, "estimator")
            return
        if self.items is not None:
            keys(estimator, ["kind", "p", "q"], "estimator")
            need(estimator["kind"] == "frequencies", "estimator.kind")
            need(estimator["p"] == str(self.p), "estimator.p")
            need(estimator["q"] == str(self.q), "estimator.q")
            return
        names = ["slope", "intercept", "bias", "variance"]
        keys(estimator, ["kind", *names], "estimator")
        need(estimator["kind"] == ("mean" if self.clamp is None else "mean before clamping"), "estimator.kind")
        for name, exact in zip(names, getattr(self, f"{self.kind}_estimator")(), strict=True):
            need(estimator[name] == str(exact), f"estimator.{name}", f"is {float(exact)}")

    def window_pairs(self):
        """Row, input: both ends of the stretch of inputs of every row."""
        ends = [self.lower, *self.thresholds, self.upper]
        return [(i, x) for i in range(len(self.rows)) for x in (ends[i], ends[i + 1])]

    def window_estimator(self):
        of_rows = [moments(row, self.outputs, self.d) for row in self.rows]
        pairs = [(of_rows[i][0], x) for i, x in self.window_pairs()]
        return estimator_of(pairs, max(variance for _, variance in of_rows))

    def finite_estimator(self):
        of_rows = [moments(row, self.outputs, self.d) for row in self.rows]
        pairs = [(mean, x) for (mean, _), x in zip(of_rows, self.points, strict=True)]
        return estimator_of(pairs, max(variance for _, variance in of_rows))

    def unbiased_estimator(self):
        step = Fraction(2) ** -self.shift
        places = [Fraction(mean, self.d) for mean in self.means]
        squares = [Fraction(sum(n * u * u for n, u in zip(row, self.units, strict=True)), self.d) for row in self.rows]
        low, high = (self.lower - self.offset) / step, (self.upper - self.offset) / step
        worst = None
        for (a, square_a), (b, square_b) in pairwise(zip(places, squares, strict=True)):
            left, right = max(a, low), min(b, high)
            if left > right:
                continue
            t = (square_b - square_a) / (b - a)
            x = min(max(t / 2, left), right)
            value = square_a + t * (x - a) - x * x
            worst = value if worst is None else max(worst, value)
        return estimator_of([(self.lower, self.lower), (self.upper, self.upper)], worst * step * step)

    def pieces_estimator(self):
        n, w, share = self.cells, self.inside, Fraction(self.weight, self.d)
        g = (n * share - w) / (n - w)
        step = self.step

        def place(x):
            return (x - self.anchor) * self.scale

        def v(x):
            return min(max(place(x) - Fraction(1, 2), 0), n - w)

        def mean(x):
            return step * (self.first + Fraction(n, 2) + g * (v(x) + Fraction(w - n, 2)))

        far = max(abs(place(self.lower)), abs(place(self.upper)))
        off = Fraction(1, 2) + (far + 1) / 2**51
        corners = [self.anchor + (Fraction(1, 2) + more) / self.scale for more in (0, n - w)]
        middle = sorted(x for x in corners if self.lower < x < self.upper)
        inputs = [self.lower, *middle, self.upper]
        slope, intercept, bias, _ = estimator_of([(mean(x), x) for x in inputs], 0)
        half = Fraction(n - w, 2)
        t = min(max(abs(v(x) - half) for x in (self.lower, self.upper)) + off, half)
        variance = ((1 - share) * (n**3 - n) / (n - w) + g * (w * w - 1)) / 12 + g * (1 - g) * t * t
        return slope, intercept, bias + slope * g * off * step, slope**2 * step**2 * variance

    def additive_estimator(self):
        q, r = Fraction(self.tail, self.d), len(self.weights)
        s1 = sum(weight * i for i, weight in enumerate(self.weights))
        s2 = sum(weight * i * i for i, weight in enumerate(self.weights))
        f = r * r * self.d * q * (1 + q) / (1 - q) ** 3 + 2 * r * s1 * q / (1 - q) ** 2 + s2 / (1 - q)
        variance = (2 * f / (2 * self.d / (1 - q) - self.weights[0]) + Fraction(1, 4)) * self.grid**2
        return estimator_of([(self.lower, self.lower), (self.upper, self.upper)], variance)

    def check_labels(self):
        labels = self.value["labels"]
        self.input_labels = self.output_labels = None
        if labels is None:
            return
        need(self.kind == "finite" or self.items is not None, "labels")
        keys(labels, ["inputs", "outputs"], "labels")
        need(labels["inputs"] is not None or labels["outputs"] is not None, "labels")
        sizes = {"inputs": self.items or len(self.points or []), "outputs": len(self.outputs or [])}
        for side, size in sizes.items():
            texts = labels[side]
            if texts is None:
                continue
            need(side == "inputs" or self.items is None, f"labels.{side}")
            need(len(listed(texts, f"labels.{side}")) == size, f"labels.{side}", "length")
            for text in texts:
                label_text(text, f"labels.{side}")
            need(len(set(texts)) == size, f"labels.{side}", "twice")
        self.input_labels, self.output_labels = labels["inputs"], labels["outputs"]

    def check_certificate(self):
        certificate = self.value["certificate"]
        if certificate is None:
            return
        need(self.kind == "window", "certificate")
        keys(certificate, ["criterion", "exponent", "lower", "error", "atoms"], "certificate")
        need(certificate["criterion"] == "worst case", "certificate.criterion")
        p = whole_number(certificate["exponent"], "certificate.exponent", 1, 2)
        atoms = []
        for atom in listed(certificate["atoms"], "certificate.atoms", 1):
            need(len(listed(atom, "certificate.atoms")) == 3, "certificate.atoms")
            x, r, w = decimals(atom, "certificate.atoms")
            need(self.lower <= x <= self.upper and r >= 0 and w > 0, "certificate.atoms")
            atoms.append((x, r, w))
        need(certificate["lower"] == str(lower_bound(atoms, p, Fraction(self.cap + 1, SCALE))), "certificate.lower")
        error = max(
            sum(n * abs(y - x) ** p for n, y in zip(self.rows[i], self.outputs, strict=True)) / self.d
            for i, x in self.window_pairs()
        )
        need(certificate["error"] == str(error), "certificate.error")

    def check_repair(self):
        repair = self.value["repair"]
        if repair is not None:
            need(self.kind == "finite", "repair")
            keys(repair, ["mixed", "dropped"], "repair")
            need(0 <= rational(repair["mixed"], "repair.mixed") <= 1, "repair.mixed")
            whole_number(repair["dropped"], "repair.dropped", 0)

    def check_workload(self):
        if "workload" not in self.value:
            return
        workload = self.value["workload"]
        need(self.kind == "finite", "workload")
        keys(workload, ["queries", "rows", "estimator", "bias"], "workload")
        queries = listed(workload["queries"], "workload.queries", 1)
        for query in queries:
            label_text(query, "workload.queries")
        need(len(set(queries)) == len(queries), "workload.queries", "twice")
        n, m = len(self.points), len(self.outputs)
        need(len(queries) * (n + m) <= 2**20 and len(queries) * n * m <= 2**27, "workload", "too large")
        asked = [decimals(row, "workload.rows") for row in listed(workload["rows"], "workload.rows")]
        weights = [decimals(row, "workload.estimator") for row in listed(workload["estimator"], "workload.estimator")]
        need(len(asked) == len(weights) == len(queries), "workload", "lengths")
        need(all(len(row) == len(self.points) for row in asked), "workload.rows")
        need(all(len(row) == len(self.outputs) for row in weights), "workload.estimator")
        bias = max(
            abs(sum(v * n for v, n in zip(weight, row, strict=True)) / self.d - wanted[i])
            for weight, wanted in zip(weights, asked, strict=True)
            for i, row in enumerate(self.rows)
        )
        need(workload["bias"] == str(bias), "workload.bias")

    # -- sampling

    def refuses(self, x):
        if self.items is not None:
            return not (type(x) is int and 0 <= x < self.items)
        if not math.isfinite(x):
            return True
        if self.points is not None:
            return Fraction(x) not in self.points
        if self.period is not None:
            return not 0 <= Fraction(x) <= self.period
        return not self.lower <= Fraction(x) <= self.upper

    def sample(self, x, stream):
        """The output for the input x, from the bytes of a stream: a double, or bytes on items."""
        need(not self.refuses(x), "input")
        return getattr(self, f"sample_{self.kind}")(x, stream)

    def sample_window(self, x, stream):
        i = bisect_left([float(t) for t in self.thresholds], x)
        return self.output(self.window.cumulative(self.window.starts[i]), stream)

    def output(self, cumulative, stream):
        return float(self.outputs[pick(cumulative, stream.draw(self.bits))])

    def sample_unbiased(self, x, stream):
        z = (x - float(self.offset)) * 2.0 ** (self.shift + self.bits)
        chosen = stream.whole(z)
        i = min(pick(self.means, chosen), len(self.means) - 2)
        if stream.below(self.means[i + 1] - self.means[i]) < chosen - self.means[i]:
            i += 1
        return self.output(self.window.cumulative(self.window.starts[i]), stream)

    def sample_finite(self, x, stream):
        return self.output(cumulated(self.rows[self.points.index(Fraction(x))]), stream)

    def sample_pieces(self, x, stream):
        n, w = self.cells, self.inside
        s = math.floor((x - float(self.anchor)) * float(self.scale))
        s = min(max(s, 0), n - w) if self.period is None else s % n
        u = stream.draw(self.bits)
        r = stream.below(w) if u < self.weight else w + stream.below(n - w)
        return self.cell((s + r) % n)

    def cell(self, j):
        return self.clamped((self.first + j + 0.5) * float(self.step))

    def clamped(self, y):
        return y if self.clamp is None else min(max(y, self.clamp[0]), self.clamp[1])

    def sample_additive(self, x, stream):
        chosen = stream.whole((x - float(self.offset)) * 2.0**self.shift)
        cumulative = cumulated(self.weights)
        while True:
            sign = stream.draw(1)
            b = 0
            while stream.draw(self.bits) < self.tail:
                b += 1
            m = b * len(self.weights) + pick(cumulative, stream.draw(self.bits))
            if not (sign == 1 and m == 0):
                break
        return self.grid_point(chosen - m if sign == 1 else chosen + m)

    def grid_point(self, v):
        return self.clamped(float(self.offset) + v * 2.0**-self.shift)

    def choose(self, g, mine, stream):
        u = stream.draw(self.bits)
        return mine if u < self.own else (mine + 1 + (u - self.own) // self.other) % g

    def coins(self, w, mine, stream):
        bits = 0
        for v in range(w):
            if stream.draw(self.bits) < (self.own_bit if v == mine else self.other_bit)[1]:
                bits |= 1 << v
        return bits.to_bytes((w + 7) // 8, "little")

    def sample_response(self, v, stream):
        return self.choose(self.items, v, stream).to_bytes(bytes_of(self.items), "little")

    def sample_unary(self, v, stream):
        return self.coins(self.items, v, stream)

    def sample_hashing(self, v, stream):
        s = stream.draw(64)
        y = self.choose(self.hashes, xxh64(v, s) % self.hashes, stream)
        return s.to_bytes(8, "little") + y.to_bytes(bytes_of(self.hashes), "little")

    def sample_subset(self, v, stream):
        k, d = self.items, self.subset
        holds = stream.draw(self.bits) < self.own
        others = [(v + 1 + i) % k for i in range(k - 1)]
        for i in range(d):
            j = i + stream.below(k - 1 - i)
            others[i], others[j] = others[j], others[i]
        chosen = [*others[: d - 1], v if holds else others[d - 1]]
        return sum(1 << item for item in chosen).to_bytes((k + 7) // 8, "little")

    def sample_hadamard(self, v, stream):
        b = self.blocks
        row = v // b + 1
        h = self.choose(2 * b, 2 * (v % b), stream)
        z = stream.draw(self.row_bits)
        if (z & row).bit_count() % 2 != h % 2:
            z ^= row & -row
        return (h // 2 * 2**self.row_bits + z).to_bytes(bytes_of(b * 2**self.row_bits), "little")

    def sample_sketch(self, v, stream):
        j = stream.draw(self.functions.bit_length() - 1)
        bits = self.coins(self.buckets, xxh64(v, j) % self.buckets, stream)
        return j.to_bytes(bytes_of(self.functions), "little") + bits

    # -- the bytes of a report on items

    def report_size(self):
        return {
            "response": lambda: bytes_of(self.items),
            "unary": lambda: (self.items + 7) // 8,
            "subset": lambda: (self.items + 7) // 8,
            "hashing": lambda: 8 + bytes_of(self.hashes),
            "hadamard": lambda: bytes_of(self.blocks * 2**self.row_bits),
            "sketch": lambda: bytes_of(self.functions) + (self.buckets + 7) // 8,
        }[self.kind]()


def lower_bound(atoms, p, c):
    """(sum w r^p + min(0, M)) / sum w, M the minimum over all real y of sum w phi(abs(y - x)^p - r^p).

    Between neighbouring places the sum is linear, or a quadratic that is nowhere below the sum's minimum: so M is the
    least value at the places and at the quadratics' own minima.
    """
    unit = math.lcm(*(number.denominator for x, r, _ in atoms for number in (x, r)))
    whole = [(int(x * unit), int(r * unit), w) for x, r, w in atoms]
    places = sorted({x + side * r for x, r, _ in whole for side in (-1, 0, 1)})

    def value(y):
        gains = losses = Fraction(0)
        for x, r, w in whole:
            excess = abs(y - x) ** p - r**p
            if excess < 0:
                gains += w * excess
            else:
                losses += w * excess
        return losses + c * gains

    least = min(map(value, places))
    for a, b in pairwise([places[0] - 2, *places, places[-1] + 2]) if p == 2 else ():
        slopes = [(w * (c if abs(a + b - 2 * x) < 2 * r else 1), x) for x, r, w in whole]
        least = min(least, value(sum(w * x for w, x in slopes) / sum(w for w, _ in slopes)))
    return (sum(w * r**p for _, r, w in atoms) + min(0, least / unit**p)) / sum(w for _, _, w in atoms)


def bytes_of(n):
    return max(1, ((n - 1).bit_length() + 7) // 8)


def xxh64(v, s):
    mask = 2**64 - 1
    p1, p2, p3 = 11400714785074694791, 14029467366897019727, 1609587929392839161
    p4, p5 = 9650029242287828579, 2870177450012600261

    def rot(a, by):
        a &= mask
        return (a << by | a >> (64 - by)) & mask

    a = (rot(v * p2, 31) * p1 & mask) ^ (s + p5 + 8 & mask)
    a = (rot(a, 27) * p1 + p4) & mask
    a = (a ^ a >> 33) * p2 & mask
    a = (a ^ a >> 29) * p3 & mask
    return a ^ a >> 32


def read_table(data):
    """The table of a file's bytes, every entry of it recomputed, or `Refused`."""
    need(len(data) <= 2**26, "file", "too large")
    return Table(parsed(data))


# ---------------------------------------------------------------- vectors


def replay_text(table, text):
    """How many cases of a text file of vectors hold, and how many inputs are refused as it says."""
    cases = refused = 0
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        given, data, used, wanted = line.split(" ")
        items = table.items is not None
        x = int(given) if items else struct.unpack(">d", bytes.fromhex(given))[0]
        if wanted == "error":
            need(table.refuses(x), f"vectors: {line[:80]} not refused")
            refused += 1
            continue
        need(refused == 0, "vectors", "refusals come last")
        stream = Stream(bytes.fromhex(data))
        y = table.sample(x, stream)
        y = y.hex() if items else struct.pack(">d", y).hex()
        need(y == wanted and stream.used == int(used), f"vectors: {line[:80]}", f"{y} {stream.used}")
        cases += 1
    return cases, refused


def replay_json(table, data):
    """How many cases of test vectors in JSON hold."""
    value = parsed(data)
    keys(value, ["format", "version", "table", "cases"], "vectors", ["reports"])
    need(value["format"] == "mechdesign test vectors" and value["version"] == 1, "vectors")
    need(value["table"] == table.sha256, "vectors.table")
    need((value.get("reports") == "bytes") == (table.items is not None), "vectors.reports")
    for case in value["cases"]:
        keys(case, ["x", "bytes", "used", "y"], "case")
        stream = Stream(bytes.fromhex(case["bytes"]))
        if table.items is not None:
            y = table.sample(int(case["x"]), stream).hex()
        else:
            y = write_decimal(table.sample(float(decimal(case["x"], "x")), stream))
        need(y == case["y"] and stream.used == case["used"], "case", f"{case} {y}")
    return len(value["cases"])
