/* Files that were changed anywhere are read or refused, and never more than that:
 *     fuzz TABLE.json HOW_MANY [DEVICE.json], of which the device's is then changed
 * What is read draws from random bytes that end. Compile it with -fsanitize=address,undefined. */
#include "mechdesign_device.h"
#include "read.h"

#include <string.h>

enum { MOST_DRAWN = 4096 };

static uint32_t word = 1;

static uint32_t next(uint32_t below) {
    word = 1664525 * word + 1013904223;
    return (uint32_t)((uint64_t)word * below >> 32);
}

static int fill(void *state, unsigned char *bytes, size_t count) {
    size_t *left = (size_t *)state;
    size_t i;
    if (count > *left) return -1;
    *left -= count;
    for (i = 0; i < count; i++) bytes[i] = (unsigned char)next(256);
    return 0;
}

/* One change: a byte, a piece left out, a piece said twice, or a number that is as large as they get. */
static size_t change(char *text, size_t length, size_t room) {
    static const char *const numbers[] = {
        "0", "-1", "9223372036854775807", "18446744073709551616", "\"", "[]", "{}", "null"};
    size_t at = next((uint32_t)length), piece = 1 + next(40), i;
    const char *number = numbers[next(8)];
    if (piece > length - at) piece = length - at;
    switch (next(4)) {
    case 0: text[at] = (char)(next(4) > 0 ? ' ' + (int)next(95) : (int)next(256)); return length;
    case 1: memmove(text + at, text + at + piece, length - at - piece); return length - piece;
    case 2:
        if (length + piece > room) return length;
        memmove(text + at + piece, text + at, length - at);
        return length + piece;
    default:
        for (i = 0; at + i < length && text[at + i] >= '0' && text[at + i] <= '9'; i++) continue;
        if (length + strlen(number) > room) return length;
        memmove(text + at + strlen(number), text + at + i, length - at - i);
        memcpy(text + at, number, strlen(number));
        return length + strlen(number) - i;
    }
}

static void draw(const mdp_table *table, double x) {
    static mdp_report report;
    static unsigned char envelope[60 + MDP_LONGEST_REPORT];
    mdp_subject subject = mdp_table_subject(table);
    size_t left = MOST_DRAWN;
    if (mdp_draw(table, x, fill, &left, &report) == MDP_OK)
        mdp_envelope(table, &subject, &report, 1, envelope);
}

int main(int count, char **arguments) {
    size_t length = 0, room, now, i;
    long tries, read = 0, most = count > 2 ? strtol(arguments[2], NULL, 10) : 0;
    char *text = count > 2 ? text_of(arguments[1], &length) : NULL, *changed;
    mdp_table *first = count > 3 ? table_of(arguments[1]) : NULL;
    if (first != NULL) {
        free(text);
        text = text_of(arguments[3], &length);
    }
    if (text == NULL || (changed = (char *)malloc(room = length + 200)) == NULL) return 2;
    mdp_table_free(table_of(arguments[1]));
    for (tries = 0; tries < most; tries++) {
        mdp_table *table = NULL;
        mdp_device device;
        char *exact;
        memcpy(changed, text, now = length);
        for (i = 0; i <= next(3); i++) now = change(changed, now, room);
        exact = (char *)malloc(now + 1); /* so that a read after the end is noticed */
        if (exact == NULL) return 2;
        memcpy(exact, changed, now);
        if (mdp_table_read(exact, now, &table) == MDP_OK) {
            static const double inputs[] = {0, -1, 1, 0.5, 1e300, -0.25, 3, 1e-310, -1.5};
            read++;
            for (i = 0; i < sizeof inputs / sizeof inputs[0]; i++) draw(table, inputs[i]);
            mdp_sample_label(table, mdp_input_label(table, 0), &(mdp_report){0, NULL, 0, {0}});
        }
        if (first != NULL) read += mdp_device_read(exact, now, first, NULL, &device) == MDP_OK;
        mdp_table_free(table);
        free(exact);
    }
    printf("PASS %ld changed files, of which %ld were read\n", tries, read);
    mdp_table_free(first);
    free(changed);
    free(text);
    return 0;
}
