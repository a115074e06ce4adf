/* Reports: the sampling rules of FORMAT.md. */
#include "internal.h"

enum { AT_ONCE = 256, NONE = -1 };

/* Random bytes: what fill gives, or those that are set apart for a report. */
typedef struct {
    mdp_fill *fill;
    void *state;
    const unsigned char *next;
    size_t left;
    unsigned char *block; /* where so many are allotted, also for reports that come later */
    size_t allotted, later;
    int failed;
} source;

/* Bytes are erased in the block once they are used, and before more are allotted. */
static void erase(source *from) {
    if (from->allotted > 0) memset(from->block, 0, from->allotted);
    from->allotted = from->later = from->left = 0;
}

static void allot(source *from, size_t count) {
    erase(from);
    from->next = from->block = mdp_allot(count);
    if (from->block == NULL) from->failed = 1;
    from->allotted = from->later = from->block == NULL ? 0 : count;
}

/* More bytes than were set apart, from the block, or from fill in `own`; 0 once there are none. */
static const unsigned char *more_bytes(source *from, unsigned char *own, size_t count) {
    if (from->fill == NULL) {
        allot(from, AT_ONCE);
        from->left = from->later;
        from->later = 0;
    } else if (!from->failed)
        from->failed = from->fill(from->state, own, count) != 0;
    if (from->failed) memset(own, 0, count);
    return from->left > 0 ? from->next : own;
}

/* The low bits of as few whole bytes as hold them. */
static inline uint64_t bits_from(source *from, int bits) {
    unsigned char own[8];
    size_t count = mdp_bytes_for(bits);
    const unsigned char *bytes = count <= from->left ? from->next : more_bytes(from, own, count);
    uint64_t number;
    if (bytes != own) {
        from->next += count;
        from->left -= count;
    }
    if (bits == 32)
        return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    number = mdp_get(bytes, count);
    return bits < 64 ? number & ((UINT64_C(1) << bits) - 1) : number;
}

/* Which of the counts in a row. */
static int64_t count_from(source *from, const mdp_table *t) { return (int64_t)bits_from(from, t->bits); }

/* A uniform integer from 0 to size - 1. */
static int64_t below(source *from, int64_t size) {
    int bits = mdp_bit_length(size - 1);
    int64_t number;
    do number = (int64_t)bits_from(from, bits);
    while (number >= size);
    return number;
}

/* True with exactly this probability: its binary digits are compared with random ones. */
static int happens(source *from, double probability) {
    while (probability > 0) {
        int64_t digits, number;
        probability *= 4294967296.0;
        digits = (int64_t)probability;
        number = (int64_t)bits_from(from, 32);
        if (number != digits) return number < digits;
        probability -= (double)digits;
    }
    return 0;
}

/* An integer next to z with mean exactly z. */
static int64_t whole_number(source *from, double z) {
    double size = z < 0 ? -z : z;
    int64_t number = (int64_t)size;
    number += happens(from, size - (double)number);
    return z < 0 ? -number : number;
}

/* The last of the sums, the first of which is 0, that is at most `count`. */
static size_t pick(const int64_t *cumulative, size_t places, int64_t count) {
    size_t low = 0, half;
    for (; places > 1; places -= half) {
        half = places / 2;
        low += half *
               (size_t)(cumulative[low + half] <= count); /* a branch would be guessed wrong half the time */
    }
    return low;
}

