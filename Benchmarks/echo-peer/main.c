// The peer with which navd is compared: the cost of libzmq alone, and of libzmq with SQLite.
//
//   echo-peer PATH [log|DATABASE]
//
// A ROUTER on ipc://PATH takes up to 256 messages in a turn. It stores each operation as a row of
// 120 bytes in DATABASE, if there is one, with one synced commit for the turn. It answers each
// message in the form and size of navd's answers, and checks nothing. Watchers get a message of the
// size of a diff for each operation on their nav. A watch from an earlier revision gets the
// operations since then from DATABASE, or from memory with `log`. At its start the peer rebuilds
// its stacks from DATABASE.

#define _GNU_SOURCE
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "stacks.h"

enum { batch_limit = 256, watcher_limit = 4096 };

struct request {
  zmq_msg_t peer, verb, body;
  unsigned nav;
  // The revision that the operation makes; 0 if the message is no operation.
  uint64_t revision;
  int is_watch;
};

struct watcher {
  char id[64];
  size_t id_size;
  // The next watcher of the same nav.
  struct watcher *next;
};

static void *router;
static sqlite3 *database;
static sqlite3_stmt *begin_statement, *insert_statement, *commit_statement;
static uint64_t revisions[nav_limit];
static struct watcher watchers[watcher_limit], *watchers_of[nav_limit];
static size_t watcher_count;
// The operations in memory, if `keeps_log`.
static int keeps_log;
static struct logged {
  unsigned nav;
  struct record record;
} *logged;
static size_t logged_count, logged_room;

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
      "CREATE TABLE IF NOT EXISTS log(id INTEGER PRIMARY KEY, stack INTEGER, rev INTEGER, op BLOB)";
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
    struct record record = make_record(zmq_msg_data(&request->body), zmq_msg_size(&request->body));
    sqlite3_bind_blob(insert_statement, 3, &record, sizeof record, SQLITE_STATIC);
    run(insert_statement);
  }
  run(commit_statement);
}

static void keep(const struct request *requests, size_t count) {
  for (size_t index = 0; keeps_log && index < count; index++) {
    const struct request *request = &requests[index];
    if (!request->revision) continue;
    if (logged_count == logged_room) {
      logged_room = logged_room ? logged_room * 2 : 1 << 14;
      check((logged = realloc(logged, logged_room * sizeof *logged)) != 0, "memory");
    }
    zmq_msg_t *body = (zmq_msg_t *)&request->body;
    logged[logged_count++] = (struct logged){
        request->nav, make_record(zmq_msg_data(body), zmq_msg_size(body))};
  }
}

// Rebuilds the stacks from the rows, in the order of writing.
static void rebuild(void) {
  sqlite3_stmt *rows;
  check(sqlite3_prepare_v2(database, "SELECT stack, rev, op FROM log ORDER BY id", -1, &rows, 0) ==
            SQLITE_OK,
        "prepare");
  while (sqlite3_step(rows) == SQLITE_ROW) {
    sqlite3_int64 nav = sqlite3_column_int64(rows, 0);
    check(nav >= 0 && nav < nav_limit && sqlite3_column_bytes(rows, 2) == sizeof(struct record),
          "a row");
    revisions[nav] = (uint64_t)sqlite3_column_int64(rows, 1);
    check(apply(&stacks[nav], sqlite3_column_blob(rows, 2)), "a row that does not fit");
  }
  sqlite3_finalize(rows);
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
  uint64_t revision = request->is_watch ? revisions[request->nav] : request->revision;
  PUT(to, "{\"id\":");
  memcpy(to, body + 6, 10), to += 10;
  PUT(to, ",\"nav\":\"b.");
  memcpy(to, body + 26, 6), to += 6;
  PUT(to, "\",\"epoch\":\"c0ffee12c0ffee12\",\"rev\":");
  to += put_number(to, revision);
  if (request->is_watch) PUT(to, ",\"mode\":\"resume\"");
  PUT(to, ",\"changed\":true,\"depth\":2,\"top\":\"n1000000000\",\"dig\":\"f7f41f99\","
          "\"out\":[{\"popped\":\"n1000000000\"}]}");
  return (size_t)(to - start);
}

