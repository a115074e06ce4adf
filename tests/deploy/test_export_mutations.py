"""Samplers in which one number was changed: the test vectors notice, and always if the change breaks epsilon.

Every mutant differs from an exported sampler in one numeric literal. A mutant that passes all vectors is judged by the
exact law of its numbers, computed here from its own searches: it is *equivalent* if no report's probability changed,
and otherwise *missed*. None may be missed, so none that breaks epsilon.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import shutil
import subprocess
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.deploy import Table, make_table, test_vectors
from mechdesign.deploy.export import c, java, javascript, python, rust
from mechdesign.deploy.export.plan import Plan, plan_of
from mechdesign.deploy.export.refusals import refusals
from mechdesign.deploy.export.vectors import Vector, bits, lines, vectors_of
from mechdesign.design import UnbiasedProblem, optimal_unbiased
from mechdesign.domains import Finite, Interval
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.window import Window
from mechdesign.priors import uniform

MUTANTS = 1000
KINDS = ("window", "unbiased", "finite", "pieces", "additive")
Numbers = Mapping[str, Any]


def window(size: int, width: int) -> Table:
    points = np.linspace(-1, 2, size) ** 3
    base = np.full(size, 0.6 / size)
    return make_table(Window(1.0, Interval(-1, 8), points, base, math.e), width)


def tables_of(kind: str) -> list[Table]:
    match kind:
        case "window":
            return [window(4, 62), window(9, 16), window(40, 32)]
        case "unbiased":
            problem = UnbiasedProblem(1.0, uniform(Interval(-1, 1)), Interval(-1, 1), size=9, gap=1e-2)
            return [make_table(optimal_unbiased(problem)), make_table(catalogue.duchi(1.0, Interval(3, 5)), 16)]
        case "finite":
            return [grr(1.3, (-2, 0, 1, 2.5), 16), grr(2.0, range(12), 32), grr(0.7, (0, 1), 62)]
        case "pieces":
            laws = [catalogue.sw(1.0, Interval(-3, 7)), catalogue.pm(1.0), catalogue.ogpm_circle(2.0)]
            laws += [catalogue.truncated(catalogue.pm(1.0)), catalogue.sw(3.0)]
            return [make_table(law, width) for law in laws for width in (16, 32, 53)]
    laws = [catalogue.laplace(1.0), catalogue.laplace(2.5, Interval(10, 11)), catalogue.truncated(catalogue.laplace(1))]
    return [make_table(law, 16) for law in laws]


def grr(epsilon: float, points: Iterable[float], width: int) -> Table:
    return make_table(catalogue.randomised_response(epsilon, Finite(tuple(points))), width)


# -- changes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One number of a sampler, by name and place (None for a number that is no member of a list), and its new value."""

    name: str
    place: tuple[int, ...]
    value: float


