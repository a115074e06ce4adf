/* Replays vectors of a device, and prints PASS with the number of cases, or FAIL case N:
 *     replay_device states VECTORS.txt DEVICE.json TABLE.json [AGAIN.json]
 *     replay_device envelopes VECTORS.txt DEVICE.json TABLE.json [AGAIN.json]
 * With a state in a file it keeps a device: replay_device create|report FILE PERIOD ALLOWANCE|X DEVICE.json
 * TABLE.json [AGAIN.json] */
#include "mechdesign_device.h"
#include "replay.h"

static const char *const WORDS[] = {"done",        "input", "no-randomness", "missing", "damaged", "other",
                                    "rolled-back", "past",  "exhausted",     "present", "busy",    "storage",
                                    "number",      "ahead", "file",          "memory"};
static mdp_device device;
static stream stored;

static int load(void *context, unsigned char *content, size_t room, size_t *length) {
    const stream *held = (const stream *)context;
    *length = held->length;
    memcpy(content, held->bytes, held->length < room ? held->length : room);
    return 0;
}

static int store(void *context, const unsigned char *content, size_t length) {
    (void)context;
    memcpy(stored.bytes, content, length);
    stored.length = length;
    return 0;
}

static int replay_step(void) {
    static mdp_report report;
    mdp_storage storage = {load, store, &given};
    const char *fields[10];
    int32_t period, least;
    int outcome;
    if (!split(fields, 10)) return 0;
    unhex(fields[1], &given);
    unhex(fields[6], &random_bytes);
    stored.length = 0;
    period = (int32_t)strtol(fields[2], NULL, 10);
    least = (int32_t)strtol(fields[3], NULL, 10);
    if (strcmp(fields[0], "create") == 0) {
        outcome = mdp_device_create(&device, &storage, period, (int32_t)strtol(fields[4], NULL, 10), least);
        if (strcmp(WORDS[outcome], fields[8]) != 0) return 0;
    } else {
        double x = input_of(device.first, fields[5]);
        outcome = mdp_device_report_from(&device, &storage, x, period, least, fill, &random_bytes, &report);
        if (outcome != MDP_OK && strcmp(WORDS[outcome], fields[8]) != 0) return 0;
        if (outcome == MDP_OK && !is_report(&report, fields[8])) return 0;
        if (outcome == MDP_OK && random_bytes.used != strtoul(fields[7], NULL, 10)) return 0;
    }
    unhex(fields[9], &expected);
    return stored.length == expected.length && memcmp(stored.bytes, expected.bytes, stored.length) == 0;
}

static void require(int outcome, const char *path) {
    if (outcome == MDP_OK) return;
    printf("FAIL %s: %s\n", path, WORDS[outcome]);
    exit(2);
}

static void read_device(char **paths, int count) {
    size_t length = 0;
    int i;
    char *text = text_of(paths[0], &length);
    for (i = 0; i < count - 1 && i < 2; i++) tables[i] = table_of(paths[i + 1]);
    require(mdp_device_read(text, length, tables[0], tables[1], &device), paths[0]);
    free(text);
}

#if !defined(_WIN32)
static int keep(char **said, int count) {
    static mdp_report report;
    mdp_file file;
    mdp_storage storage;
    int32_t period = (int32_t)strtol(said[2], NULL, 10);
    int outcome;
    size_t i;
    read_device(said + 4, count - 4);
    outcome = mdp_file_open(&file, said[1], &storage);
    if (outcome == MDP_OK && strcmp(said[0], "create") == 0) {
        outcome = mdp_device_create(&device, &storage, period, (int32_t)strtol(said[3], NULL, 10), 0);
        puts(WORDS[outcome]);
    } else if (outcome == MDP_OK) {
        outcome =
            mdp_device_report_from(&device, &storage, strtod(said[3], NULL), period, 0, NULL, NULL, &report);
        for (i = 0; outcome == MDP_OK && i < report.size; i++) printf("%02x", report.bytes[i]);
        if (outcome == MDP_OK && report.size == 0) printf("%.17g", report.number);
        puts(outcome == MDP_OK ? "" : WORDS[outcome]);
    } else
        puts(WORDS[outcome]);
    mdp_file_close(&file);
    return 0;
}
#endif

int main(int count, char **arguments) {
    int has_envelopes = count > 1 && strcmp(arguments[1], "envelopes") == 0;
    if (count < 5) {
        fputs("see the first lines of replay_device.c\n", stderr);
        return 2;
    }
#if !defined(_WIN32)
    if (strcmp(arguments[1], "create") == 0 || strcmp(arguments[1], "report") == 0)
        return keep(arguments + 1, count - 1);
#endif
    read_device(arguments + 3, count - 3);
    subject = mdp_device_subject(&device);
    reporting = tables[tables[1] != NULL];
    return replay_file(arguments[2], has_envelopes ? replay_envelope : replay_step);
}
