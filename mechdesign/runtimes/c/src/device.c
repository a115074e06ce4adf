/* Devices that remember: what FORMAT.md says of them, on the bytes of a state. */
#include "internal.h"

#include "mechdesign_device.h"

enum { SERIAL = 40, PERIOD = 44, MADE = 48, HELD = 52, ENTRIES = 56, AHEAD = 100 };

/* A state as it was loaded, or is to be stored. */
typedef struct {
    unsigned char bytes[MDP_LONGEST_STATE];
} state;

static uint32_t word(const unsigned char *bytes) { return (uint32_t)mdp_get(bytes, 4); }

static double double_at(const unsigned char *bytes) {
    uint64_t bits = mdp_get(bytes, 8);
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static void put_double(unsigned char *bytes, double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    mdp_put(bytes, 8, bits);
}

static int32_t field(const state *held, int place) { return (int32_t)word(held->bytes + place); }

/* CRC-32, as in zip files. */
static uint32_t checksum(const unsigned char *bytes, size_t length) {
    uint32_t sum = UINT32_MAX;
    size_t i;
    int bit;
    for (i = 0; i < length; i++) {
        sum ^= bytes[i];
        for (bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~sum;
}

static int is_of_items(const mdp_device *device) { return device->first->kind >= MDP_RESPONSE; }

/* The bytes of an input in an entry, and of the entry. */
static size_t key_size(const mdp_device *device) { return is_of_items(device) ? 4 : 8; }

static size_t entry_size(const mdp_device *device) {
    return is_of_items(device) ? 4 + device->first->report_count : 16;
}

static size_t state_size(const mdp_device *device) {
    return 60 + entry_size(device) * (size_t)device->values;
}

/* A whole number from least to most, of this key. */
static int read_count(const char *file, const char *key, int64_t least, int64_t most, int32_t *found) {
    int64_t number = 0;
    int is_right = mdp_json_integer(mdp_json_member(file, key), least, most, &number);
    *found = (int32_t)number;
    return is_right;
}

static int is_said(const char *file, const char *key, const char *text) {
    return mdp_json_is(mdp_json_member(file, key), text);
}

static int names(const char *file, const char *key, const mdp_table *table) {
    unsigned char hash[32];
    return mdp_json_hash(mdp_json_member(file, key), hash) && memcmp(hash, table->hash, sizeof hash) == 0;
}

/* A device draws numbers from two tables, or numbers or bytes from one. */
static int is_device(const char *file, mdp_device *device) {
    const mdp_table *first = device->first, *again = device->again;
    if (!is_said(file, "format", "\"mechdesign device\"") || !is_said(file, "version", "1")) return 0;
    if (!mdp_json_hash(mdp_json_member(file, "sha256"), device->hash)) return 0;
    if (!read_count(file, "values", 0, 4096, &device->values)) return 0;
    if (!read_count(file, "reports", 1, 10000, &device->reports)) return 0;
    if (!names(file, "table", first) || state_size(device) > MDP_LONGEST_STATE) return 0;
    if (again == NULL) return is_said(file, "again", "null");
    return names(file, "again", again) && !is_of_items(device) && again->kind < MDP_RESPONSE &&
           device->values > 0;
}

MDP_SHARED int mdp_device_read(const char *json, size_t length, const mdp_table *first,
                               const mdp_table *again, mdp_device *device) {
    mdp_device found = {NULL, NULL, {0}, 0, 0};
    char *file;
    int is_right;
    found.first = first;
    found.again = again;
    if (json == NULL || first == NULL) return MDP_BAD_FILE;
    file = malloc(length + 1);
    if (file == NULL) return MDP_NO_MEMORY;
    is_right = mdp_json_read(file, json, length) && is_device(file, &found);
    free(file);
    if (!is_right) return MDP_BAD_FILE;
    *device = found;
    return MDP_OK;
}

MDP_SHARED mdp_subject mdp_device_subject(const mdp_device *device) {
    mdp_subject subject = {2, {0}, 0};
    memcpy(subject.hash, device->hash, sizeof subject.hash);
    return subject;
}

static int is_entry(const mdp_device *device, const unsigned char *entry) {
    static const unsigned char zero[8] = {0};
    double x, y;
    if (is_of_items(device)) return word(entry) < device->first->point_count;
    x = double_at(entry);
    y = double_at(entry + 8);
    if (!(x - x == 0) || !(y - y == 0) || (x == 0 && memcmp(entry, zero, 8) != 0)) return 0;
    return device->again != NULL || device->first->outputs.count == 0 ||
           mdp_report_place(device->first, y) >= 0;
}

/* The place of an input, by the bytes it has in an entry, among the first ones; their number where it is none
 * of them. */
static int32_t place_among(const mdp_device *device, const state *held, int32_t count,
                           const unsigned char *key) {
    int32_t place = 0;
    size_t size = entry_size(device);
    while (place < count && memcmp(held->bytes + ENTRIES + size * (size_t)place, key, key_size(device)) != 0)
        place++;
    return place;
}

static int load(const mdp_device *device, const mdp_storage *storage, int32_t least, state *found) {
    const unsigned char *bytes = found->bytes;
    size_t length = 0, size = state_size(device), i;
    int32_t place;
    if (least < 0) return MDP_BAD_NUMBER;
    if (storage->load(storage->context, found->bytes, sizeof found->bytes, &length) != 0) return MDP_STORAGE;
    if (length == 0) return MDP_MISSING;
    if (length > sizeof found->bytes || length < 60 || memcmp(bytes, "mdstate", 7) != 0) return MDP_DAMAGED;
    if (checksum(bytes, length - 4) != word(bytes + length - 4)) return MDP_DAMAGED;
    if (bytes[7] != (is_of_items(device) ? 2 : 1) || memcmp(bytes + 8, device->hash, 32) != 0)
        return MDP_OTHER;
    if (length != size) return MDP_DAMAGED;
    for (i = SERIAL; i < ENTRIES; i += 4) {
        if (word(bytes + i) > INT32_MAX) return MDP_DAMAGED;
    }
    if (field(found, SERIAL) < 1 || field(found, MADE) > device->reports) return MDP_DAMAGED;
    if (field(found, HELD) > device->values) return MDP_DAMAGED;
    for (place = 0; place < field(found, HELD); place++) {
        const unsigned char *entry = bytes + ENTRIES + entry_size(device) * (size_t)place;
        if (!is_entry(device, entry) || place_among(device, found, place, entry) < place) return MDP_DAMAGED;
    }
    for (i = ENTRIES + entry_size(device) * (size_t)field(found, HELD); i < size - 4; i++) {
        if (bytes[i] != 0) return MDP_DAMAGED;
    }
    return field(found, SERIAL) < least ? MDP_ROLLED_BACK : MDP_OK;
}

static int store(const mdp_device *device, const mdp_storage *storage, state *next, int32_t period,
                 int32_t made) {
    size_t size = state_size(device);
    mdp_put(next->bytes + SERIAL, 4, (uint32_t)field(next, SERIAL) + 1);
    mdp_put(next->bytes + PERIOD, 4, (uint32_t)period);
    mdp_put(next->bytes + MADE, 4, (uint32_t)made);
    mdp_put(next->bytes + size - 4, 4, checksum(next->bytes, size - 4));
    return storage->store(storage->context, next->bytes, size) == 0 ? MDP_OK : MDP_STORAGE;
}

MDP_SHARED int mdp_device_create(const mdp_device *device, const mdp_storage *storage, int32_t period,
                                 int32_t allowance, int32_t least) {
    state next;
    int outcome;
    if (period < 0 || allowance < 0 || allowance > device->reports || least < 0 || least == INT32_MAX) {
        return MDP_BAD_NUMBER;
    }
    outcome = load(device, storage, least, &next);
    if (outcome == MDP_OK) {
        if (period - field(&next, PERIOD) <= AHEAD) return MDP_PRESENT;
        if (field(&next, SERIAL) == INT32_MAX) return MDP_EXHAUSTED;
    } else {
        if (outcome != MDP_MISSING && outcome != MDP_DAMAGED && outcome != MDP_ROLLED_BACK) return outcome;
        memset(&next, 0, sizeof next);
        memcpy(next.bytes, "mdstate", 7);
        next.bytes[7] = is_of_items(device) ? 2 : 1;
        memcpy(next.bytes + 8, device->hash, 32);
        mdp_put(next.bytes + SERIAL, 4, (uint32_t)least);
    }
    return store(device, storage, &next, period, device->reports - allowance);
}

/* What is remembered of an input, in place of what was just drawn for it. A value without room is taken for
 * the last one. */
static void remember(const mdp_device *device, state *now, double x, mdp_report *drawn) {
    unsigned char key[8], *entry;
    size_t size = entry_size(device);
    int32_t held = field(now, HELD), place;
    if (is_of_items(device))
        mdp_put(key, 4, (uint32_t)x);
    else
        put_double(key, x + 0.0); /* minus zero is zero */
    place = place_among(device, now, held, key);
    if (place == held && held == device->values) place--;
    entry = now->bytes + ENTRIES + size * (size_t)place;
    if (place == held) {
        memcpy(entry, key, key_size(device));
        if (is_of_items(device))
            memcpy(entry + 4, drawn->bytes, drawn->size);
        else
            put_double(entry + 8, drawn->number);
        mdp_put(now->bytes + HELD, 4, (uint32_t)held + 1);
    }
    if (is_of_items(device))
        memcpy(drawn->bytes, entry + 4, drawn->size);
    else {
        drawn->number = double_at(entry + 8);
        drawn->label =
            mdp_output_label(device->first, (size_t)mdp_report_place(device->first, drawn->number));
    }
}

MDP_SHARED int mdp_device_report_from(const mdp_device *device, const mdp_storage *storage, double x,
                                      int32_t period, int32_t least, mdp_fill *fill, void *fill_state,
                                      mdp_report *y) {
    state now;
    mdp_report drawn;
    int32_t made;
    int outcome;
    if (period < 0) return MDP_BAD_NUMBER;
    outcome = load(device, storage, least, &now);
    if (outcome != MDP_OK) return outcome;
    if (period < field(&now, PERIOD)) return MDP_PAST;
    if (period - field(&now, PERIOD) > AHEAD) return MDP_AHEAD;
    made = period > field(&now, PERIOD) ? 0 : field(&now, MADE);
    if (made == device->reports || field(&now, SERIAL) == INT32_MAX) return MDP_EXHAUSTED;
    outcome = mdp_draw(device->first, x, fill, fill_state, &drawn);
    if (outcome != MDP_OK) return outcome;
    if (device->values > 0) remember(device, &now, x, &drawn);
    if (device->again != NULL) {
        outcome = mdp_draw(device->again, drawn.number, fill, fill_state, &drawn);
        if (outcome != MDP_OK) return outcome;
    }
    outcome = store(device, storage, &now, period, made + 1);
    if (outcome == MDP_OK) {
        y->number = drawn.number;
        y->label = drawn.label;
        y->size = drawn.size;
        memcpy(y->bytes, drawn.bytes, drawn.size);
    }
    return outcome;
}

MDP_SHARED int mdp_device_report(const mdp_device *device, const mdp_storage *storage, double x,
                                 int32_t period, int32_t least, mdp_report *y) {
    double code = device->first->inputs.count > 0 ? NAN : x;
    return mdp_device_report_from(device, storage, code, period, least, NULL, NULL, y);
}

MDP_SHARED int mdp_device_report_label(const mdp_device *device, const mdp_storage *storage, const char *x,
                                       int32_t period, int32_t least, mdp_report *y) {
    double code = mdp_code_of(device->first, x);
    return mdp_device_report_from(device, storage, code, period, least, NULL, NULL, y);
}

MDP_SHARED int mdp_device_serial(const mdp_device *device, const mdp_storage *storage, int32_t least,
                                 int32_t *serial) {
    state now;
    int outcome = load(device, storage, least, &now);
    if (outcome == MDP_OK) *serial = field(&now, SERIAL);
    return outcome;
}