def changed(value: float, others: Iterable[float]) -> Iterator[float]:
    """By one, by 0.1% to 50%, by the least that a double can change, to nothing, and to what stands beside it."""
    yield from (value + 1, value - 1, type(value)(0), *others)
    for thousandths in (1, 10, 120, 500):
        by = value * thousandths / 1000 if isinstance(value, float) else max(abs(value) * thousandths // 1000, 2)
        yield from (value + by, value - by)
    if isinstance(value, float):
        yield from (math.nextafter(value, math.inf), math.nextafter(value, -math.inf))


def places(values: Any) -> Iterator[tuple[tuple[int, ...], float, list[float]]]:
    """Every number of a nest of tuples, where it is, and its neighbours."""
    if not isinstance(values, tuple):
        yield (), values, []
        return
    for i, value in enumerate(values):
        if isinstance(value, tuple):
            yield from (((i, *place), number, near) for place, number, near in places(value))
        else:
            yield (i,), value, [values[k] for k in (i - 1, i + 1) if 0 <= k < len(values)]


def changes(numbers: Numbers, count: int, seed: int = 7) -> list[Change]:
    every = [
        Change(name, place, value)
        for name, values in numbers.items()
        for place, number, near in places(values)
        for value in changed(number, near)
        if value != number and (name != "BITS" or value > 0)  # a sampler that draws no bits may never end
    ]
    return random.Random(seed).sample(every, min(count, len(every)))


def applied(numbers: Numbers, change: Change) -> dict[str, Any]:
    return {**numbers, change.name: replaced(numbers[change.name], change.place, change.value)}


def replaced(values: Any, place: tuple[int, ...], value: float) -> Any:
    if not place:
        return value
    first, *rest = place
    return (*values[:first], replaced(values[first], tuple(rest), value), *values[first + 1 :])


# -- the exact law of the numbers --------------------------------------------------------------------------------------


def law_of(search: Callable[[int], Any], ends: Iterable[int], width: int) -> Counter[Any]:
    """How many of all draws give each output. ``search`` compares its draw with ``ends`` only."""
    marks = sorted({0, 1 << width, *(end for end in ends if 0 < end < 1 << width)})
    counts: Counter[Any] = Counter()
    for low, high in itertools.pairwise(marks):
        counts[search(low)] += high - low
    return counts


def start_row(n: Numbers, start: int) -> Counter[float]:
    ends = [
        reached + min(max(gained - start, 0), n["EXTRA"])
        for reached, gained in zip(n["REACHED"], n["GAINED"], strict=True)
    ]

    def search(count: int) -> float:
        low, high = 0, len(n["OUTPUTS"])
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if ends[middle] <= count else (low, middle)
        return float(n["OUTPUTS"][low])

    return law_of(search, ends, n["BITS"])


def count_row(n: Numbers, cumulative: tuple[int, ...], outputs: tuple[float, ...]) -> Counter[float]:
    """By the search of Python and JavaScript, or by that of C, which does not look at the first and the last count."""
    if n.get("SEARCH") == "c":
        cumulative = (0, *cumulative[1:-1], 1 << n["BITS"])
    return law_of(lambda u: outputs[bisect_right(cumulative, u) - 1], cumulative, n["BITS"])


def rows_of(kind: str, n: Numbers, inputs: Iterable[float]) -> dict[float, Counter[float]]:
    """The laws of the rows: for a window at the inputs given, else all of them."""
    match kind:
        case "window":
            return {x: start_row(n, n["STARTS"][bisect_left(n["THRESHOLDS"], x)]) for x in inputs}
        case "unbiased":
            return {float(i): start_row(n, start) for i, start in enumerate(n["STARTS"])}
        case "finite":
            return {x: count_row(n, n["CUMULATIVE"][i], n["OUTPUTS"]) for i, x in enumerate(n["POINTS"])}
    return {}


def beside(*lists: Iterable[float]) -> list[float]:
    """Every number, and the doubles next to it: what is constant between the numbers has all its values there."""
    return [y for x in itertools.chain(*lists) for y in (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf))]


def same_grid(n: Numbers, offset: float) -> bool:
    """Whether an offset leads to the same places and outputs as another: whole steps away, no difference rounded."""
    if n["LOWER"] <= 0 <= n["UPPER"]:
        return offset == n["OFFSET"]
    least = Fraction(math.ulp(min(abs(n["LOWER"]), abs(n["UPPER"]))))
    far = max(abs(Fraction(end) - Fraction(offset)) for end in (n["LOWER"], n["UPPER"]))
    steps = (Fraction(offset) - Fraction(n["OFFSET"])) / Fraction(n["STEP"])
    return steps.denominator == 1 and (Fraction(offset) / least).denominator == 1 and far < least * 2**53


