/* Records what a program writes below a directory, and what it syncs: preloaded, with RECORDER_DIRECTORY and
   RECORDER_LOG. A record is the line "OPERATION OFFSET COUNT PATH [SECOND PATH]" with tabs between, and COUNT
   bytes behind it. The lock makes the order of the records that of the calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char directory[512];
static int recording = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("RECORDER_LOG"), *below = getenv("RECORDER_DIRECTORY");
  if (!path || !below) return;
  snprintf(directory, sizeof directory, "%s", below);
  recording = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static int is_recorded(const char *path) {
  return recording >= 0 && !strncmp(path, directory, strlen(directory));
}

/* The path of a descriptor, without error for one that is recorded. */
static int is_open(int file, char *path, size_t size) {
  char link[64];
  if (recording < 0 || file == recording) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t count = readlink(link, path, size - 1);
  if (count <= 0) return 0;
  path[count] = 0;
  return is_recorded(path);
}

static void record(char operation, const char *path, const char *second, long offset, const struct iovec *data, int pieces,
                   long count) {
  char line[1400];
  struct iovec parts[300];
  int length = snprintf(line, sizeof line, "%c\t%ld\t%ld\t%s\t%s\n", operation, offset, count, path, second);
  parts[0] = (struct iovec){line, length};
  if (pieces > 299) abort();
  for (int i = 0; i < pieces; i++) parts[i + 1] = data[i];
  if (syscall(SYS_writev, recording, parts, pieces + 1) != length + count) abort();
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name); \
  char path[600]; \
  (void)path

/* Calls `call`, and records `note` if that succeeded; nobody else writes meanwhile. */
#define RECORDED(type, isRecorded, call, isDone, note) \
  if (!(isRecorded)) return call; \
  pthread_mutex_lock(&lock); \
  type result = call; \
  if (isDone) note; \
  pthread_mutex_unlock(&lock); \
  return result

#define WRITTEN(offset) record('w', path, "", offset, &(struct iovec){(void *)data, result}, 1, result)

ssize_t pwrite64(int file, const void *data, size_t count, off64_t offset) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
  RECORDED(ssize_t, is_open(file, path, sizeof path), real(file, data, count, offset), result > 0, WRITTEN(offset));
}

ssize_t pwrite(int file, const void *data, size_t count, off_t offset) { return pwrite64(file, data, count, offset); }

ssize_t write(int file, const void *data, size_t count) {
  REAL(ssize_t, write, int, const void *, size_t);
  RECORDED(ssize_t, is_open(file, path, sizeof path), real(file, data, count), result > 0,
           WRITTEN(lseek(file, 0, SEEK_CUR) - result));
}

ssize_t pwritev(int file, const struct iovec *data, int count, off_t offset) {
  REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
  long all = 0;
  for (int i = 0; i < count; i++) all += data[i].iov_len;
  RECORDED(ssize_t, is_open(file, path, sizeof path), real(file, data, count, offset), result == all,
           record('w', path, "", offset, data, count, result));
}

ssize_t pwritev64(int file, const struct iovec *data, int count, off64_t offset) {
  return pwritev(file, data, count, offset);
}

int ftruncate64(int file, off64_t length) {
  REAL(int, ftruncate64, int, off64_t);
  RECORDED(int, is_open(file, path, sizeof path), real(file, length), !result, record('t', path, "", length, 0, 0, 0));
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

int fsync(int file) {
  REAL(int, fsync, int);
  RECORDED(int, is_open(file, path, sizeof path), real(file), !result, record('s', path, "", 0, 0, 0, 0));
}

int fdatasync(int file) {
  REAL(int, fdatasync, int);
  RECORDED(int, is_open(file, path, sizeof path), real(file), !result, record('s', path, "", 0, 0, 0, 0));
}

static int opened(int at, const char *name, int flags, mode_t mode) {
  int isNew = (flags & O_CREAT) && is_recorded(name) && syscall(SYS_faccessat, AT_FDCWD, name, F_OK) != 0;
  RECORDED(int, isNew, syscall(SYS_openat, at, name, flags, mode), result >= 0, record('c', name, "", 0, 0, 0, 0));
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    return opened(AT_FDCWD, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

int unlink(const char *name) {
  REAL(int, unlink, const char *);
  RECORDED(int, is_recorded(name), real(name), !result, record('u', name, "", 0, 0, 0, 0));
}

int unlinkat(int at, const char *name, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  int isBelow = is_open(at, path, sizeof path);
  if (isBelow) strcat(strcat(path, "/"), name);
  RECORDED(int, isBelow, real(at, name, flags), !result, record('u', path, "", 0, 0, 0, 0));
}

int rename(const char *name, const char *target) {
  REAL(int, rename, const char *, const char *);
  RECORDED(int, is_recorded(name), real(name, target), !result, record('r', name, target, 0, 0, 0, 0));
}

int link(const char *name, const char *target) {
  REAL(int, link, const char *, const char *);
  RECORDED(int, is_recorded(name), real(name, target), !result, record('l', name, target, 0, 0, 0, 0));
}
