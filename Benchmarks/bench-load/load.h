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
  // Whether of four operations three push and one pops, so that stacks grow.
  int is_mixed;
  // Connections that watch: each the first nav, or one connection all navs of the first process, or
  // each connection the nav of its number.
  int watchers, watches_all, watches_own;
  // Whether they get what the bar shows too.
  int has_bar;
  // Connections that watch the first nav and that nobody waits for, and whether they are stopped
  // until everything is written.
  int idle_watchers, is_stopped;
  // The process whose use of the processors is told; 0 for none.
  int server;
  // What stands before the names of the numbers.
  const char *prefix;
  // How long the writer writes before it passes its turn on, in milliseconds, and the pipes that
  // turns come through and go through; 0 to write all the time.
  int slice, turn_from, turn_to;
};

enum { process_limit = 64, first_id = 1000000000, model_depth = 12 };

// What the writer knows of a nav: its revision, and what is pushed on the screens it began with.
struct model {
  uint64_t revision, pushed[model_depth];
  int depth;
};

// Bytes that end where their size says.
struct text {
  char *bytes;
  size_t size;
};

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
  // Of watchers that nobody waited for: revisions that came neither as a diff nor within a snapshot,
  // and those that a snapshot took the place of.
  volatile uint64_t lost, skipped;
  // Whether all answers are there, and the writer only passes turns on.
  volatile int is_finished;
  // By operation: when it was sent, how long its answer took, when its last watcher had it.
  uint64_t *sent, *latency, *seen;
};

uint64_t nanoseconds(void);
_Noreturn void fail(const char *what, const void *detail, size_t size);

// Writes what begins a session; returns its size.
size_t write_hello(char *to, size_t room, const char *name);
// A connection with a session, named `name`.
void *connect_session(void *context, const char *endpoint, const char *name);
// The same; `welcome` has room for a message and gets the server's.
void *connect_session_telling(void *context, const char *endpoint, const char *name, char *welcome);
// Takes one frame; returns its size, or -1 if there is none and `flags` say not to wait.
int take(void *socket, char *to, int flags);
// Takes one message of two frames; returns the body's size, or -1.
int take_message(void *socket, char *verb, char *body, int flags);
void send_message(void *socket, const char *verb, const char *body, size_t size);
uint64_t read_number(const char *text);
// Begins behind what is found; 0 if it is not there.
char *find(struct text text, const char *what);

// Finds it at `place` if it is there, as it mostly is where messages are alike, or else where it is
// first. To look at every byte would be most of what a watcher does, and that is part of what is
// measured; who passes over something notices, because revisions follow one another.
char *find_again(struct text text, const char *what, size_t *place);

// What `model` does next, and its doing so; a screen that is pushed is called `screen`.
int is_pop_next(const struct plan *plan, const struct model *model);
void pop_or_push(struct model *model, int is_pop, uint64_t screen);
// The screen on top, which is `bottom` while none is pushed.
uint64_t top_of(const struct model *model, uint64_t bottom);

// A connection that speaks ZMTP without the library, which would cost the machine more for a
// thousand connections that read than what is measured.
struct link;
struct link *connect_link(const char *endpoint, const char *name);
void disconnect_link(struct link *link);
int link_descriptor(const struct link *link);
void send_link(struct link *link, const char *verb, const char *body, size_t size);
// Reads what there is; returns 0 if there is nothing and `flags` say not to wait.
int fill_link(struct link *link, int flags);
// Takes a message of two frames that is complete; returns 0 if there is none.
int take_link(struct link *link, struct text *verb, struct text *body);
int is_verb(struct text verb, const char *name);

struct plan read_plan(int count, char **arguments);
void create_all(const struct plan *plan);
int run(int count, char **arguments);
int take_turns(int slice, int count, char **arguments);

// Waits until it is this writer's turn.
void await_turn(const struct plan *plan);
// Lets the others write; returns how long it took until the turn came back.
uint64_t pass_turn(const struct plan *plan);
// Passes on every turn that comes, until the process is ended.
_Noreturn void pass_all_turns(const struct plan *plan);

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
// How long a watch takes that is `revisions` behind, by a snapshot and by all the diffs.
int measure_behind(const char *endpoint, uint64_t revisions);
int measure_replay(const char *endpoint, uint64_t revisions);
int measure_redis_behind(const char *endpoint, uint64_t revisions);

// Driven by another benchmark: a client and a watcher that report in JSON.
int run_plugged_client(int count, char **arguments);
int run_plugged_watcher(int count, char **arguments);

// Runs a program that ends when the one that started it does.
_Noreturn void guard(char **arguments);
// The time of the processors that a process has taken, in seconds.
double processor_time(int process);
int measure_spawn(int count, char **arguments);
// How long a service takes until it is ready, the first nav being at `revision` then.
int measure_start(const char *endpoint, uint64_t revision, char **arguments);
// At which revision the first nav is.
uint64_t read_revision(const char *endpoint);
uint64_t read_redis_revision(const char *endpoint);
void report_latencies(uint64_t *values, size_t count, const char *prefix);

#endif