def same_law(kind: str, old: Numbers, new: Numbers, *, clamped: bool) -> bool:
    """Whether no report's probability differs. Where this is not computed, numbers must be the same."""
    if kind == "additive":
        laws = [count_row(n, n["CUMULATIVE"], tuple(range(len(n["CUMULATIVE"])))) for n in (old, new)]
        # noise of a whole block leads from every input to a clamp: a longer block changes nothing
        block = min(new["BLOCK"], old["BLOCK"]) if clamped else new["BLOCK"]
        free = {"CUMULATIVE": (), "OFFSET": old["OFFSET"] if same_grid(old, new["OFFSET"]) else new["OFFSET"]}
        return laws[0] == laws[1] and {**old, "CUMULATIVE": ()} == {**new, **free, "BLOCK": block}
    if kind == "pieces":
        return old == new
    inputs = (
        [x for x in beside(old["THRESHOLDS"], new["THRESHOLDS"]) if old["LOWER"] <= x <= old["UPPER"]]
        if (kind == "window")
        else []
    )
    inputs += [old["LOWER"], old["UPPER"]] if kind == "window" else []
    others = ("LOWER", "UPPER", "BITS", "POINTS", "MEANS", "OFFSET", "SCALE")
    return rows_of(kind, old, inputs) == rows_of(kind, new, inputs) and all(old.get(k) == new.get(k) for k in others)


def is_private(kind: str, n: Numbers, cap: int) -> bool:
    """Whether the law of the numbers keeps the cap of the table, exactly."""
    match kind:
        case "pieces":
            if not 0 < n["WEIGHT"] < 1 << n["BITS"] or not 0 < n["INSIDE"] < n["CELLS"]:
                return False
            chances = [n["WEIGHT"] * (n["CELLS"] - n["INSIDE"]), ((1 << n["BITS"]) - n["WEIGHT"]) * n["INSIDE"]]
            return max(chances) << 96 <= cap * min(chances)
        case "additive":
            block = count_row(n, n["CUMULATIVE"], tuple(range(len(n["CUMULATIVE"]))))
            weights = [block[r] for r in range(n["BLOCK"])]
            falls = all(a >= b for a, b in itertools.pairwise(weights)) and weights[0] << 96 <= cap * weights[-1]
            return falls and 0 < n["TAIL"] < 1 << n["BITS"] and 1 << (n["BITS"] + 96) <= cap * n["TAIL"]
    lower, upper = n.get("LOWER", 0.0), n.get("UPPER", 0.0)
    rows = rows_of(kind, n, [x for x in beside(n.get("THRESHOLDS", ()), (lower, upper)) if lower <= x <= upper])
    columns = ([row[y] for row in rows.values()] for y in {y for row in rows.values() for y in row})
    return all(max(column) << 96 <= cap * min(column) for column in columns)


def assert_noticed(kind: str, table: Table, numbers: Numbers, survivors: Iterable[Change]) -> None:
    """The changes that no vector notices change no law. So none of them breaks epsilon."""
    clamped = table.law.is_clamped
    laws = [(change, applied(numbers, change)) for change in survivors]
    assert [change for change, law in laws if not same_law(kind, numbers, law, clamped=clamped)] == []


def breaks_epsilon(kind: str, table: Table, law: Numbers) -> bool:
    try:
        return not is_private(kind, law, int(table.document["cap"]))
    except IndexError:  # a draw without an output
        return True


# -- Python ------------------------------------------------------------------------------------------------------------


def cases_of(table: Table) -> list[Vector]:
    return [*vectors_of(test_vectors(table)), *refusals(plan_of(table.document).inputs)]


def passes(sample: Callable[..., float], vectors: Iterable[Vector]) -> bool:
    """As the replay programs judge: the bits of the output, and how many bytes were read."""
    for vector in vectors:
        place = 0

        def read(count: int, stream: bytes = vector.stream) -> bytes:
            nonlocal place
            place += count
            if place > len(stream):
                raise EOFError
            return stream[place - count : place]

        try:
            y = sample(vector.x, read)
        except ValueError:
            if vector.y is not None:
                return False
            continue
        except (ArithmeticError, EOFError, IndexError, TypeError):
            return False
        if vector.y is None or bits(y) != bits(vector.y) or place != vector.used:
            return False
    return True


def numbers_of(namespace: Numbers) -> dict[str, Any]:
    return {name: value for name, value in namespace.items() if name.isupper() and name != "TABLE"}


