// Performs plans: starts the processes that create, watch and write navs, and prints the
// measurements.

#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

static void *map(size_t size) {
  void *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("map", "", 0);
  return memory;
}

static void await(pid_t process) {
  int status;
  if (waitpid(process, &status, 0) != process || status != 0) exit(1);
}

// Forks a child that the kernel kills when its parent ends.
static pid_t split(void) {
  pid_t process = fork();
  if (process < 0) fail("fork", "", 0);
  if (process == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return process;
}

void create_all(const struct plan *plan) {
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
  if (plan->observes) return observe(plan, shared, ready);
  if (plan->idle_watchers) return watch_loosely(plan, shared, ready);
  if (is_redis(plan->endpoint)) return watch_redis(plan, shared, ready);
  watch(plan, shared, ready);
}

static pid_t start_watchers(const struct plan *plan, struct shared *shared) {
  if (!plan->watchers && !plan->idle_watchers && !plan->observes) return 0;
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
  printf("%sops_s=%.0f ", plan->prefix, (double)count * 1e9 / (double)(ended - began));
  report_latencies(values, count, plan->prefix);
  if (plan->watchers) {
    count = 0;
    for (size_t index = warm; index < each; index++)
      values[count++] = shared->seen[index] - shared->sent[index];
    report_latencies(values, count, "last_");
    double part = (double)plan->operations / (double)each;
    printf("deliveries_s=%.0f ", (double)shared->deliveries * part * 1e9 /
                                     (double)(shared->delivered - began));
  }
  free(values);
}

enum { job_limit = 4 };

// A plan in progress.
struct job {
  struct plan plan;
  struct shared *shared;
  pid_t watchers, writers[process_limit];
  // The processor time of the server in seconds: when the writers began, when they ended, and when
  // the watchers ended.
  double worked[3];
};

// Prints the processor time of the server. Without watchers it also prints the time for each
// operation, else the deliveries for each second of that time.
static void report_work(const struct job *job) {
  const struct plan *plan = &job->plan;
  int answered = 0;
  if (!plan->server) return;
  for (int index = 0; index < plan->processes; index++) answered += job->shared->answered[index];
  double all = job->worked[2] - job->worked[0], writing = job->worked[1] - job->worked[0];
  if (!plan->watchers)
    printf("%scpu_us_op=%.3f ", plan->prefix, writing * 1e6 / (double)answered);
  printf("%scpu_s=%.2f ", plan->prefix, all);
  if (plan->watchers && all > 0)
    printf("deliveries_cpu_s=%.0f ", (double)job->shared->deliveries / all);
}

static double server_time(const struct job *job) {
  return job->plan.server ? processor_time(job->plan.server) : 0;
}

// Creates the navs and starts the watchers.
static void prepare(struct job *job) {
  const struct plan *plan = &job->plan;
  size_t all = (size_t)(plan->warm + plan->operations) * (size_t)plan->processes;
  job->shared = map(sizeof *job->shared);
  job->shared->sent = map(all * 8);
  job->shared->latency = map(all * 8);
  job->shared->seen = map(all * 8);
  create_all(plan);
  job->watchers = start_watchers(plan, job->shared);
}

// Starts the writers; each waits for a byte from `go`.
static void start_writers(struct job *job, int go) {
  const struct plan *plan = &job->plan;
  for (int index = 0; index < plan->processes; index++) {
    job->writers[index] = split();
    if (job->writers[index]) continue;
    is_redis(plan->endpoint) ? write_redis_operations(plan, job->shared, index, go)
                             : write_operations(plan, job->shared, index, go);
    job->shared->is_finished = 1;
    if (plan->slice) pass_all_turns(plan);
    _exit(0);
  }
}

// Writes one byte for each writer of all jobs.
static void start(struct job *jobs, int count, int go) {
  // Gives the writers time to connect. A slower writer does no harm, because its measurement begins
  // when it reads its byte.
  usleep(50000);
  for (int job = 0; job < count; job++) {
    jobs[job].worked[0] = server_time(&jobs[job]);
    for (int index = 0; index < jobs[job].plan.processes; index++)
      if (write(go, "g", 1) != 1) fail("go", "", 0);
  }
}

// Waits for the watchers after everything is written, and prints the measurements.
static void finish(struct job *job) {
  const struct plan *plan = &job->plan;
  struct shared *shared = job->shared;
  shared->finished = nanoseconds();
  job->worked[1] = server_time(job);
  if (job->watchers && plan->is_stopped) kill(job->watchers, SIGCONT);
  if (job->watchers) await(job->watchers);
  job->worked[2] = server_time(job);
  if (plan->idle_watchers) {
    uint64_t late = shared->delivered > shared->finished ? shared->delivered - shared->finished : 0;
    printf("%scaught_up_ms=%.2f %slost=%llu %sskipped=%llu ", plan->prefix, (double)late / 1e6,
           plan->prefix, (unsigned long long)shared->lost, plan->prefix,
           (unsigned long long)shared->skipped);
  }
  report_work(job);
  report(plan, shared);
}

int run(int count, char **arguments) {
  struct job job = {.plan = read_plan(count, arguments)};
  int go[2];
  if (pipe(go)) fail("pipe", "", 0);
  prepare(&job);
  start_writers(&job, go[0]);
  start(&job, 1, go[1]);
  for (int index = 0; index < job.plan.processes; index++) await(job.writers[index]);
  finish(&job);
  printf("\n");
  return 0;
}

// Reads the plans, each of which follows a comma; returns how many there are.
static int read_jobs(struct job *jobs, int count, char **arguments, int slice) {
  int found = 0, pipes[job_limit][2];
  for (int begin = 0; begin < count; found++) {
    int end = ++begin;
    while (end < count && strcmp(arguments[end], ",")) end++;
    if (found == job_limit) fail("too many jobs", "", 0);
    jobs[found] = (struct job){.plan = read_plan(end - begin, arguments + begin)};
    if (pipe(pipes[found]) || jobs[found].plan.processes > 1 || is_redis(jobs[found].plan.endpoint))
      fail("no turns for it", jobs[found].plan.endpoint, 64);
    begin = end;
  }
  for (int job = 0; job < found; job++) {
    jobs[job].plan.slice = slice;
    jobs[job].plan.turn_from = pipes[job][0];
    jobs[job].plan.turn_to = pipes[(job + 1) % found][1];
    // The first job has the first turn, so its pipe contains a byte from the start.
    if (job == 0 && write(pipes[job][1], "t", 1) != 1) fail("turn", "", 0);
  }
  return found;
}

static int are_finished(const struct job *jobs, int count) {
  int finished = 0, status;
  for (int job = 0; job < count; job++) {
    // A finished writer goes on passing turns, so one that has ended has failed.
    if (waitpid(jobs[job].writers[0], &status, WNOHANG) != 0) exit(1);
    finished += jobs[job].shared->is_finished;
  }
  return finished == count;
}

// Performs several plans in turn, a slice of time each, so that other load on the machine affects
// all of them alike.
int take_turns(int slice, int count, char **arguments) {
  static struct job jobs[job_limit];
  int go[2], all = read_jobs(jobs, count, arguments, slice);
  if (pipe(go)) fail("pipe", "", 0);
  for (int job = 0; job < all; job++) prepare(&jobs[job]);
  for (int job = 0; job < all; job++) start_writers(&jobs[job], go[0]);
  start(jobs, all, go[1]);
  while (!are_finished(jobs, all)) usleep(10000);
  for (int job = 0; job < all; job++) {
    kill(jobs[job].writers[0], SIGKILL);
    waitpid(jobs[job].writers[0], 0, 0);
  }
  for (int job = 0; job < all; job++) finish(&jobs[job]);
  printf("\n");
  return 0;
}

void await_turn(const struct plan *plan) {
  char turn;
  if (read(plan->turn_from, &turn, 1) != 1) fail("no turn", "", 0);
}

uint64_t pass_turn(const struct plan *plan) {
  uint64_t begin = nanoseconds();
  if (write(plan->turn_to, "t", 1) != 1) fail("turn", "", 0);
  await_turn(plan);
  return nanoseconds() - begin;
}

void pass_all_turns(const struct plan *plan) {
  for (;;) pass_turn(plan);
}
