/* Checks the sampler against its test vectors:
 * cc @stem@.c @stem@_replay.c -o replay && ./replay @stem@_vectors.txt
 * Without a file it reads standard input. */
#include "@stem@.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// @include replay/stream.c

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

// @include replay/main.c
