// The part for another benchmark program: a client and watchers that take settings as name=value
// pairs, ignore unknown names, and print one line of JSON.
//
//   bench-load rtt|pipe|catchup ep=ipc:///path ops=N window=N stacks=N soff=N rate=N ...
//   bench-load watch ep=ipc:///path n=N ops=N stack=N

#define _GNU_SOURCE
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "load.h"
#include "plugged.h"

enum { plugged_depth = 12, message_room = 512, reply_room = (1 << 19) + 1 };

static const uint64_t id_base = 1000000000000000;
enum { id_step = 16 };

uint64_t id_of(uint64_t time) { return id_base + time / id_step; }
uint64_t time_of(uint64_t id) { return (id - id_base) * id_step; }

const char *text_of(int count, char **pairs, const char *name, const char *otherwise) {
  size_t size = strlen(name);
  for (int index = 0; index < count; index++)
    if (!strncmp(pairs[index], name, size) && pairs[index][size] == '=')
      return pairs[index] + size + 1;
  return otherwise;
}

long number_of(int count, char **pairs, const char *name, long otherwise) {
  const char *text = text_of(count, pairs, name, 0);
  return text ? atol(text) : otherwise;
}

double own_processor_time(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

void sort(uint64_t *values, size_t count) { qsort(values, count, sizeof *values, compare); }

double quantile(const uint64_t *values, size_t count, double part) {
  return count ? (double)values[(size_t)(part * (double)(count - 1) + 0.5)] / 1e3 : 0;
}

// The client.

// The writer's knowledge of a stack. The ids of screens are made from their numbers.
struct plugged_stack {
  uint64_t revision;
  uint32_t made, screens[plugged_depth];
  int depth, has_home;
};

struct client {
  const char *endpoint, *pattern;
  long stacks, window, first, rate, warm, operations, limit;
  void *socket;
  struct plugged_stack *known;
  uint64_t last_id, *ids, *latencies, rejected;
  char *verb, *body;
};

static struct client read_client(const char *mode, int count, char **pairs) {
  struct client client = {
      .endpoint = text_of(count, pairs, "ep", ""),
      .pattern = text_of(count, pairs, "pattern", "alt"),
      .stacks = number_of(count, pairs, "stacks", 1),
      .window = strcmp(mode, "rtt") ? number_of(count, pairs, "window", 1) : 1,
      .rate = number_of(count, pairs, "rate", 0),
      .warm = number_of(count, pairs, "warm", 0),
      .operations = number_of(count, pairs, "ops", 10000),
      .limit = number_of(count, pairs, "max_ms", 0),
      .verb = malloc(64),
      .body = malloc(reply_room),
  };
  client.first = number_of(count, pairs, "soff", number_of(count, pairs, "id", 0) * 1000000);
  if (client.stacks < 1 || client.window < 1 || client.operations < 1) fail("numbers", mode, 8);
  size_t all = (size_t)(client.warm + client.operations);
  client.known = calloc((size_t)client.stacks, sizeof *client.known);
  client.ids = calloc(all, sizeof *client.ids);
  client.latencies = calloc(all, sizeof *client.latencies);
  return client;
}

static uint64_t next_id(struct client *client) {
  uint64_t id = id_of(nanoseconds());
  return client->last_id = id > client->last_id ? id : client->last_id + 1;
}

// Opens a session, and reduces the window to the number that the server allows.
static void connect_client(struct client *client) {
  client->socket = connect_session_telling(zmq_ctx_new(), client->endpoint, "bench", client->body);
  struct text welcome = {client->body, strlen(client->body)};
  char *found = find(welcome, "\"inflight\":");
  long allowed = found ? (long)read_number(found) : client->window;
  if (client->window > allowed) client->window = allowed;
}

static int take_reply(struct client *client, struct text *body, int flags) {
  int size;
  do size = take_message(client->socket, client->verb, client->body, flags);
  while (size >= 0 && !strcmp(client->verb, "nsp1.mark"));
  if (size < 0 && !flags) fail("no answer", "", 0);
  *body = (struct text){client->body, size < 0 ? 0 : (size_t)size};
  return size >= 0;
}

size_t write_stack_creation(char *to, size_t room, uint64_t id, long stack) {
  return (size_t)snprintf(to, room,
                          "{\"id\":%llu,\"nav\":\"stk-%08ld\",\"do\":[{\"nav.create\":{\"root\":"
                          "{\"id\":\"home\",\"title\":\"Home\"}}}]}",
                          (unsigned long long)id, stack);
}

// Takes the answer to a creation; a stack that exists already is accepted.
static void take_creation(struct client *client, long index) {
  struct plugged_stack *stack = &client->known[index];
  struct text body;
  take_reply(client, &body, 0);
  char *revision = find(body, "\"rev\":"), *top = find(body, "\"top\":\"");
  int is_there = !strcmp(client->verb, "nsp1.err") && find(body, "\"code\":\"nav-exists\"");
  if ((strcmp(client->verb, "nsp1.ok") && !is_there) || !revision || !top ||
      strncmp(top, "home\"", 5))
    fail("no stack", body.bytes, body.size);
  stack->revision = read_number(revision);
  stack->made = (uint32_t)stack->revision;
  stack->has_home = 1;
}

// Creates the stacks for alternating pushes and pops, which need a screen below the pushed one.
static void create_stacks(struct client *client) {
  char message[message_room];
  for (long sent = 0, done = 0; done < client->stacks; done++) {
    for (; sent < client->stacks && sent - done < client->window; sent++) {
      size_t size =
          write_stack_creation(message, sizeof message, next_id(client), client->first + sent);
      send_message(client->socket, "nsp1.op", message, size);
    }
    take_creation(client, done);
  }
}

static int is_pop(const struct client *client, const struct plugged_stack *stack) {
  if (!strcmp(client->pattern, "alt")) return stack->depth > 0;
  if (stack->depth == plugged_depth) return 1;
  return !strcmp(client->pattern, "mix") && stack->revision % 4 == 3;
}

// Writes the next operation on a stack, and returns its size; the first push on a new stack creates
// it.
static size_t write_operation(struct client *client, char *to, long index, uint64_t id) {
  static const char title[] =
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
  struct plugged_stack *stack = &client->known[index];
  int pops = is_pop(client, stack), is_new = stack->revision == 0;
  char top[24] = "home";
  if (stack->depth) sprintf(top, "item-%011u", stack->screens[stack->depth - 1]);
  size_t size = (size_t)snprintf(to, message_room, "{\"id\":%llu,\"nav\":\"stk-%08ld\",",
                                 (unsigned long long)id, client->first + index);
  if (!is_new)
    size += (size_t)snprintf(to + size, message_room - size,
                             "\"if\":{\"rev\":%llu,\"top\":\"%s\"},",
                             (unsigned long long)stack->revision, top);
  if (pops) {
    stack->depth--;
    size += (size_t)snprintf(to + size, message_room - size, "\"do\":[{\"pop\":{}}]}");
  } else {
    uint32_t screen = stack->screens[stack->depth++] = ++stack->made;
    size += (size_t)snprintf(to + size, message_room - size,
                             "\"do\":[{\"%s\":{\"id\":\"item-%011u\",\"title\":\"%s\"}}}]}",
                             is_new ? "nav.create\":{\"root" : "push\":{\"screen", screen, title);
  }
  stack->revision++;
  return size;
}

static void send_operation(struct client *client, long number) {
  char message[message_room];
  uint64_t id = client->ids[number] = next_id(client);
  size_t size = write_operation(client, message, number % client->stacks, id);
  send_message(client->socket, "nsp1.op", message, size);
}

static int take_result(struct client *client, long number, int flags) {
  struct text body;
  if (!take_reply(client, &body, flags)) return 0;
  if (read_number(body.bytes + 6) != client->ids[number])
    fail("answers are lost or out of order", body.bytes, body.size);
  client->latencies[number] = nanoseconds() - time_of(client->ids[number]);
  if (strcmp(client->verb, "nsp1.ok") && client->rejected++ == 0)
    fprintf(stderr, "bench-load: rejected: %.*s\n", (int)body.size, body.bytes);
  return 1;
}

static void rest(uint64_t time) {
  struct timespec pause = {.tv_nsec = (long)(time < 999999999 ? time : 999999999)};
  nanosleep(&pause, 0);
}

// Sends as many operations as the window and the rate allow; returns the total number sent.
static long send_due(struct client *client, long sent, long done, long total, uint64_t *due) {
  while (sent < total && sent - done < client->window) {
    uint64_t now = nanoseconds();
    if (client->rate && now < *due) {
      if (sent > done) break;
      rest(*due - now);
      continue;
    }
    if (client->rate) *due += 1000000000u / (uint64_t)client->rate;
    send_operation(client, sent++);
  }
  return sent;
}

static int run_client(struct client *client, int waits) {
  connect_client(client);
  if (!strcmp(client->pattern, "alt")) create_stacks(client);
  char byte;
  if (waits && (printf("READY\n"), fflush(stdout), read(0, &byte, 1)) != 1) return 1;
  double worked = own_processor_time();
  long total = client->warm + client->operations, sent = 0, done = 0;
  uint64_t begin = nanoseconds(), measured = begin, due = begin;
  while (done < total) {
    if (client->warm && done >= client->warm && measured == begin) measured = nanoseconds();
    sent = send_due(client, sent, done, total, &due);
    for (int flags = 0; done < sent && take_result(client, done, flags); flags = ZMQ_DONTWAIT) done++;
    uint64_t elapsed = (nanoseconds() - begin) / 1000000;
    if (client->limit && elapsed > (uint64_t)client->limit) total = sent;
  }
  double elapsed = (double)(nanoseconds() - measured) / 1e9;
  long count = total > client->warm ? total - client->warm : 0;
  uint64_t *values = client->latencies + client->warm;
  sort(values, (size_t)count);
  printf("{\"ops\":%ld,\"ops_s\":%.0f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"rejected\":%llu,"
         "\"elapsed_s\":%.3f,\"client_cpu\":%.3f}\n",
         count, (double)count / elapsed, quantile(values, (size_t)count, .5),
         quantile(values, (size_t)count, .99), (unsigned long long)client->rejected, elapsed,
         own_processor_time() - worked);
  return 0;
}

// The revision to which a message leads; 0 for other messages.
static uint64_t reached(struct text verb, struct text body) {
  uint64_t revision = 0;
  int is_snapshot = is_verb(verb, "nsp1.snap");
  if (!is_snapshot && !is_verb(verb, "nsp1.diff") && !is_verb(verb, "nsp1.diffs")) return 0;
  for (char *at; (at = find(body, is_snapshot ? "\"rev\":" : "\"base\":"));) {
    revision = read_number(at) + (is_snapshot ? 0 : 1);
    if (is_snapshot) break;
    body.size -= (size_t)(at - body.bytes), body.bytes = at;
  }
  return revision;
}

// Measures the time in which new connections reach the head of a stack.
static int catch_up(const struct client *client, long repetitions) {
  uint64_t *times = calloc((size_t)repetitions, sizeof *times), head = 0;
  char message[message_room];
  for (long index = 0; index < repetitions; index++) {
    uint64_t begin = nanoseconds(), revision = 0;
    struct link *link = connect_link(client->endpoint, "watcher");
    int size = snprintf(message, sizeof message, "{\"id\":1,\"nav\":\"stk-%08ld\"}", client->first);
    send_link(link, "nsp1.watch", message, (size_t)size);
    for (head = 0; !head || revision < head;) {
      struct text verb, body;
      if (!take_link(link, &verb, &body)) {
        fill_link(link, 0);
      } else if (is_verb(verb, "nsp1.ok")) {
        head = read_number(find(body, "\"rev\":"));
      } else {
        if (is_verb(verb, "nsp1.err")) fail("watch", body.bytes, body.size);
        revision = reached(verb, body);
      }
    }
    times[index] = nanoseconds() - begin;
    disconnect_link(link);
  }
  sort(times, (size_t)repetitions);
  printf("{\"ms\":%.2f,\"max_ms\":%.2f,\"n\":%llu,\"client_cpu\":%.3f}\n",
         quantile(times, (size_t)repetitions, .5) / 1e3,
         quantile(times, (size_t)repetitions, 1) / 1e3, (unsigned long long)head - 1,
         own_processor_time());
  return 0;
}

int run_plugged_client(int count, char **arguments) {
  struct client client = read_client(arguments[0], count, arguments);
  if (!strcmp(arguments[0], "catchup"))
    return catch_up(&client, number_of(count, arguments, "reps", 9));
  return run_client(&client, (int)number_of(count, arguments, "sync", 0));
}
