/* Replays vectors of FORMAT.md, and prints PASS with the number of cases, or FAIL case N:
 *     replay table VECTORS.txt TABLE.json
 *     replay envelopes VECTORS.txt TABLE.json [COLLECTION.json NUMBER]
 *     replay list TESTS.txt, lines of which those that begin with replay are done */
#include "replay.h"

/* As one of many. */
static int replay_many(const char **fields) {
    static mdp_report report;
    unsigned char *bytes = report.bytes;
    double x = input_of(tables[0], fields[0]);
    int outcome = mdp_sample_codes(tables[0], &x, 1, fill, &random_bytes, bytes);
    if (strcmp(fields[3], "error") == 0) return outcome == MDP_BAD_INPUT && bytes[0] == 0;
    report.size = is_of_items(tables[0]) ? mdp_report_size(tables[0]) : 0;
    memcpy(&report.number, bytes, sizeof report.number);
    return outcome == MDP_OK && random_bytes.used == strtoul(fields[2], NULL, 10) &&
           is_report(&report, fields[3]);
}

static int replay_case(void) {
    static mdp_report report;
    const char *fields[4];
    int outcome;
    if (!split(fields, 4)) return 0;
    unhex(fields[1], &random_bytes);
    if (!replay_many(fields)) return 0;
    random_bytes.used = 0;
    report.number = 7;
    report.size = 0;
    outcome = mdp_draw(tables[0], input_of(tables[0], fields[0]), fill, &random_bytes, &report);
    if (strcmp(fields[3], "error") == 0) return outcome == MDP_BAD_INPUT && report.number == 7;
    return outcome == MDP_OK && random_bytes.used == strtoul(fields[2], NULL, 10) &&
           is_report(&report, fields[3]);
}

/* What envelopes are of: the table, or an attribute of a collection, whose hash is the last one in its file.
 */
static void read_subject(char **paths, int count) {
    static const char key[] = "\"sha256\":\"";
    size_t length = 0;
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

static int replay_one(int count, char **arguments) {
    int has_envelopes = count > 1 && strcmp(arguments[1], "envelopes") == 0;
    if (count < 4) {
        fputs("see the first lines of replay.c\n", stderr);
        return 2;
    }
    tables[0] = table_of(arguments[3]);
    if (has_envelopes) read_subject(arguments + 3, count - 3);
    return replay_file(arguments[2], has_envelopes ? replay_envelope : replay_case);
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
        if (count > 2 && strcmp(arguments[0], "replay") == 0) failed = replay_one(count, arguments);
    }
    if (list != NULL) fclose(list);
    return failed;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "list") == 0) return replay_list(arguments[2]);
    return replay_one(count, arguments);
}
