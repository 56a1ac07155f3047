// The same workloads in Redis: a script checks the guards, changes a stack and its log, and
// notifies the watchers.
//
// A nav is a list of screens and a stream of operations; the length of the stream is the revision.
// Messages are written in RESP by hand; a window of them goes out in one write.

#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum { buffer_limit = 1 << 20, title_size = 89 };

// KEYS: list, stream. ARGV: id, revision, top; the screen for a push. Returns the new revision.
static const char operate[] =
    "local stack, log = KEYS[1], KEYS[2] "
    "local found = redis.call('XLEN', log) "
    "if found ~= tonumber(ARGV[2]) then return redis.error_reply('STALE revision ' .. found) end "
    "local top = redis.call('LINDEX', stack, -1) "
    "if string.sub(top, 8, 18) ~= ARGV[3] then return redis.error_reply('STALE top ' .. top) end "
    "local screen = ARGV[4] "
    "if screen then redis.call('RPUSH', stack, screen) else redis.call('RPOP', stack) end "
    "local next = found + 1 "
    "redis.call('XADD', log, next .. '-0', 'op', ARGV[1], 'screen', screen or '') "
    "redis.call('PUBLISH', stack, '{\"base\":' .. found .. ',\"op\":' .. ARGV[1] .. "
    "',\"screen\":' .. (screen or 'null') .. '}') "
    "return next";

// KEYS: list, stream. ARGV: the screens.
static const char create[] =
    "redis.call('RPUSH', KEYS[1], unpack(ARGV)) "
    "redis.call('XADD', KEYS[2], '1-0', 'op', '0', 'screen', ARGV[1]) "
    "return 1";

// A connection, the bytes to send, and the received bytes.
struct connection {
  int descriptor;
  char *out, *in;
  size_t out_size, in_size, read;
};

int is_redis(const char *endpoint) { return !strncmp(endpoint, "redis:", 6); }

static struct connection connect_redis(const char *endpoint) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *path = endpoint + 6;
  if (strlen(path) >= sizeof address.sun_path) fail("path is too long", path, strlen(path));
  strcpy(address.sun_path, path);
  struct connection connection = {.descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
                                  .out = malloc(buffer_limit),
                                  .in = malloc(buffer_limit + 1)};
  if (connect(connection.descriptor, (struct sockaddr *)&address, sizeof address))
    fail("connect", path, strlen(path));
  return connection;
}

static void disconnect(struct connection *connection) {
  close(connection->descriptor);
  free(connection->out);
  free(connection->in);
}

static void add_head(struct connection *to, int count) {
  if (to->out_size > buffer_limit / 2) fail("too much to send", "", 0);
  to->out_size += (size_t)sprintf(to->out + to->out_size, "*%d\r\n", count);
}

static void add(struct connection *to, const char *bytes, size_t size) {
  char *at = to->out + to->out_size;
  at += sprintf(at, "$%zu\r\n", size);
  memcpy(at, bytes, size);
  memcpy(at + size, "\r\n", 2);
  to->out_size = (size_t)(at - to->out) + size + 2;
}

static void add_text(struct connection *to, const char *text) { add(to, text, strlen(text)); }

static void add_number(struct connection *to, uint64_t number) {
  char digits[24];
  add(to, digits, (size_t)sprintf(digits, "%llu", (unsigned long long)number));
}

static void add_key(struct connection *to, const char *kind, unsigned nav) {
  char key[32];
  add(to, key, (size_t)sprintf(key, "%s:b.%06u", kind, nav));
}

static void flush(struct connection *connection) {
  for (size_t sent = 0; sent < connection->out_size;) {
    ssize_t size = write(connection->descriptor, connection->out + sent, connection->out_size - sent);
    if (size < 0) fail("write", strerror(errno), 64);
    sent += (size_t)size;
  }
  connection->out_size = 0;
}

// Reads available bytes after those that are not yet taken; returns 0 if there are none.
static int fill(struct connection *connection, int flags) {
  if (connection->read) {
    connection->in_size -= connection->read;
    memmove(connection->in, connection->in + connection->read, connection->in_size);
    connection->read = 0;
  }
  ssize_t size = recv(connection->descriptor, connection->in + connection->in_size,
                      buffer_limit - connection->in_size, flags);
  if (size < 0 && errno == EAGAIN) return 0;
  if (size <= 0) fail("the server closed the connection", "", 0);
  connection->in_size += (size_t)size;
  connection->in[connection->in_size] = 0;
  return 1;
}

// Takes a line without its end; returns 0 if it is not yet complete.
static char *take_line(struct connection *connection) {
  char *begin = connection->in + connection->read;
  char *end = memmem(begin, connection->in_size - connection->read, "\r\n", 2);
  if (!end) return 0;
  *end = 0;
  connection->read = (size_t)(end + 2 - connection->in);
  return begin;
}

