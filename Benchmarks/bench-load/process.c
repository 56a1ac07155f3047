// Measurements of whole processes: the duration of a command, and the time until a server is ready.

#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

enum { file_limit = 8192 };

extern char **environ;

_Noreturn void guard(char **arguments) {
  // 1,000 connections need more descriptors than most shells allow.
  struct rlimit files;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getrlimit(RLIMIT_NOFILE, &files)) fail("guard", "", 0);
  rlim_t wanted = files.rlim_max < file_limit ? files.rlim_max : file_limit;
  if (files.rlim_cur < wanted) files.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &files);
  execv(arguments[0], arguments);
  fail("cannot start", arguments[0], strlen(arguments[0]));
}

double processor_time(int process) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  FILE *file = fopen(path, "r");
  if (!file || !fgets(line, sizeof line, file)) fail("no such process", path, strlen(path));
  fclose(file);
  // The name in parentheses may contain anything; the times are the 14th and the 15th field.
  char *field = strrchr(line, ')');
  unsigned long user = 0, system = 0;
  if (!field || sscanf(field + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                       &system) != 2)
    fail("stat", line, strlen(line));
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

// The time from the start of a process to its end, with its output read as a shell reads it. Adds
// the processor time of the process, in microseconds.
static uint64_t time_process(char **arguments, double *processor) {
  int output[2], status;
  struct rusage usage;
  char octets[65536];
  uint64_t begin = nanoseconds();
  posix_spawn_file_actions_t actions;
  pid_t process;
  if (pipe2(output, O_CLOEXEC) || posix_spawn_file_actions_init(&actions) ||
      posix_spawn_file_actions_adddup2(&actions, output[1], 1) ||
      posix_spawn(&process, arguments[0], &actions, 0, arguments, environ))
    fail("cannot start", arguments[0], strlen(arguments[0]));
  close(output[1]);
  while (read(output[0], octets, sizeof octets) > 0) {}
  if (wait4(process, &status, 0, &usage) != process || status != 0)
    fail("it failed", arguments[0], strlen(arguments[0]));
  uint64_t time = nanoseconds() - begin;
  *processor += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  close(output[0]);
  posix_spawn_file_actions_destroy(&actions);
  return time;
}

int measure_spawn(int count, char **arguments) {
  // The least that a process costs, measured in turn, so that other load of the machine is in both.
  char *least[] = {"/bin/true", 0};
  uint64_t *times = calloc((size_t)count, sizeof *times), *others = calloc((size_t)count, sizeof *others);
  double processor = 0, other_processor = 0;
  for (int index = 0; index < count; index++) {
    others[index] = time_process(least, &other_processor);
    times[index] = time_process(arguments, &processor);
  }
  report_latencies(times, (size_t)count, "");
  report_latencies(others, (size_t)count, "true_");
  printf("cpu_us_op=%.1f true_cpu_us_op=%.1f\n", processor / count, other_processor / count);
  return 0;
}

// Starts a child that ends with this process, and discards its output.
static pid_t start_guarded(char **arguments) {
  pid_t process = fork();
  if (process) return process;
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, 1);
  dup2(nowhere, 2);
  guard(arguments);
}

static int bind_notices(char name[128]) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int size = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "navd-bench-%d", getpid());
  int notices = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
  if (bind(notices, (struct sockaddr *)&address, length)) fail("bind", "", 0);
  snprintf(name, 128, "@%s", address.sun_path + 1);
  return notices;
}

int measure_start(const char *endpoint, uint64_t revision, char **arguments) {
  char name[128], notice[4096];
  int notices = bind_notices(name);
  setenv("NOTIFY_SOCKET", name, 1);
  uint64_t begin = nanoseconds();
  pid_t process = start_guarded(arguments);
  for (;;) {
    struct pollfd wait = {.fd = notices, .events = POLLIN};
    if (poll(&wait, 1, 300000) != 1) fail("not ready", arguments[0], strlen(arguments[0]));
    ssize_t received = recv(notices, notice, sizeof notice - 1, 0);
    if (received > 0 && memmem(notice, (size_t)received, "READY=1", 7)) break;
  }
  uint64_t ready = nanoseconds() - begin;
  uint64_t found =
      is_redis(endpoint) ? read_redis_revision(endpoint) : read_revision(endpoint);
  if (found != revision) fail("not all is there again", endpoint, strlen(endpoint));
  printf("ready_ms=%.2f\n", (double)ready / 1e6);
  kill(process, SIGKILL);
  waitpid(process, 0, 0);
  return 0;
}
