/* A remote control: prints what a nav shows, and obeys "push ID TITLE", "back" and "quit" on standard input.
   cc remote.c -o remote $(pkg-config --cflags --libs navd) && ./remote kiosk */
#include <navd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static navd_client *client;
static const char *nav;
static char *seen; /* The state that the user has seen: guards come from it. */

static int report(navd_error *error) {
  printf("%s: %s; %s\n", navd_error_code(error), navd_error_message(error), navd_error_advice(error));
  navd_error_free(error);
  return 1;
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

static int goes_on_after(const navd_event *event) {
  navd_kind kind = navd_event_kind(event);
  if (kind == NAVD_EVENT_STATE) show(navd_event_json(event));
  if (kind == NAVD_EVENT_DISCONNECTED) printf("(not connected)\n");
  if (kind != NAVD_EVENT_ENDED && kind != NAVD_EVENT_CLOSED) return 1;
  printf("%s\n", navd_error_message(navd_event_error(event)));
  return 0;
}

static void perform(const char *operations, const char *guard) {
  navd_error *error;
  if (navd_perform(client, nav, operations, guard, NAVD_ANIMATED, 2000, NULL, &error) != NAVD_OK) report(error);
}

/* Obeys one line; returns 0 if it is the last one. */
static int obey(void) {
  char line[256], id[65], title[129], operations[512], *guard;
  navd_error *error;
  if (!fgets(line, sizeof line, stdin) || strncmp(line, "quit", 4) == 0) return 0;
  if (sscanf(line, "push %64s %128[^\n]", id, title) == 2) {
    char *quoted_id = navd_json_string(id), *quoted_title = navd_json_string(title);
    snprintf(operations, sizeof operations, "[{\"push\":{\"screen\":{\"id\":%s,\"title\":%s}}}]",
             quoted_id ? quoted_id : "null", quoted_title ? quoted_title : "null");
    perform(operations, NULL);
    navd_string_free(quoted_id);
    navd_string_free(quoted_title);
  } else if (strncmp(line, "back", 4) == 0) {
    if (navd_guard(client, seen ? seen : "{}", "top", &guard, &error) != NAVD_OK) report(error);
    else perform("[{\"pop\":{}}]", guard);
    navd_string_free(guard);
  }
  return 1;
}

int main(int count, char **arguments) {
  nav = count > 1 ? arguments[1] : "kiosk";
  navd_error *error; navd_event *event;
  if (navd_connect(&(navd_options){.size = sizeof(navd_options), .name = "remote"}, -1, &client, &error) != NAVD_OK ||
      navd_watch(client, nav, 1, &error) != NAVD_OK)
    return report(error);
  struct pollfd inputs[] = {{.fd = navd_fd(client), .events = POLLIN}, {.fd = 0, .events = POLLIN}};
  setvbuf(stdin, NULL, _IONBF, 0); /* One line for each wait: poll does not see what stdio has read ahead. */
  for (int goes_on = 1; goes_on && poll(inputs, 2, -1) >= 0;) {
    for (int count = 0; goes_on && count < 8 && (event = navd_next(client)); navd_event_free(event), count++) goes_on = goes_on_after(event);
    fflush(stdout);
    if (goes_on && inputs[1].revents) goes_on = obey();
  }
  navd_string_free(seen);
  navd_client_free(client);
}