@pytest.mark.parametrize("kind", KINDS)
def test_changes_of_one_number_of_a_python_sampler_are_noticed(kind: str) -> None:
    tried = breaking = 0
    for table in tables_of(kind):
        namespace: dict[str, Any] = {}
        exec(python.module(plan_of(table.document)), namespace)
        numbers, vectors = numbers_of(namespace), cases_of(table)
        assert passes(namespace["sample"], vectors)
        assert is_private(kind, numbers, int(table.document["cap"]))
        drawn = changes(numbers, MUTANTS)
        survivors = []
        for change in drawn:
            namespace |= applied(numbers, change)
            if passes(namespace["sample"], vectors):
                survivors.append(change)
            namespace |= numbers
        assert_noticed(kind, table, numbers, survivors)
        broken = sum(breaks_epsilon(kind, table, applied(numbers, change)) for change in drawn[:100])
        tried, breaking = tried + len(drawn), breaking + broken
    assert tried >= MUTANTS
    assert breaking >= 10


LITERAL = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def mutants_of_text(text: str, first: str, last: str, count: int) -> list[str]:
    """The text with one literal changed, between two marks or where results are clamped."""
    start, end = text.index(first), text.index(last)
    clamps = [match.span() for match in re.finditer(r"return min\(max\(y, .*", text)]
    found = []
    for match in LITERAL.finditer(text):
        if any(low <= match.start() < high for low, high in ((start, end), *clamps)):
            number = json.loads(match[0])
            found += [
                text[: match.start()] + repr(value) + text[match.end() :]
                for value in changed(number, ())
                if value != number and (text[: match.start()][-7:] != "BITS = " or value > 0)
            ]
    return random.Random(11).sample(found, min(count, len(found)))


@pytest.mark.parametrize("kind", KINDS)
def test_changes_of_one_literal_in_the_text_of_a_python_sampler_are_noticed(kind: str) -> None:
    table = tables_of(kind)[-2]  # of the pieces and the noise, one that clamps or is off zero
    text, vectors = python.module(plan_of(table.document)), cases_of(table)
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    numbers = numbers_of(namespace)
    mutants = mutants_of_text(text, "BITS = ", "def sample", 250)
    missed = []
    for mutant in mutants:
        changed_names: dict[str, Any] = {}
        exec(mutant, changed_names)
        law = numbers_of(changed_names)
        clamped = table.law.is_clamped
        if passes(changed_names["sample"], vectors) and not same_law(kind, numbers, law, clamped=clamped):
            missed.append(law)
    assert len(mutants) >= 50
    assert missed == []


def test_an_output_that_one_input_can_never_report_is_noticed() -> None:
    """Loss without bound, which random bytes do not show: each of 100 rows of a table with 100 labels in turn."""
    table = grr(2.0, range(100), 32)
    namespace: dict[str, Any] = {}
    exec(python.module(plan_of(table.document)), namespace)
    numbers, vectors = numbers_of(namespace), cases_of(table)
    for i in range(100):
        j = (37 * i + 11) % 99
        namespace |= applied(numbers, Change("CUMULATIVE", (i, j + 1), numbers["CUMULATIVE"][i][j]))
        assert not passes(namespace["sample"], vectors)
        namespace |= numbers
    assert passes(namespace["sample"], vectors)


# -- C -----------------------------------------------------------------------------------------------------------------

HARNESS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
static long spins;
#include "mutable.c"

typedef struct { double x; unsigned char *stream; size_t length, used; int refused; double y; } vector;
typedef struct { const unsigned char *bytes; size_t place, length; } reader;

static int next_bytes(void *state, unsigned char *bytes, size_t count) {
    reader *from = (reader *)state;
    if (from->place + count > from->length) return -1;
    memcpy(bytes, from->bytes + from->place, count);
    from->place += count;
    return 0;
}

static vector cases[100000];
static char line[1 << 16], stream[1 << 16], expected[64];

static double number(const char *hex) {
    unsigned long long word = strtoull(hex, NULL, 16);
    double value;
    memcpy(&value, &word, 8);
    return value;
}

