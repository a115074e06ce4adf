"""Java 11: one class, randomness from `SecureRandom`."""

from __future__ import annotations

from collections.abc import Iterable

from mechdesign.deploy.export import replay
from mechdesign.deploy.export.layout import chunks, fill, wrapped
from mechdesign.deploy.export.plan import (
    AdditivePlan,
    FinitePlan,
    PiecesPlan,
    Plan,
    Rows,
    UnbiasedPlan,
    WindowPlan,
)
from mechdesign.deploy.export.texts import comes_out, goes_in, java_text

_LONGEST = 50_000
_LINE_WIDTH = 100


def sources(plan: Plan) -> dict[str, str]:
    """File names and their text. Java names a file after its class."""
    helpers, body, constants = _law(plan)
    points = plan.inputs.points
    lines = [_list("POINTS", map(repr, points))] if points else _scalars(plan.inputs, "double", ("lower", "upper"))
    values = {
        "kind": plan.kind,
        "epsilon": plan.epsilon,
        "sha": plan.sha256,
        "bits": plan.bits,
        "stem": plan.stem,
        "name": f"Sampler_{plan.sha256[:8]}",
        "constants": "\n".join([*lines, *constants]),
        "labels": _labels(plan),
        "front": _front(plan),
        "core": "sampleCode" if plan.labelled else "sample",
        "goes_in": goes_in(plan),
        "comes_out": comes_out(plan),
        "helpers": "".join(f"\n{text}" for text in helpers),
        "body": body,
    }
    return {f"{values['name']}.java": fill(_CLASS, values), f"{values['name']}_Replay.java": fill(replay.JAVA, values)}


def _labels(plan: Plan) -> str:
    sides = {"input": plan.input_labels, "output": plan.output_labels}
    return "".join(
        fill(_LABELS, {"side": side, "name": side.upper(), "texts": wrapped(map(java_text, texts), " " * 12)})
        for side, texts in sides.items()
        if texts is not None
    )


def _front(plan: Plan) -> str:
    if not plan.labelled:
        return ""
    code = "sampleCode(x, source)" if plan.input_labels is None else "sampleCode(POINTS[place], source)"
    places = {
        "taken": "double" if plan.input_labels is None else "String",
        "given": "double" if plan.output_labels is None else "String",
        "read": "" if plan.input_labels is None else _LABEL_IN,
        "report": code if plan.output_labels is None else fill(_LABEL_OUT, {"code": code}),
    }
    return fill(_FRONT, places)


def _law(plan: Plan) -> tuple[list[str], str, list[str]]:
    law = plan.law
    match law:
        case WindowPlan(rows, thresholds):
            return (
                [_DOUBLES, _LONGS, _COUNT_BELOW, _ROWS],
                _WINDOW,
                [*_rows(rows), _list("THRESHOLDS", map(repr, thresholds))],
            )
        case UnbiasedPlan(rows, _, _, means):
            constants = [*_rows(rows), _list("MEANS", map(str, means), "long")]
            constants += _scalars(law, "double", ("offset", "scale"))
            return [_DOUBLES, _LONGS, _ROWS, _PICK, _BELOW, _WHOLE], _UNBIASED, constants
        case FinitePlan(outputs, cumulative):
            flat = (str(count) for row in cumulative for count in row)
            constants = [_list("OUTPUTS", map(repr, outputs)), _list("CUMULATIVE", flat, "long")]
            return [_DOUBLES, _LONGS, _COUNT_BELOW, _PICK], _FINITE, constants
        case PiecesPlan():
            constants = _scalars(law, "long", ("cells", "inside", "weight", "first"))
            constants += _scalars(law, "double", ("step", "anchor", "scale"))
            place = _CIRCLE if law.circular else _LINE
            return [_BELOW], fill(_PIECES, {"place": place, "result": _result(_CELL, law.clamp)}), constants
        case AdditivePlan():
            constants = _scalars(law, "long", ("tail", "block")) + _scalars(law, "double", ("offset", "scale", "step"))
            constants.append(_list("CUMULATIVE", map(str, law.cumulative), "long"))
            return [_LONGS, _PICK, _WHOLE], fill(_ADDITIVE, {"result": _result(_SUM, law.clamp, "    ")}), constants


