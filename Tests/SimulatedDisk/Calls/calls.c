/* The calls of libc that a simulated disk replaces. A call of a thread without a disk, or of a file outside of the disk's
   directory, goes to libc unchanged. */
#define _GNU_SOURCE
#include "simulated_disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static __thread struct simulated_disk *disk;

void simulated_disk_attach(struct simulated_disk *next) { disk = next; }

/* Whether a path is the directory of the disk or below it. */
static bool is_below(const char *path) {
  size_t length = disk ? strlen(disk->directory) : 0;
  return length && !strncmp(path, disk->directory, length) && (!path[length] || path[length] == '/');
}

/* Whether a descriptor is that of a file of the disk, whose path it stores. */
static bool is_file(int file, char *path, size_t size) {
  char link[64];
  if (!disk) return false;
  int saved = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t count = readlink(link, path, size - 1);
  errno = saved;
  if (count <= 0) return false;
  path[count] = 0;
  return is_below(path);
}

static void record(char operation, const char *path, const char *second, int64_t offset, const void *bytes, int64_t count) {
  if (disk->record) disk->record(disk->context, operation, path, second, offset, bytes, count);
}

/* Counts a call; returns whether it fails, with the reason in errno, 0 for a short write. */
static bool fails(enum simulated_call call) {
  disk->calls[call]++;
  if (disk->fault_call != (int)call || disk->is_dead) return false;
  if (disk->fault_lasts ? disk->calls[call] < disk->fault_at : disk->calls[call] != disk->fault_at) return false;
  disk->faults++;
  errno = disk->fault_error;
  return true;
}

/* Counts a change; returns how many of its `count` bytes are made, -1 for all of them. */
static int64_t bytes_made(int64_t count) {
  if (disk->is_dead) return 0;
  if (++disk->changes < disk->last_change) return -1;
  disk->is_dead = true;
  return disk->last_bytes < count ? disk->last_bytes : -1;
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name); \
  char path[600]; \
  (void)path

static ssize_t written(int file, const char *path, const void *bytes, size_t count, off64_t offset) {
  int64_t made = count;
  if (fails(SIMULATED_WRITE)) {
    if (errno) return -1;
    made = count / 2;
  }
  int64_t limit = bytes_made(made);
  int64_t wanted = limit < 0 ? made : limit;
  if (wanted > 0 && syscall(SYS_pwrite64, file, bytes, wanted, offset) != wanted) abort();
  if (wanted > 0) record('w', path, "", offset, bytes, wanted);
  return made;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
  return is_file(file, path, sizeof path) ? written(file, path, bytes, count, offset) : real(file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return pwrite64(file, bytes, count, offset); }

ssize_t write(int file, const void *bytes, size_t count) {
  REAL(ssize_t, write, int, const void *, size_t);
  if (!is_file(file, path, sizeof path)) return real(file, bytes, count);
  off_t offset = lseek(file, 0, SEEK_CUR);
  ssize_t result = written(file, path, bytes, count, offset);
  if (result > 0) lseek(file, offset + result, SEEK_SET);
  return result;
}

ssize_t pwritev(int file, const struct iovec *pieces, int count, off_t offset) {
  REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
  if (!is_file(file, path, sizeof path)) return real(file, pieces, count, offset);
  size_t all = 0;
  for (int i = 0; i < count; i++) all += pieces[i].iov_len;
  char *bytes = malloc(all + 1);
  for (size_t i = 0, at = 0; i < (size_t)count; at += pieces[i++].iov_len)
    memcpy(bytes + at, pieces[i].iov_base, pieces[i].iov_len);
  ssize_t result = written(file, path, bytes, all, offset);
  free(bytes);
  return result;
}

ssize_t pwritev64(int file, const struct iovec *pieces, int count, off64_t offset) {
  return pwritev(file, pieces, count, offset);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
  REAL(ssize_t, pread64, int, void *, size_t, off64_t);
  if (is_file(file, path, sizeof path) && fails(SIMULATED_READ)) {
    if (errno) return -1;
    count /= 2;
  }
  return real(file, bytes, count, offset);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) { return pread64(file, bytes, count, offset); }

ssize_t read(int file, void *bytes, size_t count) {
  REAL(ssize_t, read, int, void *, size_t);
  if (is_file(file, path, sizeof path) && fails(SIMULATED_READ)) {
    if (errno) return -1;
    count = (count + 1) / 2;
  }
  return real(file, bytes, count);
}

int ftruncate64(int file, off64_t length) {
  REAL(int, ftruncate64, int, off64_t);
  if (!is_file(file, path, sizeof path)) return real(file, length);
  if (fails(SIMULATED_TRUNCATE)) return errno ? -1 : (errno = EIO, -1);
  if (bytes_made(INT64_MAX) == 0) return 0;
  if (real(file, length)) return -1;
  record('t', path, "", length, 0, 0);
  return 0;
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

static int synced(int file, const char *path) {
  (void)file;
  if (fails(SIMULATED_SYNC)) return errno ? -1 : (errno = EIO, -1);
  if (!disk->is_dead) record('s', path, "", 0, 0, 0);
  return 0;
}

int fsync(int file) {
  REAL(int, fsync, int);
  return is_file(file, path, sizeof path) ? synced(file, path) : real(file);
}

int fdatasync(int file) {
  REAL(int, fdatasync, int);
  return is_file(file, path, sizeof path) ? synced(file, path) : real(file);
}

static int opened(const char *name, int flags, mode_t mode) {
  if (!is_below(name)) return syscall(SYS_openat, AT_FDCWD, name, flags, mode);
  if (fails(SIMULATED_OPEN)) return errno ? -1 : (errno = EMFILE, -1);
  int saved = errno;
  bool is_new = (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, name, F_OK) != 0;
  errno = saved;
  if (is_new && bytes_made(INT64_MAX) == 0) return errno = EIO, -1;
  int result = syscall(SYS_openat, AT_FDCWD, name, flags, mode);
  if (is_new && result >= 0) record('c', name, "", 0, 0, 0);
  return result;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    return opened(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

/* Changes a name unless that fails or the process is dead. */
#define NAMED(is_own, call, operation, first, second) \
  if (!(is_own)) return call; \
  if (fails(SIMULATED_NAME)) return errno ? -1 : (errno = EIO, -1); \
  if (bytes_made(INT64_MAX) == 0) return 0; \
  int result = call; \
  if (!result) record(operation, first, second, 0, 0, 0); \
  return result

int unlink(const char *name) {
  REAL(int, unlink, const char *);
  NAMED(is_below(name), real(name), 'u', name, "");
}

int unlinkat(int at, const char *name, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  bool is_own = is_file(at, path, sizeof path);
  if (is_own) strcat(strcat(path, "/"), name);
  NAMED(is_own, real(at, name, flags), 'u', path, "");
}

int rename(const char *name, const char *target) {
  REAL(int, rename, const char *, const char *);
  NAMED(is_below(name), real(name, target), 'r', name, target);
}

int link(const char *name, const char *target) {
  REAL(int, link, const char *, const char *);
  NAMED(is_below(name), real(name, target), 'l', name, target);
}
