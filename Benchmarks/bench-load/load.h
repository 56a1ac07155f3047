// What the parts of the load generator share.

#ifndef LOAD_H
#define LOAD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// One run, as the command line says.
struct plan {
  const char *endpoint;
  // Processes that write, and the operations each keeps unanswered.
  int processes, window;
  // Navs of each process, written in turn.
  int navs;
  // Operations of each process: before measuring, measured, and how many at most in a second.
  int warm, operations, rate;
  // Seconds after which nothing more is sent; 0 for no limit. Only without watchers.
  int seconds;
  // Screens of a nav before the first operation, and what is done: 0 pushes and pops a screen in
  // turn, 1 edits the item on top, 2 that at the bottom.
  int depth, edits;
  // Connections that watch: each the first nav, or one connection all navs of the first process.
  int watchers, watches_all;
  // Connections that watch the first nav and that nobody waits for, and whether they are stopped
  // until everything is written.
  int idle_watchers, is_stopped;
};

enum { process_limit = 64, first_id = 1000000000 };

// What the processes of a run tell each other; it lives in shared memory.
// Times are in nanoseconds.
struct shared {
  // By process: when the first measured operation went out and the last answer came in.
  uint64_t began[process_limit], ended[process_limit];
  // By process: the operations answered, those before measuring included.
  int answered[process_limit];
  // Deliveries to watchers, and when the last one came in.
  volatile uint64_t deliveries;
  // When everything was written, for watchers that nobody waited for.
  volatile uint64_t finished;
  volatile uint64_t delivered;
  // By operation: when it was sent, how long its answer took, when its last watcher had it.
  uint64_t *sent, *latency, *seen;
};

uint64_t nanoseconds(void);
_Noreturn void fail(const char *what, const void *detail, size_t size);

// A connection with a session, named `name`.
void *connect_session(void *context, const char *endpoint, const char *name);
// Takes one frame; returns its size, or -1 if there is none and `flags` say not to wait.
int take(void *socket, char *to, int flags);
// Takes one message of two frames; returns the body's size, or -1.
int take_message(void *socket, char *verb, char *body, int flags);
void send_message(void *socket, const char *verb, const char *body, size_t size);
uint64_t read_number(const char *text);

void create_navs(const struct plan *plan, int process);
void write_operations(const struct plan *plan, struct shared *shared, int process, int go);
void watch(const struct plan *plan, struct shared *shared, int ready);

// The same for an endpoint redis:/path.
int is_redis(const char *endpoint);
void create_redis_navs(const struct plan *plan, int process);
void write_redis_operations(const struct plan *plan, struct shared *shared, int process, int go);
void watch_redis(const struct plan *plan, struct shared *shared, int ready);

// Watches the first nav without following it, until all that was answered is seen.
void watch_loosely(const struct plan *plan, struct shared *shared, int ready);
// How long a watch takes that is `revisions` behind.
int measure_behind(const char *endpoint, uint64_t revisions);
int measure_redis_behind(const char *endpoint, uint64_t revisions);

int measure_spawn(int count, char **arguments);
int measure_start(char **arguments);
void report_latencies(uint64_t *values, size_t count, const char *prefix);

#endif
