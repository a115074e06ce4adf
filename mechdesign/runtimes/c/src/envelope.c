/* Envelopes: what a collector reads. */
#include "internal.h"

#include "mechdesign_envelope.h"

enum { HEAD = 60, NONCE = 16, LAST_DAY = 2932896 };

MDP_SHARED mdp_subject mdp_table_subject(const mdp_table *table) {
    mdp_subject subject = {0, {0}, 0};
    memcpy(subject.hash, table->hash, sizeof subject.hash);
    return subject;
}

static size_t payload_size(const mdp_table *table) {
    if (table->kind >= MDP_RESPONSE) return table->report_count;
    return table->reports == NULL ? 8 : mdp_bytes_of((int64_t)table->report_count);
}

MDP_SHARED size_t mdp_envelope_size(const mdp_table *table) { return HEAD + payload_size(table); }

MDP_SHARED int mdp_envelope_from(const mdp_table *table, const mdp_subject *subject, const mdp_report *report,
                                 uint32_t last_day, mdp_fill *fill, void *state, unsigned char *envelope) {
    unsigned char nonce[NONCE];
    double number = report->number + 0.0; /* minus zero is zero */
    uint64_t word;
    if (last_day > LAST_DAY) return MDP_BAD_INPUT;
    if (table->kind >= MDP_RESPONSE) {
        word = 0;
        if (report->size != table->report_count) return MDP_BAD_INPUT;
    } else if (table->reports != NULL) {
        int64_t place = table->outputs.count > 0 ? mdp_place_of(&table->outputs, report->label)
                                                 : mdp_report_place(table, number);
        if (place < 0) return MDP_BAD_INPUT;
        word = (uint64_t)place;
    } else {
        if (!(number - number == 0)) return MDP_BAD_INPUT;
        memcpy(&word, &number, sizeof word);
    }
    if (fill(state, nonce, NONCE) != 0) return MDP_NO_RANDOMNESS;
    memcpy(envelope, "mdre\1", 5);
    envelope[5] = subject->kind;
    mdp_put(envelope + 6, 2, subject->attribute);
    mdp_put(envelope + 8, 4, last_day);
    memcpy(envelope + 12, subject->hash, sizeof subject->hash);
    memcpy(envelope + 44, nonce, NONCE);
    if (table->kind >= MDP_RESPONSE)
        memcpy(envelope + HEAD, report->bytes, table->report_count);
    else
        mdp_put(envelope + HEAD, payload_size(table), word);
    return MDP_OK;
}

MDP_SHARED int mdp_envelope(const mdp_table *table, const mdp_subject *subject, const mdp_report *report,
                            uint32_t last_day, unsigned char *envelope) {
    return mdp_envelope_from(table, subject, report, last_day, mdp_system, NULL, envelope);
}
