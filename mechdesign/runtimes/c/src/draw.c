/* Reports: the sampling rules of FORMAT.md. */
#include "internal.h"

/* So many random bytes, at hand or written to `own`; all 0 once the source has failed. */
static const unsigned char *bytes_from(mdp_source *from, unsigned char *own, size_t count) {
    if (count <= from->left) {
        const unsigned char *found = from->next;
        from->next += count;
        from->left -= count;
        return found;
    }
    from->left = 0;
    if (!from->failed && from->fill(from->state, own, count) != 0) from->failed = 1;
    if (from->failed) memset(own, 0, count);
    return own;
}

static uint64_t little_endian(const unsigned char *bytes, int bits) {
    uint64_t number;
    if (bits == 32)
        return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    number = mdp_get(bytes, (size_t)(bits + 7) / 8);
    return bits < 64 ? number & ((UINT64_C(1) << bits) - 1) : number;
}

/* The low bits of as few whole bytes as hold them. */
static uint64_t bits_from(mdp_source *from, int bits) {
    unsigned char own[8];
    if (bits == 0) return 0;
    return little_endian(bytes_from(from, own, (size_t)(bits + 7) / 8), bits);
}

/* A uniform integer from 0 to size - 1. */
static int64_t below(mdp_source *from, int64_t size) {
    int bits = 0;
    int64_t number;
    while (bits < 63 && (size - 1) >> bits > 0) bits++;
    do number = (int64_t)bits_from(from, bits);
    while (number >= size);
    return number;
}

