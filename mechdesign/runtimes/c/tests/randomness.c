/* The system is asked for blocks, again where it gives few bytes or is interrupted; reports take as many
 * bytes for every input, which are erased; threads and children share none: randomness HASHING_TABLE.json */
#include "../src/internal.h"
#include "read.h"

#if defined(__linux__) && !defined(__ANDROID__)
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPORTS = 300, THREADS = 4, SEED = 8 };

static size_t asked = 0, calls = 0;

/* Stands before that of the C library. */
ssize_t getrandom(void *bytes, size_t count, unsigned flags);
ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    ssize_t got;
    if (++calls % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    got = syscall(SYS_getrandom, bytes, count < 1500 ? count : 1500, flags);
    if (got > 0) asked += (size_t)got;
    return got;
}

static int missed = 0;
static const mdp_table *table;
static unsigned char seeds[THREADS][REPORTS][SEED];

static void require(int is_true, const char *what) {
    if (is_true) return;
    printf("FAIL %s\n", what);
    missed = 1;
}

static size_t bytes_for(double x) {
    mdp_report report;
    size_t before = asked;
    int i;
    for (i = 0; i < 10000; i++) require(mdp_sample_code(table, x, &report) == MDP_OK, "a report");
    return asked - before;
}

static void *draw_seeds(void *into) {
    mdp_report report;
    int i;
    for (i = 0; i < REPORTS; i++) {
        require(mdp_sample_code(table, 0, &report) == MDP_OK && report.size > SEED, "a report");
        memcpy((unsigned char *)into + SEED * i, report.bytes, SEED);
    }
    return NULL;
}

static int by_bytes(const void *first, const void *second) { return memcmp(first, second, SEED); }

static void require_different(int lists, const char *what) {
    int i, count = lists * REPORTS, same = 0;
    qsort(seeds, (size_t)count, SEED, by_bytes);
    for (i = 1; i < count; i++)
        same += memcmp(&seeds[0][0][0] + SEED * (i - 1), &seeds[0][0][0] + SEED * i, SEED) == 0;
    require(same == 0, what);
}

static void fork_and_draw(void) {
    int pipes[2], said;
    pid_t child;
    if (pipe(pipes) != 0 || (child = fork()) < 0) exit(2);
    draw_seeds(seeds[0]);
    if (child == 0) _exit(write(pipes[1], seeds[0], sizeof seeds[0]) != (ssize_t)sizeof seeds[0]);
    require(read(pipes[0], seeds[1], sizeof seeds[1]) == (ssize_t)sizeof seeds[1], "what a child draws");
    waitpid(child, &said, 0);
    require_different(2, "bytes of a parent in its child");
}

static void start_threads(void) {
    pthread_t threads[THREADS];
    int i;
    for (i = 0; i < THREADS; i++)
        require(pthread_create(threads + i, NULL, draw_seeds, seeds[i]) == 0, "a thread");
    for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    require_different(THREADS, "bytes of a thread in another");
}

int main(int count, char **arguments) {
    mdp_report report;
    unsigned char *next = NULL;
    size_t first, last, i;
    if (count < 2) return 2;
    table = table_of(arguments[1]);
    first = bytes_for(0);
    last = bytes_for((double)table->point_count - 1);
    require(first + MDP_POOL >= 10000 * table->enough && first <= 10000 * table->enough + MDP_POOL,
            "bytes asked for");
    require(last + MDP_POOL >= first && last <= first + MDP_POOL,
            "another number of bytes for another input");
    require(calls < asked / 500, "small pieces asked for");
    require(mdp_sample_code(table, 0, &report) == MDP_OK && (next = mdp_allot(1)) != NULL, "a byte");
    for (i = 1; i <= table->enough; i++)
        require(next[-(ptrdiff_t)i] == 0, "bytes that are used and still there");
    fork_and_draw();
    start_threads();
    if (missed == 0) puts("PASS randomness");
    return missed;
}
#else
int main(void) {
    puts("PASS without a system to stand in for");
    return 0;
}
#endif