static int passes(int count) {
    int i;
    for (i = 0; i < count; i++) {
        double y = 0;
        reader from = {cases[i].stream, 0, cases[i].length};
        int outcome = @stem@_from(cases[i].x, next_bytes, &from, &y);
        if ((outcome == BAD_INPUT) != cases[i].refused) return 0;
        if (cases[i].refused) continue;
        if (outcome || memcmp(&y, &cases[i].y, 8) || from.place != cases[i].used) return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "r");
    int count = 0;
    char x[32], name[32], value[32];
    long place;
    (void)argc;
    while (fgets(line, sizeof line, file)) {
        vector *v = &cases[count];
        size_t i;
        if (line[0] == '#') continue;
        sscanf(line, "%31s %s %zu %63s", x, stream, &v->used, expected);
        v->x = number(x);
        v->length = strlen(stream) / 2;
        v->stream = malloc(v->length);
        for (i = 0; i < v->length; i++) sscanf(stream + 2 * i, "%2hhx", &v->stream[i]);
        v->refused = !strcmp(expected, "error");
        v->y = v->refused ? 0 : number(expected);
        count++;
    }
    while (scanf("%31s %ld %31s", name, &place, value) == 3) {
        int status;
        if (fork() == 0) {
@targets@
            _exit(passes(count) ? 0 : 1);
        }
        wait(&status);
        printf("%d\n", status == 0);
    }
    return 0;
}
"""


def c_harness(plan: Plan, folder: Path) -> None:
    """The exported source with numbers that can be overwritten, and a loop over its mutants, a process for each."""
    texts = c.sources(plan)
    text = re.sub(r"static const (double|int64_t)", r"static \1", texts[f"{plan.stem}.c"])
    # a range without numbers would be searched for ever
    guarded = "do { if (++spins > 1000000) _exit(1); number = draw(from, bits); }"
    text = text.replace("do number = draw(from, bits);", guarded)
    names = re.findall(r"static (double|int64_t) (\w+)(\[\])? = ", text)
    targets = "\n".join(
        f'            if (!strcmp(name, "{name}")) {name}{"[place]" if listed else ""} = '
        + ("number(value);" if element == "double" else "(int64_t)strtoll(value, NULL, 10);")
        for element, name, listed in names
    )
    (folder / "mutable.c").write_text(text)
    (folder / f"{plan.stem}.h").write_text(texts[f"{plan.stem}.h"])
    (folder / "harness.c").write_text(HARNESS.replace("@stem@", plan.stem).replace("@targets@", targets))
    subprocess.run(["gcc", "-O1", "-w", "harness.c", "-o", "harness"], cwd=folder, check=True)


def in_c(change: Change, numbers: Numbers) -> str:
    width = len(numbers["OUTPUTS"]) + 1 if len(change.place) == 2 else 0
    flat = change.place[0] * width + change.place[1] if width else (change.place or (0,))[0]
    value = bits(change.value) if isinstance(change.value, float) else str(change.value)
    return f"{change.name} {flat} {value}"


@pytest.mark.parametrize("kind", KINDS)
def test_changes_of_one_number_of_a_c_sampler_are_noticed(kind: str, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    tried = 0
    for table in tables_of(kind):
        plan = plan_of(table.document)
        c_harness(plan, tmp_path)
        namespace: dict[str, Any] = {}
        exec(python.module(plan), namespace)
        numbers = {"SEARCH": "c", **numbers_of(namespace)}
        word = {name: values for name, values in numbers.items() if name not in ("SEARCH", "BITS")}
        drawn = [change for change in changes(word, MUTANTS) if abs(change.value) < 2**63]
        (tmp_path / "vectors.txt").write_text(lines(cases_of(table), table.sha256))
        said = subprocess.run(
            ["./harness", "vectors.txt"],
            cwd=tmp_path,
            input="\n".join(["none 0 0", *(in_c(k, numbers) for k in drawn)]),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert said[0] == "1"
        assert len(said) == len(drawn) + 1
        survivors = [change for change, passed in zip(drawn, said[1:], strict=True) if passed == "1"]
        assert_noticed(kind, table, numbers, survivors)
        tried += len(drawn)
    assert tried >= MUTANTS


# -- JavaScript --------------------------------------------------------------------------------------------------------

NODE = """import { readFileSync } from "node:fs";
const { texts, lines } = JSON.parse(readFileSync(0, "utf8"));
const view = new DataView(new ArrayBuffer(8));
const cases = lines.map((line) => {
  const [input, stream, used, expected] = line.split(" ");
  view.setBigUint64(0, BigInt("0x" + input));
  return { x: view.getFloat64(0), bytes: Uint8Array.from(Buffer.from(stream, "hex")), used: Number(used), expected };
});
const passes = (sample) => cases.every(({ x, bytes, used, expected }) => {
  let place = 0;
  const fill = (target) => {
    if (place + target.length > bytes.length) throw new Error("no bytes left");
    target.set(bytes.subarray(place, place + target.length));
    place += target.length;
  };
  try {
    view.setFloat64(0, sample(x, fill));
  } catch (error) {
    return error instanceof RangeError && error.message.startsWith("the input") && expected === "error";
  }
  return view.getBigUint64(0).toString(16).padStart(16, "0") === expected && place === used;
});
const said = [];
for (const text of texts) said.push(passes((await import("data:text/javascript," + encodeURIComponent(text))).sample));
console.log(JSON.stringify(said));
"""


def in_javascript(text: str, change: Change, numbers: Numbers) -> str:
    """The source with this literal changed."""
    start = text.index(f"const {change.name} = ")
    found = list(LITERAL.finditer(text, start + len(f"const {change.name} = "), text.index(";", start)))
    width = len(numbers["OUTPUTS"]) + 1 if len(change.place) == 2 else 0
    match = found[change.place[0] * width + change.place[1] if width else (change.place or (0,))[0]]
    return text[: match.start()] + repr(change.value) + text[match.end() :]


@pytest.mark.parametrize("kind", KINDS)
def test_changes_of_one_literal_in_the_text_of_a_javascript_sampler_are_noticed(kind: str, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    table = tables_of(kind)[0]
    plan = plan_of(table.document)
    text = javascript.sources(plan)[f"{plan.stem}.mjs"]
    namespace: dict[str, Any] = {}
    exec(python.module(plan), namespace)
    numbers = numbers_of(namespace)
    drawn = changes(numbers, 250)
    texts = [text, *(in_javascript(text, change, numbers) for change in drawn)]
    rows = lines(cases_of(table), table.sha256).splitlines()[2:]
    (tmp_path / "replay.mjs").write_text(NODE)
    done = subprocess.run(
        ["node", "replay.mjs"],
        cwd=tmp_path,
        input=json.dumps({"texts": texts, "lines": rows}),
        capture_output=True,
        text=True,
        check=True,
    )
    whole, *said = json.loads(done.stdout)
    assert whole
    survivors = [change for change, passed in zip(drawn, said, strict=True) if passed]
    assert_noticed(kind, table, numbers, survivors)


# -- Java, whose classes Kotlin's packages hold, and Rust, whose modules WebAssembly's do ------------------------------

OTHERS = 1000
"""Mutants of every kind, at most: other texts than those of Python and C, with the same numbers."""

JAVA = """
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

