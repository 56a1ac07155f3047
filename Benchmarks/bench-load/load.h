// The declarations that the files of the load generator share.

#ifndef LOAD_H
#define LOAD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// The settings of one run, from the command line.
struct plan {
  // One endpoint, or several with commas between them, which the processes use in turn.
  const char *endpoint;
  // The number of writing processes, and the maximum number of unanswered operations of each.
  int processes, window;
  // The number of navs of each process, which it writes in turn.
  int navs;
  // For each process: the operations before the measurement, the measured operations, and their
  // maximum number in a second; 0 for no maximum.
  int warm, operations, rate;
  // The seconds of the measurement after which a process sends no more operations; 0 for no limit.
  // Not with `watchers`, which expect all operations.
  int seconds;
  // The screens of a nav before the first operation, and the kind of the operations: 0 pushes and
  // pops screens, 1 edits the top item, 2 edits the bottom item.
  int depth, edits;
  // Whether three of four operations push and one pops, so that stacks grow by up to `model_depth`
  // screens.
  int is_mixed;
  // The number of watching connections. Each watches the first nav, or the nav with its number if
  // `watches_own`; if `watches_all`, one connection watches all navs of the first process.
  int watchers, watches_all, watches_own;
  // Whether the watchers also get the contents of the bar.
  int has_bar;
  // 1 for a connection that watches the first nav and may fall behind, else 0; and whether it is
  // stopped until everything is written.
  int idle_watchers, is_stopped;
  // What one connection observes meanwhile: 1 the positions of all navs ($heads), 2 the messages of
  // all clients (get trace), 3 those about the first nav; else 0.
  int observes;
  // The process whose processor time is measured; 0 for none.
  int server;
  // The text before the names of the printed numbers.
  const char *prefix;
  // The milliseconds for which the writer writes before it passes its turn on, or 0 to write all
  // the time; and the pipes from which turns come and to which they go.
  int slice, turn_from, turn_to;
};

enum { process_limit = 64, first_id = 1000000000, model_depth = 12 };

// The writer's knowledge of a nav: its revision, and the screens that the writer has pushed and not
// popped.
struct model {
  uint64_t revision, pushed[model_depth];
  int depth;
};

// Bytes with a size, and without a NUL at the end.
struct text {
  char *bytes;
  size_t size;
};

// The results of the processes of a run, in shared memory. Times are in nanoseconds.
struct shared {
  // By process: the times of the first measured operation and of the last answer. The end is
  // earlier by the turns of other writers.
  uint64_t began[process_limit], ended[process_limit];
  // By process: the number of answered operations, including those before the measurement.
  int answered[process_limit];
  // The number of deliveries to watchers.
  volatile uint64_t deliveries;
  // The time when everything was written, and the time of the last delivery.
  volatile uint64_t finished;
  volatile uint64_t delivered;
  // For a watcher that may fall behind: the revisions that are missing before a diff, and those
  // that a snapshot replaced.
  volatile uint64_t lost, skipped;
  // Whether the writer has all its answers, and only passes turns on.
  volatile int is_finished;
  // By operation: the time of sending, the duration until its answer, and the time when the last
  // watcher received it.
  uint64_t *sent, *latency, *seen;
};

uint64_t nanoseconds(void);
_Noreturn void fail(const char *what, const void *detail, size_t size);

// Writes the body of a hello message; returns its size.
size_t write_hello(char *to, size_t room, const char *name);
// Connects and opens a session with this name.
void *connect_session(void *context, const char *endpoint, const char *name);
// Opens a session of a process of a plan, with the endpoint that is its turn.
void *connect_process(void *context, const struct plan *plan, int process, const char *name);
// The same; `welcome` has room for a message, and receives the body of the server's welcome.
void *connect_session_telling(void *context, const char *endpoint, const char *name, char *welcome);
// Takes one frame; returns its size, or -1 if none arrives in time. `flags` can say not to wait.
int take(void *socket, char *to, int flags);
// Takes a message of two frames, its verb and its body; returns the size of the body, or -1 if none
// arrives in time.
int take_message(void *socket, char *verb, char *body, int flags);
void send_message(void *socket, const char *verb, const char *body, size_t size);
uint64_t read_number(const char *text);
// Finds `what`; returns the address after it, or 0 if it is not there.
char *find(struct text text, const char *what);

