// @include randomness/system.c

#if defined(_MSC_VER)
#define OF_THE_THREAD __declspec(thread)
#else
#define OF_THE_THREAD __thread
#endif

/* Random bytes that are not used yet: the last `pooled` of a block. */
enum { POOL = 4096 };
static OF_THE_THREAD unsigned char pool[POOL];
static OF_THE_THREAD size_t pooled = 0;

#if defined(_WIN32)
static int can_pool(void) {
    return 1;
}
#else
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_told_of_forks = 0;

static void forget(void) {
    pooled = 0;
    memset(pool, 0, POOL);
}

static void ask_to_be_told(void) {
    is_told_of_forks = pthread_atfork(NULL, NULL, forget) == 0;
}

/* Whether a child of fork() will forget the bytes that its parent may use. */
static int can_pool(void) {
    return pthread_once(&once, ask_to_be_told) == 0 && is_told_of_forks;
}
#endif

static int take(unsigned char *bytes, size_t count) {
    if (count <= 8 && count <= pooled) { /* a number at most: sooner done than two calls */
        unsigned char *next = pool + POOL - pooled;
        size_t i;
        for (i = 0; i < count; i++) {
            bytes[i] = next[i];
            next[i] = 0;
        }
        pooled -= count;
        return 0;
    }
    while (count > 0) {
        size_t start, part;
        if (pooled == 0) {
            if (!can_pool()) return operating_system(bytes, count);
            if (operating_system(pool, POOL) != 0) return -1;
            pooled = POOL;
        }
        start = POOL - pooled;
        part = count < pooled ? count : pooled;
        pooled -= part;
        memcpy(bytes, pool + start, part);
        memset(pool + start, 0, part);
        bytes += part;
        count -= part;
    }
    return 0;
}
