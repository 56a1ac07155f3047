#pragma once

// No _GNU_SOURCE here: the compiler's own module of the C library is built without it, and types
// that differ between two modules cannot be used together.

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <linux/sockios.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#ifdef __GLIBC__
#include <nss.h>
#endif
#include <poll.h>
#include <sched.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files.h"

/// errno is a macro, and open is variadic; Swift imports neither.
static inline int navd_errno(void) { return errno; }
static inline int navd_open(const char *path, int flags, mode_t mode) {
  return open(path, flags, mode);
}
static inline void navd_clear_errno(void) { errno = 0; }
/// Sets errno, and returns -1.
static inline int navd_fail(int code) { return errno = code, -1; }

/// The name in a directory entry is an array, which Swift imports as a tuple.
static inline const char *navd_entry_name(const struct dirent *entry) { return entry->d_name; }

/// A mutable global, which Swift does not let one thread read.
static inline char **navd_environment(void) {
  extern char **environ;
  return environ;
}

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

/// A socket that listens on a path, non-blocking and closed on exec, or -1. What is at the path is
/// removed. The file is the owner's alone, whatever the umask is, which is the whole process's.
static inline int navd_listen_unix(const char *path, int backlog) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
  strcpy(address.sun_path, path);
  // Nobody's file: only what a process left behind that is gone.
  struct stat there;
  if (lstat(path, &there) == 0 && !S_ISSOCK(there.st_mode)) return errno = EEXIST, -1;
  if (unlink(path) < 0 && errno != ENOENT) return -1;
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  if (fchmod(descriptor, 0600) == 0 &&
      bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0 &&
      listen(descriptor, backlog) == 0)
    return descriptor;
  int code = errno;
  close(descriptor);
  errno = code;
  return -1;
}

/// Runs a function in a process of its own, which ends with what it returns; Swift does not import
/// fork. Only while there is one thread. Returns the process, or -1.
static inline pid_t navd_start_child(int (*body)(void *), void *context) {
  pid_t child = fork();
  if (child == 0) _exit(body(context));
  return child;
}

// GNU's, which the headers show with _GNU_SOURCE alone.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

/// Has a program that is being started close all descriptors from one on.
static inline int navd_close_from(posix_spawn_file_actions_t *actions, int from) {
  return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

/// Waits for the end of a child: what it returned, 256 if it was killed, or -1.
static inline int navd_await_child(pid_t child) {
  int status;
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

/// Reads a numeric address of IPv4 or IPv6; returns its length, or 0 if it is none.
static inline socklen_t navd_internet_address(const char *host, int port,
                                              struct sockaddr_storage *address) {
  memset(address, 0, sizeof *address);
  struct sockaddr_in *four = (struct sockaddr_in *)address;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
  if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons((unsigned short)port);
    return sizeof *four;
  }
  if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons((unsigned short)port);
    return sizeof *six;
  }
  return 0;
}

/// Whether a numeric address is one of a single place: 1, or 0 for a wildcard or a group of places,
/// and -1 for a text that is no address.
static inline int navd_is_named_address(const char *host) {
  struct sockaddr_storage address;
  if (navd_internet_address(host, 0, &address) == 0) return -1;
  if (address.ss_family == AF_INET) {
    unsigned number = ntohl(((struct sockaddr_in *)&address)->sin_addr.s_addr);
    return number != INADDR_ANY && !IN_MULTICAST(number) && number != INADDR_BROADCAST;
  }
  struct in6_addr *six = &((struct sockaddr_in6 *)&address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(six)) return 0;
  return !IN6_IS_ADDR_UNSPECIFIED(six) && !IN6_IS_ADDR_MULTICAST(six);
}

/// Binds a socket to an address; says in `awaited` whether it is one that no interface has yet.
static inline int navd_bind_internet(int descriptor, const struct sockaddr_storage *address,
                                     socklen_t size, int *awaited) {
  *awaited = 0;
  if (bind(descriptor, (const struct sockaddr *)address, size) == 0) return 0;
  if (errno != EADDRNOTAVAIL) return -1;
  int on = 1;
  int is_four = address->ss_family == AF_INET;
  if (setsockopt(descriptor, is_four ? IPPROTO_IP : IPPROTO_IPV6,
                 is_four ? IP_FREEBIND : IPV6_FREEBIND, &on, sizeof on) < 0)
    return errno = EADDRNOTAVAIL, -1;
  *awaited = 1;
  return bind(descriptor, (const struct sockaddr *)address, size);
}

/// A socket that listens on a numeric address, non-blocking and closed on exec, or -1. Says in
/// `awaited` whether it is an address that no interface has yet.
static inline int navd_listen_tcp(const char *host, int port, int backlog, int *awaited) {
  struct sockaddr_storage address;
  socklen_t size = navd_internet_address(host, port, &address);
  if (size == 0) return errno = EINVAL, -1;
  int descriptor = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  int on = 1;
  // A restart must not wait for the connections of the process before.
  if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      navd_bind_internet(descriptor, &address, size, awaited) == 0 &&
      listen(descriptor, backlog) == 0)
    return descriptor;
  int code = errno;
  close(descriptor);
  errno = code;
  return -1;
}