static char *await_line(struct connection *connection) {
  char *line;
  while (!(line = take_line(connection))) fill(connection, 0);
  if (*line == '-') fail("rejected", line, strlen(line));
  return line;
}

// Loads a script into the server, and writes its digest.
static void load_script(struct connection *connection, const char *script, char digest[41]) {
  add_head(connection, 3);
  add_text(connection, "SCRIPT");
  add_text(connection, "LOAD");
  add_text(connection, script);
  flush(connection);
  await_line(connection);
  strncpy(digest, await_line(connection), 40);
  digest[40] = 0;
}

static void begin_call(struct connection *connection, const char *digest, unsigned nav, int count) {
  add_head(connection, 5 + count);
  add_text(connection, "EVALSHA");
  add(connection, digest, 40);
  add(connection, "2", 1);
  add_key(connection, "stack", nav);
  add_key(connection, "log", nav);
}

static uint64_t root_of(unsigned nav) { return first_id + nav; }

static void add_screen(struct connection *to, uint64_t id) {
  char title[title_size + 1] = {0};
  memset(title, 'w', title_size);
  char screen[160];
  add(to, screen, (size_t)sprintf(screen, "{\"id\":\"n%llu\",\"title\":\"%s\"}",
                                  (unsigned long long)id, title));
}

void create_redis_navs(const struct plan *plan, int process) {
  struct connection connection = connect_redis(plan->endpoint);
  char digest[41];
  load_script(&connection, create, digest);
  int depth = plan->depth > 1 ? plan->depth : 1;
  for (int sent = 0, done = 0; done < plan->navs;) {
    for (; sent < plan->navs && sent - done < 64; sent++) {
      unsigned nav = (unsigned)(process * plan->navs + sent);
      begin_call(&connection, digest, nav, depth);
      for (int index = 1; index < depth; index++)
        add_screen(&connection, root_of(nav) + 500000000 + (uint64_t)index);
      add_screen(&connection, root_of(nav));
    }
    flush(&connection);
    for (; done < sent; done++)
      if (strcmp(await_line(&connection), ":1")) fail("not created", "", 0);
  }
  disconnect(&connection);
}

// Writing.

static void add_operation(struct connection *connection, const char *digest,
                          const struct plan *plan, struct model *model, unsigned nav, uint64_t id) {
  char top[16];
  size_t size =
      (size_t)sprintf(top, "n%llu", (unsigned long long)top_of(model, root_of(nav)));
  // The ids of pushed screens must differ from those of the roots.
  uint64_t screen = id + 1000000000;
  int is_pop = is_pop_next(plan, model);
  begin_call(connection, digest, nav, is_pop ? 3 : 4);
  add_number(connection, id);
  add_number(connection, model->revision++);
  add(connection, top, size);
  if (!is_pop) add_screen(connection, screen);
  pop_or_push(model, is_pop, screen);
}

static void rest_until(uint64_t time) {
  for (uint64_t now = nanoseconds(); now < time; now = nanoseconds()) {
    struct timespec rest = {.tv_nsec = (long)(time - now < 999999999 ? time - now : 999999999)};
    nanosleep(&rest, 0);
  }
}

// Takes the available answers, at least one; returns the number of all answers so far.
static int take_answers(struct connection *connection, const struct plan *plan, int done, int sent,
                        uint64_t *latency, const uint64_t *times) {
  for (char *line = await_line(connection); line; line = done < sent ? take_line(connection) : 0) {
    // The n-th operation on a nav makes revision n + 1.
    if (*line != ':' || read_number(line + 1) != (uint64_t)(done / plan->navs) + 2)
      fail("rejected", line, strlen(line));
    latency[done] = nanoseconds() - times[done];
    done++;
  }
  return done;
}

void write_redis_operations(const struct plan *plan, struct shared *shared, int process, int go) {
  struct connection connection = connect_redis(plan->endpoint);
  char digest[41], byte;
  load_script(&connection, operate, digest);
  struct model *models = calloc((size_t)plan->navs, sizeof *models);
  for (int nav = 0; nav < plan->navs; nav++) models[nav].revision = 1;
  if (plan->edits) fail("no edits here", "", 0);
  if (read(go, &byte, 1) != 1) fail("no start", "", 0);
  int total = plan->warm + plan->operations, sent = 0, done = 0;
  size_t offset = (size_t)process * (size_t)total;
  uint64_t *times = shared->sent + offset, begin = nanoseconds(), due = begin;
  while (done < total) {
    for (; sent < total && sent - done < plan->window; sent++) {
      if (plan->rate) {
        if (nanoseconds() < due && sent > done) break;
        rest_until(due);
        due += 1000000000u / (uint64_t)plan->rate;
      }
      uint64_t now = times[sent] = nanoseconds();
      if (sent == plan->warm) begin = now;
      if (plan->seconds && sent > plan->warm && now - begin > (uint64_t)plan->seconds * 1000000000u) {
        total = sent;
        break;
      }
      int nav = sent % plan->navs;
      add_operation(&connection, digest, plan, &models[nav],
                    (unsigned)(process * plan->navs + nav), first_id + offset + (uint64_t)sent);
    }
    flush(&connection);
    if (done < sent)
      done = take_answers(&connection, plan, done, sent, shared->latency + offset, times);
  }
  shared->answered[process] = done;
  shared->began[process] = begin;
  shared->ended[process] = nanoseconds();
  disconnect(&connection);
}

