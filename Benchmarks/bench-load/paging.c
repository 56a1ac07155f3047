// Operations on a nav in memory, while another client uses navs that are in the journal only.

#define _GNU_SOURCE
#include <string.h>
#include <time.h>
#include <zmq.h>

#include "load.h"

enum { body_room = (1 << 19) + 1, alone_count = 400 };

static void take_ok(void *socket, char *body) {
  char verb[64];
  int size = take_message(socket, verb, body, 0);
  if (size < 0 || strcmp(verb, "nsp1.ok")) fail("no ok", body, size < 0 ? 0 : (size_t)size);
}

// Performs the operation with this number on the nav in memory; returns the time until the answer.
static uint64_t operate(void *socket, char *body, int number) {
  static const char *const operations[] = {
      "{\"pop\":{}}",
      "{\"push\":{\"screen\":{\"id\":\"a\"}}}",
      "{\"nav.create\":{\"root\":{\"id\":\"r\"}}}",
  };
  char message[256];
  int size = snprintf(message, sizeof message,
                      "{\"id\":%d,\"nav\":\"used\",\"if\":{\"any\":true},\"do\":[%s]}",
                      first_id + number, operations[number ? number % 2 : 2]);
  uint64_t begin = nanoseconds();
  send_message(socket, "nsp1.op", message, (size_t)size);
  take_ok(socket, body);
  return nanoseconds() - begin;
}

// Waits until the daemon has unloaded all navs.
static void await_dormant(void *socket, char *body) {
  for (int id = 0; id < 600; id++) {
    char message[64];
    int size = snprintf(message, sizeof message, "{\"id\":%d,\"what\":\"stats\"}", first_id + id);
    send_message(socket, "nsp1.get", message, (size_t)size);
    take_ok(socket, body);
    if (strstr(body, "\"loadedNavs\":0,")) return;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, 0);
  }
  fail("navs stay in memory", body, 256);
}

int measure_paging(const char *endpoint, int navs) {
  void *context = zmq_ctx_new();
  void *reader = connect_session(context, endpoint, "reader");
  void *other = connect_session(context, endpoint, "other");
  char *body = malloc(body_room);
  uint64_t *during = calloc((size_t)navs, sizeof *during), *get = calloc((size_t)navs, sizeof *get);
  uint64_t alone[alone_count];
  int number = 0;
  await_dormant(reader, body);
  operate(other, body, number++);
  for (int index = 0; index < alone_count; index++) alone[index] = operate(other, body, number++);
  for (int index = 0; index < navs; index++) {
    char message[64];
    int size = snprintf(message, sizeof message, "{\"id\":%d,\"nav\":\"b.%06d\"}",
                        first_id + 1000 + index, index);
    uint64_t begin = nanoseconds();
    send_message(reader, "nsp1.get", message, (size_t)size);
    // The daemon has taken the `get`, and not answered it.
    nanosleep(&(struct timespec){.tv_nsec = 100000}, 0);
    during[index] = operate(other, body, number++);
    take_ok(reader, body);
    get[index] = nanoseconds() - begin;
  }
  report_latencies(during, (size_t)navs, "");
  report_latencies(alone, alone_count, "alone_");
  report_latencies(get, (size_t)navs, "get_");
  printf("\n");
  return 0;
}