public final class Harness {
    static final class Vector {
        final double x;
        final byte[] stream;
        final int used;
        final String expected;

        Vector(String line) {
            String[] fields = line.split(" ");
            x = Double.longBitsToDouble(Long.parseUnsignedLong(fields[0], 16));
            stream = new byte[fields[1].length() / 2];
            for (int i = 0; i < stream.length; i++)
                stream[i] = (byte) Integer.parseInt(fields[1].substring(2 * i, 2 * i + 2), 16);
            used = Integer.parseInt(fields[2]);
            expected = fields[3];
        }
    }

    interface Draw { double of(double x, Reader reader); }

    static final class Reader {
        final byte[] bytes;
        int place = 0;

        Reader(byte[] bytes) { this.bytes = bytes; }

        void fill(byte[] to) {
            if (place + to.length > bytes.length) throw new IllegalStateException();
            System.arraycopy(bytes, place, to, 0, to.length);
            place += to.length;
        }
    }

    static boolean passes(Draw draw, List<Vector> cases) {
        for (Vector v : cases) {
            Reader reader = new Reader(v.stream);
            try {
                long y = Double.doubleToRawLongBits(draw.of(v.x, reader));
                if (!String.format("%016x", y).equals(v.expected) || reader.place != v.used) return false;
            } catch (IllegalArgumentException error) {
                if (!v.expected.equals("error")) return false;
            } catch (RuntimeException error) {
                return false;
            }
        }
        return true;
    }

