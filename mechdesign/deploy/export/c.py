"""C99: a header and a source file, randomness from getentropy, on Apple's systems CCRandomGenerateBytes, on Windows
BCryptGenRandom."""

from __future__ import annotations

from collections.abc import Iterable

from mechdesign.deploy.export import replay
from mechdesign.deploy.export.layout import fill, wrapped
from mechdesign.deploy.export.plan import (
    AdditivePlan,
    FinitePlan,
    PiecesPlan,
    Plan,
    Rows,
    UnbiasedPlan,
    WindowPlan,
)
from mechdesign.deploy.export.texts import c_text, comes_out, constant_names, goes_in

_COUNTED = ("POINTS", "OUTPUTS", "THRESHOLDS", "MEANS")
"""The arrays whose length a sampler looks at."""


def sources(plan: Plan) -> dict[str, str]:
    """File names and their text."""
    helpers, body, constants = _law(plan)
    points = plan.inputs.points
    lines = [_doubles("POINTS", points)] if points else _scalars(plan.inputs, ("lower", "upper"))
    values = {
        "kind": plan.kind,
        "epsilon": plan.epsilon,
        "sha": plan.sha256,
        "bits": plan.bits,
        "stem": plan.stem,
        "guard": plan.stem.upper(),
        "constants": "\n".join([*lines, *constants]),
        "core": f"{plan.stem}_code" if plan.labelled else plan.stem,
        "declared_labels": _declared_labels(plan),
        "declared_front": _declared_front(plan),
        "labels": _labels(plan),
        "front": _front(plan),
        "string": "#include <string.h>\n" if plan.input_labels is not None else "",
        "goes_in": goes_in(plan),
        "comes_out": comes_out(plan),
        "helpers": "".join(f"\n{text}" for text in helpers),
        "body": body,
    }
    names = {"h": _HEADER, "c": _SOURCE}
    texts = {f"{plan.stem}.{ending}": fill(template, values) for ending, template in names.items()}
    return texts | {f"{plan.stem}_replay.c": fill(replay.C, values)}


def _sides(plan: Plan) -> list[tuple[str, tuple[str, ...]]]:
    sides = {"input": plan.input_labels, "output": plan.output_labels}
    return [(side, texts) for side, texts in sides.items() if texts is not None]


def _declared_labels(plan: Plan) -> str:
    """Labels as texts, and their places as constants."""
    return "".join(
        f"/* The {side} labels, UTF-8, and their places. */\n"
        f"extern const char *const {plan.stem}_{side}_labels[{len(texts)}];\n"
        f"enum {{\n{wrapped(constant_names(f'{plan.stem.upper()}_{side.upper()}', texts))}\n}};\n\n"
        for side, texts in _sides(plan)
    )


def _labels(plan: Plan) -> str:
    return "".join(
        f"\nconst char *const {plan.stem}_{side}_labels[{len(texts)}] = {{\n{wrapped(map(c_text, texts))}\n}};\n"
        for side, texts in _sides(plan)
    )


def _types(plan: Plan) -> dict[str, str]:
    return {
        "stem": plan.stem,
        "guard": plan.stem.upper(),
        "taken": "double " if plan.input_labels is None else "const char *",
        "given": "double *" if plan.output_labels is None else "const char **",
    }


def _declared_front(plan: Plan) -> str:
    return fill(_DECLARED_FRONT, _types(plan)) if plan.labelled else ""


def _front(plan: Plan) -> str:
    if not plan.labelled:
        return ""
    steps = {
        "place": "" if plan.input_labels is None else "    size_t place = 0;\n",
        "read": "" if plan.input_labels is None else fill(_LABEL_IN, _types(plan)),
        "code": "x" if plan.input_labels is None else "POINTS[place]",
        "report": "    *y = code;\n" if plan.output_labels is None else fill(_LABEL_OUT, _types(plan)),
    }
    return fill(_FRONT, _types(plan) | steps)


