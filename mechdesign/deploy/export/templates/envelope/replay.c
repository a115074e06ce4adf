/* Replays the vectors of envelopes: the same bytes for the same nonce, an error for what cannot be or has no nonce. */
#include "@stem@_envelope.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = @longest@ };

static int fixed(void *state, unsigned char *bytes, size_t count) {
    memcpy(bytes, state, count);
    return 0;
}

static int broken(void *state, unsigned char *bytes, size_t count) {
    (void)state;
    (void)bytes;
    (void)count;
    return -1;
}

static size_t bytes_of(const char *digits, unsigned char *bytes) {
    char pair[3] = {0};
    size_t i;
    for (i = 0; digits[2 * i] != 0 && digits[2 * i + 1] != 0; i++) {
        pair[0] = digits[2 * i];
        pair[1] = digits[2 * i + 1];
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return i;
}

static int write_envelope(const unsigned char *read, uint32_t day, int (*fill)(void *, unsigned char *, size_t),
                          void *state, unsigned char *envelope) {
@report@
    return @stem@_envelope_from(report, day, fill, state, envelope);
}

static int drawn(const unsigned char *read, unsigned char *envelope) {
@report@
    return @stem@_envelope(report, 1, envelope);
}

static char line[LINE], given[LINE], nonce_digits[LINE], expected[LINE];

int main(int count, char **arguments) {
    FILE *file = fopen(count > 1 ? arguments[1] : "", "r");
    unsigned char nonce[LINE], read[LINE];
    unsigned char envelope[@guard@_ENVELOPE_BYTES], wanted[LINE];
    unsigned char first[@guard@_ENVELOPE_BYTES], other[@guard@_ENVELOPE_BYTES];
    unsigned long day;
    int cases = 0;
    if (file == NULL) return 2;
    while (fgets(line, LINE, file) != NULL) {
        int outcome;
        if (line[0] == '#') continue;
        if (sscanf(line, "%s %lu %s %s", given, &day, nonce_digits, expected) != 4) return 2;
        read[bytes_of(given, read)] = 0;
        bytes_of(nonce_digits, nonce);
        memset(envelope, 7, sizeof envelope);
        outcome = write_envelope(read, (uint32_t)day, fixed, nonce, envelope);
        cases++;
        if (strcmp(expected, "error") == 0) {
            if (outcome == @guard@_BAD_INPUT && envelope[0] == 7) continue;
        } else {
            size_t length = bytes_of(expected, wanted);
            int is_same = outcome == @guard@_OK && length == sizeof envelope && memcmp(envelope, wanted, length) == 0;
            memset(envelope, 7, sizeof envelope);
            outcome = write_envelope(read, (uint32_t)day, broken, NULL, envelope);
            if (is_same && outcome == @guard@_NO_RANDOMNESS && envelope[0] == 7) {
                if (cases > 1) continue;
                outcome = drawn(read, first) | drawn(read, other);
                if (outcome == @guard@_OK && memcmp(first, other, sizeof first) != 0) continue;
            }
        }
        printf("FAIL envelope %d\n", cases);
        return 1;
    }
    fclose(file);
    printf("PASS envelopes %d\n", cases);
    return cases == 0;
}
