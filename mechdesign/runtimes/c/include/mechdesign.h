/* Reports under local differential privacy, drawn from tables of mechdesign: their law is exact.
 *
 *     mdp_table *table;
 *     mdp_report report;
 *     int outcome = mdp_table_read(json, length, &table);
 *     if (outcome == MDP_OK) outcome = mdp_sample(table, 0.5, &report);
 *
 * Every random decision compares integers. Randomness is the operating system's, read in blocks, one for each
 * thread: bytes are erased as they are used, and a child of fork() begins with none. A report takes a number
 * of bytes that does not depend on the input. A table is not changed once it was read: threads may share it.
 *
 * C99. Link with pthread where the C library needs it, on Windows with bcrypt. */
#ifndef MECHDESIGN_H
#define MECHDESIGN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. All but MDP_OK leave what they would have written alone. */
enum {
    MDP_OK = 0,
    MDP_BAD_INPUT = 1,     /* not in the domain of the table */
    MDP_NO_RANDOMNESS = 2, /* the operating system gave none */
    MDP_MISSING = 3,       /* from here on of the state of a device: there is none */
    MDP_DAMAGED = 4,
    MDP_OTHER = 5,
    MDP_ROLLED_BACK = 6,
    MDP_PAST = 7,
    MDP_EXHAUSTED = 8,
    MDP_PRESENT = 9,
    MDP_BUSY = 10,
    MDP_STORAGE = 11,    /* load or store failed: there is no report, and the state is this one or the next */
    MDP_BAD_NUMBER = 12, /* a period, allowance or serial below 0 or too large */
    MDP_AHEAD = 13,      /* a period more than 100 after that of the state */
    MDP_BAD_FILE = 14,   /* no file that this version can draw from */
    MDP_NO_MEMORY = 15
};

/* A source of bytes, for tests only: returns 0 on success. */
typedef int mdp_fill(void *state, unsigned char *bytes, size_t count);

/* ---- Tables */

typedef struct mdp_table mdp_table;

/* Reads a table file, in the canonical bytes it has. Its law is not checked: mechdesign verify does that. */
int mdp_table_read(const char *json, size_t length, mdp_table **table);
void mdp_table_free(mdp_table *table);

/* How many labels inputs or outputs have, and the label with this number, UTF-8: 0 and NULL where there are
 * none. */
size_t mdp_input_count(const mdp_table *table);
size_t mdp_output_count(const mdp_table *table);
const char *mdp_input_label(const mdp_table *table, size_t place);
const char *mdp_output_label(const mdp_table *table, size_t place);

/* The number of a label, found in as many steps for one label as for another; -1 for any other text. */
int32_t mdp_input_place(const mdp_table *table, const char *label);

/* ---- Reports */

enum { MDP_LONGEST_REPORT = 2050 };

typedef struct {
    double number;     /* as in the file; 0 where reports are bytes */
    const char *label; /* where outputs have labels: it lives as long as the table; else NULL */
    size_t size;       /* of the bytes, where reports are bytes; else 0 */
    unsigned char bytes[MDP_LONGEST_REPORT];
} mdp_report;

/* One report for a number (an item is a whole number from 0), where inputs have no labels. */
int mdp_sample(const mdp_table *table, double x, mdp_report *y);
/* One report for a label, where inputs have labels. */
int mdp_sample_label(const mdp_table *table, const char *x, mdp_report *y);
/* One report for a number of the file, whether or not inputs have labels. */
int mdp_sample_code(const mdp_table *table, double x, mdp_report *y);
/* Many reports, in a loop's place: mdp_report_size bytes each, one after the other, where reports are numbers
 * as they are in memory. If one fails, all bytes are 0. `fill` is NULL but in tests. */
size_t mdp_report_size(const mdp_table *table);
int mdp_sample_codes(const mdp_table *table, const double *x, size_t count, mdp_fill *fill, void *state,
                     unsigned char *reports);
/* One report with another source of bytes, for tests only. */
int mdp_draw(const mdp_table *table, double x, mdp_fill *fill, void *state, mdp_report *y);

#ifdef __cplusplus
}
#endif

#endif