/// Writes the numeric address that a socket of the internet is bound to, and its port into `port`;
/// returns the length of the address, or -1 for another kind of socket.
static inline int navd_tcp_socket_address(int descriptor, char *host, int room, int *port) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &size) < 0) return -1;
  const void *number;
  if (address.ss_family == AF_INET) {
    number = &((struct sockaddr_in *)&address)->sin_addr;
    *port = ntohs(((struct sockaddr_in *)&address)->sin_port);
  } else if (address.ss_family == AF_INET6) {
    number = &((struct sockaddr_in6 *)&address)->sin6_addr;
    *port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
  } else {
    return -1;
  }
  if (!inet_ntop(address.ss_family, number, host, (socklen_t)room)) return -1;
  return (int)strlen(host);
}

/// The user at the other end of a Unix socket, or -1; and the process, which may be gone.
static inline long navd_peer_user(int descriptor, int *process) {
  // struct ucred, which is not declared without _GNU_SOURCE.
  struct {
    pid_t process;
    uid_t user;
    gid_t group;
  } peer;
  socklen_t size = sizeof peer;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -1;
  *process = (int)peer.process;
  return peer.user == (uid_t)-1 ? -1 : (long)peer.user;
}

/// Whether a socket has at most some bytes that its peer has not taken, and takes more; true for what
/// is no socket or has ended. Once full, a local socket takes more when three quarters were read.
static inline int navd_has_read(int descriptor, int most) {
  int count = 0;
  struct pollfd entry = {.fd = descriptor, .events = POLLOUT};
  return ioctl(descriptor, SIOCOUTQ, &count) < 0 || (count <= most && poll(&entry, 1, 0) > 0);
}

/// Ends a connection without closing its descriptor, which somebody else owns: he sees its end. What
/// listens, or is no socket, is left alone.
static inline void navd_cut(int descriptor) {
  int listens = 0;
  socklen_t size = sizeof listens;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && !listens)
    shutdown(descriptor, SHUT_RDWR);
}

/// Whether a descriptor is a socket of this machine.
static inline int navd_is_unix(int descriptor) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

/// A number that no other socket has had since the machine started; 0 for what is no socket.
static inline uint64_t navd_socket_cookie(int descriptor) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

/// Closes a descriptor; the C library's close is the program's own, see SocketCalls.swift.
static inline int navd_close(int descriptor) { return (int)syscall(SYS_close, descriptor); }

/// Whether a socket was accepted from a listening one: it has the path or the port of that one.
static inline int navd_was_accepted_from(int descriptor, int listening) {
  struct sockaddr_storage own, other;
  socklen_t own_size = sizeof own, other_size = sizeof other, size = sizeof(int);
  int listens = 1;
  memset(&own, 0, sizeof own);
  memset(&other, 0, sizeof other);
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || listens ||
      getsockname(descriptor, (struct sockaddr *)&own, &own_size) < 0 ||
      getsockname(listening, (struct sockaddr *)&other, &other_size) < 0 ||
      own.ss_family != other.ss_family)
    return 0;
  if (own.ss_family == AF_UNIX)
    return own_size == other_size && memcmp(&own, &other, own_size) == 0;
  if (own.ss_family == AF_INET)
    return ((struct sockaddr_in *)&own)->sin_port == ((struct sockaddr_in *)&other)->sin_port;
  return own.ss_family == AF_INET6 &&
         ((struct sockaddr_in6 *)&own)->sin6_port == ((struct sockaddr_in6 *)&other)->sin6_port;
}

/// So many zeroes, of which pages take memory once they are written to; calloc's.
static inline void *navd_zeroes(size_t count, size_t size) { return calloc(count, size); }

/// Calls crypto_box_open of libsodium, which the caller's own stands in front of; -1 without libsodium.
static inline int navd_next_box_open(unsigned char *plain, const unsigned char *box,
                                     unsigned long long size, const unsigned char *nonce,
                                     const unsigned char *public_key,
                                     const unsigned char *secret_key) {
  typedef int box_open(unsigned char *, const unsigned char *, unsigned long long,
                       const unsigned char *, const unsigned char *, const unsigned char *);
  static _Atomic(box_open *) next;
  box_open *found = next;
  // RTLD_NEXT, which is not declared without _GNU_SOURCE.
  if (!found) next = found = (box_open *)dlsym((void *)-1l, "crypto_box_open");
  return found ? found(plain, box, size, nonce, public_key, secret_key) : -1;
}