// Watching.

static void subscribe(struct connection *connection, int first, int count) {
  for (int nav = first; nav < first + count; nav++) {
    add_head(connection, 2);
    add_text(connection, "SUBSCRIBE");
    add_key(connection, "stack", (unsigned)nav);
    flush(connection);
    // *3, $9, subscribe, $14, the channel, :1
    for (int line = 0; line < 6; line++) await_line(connection);
  }
}

// Takes a complete message: *3, $7, message, $14, the channel, its size, the message. Returns the
// message; if it is incomplete, takes nothing and returns 0.
static char *take_published(struct connection *connection, unsigned *nav) {
  size_t before = connection->read;
  char *begins[7];
  for (int line = 0; line < 7; line++) {
    begins[line] = take_line(connection);
    if (begins[line]) continue;
    while (line--) {
      char *end = begins[line] + strlen(begins[line]);
      *end = '\r';
    }
    connection->read = before;
    return 0;
  }
  // stack:b.000000
  *nav = (unsigned)read_number(begins[4] + 8);
  return begins[6];
}

static void follow(struct connection *connection, struct shared *shared, uint64_t *revisions,
                   int watches_all) {
  while (fill(connection, MSG_DONTWAIT)) {
    uint64_t now = nanoseconds();
    unsigned nav = 0;
    for (char *diff; (diff = take_published(connection, &nav));) {
      uint64_t *revision = &revisions[watches_all ? nav : 0];
      // {"base":1,"op":1000000000,
      if (read_number(diff + 8) != (*revision)++) fail("a revision is missing", diff, 32);
      shared->seen[read_number(strstr(diff, "\"op\":") + 5) - first_id] = now;
      shared->deliveries += 1;
      shared->delivered = now;
    }
  }
}

void watch_redis(const struct plan *plan, struct shared *shared, int ready) {
  int count = plan->watchers, poll = epoll_create1(0);
  struct connection *connections = calloc((size_t)count, sizeof *connections);
  int places = plan->watches_all ? plan->navs : count;
  uint64_t *revisions = calloc((size_t)places, sizeof *revisions);
  for (int index = 0; index < places; index++) revisions[index] = 1;
  for (int index = 0; index < count; index++) {
    connections[index] = connect_redis(plan->endpoint);
    subscribe(&connections[index], plan->watches_own ? index : 0,
              plan->watches_all ? plan->navs : 1);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    epoll_ctl(poll, EPOLL_CTL_ADD, connections[index].descriptor, &event);
  }
  if (write(ready, "r", 1) != 1) fail("ready", "", 0);
  uint64_t each = (uint64_t)(plan->warm + plan->operations);
  int is_once = plan->watches_all || plan->watches_own;
  uint64_t expected = is_once ? each : each * (uint64_t)count;
  struct epoll_event events[128];
  while (shared->deliveries < expected) {
    int found = epoll_wait(poll, events, 128, 20000);
    if (found == 0) fail("messages are missing", "", 0);
    for (int place = 0; place < found; place++) {
      uint32_t index = events[place].data.u32;
      follow(&connections[index], shared, &revisions[plan->watches_all ? 0 : index],
             plan->watches_all);
    }
  }
}

uint64_t read_redis_revision(const char *endpoint) {
  struct connection connection = connect_redis(endpoint);
  add_head(&connection, 2);
  add_text(&connection, "XLEN");
  add_key(&connection, "log", 0);
  flush(&connection);
  uint64_t revision = read_number(await_line(&connection) + 1);
  disconnect(&connection);
  return revision;
}

// Reads the whole log; in this way a Redis client catches up.
int measure_redis_behind(const char *endpoint, uint64_t revisions) {
  enum { read_count = 20 };
  struct connection connection = connect_redis(endpoint);
  uint64_t times[read_count];
  for (int index = 0; index < read_count; index++) {
    uint64_t begin = nanoseconds();
    add_head(&connection, 4);
    add_text(&connection, "XRANGE");
    add_key(&connection, "log", 0);
    add_text(&connection, "2");
    add_text(&connection, "+");
    flush(&connection);
    char *line = await_line(&connection);
    if (*line != '*' || read_number(line + 1) != revisions) fail("log", line, strlen(line));
    // Each entry has 12 lines: *2, the id, *4, two names and two values; each text is two lines.
    for (uint64_t left = revisions * 12; left > 0; left--) await_line(&connection);
    times[index] = nanoseconds() - begin;
  }
  report_latencies(times, read_count, "");
  printf("\n");
  disconnect(&connection);
  return 0;
}
