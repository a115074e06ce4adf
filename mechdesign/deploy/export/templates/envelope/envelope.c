/* See @stem@_envelope.h. C99; on Windows link with bcrypt. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "@stem@_envelope.h"

#include <string.h>
// @include randomness/includes.c

/* The letters mdre, version 1, and of what the hash is: of @of@. */
static const unsigned char HEAD[8] = {@head@};
static const unsigned char HASH[32] = {
@hash_numbers@
};
enum { LAST_DAY = 2932896, BEGIN = 60, NONCE = 16, SIZE = @size@ };
// @if listed
@OUTPUTS@
// @end

// @include randomness/system.c

static int from_system(void *state, unsigned char *bytes, size_t count) {
    (void)state;
    return operating_system(bytes, count);
}

int @stem@_envelope_from(@taken@report, uint32_t last_day, int (*fill)(void *, unsigned char *, size_t), void *state,
                         unsigned char *envelope) {
    unsigned char nonce[NONCE], written[SIZE];
    int i;
// @if labels listed
    uint64_t word = 0;
// @end
// @if double
    uint64_t word;
    double plain;
// @end
    if (last_day > LAST_DAY) return @guard@_BAD_INPUT;
// @if labels
    if (report == NULL) return @guard@_BAD_INPUT;
    while (word < @output_count@ && strcmp(report, @stem@_output_labels[word]) != 0) word++;
    if (word == @output_count@) return @guard@_BAD_INPUT;
// @end
// @if listed
    while (word < OUTPUTS_COUNT && OUTPUTS[word] != report) word++;
    if (word == OUTPUTS_COUNT) return @guard@_BAD_INPUT;
// @end
// @if double
    if (!(report - report == 0)) return @guard@_BAD_INPUT;
    plain = report + 0.0;
    memcpy(&word, &plain, sizeof word);
// @end
// @if bytes
    memcpy(written, report, SIZE);
// @else
    for (i = 0; i < SIZE; i++) written[i] = (unsigned char)(word >> 8 * i & 255);
// @end
    if (fill(state, nonce, NONCE) != 0) return @guard@_NO_RANDOMNESS;
    memcpy(envelope, HEAD, sizeof HEAD);
    for (i = 0; i < 4; i++) envelope[8 + i] = (unsigned char)(last_day >> 8 * i & 255);
    memcpy(envelope + 12, HASH, sizeof HASH);
    memcpy(envelope + 44, nonce, NONCE);
    memcpy(envelope + BEGIN, written, SIZE);
    return @guard@_OK;
}

int @stem@_envelope(@taken@report, uint32_t last_day, unsigned char *envelope) {
    return @stem@_envelope_from(report, last_day, from_system, NULL, envelope);
}
