// A DEALER socket with a session, and functions to send and receive messages.

#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "load.h"

enum { body_limit = 1 << 19 };

uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

_Noreturn void fail(const char *what, const void *detail, size_t size) {
  fprintf(stderr, "bench-load: %s: %.*s\n", what, (int)size, (const char *)detail);
  _exit(1);
}

int take(void *socket, char *to, int flags) {
  int size = zmq_recv(socket, to, body_limit, flags);
  if (size > body_limit) fail("too long", "", 0);
  return size;
}

int take_message(void *socket, char *verb, char *body, int flags) {
  int size = take(socket, verb, flags);
  if (size < 0) return -1;
  verb[size] = 0;
  size = take(socket, body, 0);
  if (size >= 0) body[size] = 0;
  return size;
}

void send_message(void *socket, const char *verb, const char *body, size_t size) {
  if (zmq_send(socket, verb, strlen(verb), ZMQ_SNDMORE) < 0 || zmq_send(socket, body, size, 0) < 0)
    fail("send", zmq_strerror(zmq_errno()), 64);
}

uint64_t read_number(const char *text) {
  uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; text++) number = number * 10 + (uint64_t)(*text - '0');
  return number;
}

char *find(struct text text, const char *what) {
  size_t size = strlen(what);
  char *found = memmem(text.bytes, text.size, what, size);
  return found ? found + size : 0;
}

char *find_again(struct text text, const char *what, size_t *place) {
  size_t size = strlen(what);
  if (*place + size <= text.size && !memcmp(text.bytes + *place, what, size))
    return text.bytes + *place + size;
  char *found = find(text, what);
  if (found) *place = (size_t)(found - text.bytes) - size;
  return found;
}

size_t write_hello(char *to, size_t room, const char *name) {
  unsigned char random[16];
  int source = open("/dev/urandom", O_RDONLY);
  if (read(source, random, sizeof random) != sizeof random) fail("random", "", 0);
  close(source);
  char client[33];
  for (int index = 0; index < 16; index++) sprintf(client + 2 * index, "%02x", random[index]);
  return (size_t)snprintf(to, room,
                          "{\"ver\":[1,1],\"client\":\"%s\",\"name\":\"%s\",\"nonce\":\"n\","
                          "\"hb\":60000,\"flow\":\"none\"}",
                          client, name);
}

void *connect_session_telling(void *context, const char *endpoint, const char *name,
                              char *body) {
  void *socket = zmq_socket(context, ZMQ_DEALER);
  int no_wait = 0, patience = 20000, interval = 2;
  zmq_setsockopt(socket, ZMQ_LINGER, &no_wait, sizeof no_wait);
  zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
  zmq_setsockopt(socket, ZMQ_RECONNECT_IVL, &interval, sizeof interval);
  if (zmq_connect(socket, endpoint) < 0) fail("connect", endpoint, strlen(endpoint));
  char hello[256], verb[64];
  size_t room = write_hello(hello, sizeof hello, name);
  send_message(socket, "nsp1.hello", hello, room);
  int size = take_message(socket, verb, body, 0);
  if (size < 0 || strcmp(verb, "nsp1.welcome")) fail("no welcome", body, size < 0 ? 0 : (size_t)size);
  return socket;
}

void *connect_session(void *context, const char *endpoint, const char *name) {
  char *welcome = malloc(body_limit + 1);
  void *socket = connect_session_telling(context, endpoint, name, welcome);
  free(welcome);
  return socket;
}

void *connect_process(void *context, const struct plan *plan, int process, const char *name) {
  char endpoints[2048], *parts[process_limit];
  int count = 0;
  if ((size_t)snprintf(endpoints, sizeof endpoints, "%s", plan->endpoint) >= sizeof endpoints)
    fail("endpoints", plan->endpoint, 64);
  for (char *part = strtok(endpoints, ","); part && count < process_limit; part = strtok(0, ","))
    parts[count++] = part;
  if (!count) fail("endpoint is missing", "", 0);
  return connect_session(context, parts[process % count], name);
}
