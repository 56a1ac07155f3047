#pragma once

// No _GNU_SOURCE here: the compiler's own module of the C library is built without it, and types
// that differ between two modules cannot be used together.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/// errno is a macro, and open is variadic; Swift imports neither.
static inline int navd_errno(void) { return errno; }
static inline int navd_open(const char *path, int flags, mode_t mode) {
  return open(path, flags, mode);
}
static inline void navd_clear_errno(void) { errno = 0; }

/// The name in a directory entry is an array, which Swift imports as a tuple.
static inline const char *navd_entry_name(const struct dirent *entry) { return entry->d_name; }

/// fcntl is variadic.
static inline int navd_set_nonblocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0) return -1;
  return fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

/// Copies the path a Unix socket is bound to, without a terminating zero, and returns its length:
/// 0 for an unnamed or abstract socket, -1 when there is no telling.
static inline int navd_unix_socket_path(int descriptor, char *path, int room) {
  struct sockaddr_un address;
  socklen_t size = sizeof address;
  memset(&address, 0, sizeof address);
  if (getsockname(descriptor, (struct sockaddr *)&address, &size) < 0) return -1;
  if (address.sun_family != AF_UNIX) return -1;
  int length = (int)strnlen(address.sun_path, sizeof address.sun_path);
  if (length > room) return -1;
  memcpy(path, address.sun_path, (size_t)length);
  return length;
}

/// The number of processors that the calling thread may run on, or 1 when there is no telling.
static inline int navd_processor_count(void) {
  unsigned long mask[128];
  long size = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
  int count = 0;
  for (long word = 0; word < size / (long)sizeof *mask; word++)
    count += __builtin_popcountl(mask[word]);
  return count > 0 ? count : 1;
}

/// The number of a group, or -1 if there is none of that name.
static inline long navd_group_id(const char *name) {
  struct group *group = getgrnam(name);
  return group ? (long)group->gr_gid : -1;
}

/// Takes signals off their usual way, to be read from a descriptor: those that stop a service.
/// Threads inherit it, so call it before there are any.
static inline int navd_stop_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (pthread_sigmask(SIG_BLOCK, &signals, NULL) != 0) return -1;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  // A write beyond a limit of the size of files then fails like one on a full disk.
  signal(SIGXFSZ, SIG_IGN);
  return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

/// Raises the soft limit of open descriptors to the hard one.
static inline int navd_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit);
}

/// The soft limit of open descriptors, or -1.
static inline int64_t navd_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT64_MAX) return -1;
  return (int64_t)limit.rlim_cur;
}

/// The bytes of the file system of a path: those an ordinary process may use, and all. 0 or -1.
static inline int navd_disk_space(const char *path, uint64_t *available, uint64_t *size) {
  struct statvfs status;
  if (statvfs(path, &status) != 0) return -1;
  *available = (uint64_t)status.f_bavail * status.f_frsize;
  *size = (uint64_t)status.f_blocks * status.f_frsize;
  return 0;
}
