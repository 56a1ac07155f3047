#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// GNU's, which the headers show with _GNU_SOURCE alone.
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);

/// The ends of a body that a reader gives; the library has them as macros with casts.
static const ssize_t MHD_CONTENT_READER_END_OF_STREAM_ = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t MHD_CONTENT_READER_END_WITH_ERROR_ = MHD_CONTENT_READER_END_WITH_ERROR;

/// Decodes a text of a URL in place. `%00` would end it early, so such a text stays as it is.
static inline size_t navd_http_unescape(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

/// Starts a server of connections that are handed to it; it runs in `MHD_run`. The functions of the
/// library that take options are variadic, which Swift does not import.
static inline struct MHD_Daemon *navd_http_start(
    MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed, void *context,
    unsigned connections, unsigned seconds) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler,
      context, MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_TIMEOUT, seconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_NOTIFY_COMPLETED, completed,
      NULL, MHD_OPTION_UNESCAPE_CALLBACK, navd_http_unescape, NULL, MHD_OPTION_END);
}

/// How many connections there are.
static inline unsigned navd_http_connections(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info =
      MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return info ? info->num_connections : 0;
}

/// Takes a connection that waits at a socket; 0, -1 if there is none, -2 if descriptors or memory lack.
static inline int navd_http_accept(struct MHD_Daemon *daemon, int listener) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  memset(&address, 0, sizeof address);
  int connection =
      accept4(listener, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (connection < 0) {
    int isStarved = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    return isStarved ? -2 : -1;
  }
  // Whether it takes the connection or not, it closes it.
  MHD_add_connection(daemon, connection, (struct sockaddr *)&address, size);
  return 0;
}

/// What becomes readable when `MHD_run` has something to do; -1 when there is no telling.
static inline int navd_http_descriptor(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

/// Milliseconds until `MHD_run` has something to do though nothing arrives; -1 for never. A second
/// at most while there are connections.
static inline int navd_http_timeout(struct MHD_Daemon *daemon) {
  MHD_UNSIGNED_LONG_LONG milliseconds;
  if (MHD_get_timeout(daemon, &milliseconds) == MHD_YES)
    return milliseconds > 1000 ? 1000 : (int)milliseconds;
  return navd_http_connections(daemon) > 0 ? 1000 : -1;
}

/// A response with a copy of a body; NULL without memory.
static inline struct MHD_Response *navd_http_copy(const void *body, size_t size) {
  return MHD_create_response_from_buffer(size, (void *)body, MHD_RESPMEM_MUST_COPY);
}

/// Lets a connection wait for as long as its response lasts.
static inline void navd_http_be_patient(struct MHD_Connection *connection) {
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
}

/// The descriptor of a connection; -1 when there is no telling.
static inline int navd_http_connection_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/// Ends a connection, so that the library notices it.
static inline void navd_http_shut_down(struct MHD_Connection *connection) {
  int descriptor = navd_http_connection_descriptor(connection);
  if (descriptor >= 0) shutdown(descriptor, SHUT_RDWR);
}

/// A set of descriptors to watch, itself a descriptor; -1 and errno when there is none.
static inline int navd_http_watch_set(void) { return epoll_create1(EPOLL_CLOEXEC); }

/// Watches a descriptor for reading, or only for the end of its connection.
static inline int navd_http_watch(int set, int descriptor, int for_end_only) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  // An end is reported once, a request as long as it waits.
  event.events = for_end_only ? EPOLLRDHUP | EPOLLONESHOT : EPOLLIN;
  event.data.fd = descriptor;
  return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

/// Watches a descriptor for reading, or pauses that.
static inline void navd_http_watch_again(int set, int descriptor, int is_watched) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = is_watched ? EPOLLIN : 0;
  event.data.fd = descriptor;
  epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event);
}

/// The descriptors of a set that are ready, at most 64; returns how many.
static inline int navd_http_ready(int set, int descriptors[64]) {
  struct epoll_event events[64];
  int count = epoll_wait(set, events, 64, 0);
  for (int index = 0; index < count; index++) descriptors[index] = events[index].data.fd;
  return count < 0 ? 0 : count;
}

/// Opens one component of a path below a directory, never a link; -1 and errno when there is none.
static inline int navd_http_open_below(int directory, const char *name, int is_directory) {
  return openat(
      directory, name,
      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | (is_directory ? O_DIRECTORY : 0));
}

/// Opens a directory; -1 and errno when there is none.
static inline int navd_http_open_directory(const char *path) {
  return open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
}

/// The size of an open file, or -1 if it is no regular file.
static inline int64_t navd_http_file_size(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  return status.st_size;
}

/// Whether a numeric address is one of this machine alone: 1 or 0, or -1 for what is no address.
static inline int navd_is_loopback(const char *address) {
  struct in_addr four;
  struct in6_addr six;
  if (inet_pton(AF_INET, address, &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  if (inet_pton(AF_INET6, address, &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return -1;
}

static inline int navd_http_listen_on(
    int family, const struct sockaddr *address, socklen_t size) {
  int listener = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  int yes = 1;
  // bind gives the file the mode of the socket, less the umask; nobody connects before listen.
  int local = family == AF_UNIX;
  const char *path = local ? ((const struct sockaddr_un *)address)->sun_path : NULL;
  if ((local ? fchmod(listener, 0600)
             : setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes)) == 0 &&
      bind(listener, address, size) == 0 && (!local || chmod(path, 0660) == 0) &&
      listen(listener, 64) == 0)
    return listener;
  int code = errno;
  close(listener);
  errno = code;
  return -1;
}

/// A socket that listens on a numeric address; -1 and errno when there is none.
static inline int navd_http_listen_network(const char *address, unsigned short port) {
  struct sockaddr_in four;
  struct sockaddr_in6 six;
  memset(&four, 0, sizeof four);
  memset(&six, 0, sizeof six);
  if (inet_pton(AF_INET, address, &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    return navd_http_listen_on(AF_INET, (struct sockaddr *)&four, sizeof four);
  }
  if (inet_pton(AF_INET6, address, &six.sin6_addr) != 1) {
    errno = EINVAL;
    return -1;
  }
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  return navd_http_listen_on(AF_INET6, (struct sockaddr *)&six, sizeof six);
}

/// A socket that listens at a path, which its owner and group may use; one that a process left behind
/// is replaced, one that somebody listens on is not. -1 and errno when there is none.
static inline int navd_http_listen_local(const char *path) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address.sun_path, path, strlen(path));
  // If the queue of a socket is full, a blocking connect waits; this one fails with EAGAIN.
  int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0) return -1;
  struct stat there;
  if (connect(probe, (struct sockaddr *)&address, sizeof address) < 0 && errno == ECONNREFUSED &&
      lstat(path, &there) == 0 && S_ISSOCK(there.st_mode))
    unlink(path);
  close(probe);
  return navd_http_listen_on(AF_UNIX, (struct sockaddr *)&address, sizeof address);
}

/// The port that a socket listens on; 0 when there is no telling.
static inline unsigned short navd_http_port(int listener) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  if (getsockname(listener, (struct sockaddr *)&address, &size) < 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
  if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
  return 0;
}
