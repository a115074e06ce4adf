"""Draws reports from any table of mechdesign, and writes envelopes. Standard library only.

    table = Table.read(open("smokes.json").read())
    report = table.sample("yes")

Every random decision compares whole numbers, so the law of a report is exact. Randomness is the operating system's,
read in blocks: bytes are forgotten as they are used, and a child of a fork begins with none. FORMAT.md is the
specification.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Any, Callable

Read = Callable[[int], bytes]
"""``read(n)`` gives n random bytes. Who gives one to a sampler is a test."""

BLOCK = 4096
LAST_DAY = 2932896  # 9999-12-31
MOST_COUNT = 2**63 - 1
MOST_PLACE = 2**62
LAST_BLOCK = 16  # noise ends within a block with a chance of at least 2^-16: nobody draws for ever


class NoRandomness(RuntimeError):
    """There is no secure randomness, and so no report."""


class NotReadable(ValueError):
    """This runtime cannot draw from the file."""


def system(count: int) -> bytes:
    """Random bytes of the operating system."""
    try:
        return os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise NoRandomness("the operating system gives no random bytes") from error


class Pool:
    """Pieces of random bytes, one for each report. A piece is given once."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.pieces: list[bytes] = []
        self.owner = os.getpid()

    def take(self) -> bytes:
        if self.owner != os.getpid():  # a child of a fork, by whoever forked
            self.pieces, self.owner = [], os.getpid()
        while True:
            try:
                return self.pieces.pop()  # another thread may have taken the last one
            except IndexError:
                block = system(self.size * (BLOCK // self.size))
                self.pieces.extend(block[i : i + self.size] for i in range(0, len(block), self.size))

    def reader(self) -> Read:
        """The bytes of one report: as many for every input, and more only where they do not suffice."""
        own = self.take()

        def read(count: int) -> bytes:
            nonlocal own
            while len(own) < count:
                own += self.take()
            content, own = own[:count], own[count:]
            return content

        return read


# What a law relies on is looked at when a file is read: that it is private, `mechdesign verify` decides.


def require(holds):
    if not holds:
        raise ValueError


def whole_number(number, least, most):
    require(isinstance(number, int) and not isinstance(number, bool) and least <= number <= most)
    return number


def power_of_two(number, least, most):
    require(bin(whole_number(number, least, most)).count("1") == 1)
    return number


def whole_numbers(numbers, least, most):
    return [whole_number(number, least, most) for number in numbers]


def sums(counts, total):
    """What counts from 1 on reach, from 0 to their total."""
    reached = [0, *accumulate(whole_numbers(counts, 1, total))]
    require(reached[-1] == total)
    return reached


def double(text):
    require(isinstance(text, str) and text == text.strip() and math.isfinite(float(text)))
    return float(text)


def doubles(texts):
    return [double(text) for text in texts]


def require_increasing(numbers):
    require(all(low < high for low, high in zip(numbers, numbers[1:])))


def hash_bytes(digits):
    """The bytes of 64 hexadecimal digits."""
    require(len(digits) == 64 and len(bytes.fromhex(digits)) == 32)
    return bytes.fromhex(digits)


def ends(domain):
    """The first and the last input of an interval or a circle."""
    low, high = (0.0, double(domain["period"])) if is_circle(domain) else doubles((domain["lower"], domain["upper"]))
    require(low < high)
    return [low, high]


def is_circle(domain):
    return domain["kind"] == "circle"


def require_places(domain, offset, scale, most):
    """That in units of a law all inputs are so near that they can be counted."""
    require(all(abs((x - offset) * scale) < most for x in ends(domain)))


@contextlib.contextmanager
def reading(what):
    """Whatever fails here, the file is to blame."""
    try:
        yield
    except NotReadable:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, struct.error) as error:
        raise NotReadable(f"this is no {what}: {type(error).__name__}") from None


def exactly(count, read):
    """So many random bytes, or an error."""
    content = read(count)
    if len(content) != count:
        raise NoRandomness("there are too few random bytes")
    return content


def draw(bits, read):
    """The low ``bits`` of as few whole bytes as hold them, little-endian."""
    return int.from_bytes(exactly(bytes_for(bits), read), "little") & ((1 << bits) - 1)


def below(size, read):
    """A uniform integer from 0 to size - 1."""
    while True:
        number = draw((size - 1).bit_length(), read)
        if number < size:
            return number


def whole(z, read):
    """An integer next to ``z`` with mean exactly ``z``."""
    number = int(abs(z))
    number += happens(abs(z) - number, read)
    return number if z >= 0 else -number


def happens(probability, read):
    """True with exactly this probability: its binary digits are compared with random ones."""
    while probability > 0:
        probability *= 4294967296.0
        digits = int(probability)
        number = draw(32, read)
        if number != digits:
            return number < digits
        probability -= digits
    return False


def bytes_for(bits):
    return (bits + 7) // 8


def bytes_of(count):
    """The least number of bytes that hold count - 1."""
    return max(1, bytes_for((count - 1).bit_length()))


def repeats(chance):
    """So many repeats of this chance in a row have a probability of at most 2^-64."""
    return math.ceil(64 * math.log(2) / -math.log(chance))


def bytes_below(size):
    """In so many bytes `below` finds its number, but for a chance of 2^-64."""
    bits = (size - 1).bit_length()
    rejected = 1 - size / 2**bits
    return bytes_for(bits) * (repeats(rejected) if rejected else 1)


# Laws: each gives its rule, and how many random bytes a report is allotted. A rule takes what has been found to be an
# input; where outputs are listed it gives a place among them, else the report.


def rows(law, bits):
    """The place whose cumulative counts ``W_j = N_j + min(max(G_j - s, 0), E)`` enclose a count."""
    base, caps = whole_numbers(law["base"], 1, 1 << bits), whole_numbers(law["caps"], 1, MOST_COUNT)
    require(0 < len(base) == len(caps) == len(law["outputs"]) and all(low <= high for low, high in zip(base, caps)))
    reached = [0, *accumulate(base)]
    gained = [0, *accumulate(cap - low for low, cap in zip(base, caps))]
    extra = (1 << bits) - reached[-1]
    require(0 <= extra <= gained[-1])
    starts = whole_numbers(law["starts"], 0, gained[-1] - extra)

    def place(start, count):
        low, high = 0, len(reached) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if reached[middle] + min(max(gained[middle] - start, 0), extra) <= count:
                low = middle
            else:
                high = middle
        return low

    return place, starts


def window(law, bits, domain):
    (place, starts), thresholds = rows(law, bits), doubles(law["thresholds"])
    require(len(starts) == len(thresholds) + 1)
    return lambda x, read: place(starts[bisect_left(thresholds, x)], draw(bits, read)), bytes_for(bits)


def unbiased(law, bits, domain):
    (place, starts), means = rows(law, bits), whole_numbers(law["means"], 1 - MOST_PLACE, MOST_PLACE - 1)
    offset, scale = double(law["offset"]), math.ldexp(1.0, whole_number(law["shift"] + bits, -1000, 1000))
    require(1 < len(means) == len(starts))
    require_increasing(means)
    require_places(domain, offset, scale, MOST_PLACE)

    def rule(x, read):
        mean = whole((x - offset) * scale, read)
        i = min(bisect_right(means, mean) - 1, len(means) - 2)
        i += below(means[i + 1] - means[i], read) < mean - means[i]
        return place(starts[i], draw(bits, read))

    return rule, bytes_for(bits) + 8 + max(bytes_below(high - low) for low, high in zip(means, means[1:]))


def finite(law, bits, domain):
    points, cumulative = doubles(domain["points"]), [sums(row, 1 << bits) for row in law["rows"]]
    require(len(cumulative) == len(points) > 0 and {len(row) - 1 for row in cumulative} == {len(law["outputs"])})
    return lambda x, read: bisect_right(cumulative[bisect_left(points, x)], draw(bits, read)) - 1, bytes_for(bits)


def pieces(law, bits, domain):
    cells = whole_number(law["cells"], 2, 1 << 40)
    inside, weight = whole_number(law["inside"], 1, cells - 1), whole_number(law["weight"], 1, (1 << bits) - 1)
    first, clamped = whole_number(law["first"], 1 - (1 << 51), (1 << 51) - 1), clamp(law)
    step, anchor, scale = double(law["step"]), double(law["anchor"]), double(law["scale"])
    turns = is_circle(domain)
    require_places(domain, anchor, scale, 1 << 52)

    def rule(x, read):
        start = math.floor((x - anchor) * scale)
        start = start % cells if turns else min(max(start, 0), cells - inside)
        hit = draw(bits, read) < weight
        cell = below(inside, read) if hit else inside + below(cells - inside, read)
        return clamped((first + (start + cell) % cells + 0.5) * step)

    return rule, bytes_for(bits) + max(bytes_below(inside), bytes_below(cells - inside))


def additive(law, bits, domain):
    offset, shift, clamped = double(law["offset"]), whole_number(law["shift"], -1000, 1000), clamp(law)
    scale, step = math.ldexp(1.0, shift), math.ldexp(1.0, -shift)
    cumulative, tail = sums(law["weights"], 1 << bits), whole_number(law["tail"], 1, (1 << bits) - 1)
    require((1 << bits) - tail << LAST_BLOCK >= 1 << bits)
    require_places(domain, offset, scale, MOST_PLACE)

    def rule(x, read):
        place = whole((x - offset) * scale, read)
        while True:
            negative, blocks = draw(1, read), 0
            while draw(bits, read) < tail:
                blocks += 1
            size = blocks * (len(cumulative) - 1) + bisect_right(cumulative, draw(bits, read)) - 1
            if size or not negative:
                return clamped(offset + (place - size if negative else place + size) * step)

    further = tail / (1 << bits)
    zero = cumulative[1] / (1 << bits) * (1 - further)
    draws = (1 + repeats(zero / 2)) * (1 + 2 * bytes_for(bits))
    return rule, 8 + draws + (1 + repeats(further)) * bytes_for(bits)


def clamp(law):
    low, high = (-math.inf, math.inf) if law["clamp"] is None else doubles(law["clamp"])
    require(low <= high)
    return lambda y: min(max(y, low), high)


def shares(law, bits, groups):
    """The counts of one's own group and of each other one."""
    own, other = whole_numbers((law["own"], law["other"]), 1, 1 << bits)
    require(own + (groups - 1) * other == 1 << bits)
    return own, other


def choice(law, bits, groups):
    """One of so many groups by one draw: ``own`` counts of 2^bits are for mine, ``other`` for each other one."""
    own, other = shares(law, bits, groups)

    def choose(mine, read):
        number = draw(bits, read)
        return mine if number < own else (mine + 1 + (number - own) // other) % groups

    return choose


def coin_row(law, bits, width):
    """So many bits, one of which is mine; bit v is bit v % 8 of byte v // 8."""
    (_, zeros, _), (_, others, _) = sums(law["own_bit"], 1 << bits), sums(law["other_bit"], 1 << bits)
    own, other, size, mask = (1 << bits) - zeros, (1 << bits) - others, bytes_for(bits), (1 << bits) - 1

    def coins(mine, read):
        content, report = exactly(width * size, read), bytearray(bytes_for(width))
        for place in range(width):
            number = int.from_bytes(content[place * size : (place + 1) * size], "little") & mask
            report[place // 8] |= (number < (own if place == mine else other)) << place % 8
        return bytes(report)

    return coins


def response(law, bits, domain):
    choose, size = choice(law, bits, domain["count"]), bytes_of(domain["count"])
    return lambda item, read: choose(item, read).to_bytes(size, "little"), bytes_for(bits)


def unary(law, bits, domain):
    return coin_row(law, bits, domain["count"]), domain["count"] * bytes_for(bits)


def hashing(law, bits, domain):
    groups = whole_number(law["hashes"], 2, 1 << 31)
    choose, size = choice(law, bits, groups), bytes_of(groups)

    def rule(item, read):
        seed = draw(64, read)
        return seed.to_bytes(8, "little") + choose(hash_of(item, seed) % groups, read).to_bytes(size, "little")

    return rule, 8 + bytes_for(bits)


def subset(law, bits, domain):
    count, (own, _) = domain["count"], shares(law, bits, 2)
    members = whole_number(law["subset"], 1, count - 1)

    def rule(item, read):
        holds = draw(bits, read) < own
        others = [*range(item + 1, count), *range(item)]
        for place in range(members):
            chosen = place + below(count - 1 - place, read)
            others[place], others[chosen] = others[chosen], others[place]
        report = bytearray(bytes_for(count))
        for member in [*others[: members - 1], item if holds else others[members - 1]]:
            report[member // 8] |= 1 << member % 8
        return bytes(report)

    swaps = range(count - 1, count - 1 - members, -1)
    return rule, bytes_for(bits) + sum(bytes_for((left - 1).bit_length()) for left in swaps)


def hadamard(law, bits, domain):
    blocks = power_of_two(law["blocks"], 1, 2 * domain["count"] - 1)
    width = (-(-domain["count"] // blocks)).bit_length()
    choose, size = choice(law, bits, 2 * blocks), bytes_of(blocks << width)

    def rule(item, read):
        row, block = item // blocks + 1, item % blocks
        group, place = choose(2 * block, read), draw(width, read)
        if bin(place & row).count("1") % 2 != group % 2:
            place ^= row & -row
        return (group // 2 << width | place).to_bytes(size, "little")

    return rule, bytes_for(bits) + bytes_for(width)


def sketch(law, bits, domain):
    buckets, functions = whole_number(law["buckets"], 2, 1 << 14), power_of_two(law["functions"], 2, 1024)
    coins, size, width = coin_row(law, bits, buckets), bytes_of(functions), (functions - 1).bit_length()

    def rule(item, read):
        function = draw(width, read)
        return function.to_bytes(size, "little") + coins(hash_of(item, function) % buckets, read)

    return rule, bytes_for(width) + buckets * bytes_for(bits)


def hash_of(item, seed):
    """XXH64 of the item as eight bytes, little-endian."""
    word = (1 << 64) - 1
    key = item * 14029467366897019727 & word
    state = (rotated(key, 31) * 11400714785074694791 ^ seed + 2870177450012600269) & word
    state = (rotated(state, 27) * 11400714785074694791 + 9650029242287828579) & word
    state = (state ^ state >> 33) * 14029467366897019727 & word
    state = (state ^ state >> 29) * 1609587929392839161 & word
    return state ^ state >> 32


def rotated(word, bits):
    return (word << bits | word >> 64 - bits) & ((1 << 64) - 1)


LAWS = {
    domain: {law.__name__: law for law in laws}
    for domain, laws in {
        "interval": (window, unbiased, pieces, additive),
        "circle": (pieces,),
        "finite": (finite,),
        "items": (response, unary, hashing, subset, hadamard, sketch),
    }.items()
}


def parsed(content, kind, version):
    try:
        said = json.loads(content)
        if (said["format"], said["version"]) == (f"mechdesign {kind}", version):
            return dict(said)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise NotReadable(f"this is no {kind} file of version {version}")


def labels_of(labels, side, count):
    """The labels of as many inputs or outputs, if they have any."""
    if labels is None or labels[side] is None:
        return None
    require(isinstance(labels[side], list) and all(isinstance(label, str) for label in labels[side]))
    require(len(labels[side]) == len(set(labels[side])) == count)
    return tuple(labels[side])


class Table:
    """A table to draw from. Of `input_labels` and `output_labels` each is ``None`` where there are numbers."""

    def __init__(self, document: dict[str, Any]) -> None:
        with reading("table to draw from"):
            labels, law, domain, bits = document["labels"], document["law"], document["domain"], document["bits"]
            require(bits in (16, 32, 53, 62))
            self.sha256, self.kind, self.epsilon = document["sha256"], document["kind"], document["epsilon"]
            self.subject = b"\0\0\0" + hash_bytes(self.sha256)
            self.items = whole_number(domain["count"], 2, 1 << 16) if domain["kind"] == "items" else 0
            self.points = doubles(domain["points"]) if domain["kind"] == "finite" else []
            require_increasing(self.points)
            self.rule, enough = LAWS[domain["kind"]][self.kind](law, bits, domain)
            self.ends = [0.0, 0.0] if self.items else self.points[:1] + self.points[-1:] or ends(domain)
            self.outputs = [] if self.items or self.kind in ("pieces", "additive") else doubles(law["outputs"])
            self.report_bytes = len(self.rule(0, bytes)) if self.items else 0
            self.input_labels = labels_of(labels, "inputs", self.items or len(self.points))
            self.output_labels = labels_of(labels, "outputs", len(self.outputs))
        self.codes = dict(zip(self.input_labels or (), self.points or range(self.items)))
        self.inputs = frozenset(self.points)
        self.names = dict(zip(self.outputs, self.output_labels or self.outputs))
        self.places = {name: place for place, name in enumerate(self.names.values())}
        self.pool = Pool(min(enough, BLOCK))

    @classmethod
    def read(cls, content: str | bytes) -> Table:
        """The table of a file's text, or `NotReadable`. Whether it is private is decided by `mechdesign verify`."""
        return cls(parsed(content, "table", 2))

    def sample(self, x: Any, read: Read | None = None) -> Any:
        """A report for one person's value: a label where the table has labels for what goes in, else a number."""
        return self.named(self.sample_code(self.code_of(x), read))

    def sample_code(self, x: float, read: Read | None = None) -> Any:
        """The same in the numbers of the file: items, or codes that stand for labels."""
        y = self.rule(self.require(x), read or self.pool.reader())
        return self.outputs[y] if self.outputs else y

    def code_of(self, x: Any) -> Any:
        """The number of the file that an input stands for."""
        if self.input_labels is None:
            return x
        if not isinstance(x, str):
            raise TypeError("the input must be a text, one of input_labels")
        if x not in self.codes:
            raise ValueError("the input must be one of input_labels")
        return self.codes[x]

    def named(self, y: Any) -> Any:
        """What a report in the numbers of the file is called."""
        return self.names[y] if self.names else y

    def require(self, x: Any) -> Any:
        """An input as the rule takes it; what is none is a `TypeError` or a `ValueError`."""
        if isinstance(x, bool) or not isinstance(x, int if self.items else (int, float)):
            raise TypeError("the item must be a whole number" if self.items else "the input must be a number")
        if self.items:
            is_input = 0 <= x < self.items
        else:
            is_input = x in self.inputs if self.points else self.ends[0] <= x <= self.ends[1]
        if not is_input:
            raise ValueError("the input must lie in the domain")
        return x if self.items else float(x)

    def envelope(self, report: Any, last_day: int, read: Read = system, subject: bytes = b"") -> bytes:
        """The bytes that a collector reads, for a report that `sample` gave: it counts to the end of that day (UTC).

        Days are counted from 1970-01-01: ``(date(2099, 12, 31) - date(1970, 1, 1)).days``.
        """
        if isinstance(last_day, bool) or not isinstance(last_day, int) or not 0 <= last_day <= LAST_DAY:
            raise ValueError(f"the last day must be a whole number of days since 1970-01-01, at most {LAST_DAY}")
        of, content = subject or self.subject, self.payload(report)
        return b"mdre\1" + of[:3] + struct.pack("<I", last_day) + of[3:] + exactly(16, read) + content

    def payload(self, report: Any) -> bytes:
        """A report as the bytes in an envelope; a `ValueError` for what is none."""
        is_number = isinstance(report, (int, float)) and not isinstance(report, bool)
        if self.items:
            if isinstance(report, bytes) and len(report) == self.report_bytes:
                return report
        elif self.outputs:
            if (is_number or isinstance(report, str)) and report in self.places:
                return self.places[report].to_bytes(bytes_of(len(self.outputs)), "little")
        elif is_number and math.isfinite(report):
            return struct.pack("<d", report + 0.0)  # minus zero is zero
        raise ValueError("the report must be one that sample gives")


def read_collection(content: str | bytes) -> dict[str, Table]:
    """The tables of a collection by the names of its attributes: their envelopes are of the collection."""
    said = parsed(content, "collection", 1)
    with reading("collection"):
        tables = {attribute["name"]: Table(attribute["table"]) for attribute in said["attributes"]}
        require(len(tables) == len(said["attributes"]))
        return collected(tables, said["sha256"])


def collected(tables: dict[str, Table], sha256: str) -> dict[str, Table]:
    """The tables of a collection in their order, by the hash of its file."""
    for number, table in enumerate(tables.values()):
        table.subject = struct.pack("<BH", 1, number) + hash_bytes(sha256)
    return tables
