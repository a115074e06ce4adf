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
/* The same with another source of bytes, for tests only. */
int mdp_draw(const mdp_table *table, double x, mdp_fill *fill, void *state, mdp_report *y);

/* ---- Envelopes: bytes that a collector reads (mechdesign collect-reports) */

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

/* ---- Devices: a memory of what was drawn for each value, and a ledger of the reports of a period */

enum { MDP_LONGEST_STATE = 65596, MDP_LONGEST_PATH = 3000 };

typedef struct {
    const mdp_table *first, *again; /* they must outlive it */
    unsigned char hash[32];
    int32_t values, reports;
} mdp_device;

/* Both functions return 0 on success. load writes at most `room` bytes, and to `length` how many there are,
 * or `room` + 1 for more: 0 if nothing was stored. store returns once the bytes are there to stay. No two
 * threads or processes may use one storage at a time: a call loads, draws and stores, and two at once would
 * count as one report. */
typedef struct {
    int (*load)(void *context, unsigned char *content, size_t room, size_t *length);
    int (*store)(void *context, const unsigned char *content, size_t length);
    void *context;
} mdp_storage;

/* Reads a device file. `again` is NULL where it names no second table. */
int mdp_device_read(const char *json, size_t length, const mdp_table *first, const mdp_table *again,
                    mdp_device *device);
mdp_subject mdp_device_subject(const mdp_device *device);

/* Begins without memory where there is no state to keep, with `allowance` reports left in the period: what
 * the server grants, and 0 without its word, as nobody knows what was reported before a state was lost.
 * `least` is the last serial known from elsewhere, or 0. A state that is there keeps its memory, and goes on
 * to a period that is too far ahead for a report: on the word of another clock than the device's. */
int mdp_device_create(const mdp_device *device, const mdp_storage *storage, int32_t period, int32_t allowance,
                      int32_t least);

/* One report for the value held now, given only after the state that counts it was stored. */
int mdp_device_report(const mdp_device *device, const mdp_storage *storage, double x, int32_t period,
                      int32_t least, mdp_report *y);
int mdp_device_report_label(const mdp_device *device, const mdp_storage *storage, const char *x,
                            int32_t period, int32_t least, mdp_report *y);
/* The same in codes, the numbers of the file; `fill` is NULL but in tests. */
int mdp_device_report_from(const mdp_device *device, const mdp_storage *storage, double x, int32_t period,
                           int32_t least, mdp_fill *fill, void *state, mdp_report *y);

/* How many states were stored so far: keep it outside the storage, and give it as `least` next time. */
int mdp_device_serial(const mdp_device *device, const mdp_storage *storage, int32_t least, int32_t *serial);

#if !defined(_WIN32)
/* A state in a file, locked through a file beside it until it is closed. */
typedef struct {
    const char *path; /* must outlive it; at most MDP_LONGEST_PATH bytes */
    int lock;
    long owner; /* the process that holds the lock */
} mdp_file;

int mdp_file_open(mdp_file *file, const char *path, mdp_storage *storage);
void mdp_file_close(mdp_file *file);
#endif

#ifdef __cplusplus
}
#endif

#endif
