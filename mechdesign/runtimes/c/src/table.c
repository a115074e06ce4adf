/* Tables from their files. What is refused is what reports could not be drawn from: shapes that
 * do not fit, and numbers by which a sum would overflow or a search would not end. */
#include "internal.h"

enum { LONGEST_FILE = 1 << 26 };

/* Memory of a table, in a list: all of it goes with the table. What is asked for begins after the block. */
struct mdp_block {
    struct mdp_block *next;
    double aligned;
};

/* A table that is read. Once something was wrong, what is read is 0. */
typedef struct {
    mdp_table *table;
    int outcome;
} reader;

static void *room(reader *r, size_t count, size_t size) {
    struct mdp_block *block = NULL;
    if (r->outcome == MDP_OK && count < SIZE_MAX / 2 / size) block = calloc(1, sizeof *block + count * size);
    if (block == NULL) {
        if (r->outcome == MDP_OK) r->outcome = MDP_NO_MEMORY;
        return NULL;
    }
    block->next = r->table->memory;
    r->table->memory = block;
    return block + 1;
}

static void require(reader *r, int is_right) {
    if (!is_right && r->outcome == MDP_OK) r->outcome = MDP_BAD_FILE;
}

static mdp_json member(reader *r, mdp_json object, const char *key) {
    static const char nothing[] = "null";
    mdp_json value = {nothing, nothing + 4};
    mdp_json found;
    if (mdp_json_member(object, key, &found)) return found;
    require(r, 0);
    return value;
}

/* The whole number of a key, from least to most; least where it is none. */
static int64_t integer(reader *r, mdp_json object, const char *key, int64_t least, int64_t most) {
    int64_t number = 0;
    int is_right = mdp_json_integer(member(r, object, key), &number) && number >= least && number <= most;
    require(r, is_right);
    return is_right ? number : least;
}

static double decimal(reader *r, mdp_json object, const char *key) {
    double number = 0;
    require(r, mdp_json_decimal(member(r, object, key), &number));
    return number;
}

/* The members of an array that hold numbers, after `before` that are 0: 64 bits wide each. */
static void *numbers(reader *r, mdp_json array, size_t before, size_t *count, int are_whole) {
    mdp_json rest = array, element;
    size_t found = 0, i;
    double *list;
    require(r, *array.at == '[');
    while (r->outcome == MDP_OK && mdp_json_next(&rest, &element)) found++;
    list = room(r, before + found, sizeof *list);
    for (i = 0, rest = array; r->outcome == MDP_OK && i < found; i++) {
        void *to = list + before + i;
        require(r, mdp_json_next(&rest, &element));
        require(r, are_whole ? mdp_json_integer(element, to) : mdp_json_decimal(element, to));
    }
    *count = r->outcome == MDP_OK ? found : 0;
    return list;
}

static double *decimals(reader *r, mdp_json object, const char *key, size_t *count) {
    return numbers(r, member(r, object, key), 0, count, 0);
}

static int64_t *integers(reader *r, mdp_json object, const char *key, size_t before, size_t *count) {
    return numbers(r, member(r, object, key), before, count, 1);
}

static void require_increasing(reader *r, const double *list, size_t count) {
    size_t i;
    for (i = 1; i < count; i++) require(r, list[i - 1] < list[i]);
}

/* Counts of at least 1 become the sums of those before them; they are all of a row. */
static void accumulate(reader *r, int64_t *counts, size_t count) {
    int64_t sum = 0;
    size_t i;
    require(r, count > 0);
    for (i = 0; i < count && r->outcome == MDP_OK; i++) {
        int64_t own = counts[i];
        require(r, own >= 1 && own <= r->table->whole - sum);
        counts[i] = sum;
        if (r->outcome == MDP_OK) sum += own;
    }
    require(r, sum == r->table->whole);
}

