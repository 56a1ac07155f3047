// Whole processes: how long a command takes, how long a service takes until it is ready.

#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

extern char **environ;

static pid_t start(char **arguments) {
  pid_t process;
  if (posix_spawn(&process, arguments[0], 0, 0, arguments, environ))
    fail("cannot start", arguments[0], strlen(arguments[0]));
  return process;
}

int measure_spawn(int count, char **arguments) {
  uint64_t *times = calloc((size_t)count, sizeof *times);
  for (int index = 0; index < count; index++) {
    uint64_t begin = nanoseconds();
    int status;
    pid_t process = start(arguments);
    if (waitpid(process, &status, 0) != process || status != 0) fail("it failed", arguments[0], strlen(arguments[0]));
    times[index] = nanoseconds() - begin;
  }
  report_latencies(times, (size_t)count, "");
  printf("\n");
  return 0;
}

int measure_start(char **arguments) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int size = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "navd-bench-%d", getpid());
  int notices = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
  if (bind(notices, (struct sockaddr *)&address, length)) fail("bind", "", 0);
  char name[128], notice[4096];
  snprintf(name, sizeof name, "@%s", address.sun_path + 1);
  setenv("NOTIFY_SOCKET", name, 1);
  uint64_t begin = nanoseconds();
  pid_t process = start(arguments);
  for (;;) {
    struct pollfd wait = {.fd = notices, .events = POLLIN};
    if (poll(&wait, 1, 60000) != 1) fail("not ready", arguments[0], strlen(arguments[0]));
    ssize_t received = recv(notices, notice, sizeof notice - 1, 0);
    if (received > 0 && memmem(notice, (size_t)received, "READY=1", 7)) break;
  }
  printf("ready_ms=%.2f\n", (double)(nanoseconds() - begin) / 1e6);
  kill(process, SIGTERM);
  waitpid(process, 0, 0);
  return 0;
}
