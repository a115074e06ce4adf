/* Envelopes: bytes that a collector reads (mechdesign collect-reports). */
#ifndef MECHDESIGN_ENVELOPE_H
#define MECHDESIGN_ENVELOPE_H

#include "mechdesign.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an envelope says that its report is of. */
typedef struct {
    unsigned char kind, hash[32]; /* 0: a table, 1: an attribute of a collection, 2: a device */
    uint16_t attribute;
} mdp_subject;

mdp_subject mdp_table_subject(const mdp_table *table);
size_t mdp_envelope_size(const mdp_table *table);
/* Writes mdp_envelope_size bytes for a report of the table. Of a kept report the label, the number or the
 * bytes are enough. It counts until the end (UTC) of the day last_day, in days since 1970-01-01. */
int mdp_envelope(const mdp_table *table, const mdp_subject *subject, const mdp_report *report,
                 uint32_t last_day, unsigned char *envelope);
int mdp_envelope_from(const mdp_table *table, const mdp_subject *subject, const mdp_report *report,
                      uint32_t last_day, mdp_fill *fill, void *state, unsigned char *envelope);

#ifdef __cplusplus
}
#endif

#endif
