/* See @stem@.h. C99; on Windows link with bcrypt, with a C library that needs it with pthread. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "@stem@.h"

#include <float.h>
#include <stdint.h>
#include <string.h>
// @include randomness/includes.c

#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || FLT_EVAL_METHOD != 0
#error "doubles must be IEEE-754 and evaluated in their own precision (on 32-bit x86 compile with -msse2 -mfpmath=sse)"
#endif
#if defined(__FAST_MATH__)
#error "do not compile with -ffast-math: places of inputs would be rounded differently"
#endif

enum { BITS = @bits@, BAD_INPUT = @guard@_BAD_INPUT };
// @if points
@POINTS@
// @else
@LOWER@
@UPPER@
// @end
// @if window unbiased
@OUTPUTS@
@REACHED@
@GAINED@
@STARTS@
@EXTRA@
// @end
// @if window
@THRESHOLDS@
// @end
// @if unbiased
@MEANS@
@OFFSET@
@SCALE@
// @end
// @if finite
@OUTPUTS@
@CUMULATIVE@
// @end
// @if pieces
@CELLS@
@INSIDE@
@WEIGHT@
@FIRST@
@STEP@
@ANCHOR@
@SCALE@
// @end
// @if additive
@TAIL@
@BLOCK@
@OFFSET@
@SCALE@
@STEP@
@CUMULATIVE@
// @end

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
// @if window unbiased

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
// @end
// @if finite additive

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
// @end
// @if unbiased pieces

/* A uniform integer from 0 to size - 1. */
static int64_t below(source *from, int64_t size) {
    int bits = 0;
    int64_t number;
    while (bits < 63 && ((size - 1) >> bits) > 0) bits++;
    do number = draw(from, bits);
    while (number >= size);
    return number;
}
// @end
// @if unbiased additive

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
// @end

int @core@_from(double x, int (*fill)(void *, unsigned char *, size_t), void *state, double *y) {
    source opened, *from = &opened;
    double result;
    opened.fill = fill;
    opened.state = state;
    opened.failed = 0;
    {
// @if window
        size_t low = 0, high = THRESHOLDS_COUNT;
        if (!(LOWER <= x && x <= UPPER)) return BAD_INPUT;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (THRESHOLDS[middle] < x) low = middle + 1;
            else high = middle;
        }
        result = choose(STARTS[low], draw(from, BITS));
// @end
// @if unbiased
        int64_t place;
        size_t low = 0, high = MEANS_COUNT - 1;
        if (!(LOWER <= x && x <= UPPER)) return BAD_INPUT;
        place = whole(from, (x - OFFSET) * SCALE);
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (MEANS[middle] <= place) low = middle;
            else high = middle;
        }
        if (below(from, MEANS[low + 1] - MEANS[low]) < place - MEANS[low]) low++;
        result = choose(STARTS[low], draw(from, BITS));
// @end
// @if finite
        size_t low = 0, high = POINTS_COUNT;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (POINTS[middle] < x) low = middle + 1;
            else high = middle;
        }
        if (low == POINTS_COUNT || POINTS[low] != x) return BAD_INPUT;
        result = OUTPUTS[pick(CUMULATIVE + low * (OUTPUTS_COUNT + 1), OUTPUTS_COUNT, draw(from, BITS))];
// @end
// @if pieces
        double place;
        int64_t start, cell;
        if (!(LOWER <= x && x <= UPPER)) return BAD_INPUT;
        place = (x - ANCHOR) * SCALE;
// @if circle
        start = (int64_t)place;
        if ((double)start > place) start--;
        start %= CELLS;
        if (start < 0) start += CELLS;
// @else
        if (place < 0) place = 0;
        if (place > (double)(CELLS - INSIDE)) place = (double)(CELLS - INSIDE);
        start = (int64_t)place;
// @end
        if (draw(from, BITS) < WEIGHT) cell = below(from, INSIDE);
        else cell = INSIDE + below(from, CELLS - INSIDE);
        result = ((double)(FIRST + (start + cell) % CELLS) + 0.5) * STEP;
// @if clamp
    if (result < @clamp_low@) result = @clamp_low@;
    if (result > @clamp_high@) result = @clamp_high@;
// @end
// @end
// @if additive
        int64_t place, blocks, size, negative;
        if (!(LOWER <= x && x <= UPPER)) return BAD_INPUT;
        place = whole(from, (x - OFFSET) * SCALE);
        do {
            negative = draw(from, 1);
            for (blocks = 0; draw(from, BITS) < TAIL && !opened.failed;) blocks++;
            size = blocks * BLOCK + (int64_t)pick(CUMULATIVE, (size_t)BLOCK, draw(from, BITS));
        } while (negative && size == 0);
        result = OFFSET + (double)(negative ? place - size : place + size) * STEP;
// @if clamp
    if (result < @clamp_low@) result = @clamp_low@;
    if (result > @clamp_high@) result = @clamp_high@;
// @end
// @end
    }
    if (opened.failed) return @guard@_NO_RANDOMNESS;
    *y = result;
    return @guard@_OK;
}

// @include randomness/pool.c

/* The bytes of one report: as many for every input, and more only where they do not suffice. */
enum { ENOUGH = @enough@ };
typedef struct {
    unsigned char bytes[ENOUGH];
    size_t used;
} allotment;

static int allot(allotment *own) {
    own->used = 0;
    if (pooled < ENOUGH) return take(own->bytes, ENOUGH);
    pooled -= ENOUGH;
    memcpy(own->bytes, pool + POOL - ENOUGH - pooled, ENOUGH);
    memset(pool + POOL - ENOUGH - pooled, 0, ENOUGH);
    return 0;
}

static int from_allotment(void *state, unsigned char *bytes, size_t count) {
    allotment *own = (allotment *)state;
    if (count > ENOUGH - own->used) return take(bytes, count);
    while (count-- > 0) *bytes++ = own->bytes[own->used++];
    return 0;
}

int @core@(double x, double *y) {
    allotment own;
    if (allot(&own) != 0) return @guard@_NO_RANDOMNESS;
    return @core@_from(x, from_allotment, &own, y);
}
// @if input_labels

// @include labels/places.c
// @end
// @if output_labels

const char *const @stem@_output_labels[@output_count@] = {
@output_texts@
};
// @end
// @if labels

int @stem@_from(@taken@x, int (*fill)(void *, unsigned char *, size_t), void *state, @given@y) {
// @if input_labels
    int64_t place = @stem@_place_of(x);
// @end
    double code;
    int outcome;
// @if input_labels
    if (place < 0) return BAD_INPUT;
// @end
    outcome = @stem@_code_from(@code@, fill, state, &code);
    if (outcome != @guard@_OK) return outcome;
// @if output_labels
    {
        size_t reported = 0;
        while (reported < OUTPUTS_COUNT - 1 && OUTPUTS[reported] != code) reported++;
        *y = @stem@_output_labels[reported];
    }
// @else
    *y = code;
// @end
    return @guard@_OK;
}

int @stem@(@taken@x, @given@y) {
    allotment own;
    if (allot(&own) != 0) return @guard@_NO_RANDOMNESS;
    return @stem@_from(x, from_allotment, &own, y);
}
// @end
