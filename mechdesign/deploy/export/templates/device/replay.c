/* Checks the device against its test vectors:
 * cc *.c of this folder without the samplers' replays -o replay && ./replay @device@_vectors.txt
 * With a state in a file: ./replay create FILE PERIOD ALLOWANCE, or report FILE PERIOD X (X in codes). */
#include "@device@.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const WORDS[] = {
    "done", "input", "no-randomness", "missing", "damaged", "other", "rolled-back", "past", "exhausted", "present",
    "busy", "storage", "number", "ahead"
};

typedef struct {
    unsigned char content[@guard@_SIZE + 1024 + 3 * @entry@];
    size_t length;
    char stored[2 * @guard@_SIZE + 2];
} memory;

typedef struct {
    const char *text;
    size_t position, length;
} stream;

static char line[1 << 20];

static unsigned char byte_at(const char *text, size_t place) {
    char pair[3] = {0};
    memcpy(pair, text + 2 * place, 2);
    return (unsigned char)strtoul(pair, NULL, 16);
}

static int from_stream(void *state, unsigned char *bytes, size_t count) {
    stream *from = (stream *)state;
    size_t i;
    if (from->position + count > from->length) return -1;
    for (i = 0; i < count; i++) bytes[i] = byte_at(from->text, from->position++);
    return 0;
}

static int load(void *context, unsigned char *content, size_t room, size_t *length) {
    const memory *held = (const memory *)context;
    *length = held->length;
    memcpy(content, held->content, held->length < room ? held->length : room);
    return 0;
}

static int store(void *context, const unsigned char *content, size_t length) {
    memory *held = (memory *)context;
    size_t i;
    for (i = 0; i < length; i++) sprintf(held->stored + 2 * i, "%02x", content[i]);
    return 0;
}

static int replay(void) {
    static memory held;
    @device@_storage storage;
    stream from;
    const char *fields[10];
// @if items
    char said[2 * @guard@_REPORT_BYTES + 32];
// @else
    char said[32];
// @end
    int32_t period, least;
    int i, outcome;
    for (i = 0; i < 10; i++) fields[i] = strtok(i ? NULL : line, " \r\n");
    if (!fields[9]) return 0;
    held.length = strcmp(fields[1], "-") ? strlen(fields[1]) / 2 : 0;
    if (held.length > sizeof held.content) held.length = sizeof held.content;
    for (i = 0; (size_t)i < held.length; i++) held.content[i] = byte_at(fields[1], (size_t)i);
    strcpy(held.stored, "-");
    storage.load = load;
    storage.store = store;
    storage.context = &held;
    period = (int32_t)strtol(fields[2], NULL, 10);
    least = (int32_t)strtol(fields[3], NULL, 10);
    if (strcmp(fields[0], "create") == 0) {
        outcome = @device@_create(&storage, period, (int32_t)strtol(fields[4], NULL, 10), least);
        strcpy(said, WORDS[outcome]);
    } else {
// @if items
        int64_t x = (int64_t)strtol(fields[5], NULL, 10);
        unsigned char y[@guard@_REPORT_BYTES] = {0};
// @else
        uint64_t bits = strtoull(fields[5], NULL, 16);
        double x, y = 0;
        memcpy(&x, &bits, 8);
// @end
        from.text = fields[6];
        from.position = 0;
        from.length = strcmp(fields[6], "-") ? strlen(fields[6]) / 2 : 0;
// @if items
        outcome = @core@_from(&storage, x, period, least, from_stream, &from, y);
        strcpy(said, WORDS[outcome]);
        if (outcome == 0) {
            for (i = 0; i < @guard@_REPORT_BYTES; i++) sprintf(said + 2 * i, "%02x", y[i]);
// @else
        outcome = @core@_from(&storage, x, period, least, from_stream, &from, &y);
        strcpy(said, WORDS[outcome]);
        memcpy(&bits, &y, 8);
        if (outcome == 0) {
            sprintf(said, "%08lx%08lx", (unsigned long)(bits >> 32), (unsigned long)(bits & UINT32_MAX));
// @end
            if (from.position != (size_t)strtoul(fields[7], NULL, 10)) return 0;
        }
    }
    return strcmp(said, fields[8]) == 0 && strcmp(held.stored, fields[9]) == 0;
}

static int from_file(char **said) {
    @device@_file file;
    @device@_storage storage;
// @if items
    unsigned char y[@guard@_REPORT_BYTES] = {0};
    int i;
// @else
    double y = 0;
// @end
    int32_t period = (int32_t)strtol(said[2], NULL, 10);
    int outcome = @device@_open(&file, said[1], &storage);
    int is_report = strcmp(said[0], "report") == 0;
    if (outcome == @guard@_OK) {
// @if items
        if (is_report) outcome = @core@_from(&storage, strtol(said[3], NULL, 10), period, 0, NULL, NULL, y);
// @else
        if (is_report) outcome = @core@_from(&storage, strtod(said[3], NULL), period, 0, NULL, NULL, &y);
// @end
        else outcome = @device@_create(&storage, period, (int32_t)strtol(said[3], NULL, 10), 0);
        @device@_close(&file);
    }
// @if items
    for (i = 0; outcome == @guard@_OK && is_report && i < @guard@_REPORT_BYTES; i++) printf("%02x", y[i]);
    puts(outcome == @guard@_OK && is_report ? "" : WORDS[outcome]);
// @else
    if (outcome == @guard@_OK && is_report) printf("%.17g\n", y);
    else puts(WORDS[outcome]);
// @end
    return 0;
}

int main(int count, char **arguments) {
    FILE *vectors;
    long cases = 0;
    if (count == 5) return from_file(arguments + 1);
    vectors = count > 1 ? fopen(arguments[1], "r") : NULL;
    if (!vectors) {
        fputs("give a file of test vectors\n", stderr);
        return 2;
    }
    while (fgets(line, sizeof line, vectors)) {
        if (line[0] == '#' || line[0] == '\n') continue;
        cases++;
        if (!replay()) {
            printf("FAIL case %ld\n", cases);
            return 1;
        }
    }
    if (cases == 0) printf("FAIL no cases\n");
    else printf("PASS %ld\n", cases);
    return cases == 0;
}
