/* Tables from their files. What is refused is what reports could not be drawn from: shapes that
 * do not fit, and numbers by which a sum would overflow or a search would not end. */
#include "internal.h"

#define FAR (INT64_C(1) << 62)

enum { LONGEST_FILE = 1 << 26, LARGEST_ELEMENT = sizeof(char *) + sizeof(mdp_label) };

static void require(mdp_table *t, int is_right) {
    if (!is_right) t->outcome = MDP_BAD_FILE;
}

/* There is room for every element of a list in the file. */
static void *room(mdp_table *t, size_t size) {
    void *found = t->memory;
    t->memory += size;
    return found;
}

static const char *member(const mdp_table *t, const char *key) { return mdp_json_member(t->read, key); }

/* The whole number of a key, from least to most; least where it is none. */
static int64_t integer(mdp_table *t, const char *key, int64_t least, int64_t most) {
    int64_t number;
    if (mdp_json_integer(member(t, key), least, most, &number)) return number;
    require(t, 0);
    return least;
}

static double decimal(mdp_table *t, const char *key) {
    double number = 0;
    require(t, mdp_json_decimal(member(t, key), &number));
    return number;
}

/* A list of whole numbers, or of decimals: 64 bits each. */
static void *numbers(mdp_table *t, const char *list, int are_whole, size_t *count) {
    void *found = room(t, 0), *to;
    require(t, list != NULL && *list == '[');
    *count = 0;
    for (list = mdp_json_first(list); list != NULL; list = mdp_json_next(list)) {
        to = room(t, 8);
        require(t,
                are_whole ? mdp_json_integer(list, -INT64_MAX, INT64_MAX, to) : mdp_json_decimal(list, to));
        ++*count;
    }
    return found;
}

static int64_t *integers(mdp_table *t, const char *key, size_t *count) {
    return numbers(t, member(t, key), 1, count);
}

/* At least one, each larger than the one before. */
static double *increasing(mdp_table *t, const char *key, size_t *count) {
    double *found = numbers(t, member(t, key), 0, count);
    size_t i;
    require(t, *count > 0);
    for (i = 1; i < *count; i++) require(t, found[i - 1] < found[i]);
    return found;
}

/* Counts from 1 on become the sums of those before them; returns the sum of all, at most `most`. */
static int64_t accumulate(mdp_table *t, int64_t *counts, size_t count, int64_t most) {
    int64_t sum = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        int64_t own = counts[i];
        require(t, own >= 1 && own <= most - sum);
        counts[i] = sum;
        if (t->outcome == MDP_OK) sum += own;
    }
    return sum;
}

/* The cumulative counts of a list that are all of a row. */
static int64_t *row(mdp_table *t, const char *list, size_t *count) {
    int64_t *found = numbers(t, list, 1, count);
    require(t, accumulate(t, found, *count, t->whole) == t->whole);
    return found;
}

/* In units of a law, inputs are whole numbers below `most` once they are rounded. */
static void require_places(mdp_table *t, double most) {
    double low = (t->lower - t->offset) * t->scale, high = (t->upper - t->offset) * t->scale;
    require(t, low > -most && low < most && high > -most && high < most);
}

/* How often something of this chance can happen in a row before that is less likely than 2^-64. */
static size_t repeats(double chance) {
    size_t count = 0;
    double all = 1;
    for (; all > 5.421010862427522e-20 && count < MDP_POOL; count++) all *= chance;
    return count;
}

/* All but 2^-64 of uniform numbers below a count are found in so many bytes. */
static size_t bytes_below(int64_t count) {
    int bits = mdp_bit_length(count - 1);
    double rejected = 1 - ldexp((double)count, -bits);
    return mdp_bytes_for(bits) * (rejected > 0 ? repeats(rejected) : 1);
}

static void read_domain(mdp_table *t) {
    const char *kind = member(t, "kind");
    if (t->kind >= MDP_RESPONSE) {
        int has_bits = t->kind == MDP_UNARY || t->kind == MDP_SUBSET;
        require(t, mdp_json_is(kind, "\"items\""));
        t->point_count = (size_t)integer(t, "count", 2, has_bits ? 16384 : 65536);
        t->upper = (double)t->point_count - 1;
    } else if (t->kind == MDP_FINITE) {
        require(t, mdp_json_is(kind, "\"finite\""));
        t->points = increasing(t, "points", &t->point_count);
    } else {
        t->is_circle = t->kind == MDP_PIECES && mdp_json_is(kind, "\"circle\"");
        require(t, t->is_circle || mdp_json_is(kind, "\"interval\""));
        t->lower = t->is_circle ? 0 : decimal(t, "lower");
        t->upper = decimal(t, t->is_circle ? "period" : "upper");
        require(t, t->lower < t->upper);
    }
}

