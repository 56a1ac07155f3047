/* A remote control: prints what a nav shows, and changes it. It has no display of its own.

   cc remote.c -o remote $(pkg-config --cflags --libs navd) && ./remote kiosk

   Commands on standard input: "push ID TITLE", "back", "quit". */
#include <navd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static navd_client *client;
static const char *nav;
/* The state that the user has seen. Guards come from it, so that "back" never pops another screen. */
static char *seen;

static void report(navd_error *error) {
  printf("%s: %s; %s\n", navd_error_code(error), navd_error_message(error), navd_error_advice(error));
  navd_error_free(error);
}

static void show(const char *state) {
  navd_string_free(seen);
  seen = navd_json_get(state, "");
  for (int at = 0; at < navd_json_count(state, "/screens"); at++) {
    char pointer[32];
    snprintf(pointer, sizeof pointer, "/screens/%d/id", at);
    char *id = navd_json_get(state, pointer);
    printf("%s%s", at > 0 ? " > " : "", id);
    navd_string_free(id);
  }
  printf("\n");
}

/* Returns 0 at the end of the watch. */
static int take_events(void) {
  int goes_on = 1;
  for (navd_event *event; goes_on && (event = navd_next(client)); navd_event_free(event)) {
    switch (navd_event_kind(event)) {
    case NAVD_EVENT_STATE: show(navd_event_json(event)); break;
    case NAVD_EVENT_DISCONNECTED: printf("(not connected)\n"); break;
    case NAVD_EVENT_ENDED:
    case NAVD_EVENT_CLOSED:
      printf("%s\n", navd_error_message(navd_event_error(event)));
      goes_on = 0;
      break;
    default: break;
    }
  }
  fflush(stdout);
  return goes_on;
}

static void perform(const char *operations, const char *guard) {
  navd_error *error;
  if (navd_perform(client, nav, operations, guard, NAVD_ANIMATED, -1, NULL, &error) != NAVD_OK)
    report(error);
}

static void obey(char *line) {
  char id[65], title[129], operations[512];
  navd_error *error;
  if (sscanf(line, "push %64s %128[^\n]", id, title) == 2) {
    char *quoted_id = navd_json_string(id), *quoted_title = navd_json_string(title);
    snprintf(operations, sizeof operations, "[{\"push\":{\"screen\":{\"id\":%s,\"title\":%s}}}]",
             quoted_id ? quoted_id : "null", quoted_title ? quoted_title : "null");
    perform(operations, NULL);
    navd_string_free(quoted_id);
    navd_string_free(quoted_title);
  } else if (strncmp(line, "back", 4) == 0) {
    char *guard;
    if (navd_guard(client, seen ? seen : "{}", "top", &guard, &error) == NAVD_OK)
      perform("[{\"pop\":{}}]", guard);
    else
      report(error);
    navd_string_free(guard);
  }
}

int main(int count, char **arguments) {
  navd_error *error;
  navd_options options = {.size = sizeof options, .name = "remote"};
  nav = count > 1 ? arguments[1] : "kiosk";
  if (navd_connect(&options, -1, &client, &error) != NAVD_OK ||
      navd_watch(client, nav, &error) != NAVD_OK) {
    report(error);
    return 1;
  }
  struct pollfd inputs[] = {{.fd = navd_fd(client), .events = POLLIN}, {.fd = 0, .events = POLLIN}};
  char line[256];
  /* One line for each wait: poll does not see what stdio has read ahead. */
  setvbuf(stdin, NULL, _IONBF, 0);
  while (take_events() && poll(inputs, 2, -1) >= 0)
    if (inputs[1].revents) {
      if (!fgets(line, sizeof line, stdin) || strncmp(line, "quit", 4) == 0) break;
      obey(line);
    }
  navd_string_free(seen);
  navd_client_free(client);
  return 0;
}
