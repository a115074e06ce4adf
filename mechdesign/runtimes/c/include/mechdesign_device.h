/* Devices: a memory of what was drawn for each value, and a ledger of the reports of a period. */
#ifndef MECHDESIGN_DEVICE_H
#define MECHDESIGN_DEVICE_H

#include "mechdesign_envelope.h"

#ifdef __cplusplus
extern "C" {
#endif

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
