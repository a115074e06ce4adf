/* Labels are found, numbers are refused where there are labels, and a file that was cut is refused: refused
 * TABLE.json */
#include "mechdesign_envelope.h"
#include "read.h"

#include <string.h>

static int missed = 0;

static void require(int is_true, const char *what) {
    if (is_true) return;
    printf("FAIL %s\n", what);
    missed = 1;
}

int main(int count, char **arguments) {
    static mdp_report report;
    size_t length = 0, i;
    char *json = count > 1 ? text_of(arguments[1], &length) : NULL;
    mdp_table *table = count > 1 ? table_of(arguments[1]) : NULL, *none = NULL;
    size_t labels = table == NULL ? 0 : mdp_input_count(table), step = length / 2000 + 1;
    if (table == NULL) return 2;
    for (i = 0; i < labels; i++) {
        const char *label = mdp_input_label(table, i);
        require(mdp_input_place(table, label) == (int32_t)i, "the place of a label");
        require(mdp_sample_label(table, label, &report) == MDP_OK, "a report for a label");
        require(mdp_output_count(table) == 0 || report.label != NULL, "a report without its label");
    }
    require(mdp_input_label(table, labels) == NULL, "one label more");
    require(mdp_output_label(table, mdp_output_count(table)) == NULL, "one output label more");
    require(mdp_sample_label(table, "no such label", &report) == MDP_BAD_INPUT, "another text");
    require(mdp_sample_label(table, "", &report) == MDP_BAD_INPUT, "no text");
    require(mdp_sample_label(table, NULL, &report) == MDP_BAD_INPUT, "nothing");
    require(labels == 0 || mdp_sample(table, 0, &report) == MDP_BAD_INPUT, "a number for a label");
    for (i = 0; i + 1 < length; i += step) {
        require(mdp_table_read(json, i, &none) == MDP_BAD_FILE, "a file that was cut");
    }
    require(none == NULL, "a table of a file that was cut");
    mdp_table_free(table);
    free(json);
    if (missed == 0) puts("PASS what is no input and no file is refused");
    return missed;
}
