/* Checks the sampler against its test vectors:
 * cc @stem@.c @stem@_replay.c -o replay && ./replay @stem@_vectors.txt
 * Without a file it reads standard input. */
#include "@stem@.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 20];

typedef struct {
    const char *text;
    size_t position, length;
} stream;

static int digit(char letter) {
    return letter <= '9' ? letter - '0' : letter - 'a' + 10;
}

static int from_stream(void *state, unsigned char *bytes, size_t count) {
    stream *from = (stream *)state;
    size_t i;
    if (from->position + count > from->length) return -1;
    for (i = 0; i < count; i++) {
        const char *pair = from->text + 2 * (from->position + i);
        bytes[i] = (unsigned char)(16 * digit(pair[0]) + digit(pair[1]));
    }
    from->position += count;
    return 0;
}

static int replay(void) {
    const char *input = strtok(line, " "), *text = strtok(NULL, " "), *used = strtok(NULL, " ");
    const char *expected = strtok(NULL, " \r\n");
    unsigned char report[@guard@_REPORT_BYTES];
    stream from;
    int outcome;
    size_t i;
    if (!expected) return 0;
    from.text = text;
    from.position = 0;
    from.length = strlen(text) / 2;
    outcome = @core@_from((int64_t)strtoll(input, NULL, 10), from_stream, &from, report);
    if (outcome == @guard@_BAD_INPUT) return strcmp(expected, "error") == 0;
    if (outcome != @guard@_OK || strlen(expected) != 2 * sizeof report) return 0;
    for (i = 0; i < sizeof report; i++) {
        if (report[i] != 16 * digit(expected[2 * i]) + digit(expected[2 * i + 1])) return 0;
    }
    return from.position == (size_t)strtoull(used, NULL, 10);
}

int main(int count, char **arguments) {
    FILE *vectors = stdin;
    long cases = 0;
    if (count > 1) vectors = fopen(arguments[1], "r");
    else fputs("reading test vectors from standard input\n", stderr);
    if (!vectors) {
        perror(arguments[1]);
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
