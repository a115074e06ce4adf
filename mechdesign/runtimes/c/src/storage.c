/* The state of a device in a file: replaced at once, confirmed by the disk, and used by one process. */
#include "internal.h"

#include "mechdesign_device.h"

#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

typedef struct {
    char text[MDP_LONGEST_PATH + 8];
} path_name;

static int beside(const mdp_file *file, const char *ending, path_name *name) {
    if (strlen(file->path) > MDP_LONGEST_PATH) return -1;
    sprintf(name->text, "%s%s", file->path, ending);
    return 0;
}

/* The lock is held, and by this process: a child of fork() shares it, and has no state of its own. */
static int is_own(const mdp_file *file) { return file->lock >= 0 && file->owner == (long)getpid(); }

static int load_file(void *context, unsigned char *content, size_t room, size_t *length) {
    const mdp_file *file = (const mdp_file *)context;
    ssize_t got = 1;
    unsigned char more;
    int handle;
    *length = 0;
    if (!is_own(file)) return -1;
    handle = open(file->path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return errno == ENOENT ? 0 : -1;
    while (*length < room && (got = read(handle, content + *length, room - *length)) > 0)
        *length += (size_t)got;
    if (got > 0 && read(handle, &more, 1) == 1) *length = room + 1;
    close(handle);
    return got < 0 ? -1 : 0;
}

/* Waits until the disk has what was written. Apple's fsync waits for less, and its fcntl fails where a disk
 * cannot. */
static int confirmed(int handle) {
#if defined(F_FULLFSYNC)
    if (fcntl(handle, F_FULLFSYNC) == 0) return 0;
#endif
    return fsync(handle);
}

static int confirm_folder(const char *path) {
    path_name folder;
    char *slash;
    int handle, outcome;
    strcpy(folder.text, path);
    slash = strrchr(folder.text, '/');
    if (slash == NULL)
        strcpy(folder.text, ".");
    else if (slash == folder.text)
        slash[1] = '\0';
    else
        *slash = '\0';
    handle = open(folder.text, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return -1;
    outcome = confirmed(handle);
    close(handle);
    return outcome;
}

static int store_file(void *context, const unsigned char *content, size_t length) {
    const mdp_file *file = (const mdp_file *)context;
    path_name name;
    size_t done = 0;
    ssize_t put = 1;
    int handle, failed;
    if (!is_own(file) || beside(file, ".new", &name) != 0) return -1;
    handle = open(name.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (handle < 0) return -1;
    while (done < length && (put = write(handle, content + done, length - done)) > 0) done += (size_t)put;
    failed = done < length || confirmed(handle) != 0;
    failed |= close(handle) != 0;
    if (failed || rename(name.text, file->path) != 0) return -1;
    return confirm_folder(file->path);
}

MDP_SHARED int mdp_file_open(mdp_file *file, const char *path, mdp_storage *storage) {
    path_name name;
    file->path = path;
    file->lock = -1;
    if (beside(file, ".lock", &name) != 0) return MDP_STORAGE;
    file->lock = open(name.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file->lock < 0) return MDP_STORAGE;
    if (flock(file->lock, LOCK_EX | LOCK_NB) != 0) {
        mdp_file_close(file);
        return MDP_BUSY;
    }
    file->owner = (long)getpid();
    storage->load = load_file;
    storage->store = store_file;
    storage->context = file;
    return MDP_OK;
}

MDP_SHARED void mdp_file_close(mdp_file *file) {
    if (file->lock >= 0) close(file->lock);
    file->lock = -1;
}
#endif