def _law(plan: Plan) -> tuple[list[str], str, list[str]]:
    law = plan.law
    match law:
        case WindowPlan(rows, thresholds):
            return [_ROWS], _WINDOW, [*_rows(rows), _doubles("THRESHOLDS", thresholds)]
        case UnbiasedPlan(rows, _, _, means):
            constants = [*_rows(rows), _integers("MEANS", means), *_scalars(law, ("offset", "scale"))]
            return [_ROWS, _BELOW, _WHOLE], _UNBIASED, constants
        case FinitePlan(outputs, cumulative):
            flat = [count for row in cumulative for count in row]
            return [_PICK], _FINITE, [_doubles("OUTPUTS", outputs), _integers("CUMULATIVE", flat)]
        case PiecesPlan():
            constants = [
                *_words(law, ("cells", "inside", "weight", "first")),
                *_scalars(law, ("step", "anchor", "scale")),
            ]
            place = _CIRCLE if law.circular else _LINE
            return [_BELOW], fill(_PIECES, {"place": place, "clamp": _clamp(law.clamp)}), constants
        case AdditivePlan():
            constants = [*_words(law, ("tail", "block")), *_scalars(law, ("offset", "scale", "step"))]
            constants.append(_integers("CUMULATIVE", law.cumulative))
            return [_PICK, _WHOLE], fill(_ADDITIVE, {"clamp": _clamp(law.clamp)}), constants


def _rows(rows: Rows) -> list[str]:
    lists = {"REACHED": rows.reached, "GAINED": rows.gained, "STARTS": rows.starts}
    texts = [_integers(name, values) for name, values in lists.items()]
    return [_doubles("OUTPUTS", rows.outputs), *texts, f"static const int64_t EXTRA = {_integer(rows.extra)};"]


def _integer(number: int) -> str:
    return f"INT64_C({number})"


def _words(law: object, names: Iterable[str]) -> list[str]:
    return [f"static const int64_t {name.upper()} = {_integer(getattr(law, name))};" for name in names]


def _scalars(law: object, names: Iterable[str]) -> list[str]:
    return [f"static const double {name.upper()} = {getattr(law, name).hex()};" for name in names]


def _integers(name: str, values: Iterable[int]) -> str:
    return _array("int64_t", name, [_integer(value) for value in values])


def _doubles(name: str, values: Iterable[float]) -> str:
    return _array("double", name, [value.hex() for value in values])


def _array(element: str, name: str, items: list[str]) -> str:
    # C has no arrays of length zero: the element added is never looked at
    listed = wrapped(items or ["0"])
    count = f"enum {{ {name}_COUNT = {len(items)} }};\n" if name in _COUNTED else ""
    return f"{count}static const {element} {name}[] = {{\n{listed}\n}};"


def _clamp(ends: tuple[float, float] | None) -> str:
    if ends is None:
        return ""
    low, high = (end.hex() for end in ends)
    return f"    if (result < {low}) result = {low};\n    if (result > {high}) result = {high};\n"


_HEADER = """\
/* A sampler generated by mechdesign from the table with SHA-256
 *
 *     @sha@
 *
 * kind: @kind@; epsilon: @epsilon@ (local differential privacy; the law of every report is exact).
 * @stem@ takes @goes_in@, and gives @comes_out@.
 * Every random decision compares integers. Randomness is the operating system's, and none of it is kept between calls.
 */
#ifndef @guard@_H
#define @guard@_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { @guard@_OK = 0, @guard@_BAD_INPUT = 1, @guard@_NO_RANDOMNESS = 2 };

@declared_labels@@declared_front@\
/* Writes a report for the input x to y. Returns @guard@_OK, or an error and leaves y alone. */
int @core@(double x, double *y);

/* The same with another source of bytes, for tests only: fill(state, bytes, count) returns 0 on success. */
int @core@_from(double x, int (*fill)(void *, unsigned char *, size_t), void *state, double *y);

#ifdef __cplusplus
}
#endif

#endif
"""