def _rows(rows: Rows) -> list[str]:
    lists = {"REACHED": rows.reached, "GAINED": rows.gained, "STARTS": rows.starts}
    texts = [_list(name, map(str, values), "long") for name, values in lists.items()]
    return [_list("OUTPUTS", map(repr, rows.outputs)), *texts, *_scalars(rows, "long", ("extra",))]


def _scalars(law: object, element: str, names: Iterable[str]) -> list[str]:
    ending = "L" if element == "long" else ""
    return [f"    private static final {element} {name.upper()} = {getattr(law, name)!r}{ending};" for name in names]


def _list(name: str, items: Iterable[str], element: str = "double") -> str:
    # the code that fills an array may not exceed 64 kB, nor may a constant: numbers are kept as long texts
    texts = ",\n".join(_text(chunk) for chunk in chunks(items, " ", _LONGEST))
    gap = "\n" if texts else ""
    return f"    private static final {element}[] {name} = {element}s({gap}{texts});"


def _text(numbers: str) -> str:
    lines = chunks(numbers.split(), " ", _LINE_WIDTH)
    return "        " + ' "\n        + "'.join(lines).join('""')


def _result(value: str, clamp: tuple[float, float] | None, deeper: str = "") -> str:
    indent = "        " + deeper
    if clamp is None:
        return f"{indent}return {value};\n"
    return f"{indent}double y = {value};\n{indent}return Math.min(Math.max(y, {clamp[0]!r}), {clamp[1]!r});\n"


_CLASS = """\
// A sampler generated by mechdesign from the table with SHA-256
//
//     @sha@
//
// kind: @kind@; epsilon: @epsilon@ (local differential privacy; the law of every report is exact).
// sample(x) takes @goes_in@, and gives @comes_out@.
// Every random decision compares integers. Randomness is that of java.security.SecureRandom, which the operating system
// seeds. Java 11 and later.

import java.security.SecureRandom;

public final class @name@ {
    /** Overwrites all it is given with random bytes. */
    public interface Source {
        void fill(byte[] bytes);
    }

    /** The table this sampler was generated from. */
    public static final String TABLE = "@sha@";

@labels@    private static final SecureRandom SYSTEM = new SecureRandom();
    private static final int BITS = @bits@;
@constants@

    private @name@() {}

@front@    /** A report for the input x; inputs outside the domain are an IllegalArgumentException. */
    public static double @core@(double x) {
        return @core@(x, SYSTEM::nextBytes);
    }

    /** The same with another source of bytes, for tests only. */
    public static double @core@(double x, Source source) {
@body@    }

    /** The low bits of as few whole bytes as hold them, little-endian. At most 63 bits. */
    private static long draw(int bits, Source source) {
        byte[] bytes = new byte[(bits + 7) / 8];
        if (bits > 0) source.fill(bytes);
        long number = 0;
        for (int i = bytes.length - 1; i >= 0; i--) number = number << 8 | (bytes[i] & 0xff);
        return number & ((1L << bits) - 1);
    }
@helpers@}
"""

_LABELS = """\
    /** The @side@ labels. */
    public static final java.util.List<String> @name@_LABELS = @side@Labels();

    private static java.util.List<String> @side@Labels() {
        return java.util.List.of(
@texts@);
    }

"""

_FRONT = """\
    /** A report for the input x; what is no input is an IllegalArgumentException. */
    public static @given@ sample(@taken@ x) {
        return sample(x, SYSTEM::nextBytes);
    }

    /** The same with another source of bytes, for tests only. */
    public static @given@ sample(@taken@ x, Source source) {
@read@        return @report@;
    }

    // The same in codes, the numbers of the table: the i-th label stands for the i-th of POINTS or OUTPUTS.

"""

_LABEL_IN = """\
        int place = x == null ? -1 : INPUT_LABELS.indexOf(x);
        if (place < 0) throw new IllegalArgumentException("the input must be one of INPUT_LABELS");
"""

_LABEL_OUT = "OUTPUT_LABELS.get(java.util.Arrays.binarySearch(OUTPUTS, @code@))"

_IN_INTERVAL = """\
        if (!(LOWER <= x && x <= UPPER)) throw new IllegalArgumentException("the input must lie in the domain");
"""

