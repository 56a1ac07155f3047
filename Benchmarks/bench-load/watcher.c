// Watching connections: every diff must follow the revision before.

#define _GNU_SOURCE
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

static void begin_watches(struct link *link, int first, int count, int has_bar) {
  char message[128];
  struct text verb, body;
  for (int nav = first; nav < first + count; nav++) {
    int size = snprintf(message, sizeof message, "{\"id\":%d,\"nav\":\"b.%06d\"%s}", first_id + nav, nav,
                        has_bar ? "" : ",\"resolved\":false");
    send_link(link, "nsp1.watch", message, (size_t)size);
  }
  for (int left = count; left > 0;) {
    if (!take_link(link, &verb, &body)) {
      fill_link(link, 0);
      continue;
    }
    if (is_verb(verb, "nsp1.err")) fail("watch", body.bytes, body.size);
    if (is_verb(verb, "nsp1.ok")) left--;
  }
}

// Checks and records the diffs of one message.
static void follow(struct shared *shared, uint64_t *revision, struct text body) {
  // Pushes and pops alternate and have different lengths, so each kind has places of its own.
  static size_t bases[2], operations[2];
  uint64_t now = nanoseconds(), count = 0;
  for (size_t first = 0, *place = &first;; place = &bases[*revision & 1], count++) {
    char *at = find_again(body, "\"base\":", place);
    if (!at) break;
    int turn = *revision & 1;
    if (read_number(at) != *revision) fail("a revision is missing", at, 32);
    ++*revision;
    body.size -= (size_t)(at - body.bytes), body.bytes = at;
    at = find_again(body, "\"op\":", &operations[turn]);
    if (!at) fail("no op", body.bytes, body.size);
    shared->seen[read_number(at) - first_id] = now;
    body.size -= (size_t)(at - body.bytes), body.bytes = at;
  }
  shared->deliveries += count;
  shared->delivered = now;
}

static void drain(struct link *link, struct shared *shared, uint64_t *revisions, int watches_all) {
  struct text verb, body;
  while (take_link(link, &verb, &body)) {
    if (is_verb(verb, "nsp1.diff") || is_verb(verb, "nsp1.diffs")) {
      // {"nav":"b.000000",
      follow(shared, watches_all ? &revisions[read_number(body.bytes + 10)] : revisions, body);
    } else if (!is_verb(verb, "nsp1.snap") && !is_verb(verb, "nsp1.mark")) {
      fail("unexpected", verb.bytes, verb.size);
    }
  }
}

void watch(const struct plan *plan, struct shared *shared, int ready) {
  int count = plan->watchers, places = plan->watches_all ? plan->navs : count;
  struct link **links = calloc((size_t)count, sizeof *links);
  uint64_t *revisions = calloc((size_t)places, sizeof *revisions);
  for (int index = 0; index < places; index++) revisions[index] = 1;
  int poll = epoll_create1(0);
  for (int index = 0; index < count; index++) {
    links[index] = connect_link(plan->endpoint, "watcher");
    begin_watches(links[index], plan->watches_own ? index : 0, plan->watches_all ? plan->navs : 1,
                  plan->has_bar);
    drain(links[index], shared, &revisions[plan->watches_all ? 0 : index], plan->watches_all);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    epoll_ctl(poll, EPOLL_CTL_ADD, link_descriptor(links[index]), &event);
  }
  if (write(ready, "r", 1) != 1) fail("ready", "", 0);
  uint64_t each = (uint64_t)(plan->warm + plan->operations);
  int is_once = plan->watches_all || plan->watches_own;
  uint64_t expected = is_once ? each : each * (uint64_t)count;
  struct epoll_event events[128];
  while (shared->deliveries < expected) {
    int found = epoll_wait(poll, events, 128, 20000);
    if (found == 0) fail("diffs are missing", "", 0);
    for (int place = 0; place < found; place++) {
      uint32_t index = events[place].data.u32;
      if (!fill_link(links[index], MSG_DONTWAIT)) continue;
      drain(links[index], shared, &revisions[plan->watches_all ? 0 : index], plan->watches_all);
    }
  }
}
