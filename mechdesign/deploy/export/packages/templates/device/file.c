/* A state in a file is created, spent, counted and used by one. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "@device@.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <unistd.h>

static int missed = 0;

static void require(int said, int expected, const char *what) {
    if (said == expected) return;
    printf("FAIL %s: %d\n", what, said);
    missed = 1;
}

int main(void) {
    char folder[] = "./device-XXXXXX", path[64], lock[64];
    @device@_file file, other;
    @device@_storage storage, more;
// @if items
    unsigned char y[@guard@_REPORT_BYTES] = {0};
// @else
    double y[1] = {0};
// @end
    int32_t serial = 0;
    if (mkdtemp(folder) == NULL) return 2;
    sprintf(path, "%s/state", folder);
    sprintf(lock, "%s/state.lock", folder);
    require(@device@_open(&file, path, &storage), @guard@_OK, "opened");
    require(@core@(&storage, @typical@, 20, 0, y), @guard@_MISSING, "no state");
    require(@device@_create(&storage, 20, 1, 0), @guard@_OK, "created");
    require(@device@_create(&storage, 20, 1, 0), @guard@_PRESENT, "created twice");
    require(@core@(&storage, @typical@, 20, 0, y), @guard@_OK, "a report");
    require(@core@(&storage, @typical@, 20, 0, y), @guard@_EXHAUSTED, "one too many");
    require(@device@_open(&other, path, &more), @guard@_BUSY, "used by two");
    @device@_close(&file);
    require(@device@_serial(&storage, 0, &serial), @guard@_STORAGE, "used after it was closed");
    require(@device@_open(&file, path, &storage), @guard@_OK, "opened again");
    require(@device@_serial(&storage, 0, &serial), @guard@_OK, "a serial");
    require((int)serial, 2, "states stored");
    require(@device@_serial(&storage, 3, &serial), @guard@_ROLLED_BACK, "an older state");
    @device@_close(&file);
    remove(path);
    remove(lock);
    rmdir(folder);
    if (missed == 0) puts("PASS a state in a file");
    return missed;
}
#else
int main(void) {
    puts("PASS without a storage: on Windows the app brings its own");
    return 0;
}
#endif