/* Rows that are one row, filled from different starts. */
static void read_started(mdp_table *t) {
    size_t counts, caps, starts, i;
    int64_t most;
    t->reports = increasing(t, "outputs", &t->report_count);
    t->reached = integers(t, "base", &counts);
    t->gained = integers(t, "caps", &caps);
    t->starts = integers(t, "starts", &starts);
    require(t, counts == t->report_count && caps == t->report_count && starts == t->row_count);
    if (t->outcome != MDP_OK) return;
    t->extra = t->whole - accumulate(t, t->reached, counts, t->whole);
    most = accumulate(t, t->gained, caps, INT64_MAX) - t->whole; /* G_m - E */
    for (i = 0; i < caps; i++) {
        t->gained[i] -= t->reached[i];
        require(t, t->gained[i] >= t->gained[i > 0 ? i - 1 : 0]);
    }
    require(t, most + t->extra >= t->gained[caps - 1]);
    for (i = 0; i < starts; i++) require(t, t->starts[i] >= 0 && t->starts[i] <= most);
}

static void read_window(mdp_table *t) {
    t->thresholds = numbers(t, member(t, "thresholds"), 0, &t->row_count);
    t->row_count++;
    read_started(t);
}

static void read_unbiased(mdp_table *t) {
    size_t longest = 0, i;
    t->means = integers(t, "means", &t->row_count);
    t->offset = decimal(t, "offset");
    t->scale = ldexp(1, (int)integer(t, "shift", -t->bits, 1000 - t->bits) + t->bits);
    require(t, t->row_count >= 2);
    require_places(t, (double)FAR);
    for (i = 1; i < t->row_count; i++) {
        int64_t low = t->means[i - 1], high = t->means[i];
        size_t bytes = 0;
        require(t, -FAR < low && low < high && high < FAR);
        if (t->outcome == MDP_OK) bytes = bytes_below(high - low);
        if (bytes > longest) longest = bytes;
    }
    t->enough += 8 + longest;
    read_started(t);
}

static void read_finite(mdp_table *t) {
    const char *list = mdp_json_first(member(t, "rows"));
    size_t rows, count;
    t->reports = increasing(t, "outputs", &t->report_count);
    t->cumulative = room(t, 0); /* one row after the other */
    for (rows = 0; list != NULL; list = mdp_json_next(list), rows++) {
        row(t, list, &count);
        require(t, count == t->report_count);
    }
    require(t, rows == t->point_count);
}

static void read_clamp(mdp_table *t) {
    size_t count;
    if (mdp_json_is(member(t, "clamp"), "null")) return;
    t->clamp = increasing(t, "clamp", &count);
    require(t, count == 2);
}

static void read_pieces(mdp_table *t) {
    size_t inside, outside;
    t->cells = integer(t, "cells", 2, INT64_C(1) << 40);
    t->inside = integer(t, "inside", 1, t->cells - 1);
    t->weight = integer(t, "weight", 0, t->whole);
    t->first = integer(t, "first", -(INT64_C(1) << 51), INT64_C(1) << 51);
    t->step = decimal(t, "step");
    t->offset = decimal(t, "anchor");
    t->scale = decimal(t, "scale");
    read_clamp(t);
    require_places(t, 4503599627370496.0);
    inside = bytes_below(t->inside);
    outside = bytes_below(t->cells - t->inside);
    t->enough += inside > outside ? inside : outside;
}

