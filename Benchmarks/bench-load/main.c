// The load generator: drives navd, and the peers it is compared with, in the same way.
//
//   bench-load run endpoint=ipc:///path|redis:/path [name=number ...]
//   bench-load create endpoint=... navs=COUNT depth=COUNT
//   bench-load behind|replay ENDPOINT REVISIONS
//   bench-load spawn COUNT PROGRAM [ARGUMENT ...]
//   bench-load start ENDPOINT REVISION PROGRAM [ARGUMENT ...]
//   bench-load guard PROGRAM [ARGUMENT ...]
//   bench-load rtt|pipe|catchup|watch ep=ipc:///path [name=value ...]
//
// It prints one line of name=value pairs. If anything is refused, lost or out of order, it says so,
// prints no line and exits with 1. What another benchmark calls (rtt, pipe, catchup, watch) prints
// JSON.

#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

void report_latencies(uint64_t *values, size_t count, const char *prefix) {
  qsort(values, count, sizeof *values, compare);
  static const struct { const char *name; size_t thousandths; } quantiles[] = {
      {"p1", 10},   {"p10", 100}, {"p25", 250}, {"p50", 500},  {"p75", 750},
      {"p90", 900}, {"p95", 950}, {"p99", 990}, {"p999", 999},
  };
  for (size_t index = 0; index < sizeof quantiles / sizeof *quantiles; index++)
    printf("%s%s_us=%.1f ", prefix, quantiles[index].name,
           (double)values[count * quantiles[index].thousandths / 1000] / 1e3);
}

static void *map(size_t size) {
  void *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("map", "", 0);
  return memory;
}

static int read_option(struct plan *plan, const char *text) {
  struct { const char *name; int *value; } options[] = {
      {"processes=", &plan->processes}, {"window=", &plan->window},     {"navs=", &plan->navs},
      {"warm=", &plan->warm},           {"ops=", &plan->operations},    {"rate=", &plan->rate},
      {"watchers=", &plan->watchers},   {"all=", &plan->watches_all},   {"seconds=", &plan->seconds},
      {"depth=", &plan->depth},         {"edits=", &plan->edits},   {"mixed=", &plan->is_mixed},
      {"own=", &plan->watches_own},     {"server=", &plan->server},
      {"idle-watchers=", &plan->idle_watchers}, {"stopped=", &plan->is_stopped},
  };
  if (!strncmp(text, "endpoint=", 9)) return plan->endpoint = text + 9, 1;
  for (size_t index = 0; index < sizeof options / sizeof *options; index++) {
    size_t size = strlen(options[index].name);
    if (strncmp(text, options[index].name, size)) continue;
    *options[index].value = atoi(text + size);
    return 1;
  }
  return 0;
}

static void await(pid_t process) {
  int status;
  if (waitpid(process, &status, 0) != process || status != 0) exit(1);
}

