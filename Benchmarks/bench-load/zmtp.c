// The part of ZMTP 3.0 with the NULL mechanism that a DEALER on a Unix socket needs.

#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "load.h"

enum { first_room = 1 << 14, room_limit = 1 << 24, greeting_size = 64 };
enum { has_more = 1, is_long = 2, is_command = 4 };

struct link {
  int descriptor;
  // The received bytes, the size of their buffer, and how many of them are taken.
  char *bytes;
  size_t size, room, taken;
};

static void put_all(int descriptor, const void *bytes, size_t size) {
  for (size_t sent = 0; sent < size;) {
    ssize_t written = write(descriptor, (const char *)bytes + sent, size - sent);
    if (written < 0 && errno != EINTR) fail("write", strerror(errno), 64);
    if (written > 0) sent += (size_t)written;
  }
}

int fill_link(struct link *link, int flags) {
  if (link->taken) {
    link->size -= link->taken;
    memmove(link->bytes, link->bytes + link->taken, link->size);
    link->taken = 0;
  }
  if (link->size == link->room) {
    if (link->room == room_limit) fail("too long", "", 0);
    link->bytes = realloc(link->bytes, link->room *= 4);
  }
  ssize_t size = recv(link->descriptor, link->bytes + link->size, link->room - link->size, flags);
  if (size < 0 && errno == EAGAIN && flags) return 0;
  if (size < 0) fail("nothing is received", strerror(errno), 64);
  if (size == 0) fail("the server closed the connection", "", 0);
  link->size += (size_t)size;
  return 1;
}

// Takes the frame that begins at `at`; returns 0 if it is not yet complete.
static int take_frame(const struct link *link, size_t *at, int *flags, struct text *frame) {
  size_t left = link->size - *at;
  const unsigned char *head = (unsigned char *)link->bytes + *at;
  if (left < 2) return 0;
  size_t size = head[1], head_size = 2;
  if (head[0] & is_long) {
    head_size = 9;
    if (left < head_size) return 0;
    size = 0;
    for (int index = 1; index < 9; index++) size = size << 8 | head[index];
  }
  if (left - head_size < size) return 0;
  *flags = head[0];
  *frame = (struct text){link->bytes + *at + head_size, size};
  *at += head_size + size;
  return 1;
}

int take_link(struct link *link, struct text *verb, struct text *body) {
  int flags;
  for (;;) {
    size_t at = link->taken;
    if (!take_frame(link, &at, &flags, verb)) return 0;
    if (flags & is_command) {
      link->taken = at;
      continue;
    }
    if (!(flags & has_more)) fail("a message of one frame", verb->bytes, verb->size);
    if (!take_frame(link, &at, &flags, body)) return 0;
    if (flags & (has_more | is_command)) fail("not two frames", body->bytes, body->size);
    link->taken = at;
    return 1;
  }
}

int is_verb(struct text verb, const char *name) {
  return verb.size == strlen(name) && !memcmp(verb.bytes, name, verb.size);
}

void send_link(struct link *link, const char *verb, const char *body, size_t size) {
  char message[1024];
  size_t length = strlen(verb), at = 0;
  if (size + length + 11 > sizeof message) fail("too long to send", verb, length);
  message[at++] = has_more;
  message[at++] = (char)length;
  memcpy(message + at, verb, length), at += length;
  message[at++] = size > 255 ? is_long : 0;
  for (int shift = size > 255 ? 56 : 0; shift >= 0; shift -= 8) message[at++] = (char)(size >> shift);
  memcpy(message + at, body, size), at += size;
  put_all(link->descriptor, message, at);
}

static void shake_hands(struct link *link) {
  char greeting[greeting_size] = "\xff\0\0\0\0\0\0\0\0\x7f\3\0NULL";
  static const char ready[] = "\4\x1c\5READY\13Socket-Type\0\0\0\6DEALER";
  struct text command;
  int flags;
  put_all(link->descriptor, greeting, sizeof greeting);
  while (link->size < greeting_size) fill_link(link, 0);
  if ((unsigned char)link->bytes[0] != 0xff || link->bytes[10] < 3) fail("no ZMTP 3", "", 0);
  link->taken = greeting_size;
  put_all(link->descriptor, ready, sizeof ready - 1);
  for (size_t at = greeting_size; !take_frame(link, &at, &flags, &command);) {
    fill_link(link, 0);
    at = link->taken;
  }
  if (!(flags & is_command) || command.size < 6 || memcmp(command.bytes, "\5READY", 6))
    fail("not ready", command.bytes, command.size);
}

struct link *connect_link(const char *endpoint, const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strncmp(endpoint, "ipc://", 6) || strlen(endpoint + 6) >= sizeof address.sun_path)
    fail("no endpoint for a watcher", endpoint, strlen(endpoint));
  strcpy(address.sun_path, endpoint + 6);
  struct link *link = calloc(1, sizeof *link);
  link->bytes = malloc(link->room = first_room);
  link->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(link->descriptor, (struct sockaddr *)&address, sizeof address))
    fail("connect", endpoint, strlen(endpoint));
  struct timeval patience = {.tv_sec = 20};
  setsockopt(link->descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  shake_hands(link);
  char hello[256];
  send_link(link, "nsp1.hello", hello, write_hello(hello, sizeof hello, name));
  struct text verb, body;
  while (!take_link(link, &verb, &body)) fill_link(link, 0);
  if (!is_verb(verb, "nsp1.welcome")) fail("no welcome", body.bytes, body.size);
  return link;
}

void disconnect_link(struct link *link) {
  close(link->descriptor);
  free(link->bytes);
  free(link);
}

int link_descriptor(const struct link *link) { return link->descriptor; }