static double scaled(int exponent) {
    double power = 1;
    for (; exponent > 0; exponent--) power *= 2;
    for (; exponent < 0; exponent++) power /= 2;
    return power;
}

/* Places of inputs, (x - from) * scale, are whole numbers below `most` once they are rounded. */
static void require_places(reader *r, double from, double scale, double most) {
    double low = (r->table->lower - from) * scale, high = (r->table->upper - from) * scale;
    require(r, low > -most && low < most && high > -most && high < most);
}

static size_t bytes_of(int64_t count) {
    size_t bytes = 1;
    while (bytes < 8 && (count - 1) >> 8 * bytes > 0) bytes++;
    return bytes;
}

static int bits_of(int64_t number) {
    int bits = 0;
    while (bits < 63 && number >> bits > 0) bits++;
    return bits;
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
    int bits = bits_of(count - 1);
    double rejected = 1 - (double)count / scaled(bits);
    return (size_t)(bits + 7) / 8 * (rejected > 0 ? repeats(rejected) : 1);
}

static void read_domain(reader *r, mdp_json object) {
    mdp_table *t = r->table;
    mdp_json domain = member(r, object, "domain"), kind = member(r, domain, "kind");
    if (t->kind >= MDP_RESPONSE) {
        int has_bits = t->kind == MDP_UNARY || t->kind == MDP_SUBSET;
        require(r, mdp_json_is(kind, "\"items\""));
        t->point_count = (size_t)integer(r, domain, "count", 2, has_bits ? 16384 : 65536);
    } else if (t->kind == MDP_FINITE) {
        require(r, mdp_json_is(kind, "\"finite\""));
        t->points = decimals(r, domain, "points", &t->point_count);
        require(r, t->point_count > 0);
        require_increasing(r, t->points, t->point_count);
    } else if (t->kind == MDP_PIECES && mdp_json_is(kind, "\"circle\"")) {
        t->is_circle = 1;
        t->upper = decimal(r, domain, "period");
    } else {
        require(r, mdp_json_is(kind, "\"interval\""));
        t->lower = decimal(r, domain, "lower");
        t->upper = decimal(r, domain, "upper");
    }
    require(r, t->lower < t->upper || t->point_count > 0);
}

/* Rows that are one row, filled from different starts. */
static void read_started(reader *r, mdp_json law) {
    mdp_table *t = r->table;
    size_t counts, caps, starts, others, i;
    int64_t reached = 0, gained = 0;
    t->reports = decimals(r, law, "outputs", &t->report_count);
    t->reached = integers(r, law, "base", 0, &counts);
    t->gained = integers(r, law, "caps", 0, &caps);
    t->starts = integers(r, law, "starts", 0, &starts);
    require_increasing(r, t->reports, t->report_count);
    require(r, t->report_count > 0 && counts == t->report_count && caps == t->report_count);
    for (i = 0; r->outcome == MDP_OK && i < t->report_count; i++) {
        int64_t own = t->reached[i], cap = t->gained[i];
        require(r, own >= 1 && cap >= own && cap <= INT64_MAX - reached - gained);
        if (r->outcome != MDP_OK) return;
        t->reached[i] = reached;
        t->gained[i] = gained;
        reached += own;
        gained += cap - own;
        require(r, reached <= t->whole);
    }
    t->extra = t->whole - reached;
    for (i = 0; i < starts; i++) require(r, t->starts[i] >= 0 && t->starts[i] <= gained - t->extra);
    t->enough = (size_t)(t->bits + 7) / 8;
    if (t->kind == MDP_WINDOW) {
        t->thresholds = decimals(r, law, "thresholds", &others);
        t->row_count = others + 1;
    } else {
        size_t longest = 0;
        int shift = (int)integer(r, law, "shift", -1000, 1000) + t->bits;
        t->means = integers(r, law, "means", 0, &t->row_count);
        t->offset = decimal(r, law, "offset");
        t->scale = scaled(shift);
        require(r, shift >= 0 && shift <= 1000 && t->row_count >= 2);
        require_places(r, t->offset, t->scale, 4611686018427387904.0);
        for (i = 1; r->outcome == MDP_OK && i < t->row_count; i++) {
            int64_t low = t->means[i - 1], high = t->means[i];
            size_t bytes;
            require(r, low < high && low > -(INT64_C(1) << 62) && high < INT64_C(1) << 62);
            if (r->outcome == MDP_OK && (bytes = bytes_below(high - low)) > longest) longest = bytes;
        }
        t->enough += 8 + longest;
    }
    require(r, starts == t->row_count);
}