/* How many of the numbers are less than x. */
static size_t less_than(const double *numbers, size_t count, double x) {
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (numbers[middle] < x)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* The place of a number among those that increase, or none. */
static int64_t place_among(const double *numbers, size_t count, double x) {
    size_t place = less_than(numbers, count, x);
    return place < count && numbers[place] == x ? (int64_t)place : NONE;
}

/* The place whose sums in the row that starts at `start` enclose `count`: W_j = N_j + min(max(G_j - s, 0),
 * E). */
static size_t enclosing(const mdp_table *t, int64_t start, int64_t count) {
    size_t low = 0, high = t->report_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        int64_t more = t->gained[middle] - start;
        if (more < 0) more = 0;
        if (more > t->extra) more = t->extra;
        if (t->reached[middle] + more <= count)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t window(const mdp_table *t, double x, source *from) {
    size_t row = less_than(t->thresholds, t->row_count - 1, x);
    return enclosing(t, t->starts[row], count_from(from, t));
}

static size_t unbiased(const mdp_table *t, double x, source *from) {
    int64_t place = whole_number(from, (x - t->offset) * t->scale);
    size_t row = pick(t->means, t->row_count - 1, place);
    if (below(from, t->means[row + 1] - t->means[row]) < place - t->means[row]) row++;
    return enclosing(t, t->starts[row], count_from(from, t));
}

static double clamped(const mdp_table *t, double y) {
    if (t->clamp != NULL && y < t->clamp[0]) return t->clamp[0];
    return t->clamp != NULL && y > t->clamp[1] ? t->clamp[1] : y;
}

static double pieces(const mdp_table *t, double x, source *from) {
    double place = (x - t->offset) * t->scale;
    int64_t start, cell, outside = t->cells - t->inside;
    if (t->is_circle) {
        start = (int64_t)place;
        if ((double)start > place) start--;
        start %= t->cells;
        if (start < 0) start += t->cells;
    } else {
        if (place < 0) place = 0;
        if (place > (double)outside) place = (double)outside;
        start = (int64_t)place;
    }
    if (count_from(from, t) < t->weight)
        cell = below(from, t->inside);
    else
        cell = t->inside + below(from, outside);
    return clamped(t, ((double)(t->first + (start + cell) % t->cells) + 0.5) * t->step);
}

static double additive(const mdp_table *t, double x, source *from) {
    int64_t place = whole_number(from, (x - t->offset) * t->scale), blocks, size, negative;
    do {
        negative = (int64_t)bits_from(from, 1);
        for (blocks = 0; count_from(from, t) < t->tail && !from->failed;) blocks++;
        size = (int64_t)pick(t->cumulative, (size_t)t->block, count_from(from, t));
        size += blocks * t->block;
    } while (negative && size == 0);
    return clamped(t, t->offset + (double)(negative ? place - size : place + size) * t->step);
}

/* One of the groups by one draw: `own` counts of 2^bits are for mine, `other` for each other one. A branch
 * would be guessed wrong half the time, and short numbers are divided sooner. */
static uint64_t choose(const mdp_table *t, source *from, uint64_t mine) {
    uint64_t count = bits_from(from, t->bits), own = (uint64_t)t->own, other = (uint64_t)t->other;
    uint64_t is_other = count >= own, beyond = is_other * (count - own);
    mine += is_other + (t->bits > 32 ? beyond / other : (uint32_t)beyond / (uint32_t)other);
    return mine < (uint64_t)t->groups ? mine : mine - (uint64_t)t->groups;
}

/* Bit v of a report is bit v % 8 of its byte v / 8. */
static void set(unsigned char *report, int64_t bit, int value) {
    report[bit / 8] = (unsigned char)(report[bit / 8] | value << bit % 8);
}

/* Bits, each 1 with `own` (mine) or `other` counts of 2^bits. */
static void coins(const mdp_table *t, source *from, unsigned char *report, int64_t mine) {
    int64_t place;
    memset(report, 0, mdp_bytes_for((int)t->width));
    for (place = 0; place < t->width; place++)
        set(report, place, count_from(from, t) < (place == mine ? t->own : t->other));
}

static void subset(const mdp_table *t, source *from, unsigned char *report, int64_t item) {
    uint16_t others[16384];
    int64_t count = (int64_t)t->point_count, place;
    int holds = count_from(from, t) < t->own;
    for (place = 0; place < count - 1; place++) others[place] = (uint16_t)((item + 1 + place) % count);
    for (place = 0; place < t->members; place++) {
        int64_t chosen = place + below(from, count - 1 - place);
        uint16_t other = others[chosen];
        others[chosen] = others[place];
        others[place] = other;
    }
    if (holds) others[t->members - 1] = (uint16_t)item;
    memset(report, 0, t->report_count);
    for (place = 0; place < t->members; place++) set(report, others[place], 1);
}

static uint64_t hadamard(const mdp_table *t, source *from, uint64_t item) {
    uint64_t blocks = (uint64_t)t->blocks, row = item / blocks + 1,
             group = choose(t, from, 2 * (item % blocks));
    uint64_t place = bits_from(from, t->seed_bits), rest, parity = 0;
    for (rest = place & row; rest > 0; rest >>= 1) parity ^= rest & 1;
    if (parity != (group & 1)) place ^= row & (~row + 1);
    return group >> 1 << t->seed_bits | place;
}

static uint64_t rotated(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

/* XXH64 of the item as eight bytes, little-endian. */
static uint64_t hashed(uint64_t item, uint64_t seed) {
    uint64_t state = rotated(item * UINT64_C(14029467366897019727), 31) * UINT64_C(11400714785074694791);
    state = rotated(state ^ (seed + UINT64_C(2870177450012600269)), 27) * UINT64_C(11400714785074694791);
    state += UINT64_C(9650029242287828579);
    state = (state ^ state >> 33) * UINT64_C(14029467366897019727);
    state = (state ^ state >> 29) * UINT64_C(1609587929392839161);
    return state ^ state >> 32;
}

/* An item, the place of a point, or 0 for numbers of an interval; none for what is no input. */
static int64_t place_of_input(const mdp_table *t, double x) {
    if (t->points != NULL) return place_among(t->points, t->point_count, x);
    if (!(t->lower <= x && x <= t->upper)) return NONE;
    if (t->point_count == 0) return 0;
    return (double)(int64_t)x == x ? (int64_t)x : NONE;
}

/* Writes mdp_report_size bytes. */
static int draw(const mdp_table *t, double x, source *from, unsigned char *report) {
    size_t size = t->report_count, head;
    int64_t place = place_of_input(t, x);
    uint64_t item = (uint64_t)place, seed;
    double number = 0;
    if (place < 0) return MDP_BAD_INPUT;
    switch (t->kind) {
    case MDP_WINDOW: number = t->reports[window(t, x, from)]; break;
    case MDP_UNBIASED: number = t->reports[unbiased(t, x, from)]; break;
    case MDP_FINITE: number = t->reports[pick(t->cumulative + item * size, size, count_from(from, t))]; break;
    case MDP_PIECES: number = pieces(t, x, from); break;
    case MDP_ADDITIVE: number = additive(t, x, from); break;
    case MDP_RESPONSE: mdp_put(report, size, choose(t, from, item)); break;
    case MDP_UNARY: coins(t, from, report, place); break;
    case MDP_HASHING:
        seed = bits_from(from, 64);
        mdp_put(report, 8, seed);
        mdp_put(report + 8, size - 8, choose(t, from, hashed(item, seed) % (uint64_t)t->groups));
        break;
    case MDP_SUBSET: subset(t, from, report, place); break;
    case MDP_HADAMARD: mdp_put(report, size, hadamard(t, from, item)); break;
    default:
        head = size - mdp_bytes_for((int)t->width);
        seed = bits_from(from, t->seed_bits);
        mdp_put(report, head, seed);
        coins(t, from, report + head, (int64_t)(hashed(item, seed) % (uint64_t)t->width));
    }
    if (t->kind < MDP_RESPONSE) memcpy(report, &number, sizeof number);
    return from->failed ? MDP_NO_RANDOMNESS : MDP_OK;
}

MDP_SHARED size_t mdp_report_size(const mdp_table *table) {
    return table->kind >= MDP_RESPONSE ? table->report_count : sizeof(double);
}

MDP_SHARED int mdp_sample_codes(const mdp_table *table, const double *x, size_t count, mdp_fill *fill,
                                void *state, unsigned char *reports) {
    source from = {NULL, NULL, NULL, 0, NULL, 0, 0, 0};
    size_t size = mdp_report_size(table), enough = table->enough;
    size_t most = enough < AT_ONCE ? AT_ONCE / enough : 1, i;
    int outcome = MDP_OK;
    from.fill = fill;
    from.state = state;
    for (i = 0; i < count && outcome == MDP_OK; i++) {
        size_t left = count - i;
        if (fill == NULL && from.later == 0) allot(&from, enough * (left < most ? left : most));
        if (from.later > 0) {
            from.next += from.left;
            from.left = enough;
            from.later -= enough;
        }
        outcome = from.failed ? MDP_NO_RANDOMNESS : draw(table, x[i], &from, reports + i * size);
    }
    erase(&from);
    if (outcome != MDP_OK) memset(reports, 0, count * size);
    return outcome;
}

MDP_SHARED int mdp_draw(const mdp_table *table, double x, mdp_fill *fill, void *state, mdp_report *y) {
    unsigned char report[MDP_LONGEST_REPORT];
    int outcome = mdp_sample_codes(table, &x, 1, fill, state, report);
    if (outcome != MDP_OK) return outcome;
    y->size = table->kind >= MDP_RESPONSE ? table->report_count : 0;
    y->number = 0;
    y->label = NULL;
    if (y->size > 0)
        memcpy(y->bytes, report, y->size);
    else
        memcpy(&y->number, report, sizeof y->number);
    if (table->outputs.count > 0)
        y->label = mdp_output_label(table, (size_t)mdp_report_place(table, y->number));
    return MDP_OK;
}

MDP_SHARED int mdp_sample_code(const mdp_table *table, double x, mdp_report *y) {
    return mdp_draw(table, x, NULL, NULL, y);
}

MDP_SHARED int mdp_sample(const mdp_table *table, double x, mdp_report *y) {
    return mdp_sample_code(table, table->inputs.count > 0 ? NAN : x, y);
}

MDP_SHARED int mdp_sample_label(const mdp_table *table, const char *x, mdp_report *y) {
    return mdp_sample_code(table, mdp_code_of(table, x), y);
}

/* The number by which a file calls an input label; none for other texts. */
MDP_SHARED double mdp_code_of(const mdp_table *table, const char *label) {
    int32_t place = mdp_place_of(&table->inputs, label);
    if (place < 0) return NAN;
    return table->points == NULL ? place : table->points[place];
}

/* The place of an output, or -1. */
MDP_SHARED int64_t mdp_report_place(const mdp_table *table, double y) {
    return table->reports == NULL ? NONE : place_among(table->reports, table->report_count, y);
}
