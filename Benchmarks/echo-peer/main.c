// The anchor that navd is measured against: what libzmq, and libzmq with SQLite, cost by themselves.
//
//   echo-peer PATH [DATABASE]
//
// A ROUTER on ipc://PATH takes up to 256 messages in a turn, stores each operation in DATABASE if
// there is one, with one synced commit for the turn, and answers each in the shape and the size of
// navd's answers. It checks nothing. Watchers get a message of the size of a diff for each
// operation on a nav they watch.

#define _GNU_SOURCE
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { batch_limit = 256, nav_limit = 16384, watcher_limit = 1024 };

struct request {
  zmq_msg_t peer, verb, body;
  unsigned nav;
  uint64_t revision;
};

struct watcher {
  unsigned nav;
  char id[64];
  size_t id_size;
};

static void *router;
static sqlite3 *database;
static sqlite3_stmt *begin_statement, *insert_statement, *commit_statement;
static uint64_t revisions[nav_limit];
static struct watcher watchers[watcher_limit];
static size_t watcher_count;

static void fail(const char *what) {
  fprintf(stderr, "echo-peer: %s: %s\n", what,
          database ? sqlite3_errmsg(database) : zmq_strerror(zmq_errno()));
  exit(1);
}

static void check(int is_good, const char *what) {
  if (!is_good) fail(what);
}

// The journal.

static void open_database(const char *path) {
  check(sqlite3_open(path, &database) == SQLITE_OK, "open");
  const char *setup =
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "CREATE TABLE log(id INTEGER PRIMARY KEY, stack INTEGER, rev INTEGER, op BLOB)";
  check(sqlite3_exec(database, setup, 0, 0, 0) == SQLITE_OK, "set up");
  sqlite3_prepare_v2(database, "BEGIN", -1, &begin_statement, 0);
  sqlite3_prepare_v2(database, "INSERT INTO log(stack, rev, op) VALUES(?1, ?2, ?3)", -1,
                     &insert_statement, 0);
  sqlite3_prepare_v2(database, "COMMIT", -1, &commit_statement, 0);
}

static void run(sqlite3_stmt *statement) {
  check(sqlite3_step(statement) == SQLITE_DONE, "step");
  sqlite3_reset(statement);
}

static void store(struct request *requests, size_t count) {
  if (!database) return;
  run(begin_statement);
  for (size_t index = 0; index < count; index++) {
    struct request *request = &requests[index];
    if (!request->revision) continue;
    sqlite3_bind_int64(insert_statement, 1, request->nav);
    sqlite3_bind_int64(insert_statement, 2, (sqlite3_int64)request->revision);
    sqlite3_bind_blob(insert_statement, 3, zmq_msg_data(&request->body),
                      (int)zmq_msg_size(&request->body), SQLITE_STATIC);
    run(insert_statement);
  }
  run(commit_statement);
}

// Answers.

static size_t put_number(char *to, uint64_t number) {
  char digits[20];
  size_t count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while (number /= 10);
  for (size_t index = 0; index < count; index++) to[index] = digits[count - 1 - index];
  return count;
}

#define PUT(to, literal) (memcpy(to, literal, sizeof(literal) - 1), (to) += sizeof(literal) - 1)

static size_t make_reply(char *start, const struct request *request, const char *body) {
  char *to = start;
  PUT(to, "{\"id\":");
  memcpy(to, body + 6, 10), to += 10;
  PUT(to, ",\"nav\":\"b.");
  memcpy(to, body + 26, 6), to += 6;
  PUT(to, "\",\"epoch\":\"c0ffee12c0ffee12\",\"rev\":");
  to += put_number(to, request->revision);
  PUT(to, ",\"changed\":true,\"depth\":2,\"top\":\"n1000000000\",\"dig\":\"f7f41f99\","
          "\"out\":[{\"popped\":\"n1000000000\"}]}");
  return (size_t)(to - start);
}

static size_t make_diff(char *start, const struct request *request, const char *body) {
  static const char title[] =
      "........................................................................................";
  char *to = start;
  PUT(to, "{\"nav\":\"b.");
  memcpy(to, body + 26, 6), to += 6;
  PUT(to, "\",\"epoch\":\"c0ffee12c0ffee12\",\"base\":");
  to += put_number(to, request->revision - 1);
  PUT(to, ",\"rev\":");
  to += put_number(to, request->revision);
  PUT(to, ",\"seq\":100000,\"cause\":\"api\",\"by\":{\"name\":\"bench\",\"op\":");
  memcpy(to, body + 6, 10), to += 10;
  PUT(to, "},\"ch\":[{\"at\":1,\"del\":[],\"ins\":[{\"id\":\"n1000000000\",\"ver\":100000,\"title\":\"");
  PUT(to, title);
  PUT(to, "\"}]}],\"resolved\":{\"top\":\"n1000000000\",\"visible\":\"n1000000000\",\"height\":44,"
          "\"layoutHeight\":44,\"metrics\":\"default\",\"left\":[],\"middle\":{\"title\":\"");
  PUT(to, title);
  PUT(to, "\"}},\"ev\":[{\"willShow\":{\"screen\":\"n1000000000\",\"animated\":false}},"
          "{\"didShow\":{\"screen\":\"n1000000000\",\"animated\":false}}],\"depth\":2,"
          "\"dig\":\"f7f41f99\"}");
  return (size_t)(to - start);
}

