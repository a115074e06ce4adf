/* What replays of vectors share: lines, streams of bytes, and cases of tables and envelopes. */
#include "mechdesign_envelope.h"
#include "read.h"

#include <string.h>

enum { LONGEST_LINE = 1 << 20 };

static char line[LONGEST_LINE];
static mdp_table *tables[2], *reporting;
static mdp_subject subject;

typedef struct {
    unsigned char bytes[LONGEST_LINE / 2];
    size_t length, used;
} stream;

static stream given, random_bytes, expected;

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

/* Prints PASS with the number of cases of a file, or FAIL with the first one that is answered otherwise. */
static int replay_file(const char *path, int (*replay)(void)) {
    FILE *vectors = fopen(path, "r");
    long cases = 0;
    int failed = 0;
    if (vectors == NULL) {
        perror(path);
        return 2;
    }
    while (!failed && fgets(line, sizeof line, vectors) != NULL) {
        if (line[0] == '#' || line[0] == '\n') continue;
        cases++;
        failed = !replay();
    }
    fclose(vectors);
    if (failed)
        printf("FAIL case %ld\n", cases);
    else if (cases == 0)
        puts("FAIL no cases");
    else
        printf("PASS %ld\n", cases);
    mdp_table_free(tables[0]);
    mdp_table_free(tables[1]);
    tables[0] = tables[1] = NULL;
    return failed || cases == 0;
}