static void read_finite(reader *r, mdp_json law) {
    mdp_table *t = r->table;
    mdp_json rows = member(r, law, "rows"), row;
    size_t i;
    t->reports = decimals(r, law, "outputs", &t->report_count);
    require_increasing(r, t->reports, t->report_count);
    require(r, *rows.at == '[' && t->report_count > 0);
    /* each count takes a digit and a comma, at least: no more is asked for than the file has */
    if (r->outcome == MDP_OK) require(r, t->point_count <= (size_t)(rows.end - rows.at) / t->report_count);
    t->cumulative = room(r, t->point_count * t->report_count, sizeof *t->cumulative);
    for (i = 0; r->outcome == MDP_OK && mdp_json_next(&rows, &row); i++) {
        int64_t *own = t->cumulative + i * t->report_count;
        mdp_json count;
        size_t j;
        require(r, i < t->point_count && *row.at == '[');
        for (j = 0; r->outcome == MDP_OK && mdp_json_next(&row, &count); j++) {
            require(r, j < t->report_count && mdp_json_integer(count, own + j));
        }
        require(r, j == t->report_count);
        if (r->outcome == MDP_OK) accumulate(r, own, t->report_count);
    }
    require(r, i == t->point_count);
    t->enough = (size_t)(t->bits + 7) / 8;
}

static void read_clamp(reader *r, mdp_json law) {
    mdp_table *t = r->table;
    mdp_json clamp = member(r, law, "clamp");
    size_t count;
    double *ends;
    t->least = -HUGE_VAL;
    t->most = HUGE_VAL;
    if (mdp_json_is(clamp, "null")) return;
    ends = numbers(r, clamp, 0, &count, 0);
    require(r, count == 2);
    if (r->outcome != MDP_OK) return;
    t->least = ends[0];
    t->most = ends[1];
}

static void read_pieces(reader *r, mdp_json law) {
    mdp_table *t = r->table;
    size_t inside, outside;
    t->cells = integer(r, law, "cells", 2, INT64_C(1) << 40);
    t->inside = integer(r, law, "inside", 1, t->cells - 1);
    t->weight = integer(r, law, "weight", 0, t->whole);
    t->first = integer(r, law, "first", -(INT64_C(1) << 51), INT64_C(1) << 51);
    t->step = decimal(r, law, "step");
    t->anchor = decimal(r, law, "anchor");
    t->scale = decimal(r, law, "scale");
    read_clamp(r, law);
    require_places(r, t->anchor, t->scale, 4503599627370496.0);
    inside = bytes_below(t->inside);
    outside = bytes_below(t->cells - t->inside);
    t->enough = (size_t)(t->bits + 7) / 8 + (inside > outside ? inside : outside);
}