_SOURCE = """\
/* See @stem@.h. C99; on Windows link with bcrypt. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "@stem@.h"

#include <float.h>
#include <stdint.h>
@string@#if defined(_WIN32)
#include <windows.h>
#include <bcrypt.h>
#elif defined(__APPLE__)
#include <CommonCrypto/CommonCryptoError.h>
#include <CommonCrypto/CommonRandom.h>
#else
#include <unistd.h>
#endif

#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || FLT_EVAL_METHOD != 0
#error "doubles must be IEEE-754 and evaluated in their own precision (on 32-bit x86 compile with -msse2 -mfpmath=sse)"
#endif
#if defined(__FAST_MATH__)
#error "do not compile with -ffast-math: places of inputs would be rounded differently"
#endif

enum { BITS = @bits@, BAD_INPUT = @guard@_BAD_INPUT };
@constants@

typedef struct {
    int (*fill)(void *, unsigned char *, size_t);
    void *state;
    int failed;
} source;

/* The low bits of as few whole bytes as hold them, little-endian. At most 63 bits; 0 once the source has failed. */
static int64_t draw(source *from, int bits) {
    unsigned char bytes[8];
    size_t count = (size_t)(bits + 7) / 8, i;
    uint64_t number = 0;
    if (count == 0 || from->failed) return 0;
    if (from->fill(from->state, bytes, count) != 0) {
        from->failed = 1;
        return 0;
    }
    for (i = count; i-- > 0;) number = number << 8 | bytes[i];
    return (int64_t)(number & ((UINT64_C(1) << bits) - 1));
}
@helpers@
int @core@_from(double x, int (*fill)(void *, unsigned char *, size_t), void *state, double *y) {
    source opened, *from = &opened;
    double result;
    opened.fill = fill;
    opened.state = state;
    opened.failed = 0;
    {
@body@    }
    if (opened.failed) return @guard@_NO_RANDOMNESS;
    *y = result;
    return @guard@_OK;
}

static int operating_system(void *state, unsigned char *bytes, size_t count) {
    (void)state;
#if defined(_WIN32)
    return BCryptGenRandom(NULL, bytes, (ULONG)count, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0 ? 0 : -1;
#elif defined(__APPLE__)
    return CCRandomGenerateBytes(bytes, count) == kCCSuccess ? 0 : -1;
#else
    return getentropy(bytes, count);
#endif
}

int @core@(double x, double *y) {
    return @core@_from(x, operating_system, NULL, y);
}
@labels@@front@"""

_DECLARED_FRONT = """\
/* Writes a report for the input x to y. Returns @guard@_OK, or an error and leaves y alone. */
int @stem@(@taken@x, @given@y);

/* The same with another source of bytes, for tests only: fill(state, bytes, count) returns 0 on success. */
int @stem@_from(@taken@x, int (*fill)(void *, unsigned char *, size_t), void *state, @given@y);

/* The same in codes, the numbers of the table: the i-th label stands for the i-th of
 * POINTS or OUTPUTS, in the source. */

"""

_FRONT = """\

int @stem@_from(@taken@x, int (*fill)(void *, unsigned char *, size_t), void *state, @given@y) {
@place@    double code;
    int outcome;
@read@    outcome = @stem@_code_from(@code@, fill, state, &code);
    if (outcome != @guard@_OK) return outcome;
@report@    return @guard@_OK;
}

int @stem@(@taken@x, @given@y) {
    return @stem@_from(x, operating_system, NULL, y);
}
"""

_LABEL_IN = """\
    if (x == NULL) return BAD_INPUT;
    while (place < POINTS_COUNT && strcmp(x, @stem@_input_labels[place]) != 0) place++;
    if (place == POINTS_COUNT) return BAD_INPUT;
"""

_LABEL_OUT = """\
    {
        size_t reported = 0;
        while (reported < OUTPUTS_COUNT - 1 && OUTPUTS[reported] != code) reported++;
        *y = @stem@_output_labels[reported];
    }
"""

_IN_INTERVAL = """\
        if (!(LOWER <= x && x <= UPPER)) return BAD_INPUT;
"""

_ROWS = """\
/* The output whose cumulative counts in the row that starts at `start` enclose `count`. */
static double choose(int64_t start, int64_t count) {
    size_t low = 0, high = OUTPUTS_COUNT;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        int64_t more = GAINED[middle] - start;
        if (more < 0) more = 0;
        if (more > EXTRA) more = EXTRA;
        if (REACHED[middle] + more <= count) low = middle;
        else high = middle;
    }
    return OUTPUTS[low];
}
"""

