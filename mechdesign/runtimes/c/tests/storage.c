/* A state in a file is created, spent, counted and used by one: storage DEVICE.json TABLE.json [AGAIN.json]
 */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "mechdesign_device.h"
#include "read.h"

#include <string.h>
#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>

static int missed = 0;

static void require(int said, int expected, const char *what) {
    if (said == expected) return;
    printf("FAIL %s: %d\n", what, said);
    missed = 1;
}

int main(int count, char **arguments) {
    static mdp_report report;
    char folder[] = "./device-XXXXXX", path[64], lock[64];
    mdp_table *first, *again;
    mdp_device device;
    mdp_file file, other;
    mdp_storage storage, more;
    int32_t serial = 0, spent;
    size_t length = 0;
    char *json;
    double x;
    pid_t child;
    int said = 0;
    if (count < 3) return 2;
    json = text_of(arguments[1], &length);
    first = table_of(arguments[2]);
    again = count > 3 ? table_of(arguments[3]) : NULL;
    require(mdp_device_read(json, length, first, again, &device), MDP_OK, "read");
    require(mdp_device_read(json, length - 2, first, again, &device), MDP_BAD_FILE, "a file that was cut");
    require(mdp_device_read(json, length, first, again == NULL ? first : NULL, &device), MDP_BAD_FILE,
            "another table");
    for (x = -1; mdp_sample_code(first, x, &report) != MDP_OK; x += 0.5) continue;
    if (mkdtemp(folder) == NULL) return 2;
    sprintf(path, "%s/state", folder);
    sprintf(lock, "%s/state.lock", folder);
    require(mdp_file_open(&file, path, &storage), MDP_OK, "opened");
    require(mdp_device_report_from(&device, &storage, x, 20, 0, NULL, NULL, &report), MDP_MISSING,
            "no state");
    require(mdp_device_create(&device, &storage, 20, device.reports + 1, 0), MDP_BAD_NUMBER,
            "too many granted");
    require(mdp_device_create(&device, &storage, 20, 1, 0), MDP_OK, "created");
    require(mdp_device_create(&device, &storage, 20, 1, 0), MDP_PRESENT, "created twice");
    require(mdp_device_report_label(&device, &storage, "no such label", 20, 0, &report), MDP_BAD_INPUT,
            "another text");
    if (mdp_input_count(first) > 0) {
        require(mdp_device_report(&device, &storage, x, 20, 0, &report), MDP_BAD_INPUT,
                "a number for a label");
        require(mdp_device_report_label(&device, &storage, mdp_input_label(first, 0), 20, 0, &report), MDP_OK,
                "a report");
    } else
        require(mdp_device_report(&device, &storage, x, 20, 0, &report), MDP_OK, "a report");
    require(mdp_output_count(again == NULL ? first : again) > 0, report.label != NULL,
            "the label of a report");
    require(mdp_device_report_from(&device, &storage, x, 20, 0, NULL, NULL, &report), MDP_EXHAUSTED,
            "one too many");
    require(mdp_file_open(&other, path, &more), MDP_BUSY, "used by two");
    child = fork();
    if (child == 0) _exit(mdp_device_serial(&device, &storage, 0, &serial));
    waitpid(child, &said, 0);
    require(WEXITSTATUS(said), MDP_STORAGE, "used by a child");
    mdp_file_close(&file);
    require(mdp_device_serial(&device, &storage, 0, &serial), MDP_STORAGE, "used after it was closed");
    require(mdp_file_open(&file, path, &storage), MDP_OK, "opened again");
    require(mdp_device_serial(&device, &storage, 0, &serial), MDP_OK, "a serial");
    require((int)serial, 2, "states stored");
    require(mdp_device_serial(&device, &storage, 3, &serial), MDP_ROLLED_BACK, "an older state");
    for (spent = 0; spent < device.reports; spent++) {
        require(mdp_device_report_from(&device, &storage, x, 21, 0, NULL, NULL, &report), MDP_OK,
                "a later period");
    }
    require(mdp_device_report_from(&device, &storage, x, 21, 0, NULL, NULL, &report), MDP_EXHAUSTED,
            "a period's last");
    require(mdp_device_report_from(&device, &storage, x, 20, 0, NULL, NULL, &report), MDP_PAST,
            "an earlier period");
    mdp_file_close(&file);
    remove(path);
    remove(lock);
    rmdir(folder);
    mdp_table_free(first);
    mdp_table_free(again);
    free(json);
    if (missed == 0) puts("PASS a state in a file");
    return missed;
}
#else
int main(void) {
    puts("PASS without a storage: on Windows the app brings its own");
    return 0;
}
#endif
