"""The one page that decides privacy: what it passes is private, and what is not private it names.

The laws of altered tables are enumerated here anew, from the sampling rules of FORMAT.md and in fractions.
"""

import copy
import hashlib
import importlib.util
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise, product
from pathlib import Path

import numpy as np
import pytest

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.window import Window
from mechdesign.tables import BITS, checker, make_table, privacy_checker
from mechdesign.tables.document import decimal
from mechdesign.tables.export.runtime import runtime
from mechdesign.words.domains import Finite, Interval

PAGE = Path(privacy_checker.__file__)


def sealed(document):
    """The canonical file of a document, with the hash it needs."""
    body = {key: value for key, value in document.items() if key != "sha256"}
    return checker.canonical(body | {"sha256": hashlib.sha256(checker.canonical(body)).hexdigest()})


def reason(content, page=privacy_checker):
    """Why the page fails a file, or None if it passes; anything but a reason that names an entry is an error."""
    try:
        page.check(content)
    except page.Failed as error:
        said = str(error)
    else:
        return None
    assert re.match(r"(file|[a-z0-9]+(\.[a-z]+)?(\[\d*\])*(, [a-z0-9]+)*): ", said)
    return said


def window(bits=16):
    points, base = np.array([0.0, 0.3, 0.55, 1.0]), np.array([0.15, 0.1, 0.1, 0.15])
    return make_table(Window(1.0, Interval(0, 1), points, base, 2.7), bits)


# -- what it passes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["absolute", "squared", "unbiased", "duchi", "circle", "clamped", "finite", "pieces"])
def test_it_passes_what_the_checker_passes(tables, kind):
    content = tables[kind].content
    assert privacy_checker.check(content) == checker.check(content)["epsilon"]


@pytest.mark.parametrize("bits", BITS)
def test_it_passes_every_kind_at_every_number_of_bits(bits):
    made = [catalogue.randomised_response(1.0, Finite((0, 1, 5))), catalogue.pm(0.5), catalogue.ogpm_circle(2.0)]
    made += [catalogue.laplace(1.0), catalogue.staircase(2.0), catalogue.two_sided_geometric(1.0, Finite(range(9)))]
    made += [catalogue.duchi(1.0), catalogue.duchi(1.0, Interval(1000, 1001))] if bits <= 32 else []
    passed = Counter()
    for table in [window(bits), *(make_table(mechanism, bits) for mechanism in made)]:
        assert privacy_checker.check(table.content) == checker.check(table.content)["epsilon"]
        passed[table.kind] += 1
    assert len(passed) == (5 if bits <= 32 else 4)


def test_it_passes_random_designs():
    place = Path(__file__).with_name("test_random_designs.py")
    spec = importlib.util.spec_from_file_location("random_designs", place)
    designs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(designs)
    kinds = Counter()
    for table in designs.tables_of(150, 7, Counter()):
        assert privacy_checker.check(table.content) == table.epsilon
        kinds[table.kind] += 1
    assert len(kinds) == 5


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(64)])
def test_its_exponential_is_the_checkers(epsilon):
    assert privacy_checker.exponential(epsilon) == checker.exponential(epsilon)
    assert privacy_checker.exponential(epsilon) <= 2**96 * exponential_below(epsilon, 400)


# -- the law of a file, from FORMAT.md ---------------------------------------------------------------------------------


class Broken(Exception):
    """No sampler could follow the law for some input of the domain."""


def exponential_below(epsilon, terms=80):
    return sum((epsilon**n / Fraction(math.factorial(n)) for n in range(terms)), Fraction(0))


def picked(sums, whole):
    """How many u below ``whole`` have j as the largest with ``sums[j] <= u``."""
    edges = [0, *sorted({s for s in sums if 0 < s < whole}), whole]
    counts = Counter()
    for low, high in pairwise(edges):
        counts[max((j for j, s in enumerate(sums) if s <= low), default=0)] += high - low
    return counts


def row_of(law, start, whole):
    reached = [0, *accumulate(law["base"])]
    gained = [0, *accumulate(c - n for n, c in zip(law["base"], law["caps"], strict=True))]
    extra = whole - reached[-1]
    return picked([n + min(max(g - start, 0), extra) for n, g in zip(reached[:-1], gained[:-1], strict=True)], whole)


def mixed(parts):
    law = Counter()
    for share, part in parts:
        for j, chance in part.items():
            law[j] += share * chance
    return law


