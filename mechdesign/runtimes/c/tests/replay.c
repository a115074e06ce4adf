/* Replays vectors of FORMAT.md, and prints PASS with the number of cases, or FAIL case N:
 *     replay table VECTORS.txt TABLE.json
 *     replay device VECTORS.txt DEVICE.json TABLE.json [AGAIN.json]
 *     replay envelopes VECTORS.txt TABLE.json [COLLECTION.json NUMBER]
 *     replay device-envelopes VECTORS.txt DEVICE.json TABLE.json [AGAIN.json]
 *     replay list TESTS.txt, lines of which those that begin with replay are done
 * With a state in a file it keeps a device: replay create|report FILE PERIOD ALLOWANCE|X DEVICE.json
 * TABLE.json [AGAIN.json] */
#include "read.h"

#include <string.h>

enum { LONGEST_LINE = 1 << 20 };

static const char *const WORDS[] = {"done",        "input", "no-randomness", "missing", "damaged", "other",
                                    "rolled-back", "past",  "exhausted",     "present", "busy",    "storage",
                                    "number",      "ahead", "file",          "memory"};
static char line[LONGEST_LINE];
static mdp_table *tables[2], *reporting;
static mdp_device device;
static mdp_subject subject;

typedef struct {
    unsigned char bytes[LONGEST_LINE / 2];
    size_t length, used;
} stream;

static stream given, random_bytes, expected, stored;

static unsigned digit(char letter) { return (unsigned)(letter <= '9' ? letter - '0' : letter - 'a' + 10); }

/* Hexadecimal digits, or a dash for nothing. */
static void unhex(const char *text, stream *to) {
    size_t i;
    to->used = 0;
    to->length = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;
    for (i = 0; i < to->length; i++)
        to->bytes[i] = (unsigned char)(16 * digit(text[2 * i]) + digit(text[2 * i + 1]));
    to->bytes[to->length] = 0;
}

static double number_of(const char *digits) {
    uint64_t word = strtoull(digits, NULL, 16);
    double number;
    memcpy(&number, &word, 8);
    return number;
}

static int fill(void *state, unsigned char *bytes, size_t count) {
    stream *from = (stream *)state;
    if (count > from->length - from->used) return -1;
    memcpy(bytes, from->bytes + from->used, count);
    from->used += count;
    return 0;
}

static int fill_nothing(void *state, unsigned char *bytes, size_t count) {
    (void)state;
    (void)bytes;
    (void)count;
    return -1;
}

/* Whether a table draws bytes, of items that are written in decimal: it gives them for the first one. */
static int is_of_items(const mdp_table *table) {
    static mdp_report report;
    return mdp_sample_code(table, 0, &report) == MDP_OK && report.size > 0;
}

static double input_of(const mdp_table *table, const char *text) {
    return is_of_items(table) ? strtod(text, NULL) : number_of(text);
}

/* Whether a report is what hexadecimal digits say: its bytes, or the bits of its number. */
static int is_report(const mdp_report *report, const char *digits) {
    uint64_t word;
    if (report->size > 0) {
        unhex(digits, &expected);
        return expected.length == report->size && memcmp(expected.bytes, report->bytes, report->size) == 0;
    }
    memcpy(&word, &report->number, 8);
    return strlen(digits) == 16 && word == strtoull(digits, NULL, 16);
}

static int split(const char **fields, int count) {
    int i;
    for (i = 0; i < count; i++) {
        fields[i] = strtok(i == 0 ? line : NULL, " \r\n");
        if (fields[i] == NULL) return 0;
    }
    return strtok(NULL, " \r\n") == NULL;
}

static int replay_case(void) {
    static mdp_report report;
    const char *fields[4];
    int outcome;
    if (!split(fields, 4)) return 0;
    unhex(fields[1], &random_bytes);
    report.number = 7;
    report.size = 0;
    outcome = mdp_draw(tables[0], input_of(tables[0], fields[0]), fill, &random_bytes, &report);
    if (strcmp(fields[3], "error") == 0) return outcome == MDP_BAD_INPUT && report.number == 7;
    return outcome == MDP_OK && random_bytes.used == strtoul(fields[2], NULL, 10) &&
           is_report(&report, fields[3]);
}

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

/* The same envelope for the same nonce; nothing is written where there is no randomness, or no such report.
 */
