/* Fails reads of the files below FAULT_DIRECTORY with the number FAULT_ERROR: preloaded. The read number FAULT_AT fails,
   counted from 1, and every read while the file FAULT_WHILE is there. A sync lasts for as long as the file SYNC_WHILE is
   there, and makes SYNC_WHILE.begun first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

static void wait_for_sync(void) {
  const char *during = getenv("SYNC_WHILE");
  char begun[600];
  if (!during || access(during, F_OK)) return;
  snprintf(begun, sizeof begun, "%s.begun", during);
  close(open(begun, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  while (access(during, F_OK) == 0) usleep(1000);
}

int fdatasync(int file) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_for_sync();
  return real(file);
}
