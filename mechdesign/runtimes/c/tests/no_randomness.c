/* Without randomness there is an error, and no report and no envelope: no_randomness TABLE.json */
#include "mechdesign_envelope.h"
#include "read.h"

#include <stdint.h>
#include <string.h>

static int is_broken = 1;

#if defined(__linux__) && !defined(__ANDROID__)
#include <sys/types.h>

/* Stands before that of the C library. */
ssize_t getrandom(void *bytes, size_t count, unsigned flags);
ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    static uint32_t word = 1;
    size_t i;
    (void)flags;
    for (i = 0; i < count; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)((word = 1664525 * word + 1013904223) >> 24);
    return is_broken ? -1 : (ssize_t)count;
}
#endif

static int broken(void *state, unsigned char *bytes, size_t count) {
    (void)state;
    (void)bytes;
    (void)count;
    return -1;
}

/* An input of the table, as a number of its file: the first one that it takes. */
static double input_of(const char *json) {
    const char *domain = strstr(json, "\"domain\":");
    const char *found = strstr(domain, "\"points\":[\"");
    if (found != NULL) return strtod(found + 11, NULL);
    found = strstr(domain, "\"lower\":\"");
    return found != NULL && strstr(domain, "\"kind\":\"interval\"") != NULL ? strtod(found + 9, NULL) : 0;
}

int main(int count, char **arguments) {
    static mdp_report report;
    static unsigned char envelope[1 << 16];
    size_t length = 0;
    char *json = count > 1 ? text_of(arguments[1], &length) : NULL;
    mdp_table *table = count > 1 ? table_of(arguments[1]) : NULL;
    mdp_subject subject;
    double x;
    int missed = 0;
    if (table == NULL) return 2;
    x = input_of(json);
    subject = mdp_table_subject(table);
    report.number = 7;
    report.size = 7;
    missed += mdp_draw(table, x, broken, NULL, &report) != MDP_NO_RANDOMNESS;
#if defined(__linux__) && !defined(__ANDROID__)
    missed += mdp_sample_code(table, x, &report) != MDP_NO_RANDOMNESS;
    missed += mdp_sample(table, x, &report) != MDP_NO_RANDOMNESS;
    missed += mdp_sample_label(table, mdp_input_label(table, 0), &report) != MDP_NO_RANDOMNESS;
#endif
    missed += report.number != 7 || report.size != 7 || report.label != NULL || report.bytes[0] != 0;
    is_broken = 0;
    if (mdp_sample_code(table, x, &report) != MDP_OK) missed++;
    is_broken = 1;
    missed += mdp_envelope_from(table, &subject, &report, 1, broken, NULL, envelope) != MDP_NO_RANDOMNESS;
#if defined(__linux__) && !defined(__ANDROID__)
    missed += mdp_envelope(table, &subject, &report, 1, envelope) != MDP_NO_RANDOMNESS;
#endif
    missed += envelope[0] != 0;
    mdp_table_free(table);
    free(json);
    puts(missed == 0 ? "PASS without randomness" : "FAIL a report or an envelope without randomness");
    return missed != 0;
}
