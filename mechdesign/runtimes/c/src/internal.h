/* What the sources share. */
#ifndef MECHDESIGN_INTERNAL_H
#define MECHDESIGN_INTERNAL_H

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#if !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include "mechdesign.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || FLT_EVAL_METHOD != 0
#error "doubles must be IEEE-754 and evaluated in their own precision (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif
#if defined(__FAST_MATH__)
#error "do not compile with -ffast-math: places of inputs would be rounded differently"
#endif

/* Before each function that is not of its file alone. Libraries that each hold this version of the runtime
 * may be linked into one program: one copy is used. */
#if defined(__GNUC__) && !defined(_WIN32)
#define MDP_SHARED __attribute__((weak))
#else
#define MDP_SHARED
#endif

/* Numbers are little-endian wherever they are bytes. */
static inline uint64_t mdp_get(const unsigned char *bytes, size_t count) {
    uint64_t number = 0;
    while (count-- > 0) number = number << 8 | bytes[count];
    return number;
}

static inline void mdp_put(unsigned char *bytes, size_t count, uint64_t number) {
    size_t i;
    for (i = 0; i < count; i++) bytes[i] = (unsigned char)(number >> 8 * i & 255);
}

static inline int mdp_bit_length(int64_t number) {
    int bits = 0;
    while (bits < 63 && number >> bits > 0) bits++;
    return bits;
}

static inline size_t mdp_bytes_for(int bits) { return (size_t)(bits + 7) / 8; }

/* The bytes of a number below `count`: at least one. */
static inline size_t mdp_bytes_of(int64_t count) {
    return count < 2 ? 1 : mdp_bytes_for(mdp_bit_length(count - 1));
}

int mdp_json_read(char *copy, const char *text, size_t length);
const char *mdp_json_member(const char *object, const char *key);
const char *mdp_json_first(const char *array);
const char *mdp_json_next(const char *element);
int mdp_json_is(const char *value, const char *text);
int mdp_json_integer(const char *value, int64_t least, int64_t most, int64_t *number);
int mdp_json_decimal(const char *value, double *number);
int mdp_json_hash(const char *value, unsigned char *hash);
int mdp_json_text(char *value);

enum mdp_kind {
    MDP_WINDOW,
    MDP_UNBIASED,
    MDP_FINITE,
    MDP_PIECES,
    MDP_ADDITIVE,
    MDP_RESPONSE, /* from here on inputs are items, and reports bytes */
    MDP_UNARY,
    MDP_HASHING,
    MDP_SUBSET,
    MDP_HADAMARD,
    MDP_SKETCH,
    MDP_KINDS
};

enum { MDP_POOL = 4096 };

typedef struct {
    const char *text;
    int32_t place;
} mdp_label;

typedef struct {
    const char **texts;
    mdp_label *sorted; /* in the order of their bytes */
    size_t count;
} mdp_labels;

struct mdp_table {
    int kind, bits, outcome; /* of reading it */
    int64_t whole;           /* 2^bits counts in a row */
    unsigned char hash[32];
    size_t enough; /* so many bytes are taken for a report */
    mdp_labels inputs, outputs;

    size_t point_count;        /* how many inputs there are: items, or */
    double *points;            /* what they are */
    double lower, upper;       /* the domain; of items and points, that of their places */
    double *reports;           /* what comes out, where it is listed */
    size_t report_count;       /* how many, or of how many bytes */
    int64_t *reached, *gained; /* window, unbiased: N_j and G_j */
    int64_t *starts, *means;   /* unbiased: E[Y] of each row in units; window: none, but */
    double *thresholds;        /* where rows begin */
    size_t row_count;
    int64_t extra;
    int64_t *cumulative;                /* finite: of every row; additive: of the magnitudes in a block */
    double offset, scale, step, *clamp; /* NULL, or the two ends of what is reported */
    int is_circle;
    int64_t cells, inside, weight, first; /* pieces */
    int64_t tail, block;                  /* additive */
    int64_t own, other, groups;     /* items: counts of one's own group, of another one, how many groups */
    int64_t width, members, blocks; /* bits of unary and sketch, items of a subset, blocks of hadamard */
    int seed_bits;                  /* sketch: log2 of the functions; hadamard: bits of a place */

    const char *read; /* while it is read: the object that is, and the free memory behind the table */
    char *memory;
};

int32_t mdp_place_of(const mdp_labels *labels, const char *text);
int64_t mdp_report_place(const mdp_table *table, double y);
double mdp_code_of(const mdp_table *table, const char *label);
int mdp_system(void *state, unsigned char *bytes, size_t count);
unsigned char *mdp_allot(size_t count);

#endif
