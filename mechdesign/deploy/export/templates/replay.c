/* Checks the sampler against its test vectors:
 * cc @stem@.c @stem@_replay.c -o replay && ./replay @stem@_vectors.txt
 * Without a file it reads standard input. */
#include "@stem@.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// @include replay/stream.c

static int replay(void) {
    const char *input = strtok(line, " "), *text = strtok(NULL, " "), *used = strtok(NULL, " ");
    const char *expected = strtok(NULL, " \r\n");
    uint64_t word;
    double x, y;
    stream from;
    int outcome;
    if (!expected) return 0;
    word = strtoull(input, NULL, 16);
    memcpy(&x, &word, 8);
    from.text = text;
    from.position = 0;
    from.length = strlen(text) / 2;
    outcome = @core@_from(x, from_stream, &from, &y);
    if (outcome == @guard@_BAD_INPUT) return strcmp(expected, "error") == 0;
    memcpy(&word, &y, 8);
    return outcome == @guard@_OK && strcmp(expected, "error") != 0 && word == strtoull(expected, NULL, 16)
        && from.position == (size_t)strtoull(used, NULL, 10);
}

// @include replay/main.c