/// The bytes that a peer has sent and nobody has read yet; 0 for what is no socket. ioctl is variadic.
static inline int navd_arrived_bytes(int descriptor) {
  int count = 0;
  return ioctl(descriptor, FIONREAD, &count) < 0 ? 0 : count;
}

/// Gives freed memory back to the kernel, where the C library can.
static inline void navd_trim_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// Lets this process look protocols up in /etc/protocols only.
///
/// The first context of libzmq 4.3 asks for the protocol of PGM. By Debian's nsswitch.conf, glibc then
/// searches 44 folders for a library that is seldom there: 0.3 of the 4 ms that a program needs to
/// send one message.
static inline void navd_look_up_protocols_in_file(void) {
#ifdef __GLIBC__
  __nss_configure_lookup("protocols", "files");
#endif
}

/// Accepts a connection as accept4 does, unless it would take one of the last descriptors: then it is
/// closed at once, and the result is that of a peer who has gone already.
static inline int navd_accept_sparingly(int listening, struct sockaddr *address, socklen_t *size,
                                        int flags) {
  enum { reserve = 64 };
  int descriptor = (int)syscall(SYS_accept4, listening, address, size, flags);
  if (descriptor < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
      errno = ECONNABORTED;
    return -1;
  }
  struct rlimit limit;
  // The kernel gives the lowest number, so all below are in use.
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)descriptor + reserve < limit.rlim_cur)
    return descriptor;
  close(descriptor);
  errno = ECONNABORTED;
  return -1;
}

/// Gives the file at a path a second name, in the place of what has that name; 0 if that is done.
static inline int navd_give_name(const char *path, const char *name) {
  char other[200];
  if (snprintf(other, sizeof other, "%s.%d", name, getpid()) >= (int)sizeof other)
    return errno = ENAMETOOLONG, -1;
  unlink(other);
  if (link(path, other) < 0) return -1;
  if (rename(other, name) == 0) return 0;
  int code = errno;
  unlink(other);
  errno = code;
  return -1;
}

/// What tells the file at a path from any other; 0 if it is there.
static inline int navd_file_identity(const char *path, uint64_t *device, uint64_t *number) {
  struct stat status;
  if (lstat(path, &status) < 0) return -1;
  *device = (uint64_t)status.st_dev;
  *number = (uint64_t)status.st_ino;
  return 0;
}

/// A copy of a descriptor that is closed on exec; fcntl is variadic.
static inline int navd_duplicate(int descriptor) {
  return fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

/// A descriptor to watch directories with, or -1.
static inline int navd_inotify(void) { return inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }

/// Makes the descriptor readable when an entry of a directory changes; -1 if there is none.
static inline int navd_watch_directory(int descriptor, const char *path) {
  uint32_t events = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
                    IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  return inotify_add_watch(descriptor, path, events);
}

/// Takes signals off their usual way, to be read from a descriptor: those that stop a service, and
/// the one that asks it to read its configuration again. Threads inherit it, so call it before
/// there are any.
static inline int navd_stop_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  if (pthread_sigmask(SIG_BLOCK, &signals, NULL) != 0) return -1;
  signal(SIGPIPE, SIG_IGN);
  // A signal that is ignored is not handed out either.
  signal(SIGHUP, SIG_DFL);
  // A write beyond a limit of the size of files then fails like one on a full disk.
  signal(SIGXFSZ, SIG_IGN);
  // navd uses none of these signals. Their default action would end the process.
  static const int others[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT};
  for (size_t index = 0; index < sizeof others / sizeof *others; index++) signal(others[index], SIG_IGN);
  for (int number = SIGRTMIN; number <= SIGRTMAX; number++) signal(number, SIG_IGN);
  return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

/// The next signal of a descriptor of `navd_stop_signals`, or 0 when there is none.
static inline int navd_next_signal(int descriptor) {
  struct signalfd_siginfo information;
  ssize_t size;
  do size = read(descriptor, &information, sizeof information);
  while (size < 0 && errno == EINTR);
  return size == sizeof information ? (int)information.ssi_signo : 0;
}

/// SIGTERM or SIGINT if one waits that `navd_stop_signals` blocks, else 0; leaves it where it is.
static inline int navd_pending_stop(void) {
  sigset_t signals;
  if (sigpending(&signals) != 0) return 0;
  return sigismember(&signals, SIGTERM) == 1 ? SIGTERM : sigismember(&signals, SIGINT) == 1 ? SIGINT : 0;
}

/// Lets the signals that `navd_stop_signals` blocks end the process, also one that waits already.
static inline void navd_unblock_stop_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

/// Raises the soft limit of open descriptors to the hard one.
static inline int navd_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit);
}

/// The soft limit of open descriptors, or with `isStack` of the bytes of a stack; -1 without a limit.
static inline int64_t navd_limit(int isStack) {
  struct rlimit limit;
  if (getrlimit(isStack ? RLIMIT_STACK : RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT64_MAX)
    return -1;
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