/* True with exactly this probability: its binary digits are compared with random ones. */
static int happens(mdp_source *from, double probability) {
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
static int64_t whole_number(mdp_source *from, double z) {
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
        low += half * (size_t)(cumulative[low + half] <= count); /* a branch would be guessed wrong half the time */
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

static size_t window(const mdp_table *t, double x, mdp_source *from) {
    size_t row = less_than(t->thresholds, t->row_count - 1, x);
    return enclosing(t, t->starts[row], (int64_t)bits_from(from, t->bits));
}

static size_t unbiased(const mdp_table *t, double x, mdp_source *from) {
    int64_t place = whole_number(from, (x - t->offset) * t->scale);
    size_t row = pick(t->means, t->row_count - 1, place);
    if (below(from, t->means[row + 1] - t->means[row]) < place - t->means[row]) row++;
    return enclosing(t, t->starts[row], (int64_t)bits_from(from, t->bits));
}

static double clamped(const mdp_table *t, double y) {
    if (y < t->least) y = t->least;
    if (y > t->most) y = t->most;
    return y;
}

static double pieces(const mdp_table *t, double x, mdp_source *from) {
    double place = (x - t->anchor) * t->scale;
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
    if ((int64_t)bits_from(from, t->bits) < t->weight)
        cell = below(from, t->inside);
    else
        cell = t->inside + below(from, outside);
    return clamped(t, ((double)(t->first + (start + cell) % t->cells) + 0.5) * t->step);
}

static double additive(const mdp_table *t, double x, mdp_source *from) {
    int64_t place = whole_number(from, (x - t->offset) * t->scale), blocks, size, negative;
    do {
        negative = (int64_t)bits_from(from, 1);
        for (blocks = 0; (int64_t)bits_from(from, t->bits) < t->tail && !from->failed;) blocks++;
        size = (int64_t)pick(t->cumulative, (size_t)t->block, (int64_t)bits_from(from, t->bits));
        size += blocks * t->block;
    } while (negative && size == 0);
    return clamped(t, t->offset + (double)(negative ? place - size : place + size) * t->step);
}

/* One of the groups by one draw: `own` counts of 2^bits are for mine, `other` for each other one. */
static uint64_t choose(const mdp_table *t, mdp_source *from, uint64_t mine) {
    uint64_t count = bits_from(from, t->bits), own = (uint64_t)t->own, groups = (uint64_t)t->groups;
    if (count >= own) {
        uint64_t beyond = count - own, other = (uint64_t)t->other;
        /* short numbers are divided sooner */
        mine += 1 + (t->bits > 32 ? beyond / other : (uint32_t)beyond / (uint32_t)other);
    }
    return mine < groups ? mine : mine - groups;
}

/* Bits, each 1 with `own` (mine) or `other` counts of 2^bits; bit v is bit v % 8 of byte v / 8. */
static void coins(const mdp_table *t, mdp_source *from, unsigned char *report, int64_t mine) {
    unsigned char own[256];
    int64_t size = (t->bits + 7) / 8, at_once = (int64_t)sizeof own / size, first, place;
    memset(report, 0, (size_t)(t->width + 7) / 8);
    for (first = 0; first < t->width; first += at_once) {
        int64_t count = t->width - first < at_once ? t->width - first : at_once;
        const unsigned char *bytes = bytes_from(from, own, (size_t)(count * size));
        for (place = first; place < first + count; place++, bytes += size) {
            int64_t ones = place == mine ? t->own : t->other;
            int one = (int64_t)little_endian(bytes, t->bits) < ones;
            report[place / 8] = (unsigned char)(report[place / 8] | one << place % 8);
        }
    }
}

static void subset(const mdp_table *t, mdp_source *from, unsigned char *report, int64_t item) {
    uint16_t others[16384];
    int64_t count = (int64_t)t->point_count, place;
    int holds = (int64_t)bits_from(from, t->bits) < t->own;
    for (place = 0; place < count - 1; place++) others[place] = (uint16_t)((item + 1 + place) % count);
    for (place = 0; place < t->members; place++) {
        int64_t chosen = place + below(from, count - 1 - place);
        uint16_t other = others[chosen];
        others[chosen] = others[place];
        others[place] = other;
    }
    if (holds) others[t->members - 1] = (uint16_t)item;
    memset(report, 0, t->report_count);
    for (place = 0; place < t->members; place++) {
        uint16_t member = others[place];
        report[member / 8] = (unsigned char)(report[member / 8] | 1 << member % 8);
    }
}

static uint64_t hadamard(const mdp_table *t, mdp_source *from, uint64_t item) {
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

static void report_item(const mdp_table *t, uint64_t item, mdp_source *from, unsigned char *report) {
    size_t size = t->report_count, head;
    uint64_t seed;
    switch (t->kind) {
    case MDP_RESPONSE: mdp_put(report, size, choose(t, from, item)); break;
    case MDP_UNARY: coins(t, from, report, (int64_t)item); break;
    case MDP_HASHING:
        seed = bits_from(from, 64);
        mdp_put(report, 8, seed);
        mdp_put(report + 8, size - 8, choose(t, from, hashed(item, seed) % (uint64_t)t->groups));
        break;
    case MDP_SUBSET: subset(t, from, report, (int64_t)item); break;
    case MDP_HADAMARD: mdp_put(report, size, hadamard(t, from, item)); break;
    default:
        head = size - (size_t)(t->width + 7) / 8;
        seed = bits_from(from, t->seed_bits);
        mdp_put(report, head, seed);
        coins(t, from, report + head, (int64_t)(hashed(item, seed) % (uint64_t)t->width));
    }
}

/* The place of an output that is listed. */
static int draw_place(const mdp_table *t, double x, mdp_source *from, size_t *place) {
    if (t->kind == MDP_FINITE) {
        size_t row = less_than(t->points, t->point_count, x);
        if (row == t->point_count || t->points[row] != x) return MDP_BAD_INPUT;
        *place =
            pick(t->cumulative + row * t->report_count, t->report_count, (int64_t)bits_from(from, t->bits));
        return MDP_OK;
    }
    if (!(t->lower <= x && x <= t->upper)) return MDP_BAD_INPUT;
    *place = t->kind == MDP_WINDOW ? window(t, x, from) : unbiased(t, x, from);
    return MDP_OK;
}

static int draw_number(const mdp_table *t, double x, mdp_source *from, double *number, size_t *place) {
    if (t->reports != NULL) {
        if (draw_place(t, x, from, place) != MDP_OK) return MDP_BAD_INPUT;
        *number = t->reports[*place];
    } else {
        if (!(t->lower <= x && x <= t->upper)) return MDP_BAD_INPUT;
        *number = t->kind == MDP_PIECES ? pieces(t, x, from) : additive(t, x, from);
    }
    return from->failed ? MDP_NO_RANDOMNESS : MDP_OK;
}

static int draw_item(const mdp_table *t, double x, mdp_source *from, unsigned char *report) {
    if (!(x >= 0 && x < (double)t->point_count) || (double)(int64_t)x != x) return MDP_BAD_INPUT;
    report_item(t, (uint64_t)x, from, report);
    return from->failed ? MDP_NO_RANDOMNESS : MDP_OK;
}

static int draw(const mdp_table *t, double x, mdp_source *from, mdp_report *y) {
    unsigned char report[MDP_LONGEST_REPORT];
    int has_items = t->kind >= MDP_RESPONSE;
    double number = 0;
    size_t place = 0;
    int outcome = has_items ? draw_item(t, x, from, report) : draw_number(t, x, from, &number, &place);
    if (outcome != MDP_OK) return outcome;
    y->number = number;
    y->label = has_items ? NULL : mdp_output_label(t, place);
    y->size = has_items ? t->report_count : 0;
    memcpy(y->bytes, report, y->size);
    return MDP_OK;
}

MDP_SHARED int mdp_draw(const mdp_table *table, double x, mdp_fill *fill, void *state, mdp_report *y) {
    mdp_source from = {NULL, 0, fill, state, 0};
    return draw(table, x, &from, y);
}

enum { AT_ONCE = 16 };

/* The bytes of reports, where they are in the block. */
typedef struct {
    unsigned char *bytes;
    size_t count;
} allotment;

static void erase(allotment *own) {
    if (own->count == 4)
        memset(own->bytes, 0, 4); /* sooner done than a call */
    else
        memset(own->bytes, 0, own->count);
    own->count = 0;
}

/* More than were allotted: from here on bytes are taken one by one, and the block may be read anew. */
static int take_more(void *state, unsigned char *bytes, size_t count) {
    erase((allotment *)state);
    return mdp_take(bytes, count);
}

static int sampled(const mdp_table *table, double x, mdp_report *y) {
    allotment own;
    mdp_source from = {NULL, 0, take_more, NULL, 0};
    int outcome;
    from.left = own.count = table->enough;
    from.next = own.bytes = mdp_allot(own.count);
    from.state = &own;
    if (own.bytes == NULL) return MDP_NO_RANDOMNESS;
    outcome = draw(table, x, &from, y);
    erase(&own);
    return outcome;
}

MDP_SHARED size_t mdp_report_size(const mdp_table *table) {
    return table->kind >= MDP_RESPONSE ? table->report_count : sizeof(double);
}

static int draw_to(const mdp_table *table, double x, mdp_source *from, unsigned char *report) {
    double number;
    size_t place;
    int outcome;
    if (table->kind >= MDP_RESPONSE) return draw_item(table, x, from, report);
    outcome = draw_number(table, x, from, &number, &place);
    if (outcome == MDP_OK) memcpy(report, &number, sizeof number);
    return outcome;
}

/* Reports whose bytes are allotted together: how many were drawn before more bytes were needed, or `count`. */
static size_t sample_some(const mdp_table *table, const double *x, size_t count, unsigned char *reports,
                          int *outcome) {
    allotment own;
    mdp_source from = {NULL, 0, take_more, NULL, 0};
    size_t i, size = mdp_report_size(table);
    own.count = count * table->enough;
    own.bytes = mdp_allot(own.count);
    from.state = &own;
    *outcome = own.bytes == NULL ? MDP_NO_RANDOMNESS : MDP_OK;
    for (i = 0; i < count && *outcome == MDP_OK && own.count > 0; i++) {
        from.next = own.bytes + i * table->enough;
        from.left = table->enough;
        *outcome = draw_to(table, x[i], &from, reports + i * size);
    }
    if (own.bytes != NULL) erase(&own);
    return i;
}

MDP_SHARED int mdp_sample_codes(const mdp_table *table, const double *x, size_t count, mdp_fill *fill,
                                void *state, unsigned char *reports) {
    mdp_source from = {NULL, 0, fill, state, 0};
    size_t size = mdp_report_size(table), done = 0, most = MDP_POOL / table->enough;
    int outcome = MDP_OK;
    if (most > AT_ONCE) most = AT_ONCE;
    while (done < count && outcome == MDP_OK) {
        size_t part = count - done < most ? count - done : most;
        if (fill == NULL)
            done += sample_some(table, x + done, part, reports + done * size, &outcome);
        else {
            outcome = draw_to(table, x[done], &from, reports + done * size);
            done++;
        }
    }
    if (outcome != MDP_OK) memset(reports, 0, count * size);
    return outcome;
}

MDP_SHARED int mdp_sample_code(const mdp_table *table, double x, mdp_report *y) {
    return sampled(table, x, y);
}

MDP_SHARED int mdp_sample(const mdp_table *table, double x, mdp_report *y) {
    return sampled(table, table->inputs.count > 0 ? NAN : x, y);
}

MDP_SHARED int mdp_sample_label(const mdp_table *table, const char *x, mdp_report *y) {
    return sampled(table, mdp_code_of(table, x), y);
}

/* The number by which a file calls an input label; none for other texts. */
MDP_SHARED double mdp_code_of(const mdp_table *table, const char *label) {
    int32_t place = mdp_place_of(&table->inputs, label);
    if (place < 0) return NAN;
    return table->points == NULL ? place : table->points[place];
}

/* The place of an output, or -1. */
MDP_SHARED int64_t mdp_report_place(const mdp_table *t, double y) {
    size_t place = t->reports == NULL ? 0 : less_than(t->reports, t->report_count, y);
    return t->reports != NULL && place < t->report_count && t->reports[place] == y ? (int64_t)place : -1;
}