// Writes a message of the size of a diff; `id` has ten digits, `nav` six.
static size_t make_diff(char *start, uint64_t revision, const char *id, const char *nav) {
  static const char title[] =
      "........................................................................................";
  char *to = start;
  PUT(to, "{\"nav\":\"b.");
  memcpy(to, nav, 6), to += 6;
  PUT(to, "\",\"epoch\":\"c0ffee12c0ffee12\",\"base\":");
  to += put_number(to, revision - 1);
  PUT(to, ",\"rev\":");
  to += put_number(to, revision);
  PUT(to, ",\"seq\":100000,\"cause\":\"api\",\"by\":{\"name\":\"bench\",\"op\":");
  memcpy(to, id, 10), to += 10;
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

static void send_diff(const struct watcher *watcher, zmq_msg_t *diff) {
  send_frame(watcher->id, watcher->id_size, ZMQ_SNDMORE);
  send_frame("nsp1.diff", 9, ZMQ_SNDMORE);
  check(zmq_msg_send(diff, router, 0) >= 0, "send");
}

static void publish(const struct request *request, const char *body) {
  if (!watchers_of[request->nav]) return;
  char text[1024];
  zmq_msg_t diff, copy;
  size_t size = make_diff(text, request->revision, body + 6, body + 26);
  zmq_msg_init_size(&diff, size);
  memcpy(zmq_msg_data(&diff), text, size);
  for (struct watcher *each = watchers_of[request->nav]; each; each = each->next) {
    zmq_msg_init(&copy);
    zmq_msg_copy(&copy, &diff);
    send_diff(each, &copy);
  }
  zmq_msg_close(&diff);
}

// Replays.

static void send_logged(const struct watcher *watcher, unsigned nav, uint64_t revision) {
  char text[1024], digits[8];
  zmq_msg_t diff;
  snprintf(digits, sizeof digits, "%06u", nav);
  size_t size = make_diff(text, revision, "1000000000", digits);
  zmq_msg_init_size(&diff, size);
  memcpy(zmq_msg_data(&diff), text, size);
  send_diff(watcher, &diff);
}

// Sends the operations since a revision, from the table or from memory.
static void replay(const struct watcher *watcher, unsigned nav, uint64_t from) {
  uint64_t revision = 0;
  for (size_t index = 0; index < logged_count; index++)
    if (logged[index].nav == nav && ++revision > from) send_logged(watcher, nav, revision);
  if (!database) return;
  static sqlite3_stmt *rows;
  const char *query = "SELECT rev, op FROM log WHERE stack = ?1 AND rev > ?2 ORDER BY id";
  if (!rows) sqlite3_prepare_v2(database, query, -1, &rows, 0);
  sqlite3_bind_int64(rows, 1, nav);
  sqlite3_bind_int64(rows, 2, (sqlite3_int64)from);
  while (sqlite3_step(rows) == SQLITE_ROW)
    send_logged(watcher, nav, (uint64_t)sqlite3_column_int64(rows, 0));
  sqlite3_reset(rows);
}

// Begins a watch. A watch from a revision gets the operations since then, but no later ones.
static void begin_watch(struct request *request) {
  char body[256];
  size_t size = zmq_msg_size(&request->body);
  check(watcher_count < watcher_limit && zmq_msg_size(&request->peer) <= 64 && size < sizeof body,
        "watch");
  struct watcher *watcher = &watchers[watcher_count++];
  watcher->id_size = zmq_msg_size(&request->peer);
  memcpy(watcher->id, zmq_msg_data(&request->peer), watcher->id_size);
  memcpy(body, zmq_msg_data(&request->body), size);
  body[size] = 0;
  const char *from = strstr(body, "\"from\""), *revision = from ? strstr(from, "\"rev\":") : 0;
  char reply[256];
  send_frame(watcher->id, watcher->id_size, ZMQ_SNDMORE);
  send_frame("nsp1.ok", 7, ZMQ_SNDMORE);
  send_frame(reply, make_reply(reply, request, body), 0);
  if (revision) return replay(watcher, request->nav, strtoull(revision + 6, 0, 10));
  watcher->next = watchers_of[request->nav];
  watchers_of[request->nav] = watcher;
}

static void answer(struct request *request) {
  char reply[256];
  const char *body = zmq_msg_data(&request->body);
  if (request->is_watch) {
    begin_watch(request);
    zmq_msg_close(&request->peer);
    return;
  }
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

static int receive(struct request *request, int flags) {
  zmq_msg_init(&request->peer);
  if (zmq_msg_recv(&request->peer, router, flags) < 0) return 0;
  zmq_msg_init(&request->verb);
  zmq_msg_init(&request->body);
  check(zmq_msg_recv(&request->verb, router, 0) >= 0, "receive");
  check(zmq_msg_recv(&request->body, router, 0) >= 0, "receive");
  request->revision = 0;
  request->nav = 0;
  request->is_watch = 0;
  // {"id":1000000000,"nav":"b.000000",...
  const char *body = zmq_msg_data(&request->body);
  if (zmq_msg_size(&request->body) >= 33 && !memcmp(body + 16, ",\"nav\":\"b.", 10)) {
    for (int digit = 0; digit < 6; digit++)
      request->nav = request->nav * 10 + (unsigned)(body[26 + digit] - '0');
    check(request->nav < nav_limit, "nav");
    request->is_watch = zmq_msg_size(&request->verb) == 10;
    if (!request->is_watch) request->revision = ++revisions[request->nav];
  }
  return 1;
}

static void stop(int number) {
  (void)number;
  _exit(0);
}

// Reports readiness to the process that started this one, in the way of a systemd service.
static void tell_ready(void) {
  const char *name = getenv("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!name || *name != '@' || strlen(name) >= sizeof address.sun_path) return;
  memcpy(address.sun_path + 1, name + 1, strlen(name + 1));
  int notices = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
  sendto(notices, "READY=1", 7, 0, (struct sockaddr *)&address, size);
  close(notices);
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  signal(SIGTERM, stop);
  char endpoint[256];
  snprintf(endpoint, sizeof endpoint, "ipc://%s", arguments[1]);
  keeps_log = count > 2 && !strcmp(arguments[2], "log");
  if (count > 2 && !keeps_log) {
    open_database(arguments[2]);
    rebuild();
  }
  router = zmq_socket(zmq_ctx_new(), ZMQ_ROUTER);
  int no_limit = 0;
  zmq_setsockopt(router, ZMQ_SNDHWM, &no_limit, sizeof no_limit);
  check(zmq_bind(router, endpoint) == 0, "bind");
  tell_ready();
  static struct request requests[batch_limit];
  for (;;) {
    size_t taken = 0;
    while (taken < batch_limit && receive(&requests[taken], taken ? ZMQ_DONTWAIT : 0)) taken++;
    if (!taken) continue;
    store(requests, taken);
    keep(requests, taken);
    for (size_t index = 0; index < taken; index++) {
      answer(&requests[index]);
      zmq_msg_close(&requests[index].verb);
      zmq_msg_close(&requests[index].body);
    }
  }
}