// A child that ends with its parent.
static pid_t split(void) {
  pid_t process = fork();
  if (process < 0) fail("fork", "", 0);
  if (process == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return process;
}

static void create(const struct plan *plan) {
  pid_t *creators = calloc((size_t)plan->processes, sizeof *creators);
  for (int index = 0; index < plan->processes; index++) {
    creators[index] = split();
    if (creators[index]) continue;
    is_redis(plan->endpoint) ? create_redis_navs(plan, index) : create_navs(plan, index);
    _exit(0);
  }
  for (int index = 0; index < plan->processes; index++) await(creators[index]);
  free(creators);
}

static void watch_as_planned(const struct plan *plan, struct shared *shared, int ready) {
  if (plan->idle_watchers) return watch_loosely(plan, shared, ready);
  if (is_redis(plan->endpoint)) return watch_redis(plan, shared, ready);
  watch(plan, shared, ready);
}

static pid_t start_watchers(const struct plan *plan, struct shared *shared) {
  if (!plan->watchers && !plan->idle_watchers) return 0;
  int ready[2];
  if (pipe(ready)) fail("pipe", "", 0);
  pid_t process = split();
  if (process == 0) {
    watch_as_planned(plan, shared, ready[1]);
    _exit(0);
  }
  close(ready[1]);
  char byte;
  if (read(ready[0], &byte, 1) != 1) exit(1);
  close(ready[0]);
  if (plan->is_stopped) kill(process, SIGSTOP);
  return process;
}

static void report(const struct plan *plan, struct shared *shared) {
  size_t each = (size_t)(plan->warm + plan->operations), warm = (size_t)plan->warm;
  uint64_t began = shared->began[0], ended = 0;
  for (int process = 0; process < plan->processes; process++) {
    if (shared->began[process] < began) began = shared->began[process];
    if (shared->ended[process] > ended) ended = shared->ended[process];
  }
  uint64_t *values = calloc((size_t)plan->operations * (size_t)plan->processes, sizeof *values);
  size_t count = 0;
  for (int process = 0; process < plan->processes; process++)
    for (size_t index = warm; index < (size_t)shared->answered[process]; index++)
      values[count++] = shared->latency[(size_t)process * each + index];
  printf("ops_s=%.0f ", (double)count * 1e9 / (double)(ended - began));
  report_latencies(values, count, "");
  if (plan->watchers) {
    count = 0;
    for (size_t index = warm; index < each; index++)
      values[count++] = shared->seen[index] - shared->sent[index];
    report_latencies(values, count, "last_");
    double part = (double)plan->operations / (double)each;
    printf("deliveries_s=%.0f ", (double)shared->deliveries * part * 1e9 /
                                     (double)(shared->delivered - began));
  }
  printf("\n");
}

// What the server has worked: for each operation, and for each delivery.
static void report_cost(const struct plan *plan, const struct shared *shared, double writing,
                        double all) {
  int answered = 0;
  for (int process = 0; process < plan->processes; process++) answered += shared->answered[process];
  if (!plan->watchers) printf("cpu_us_op=%.3f ", writing * 1e6 / (double)answered);
  printf("cpu_s=%.2f ", all);
  if (plan->watchers && all > 0)
    printf("deliveries_cpu_s=%.0f ", (double)shared->deliveries / all);
}

static struct plan read_plan(int count, char **arguments) {
  struct plan plan = {.processes = 1, .window = 1, .navs = 1, .operations = 1000};
  for (int index = 0; index < count; index++)
    if (!read_option(&plan, arguments[index])) fail("option", arguments[index], 64);
  if (!plan.endpoint) fail("endpoint is missing", "", 0);
  if (plan.watches_own && plan.watchers > plan.navs) fail("more watchers than navs", "", 0);
  if (plan.processes > process_limit) fail("too many processes", "", 0);
  return plan;
}

static int run(int count, char **arguments) {
  struct plan plan = read_plan(count, arguments);
  size_t all = (size_t)(plan.warm + plan.operations) * (size_t)plan.processes;
  struct shared *shared = map(sizeof *shared);
  shared->sent = map(all * 8);
  shared->latency = map(all * 8);
  shared->seen = map(all * 8);
  create(&plan);
  pid_t watchers = start_watchers(&plan, shared);
  int go[2];
  if (pipe(go)) fail("pipe", "", 0);
  pid_t *writers = calloc((size_t)plan.processes, sizeof *writers);
  for (int index = 0; index < plan.processes; index++) {
    writers[index] = split();
    if (writers[index] == 0) {
      is_redis(plan.endpoint) ? write_redis_operations(&plan, shared, index, go[0])
                              : write_operations(&plan, shared, index, go[0]);
      _exit(0);
    }
  }
  // The writers connect meanwhile; one that is late waits for nobody, its clock starts later.
  usleep(50000);
  double before = plan.server ? processor_time(plan.server) : 0;
  for (int index = 0; index < plan.processes; index++)
    if (write(go[1], "g", 1) != 1) fail("go", "", 0);
  for (int index = 0; index < plan.processes; index++) await(writers[index]);
  shared->finished = nanoseconds();
  double written = plan.server ? processor_time(plan.server) : 0;
  if (watchers && plan.is_stopped) kill(watchers, SIGCONT);
  if (watchers) await(watchers);
  double after = plan.server ? processor_time(plan.server) : 0;
  if (plan.idle_watchers) {
    uint64_t late = shared->delivered > shared->finished ? shared->delivered - shared->finished : 0;
    printf("caught_up_ms=%.2f lost=%llu skipped=%llu ", (double)late / 1e6,
           (unsigned long long)shared->lost, (unsigned long long)shared->skipped);
  }
  if (plan.server) report_cost(&plan, shared, written - before, after - before);
  report(&plan, shared);
  return 0;
}

static int create_only(int count, char **arguments) {
  struct plan plan = read_plan(count, arguments);
  create(&plan);
  printf("navs=%d\n", plan.navs);
  return 0;
}

static int behind(const char *endpoint, int revisions) {
  return is_redis(endpoint) ? measure_redis_behind(endpoint, (uint64_t)revisions)
                            : measure_behind(endpoint, (uint64_t)revisions);
}

static int replay(const char *endpoint, int revisions) {
  return is_redis(endpoint) ? measure_redis_behind(endpoint, (uint64_t)revisions)
                            : measure_replay(endpoint, (uint64_t)revisions);
}

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "";
  int is_client = !strcmp(name, "rtt") || !strcmp(name, "pipe") || !strcmp(name, "catchup");
  if (is_client) return run_plugged_client(count - 1, arguments + 1);
  if (!strcmp(name, "watch")) return run_plugged_watcher(count - 2, arguments + 2);
  if (count > 2 && !strcmp(name, "run")) return run(count - 2, arguments + 2);
  if (count > 2 && !strcmp(name, "create")) return create_only(count - 2, arguments + 2);
  if (count == 4 && !strcmp(name, "behind")) return behind(arguments[2], atoi(arguments[3]));
  if (count == 4 && !strcmp(name, "replay")) return replay(arguments[2], atoi(arguments[3]));
  if (count > 3 && !strcmp(name, "spawn")) return measure_spawn(atoi(arguments[2]), arguments + 3);
  if (count > 4 && !strcmp(name, "start"))
    return measure_start(arguments[2], (uint64_t)atoi(arguments[3]), arguments + 4);
  if (count > 2 && !strcmp(name, "guard")) guard(arguments + 2);
  fprintf(stderr, "usage: bench-load "
                  "run|create|behind|replay|spawn|start|guard|rtt|pipe|catchup|watch ...\n");
  return 2;
}