static void read_additive(reader *r, mdp_json law) {
    mdp_table *t = r->table;
    size_t count, size = (size_t)(t->bits + 7) / 8, blocks, attempts;
    int shift = (int)integer(r, law, "shift", -1000, 1000);
    double further, zero;
    int64_t least = integer(r, law, "least", -(INT64_C(1) << 62), INT64_C(1) << 62);
    t->cumulative = integers(r, law, "weights", 0, &count);
    t->block = (int64_t)count;
    require(r, integer(r, law, "most", least, INT64_C(1) << 62) == least + t->block && t->block >= 1);
    /* noise ends within a block with a chance of at least 2^-16: nobody draws for ever */
    t->tail = integer(r, law, "tail", 1, t->whole - 1 - ((t->whole - 1) >> 16));
    t->offset = decimal(r, law, "offset");
    t->scale = scaled(shift);
    t->step = scaled(-shift);
    read_clamp(r, law);
    require_places(r, t->offset, t->scale, 4611686018427387904.0);
    if (r->outcome != MDP_OK) return;
    further = (double)t->tail / (double)t->whole;
    zero = (double)t->cumulative[0] / (double)t->whole * (1 - further);
    blocks = 1 + repeats(further);
    attempts = 1 + repeats(zero / 2);
    t->enough = 8 + attempts * (1 + 2 * size) + blocks * size;
    accumulate(r, t->cumulative, count);
}

static void read_pair(reader *r, mdp_json law, const char *key, int64_t *ones) {
    size_t count;
    int64_t *pair = integers(r, law, key, 0, &count);
    require(r, count == 2);
    if (r->outcome != MDP_OK) return;
    require(r, pair[0] >= 1 && pair[1] >= 1 && pair[0] <= r->table->whole - pair[1]);
    *ones = pair[1];
}

/* Shapes of one's own count and another's. */
static void read_items(reader *r, mdp_json law) {
    mdp_table *t = r->table;
    int64_t count = (int64_t)t->point_count, rows, left;
    size_t size = (size_t)(t->bits + 7) / 8;
    t->report_count = (size_t)(count + 7) / 8;
    t->width = t->groups = count;
    t->enough = size;
    if (t->kind == MDP_SKETCH) {
        int64_t functions = integer(r, law, "functions", 2, 1024);
        t->width = integer(r, law, "buckets", 2, 16384);
        t->seed_bits = bits_of(functions - 1);
        require(r, functions == INT64_C(1) << t->seed_bits);
        t->report_count = bytes_of(functions) + (size_t)(t->width + 7) / 8;
        t->enough = (size_t)(t->seed_bits + 7) / 8;
    }
    if (t->kind == MDP_UNARY || t->kind == MDP_SKETCH) {
        t->enough = (t->kind == MDP_SKETCH ? t->enough : 0) + (size_t)t->width * size;
        read_pair(r, law, "own_bit", &t->own);
        read_pair(r, law, "other_bit", &t->other);
        return;
    }
    t->own = integer(r, law, "own", 1, t->whole);
    t->other = integer(r, law, "other", 1, t->whole);
    if (t->kind == MDP_RESPONSE)
        t->report_count = bytes_of(count);
    else if (t->kind == MDP_HASHING) {
        t->groups = integer(r, law, "hashes", 2, INT64_C(1) << 31);
        t->report_count = 8 + bytes_of(t->groups);
        t->enough += 8;
    } else if (t->kind == MDP_SUBSET) {
        t->members = integer(r, law, "subset", 1, count - 1);
        for (left = count - 1; left > count - 1 - t->members; left--)
            t->enough += (size_t)(bits_of(left - 1) + 7) / 8;
    } else {
        t->blocks = integer(r, law, "blocks", 1, 65536);
        require(r, (t->blocks & (t->blocks - 1)) == 0);
        rows = (count + t->blocks - 1) / t->blocks;
        t->seed_bits = bits_of(rows);
        t->groups = 2 * t->blocks;
        t->report_count = bytes_of(t->blocks << t->seed_bits);
        t->enough += (size_t)(t->seed_bits + 7) / 8;
    }
    if (t->kind == MDP_SUBSET) return;
    require(r,
            (t->whole - t->own) / (t->groups - 1) == t->other && (t->whole - t->own) % (t->groups - 1) == 0);
}

static int earlier(const void *first, const void *second) {
    return strcmp(((const mdp_label *)first)->text, ((const mdp_label *)second)->text);
}