static void read_additive(mdp_table *t) {
    int shift = (int)integer(t, "shift", -1000, 1000);
    double further, zero;
    size_t count;
    t->cumulative = row(t, member(t, "weights"), &count);
    t->block = (int64_t)count;
    require(t, integer(t, "most", -FAR, FAR) == integer(t, "least", -FAR, FAR) + t->block);
    /* noise ends within a block with a chance of at least 2^-16: nobody draws for ever */
    t->tail = integer(t, "tail", 1, t->whole - 1 - ((t->whole - 1) >> 16));
    t->offset = decimal(t, "offset");
    t->scale = ldexp(1, shift);
    t->step = ldexp(1, -shift);
    read_clamp(t);
    require_places(t, (double)FAR);
    further = (double)t->tail / (double)t->whole;
    zero = (double)(count > 1 ? t->cumulative[1] : t->whole) / (double)t->whole * (1 - further);
    t->enough = 8 + (1 + repeats(zero / 2)) * (1 + 2 * t->enough) + (1 + repeats(further)) * t->enough;
}

/* Of the counts for 0 and for 1, those for 1. */
static int64_t ones(mdp_table *t, const char *key) {
    size_t count;
    int64_t *pair = row(t, member(t, key), &count);
    require(t, count == 2);
    return t->outcome == MDP_OK ? t->whole - pair[1] : 0;
}

static void read_coins(mdp_table *t, int64_t width) {
    t->width = width;
    t->enough *= (size_t)width;
    t->report_count = mdp_bytes_for((int)width);
    t->own = ones(t, "own_bit");
    t->other = ones(t, "other_bit");
}

/* Counts of one's own group and of each other one, so many together as a row has. */
static void read_groups(mdp_table *t, int64_t groups) {
    t->groups = groups;
    t->own = integer(t, "own", 1, t->whole - 1);
    t->other = integer(t, "other", 1, (t->whole - t->own) / (groups - 1));
    require(t, t->own + (groups - 1) * t->other == t->whole);
}

static void read_items(mdp_table *t) {
    int64_t count = (int64_t)t->point_count, left;
    switch (t->kind) {
    case MDP_RESPONSE:
        read_groups(t, count);
        t->report_count = mdp_bytes_of(count);
        break;
    case MDP_UNARY: read_coins(t, count); break;
    case MDP_HASHING:
        read_groups(t, integer(t, "hashes", 2, INT64_C(1) << 31));
        t->report_count = 8 + mdp_bytes_of(t->groups);
        t->seed_bits = 64;
        break;
    case MDP_SUBSET:
        read_groups(t, 2);
        t->members = integer(t, "subset", 1, count - 1);
        t->report_count = mdp_bytes_for((int)count);
        for (left = count - 1; left > count - 1 - t->members; left--)
            t->enough += mdp_bytes_for(mdp_bit_length(left - 1));
        break;
    case MDP_HADAMARD:
        t->blocks = integer(t, "blocks", 1, 65536);
        require(t, (t->blocks & (t->blocks - 1)) == 0);
        read_groups(t, 2 * t->blocks);
        t->seed_bits = mdp_bit_length((count + t->blocks - 1) / t->blocks);
        t->report_count = mdp_bytes_of(t->blocks << t->seed_bits);
        break;
    default:
        t->seed_bits = mdp_bit_length(integer(t, "functions", 2, 1024) - 1);
        require(t, integer(t, "functions", 2, 1024) == INT64_C(1) << t->seed_bits);
        read_coins(t, integer(t, "buckets", 2, 16384));
        t->report_count += mdp_bytes_of(INT64_C(1) << t->seed_bits);
    }
    t->enough += mdp_bytes_for(t->seed_bits);
}

static int earlier(const void *first, const void *second) {
    return strcmp(((const mdp_label *)first)->text, ((const mdp_label *)second)->text);
}

/* The texts by which inputs or outputs are called, so many as there are: written over what the file has. */
static void read_labels(mdp_table *t, const char *list, size_t expected, mdp_labels *found) {
    const char *text, *next;
    size_t count = 0, i;
    if (mdp_json_is(list, "null")) return;
    for (text = mdp_json_first(list); text != NULL; text = mdp_json_next(text)) count++;
    require(t, count == expected && count > 0);
    if (t->outcome != MDP_OK) return;
    found->texts = room(t, expected * sizeof *found->texts);
    found->sorted = room(t, expected * sizeof *found->sorted);
    for (i = 0, text = mdp_json_first(list); i < expected; i++, text = next) {
        next = mdp_json_next(text);
        require(t, mdp_json_text((char *)text));
        found->texts[i] = found->sorted[i].text = text;
        found->sorted[i].place = (int32_t)i;
    }
    qsort(found->sorted, expected, sizeof *found->sorted, earlier);
    for (i = 1; i < expected; i++) require(t, earlier(found->sorted + i - 1, found->sorted + i) < 0);
    found->count = expected;
}

