// The load generator: it drives navd, and the peers with which navd is compared, in the same way.
//
//   bench-load run endpoint=ipc:///path[,ipc:///path ...]|redis:/path [name=number ...]
//   bench-load turns MILLISECONDS , prefix=NAME endpoint=... [name=number ...] [, ...]
//   bench-load create endpoint=... navs=COUNT depth=COUNT
//   bench-load behind|replay ENDPOINT REVISIONS
//   bench-load paging ENDPOINT NAVS
//   bench-load spawn COUNT PROGRAM [ARGUMENT ...]
//   bench-load start ENDPOINT REVISION PROGRAM [ARGUMENT ...]
//   bench-load guard PROGRAM [ARGUMENT ...]
//   bench-load rtt|pipe|catchup|watch ep=ipc:///path [name=value ...]
//
// It prints one line of name=value pairs. If an operation is refused, lost or out of order, it
// prints the error instead and exits with 1. The commands for another benchmark program (rtt, pipe,
// catchup, watch) print JSON.

#define _GNU_SOURCE
#include <string.h>
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
  double sum = 0;
  for (size_t index = 0; index < count; index++) sum += (double)values[index];
  printf("%smean_us=%.1f ", prefix, sum / (double)count / 1e3);
}

static int read_option(struct plan *plan, const char *text) {
  struct { const char *name; int *value; } options[] = {
      {"processes=", &plan->processes}, {"window=", &plan->window},     {"navs=", &plan->navs},
      {"warm=", &plan->warm},           {"ops=", &plan->operations},    {"rate=", &plan->rate},
      {"watchers=", &plan->watchers},   {"all=", &plan->watches_all},   {"seconds=", &plan->seconds},
      {"depth=", &plan->depth},         {"edits=", &plan->edits},   {"mixed=", &plan->is_mixed},
      {"own=", &plan->watches_own},     {"server=", &plan->server},     {"bar=", &plan->has_bar},
      {"idle-watchers=", &plan->idle_watchers}, {"stopped=", &plan->is_stopped},
      {"observes=", &plan->observes},
  };
  if (!strncmp(text, "endpoint=", 9)) return plan->endpoint = text + 9, 1;
  if (!strncmp(text, "prefix=", 7)) return plan->prefix = text + 7, 1;
  for (size_t index = 0; index < sizeof options / sizeof *options; index++) {
    size_t size = strlen(options[index].name);
    if (strncmp(text, options[index].name, size)) continue;
    *options[index].value = atoi(text + size);
    return 1;
  }
  return 0;
}

struct plan read_plan(int count, char **arguments) {
  struct plan plan = {.processes = 1, .window = 1, .navs = 1, .operations = 1000, .prefix = ""};
  for (int index = 0; index < count; index++)
    if (!read_option(&plan, arguments[index])) fail("option", arguments[index], 64);
  if (!plan.endpoint) fail("endpoint is missing", "", 0);
  if (plan.watches_own && plan.watchers > plan.navs) fail("more watchers than navs", "", 0);
  if (plan.observes < 0 || plan.observes > 3) fail("nothing is observed so", "", 0);
  if (plan.processes > process_limit) fail("too many processes", "", 0);
  return plan;
}

static int create_only(int count, char **arguments) {
  struct plan plan = read_plan(count, arguments);
  create_all(&plan);
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
  if (count > 4 && !strcmp(name, "turns"))
    return take_turns(atoi(arguments[2]), count - 3, arguments + 3);
  if (count > 2 && !strcmp(name, "create")) return create_only(count - 2, arguments + 2);
  if (count == 4 && !strcmp(name, "behind")) return behind(arguments[2], atoi(arguments[3]));
  if (count == 4 && !strcmp(name, "replay")) return replay(arguments[2], atoi(arguments[3]));
  if (count == 4 && !strcmp(name, "paging")) return measure_paging(arguments[2], atoi(arguments[3]));
  if (count > 3 && !strcmp(name, "spawn")) return measure_spawn(atoi(arguments[2]), arguments + 3);
  if (count > 4 && !strcmp(name, "start"))
    return measure_start(arguments[2], (uint64_t)atoi(arguments[3]), arguments + 4);
  if (count > 2 && !strcmp(name, "guard")) guard(arguments + 2);
  fprintf(stderr, "usage: bench-load "
                  "run|turns|create|behind|replay|paging|spawn|start|guard|rtt|pipe|catchup|watch ...\n");
  return 2;
}
