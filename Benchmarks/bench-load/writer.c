// Operations: messages encoded once and patched in place, answers checked without parsing.
//
// The writer keeps a model of each nav, so it knows the revision and the top screen that each
// operation finds, and says so in its guards: one lost or doubled operation fails all behind it.

#define _GNU_SOURCE
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "load.h"

enum { item_size = 120, reply_limit = 1 << 19 };

struct model {
  uint64_t revision;
  // The screens from the bottom; there are one or two.
  uint64_t bottom, top;
  int depth;
};

// A message and where its variable parts are.
struct form {
  char bytes[512];
  size_t size;
  char *id, *nav, *revision, *top, *item;
};

static char *place(struct form *form, const char *mark) {
  char *found = strstr(form->bytes, mark);
  return found ? found + strlen(mark) : 0;
}

static void find_places(struct form *form) {
  form->size = strlen(form->bytes);
  form->id = place(form, "{\"id\":");
  form->nav = place(form, "\"nav\":\"b.");
  form->revision = place(form, "\"rev\":");
  form->top = place(form, "\"top\":\"n");
  form->item = place(form, "\"screen\":{\"id\":\"n");
}

static void make_forms(struct form *push, struct form *pop) {
  const char *head =
      "{\"id\":1000000000,\"nav\":\"b.000000\",\"if\":{\"rev\":1         ,\"top\":\"n1000000000\"}";
  const char *before = "{\"id\":\"n1000000000\",\"title\":\"", *after = "\"}";
  char title[item_size + 1];
  size_t length = item_size - strlen(before) - strlen(after);
  memset(title, 'w', length);
  title[length] = 0;
  sprintf(push->bytes, "%s,\"do\":[{\"push\":{\"screen\":%s%s%s}}]}", head, before, title, after);
  sprintf(pop->bytes, "%s,\"do\":[{\"pop\":{}}]}", head);
  find_places(push);
  find_places(pop);
}

static void put_digits(char *to, int width, uint64_t number) {
  while (width--) {
    to[width] = (char)('0' + number % 10);
    number /= 10;
  }
}

// A number with spaces behind it, where leading zeros are not allowed.
static void put_number(char *to, uint64_t number) {
  char digits[21];
  int size = 0;
  do digits[size++] = (char)('0' + number % 10);
  while (number /= 10);
  for (int index = 0; index < 10; index++) to[index] = index < size ? digits[size - 1 - index] : ' ';
}

static uint64_t root_of(unsigned nav) { return first_id + nav; }

// Sends the next operation on a nav and brings the model up to it.
static void operate(void *socket, struct form *push, struct form *pop, struct model *model,
                    unsigned nav, uint64_t id) {
  int is_push = model->depth == 1;
  struct form *form = is_push ? push : pop;
  put_digits(form->id, 10, id);
  put_digits(form->nav, 6, nav);
  put_number(form->revision, model->revision++);
  put_digits(form->top, 10, is_push ? model->bottom : model->top);
  if (is_push) {
    // Screens made later must not be called like the roots.
    model->top = id + 1000000000;
    put_digits(form->item, 10, model->top);
  }
  model->depth = is_push ? 2 : 1;
  zmq_send(socket, "nsp1.op", 7, ZMQ_SNDMORE);
  if (zmq_send(socket, form->bytes, form->size, 0) < 0) fail("send", "", 0);
}

// Takes an answer; returns 0 if there is none yet. Anything but the ok expected ends the run.
static int take_answer(void *socket, char *body, uint64_t id, uint64_t revision, int flags) {
  char verb[64];
  int size = take_message(socket, verb, body, flags);
  if (size < 0) {
    if (flags) return 0;
    fail("no answer", "", 0);
  }
  if (!strcmp(verb, "nsp1.mark")) return take_answer(socket, body, id, revision, flags);
  char *found = strstr(body, "\"rev\":");
  if (strcmp(verb, "nsp1.ok") || !found) fail("rejected", body, (size_t)size);
  if (read_number(body + 6) != id || read_number(found + 6) != revision)
    fail("answers are lost or out of order", body, (size_t)size);
  return 1;
}

void create_navs(const struct plan *plan, int process) {
  void *context = zmq_ctx_new();
  void *socket = connect_session(context, plan->endpoint, "creator");
  char message[256], *body = malloc(reply_limit + 1);
  int sent = 0, done = 0;
  while (done < plan->navs) {
    while (sent < plan->navs && sent - done < 64) {
      unsigned nav = (unsigned)(process * plan->navs + sent);
      int size = snprintf(message, sizeof message,
                          "{\"id\":%d,\"nav\":\"b.%06u\",\"do\":[{\"nav.create\":{\"root\":"
                          "{\"id\":\"n%llu\",\"title\":\"Home\"}}}]}",
                          first_id + sent, nav, (unsigned long long)root_of(nav));
      send_message(socket, "nsp1.op", message, (size_t)size);
      sent++;
    }
    take_answer(socket, body, (uint64_t)(first_id + done++), 1, 0);
  }
  zmq_close(socket);
  zmq_ctx_term(context);
}

static void wait_for_turn(uint64_t time) {
  for (uint64_t now = nanoseconds(); now < time; now = nanoseconds()) {
    struct timespec rest = {.tv_nsec = (long)(time - now < 999999999 ? time - now : 999999999)};
    nanosleep(&rest, 0);
  }
}

void write_operations(const struct plan *plan, struct shared *shared, int process, int go) {
  void *context = zmq_ctx_new();
  void *socket = connect_session(context, plan->endpoint, "bench");
  struct form push, pop;
  make_forms(&push, &pop);
  struct model *models = calloc((size_t)plan->navs, sizeof *models);
  unsigned first_nav = (unsigned)(process * plan->navs);
  for (int nav = 0; nav < plan->navs; nav++)
    models[nav] = (struct model){.revision = 1, .bottom = root_of(first_nav + (unsigned)nav), .depth = 1};
  char *body = malloc(reply_limit + 1), byte;
  if (read(go, &byte, 1) != 1) fail("no start", "", 0);
  int total = plan->warm + plan->operations, sent = 0, done = 0;
  size_t offset = (size_t)process * (size_t)total;
  uint64_t base = first_id + offset, begin = nanoseconds(), due = begin;
  while (done < total) {
    while (sent < total && sent - done < plan->window) {
      if (plan->rate) {
        if (nanoseconds() < due && sent > done) break;
        wait_for_turn(due);
        due += 1000000000u / (uint64_t)plan->rate;
      }
      uint64_t now = shared->sent[offset + (size_t)sent] = nanoseconds();
      if (sent == plan->warm) begin = now;
      if (plan->seconds && sent > plan->warm && now - begin > (uint64_t)plan->seconds * 1000000000u) {
        total = sent;
        break;
      }
      operate(socket, &push, &pop, &models[sent % plan->navs],
              first_nav + (unsigned)(sent % plan->navs), base + (uint64_t)sent);
      sent++;
    }
    for (int flags = 0; done < sent; flags = ZMQ_DONTWAIT) {
      // The n-th operation on a nav makes revision n + 1.
      uint64_t revision = (uint64_t)(done / plan->navs) + 2;
      if (!take_answer(socket, body, base + (uint64_t)done, revision, flags)) break;
      shared->latency[offset + (size_t)done] = nanoseconds() - shared->sent[offset + (size_t)done];
      done++;
    }
  }
  shared->answered[process] = done;
  shared->began[process] = begin;
  shared->ended[process] = nanoseconds();
  zmq_close(socket);
  zmq_ctx_term(context);
}
