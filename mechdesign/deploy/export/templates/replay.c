/* Checks the sampler against its test vectors:
 * cc @stem@.c @stem@_replay.c -o replay && ./replay @stem@_vectors.txt
 * Without a file it reads standard input. */
#include "@stem@.h"

#include <stdint.h>
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
