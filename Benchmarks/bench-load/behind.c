// A watch that is behind: it stopped reading, or it comes back after it has missed much.

#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "load.h"

enum { body_room = (1 << 19) + 1, watch_count = 50 };

static void send_watch(void *socket, int id, const char *from) {
  char message[256];
  int size = snprintf(message, sizeof message, "{\"id\":%d,\"nav\":\"b.000000\"%s}", id, from);
  send_message(socket, "nsp1.watch", message, (size_t)size);
}

// The revision that a snapshot or the last diff of a message leads to; 0 if it is another message.
static uint64_t reached(const char *verb, const char *body) {
  if (!strcmp(verb, "nsp1.snap")) {
    const char *found = strstr(body, "\"rev\":");
    if (!found) fail("no revision", body, 256);
    return read_number(found + 6);
  }
  uint64_t revision = 0;
  if (strncmp(verb, "nsp1.diff", 9)) return 0;
  for (const char *at = body; (at = strstr(at, "\"base\":")); at += 7)
    revision = read_number(at + 7) + 1;
  return revision;
}

void watch_loosely(const struct plan *plan, struct shared *shared, int ready) {
  void *context = zmq_ctx_new();
  void *socket = connect_session(context, plan->endpoint, "watcher");
  char *body = malloc(body_room), verb[64];
  uint64_t revision = 0;
  send_watch(socket, first_id, "");
  while (!revision) {
    if (take_message(socket, verb, body, 0) < 0) fail("no snapshot", "", 0);
    revision = reached(verb, body);
  }
  if (write(ready, "r", 1) != 1) fail("ready", "", 0);
  int patience = 10;
  zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
  // How many revisions there are to reach is known only when everything is written.
  while (!shared->finished || revision < (uint64_t)shared->answered[0] + 1) {
    if (take_message(socket, verb, body, 0) < 0) {
      if (shared->finished && nanoseconds() - shared->finished > 20000000000u)
        fail("not at the head", "", 0);
      continue;
    }
    if (!strcmp(verb, "nsp1.end") || !strcmp(verb, "nsp1.bye")) fail(verb, body, strlen(body));
    uint64_t next = reached(verb, body);
    if (!next) continue;
    revision = next;
    shared->delivered = nanoseconds();
  }
}

// Watches from the first revision; returns how long it took to be at the head.
static uint64_t catch_up(void *socket, char *body, int id, const char *from, uint64_t head) {
  char verb[64];
  uint64_t begin = nanoseconds(), revision = 0;
  send_watch(socket, id, from);
  while (revision < head) {
    int size = take_message(socket, verb, body, 0);
    if (size < 0 || !strcmp(verb, "nsp1.err")) fail("watch", body, size < 0 ? 0 : (size_t)size);
    if (!strcmp(verb, "nsp1.ok") && *from && !strstr(body, "\"why\":\"lag\""))
      fail("no snapshot", body, (size_t)size);
    revision = reached(verb, body);
  }
  return nanoseconds() - begin;
}

int measure_behind(const char *endpoint, uint64_t revisions) {
  void *socket = connect_session(zmq_ctx_new(), endpoint, "watcher");
  char *body = malloc(body_room), from[128], epoch[17] = {0};
  uint64_t times[watch_count];
  catch_up(socket, body, first_id, "", revisions + 1);
  const char *found = strstr(body, "\"epoch\":\"");
  if (!found) fail("no epoch", body, 256);
  memcpy(epoch, found + 9, 16);
  snprintf(from, sizeof from, ",\"from\":{\"epoch\":\"%s\",\"rev\":1,\"dig\":\"00000000\"}", epoch);
  for (int index = 0; index < watch_count; index++)
    times[index] = catch_up(socket, body, first_id + 1 + index, from, revisions + 1);
  report_latencies(times, watch_count, "");
  printf("\n");
  return 0;
}