def whole_numbers(z):
    """What ``whole(z)`` gives, with its chances."""
    up = Fraction(z) - math.floor(z)
    return [(share, n) for share, n in ((1 - up, math.floor(z)), (up, math.floor(z) + 1)) if share]


def tried(document):
    """Inputs: the ends of the domain and of stretches, doubles beside them, and some between."""
    domain, law = document["domain"], document["law"]
    if domain["kind"] == "finite":
        return [float(point) for point in domain["points"]]
    low, high = (0.0, float(domain["period"])) if "period" in domain else map(float, (domain["lower"], domain["upper"]))
    turns = [low, high, *map(float, law.get("thresholds", ()))]
    near = [math.nextafter(x, side) for x in turns for side in (-math.inf, math.inf)]
    return sorted({x for x in [*turns, *near, *np.linspace(low, high, 13).tolist()] if low <= x <= high})


def window_laws(document, law, whole):
    for x in tried(document):
        yield row_of(law, law["starts"][sum(float(turn) < x for turn in law["thresholds"])], whole)


def unbiased_laws(document, law, whole):
    means, rows = law["means"], [row_of(law, start, whole) for start in law["starts"]]
    for x in tried(document):
        parts = []
        for share, at in whole_numbers((x - float(law["offset"])) * 2.0 ** (law["shift"] + document["bits"])):
            below = [i for i, mean in enumerate(means[:-1]) if mean <= at]
            i = max(below)
            up = Fraction(min(at - means[i], means[i + 1] - means[i]), means[i + 1] - means[i])
            if means[i + 1] <= means[i] or at > means[-1]:
                raise Broken
            parts += [(share * (1 - up), rows[i]), (share * up, rows[i + 1])]
        yield mixed(parts)


def finite_laws(document, law, whole):
    points = document["domain"]["points"]
    if [float(x) for x in points] != sorted({float(x) for x in points}):
        raise Broken  # samplers search for the input
    for i in range(len(points)):
        yield picked([0, *accumulate(law["rows"][i])], whole)


def pieces_laws(document, law, whole):
    cells, inside = law["cells"], law["inside"]
    hit = Fraction(min(max(law["weight"], 0), whole), whole)
    if (inside < 1 and hit > 0) or (cells - inside < 1 and hit < 1):
        raise Broken
    for x in tried(document):
        start = math.floor((x - float(law["anchor"])) * float(law["scale"]))
        start = start % cells if document["domain"]["kind"] == "circle" else min(max(start, 0), cells - inside)
        drawn = [hit / inside] * inside + [(1 - hit) / (cells - inside)] * (cells - inside)
        yield mixed((1, {(start + r) % cells: chance}) for r, chance in enumerate(drawn))


def additive_laws(document, law, whole):
    """Four blocks of the noise, times one factor: the others repeat the last of them."""
    size, tail = len(law["weights"]), max(law["tail"], 0)
    if tail >= whole:
        raise Broken  # it never ends
    block = picked([0, *accumulate(law["weights"])], whole)
    magnitude = Counter()
    for b in range(4):
        for r in range(size + 1):  # one more than there are weights: they may sum to less
            magnitude[b * size + r] += tail**b * whole ** (3 - b) * block[r]
    places = [whole_numbers((x - float(law["offset"])) * 2.0 ** law["shift"]) for x in tried(document)]
    first, last = min(n for p in places for _, n in p), max(n for p in places for _, n in p)
    if last - first > 2 * size:
        raise Broken  # further apart than is enumerated
    for place in places:
        ends = last - 3 * size, first + 3 * size
        yield {v: sum(share * magnitude[abs(v - n)] for share, n in place) for v in range(ends[0], ends[1] + 1)}


LAWS = {f.__name__[:-5]: f for f in (window_laws, unbiased_laws, finite_laws, pieces_laws, additive_laws)}


def is_private(document):
    """Whether the law, followed for the inputs tried, keeps to the epsilon that the file states."""
    try:
        laws = list(LAWS[document["kind"]](document, document["law"], 1 << document["bits"]))
    except (Broken, IndexError, ValueError, ArithmeticError):
        return False
    bound = exponential_below(Fraction(document["epsilon"]))
    columns = ([law.get(j, 0) for law in laws] for j in set().union(*laws))
    return all(max(column) <= bound * min(column) for column in columns)


# -- altered laws ------------------------------------------------------------------------------------------------------


