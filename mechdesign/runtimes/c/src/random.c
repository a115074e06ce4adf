/* The system's randomness, read in blocks. */
#include "internal.h"

#if defined(_WIN32)
#include <windows.h>
#include <bcrypt.h>
#elif defined(__APPLE__)
#include <CommonCrypto/CommonCryptoError.h>
#include <CommonCrypto/CommonRandom.h>
#elif defined(__linux__) && !defined(__ANDROID__)
#include <errno.h>
#include <sys/random.h>
#else
#include <unistd.h>
#endif
#if !defined(_WIN32)
#include <pthread.h>
#endif

#if defined(_MSC_VER)
#define OF_THE_THREAD __declspec(thread)
#else
#define OF_THE_THREAD __thread
#endif

/* Bytes that are asked for here and now. */
MDP_SHARED int mdp_system(void *state, unsigned char *bytes, size_t count) {
    (void)state;
#if defined(_WIN32)
    return BCryptGenRandom(NULL, bytes, (ULONG)count, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0 ? 0 : -1;
#elif defined(__APPLE__)
    return CCRandomGenerateBytes(bytes, count) == kCCSuccess ? 0 : -1;
#elif defined(__ANDROID__) /* getrandom is not there before API 28 */
    arc4random_buf(bytes, count);
    return 0;
#elif defined(__linux__)
    while (count > 0) {
        ssize_t got = getrandom(bytes, count, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        bytes += got;
        count -= (size_t)got;
    }
    return 0;
#else
    size_t most = 256, part;
    for (; count > 0; bytes += part, count -= part) {
        part = count < most ? count : most;
        if (getentropy(bytes, part) != 0) return -1;
    }
    return 0;
#endif
}

/* Random bytes that are not used yet: the last `pooled` of a block. */
static OF_THE_THREAD unsigned char pool[MDP_POOL];
static OF_THE_THREAD size_t pooled = 0;

static void forget(void) {
    pooled = 0;
    memset(pool, 0, MDP_POOL);
}

#if defined(_WIN32)
static int can_pool(void) { return 1; }
#else
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_told_of_forks = 0;

static void ask_to_be_told(void) { is_told_of_forks = pthread_atfork(NULL, NULL, forget) == 0; }

/* Whether a child of fork() will forget the bytes that its parent may use. */
static int can_pool(void) { return pthread_once(&once, ask_to_be_told) == 0 && is_told_of_forks; }
#endif

/* So many bytes of the block, at most all, where they are: whoever asks erases them before more are taken.
 * NULL where there is no randomness. */
MDP_SHARED unsigned char *mdp_allot(size_t count) {
    if (pooled < count) {
        size_t fresh = MDP_POOL - pooled;
        if (!can_pool()) return mdp_system(NULL, pool, count) == 0 ? pool : NULL;
        memmove(pool, pool + fresh, pooled);
        if (mdp_system(NULL, pool + pooled, fresh) != 0) {
            forget();
            return NULL;
        }
        pooled = MDP_POOL;
    }
    pooled -= count;
    return pool + MDP_POOL - count - pooled;
}