/* The texts by which inputs or outputs are called: so many as there are. */
static void read_labels(reader *r, mdp_json labels, const char *key, size_t expected, mdp_labels *found) {
    mdp_json list = member(r, labels, key), rest = list, text;
    char *letters;
    size_t i;
    if (mdp_json_is(list, "null")) return;
    require(r, *list.at == '[' && expected <= (size_t)(list.end - list.at));
    found->texts = room(r, expected, sizeof *found->texts);
    found->sorted = room(r, expected, sizeof *found->sorted);
    letters = room(r, (size_t)(list.end - list.at), 1);
    for (i = 0; r->outcome == MDP_OK && mdp_json_next(&rest, &text); i++) {
        size_t length = i < expected ? mdp_json_text(text, letters) : 0;
        require(r, length > 0);
        if (r->outcome != MDP_OK) return;
        found->texts[i] = found->sorted[i].text = letters;
        found->sorted[i].place = (int32_t)i;
        letters += length + 1;
    }
    require(r, i == expected);
    if (r->outcome != MDP_OK) return;
    qsort(found->sorted, expected, sizeof *found->sorted, earlier);
    for (i = 1; i < expected; i++) require(r, earlier(found->sorted + i - 1, found->sorted + i) < 0);
    found->count = expected;
}

static void read_table(reader *r, mdp_json object) {
    static const char *const kinds[] = {"\"window\"",   "\"unbiased\"", "\"finite\"", "\"pieces\"",
                                        "\"additive\"", "\"response\"", "\"unary\"",  "\"hashing\"",
                                        "\"subset\"",   "\"hadamard\"", "\"sketch\""};
    mdp_table *t = r->table;
    mdp_json kind = member(r, object, "kind"), law = member(r, object, "law"),
             labels = member(r, object, "labels");
    while (t->kind <= MDP_SKETCH && !mdp_json_is(kind, kinds[t->kind])) t->kind++;
    t->bits = (int)integer(r, object, "bits", 1, 62);
    t->whole = INT64_C(1) << t->bits;
    require(r, t->kind <= MDP_SKETCH && mdp_json_is(member(r, object, "format"), "\"mechdesign table\""));
    require(r, mdp_json_is(member(r, object, "version"), "2"));
    require(r, mdp_json_hash(member(r, object, "sha256"), t->hash));
    read_domain(r, object);
    if (t->kind == MDP_FINITE)
        read_finite(r, law);
    else if (t->kind == MDP_PIECES)
        read_pieces(r, law);
    else if (t->kind == MDP_ADDITIVE)
        read_additive(r, law);
    else if (t->kind < MDP_FINITE)
        read_started(r, law);
    else
        read_items(r, law);
    if (t->enough > MDP_POOL) t->enough = MDP_POOL;
    if (mdp_json_is(labels, "null")) return;
    require(r, t->kind >= MDP_RESPONSE || t->kind == MDP_FINITE);
    read_labels(r, labels, "inputs", t->point_count, &t->inputs);
    read_labels(r, labels, "outputs", t->kind == MDP_FINITE ? t->report_count : 0, &t->outputs);
}

MDP_SHARED int mdp_table_read(const char *json, size_t length, mdp_table **table) {
    reader r = {NULL, MDP_OK};
    mdp_json object;
    if (json == NULL || length > LONGEST_FILE || !mdp_json_read(json, length, &object)) return MDP_BAD_FILE;
    r.table = calloc(1, sizeof *r.table);
    if (r.table == NULL) return MDP_NO_MEMORY;
    read_table(&r, object);
    if (r.outcome == MDP_OK)
        *table = r.table;
    else
        mdp_table_free(r.table);
    return r.outcome;
}

MDP_SHARED void mdp_table_free(mdp_table *table) {
    while (table != NULL && table->memory != NULL) {
        struct mdp_block *next = table->memory->next;
        free(table->memory);
        table->memory = next;
    }
    free(table);
}

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
