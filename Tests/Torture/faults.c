/* Fails calls on the files below FAULT_DIRECTORY: preloaded. Of the calls of the class FAULT_CLASS, FAULT_TIMES fail,
   from number FAULT_AT on, counted from 1. They fail with the number FAULT_ERROR; 0 means that they do half of what they
   should. FAULT_COUNTS is a file for the counts of all classes and at last of the failures, which a kill does not lose. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* faults-io has the same names in the same order. */
enum { OPEN, CREATE, READ, PREAD, WRITE, PWRITE, PWRITEV, SYNC, TRUNCATE, UNLINK, RENAME, MMAP, MKDIR, STAT, CLASSES };
static const char *const names[CLASSES] = {"open", "create", "read", "pread", "write", "pwrite", "pwritev",
                                           "sync", "truncate", "unlink", "rename", "mmap", "mkdir", "stat"};

static atomic_long *counts;
static char directory[512];
static int failing = -1, error;
static long first, times;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULT_COUNTS"), *below = getenv("FAULT_DIRECTORY"), *name = getenv("FAULT_CLASS");
  if (!path || !below) return;
  snprintf(directory, sizeof directory, "%s", below);
  int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || syscall(SYS_ftruncate, file, 4096L)) abort();
  counts = (atomic_long *)syscall(SYS_mmap, 0L, 4096L, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  if (counts == MAP_FAILED) abort();
  syscall(SYS_close, file);
  if (!name) return;
  for (int each = 0; each < CLASSES; each++)
    if (!strcmp(names[each], name)) failing = each;
  if (failing < 0) abort();
  first = atol(getenv("FAULT_AT"));
  times = atol(getenv("FAULT_TIMES"));
  error = atoi(getenv("FAULT_ERROR"));
}

static int is_below(const char *path) { return counts && path && !strncmp(path, directory, strlen(directory)); }

static int is_open_below(int file) {
  char link[64], path[600];
  if (!counts || file < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* Whether this call is one of those to fail; counts it. */
static int is_chosen(int class) {
  long number = ++counts[class];
  if (class != failing || number < first || number - first >= times) return 0;
  counts[CLASSES]++;
  return 1;
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define FAILED(result) \
  { \
    errno = error; \
    return result; \
  }

/* A call that moves bytes: what fails without a number moves half of them. */
#define MOVE(name, class, parameters, size, ...) \
  ssize_t name parameters { \
    static ssize_t(*real) parameters; \
    if (!real) real = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name); \
    if (is_open_below(file) && is_chosen(class)) { \
      if (error) FAILED(-1) \
      size = (size + 1) / 2; \
    } \
    return real(__VA_ARGS__); \
  }

MOVE(read, READ, (int file, void *data, size_t count), count, file, data, count)
MOVE(pread, PREAD, (int file, void *data, size_t count, off_t at), count, file, data, count, at)
MOVE(pread64, PREAD, (int file, void *data, size_t count, off64_t at), count, file, data, count, at)
MOVE(write, WRITE, (int file, const void *data, size_t count), count, file, data, count)
MOVE(pwrite, PWRITE, (int file, const void *data, size_t count, off_t at), count, file, data, count, at)
MOVE(pwrite64, PWRITE, (int file, const void *data, size_t count, off64_t at), count, file, data, count, at)
/* Half of the pieces. */
MOVE(pwritev, PWRITEV, (int file, const struct iovec *data, int count, off_t at), count, file, data, count, at)
MOVE(pwritev64, PWRITEV, (int file, const struct iovec *data, int count, off64_t at), count, file, data, count, at)

#define ON_FILE(name, class, parameters, ...) \
  int name parameters { \
    static int(*real) parameters; \
    if (!real) real = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
    if (is_open_below(file) && is_chosen(class)) FAILED(-1) \
    return real(__VA_ARGS__); \
  }

ON_FILE(fsync, SYNC, (int file), file)
ON_FILE(fdatasync, SYNC, (int file), file)
ON_FILE(ftruncate, TRUNCATE, (int file, off_t length), file, length)
ON_FILE(ftruncate64, TRUNCATE, (int file, off64_t length), file, length)
ON_FILE(unlinkat, UNLINK, (int file, const char *name, int flags), file, name, flags)
ON_FILE(fstat, STAT, (int file, struct stat *status), file, status)
ON_FILE(fstat64, STAT, (int file, struct stat64 *status), file, status)

#define ON_PATH(name, class, parameters, ...) \
  int name parameters { \
    static int(*real) parameters; \
    if (!real) real = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
    if (is_below(path) && is_chosen(class)) FAILED(-1) \
    return real(__VA_ARGS__); \
  }

ON_PATH(unlink, UNLINK, (const char *path), path)
ON_PATH(rename, RENAME, (const char *path, const char *target), path, target)
ON_PATH(link, RENAME, (const char *path, const char *target), path, target)
ON_PATH(mkdir, MKDIR, (const char *path, mode_t mode), path, mode)
ON_PATH(stat, STAT, (const char *path, struct stat *status), path, status)
ON_PATH(stat64, STAT, (const char *path, struct stat64 *status), path, status)
ON_PATH(lstat, STAT, (const char *path, struct stat *status), path, status)
ON_PATH(lstat64, STAT, (const char *path, struct stat64 *status), path, status)

#define MAPPING(name) \
  void *name(void *place, size_t count, int protection, int flags, int file, off_t at) { \
    REAL(void *, name, void *, size_t, int, int, int, off_t); \
    if (!(flags & MAP_ANONYMOUS) && is_open_below(file) && is_chosen(MMAP)) FAILED(MAP_FAILED) \
    return real(place, count, protection, flags, file, at); \
  }
MAPPING(mmap)
MAPPING(mmap64)

DIR *opendir(const char *path) {
  REAL(DIR *, opendir, const char *);
  if (is_below(path) && is_chosen(OPEN)) FAILED(0)
  return real(path);
}

#define OPENING(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, name, const char *, int, ...); \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    if (is_below(path) && is_chosen(flags & O_CREAT ? CREATE : OPEN)) FAILED(-1) \
    return real(path, flags, mode); \
  }
OPENING(open)
OPENING(open64)