_DOUBLES = """\
    private static double[] doubles(String... texts) {
        if (texts.length == 0) return new double[0];
        return java.util.Arrays.stream(String.join(" ", texts).split(" ")).mapToDouble(Double::parseDouble).toArray();
    }
"""

_COUNT_BELOW = """\
    /** How many of the values, which increase, are below x. */
    private static int countBelow(double[] values, double x) {
        int low = 0, high = values.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (values[middle] < x) low = middle + 1;
            else high = middle;
        }
        return low;
    }
"""

_LONGS = """\
    private static long[] longs(String... texts) {
        return java.util.Arrays.stream(String.join(" ", texts).split(" ")).mapToLong(Long::parseLong).toArray();
    }
"""

_ROWS = """\
    /** The output whose cumulative counts in the row that starts at `start` enclose `count`. */
    private static double choose(long start, long count) {
        int low = 0, high = OUTPUTS.length;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            long more = Math.min(Math.max(GAINED[middle] - start, 0), EXTRA);
            if (REACHED[middle] + more <= count) low = middle;
            else high = middle;
        }
        return OUTPUTS[low];
    }
"""

_PICK = """\
    /** The last of the places values[first] to values[first + places - 1] whose value is at most count, less first. */
    private static int pick(long[] values, int first, int places, long count) {
        int low = 0, high = places;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (values[first + middle] <= count) low = middle;
            else high = middle;
        }
        return low;
    }
"""

_BELOW = """\
    /** A uniform integer from 0 to size - 1. */
    private static long below(long size, Source source) {
        int bits = 64 - Long.numberOfLeadingZeros(size - 1);
        while (true) {
            long number = draw(bits, source);
            if (number < size) return number;
        }
    }
"""

_WHOLE = """\
    /** An integer next to z with mean exactly z. */
    private static long whole(double z, Source source) {
        double size = Math.abs(z);
        long number = (long) size;
        if (happens(size - number, source)) number++;
        return z < 0 ? -number : number;
    }

    /** True with exactly this probability: its binary digits are compared with random ones. */
    private static boolean happens(double probability, Source source) {
        double rest = probability;
        while (rest > 0) {
            rest *= 4294967296.0;
            long digits = (long) rest;
            long number = draw(32, source);
            if (number != digits) return number < digits;
            rest -= digits;
        }
        return false;
    }
"""

_WINDOW = (
    _IN_INTERVAL
    + """\
        return choose(STARTS[countBelow(THRESHOLDS, x)], draw(BITS, source));
"""
)

_UNBIASED = (
    _IN_INTERVAL
    + """\
        long place = whole((x - OFFSET) * SCALE, source);
        int row = pick(MEANS, 0, MEANS.length - 1, place);
        if (below(MEANS[row + 1] - MEANS[row], source) < place - MEANS[row]) row++;
        return choose(STARTS[row], draw(BITS, source));
"""
)

_FINITE = """\
        int row = countBelow(POINTS, x);
        if (row == POINTS.length || POINTS[row] != x) {
            throw new IllegalArgumentException("the input must be a point of the domain");
        }
        return OUTPUTS[pick(CUMULATIVE, row * (OUTPUTS.length + 1), OUTPUTS.length, draw(BITS, source))];
"""

_LINE = "long start = (long) Math.min(Math.max(place, 0), CELLS - INSIDE);"
_CIRCLE = "long start = Math.floorMod((long) Math.floor(place), CELLS);"

_PIECES = (
    _IN_INTERVAL
    + """\
        double place = (x - ANCHOR) * SCALE;
        @place@
        long cell = draw(BITS, source) < WEIGHT ? below(INSIDE, source) : INSIDE + below(CELLS - INSIDE, source);
@result@"""
)

_CELL = "(FIRST + (start + cell) % CELLS + 0.5) * STEP"

_ADDITIVE = (
    _IN_INTERVAL
    + """\
        long place = whole((x - OFFSET) * SCALE, source);
        while (true) {
            boolean negative = draw(1, source) == 1;
            long blocks = 0;
            while (draw(BITS, source) < TAIL) blocks++;
            long size = blocks * BLOCK + pick(CUMULATIVE, 0, CUMULATIVE.length - 1, draw(BITS, source));
            if (size == 0 && negative) continue;
@result@        }
"""
)

_SUM = "OFFSET + (negative ? place - size : place + size) * STEP"
