// A watch that is behind, because it stopped reading or comes back after many revisions.

#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "load.h"

enum { body_room = (1 << 19) + 1, watch_count = 50, replay_count = 20 };

static void send_watch(void *socket, int id, const char *from) {
  char message[256];
  int size = snprintf(message, sizeof message, "{\"id\":%d,\"nav\":\"b.000000\"%s}", id, from);
  send_message(socket, "nsp1.watch", message, (size_t)size);
}

// The revision to which a snapshot or the last diff of a message leads; 0 for other messages.
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
  // The last revision is known only after everything is written.
  while (!shared->finished || revision < (uint64_t)shared->answered[0] + 1) {
    if (take_message(socket, verb, body, 0) < 0) {
      if (shared->finished && nanoseconds() - shared->finished > 20000000000u)
        fail("not at the head", "", 0);
      continue;
    }
    if (!strcmp(verb, "nsp1.end") || !strcmp(verb, "nsp1.bye")) fail(verb, body, strlen(body));
    uint64_t next = reached(verb, body);
    if (!next) continue;
    // A snapshot replaces all revisions before it; a diff leads to the next one.
    int is_snapshot = !strcmp(verb, "nsp1.snap");
    uint64_t first = is_snapshot ? next : read_number(strstr(body, "\"base\":") + 7) + 1;
    if (first > revision + 1) *(is_snapshot ? &shared->skipped : &shared->lost) += first - revision - 1;
    revision = next;
    shared->delivered = nanoseconds();
  }
}

// Watches with `from`, which makes the server send a snapshot; returns the time until the watch is
// at the head, in nanoseconds.
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

// Takes all diffs from the first revision on; returns the time until the watch is at the head, in
// nanoseconds.
static uint64_t replay(struct link *link, int id, const char *epoch, const char *digest,
                       uint64_t head) {
  char message[256];
  struct text verb, body;
  int is_resumed = 0;
  uint64_t begin = nanoseconds(), revision = 1;
  int size = snprintf(message, sizeof message,
                      "{\"id\":%d,\"nav\":\"b.000000\",\"from\":{\"epoch\":\"%.16s\",\"rev\":1,"
                      "\"dig\":\"%s%.16s\"}}",
                      id, epoch, digest, epoch);
  send_link(link, "nsp1.watch", message, (size_t)size);
  while (revision < head) {
    if (!take_link(link, &verb, &body)) {
      fill_link(link, 0);
    } else if (is_verb(verb, "nsp1.err")) {
      fail("watch", body.bytes, body.size);
    } else if (is_verb(verb, "nsp1.ok")) {
      is_resumed = find(body, "\"mode\":\"resume\"") != 0;
      if (!is_resumed) fail("not from the ring", body.bytes, body.size);
    } else if (is_resumed) {
      for (char *at; (at = find(body, "\"base\":"));) {
        if (read_number(at) != revision++) fail("a revision is missing", at, 32);
        body.size -= (size_t)(at - body.bytes), body.bytes = at;
      }
    }
  }
  return nanoseconds() - begin;
}

// Writes the first half of the digest of a nav with one screen at its first revision: the CRC-32 of
// the text `state`, in hexadecimal. The other half is its epoch.
static void write_first_digest(char digest[9]) {
  static const char state[] =
      "n1000000000@1\n:bar@1\n:toolbar@1\n:presented@1\n:transition@1\n:environment@1\n:settings@1";
  uint32_t rest = 0xffffffff;
  for (const char *at = state; *at; at++) {
    rest ^= (unsigned char)*at;
    for (int bit = 0; bit < 8; bit++) rest = rest >> 1 ^ (rest & 1 ? 0xedb88320 : 0);
  }
  sprintf(digest, "%08x", ~rest);
}

// Watches the first nav; returns the body of the answer.
static struct text join(struct link *link) {
  static const char message[] = "{\"id\":1000000000,\"nav\":\"b.000000\"}";
  struct text verb, body;
  send_link(link, "nsp1.watch", message, sizeof message - 1);
  while (!take_link(link, &verb, &body)) fill_link(link, 0);
  if (!is_verb(verb, "nsp1.ok")) fail("watch", body.bytes, body.size);
  return body;
}

uint64_t read_revision(const char *endpoint) {
  struct link *link = connect_link(endpoint, "reader");
  struct text answer = join(link);
  char *found = find(answer, "\"rev\":");
  if (!found) fail("no revision", answer.bytes, answer.size);
  uint64_t revision = read_number(found);
  disconnect_link(link);
  return revision;
}

int measure_replay(const char *endpoint, uint64_t revisions) {
  struct link *link = connect_link(endpoint, "watcher");
  char digest[9], epoch[17] = {0};
  uint64_t times[replay_count];
  write_first_digest(digest);
  struct text answer = join(link);
  char *found = find(answer, "\"epoch\":\"");
  if (!found) fail("no epoch", answer.bytes, answer.size);
  memcpy(epoch, found, 16);
  for (int index = 0; index < replay_count; index++)
    times[index] = replay(link, first_id + 1 + index, epoch, digest, revisions + 1);
  report_latencies(times, replay_count, "");
  printf("\n");
  disconnect_link(link);
  return 0;
}

int measure_behind(const char *endpoint, uint64_t revisions) {
  void *socket = connect_session(zmq_ctx_new(), endpoint, "watcher");
  char *body = malloc(body_room), from[128], epoch[17] = {0};
  uint64_t times[watch_count];
  catch_up(socket, body, first_id, "", revisions + 1);
  const char *found = strstr(body, "\"epoch\":\"");
  if (!found) fail("no epoch", body, 256);
  memcpy(epoch, found + 9, 16);
  snprintf(from, sizeof from, ",\"from\":{\"epoch\":\"%s\",\"rev\":1,\"dig\":\"00000000%s\"}", epoch,
           epoch);
  for (int index = 0; index < watch_count; index++)
    times[index] = catch_up(socket, body, first_id + 1 + index, from, revisions + 1);
  report_latencies(times, watch_count, "");
  printf("\n");
  return 0;
}
