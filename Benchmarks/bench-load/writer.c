// Operations: messages encoded once and patched in place, answers checked without parsing.
//
// The writer keeps a model of each nav, so it knows the revision and the top screen before each
// operation, and names them in its guards. So all operations after a lost or repeated one fail.

#define _GNU_SOURCE
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "load.h"

enum { item_size = 120, reply_limit = 1 << 19, depth_limit = 64 };

// A message, and the addresses of its variable parts.
struct form {
  char bytes[512];
  size_t size;
  char *id, *nav, *revision, *top, *item, *title;
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
  if (!form->item) form->item = place(form, "\"screen\":\"n");
  form->title = place(form, "\"title\":\"");
}

static void make_forms(struct form *push, struct form *pop, struct form *edit) {
  const char *head =
      "{\"id\":1000000000,\"nav\":\"b.000000\",\"if\":{\"rev\":1         ,\"top\":\"n1000000000\"}";
  const char *before = "{\"id\":\"n1000000000\",\"title\":\"", *after = "\"}";
  char title[item_size + 1];
  size_t length = item_size - strlen(before) - strlen(after);
  memset(title, 'w', length);
  title[length] = 0;
  sprintf(push->bytes, "%s,\"do\":[{\"push\":{\"screen\":%s%s%s}}]}", head, before, title, after);
  sprintf(pop->bytes, "%s,\"do\":[{\"pop\":{}}]}", head);
  sprintf(edit->bytes, "%s,\"do\":[{\"item.set\":{\"screen\":\"n1000000000\",\"title\":\"%s\"}}]}",
          head, title);
  find_places(push);
  find_places(pop);
  find_places(edit);
}

static void put_digits(char *to, int width, uint64_t number) {
  while (width--) {
    to[width] = (char)('0' + number % 10);
    number /= 10;
  }
}

// Writes a number with spaces after it, because JSON allows no leading zeros.
static void put_number(char *to, uint64_t number) {
  char digits[21];
  int size = 0;
  do digits[size++] = (char)('0' + number % 10);
  while (number /= 10);
  for (int index = 0; index < 10; index++) to[index] = index < size ? digits[size - 1 - index] : ' ';
}

static uint64_t root_of(unsigned nav) { return first_id + nav; }

// The id of the bottom screen of several; far from the ids of pushed screens.
static uint64_t lowest_of(unsigned nav) { return root_of(nav) + 500000000; }

int is_pop_next(const struct plan *plan, const struct model *model) {
  if (!plan->is_mixed) return model->depth > 0;
  // Revision 1 is the creation, which counts as the first of the four.
  return model->depth == model_depth || model->revision % 4 == 3;
}

void pop_or_push(struct model *model, int is_pop, uint64_t screen) {
  if (is_pop) model->depth--;
  else model->pushed[model->depth++] = screen;
}

uint64_t top_of(const struct model *model, uint64_t bottom) {
  return model->depth ? model->pushed[model->depth - 1] : bottom;
}

// Sends a message with the guards of a nav, and advances the revision of its model.
static void send_form(void *socket, struct form *form, struct model *model, unsigned nav,
                      uint64_t id) {
  put_digits(form->id, 10, id);
  put_digits(form->nav, 6, nav);
  put_number(form->revision, model->revision++);
  put_digits(form->top, 10, top_of(model, root_of(nav)));
  zmq_send(socket, "nsp1.op", 7, ZMQ_SNDMORE);
  if (zmq_send(socket, form->bytes, form->size, 0) < 0) fail("send", "", 0);
}

// Pushes a screen, or pops the last pushed one.
static void push_or_pop(void *socket, const struct plan *plan, struct form *push, struct form *pop,
                        struct model *model, unsigned nav, uint64_t id) {
  // The ids of pushed screens must differ from those of the roots.
  uint64_t screen = id + 1000000000;
  int is_pop = is_pop_next(plan, model);
  if (!is_pop) put_digits(push->item, 10, screen);
  send_form(socket, is_pop ? pop : push, model, nav, id);
  pop_or_push(model, is_pop, screen);
}

// Changes the title of a screen's item.
static void edit_item(void *socket, struct form *edit, struct model *model, unsigned nav,
                      uint64_t id, uint64_t screen) {
  put_digits(edit->item, 10, screen);
  put_digits(edit->title, 10, id);
  send_form(socket, edit, model, nav, id);
}

