// A connection that observes the daemon while others write: it reads and checks nothing.

#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "load.h"

enum { observer_limit = 1 << 20 };

void observe(const struct plan *plan, struct shared *shared, int ready) {
  void *context = zmq_ctx_new();
  void *socket = connect_session(context, plan->endpoint, "observer");
  static const struct { const char *verb, *body; } requests[] = {
      {"nsp1.watch", "{\"id\":1,\"nav\":\"$heads\"}"},
      {"nsp1.get", "{\"id\":1,\"what\":\"trace\"}"},
      {"nsp1.get", "{\"id\":1,\"what\":\"trace\",\"nav\":\"b.000000\"}"},
  };
  const char *body = requests[plan->observes - 1].body;
  send_message(socket, requests[plan->observes - 1].verb, body, strlen(body));
  char *buffer = malloc(observer_limit + 1), verb[64];
  int size = take_message(socket, verb, buffer, 0);
  if (size < 0 || strcmp(verb, "nsp1.ok")) fail("observe", buffer, size < 0 ? 0 : (size_t)size);
  // The end is noticed soon, also without messages.
  int patience = 200;
  zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
  if (write(ready, "r", 1) != 1) fail("ready", "", 0);
  while (!shared->finished) (void)take_message(socket, verb, buffer, 0);
  free(buffer);
}
