/* Without randomness there is an error and no report. */
#include "@package@.h"

#include <stdio.h>

static int broken(void *state, unsigned char *bytes, size_t count) {
    (void)state;
    (void)bytes;
    (void)count;
    return -1;
}

@cases@
int main(void) {
    int missed = 0;
@failures@    if (missed == 0) puts("PASS without randomness");
    return missed != 0;
}
