// Connections that watch: every diff must continue the revision before.

#define _GNU_SOURCE
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <zmq.h>

#include "load.h"

enum { message_limit = 1 << 19 };

struct mirrors {
  // By connection or by nav: the revision reached.
  uint64_t *revisions;
  uint64_t expected;
};

static void begin_watches(void *socket, int count, char *body) {
  char message[128], verb[64];
  for (int nav = 0; nav < count; nav++) {
    int size = snprintf(message, sizeof message, "{\"id\":%d,\"nav\":\"b.%06d\"}", first_id + nav, nav);
    send_message(socket, "nsp1.watch", message, (size_t)size);
  }
  for (int left = count; left > 0;) {
    int size = take_message(socket, verb, body, 0);
    if (size < 0 || !strcmp(verb, "nsp1.err")) fail("watch", body, size < 0 ? 0 : (size_t)size);
    if (!strcmp(verb, "nsp1.ok")) left--;
  }
}

// Follows the diffs of one message.
static void follow(struct shared *shared, uint64_t *revision, const char *body) {
  uint64_t now = nanoseconds(), count = 0;
  for (const char *at = body; (at = strstr(at, "\"base\":")); count++) {
    if (read_number(at + 7) != *revision) fail("a revision is missing", at, 32);
    ++*revision;
    at = strstr(at, "\"op\":");
    if (!at) fail("no op", body, 256);
    shared->seen[read_number(at + 5) - first_id] = now;
  }
  shared->deliveries += count;
  shared->delivered = now;
}

static void drain(void *socket, struct shared *shared, uint64_t *revisions, int watches_all,
                  char *body) {
  char verb[64];
  for (;;) {
    int size = take_message(socket, verb, body, ZMQ_DONTWAIT);
    if (size < 0) return;
    if (!strncmp(verb, "nsp1.diff", 9)) {
      // {"nav":"b.000000",
      follow(shared, watches_all ? &revisions[read_number(body + 10)] : revisions, body);
    } else if (strcmp(verb, "nsp1.snap") && strcmp(verb, "nsp1.mark")) {
      fail(verb, body, (size_t)size);
    }
  }
}

void watch(const struct plan *plan, struct shared *shared, int ready) {
  void *context = zmq_ctx_new();
  zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 4096);
  int count = plan->watchers, places = plan->watches_all ? plan->navs : count;
  void **sockets = calloc((size_t)count, sizeof *sockets);
  uint64_t *revisions = calloc((size_t)places, sizeof *revisions);
  for (int index = 0; index < places; index++) revisions[index] = 1;
  char *body = malloc(message_limit + 1);
  int poll = epoll_create1(0);
  for (int index = 0; index < count; index++) {
    sockets[index] = connect_session(context, plan->endpoint, "watcher");
    begin_watches(sockets[index], plan->watches_all ? plan->navs : 1, body);
    int descriptor;
    size_t size = sizeof descriptor;
    zmq_getsockopt(sockets[index], ZMQ_FD, &descriptor, &size);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
  }
  for (int index = 0; index < count; index++)
    drain(sockets[index], shared, &revisions[plan->watches_all ? 0 : index], plan->watches_all, body);
  if (write(ready, "r", 1) != 1) fail("ready", "", 0);
  uint64_t each = (uint64_t)(plan->warm + plan->operations);
  uint64_t expected = plan->watches_all ? each : each * (uint64_t)count;
  struct epoll_event events[128];
  while (shared->deliveries < expected) {
    int found = epoll_wait(poll, events, 128, 20000);
    if (found == 0) fail("diffs are missing", "", 0);
    for (int place = 0; place < found; place++) {
      uint32_t index = events[place].data.u32;
      drain(sockets[index], shared, &revisions[plan->watches_all ? 0 : index], plan->watches_all,
            body);
    }
  }
}
