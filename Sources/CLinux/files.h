#pragma once

// Files in directories that other users may own. Each call follows no link, and changes what it has open.

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/// Makes a directory with exactly this mode, whatever the umask is; 0 or -1.
static inline int navd_make_directory(const char *path, mode_t mode) {
  if (mkdir(path, mode) < 0) return -1;
  // By descriptor: a user who may write the parent could put a link in its place.
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return -1;
  struct stat made;
  int result = fstat(directory, &made);
  if (result == 0 && made.st_uid != geteuid()) errno = EPERM, result = -1;
  if (result == 0) result = fchmod(directory, mode);
  int code = errno;
  close(directory);
  errno = code;
  return result;
}

/// Opens a lock file for its owner alone, and makes it if there is none; -1, with ELOOP for a link,
/// and EPERM for a file that another user owns or that has a second name.
static inline int navd_open_lock(const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  struct stat status;
  if (file < 0) return -1;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      status.st_nlink == 1)
    return file;
  close(file);
  return errno = EPERM, -1;
}

/// Gives the socket file at a path a group, unless it is -1, and a mode; -1 with ESTALE if another file
/// is there than the one of this device and number.
static inline int navd_admit(const char *path, uint64_t device, uint64_t number, gid_t group,
                             mode_t mode) {
  // __O_PATH is O_PATH, which is not declared without _GNU_SOURCE. A socket cannot be opened otherwise.
  int file = open(path, __O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat status;
  char place[32];
  snprintf(place, sizeof place, "/proc/self/fd/%d", file);
  int result = fstat(file, &status);
  if (result == 0 && (status.st_dev != device || status.st_ino != number))
    errno = ESTALE, result = -1;
  if (result == 0 && group != (gid_t)-1) result = chown(place, (uid_t)-1, group);
  if (result == 0) result = chmod(place, mode);
  int code = errno;
  close(file);
  errno = code;
  return result;
}

/// The process that listens at the path of a local socket; -1 if none does. It is 0 if the kernel does not
/// name it: another PID namespace, no permission, another type of socket, or a full queue.
static inline int navd_listener(const char *path) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  // Of a connected socket, the kernel names the process that called listen(2) at the other end.
  struct {
    pid_t process;
    uid_t user;
    gid_t group;
  } peer = {0, 0, 0};
  socklen_t size = sizeof peer;
  int result = -1;
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0)
    result = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ? 0 : (int)peer.process;
  else if (errno == EAGAIN || errno == EACCES || errno == EPROTOTYPE)
    result = 0;
  close(descriptor);
  return result;
}