    static void try_(Class<?> type, Draw draw, String name) throws Exception {
        List<Vector> cases = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(name + ".vectors")))
            if (!line.startsWith("#")) cases.add(new Vector(line));
        StringBuilder said = new StringBuilder(passes(draw, cases) ? "1" : "0");
        for (String line : Files.readAllLines(Path.of(name + ".changes"))) {
            String[] change = line.split(" ");
            int place = Integer.parseInt(change[1]);
            Field field = type.getDeclaredField(change[0]);
            field.setAccessible(true);
            boolean listed = field.getType().isArray(), real = field.getType().getName().matches("double|\\\\[D");
            Object value = real ? (Object) Double.longBitsToDouble(Long.parseUnsignedLong(change[2], 16))
                : field.getType() == int.class ? (Object) Integer.valueOf(change[2]) : (Object) Long.valueOf(change[2]);
            Object before = listed ? Array.get(field.get(null), place) : field.get(null);
            if (listed) Array.set(field.get(null), place, value);
            else field.set(null, value);
            said.append(passes(draw, cases) ? "1" : "0");
            if (listed) Array.set(field.get(null), place, before);
            else field.set(null, before);
        }
        System.out.println(said);
    }

    public static void main(String[] names) throws Exception {
@tries@
    }
}
"""


def drawn_changes(table: Table, count: int) -> tuple[dict[str, Any], list[Change]]:
    """The numbers of a sampler, and changes of them that 64-bit words hold."""
    namespace: dict[str, Any] = {}
    exec(python.module(plan_of(table.document)), namespace)
    numbers = numbers_of(namespace)
    word = {name: values for name, values in numbers.items() if name != "BITS"}
    return numbers, [change for change in changes(word, count) if abs(change.value) < 2**63]


def test_changes_of_one_number_of_a_java_sampler_are_noticed(tmp_path: Path) -> None:
    """All kinds at once: the compiler takes a second to start."""
    for tool in ("javac", "java"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    tried, tries = {}, []
    for kind in KINDS:
        table = tables_of(kind)[0]
        numbers, drawn = drawn_changes(table, OTHERS)
        name = f"Sampler{kind.capitalize()}"
        text = java.in_package(plan_of(table.document), "mutants", name).replace("package mutants;\n", "")
        text = re.sub(r"private static final (int|long|double)", r"static \1", text)
        (tmp_path / f"{name}.java").write_text(text)
        (tmp_path / f"{name}.vectors").write_text(lines(cases_of(table), table.sha256))
        (tmp_path / f"{name}.changes").write_text("".join(f"{in_c(change, numbers)}\n" for change in drawn))
        tries.append(f'        try_({name}.class, (x, from) -> {name}.sample(x, from::fill), "{name}");')
        tried[kind] = (table, {"SEARCH": "c", **numbers}, drawn)
    (tmp_path / "Harness.java").write_text(JAVA.replace("@tries@", "\n".join(tries)))
    subprocess.run(["javac", *(path.name for path in tmp_path.glob("*.java"))], cwd=tmp_path, check=True)
    done = subprocess.run(["java", "Harness"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert_all_noticed(tried, done.stdout.split())


def assert_all_noticed(tried: Mapping[str, tuple[Table, Numbers, list[Change]]], said: list[str]) -> None:
    """For every kind a text with a 1 for the sampler as it is, and then one for every change that passes."""
    noticed = total = 0
    for (kind, (table, numbers, drawn)), passed in zip(tried.items(), said, strict=True):
        assert passed[0] == "1"
        assert len(passed) == len(drawn) + 1
        assert_noticed(kind, table, numbers, [k for k, p in zip(drawn, passed[1:], strict=True) if p == "1"])
        noticed, total = noticed + passed[1:].count("0"), total + len(drawn)
    assert noticed / total > 0.9


RUST = """
fn number(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap()
}