static void send_frame(const void *bytes, size_t size, int flags) {
  check(zmq_send(router, bytes, size, flags) >= 0, "send");
}

static void publish(const struct request *request, const char *body) {
  char text[1024];
  zmq_msg_t diff, copy;
  int is_made = 0;
  for (size_t index = 0; index < watcher_count; index++) {
    struct watcher *watcher = &watchers[index];
    if (watcher->nav != request->nav) continue;
    if (!is_made) {
      size_t size = make_diff(text, request, body);
      zmq_msg_init_size(&diff, size);
      memcpy(zmq_msg_data(&diff), text, size);
      is_made = 1;
    }
    send_frame(watcher->id, watcher->id_size, ZMQ_SNDMORE);
    send_frame("nsp1.diff", 9, ZMQ_SNDMORE);
    zmq_msg_init(&copy);
    zmq_msg_copy(&copy, &diff);
    check(zmq_msg_send(&copy, router, 0) >= 0, "send");
  }
  if (is_made) zmq_msg_close(&diff);
}

static void answer(struct request *request) {
  char reply[256];
  const char *body = zmq_msg_data(&request->body);
  if (request->revision) publish(request, body);
  check(zmq_msg_send(&request->peer, router, ZMQ_SNDMORE) >= 0, "send");
  if (memmem(zmq_msg_data(&request->verb), zmq_msg_size(&request->verb), "hello", 5)) {
    send_frame("nsp1.welcome", 12, ZMQ_SNDMORE);
    return send_frame("{\"ver\":1}", 9, 0);
  }
  send_frame("nsp1.ok", 7, ZMQ_SNDMORE);
  send_frame(reply, make_reply(reply, request, body), 0);
}

// Requests.

static void add_watcher(struct request *request) {
  check(watcher_count < watcher_limit && zmq_msg_size(&request->peer) <= 64, "watch");
  struct watcher *watcher = &watchers[watcher_count++];
  watcher->nav = request->nav;
  watcher->id_size = zmq_msg_size(&request->peer);
  memcpy(watcher->id, zmq_msg_data(&request->peer), watcher->id_size);
}

static int receive(struct request *request, int flags) {
  zmq_msg_init(&request->peer);
  if (zmq_msg_recv(&request->peer, router, flags) < 0) return 0;
  zmq_msg_init(&request->verb);
  zmq_msg_init(&request->body);
  check(zmq_msg_recv(&request->verb, router, 0) >= 0, "receive");
  check(zmq_msg_recv(&request->body, router, 0) >= 0, "receive");
  request->revision = 0;
  request->nav = 0;
  // {"id":1000000000,"nav":"b.000000",...
  const char *body = zmq_msg_data(&request->body);
  if (zmq_msg_size(&request->body) >= 33 && !memcmp(body + 16, ",\"nav\":\"b.", 10)) {
    for (int digit = 0; digit < 6; digit++)
      request->nav = request->nav * 10 + (unsigned)(body[26 + digit] - '0');
    check(request->nav < nav_limit, "nav");
    int is_watch = zmq_msg_size(&request->verb) == 10;
    if (is_watch) add_watcher(request);
    else request->revision = ++revisions[request->nav];
  }
  return 1;
}

static void stop(int number) {
  (void)number;
  _exit(0);
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  signal(SIGTERM, stop);
  char endpoint[256];
  snprintf(endpoint, sizeof endpoint, "ipc://%s", arguments[1]);
  if (count > 2) open_database(arguments[2]);
  router = zmq_socket(zmq_ctx_new(), ZMQ_ROUTER);
  int no_limit = 0;
  zmq_setsockopt(router, ZMQ_SNDHWM, &no_limit, sizeof no_limit);
  check(zmq_bind(router, endpoint) == 0, "bind");
  static struct request requests[batch_limit];
  for (;;) {
    size_t taken = 0;
    while (taken < batch_limit && receive(&requests[taken], taken ? ZMQ_DONTWAIT : 0)) taken++;
    if (!taken) continue;
    store(requests, taken);
    for (size_t index = 0; index < taken; index++) {
      answer(&requests[index]);
      zmq_msg_close(&requests[index].verb);
      zmq_msg_close(&requests[index].body);
    }
  }
}
