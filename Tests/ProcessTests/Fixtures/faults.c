/* Fails reads of the files below FAULT_DIRECTORY with the number FAULT_ERROR: preloaded. The read number FAULT_AT fails,
   counted from 1, and every read while the file FAULT_WHILE is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long reads;

static int fails(int file) {
  const char *below = getenv("FAULT_DIRECTORY"), *at = getenv("FAULT_AT"), *during = getenv("FAULT_WHILE");
  char link[64], path[600];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t count = readlink(link, path, sizeof path - 1);
  if (!below || count <= 0) return 0;
  path[count] = 0;
  if (strncmp(path, below, strlen(below))) return 0;
  if (!(at && ++reads == atol(at)) && !(during && access(during, F_OK) == 0)) return 0;
  errno = atoi(getenv("FAULT_ERROR"));
  return 1;
}

#define HOOK(name, parameters, ...) \
  ssize_t name parameters { \
    static ssize_t(*real) parameters; \
    if (!real) real = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name); \
    return fails(file) ? -1 : real(__VA_ARGS__); \
  }

HOOK(read, (int file, void *bytes, size_t count), file, bytes, count)
HOOK(pread, (int file, void *bytes, size_t count, off_t place), file, bytes, count, place)
HOOK(pread64, (int file, void *bytes, size_t count, off64_t place), file, bytes, count, place)