_PICK = """\
/* The place whose cumulative counts enclose `count`. */
static size_t pick(const int64_t *cumulative, size_t places, int64_t count) {
    size_t low = 0, high = places;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (cumulative[middle] <= count) low = middle;
        else high = middle;
    }
    return low;
}
"""

_BELOW = """\
/* A uniform integer from 0 to size - 1. */
static int64_t below(source *from, int64_t size) {
    int bits = 0;
    int64_t number;
    while (bits < 63 && ((size - 1) >> bits) > 0) bits++;
    do number = draw(from, bits);
    while (number >= size);
    return number;
}
"""

_WHOLE = """\
/* True with exactly this probability: its binary digits are compared with random ones. */
static int happens(source *from, double probability) {
    while (probability > 0) {
        int64_t digits, number;
        probability *= 4294967296.0;
        digits = (int64_t)probability;
        number = draw(from, 32);
        if (number != digits) return number < digits;
        probability -= (double)digits;
    }
    return 0;
}

/* An integer next to z with mean exactly z. */
static int64_t whole(source *from, double z) {
    double size = z < 0 ? -z : z;
    int64_t number = (int64_t)size;
    number += happens(from, size - (double)number);
    return z < 0 ? -number : number;
}
"""

_WINDOW = (
    """\
        size_t low = 0, high = THRESHOLDS_COUNT;
"""
    + _IN_INTERVAL
    + """\
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (THRESHOLDS[middle] < x) low = middle + 1;
            else high = middle;
        }
        result = choose(STARTS[low], draw(from, BITS));
"""
)

_UNBIASED = (
    """\
        int64_t place;
        size_t low = 0, high = MEANS_COUNT - 1;
"""
    + _IN_INTERVAL
    + """\
        place = whole(from, (x - OFFSET) * SCALE);
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (MEANS[middle] <= place) low = middle;
            else high = middle;
        }
        if (below(from, MEANS[low + 1] - MEANS[low]) < place - MEANS[low]) low++;
        result = choose(STARTS[low], draw(from, BITS));
"""
)

_FINITE = """\
        size_t low = 0, high = POINTS_COUNT;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (POINTS[middle] < x) low = middle + 1;
            else high = middle;
        }
        if (low == POINTS_COUNT || POINTS[low] != x) return BAD_INPUT;
        result = OUTPUTS[pick(CUMULATIVE + low * (OUTPUTS_COUNT + 1), OUTPUTS_COUNT, draw(from, BITS))];
"""

_LINE = """\
        if (place < 0) place = 0;
        if (place > (double)(CELLS - INSIDE)) place = (double)(CELLS - INSIDE);
        start = (int64_t)place;
"""

_CIRCLE = """\
        start = (int64_t)place;
        if ((double)start > place) start--;
        start %= CELLS;
        if (start < 0) start += CELLS;
"""

_PIECES = (
    """\
        double place;
        int64_t start, cell;
"""
    + _IN_INTERVAL
    + """\
        place = (x - ANCHOR) * SCALE;
@place@        if (draw(from, BITS) < WEIGHT) cell = below(from, INSIDE);
        else cell = INSIDE + below(from, CELLS - INSIDE);
        result = ((double)(FIRST + (start + cell) % CELLS) + 0.5) * STEP;
@clamp@"""
)

_ADDITIVE = (
    """\
        int64_t place, blocks, size, negative;
"""
    + _IN_INTERVAL
    + """\
        place = whole(from, (x - OFFSET) * SCALE);
        do {
            negative = draw(from, 1);
            for (blocks = 0; draw(from, BITS) < TAIL && !opened.failed;) blocks++;
            size = blocks * BLOCK + (int64_t)pick(CUMULATIVE, (size_t)BLOCK, draw(from, BITS));
        } while (negative && size == 0);
        result = OFFSET + (double)(negative ? place - size : place + size) * STEP;
@clamp@"""
)
