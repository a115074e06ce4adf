/* Envelopes for reports of the table with SHA-256
 *
 *     @sha@
 *
 * written by mechdesign: bytes that a collector reads (mechdesign collect-reports), in the one form that its file format
 * has. The nonce, by which an envelope counts once, is the operating system's, asked for each envelope.
 */
#ifndef @guard@_ENVELOPE_H
#define @guard@_ENVELOPE_H

#include "@stem@.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { @guard@_ENVELOPE_BYTES = 60 + @size@ };

/* Writes @guard@_ENVELOPE_BYTES bytes for a report that @stem@ gave. It counts until the end (UTC) of the day
 * last_day, in days since 1970-01-01. Returns @guard@_OK, or an error and leaves the envelope alone. */
int @stem@_envelope(@taken@report, uint32_t last_day, unsigned char *envelope);

/* The same with another source of bytes, for tests only: fill(state, bytes, count) returns 0 on success. */
int @stem@_envelope_from(@taken@report, uint32_t last_day, int (*fill)(void *, unsigned char *, size_t), void *state,
                         unsigned char *envelope);

#ifdef __cplusplus
}
#endif

#endif