static int replay_envelope(void) {
    static mdp_report report;
    static unsigned char envelope[LONGEST_LINE], other[LONGEST_LINE];
    const char *fields[4];
    uint32_t day;
    size_t size = mdp_envelope_size(reporting);
    if (!split(fields, 4)) return 0;
    unhex(fields[0], &given);
    unhex(fields[2], &random_bytes);
    day = (uint32_t)strtoul(fields[1], NULL, 10);
    if (is_of_items(reporting)) {
        report.size = given.length;
        memcpy(report.bytes, given.bytes, given.length);
    } else if (mdp_output_count(reporting) > 0)
        report.label = (const char *)given.bytes;
    else
        report.number = number_of(fields[0]);
    memset(envelope, 7, size);
    if (strcmp(fields[3], "error") == 0) {
        return mdp_envelope_from(reporting, &subject, &report, day, fill, &random_bytes, envelope) ==
                   MDP_BAD_INPUT &&
               envelope[0] == 7;
    }
    if (mdp_envelope_from(reporting, &subject, &report, day, fill_nothing, NULL, envelope) !=
        MDP_NO_RANDOMNESS)
        return 0;
    if (envelope[0] != 7) return 0;
    if (mdp_envelope_from(reporting, &subject, &report, day, fill, &random_bytes, envelope) != MDP_OK)
        return 0;
    unhex(fields[3], &expected);
    if (expected.length != size || memcmp(expected.bytes, envelope, size) != 0) return 0;
    if (mdp_envelope(reporting, &subject, &report, day, envelope) != MDP_OK) return 0;
    if (mdp_envelope(reporting, &subject, &report, day, other) != MDP_OK) return 0;
    return memcmp(envelope, other, size) != 0;
}

static void require(int outcome, const char *path) {
    if (outcome == MDP_OK) return;
    printf("FAIL %s: %s\n", path, WORDS[outcome]);
    exit(2);
}

static void read_tables(char **paths, int count) {
    int i;
    for (i = 0; i < count && i < 2; i++) tables[i] = table_of(paths[i]);
}

static void read_device(char **paths, int count) {
    size_t length = 0;
    char *text = text_of(paths[0], &length);
    read_tables(paths + 1, count - 1);
    require(mdp_device_read(text, length, tables[0], tables[1], &device), paths[0]);
    free(text);
}

/* What envelopes are of: the table, or an attribute of a collection, whose hash is the last one in its file.
 */
static void read_subject(char **paths, int count) {
    static const char key[] = "\"sha256\":\"";
    size_t length = 0;
    read_tables(paths, 1);
    reporting = tables[0];
    subject = mdp_table_subject(tables[0]);
    if (count == 3) {
        char *text = text_of(paths[1], &length), *found = text, *next;
        while ((next = strstr(found + 1, key)) != NULL) found = next;
        found[sizeof key - 1 + 64] = '\0';
        unhex(found + sizeof key - 1, &given);
        memcpy(subject.hash, given.bytes, sizeof subject.hash);
        subject.kind = 1;
        subject.attribute = (uint16_t)strtoul(paths[2], NULL, 10);
        free(text);
    }
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

static int replay_file(int count, char **arguments) {
    int (*replay)(void) = replay_case;
    const char *path = count > 2 ? arguments[2] : "";
    FILE *vectors;
    long cases = 0;
    if (count < 4) {
        fputs("see the first lines of replay.c\n", stderr);
        return 2;
    }
#if !defined(_WIN32)
    if (strcmp(arguments[1], "create") == 0 || strcmp(arguments[1], "report") == 0)
        return keep(arguments + 1, count - 1);
#endif
    if (strcmp(arguments[1], "device") == 0) {
        replay = replay_step;
        read_device(arguments + 3, count - 3);
    } else if (strcmp(arguments[1], "envelopes") == 0) {
        replay = replay_envelope;
        read_subject(arguments + 3, count - 3);
    } else if (strcmp(arguments[1], "device-envelopes") == 0) {
        replay = replay_envelope;
        read_device(arguments + 3, count - 3);
        subject = mdp_device_subject(&device);
        reporting = tables[tables[1] != NULL];
    } else
        read_tables(arguments + 3, 1);
    vectors = fopen(path, "r");
    if (vectors == NULL) {
        perror(path);
        return 2;
    }
    while (fgets(line, sizeof line, vectors) != NULL) {
        if (line[0] == '#' || line[0] == '\n') continue;
        cases++;
        if (!replay()) {
            printf("FAIL case %ld\n", cases);
            fclose(vectors);
            return 1;
        }
    }
    fclose(vectors);
    mdp_table_free(tables[0]);
    mdp_table_free(tables[1]);
    tables[0] = tables[1] = NULL;
    if (cases == 0)
        puts("FAIL no cases");
    else
        printf("PASS %ld\n", cases);
    return cases == 0;
}

static int replay_list(const char *path) {
    static char text[4096];
    FILE *list = fopen(path, "r");
    int failed = list == NULL;
    while (!failed && fgets(text, sizeof text, list) != NULL) {
        char *arguments[8];
        int count = 0;
        for (arguments[0] = strtok(text, " \n"); count < 7 && arguments[count] != NULL;) {
            arguments[++count] = strtok(NULL, " \n");
        }
        if (count > 2 && strcmp(arguments[0], "replay") == 0) failed = replay_file(count, arguments);
    }
    if (list != NULL) fclose(list);
    return failed;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "list") == 0) return replay_list(arguments[2]);
    return replay_file(count, arguments);
}