type Fill<'a> = &'a mut dyn FnMut(&mut [u8]) -> bool;

fn passes(draw: fn(f64, Fill) -> Option<Option<f64>>, lines: &str) -> bool {
    lines.lines().filter(|line| !line.starts_with('#')).all(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let stream = fields[1].as_bytes();
        let mut place = 0;
        let digit = |byte: u8| if byte <= b'9' { byte - b'0' } else { byte - b'a' + 10 };
        let mut fill = |bytes: &mut [u8]| {
            for byte in bytes {
                if 2 * place >= stream.len() {
                    return false;
                }
                *byte = 16 * digit(stream[2 * place]) + digit(stream[2 * place + 1]);
                place += 1;
            }
            true
        };
        let x = f64::from_bits(number(fields[0]));
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| draw(x, &mut fill))) {
            Err(_) | Ok(None) => false,
            Ok(Some(None)) => fields[3] == "error",
            Ok(Some(Some(y))) => {
                fields[3] != "error" && y.to_bits() == number(fields[3]) && place == fields[2].parse().unwrap()
            }
        }
    })
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
@tries@
}
"""
RUST_DRAW = """
pub fn tried(x: f64, fill: &mut dyn FnMut(&mut [u8]) -> bool) -> Option<Option<f64>> {
    match sample_from(x, &mut |bytes| if fill(bytes) { Ok(()) } else { Err(Error::NoRandomness) }) {
        Ok(y) => Some(Some(y)),
        Err(Error::BadInput) => Some(None),
        Err(Error::NoRandomness) => None,
    }
}
"""


def in_rust(text: str, change: Change, numbers: Numbers) -> str:
    """The source with this literal changed."""
    match = re.search(rf"(?:const|static) {change.name}: [^=]*= ", text)
    assert match is not None
    found = list(LITERAL.finditer(text, match.end(), text.index(";", match.end())))
    width = len(numbers["OUTPUTS"]) + 1 if len(change.place) == 2 else 0
    literal = found[change.place[0] * width + change.place[1] if width else (change.place or (0,))[0]]
    return text[: literal.start()] + repr(change.value) + text[literal.end() :]


def test_changes_of_one_literal_in_the_text_of_a_rust_sampler_are_noticed(tmp_path: Path) -> None:
    """Each mutant is a module of one program: 40 of every kind."""
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    tried, modules, tries = {}, [], []
    for kind in KINDS:
        table = tables_of(kind)[0]
        plan = plan_of(table.document)
        text = rust.sources(plan)[f"{plan.stem}.rs"]
        first, last = text.index("/// A report from bytes that are set apart"), text.index("/// The low bits of as few")
        text = text[:first] + text[last:]
        text = re.sub(r"#\[cfg\(any\(unix, windows\)\)\]\npub fn .*?\n}\n", "", text, flags=re.DOTALL)
        numbers, drawn = drawn_changes(table, 40)
        texts = [text, *(in_rust(text, change, numbers) for change in drawn)]
        for i, mutant in enumerate(texts):
            (tmp_path / f"{kind}_{i}.rs").write_text(mutant + RUST_DRAW)
            modules.append(f'#[path = "{kind}_{i}.rs"]\nmod {kind}_{i};\n')
        (tmp_path / f"{kind}.vectors").write_text(lines(cases_of(table), table.sha256))
        calls = "".join(f"        {kind}_{i}::tried,\n" for i in range(len(texts)))
        tries.append(
            f'    let lines = include_str!("{kind}.vectors");\n    for draw in [\n{calls}    ] {{\n'
            '        print!("{}", i32::from(passes(draw, lines)));\n    }\n    println!();'
        )
        tried[kind] = (table, numbers, drawn)
    (tmp_path / "main.rs").write_text("".join(modules) + RUST.replace("@tries@", "\n".join(tries)))
    options = ["--edition", "2021", "--cap-lints", "allow", "-C", "overflow-checks=off", "-C", "debuginfo=0"]
    subprocess.run(["rustc", *options, "main.rs", "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    assert_all_noticed(tried, done.stdout.split())