def shrunk(table, domain=None, **law):
    document = copy.deepcopy(dict(table.document))
    document["law"] |= law
    return document | ({"domain": domain} if domain else {})


@pytest.fixture(scope="module")
def originals(tables):
    """Private documents, small enough to be enumerated; their ratios are as large as they may be."""
    cap = checker.exponential(Fraction(1))
    weight = cap * 3 * 2**16 // ((8 << 96) + cap * 3)
    circle = {"kind": "circle", "period": "6"}
    cells = {"cells": 11, "inside": 3, "weight": weight, "anchor": "0", "scale": "2"}
    return {
        "window": [shrunk(window())],
        "unbiased": [shrunk(make_table(catalogue.duchi(1.0), 16)), shrunk(tables["unbiased"])],
        "finite": [shrunk(make_table(catalogue.randomised_response(1.0, Finite((0, 1, 5))), 16))],
        "pieces": [shrunk(make_table(catalogue.pm(1.0), 16), dom, **cells) for dom in (None, circle)],
        "additive": [shrunk(make_table(catalogue.two_sided_geometric(1.0, Finite(range(7))), 16))],
    }


def altered_number(rng, n):
    step = int(rng.choice([1, 1, 2, 17, max(abs(n) // 8, 1)]))
    return int(rng.choice([n + step, n - step, n + step, n - step, 2 * n, n // 2, -n, 0], p=[0.22] * 4 + [0.03] * 4))


def altered_value(rng, value):
    match value:
        case int():
            return altered_number(rng, value)
        case str():
            x = float(value)
            return decimal(rng.choice([x * 1.25, x * 0.75, x + 1, x - 1, math.nextafter(x, 9), 0.0, 0.5, x * 1e30]))
        case [list(), *_]:
            i = int(rng.integers(len(value)))
            return [*value[:i], altered_value(rng, value[i]), *value[i + 1 :]]
        case [_, *_]:
            i, j = (int(k) for k in rng.integers(len(value), size=2))
            other = list(value)
            match rng.choice(["one", "one", "move", "move", "swap", "drop", "twice"]):
                case "move" if isinstance(value[0], int):
                    step = int(rng.choice([1, 5, 300]))
                    other[i] += step
                    other[j] -= step
                case "swap":
                    other[i], other[j] = other[j], other[i]
                case "drop":
                    del other[i]
                case "twice":
                    other.insert(i, other[j])
                case _:
                    other[i] = altered_value(rng, value[i])
            return other
    return value


def altered(rng, original):
    """One to three changes to all that samplers read, or to epsilon; caps and hash are often made to fit."""
    document = copy.deepcopy(original)
    law = document["law"]
    for _ in range(int(rng.integers(1, 4))):
        match rng.choice(["law", "law", "law", "domain", "epsilon", "fit"]):
            case "law":
                key = rng.choice(sorted(law))
                law[key] = altered_value(rng, law[key])
            case "domain":
                key = rng.choice([key for key in document["domain"] if key != "kind"])
                document["domain"][key] = altered_value(rng, document["domain"][key])
            case "epsilon":
                document["epsilon"] = str(Fraction(document["epsilon"]) * Fraction(int(rng.integers(80, 125)), 100))
            case "fit" if "base" in law:
                law["caps"] = [int(document["cap"]) * n >> 96 for n in law["base"]]
            case "fit" if "thresholds" in law:
                law["thresholds"] = law["thresholds"][: len(law["starts"]) - 1]
    document["cap"] = str(checker.exponential(Fraction(document["epsilon"])) + int(rng.random() < 0.05))
    return document


@pytest.mark.parametrize("kind", LAWS)
def test_whatever_it_passes_is_private(originals, kind):
    """400 altered laws, each enumerated: seed 3. Many pass that no checker made, many break their epsilon."""
    rng = np.random.default_rng(3)
    verdicts = Counter()
    for i in range(400):
        original = originals[kind][i % len(originals[kind])]
        document = altered(rng, original)
        passes = reason(sealed(document)) is None
        verdicts[passes, is_private(document)] += 1
        assert not (passes and not is_private(document)), document
    assert verdicts[True, True] > 80, verdicts
    assert verdicts[False, False] > 80, verdicts


def test_what_it_passes_beyond_the_checker_is_private_as_an_exported_sampler_draws_it(tmp_path):
    """All 2^16 draws, for every row that an input can have, of a table with other thresholds, starts and outputs."""
    document = shrunk(window())
    room = sum(document["law"]["caps"]) - 2**16
    document["law"] |= {"thresholds": ["0.75", "0.125", "0.5"], "starts": [room, 0, room // 3, room // 7]}
    document["law"]["outputs"] = ["3", "1", "2", "1"]
    content = sealed(document)
    assert reason(content) is None
    with pytest.raises(checker.Failed):
        checker.check(content)
    sampler = {}
    exec(runtime("python/mechdesign_runtime/__init__.py"), sampler)
    table = sampler["Table"](checker.json.loads(content))
    counts = []
    for x in (0.0, 0.2, 0.6, 1.0):
        draws = (u.to_bytes(2, "little") for u in range(2**16))
        counts.append(Counter(table.sample(x, lambda _: next(draws)) for _ in range(2**16)))  # noqa: B023
    assert len({tuple(sorted(count.items())) for count in counts}) > 1
    assert all(sum(count.values()) == 2**16 and set(count) == {1.0, 2.0, 3.0} for count in counts)
    bound = exponential_below(Fraction(1))
    assert all(max(c[y] for c in counts) <= bound * min(c[y] for c in counts) for y in (1.0, 2.0, 3.0))


# -- what it fails -----------------------------------------------------------------------------------------------------


def changed(document, path, change):
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = change(inner[path[-1]])
    return document


def up(n):
    return n + 1


TAMPERINGS = [
    ("window", ("law", "caps", 2), up, r"law.caps\[2\]: \d+ is over cap times \d+"),
    ("window", ("law", "base", 0), lambda n: n - 1, r"law.caps\[0\]"),
    ("window", ("law", "base", 1), lambda n: 0, r"law.caps\[1\]: \d+ is over cap times 0"),
    ("window", ("law", "base", 1), lambda n: 2**16, "law.base"),
    ("window", ("law", "base"), lambda base: base[1:], "law.base, caps, outputs"),
    ("window", ("law", "outputs"), lambda y: [*y, "7"], "law.base, caps, outputs"),
    ("window", ("law", "caps"), lambda caps: [c // 2 for c in caps], "law.base"),
    ("window", ("law", "starts", 0), lambda n: -1, "law.starts: must be 0 to"),
    ("window", ("law", "starts", -1), lambda n: 10**6, "law.starts: must be 0 to"),
    ("window", ("law", "starts"), lambda starts: starts[1:], "law.starts: must be"),
    ("window", ("law", "thresholds"), lambda turns: [*turns, "0.9"], "law.starts: must be"),
    ("window", ("bits",), lambda bits: 32, "law.base, caps"),
    ("unbiased", ("law", "means"), lambda means: means[::-1], "law.means: must increase"),
    ("unbiased", ("law", "means", 0), lambda n: 0, "law.means: miss inputs"),
    ("unbiased", ("law", "offset"), lambda x: "0.5", "law.means: miss inputs"),
    ("unbiased", ("law", "shift"), up, "law.means: miss inputs|domain"),
    ("unbiased", ("domain", "upper"), lambda x: "4", "law.means: miss inputs"),
    ("finite", ("law", "rows", 0, 0), up, r"law.rows\[0\]: sums to 65537, not 2\^bits"),
    ("finite", ("law", "rows", 1), lambda row: [2**16 - 2, 1, 1], r"law.rows\[\]\[0\]: 65534 is over cap times"),
    ("finite", ("law", "rows", 2), lambda row: [0, *row[1:-1], row[-1] + row[0]], r"law.rows\[\]\[0\]: .* times 0"),
    ("finite", ("law", "rows", 2), lambda row: [sum(row[:2]), row[2]], r"law.rows\[2\]: must be as long"),
    ("finite", ("law", "rows"), lambda rows: rows[1:], "law.rows: not one a point"),
    ("finite", ("domain", "points"), lambda points: [points[1], points[0], points[2]], "domain.points: must increase"),
    ("finite", ("domain", "kind"), lambda kind: "interval", "domain.kind: must be finite"),
    ("pieces", ("law", "weight"), lambda n: n + 1, "law.weight: "),
    ("pieces", ("law", "weight"), lambda n: 2**16, r"law.weight: .* times 0"),
    ("pieces", ("law", "weight"), lambda n: 1000, "law.weight: "),
    ("pieces", ("law", "inside"), lambda n: 1, "law.weight: "),
    ("pieces", ("law", "inside"), lambda n: 11, "law.inside, cells"),
    ("pieces", ("law", "anchor"), lambda x: "1" + 300 * "0", "domain: must lie within"),
    ("pieces", ("domain", "kind"), lambda kind: "finite", "domain.kind"),
    ("additive", ("law", "weights", 0), up, "law.weights, tail: must sum"),
    ("additive", ("law", "weights"), lambda w: w[::-1], "law.weights: must not increase"),
    ("additive", ("law", "weights"), lambda w: [w[0] + w[-1] - 1, *w[1:-1], 1], r"law.weights\[0\]: \d+ is over cap"),
    ("additive", ("law", "weights"), lambda w: [w[0] + w[-1], *w[1:-1]], "law.weights: not all steps"),
    ("additive", ("law", "tail"), lambda q: 2**16 * 36 // 100, "law.tail: 65536 is over cap times"),
    ("additive", ("law", "tail"), lambda q: 2**16, "law.weights, tail"),
    ("additive", ("law", "shift"), up, "law.weights: not all steps"),
    ("additive", ("law", "offset"), lambda x: "0.5", "law.weights: not all steps"),
    ("additive", ("domain", "upper"), lambda x: decimal(math.nextafter(6, 7)), "law.weights: not all steps"),
    ("additive", ("domain", "lower"), lambda x: "-1" + 30 * "0", "domain: must lie within"),
    ("additive", ("domain", "lower"), lambda x: "7", "law.weights: not all steps"),
    ("window", ("cap",), lambda cap: str(int(cap) + 1), "cap: must be"),
    ("window", ("cap",), lambda cap: str(int(cap) - 1), "cap: must be"),
    ("window", ("epsilon",), lambda epsilon: "99/100", "cap: must be"),
    ("window", ("epsilon",), lambda epsilon: "65", "epsilon: must be"),
    ("window", ("epsilon",), lambda epsilon: "0", "epsilon: missing, or malformed"),
    ("window", ("epsilon",), lambda epsilon: "1e999999999", "epsilon: missing, or malformed"),
    ("window", ("bits",), lambda bits: 17, "bits"),
    ("window", ("version",), lambda version: 1, "version"),
    ("window", ("kind",), lambda kind: "windows", "kind: not known"),
]


@pytest.mark.parametrize(("kind", "path", "change", "words"), TAMPERINGS)
def test_it_names_what_breaks_privacy(originals, kind, path, change, words):
    original = originals[kind][0]
    assert reason(sealed(original)) is None
    assert re.search(words, reason(sealed(changed(original, path, change))) or "PASS")


@pytest.mark.parametrize("scale", ["0", "1" + 400 * "0", "0." + 320 * "0" + "1"])
def test_places_that_are_no_numbers_for_some_inputs_fail(originals, scale):
    """The difference overflows at the upper end only: samplers would stop for inputs there, and for no others."""
    far = "1" + 308 * "0"
    document = changed(originals["pieces"][0], ("law",), lambda law: law | {"scale": scale, "anchor": "-" + far})
    document["domain"] = {"kind": "interval", "lower": "0", "upper": far}
    assert not is_private(document)
    assert "domain: must lie within" in reason(sealed(document))


@pytest.mark.parametrize("kind", LAWS)
def test_a_lower_epsilon_needs_another_law(originals, kind):
    """Also with its own cap: 1 % less is too little for these laws."""
    for original in originals[kind]:
        lower = Fraction(original["epsilon"]) * Fraction(99, 100)
        document = original | {"epsilon": str(lower), "cap": str(checker.exponential(lower))}
        assert re.match(r"law\.\S+: \d+ is over cap times \d+", reason(sealed(document)))


@pytest.mark.parametrize("kind", LAWS)
def test_junk_anywhere_in_the_law_ends_in_a_verdict(originals, kind):
    ignored = {"outputs", "thresholds", "units", "first", "step", "clamp", "least", "most"}
    original = originals[kind][0]
    for key, junk in product(set(original["law"]) - ignored, (None, [], {}, "x", [[]], 2**70, -1)):
        document = original | {"law": original["law"] | {key: junk}}
        assert reason(sealed(document)) is not None or is_private(document)


@pytest.mark.parametrize("kind", LAWS)
def test_junk_anywhere_in_the_file_is_a_reason_that_names_the_entry(originals, kind):
    original = originals[kind][0]
    entries = [(key,) for key in original if key != "sha256"]
    entries += [(key, name) for key in ("domain", "law") for name in original[key]]
    junk = (None, [], {}, "x", "1/0", "1e5", "-", [[]], ["x"], [None], [{}], 1.5, True, 2**70, -1, "9" * 5000)
    for path, other in product(entries, junk):
        reason(sealed(changed(original, path, lambda _, other=other: other)))
    for path in entries:
        document = copy.deepcopy(original)
        inner = document if len(path) == 1 else document[path[0]]
        del inner[path[-1]]
        reason(sealed(document))


def test_a_file_of_more_than_64_mb_is_not_read():
    assert reason(b" " * (privacy_checker.LARGEST + 1)) == f"file: larger than {64 * 2**20} bytes"


def test_bytes_that_are_no_table_fail_in_words():
    content = window().content
    document = checker.json.loads(content)
    twice = content[:-2] + b',"version":2}\n'
    for bad, words in (
        (b"", "Expecting value"),
        (b"{}\n", "sha256: missing"),
        (b"[]\n", "file: not canonical, no object"),
        (twice, "file: not canonical, no object, a key twice"),
        (content + b" ", "file: not canonical"),
        (content.replace(b'"bits":16', b'"bits": 16'), "file: not canonical"),
        (content.replace(b'"bits":16', b'"bits":16.0'), "file: not canonical"),
        (content.replace(b'"bits":16', b'"bits":NaN'), "file: not canonical"),
        (content.replace(b'"bits":16', b'"bits":32'), "sha256: not of this content"),
        (content.replace(document["sha256"].encode(), 64 * b"0"), "sha256: not of this content"),
        (b"[" * 100_000, "recursion"),
        (b"\xff", "decode"),
        (sealed({key: value for key, value in document.items() if key != "law"}), "law"),
    ):
        assert words in (reason(bad) or "PASS")


def test_an_epsilon_of_a_pair_above_64_is_refused_before_it_is_raised(tables):
    """e^99999999 takes gigabytes: what is refused must be refused by its size."""
    document = copy.deepcopy(tables["finite"].document)
    size = len(document["law"]["rows"])
    document["law"]["pairs"] = {"epsilons": ["99999999"], "of": [[-1] * size for _ in range(size)]}
    document["law"]["pairs"]["of"][0][1] = 0
    assert reason(sealed(document)) == "epsilon: must be at most 64"


def test_it_says_why_where_the_memory_is_too_small(tmp_path, monkeypatch, capsys):
    def full(content):
        raise MemoryError

    path = tmp_path / "table.json"
    path.write_bytes(window().content)
    source = PAGE.read_text(encoding="utf-8").replace('if __name__ == "__main__":', "check = full\nif True:")
    monkeypatch.setattr(sys, "argv", ["privacy_checker.py", str(path)])
    with pytest.raises(SystemExit, match="1"):
        exec(compile(source, "page", "exec"), {"__name__": "page", "full": full})
    assert capsys.readouterr().out == "FAIL file: too large for the memory\n"


# -- the page itself ---------------------------------------------------------------------------------------------------


def test_it_runs_alone(tmp_path):
    script, good, bad = tmp_path / "privacy_checker.py", tmp_path / "good.json", tmp_path / "bad.json"
    shutil.copy(PAGE, script)
    good.write_bytes(window().content)
    bad.write_bytes(sealed(changed(shrunk(window()), ("law", "caps", 2), up)))

    def run(*arguments):
        command = [sys.executable, "-I", "-S", str(script), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    passed, failed = run(good), run(bad)
    assert (passed.returncode, passed.stdout, passed.stderr) == (0, "PASS private for epsilon = 1\n", "")
    assert failed.returncode == 1
    assert re.fullmatch(r"FAIL law.caps\[2\]: \d+ is over cap times \d+\n", failed.stdout)
    assert run(tmp_path / "missing.json").returncode == 1
    assert (run().returncode, run().stdout[:12]) == (1, "FAIL usage: ")


def test_it_is_one_page_of_the_standard_library():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    most = 136 + 10 + 20  # ten lines for an epsilon for each pair, twenty for the kinds on items
    assert len([line for line in lines if line.strip()]) <= most
    assert max(map(len, lines)) <= 100
    imported = {line.split()[1] for line in lines if line.startswith(("import ", "from "))}
    assert imported <= sys.stdlib_module_names
