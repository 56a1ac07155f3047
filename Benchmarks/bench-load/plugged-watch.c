// Watchers that another benchmark program starts, see plugged.c: connections of one process that
// follow one stack, and measure the age of each diff when the last of them receives it.

#define _GNU_SOURCE
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"
#include "plugged.h"

struct follower {
  struct link *link;
  uint64_t revision;
};

struct following {
  const char *endpoint;
  long count, operations, stack, patience, has_bar;
  struct follower *followers;
  // The revision from which all followers begin.
  uint64_t first;
  // By operation: the time of sending, the time when the last watcher received it, and the number
  // of watchers that have it.
  uint64_t *sent, *last, *had;
  uint64_t delivered, gaps, skipped;
};

// Creates the stack unless it exists, because a watch needs one.
static void create_stack(struct following *all, struct link *link) {
  char message[256];
  struct text verb, body;
  size_t size = write_stack_creation(message, sizeof message, 1, all->stack);
  send_link(link, "nsp1.op", message, size);
  while (!take_link(link, &verb, &body)) fill_link(link, 0);
  if (!is_verb(verb, "nsp1.ok") && !find(body, "\"code\":\"nav-exists\""))
    fail("no stack", body.bytes, body.size);
}

static uint64_t begin_watch(struct following *all, struct link *link) {
  char message[128];
  struct text verb, body;
  int size = snprintf(message, sizeof message, "{\"id\":2,\"nav\":\"stk-%08ld\"%s}", all->stack,
                      all->has_bar ? "" : ",\"resolved\":false");
  send_link(link, "nsp1.watch", message, (size_t)size);
  while (!take_link(link, &verb, &body)) fill_link(link, 0);
  char *revision = find(body, "\"rev\":");
  if (!is_verb(verb, "nsp1.ok") || !revision) fail("watch", body.bytes, body.size);
  return read_number(revision);
}

static void follow(struct following *all, struct follower *follower, struct text body) {
  // Pushes and pops alternate and have different lengths, so each kind has places of its own.
  static size_t bases[2], operations[2];
  uint64_t now = nanoseconds();
  for (size_t first = 0, *place = &first;; place = &bases[follower->revision & 1]) {
    char *at = find_again(body, "\"base\":", place);
    if (!at) break;
    uint64_t base = read_number(at), number = base - all->first;
    body.size -= (size_t)(at - body.bytes), body.bytes = at;
    char *id = find_again(body, "\"op\":", &operations[base & 1]);
    if (base != follower->revision) all->gaps++;
    follower->revision = base + 1;
    if (!id || number >= (uint64_t)all->operations) continue;
    all->sent[number] = time_of(read_number(id));
    all->last[number] = now;
    all->had[number]++;
    all->delivered++;
  }
}

static void drain(struct following *all, struct follower *follower) {
  struct text verb, body;
  while (take_link(follower->link, &verb, &body)) {
    if (is_verb(verb, "nsp1.diff") || is_verb(verb, "nsp1.diffs")) {
      follow(all, follower, body);
    } else if (is_verb(verb, "nsp1.snap")) {
      uint64_t revision = read_number(find(body, "\"rev\":"));
      all->skipped += revision - follower->revision;
      follower->revision = revision;
    } else if (!is_verb(verb, "nsp1.mark")) {
      fail("unexpected", verb.bytes, verb.size);
    }
  }
}

static int connect_all(struct following *all) {
  int poll = epoll_create1(0);
  for (long index = 0; index < all->count; index++) {
    struct follower *follower = &all->followers[index];
    follower->link = connect_link(all->endpoint, "watcher");
    if (index == 0) create_stack(all, follower->link);
    follower->revision = begin_watch(all, follower->link);
    if (index == 0) all->first = follower->revision;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = follower};
    epoll_ctl(poll, EPOLL_CTL_ADD, link_descriptor(follower->link), &event);
  }
  return poll;
}

static void report(const struct following *all, double worked) {
  uint64_t expected = (uint64_t)(all->count * all->operations), first = 0, last = 0;
  uint64_t *values = calloc((size_t)all->operations, sizeof *values);
  size_t count = 0;
  for (long place = 0; place < all->operations; place++) {
    if (!all->had[place]) continue;
    if (!first || all->sent[place] < first) first = all->sent[place];
    if (all->last[place] > last) last = all->last[place];
    if (all->had[place] == (uint64_t)all->count) values[count++] = all->last[place] - all->sent[place];
  }
  sort(values, count);
  double elapsed = (double)(last - first) / 1e9;
  printf("{\"watchers\":%ld,\"delivered\":%llu,\"drops\":%llu,\"gaps\":%llu,\"skipped\":%llu,"
         "\"closed\":0,\"full_ops\":%zu,\"last_p50_us\":%.1f,\"last_p99_us\":%.1f,\"deliv_s\":%.0f,"
         "\"elapsed_s\":%.3f,\"watch_cpu\":%.3f}\n",
         all->count, (unsigned long long)all->delivered,
         (unsigned long long)(expected - all->delivered), (unsigned long long)all->gaps,
         (unsigned long long)all->skipped, count, quantile(values, count, .5),
         quantile(values, count, .99), elapsed > 0 ? (double)all->delivered / elapsed : 0, elapsed,
         own_processor_time() - worked);
}

int run_plugged_watcher(int count, char **arguments) {
  struct following all = {
      .endpoint = text_of(count, arguments, "ep", ""),
      .count = number_of(count, arguments, "n", 1),
      .operations = number_of(count, arguments, "ops", 1000),
      .stack = number_of(count, arguments, "stack", 0),
      .patience = number_of(count, arguments, "idle_ms", 1500),
      .has_bar = number_of(count, arguments, "bar", 0),
  };
  if (all.count < 1 || all.operations < 1) fail("numbers", "", 0);
  all.followers = calloc((size_t)all.count, sizeof *all.followers);
  all.sent = calloc((size_t)all.operations, sizeof *all.sent);
  all.last = calloc((size_t)all.operations, sizeof *all.last);
  all.had = calloc((size_t)all.operations, sizeof *all.had);
  int poll = connect_all(&all);
  printf("READY\n");
  fflush(stdout);
  double worked = own_processor_time();
  struct epoll_event events[128];
  while (all.delivered < (uint64_t)(all.count * all.operations)) {
    // The writer may need some seconds to begin.
    int found = epoll_wait(poll, events, 128, all.delivered ? (int)all.patience : 8000);
    if (found <= 0) break;
    for (int place = 0; place < found; place++) {
      struct follower *follower = events[place].data.ptr;
      if (fill_link(follower->link, MSG_DONTWAIT)) drain(&all, follower);
    }
  }
  report(&all, worked);
  return 0;
}
