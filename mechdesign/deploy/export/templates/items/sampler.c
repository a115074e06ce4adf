/* See @stem@.h. C99; on Windows link with bcrypt, with a C library that needs it with pthread. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "@stem@.h"

#include <string.h>
// @include randomness/includes.c

enum { BITS = @bits@, SIZE = @size@, COUNT = @count@, REPORT_BYTES = @guard@_REPORT_BYTES };
static const uint64_t OWN = @own@;
// @if choice coins
static const uint64_t OTHER = @other@;
// @end
// @if choice
static const uint64_t GROUPS = @groups@;
// @end
// @if subset
enum { SUBSET = @subset@ };
// @end
// @if hadamard
enum { BLOCKS = @blocks@, PLACE_BITS = @place_bits@ };
// @end
// @if coins
enum { WIDTH = @width@, AT_ONCE = 256 / SIZE };
// @end

typedef struct {
    int (*fill)(void *, unsigned char *, size_t);
    void *state;
    int failed;
} source;

/* Random bytes; all 0 once the source has failed. */
static void fill(source *from, unsigned char *bytes, size_t count) {
    if (count == 0 || (!from->failed && from->fill(from->state, bytes, count) == 0)) return;
    from->failed = 1;
    memset(bytes, 0, count);
}

static uint64_t number(const unsigned char *bytes, int bits) {
    uint64_t found = 0;
    int i;
    for (i = (bits + 7) / 8; i-- > 0;) found = found << 8 | bytes[i];
    return bits < 64 ? found & ((UINT64_C(1) << bits) - 1) : found;
}
// @if choice hash subset

/* The low bits of as few whole bytes as hold them, little-endian. */
static uint64_t draw(source *from, int bits) {
    unsigned char bytes[8];
    fill(from, bytes, (size_t)(bits + 7) / 8);
    return number(bytes, bits);
}
// @end
// @if choice hash

static void write_number(unsigned char *report, int count, uint64_t value) {
    int i;
    for (i = 0; i < count; i++) report[i] = (unsigned char)(value >> (8 * i) & 255);
}
// @end
// @if choice

/* One of GROUPS groups by one draw: OWN counts of 2^BITS are for mine, OTHER for each other one. */
static uint64_t choose(source *from, uint64_t mine) {
    uint64_t count = draw(from, BITS);
    return count < OWN ? mine : (mine + 1 + (count - OWN) / OTHER) % GROUPS;
}
// @end
// @if coins

/* WIDTH bits, each 1 with OWN (mine) or OTHER counts of 2^BITS; bit v is bit v % 8 of byte v / 8. */
static void coins(source *from, unsigned char *report, int mine) {
    unsigned char bytes[256];
    int first, place;
    for (first = 0; first < WIDTH; first += AT_ONCE) {
        int last = first + AT_ONCE < WIDTH ? first + AT_ONCE : WIDTH;
        fill(from, bytes, (size_t)(last - first) * SIZE);
        for (place = first; place < last; place++) {
            int one = number(bytes + (place - first) * SIZE, BITS) < (place == mine ? OWN : OTHER);
            report[place / 8] = (unsigned char)(report[place / 8] | one << place % 8);
        }
    }
}
// @end
// @if subset

/* A uniform integer from 0 to size - 1. */
static int below(source *from, int size) {
    int bits = 0;
    uint64_t found;
    while ((size - 1) >> bits > 0) bits++;
    do found = draw(from, bits);
    while (found >= (uint64_t)size);
    return (int)found;
}
// @end
// @if hash

static uint64_t rotated(uint64_t word, int bits) {
    return word << bits | word >> (64 - bits);
}

/* XXH64 of the item as eight bytes, little-endian. */
static uint64_t hashed(uint64_t item, uint64_t seed) {
    uint64_t state = rotated(item * UINT64_C(14029467366897019727), 31) * UINT64_C(11400714785074694791);
    state = rotated(state ^ (seed + UINT64_C(2870177450012600269)), 27) * UINT64_C(11400714785074694791);
    state += UINT64_C(9650029242287828579);
    state = (state ^ state >> 33) * UINT64_C(14029467366897019727);
    state = (state ^ state >> 29) * UINT64_C(1609587929392839161);
    return state ^ state >> 32;
}
// @end

int @core@_from(int64_t item, int (*source_fill)(void *, unsigned char *, size_t), void *state, unsigned char *report) {
    source opened, *from = &opened;
    unsigned char found[REPORT_BYTES] = {0};
    opened.fill = source_fill;
    opened.state = state;
    opened.failed = 0;
    if (item < 0 || item >= COUNT) return @guard@_BAD_INPUT;
    {
// @if response
        write_number(found, REPORT_BYTES, choose(from, (uint64_t)item));
// @end
// @if unary
        coins(from, found, (int)item);
// @end
// @if hashing
        uint64_t seed = draw(from, 64);
        write_number(found, 8, seed);
        write_number(found + 8, REPORT_BYTES - 8, choose(from, hashed((uint64_t)item, seed) % GROUPS));
// @end
// @if subset
        int others[COUNT - 1], place, holds = draw(from, BITS) < OWN;
        for (place = 0; place < COUNT - 1; place++) others[place] = ((int)item + 1 + place) % COUNT;
        for (place = 0; place < SUBSET; place++) {
            int chosen = place + below(from, COUNT - 1 - place), other = others[chosen];
            others[chosen] = others[place];
            others[place] = other;
        }
        if (holds) others[SUBSET - 1] = (int)item;
        for (place = 0; place < SUBSET; place++) {
            int member = others[place];
            found[member / 8] = (unsigned char)(found[member / 8] | 1 << member % 8);
        }
// @end
// @if hadamard
        uint64_t row = (uint64_t)item / BLOCKS + 1, group = choose(from, 2 * ((uint64_t)item % BLOCKS));
        uint64_t place = draw(from, PLACE_BITS), rest, parity = 0;
        for (rest = place & row; rest > 0; rest >>= 1) parity ^= rest & 1;
        if (parity != (group & 1)) place ^= row & (~row + 1);
        write_number(found, REPORT_BYTES, group >> 1 << PLACE_BITS | place);
// @end
// @if sketch
        uint64_t seed = draw(from, @function_bits@);
        write_number(found, @head@, seed);
        coins(from, found + @head@, (int)(hashed((uint64_t)item, seed) % WIDTH));
// @end
    }
    if (opened.failed) return @guard@_NO_RANDOMNESS;
    memcpy(report, found, REPORT_BYTES);
    return @guard@_OK;
}

// @include randomness/pool.c

static int from_pool(void *state, unsigned char *bytes, size_t count) {
    (void)state;
    return take(bytes, count);
}

int @core@(int64_t item, unsigned char *report) {
    return @core@_from(item, from_pool, NULL, report);
}
// @if input_labels

// @include labels/places.c

int @stem@_from(const char *x, int (*source_fill)(void *, unsigned char *, size_t), void *state, unsigned char *report) {
    return @core@_from(@stem@_place_of(x), source_fill, state, report);
}

int @stem@(const char *x, unsigned char *report) {
    return @stem@_from(x, from_pool, NULL, report);
}
// @end