// Finds `what` at `*place` if it is there, else its first occurrence, and stores that place.
// Similar messages have it at the same place. A search through every byte would be most of a
// watcher's work, which is part of the measurement. If the text at `*place` is a later occurrence,
// the caller notices, because revisions are consecutive.
char *find_again(struct text text, const char *what, size_t *place);

// Whether the next operation of `model` is a pop, and the change of `model` by that operation; a
// pushed screen gets the id `screen`.
int is_pop_next(const struct plan *plan, const struct model *model);
void pop_or_push(struct model *model, int is_pop, uint64_t screen);
// The id of the top screen; `bottom` if the writer has pushed none.
uint64_t top_of(const struct model *model, uint64_t bottom);

// A connection that speaks ZMTP without libzmq. With libzmq, 1,000 reading connections would cost
// the machine more than the measured server.
struct link;
struct link *connect_link(const char *endpoint, const char *name);
void disconnect_link(struct link *link);
int link_descriptor(const struct link *link);
void send_link(struct link *link, const char *verb, const char *body, size_t size);
// Reads available bytes; returns 0 if there are none and `flags` say not to wait.
int fill_link(struct link *link, int flags);
// Takes a complete message of two frames; returns 0 if there is none.
int take_link(struct link *link, struct text *verb, struct text *body);
int is_verb(struct text verb, const char *name);

struct plan read_plan(int count, char **arguments);
void create_all(const struct plan *plan);
int run(int count, char **arguments);
int take_turns(int slice, int count, char **arguments);

// Waits for this writer's turn.
void await_turn(const struct plan *plan);
// Passes the turn on and waits for the next one; returns the time in between, in nanoseconds.
uint64_t pass_turn(const struct plan *plan);
// Passes on every turn, until the process is killed.
_Noreturn void pass_all_turns(const struct plan *plan);

void create_navs(const struct plan *plan, int process);
void write_operations(const struct plan *plan, struct shared *shared, int process, int go);
void watch(const struct plan *plan, struct shared *shared, int ready);

// Whether an endpoint is `redis:/path`, and the same functions for such endpoints.
int is_redis(const char *endpoint);
void create_redis_navs(const struct plan *plan, int process);
void write_redis_operations(const struct plan *plan, struct shared *shared, int process, int go);
void watch_redis(const struct plan *plan, struct shared *shared, int ready);

// Watches the first nav until everything is written and the watcher is at the last revision.
void watch_loosely(const struct plan *plan, struct shared *shared, int ready);
// Observes what `observes` names, until everything is written.
void observe(const struct plan *plan, struct shared *shared, int ready);
// Measure the time in which a watch that is `revisions` behind catches up: by a snapshot, by all
// diffs, and in Redis.
int measure_behind(const char *endpoint, uint64_t revisions);
int measure_replay(const char *endpoint, uint64_t revisions);
int measure_redis_behind(const char *endpoint, uint64_t revisions);

// Measures the operations of a client, while another one uses navs that are not in memory.
int measure_paging(const char *endpoint, int navs);

// The commands for another benchmark program: a client and a watcher that print JSON.
int run_plugged_client(int count, char **arguments);
int run_plugged_watcher(int count, char **arguments);

// Replaces this process by a program that the kernel kills when the parent of this process ends.
_Noreturn void guard(char **arguments);
// The processor time that a process has used, in seconds.
double processor_time(int process);
int measure_spawn(int count, char **arguments);
// Measures the time from the start of a server to its readiness; the first nav must then be at
// `revision`.
int measure_start(const char *endpoint, uint64_t revision, char **arguments);
// Returns the revision of the first nav.
uint64_t read_revision(const char *endpoint);
uint64_t read_redis_revision(const char *endpoint);
void report_latencies(uint64_t *values, size_t count, const char *prefix);

#endif