static void read_table(mdp_table *t, const char *file) {
    static const struct {
        const char *name;
        void (*read)(mdp_table *t);
    } kinds[] = {{"\"window\"", read_window},  {"\"unbiased\"", read_unbiased}, {"\"finite\"", read_finite},
                 {"\"pieces\"", read_pieces},  {"\"additive\"", read_additive}, {"\"response\"", read_items},
                 {"\"unary\"", read_items},    {"\"hashing\"", read_items},     {"\"subset\"", read_items},
                 {"\"hadamard\"", read_items}, {"\"sketch\"", read_items}};
    const char *kind;
    t->read = file;
    require(t, mdp_json_is(member(t, "format"), "\"mechdesign table\"") &&
                   mdp_json_is(member(t, "version"), "2"));
    require(t, mdp_json_hash(member(t, "sha256"), t->hash));
    t->bits = (int)integer(t, "bits", 1, 62);
    t->whole = INT64_C(1) << t->bits;
    t->enough = mdp_bytes_for(t->bits);
    kind = member(t, "kind");
    while (t->kind < MDP_KINDS && !mdp_json_is(kind, kinds[t->kind].name)) t->kind++;
    require(t, t->kind < MDP_KINDS);
    if (t->outcome != MDP_OK) return;
    t->read = mdp_json_member(file, "domain");
    read_domain(t);
    t->read = mdp_json_member(file, "law");
    kinds[t->kind].read(t);
    if (t->enough > MDP_POOL) t->enough = MDP_POOL;
    t->read = mdp_json_member(file, "labels");
    if (!mdp_json_is(t->read, "null")) {
        const char *inputs = member(t, "inputs"), *outputs = member(t, "outputs");
        read_labels(t, inputs, t->point_count, &t->inputs);
        read_labels(t, outputs, t->kind == MDP_FINITE ? t->report_count : 0, &t->outputs);
    }
}

MDP_SHARED int mdp_table_read(const char *json, size_t length, mdp_table **table) {
    size_t size = (length / sizeof(double) + 1) * sizeof(double), elements = 0, i;
    mdp_table *t;
    char *copy;
    if (json == NULL || length > LONGEST_FILE) return MDP_BAD_FILE;
    for (i = 0; i < length; i++) elements += json[i] == ',' || json[i] == '[';
    t = calloc(1, sizeof *t + size + elements * LARGEST_ELEMENT);
    if (t == NULL) return MDP_NO_MEMORY;
    copy = (char *)(t + 1);
    t->memory = copy + size;
    require(t, mdp_json_read(copy, json, length));
    if (t->outcome == MDP_OK) read_table(t, copy);
    if (t->outcome == MDP_OK) {
        *table = t;
        return MDP_OK;
    }
    free(t);
    return MDP_BAD_FILE;
}

MDP_SHARED void mdp_table_free(mdp_table *table) { free(table); }

MDP_SHARED size_t mdp_input_count(const mdp_table *table) { return table->inputs.count; }

MDP_SHARED size_t mdp_output_count(const mdp_table *table) { return table->outputs.count; }

MDP_SHARED const char *mdp_input_label(const mdp_table *table, size_t place) {
    return place < table->inputs.count ? table->inputs.texts[place] : NULL;
}

MDP_SHARED const char *mdp_output_label(const mdp_table *table, size_t place) {
    return place < table->outputs.count ? table->outputs.texts[place] : NULL;
}

MDP_SHARED int32_t mdp_place_of(const mdp_labels *labels, const char *text) {
    const mdp_label *low = labels->sorted;
    size_t size = labels->count;
    if (size == 0 || text == NULL) return -1;
    while (size > 1) {
        size_t half = size / 2;
        if (strcmp(low[half].text, text) <= 0) low += half;
        size -= half;
    }
    return strcmp(low->text, text) == 0 ? low->place : -1;
}

MDP_SHARED int32_t mdp_input_place(const mdp_table *table, const char *label) {
    return mdp_place_of(&table->inputs, label);
}