// Takes an answer; returns 0 if there is none yet. Any answer but the expected ok ends the run.
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

// Writes the message that creates a nav with `depth` screens, and returns its size; the id of the
// top screen is made from the number of the nav.
static size_t write_creation(char *to, size_t room, const struct plan *plan, int id, unsigned nav) {
  unsigned long long top = root_of(nav), lowest = lowest_of(nav);
  size_t size = (size_t)snprintf(to, room, "{\"id\":%d,\"nav\":\"b.%06u\",\"do\":[", id, nav);
  if (plan->depth <= 1) {
    size += (size_t)snprintf(
        to + size, room - size,
        "{\"nav.create\":{\"root\":{\"id\":\"n%llu\",\"title\":\"Home\"}}}]}", top);
    return size;
  }
  size += (size_t)snprintf(to + size, room - size,
                           "{\"nav.create\":{\"root\":{\"id\":\"n%llu\",\"title\":\"Home\"}}},"
                           "{\"setStack\":{\"screens\":[\"n%llu\"",
                           lowest, lowest);
  for (int index = 1; index < plan->depth - 1; index++)
    size += (size_t)snprintf(to + size, room - size, ",{\"id\":\"x%d\",\"title\":\"Page\"}", index);
  size += (size_t)snprintf(to + size, room - size,
                           ",{\"id\":\"n%llu\",\"title\":\"Top\"}]}}]}", top);
  return size;
}

void create_navs(const struct plan *plan, int process) {
  if (plan->depth > depth_limit) fail("too deep", "", 0);
  void *context = zmq_ctx_new();
  void *socket = connect_process(context, plan, process, "creator");
  char message[4096], *body = malloc(reply_limit + 1);
  int sent = 0, done = 0;
  while (done < plan->navs) {
    while (sent < plan->navs && sent - done < 64) {
      unsigned nav = (unsigned)(process * plan->navs + sent);
      size_t size = write_creation(message, sizeof message, plan, first_id + sent, nav);
      send_message(socket, "nsp1.op", message, size);
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
  void *socket = connect_process(context, plan, process, "bench");
  struct form push, pop, edit;
  make_forms(&push, &pop, &edit);
  struct model *models = calloc((size_t)plan->navs, sizeof *models);
  unsigned first_nav = (unsigned)(process * plan->navs);
  for (int nav = 0; nav < plan->navs; nav++) models[nav].revision = 1;
  char *body = malloc(reply_limit + 1), byte;
  if (read(go, &byte, 1) != 1) fail("no start", "", 0);
  if (plan->slice) await_turn(plan);
  int total = plan->warm + plan->operations, sent = 0, done = 0;
  size_t offset = (size_t)process * (size_t)total;
  uint64_t base = first_id + offset, begin = nanoseconds(), due = begin;
  uint64_t slice = (uint64_t)plan->slice * 1000000, turn = begin, waited = 0;
  while (done < total) {
    int is_over = slice && nanoseconds() - turn > slice;
    if (is_over && sent == done) {
      waited += pass_turn(plan);
      turn = nanoseconds();
      is_over = 0;
    }
    while (!is_over && sent < total && sent - done < plan->window) {
      if (plan->rate) {
        if (nanoseconds() < due && sent > done) break;
        wait_for_turn(due);
        due += 1000000000u / (uint64_t)plan->rate;
      }
      uint64_t now = shared->sent[offset + (size_t)sent] = nanoseconds();
      if (sent == plan->warm) begin = now, waited = 0;
      if (plan->seconds && sent > plan->warm &&
          now - begin - waited > (uint64_t)plan->seconds * 1000000000u) {
        total = sent;
        break;
      }
      struct model *model = &models[sent % plan->navs];
      unsigned nav = first_nav + (unsigned)(sent % plan->navs);
      uint64_t id = base + (uint64_t)sent;
      if (plan->edits)
        edit_item(socket, &edit, model, nav, id, plan->edits == 1 ? root_of(nav) : lowest_of(nav));
      else
        push_or_pop(socket, plan, &push, &pop, model, nav, id);
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
  shared->ended[process] = nanoseconds() - waited;
  zmq_close(socket);
  zmq_ctx_term(context);
}
