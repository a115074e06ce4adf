static int operating_system(unsigned char *bytes, size_t count) {
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
