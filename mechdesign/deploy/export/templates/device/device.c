/* See @device@.h. C99. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#if !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include "@device@.h"

#include "@first@.h"
// @if other
#include "@again@.h"
// @end

#include <string.h>
#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>
#endif

// @if numbers
#if defined(__FAST_MATH__)
#error "do not compile with -ffast-math: minus zero would be a value of its own"
#endif

// @end
enum { SIZE = @guard@_SIZE, VALUES = @guard@_VALUES, LARGEST = 60 + 16 * 4096 }; /* that of any device */
#define MOST INT32_MAX
#define AHEAD 100
// @if points
@POINTS@
// @end
// @if output_labels
@OUTPUTS@
// @end
static const unsigned char KEY[32] = {
@key@
};

typedef struct {
    int32_t serial, period, made, held;
// @if items
    int64_t values[VALUES + 1]; /* one more than there is room for: C has no arrays of length zero */
    unsigned char drawn[VALUES + 1][@guard@_REPORT_BYTES];
// @else
    double entries[VALUES + 1][2]; /* one more than there is room for: C has no arrays of length zero */
// @end
} state;

static uint32_t word(const unsigned char *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put(unsigned char *bytes, uint32_t number) {
    int i;
    for (i = 0; i < 4; i++) bytes[i] = (unsigned char)(number >> 8 * i & 255);
}
// @if numbers

static double number(const unsigned char *bytes) {
    uint64_t bits = (uint64_t)word(bytes + 4) << 32 | word(bytes);
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static void put_number(unsigned char *bytes, double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    put(bytes, (uint32_t)(bits & UINT32_MAX));
    put(bytes + 4, (uint32_t)(bits >> 32));
}
// @end

/* CRC-32, as in zip files. */
static uint32_t checksum(const unsigned char *bytes, size_t length) {
    uint32_t sum = UINT32_MAX;
    size_t i;
    int bit;
    for (i = 0; i < length; i++) {
        sum ^= bytes[i];
        for (bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~sum;
}

static int known(const @device@_storage *storage, int32_t least, state *found) {
    unsigned char bytes[LARGEST];
// @if numbers
    const unsigned char zero[8] = {0};
// @end
    size_t length = 0, i, j;
    if (least < 0) return @guard@_BAD_NUMBER;
    if (storage->load(storage->context, bytes, sizeof bytes, &length) != 0) return @guard@_STORAGE;
    if (length == 0) return @guard@_MISSING;
    if (length > sizeof bytes || length < 60 || memcmp(bytes, "mdstate", 7) != 0) return @guard@_DAMAGED;
    if (checksum(bytes, length - 4) != word(bytes + length - 4)) return @guard@_DAMAGED;
    if (bytes[7] != @version@ || memcmp(bytes + 8, KEY, 32) != 0) return @guard@_OTHER;
    if (length != SIZE) return @guard@_DAMAGED;
    for (i = 40; i < 56; i += 4) {
        if (word(bytes + i) > (uint32_t)MOST) return @guard@_DAMAGED;
    }
    found->serial = (int32_t)word(bytes + 40);
    found->period = (int32_t)word(bytes + 44);
    found->made = (int32_t)word(bytes + 48);
    found->held = (int32_t)word(bytes + 52);
    if (found->serial < 1 || found->made > @guard@_REPORTS || found->held > VALUES) return @guard@_DAMAGED;
    for (i = 0; i < (size_t)found->held; i++) {
        const unsigned char *at = bytes + 56 + @entry@ * i;
// @if items
        uint32_t x = word(at);
        if (x >= @items@) return @guard@_DAMAGED;
        for (j = 0; j < i; j++) {
            if (found->values[j] == (int64_t)x) return @guard@_DAMAGED;
        }
        found->values[i] = (int64_t)x;
        memcpy(found->drawn[i], at + 4, @guard@_REPORT_BYTES);
// @else
        double x = number(at), y = number(at + 8);
        if (!(x - x == 0) || !(y - y == 0)) return @guard@_DAMAGED;
        if (x == 0 && memcmp(at, zero, 8) != 0) return @guard@_DAMAGED;
        for (j = 0; j < i; j++) {
            if (found->entries[j][0] == x) return @guard@_DAMAGED;
        }
// @if told
        for (j = 0; j < OUTPUTS_COUNT && OUTPUTS[j] != y; j++) continue;
        if (j == OUTPUTS_COUNT) return @guard@_DAMAGED;
// @end
        found->entries[i][0] = x;
        found->entries[i][1] = y;
// @end
    }
    for (i = 56 + @entry@ * (size_t)found->held; i < SIZE - 4; i++) {
        if (bytes[i] != 0) return @guard@_DAMAGED;
    }
    return found->serial < least ? @guard@_ROLLED_BACK : @guard@_OK;
}

static int store(const @device@_storage *storage, const state *next) {
    unsigned char bytes[SIZE];
// @if memory numbers
    size_t i;
// @end
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "mdstate\@version@", 8);
    memcpy(bytes + 8, KEY, 32);
    put(bytes + 40, (uint32_t)next->serial);
    put(bytes + 44, (uint32_t)next->period);
    put(bytes + 48, (uint32_t)next->made);
    put(bytes + 52, (uint32_t)next->held);
// @if memory numbers
    for (i = 0; i < (size_t)next->held; i++) {
// @if items
        put(bytes + 56 + @entry@ * i, (uint32_t)next->values[i]);
        memcpy(bytes + 60 + @entry@ * i, next->drawn[i], @guard@_REPORT_BYTES);
// @else
        put_number(bytes + 56 + 16 * i, next->entries[i][0]);
        put_number(bytes + 64 + 16 * i, next->entries[i][1]);
// @end
    }
// @end
    put(bytes + SIZE - 4, checksum(bytes, SIZE - 4));
    return storage->store(storage->context, bytes, SIZE) == 0 ? @guard@_OK : @guard@_STORAGE;
}

int @device@_create(const @device@_storage *storage, int32_t period, int32_t allowance, int32_t least) {
    state next;
    int outcome;
    if (period < 0 || allowance < 0 || allowance > @guard@_REPORTS || least < 0 || least == MOST) {
        return @guard@_BAD_NUMBER;
    }
    outcome = known(storage, least, &next);
    if (outcome == @guard@_OK) {
        if (period - next.period <= AHEAD) return @guard@_PRESENT;
        if (next.serial == MOST) return @guard@_EXHAUSTED;
    } else {
        if (outcome != @guard@_MISSING && outcome != @guard@_DAMAGED && outcome != @guard@_ROLLED_BACK) return outcome;
        next.serial = least;
        next.held = 0;
    }
    next.serial++;
    next.period = period;
    next.made = @guard@_REPORTS - allowance;
    return store(storage, &next);
}

static int reported(const @device@_storage *storage, @code_in@x, int32_t period, int32_t least,
                    int (*fill)(void *, unsigned char *, size_t), void *state_of_fill, @code_out@y) {
    state now;
// @if items
    unsigned char fresh[@guard@_REPORT_BYTES];
    const unsigned char *said = fresh;
// @else
    double fresh, said;
// @end
    int outcome;
    if (period < 0) return @guard@_BAD_NUMBER;
    outcome = known(storage, least, &now);
    if (outcome != @guard@_OK) return outcome;
    if (period < now.period) return @guard@_PAST;
    if (period - now.period > AHEAD) return @guard@_AHEAD;
    if (period > now.period) now.made = 0;
    if (now.made == @guard@_REPORTS || now.serial == MOST) return @guard@_EXHAUSTED;
// @if items
    outcome = fill ? @first_core@_from(x, fill, state_of_fill, fresh) : @first_core@(x, fresh);
    if (outcome != 0) return outcome; /* BAD_INPUT and NO_RANDOMNESS have the same numbers here */
// @else
    outcome = fill ? @first_core@_from(x, fill, state_of_fill, &fresh) : @first_core@(x, &fresh);
    if (outcome != 0) return outcome; /* BAD_INPUT and NO_RANDOMNESS have the same numbers here */
    said = fresh;
// @end
// @if memory
// @if items
    {
        int32_t place = 0;
        while (place < now.held && now.values[place] != x) place++;
        if (place == now.held && now.held < VALUES) {
            now.values[place] = x;
            memcpy(now.drawn[place], fresh, sizeof fresh);
            now.held++;
        }
        said = now.drawn[place < now.held ? place : VALUES - 1]; /* a value without room is taken for the last one */
    }
// @else
    {
        int32_t place = 0;
        x += 0.0; /* minus zero is zero */
        while (place < now.held && now.entries[place][0] != x) place++;
        if (place < now.held) said = now.entries[place][1];
        else if (now.held < VALUES) {
            now.entries[place][0] = x;
            now.entries[place][1] = fresh;
            now.held++;
        } else said = now.entries[VALUES - 1][1]; /* a value without room is taken for the last one */
    }
// @end
// @end
// @if again
    outcome = fill ? @again_core@_from(said, fill, state_of_fill, &fresh) : @again_core@(said, &fresh);
    if (outcome != 0) return outcome;
    said = fresh;
// @end
    now.serial++;
    now.period = period;
    now.made++;
    outcome = store(storage, &now);
// @if items
    if (outcome == @guard@_OK) memcpy(y, said, sizeof fresh);
// @else
    if (outcome == @guard@_OK) *y = said;
// @end
    return outcome;
}

int @core@_from(const @device@_storage *storage, @code_in@x, int32_t period, int32_t least,
                int (*fill)(void *, unsigned char *, size_t), void *state_of_fill, @code_out@y) {
    return reported(storage, x, period, least, fill, state_of_fill, y);
}

int @core@(const @device@_storage *storage, @code_in@x, int32_t period, int32_t least, @code_out@y) {
    return reported(storage, x, period, least, NULL, NULL, y);
}
// @if labels

int @device@_report(const @device@_storage *storage, @taken@x, int32_t period, int32_t least, @given@y) {
// @if numbers
    double said;
    int outcome;
// @end
// @if input_labels
    int64_t place = @first@_place_of(x);
    if (place < 0) return @guard@_BAD_INPUT;
// @end
// @if items
    return @device@_report_code(storage, place, period, least, y);
// @else
    outcome = @device@_report_code(storage, @code@, period, least, &said);
    if (outcome != @guard@_OK) return outcome;
// @if output_labels
    {
        size_t reported_at = 0;
        while (reported_at < OUTPUTS_COUNT - 1 && OUTPUTS[reported_at] != said) reported_at++;
        *y = @reporting@_output_labels[reported_at];
    }
// @else
    *y = said;
// @end
    return @guard@_OK;
// @end
}
// @end

int @device@_serial(const @device@_storage *storage, int32_t least, int32_t *serial) {
    state now;
    int outcome = known(storage, least, &now);
    if (outcome == @guard@_OK) *serial = now.serial;
    return outcome;
}
#if !defined(_WIN32)

static int beside(const @device@_file *file, const char *ending, char *name) {
    if (strlen(file->path) > @guard@_LONGEST) return -1;
    return sprintf(name, "%s%s", file->path, ending) < 0 ? -1 : 0;
}

/* The lock is held, and by this process: a child of fork() shares it, and has no state of its own. */
static int is_own(const @device@_file *file) {
    return file->lock >= 0 && file->owner == (long)getpid();
}

static int load_file(void *context, unsigned char *content, size_t room, size_t *length) {
    const @device@_file *file = (const @device@_file *)context;
    ssize_t got = 1;
    unsigned char more;
    int handle;
    *length = 0;
    if (!is_own(file)) return -1;
    handle = open(file->path, O_RDONLY);
    if (handle < 0) return errno == ENOENT ? 0 : -1;
    while (*length < room && (got = read(handle, content + *length, room - *length)) > 0) *length += (size_t)got;
    if (got > 0 && read(handle, &more, 1) == 1) *length = room + 1;
    close(handle);
    return got < 0 ? -1 : 0;
}

/* Waits until the disk has what was written. Apple's fsync waits for less, and its fcntl fails where a disk cannot. */
static int confirmed(int handle) {
#if defined(F_FULLFSYNC)
    if (fcntl(handle, F_FULLFSYNC) == 0) return 0;
#endif
    return fsync(handle);
}

static int confirm_folder(const char *path) {
    char folder[@guard@_LONGEST + 8];
    char *slash;
    int handle, outcome;
    strcpy(folder, path);
    slash = strrchr(folder, '/');
    if (slash == NULL) strcpy(folder, ".");
    else if (slash == folder) folder[1] = '\0';
    else *slash = '\0';
    handle = open(folder, O_RDONLY);
    if (handle < 0) return -1;
    outcome = confirmed(handle);
    close(handle);
    return outcome;
}

static int store_file(void *context, const unsigned char *content, size_t length) {
    const @device@_file *file = (const @device@_file *)context;
    char name[@guard@_LONGEST + 8];
    size_t done = 0;
    ssize_t put_now = 1;
    int handle, failed;
    if (!is_own(file) || beside(file, ".new", name) != 0) return -1;
    handle = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (handle < 0) return -1;
    while (done < length && (put_now = write(handle, content + done, length - done)) > 0) done += (size_t)put_now;
    failed = done < length || confirmed(handle) != 0;
    failed |= close(handle) != 0;
    if (failed || rename(name, file->path) != 0) return -1;
    return confirm_folder(file->path);
}

int @device@_open(@device@_file *file, const char *path, @device@_storage *storage) {
    char name[@guard@_LONGEST + 8];
    file->path = path;
    file->lock = -1;
    if (beside(file, ".lock", name) != 0) return @guard@_STORAGE;
    file->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file->lock < 0) return @guard@_STORAGE;
    if (flock(file->lock, LOCK_EX | LOCK_NB) != 0) {
        @device@_close(file);
        return @guard@_BUSY;
    }
    file->owner = (long)getpid();
    storage->load = load_file;
    storage->store = store_file;
    storage->context = file;
    return @guard@_OK;
}

void @device@_close(@device@_file *file) {
    if (file->lock >= 0) close(file->lock);
    file->lock = -1;
}
#endif
