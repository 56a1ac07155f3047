#define _GNU_SOURCE
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

struct stack stacks[nav_limit];

// Copies at most `room` bytes of the text after `mark`, up to the next quotation mark.
static void copy_text(char *to, size_t room, const char *body, size_t size, const char *mark) {
  const char *found = memmem(body, size, mark, strlen(mark));
  if (!found) return;
  found += strlen(mark);
  size_t left = size - (size_t)(found - body);
  const char *end = memchr(found, '"', left);
  size_t length = end ? (size_t)(end - found) : 0;
  memcpy(to, found, length < room ? length : room);
}

struct record make_record(const char *body, size_t size) {
  struct record record = {.kind = memmem(body, size, "{\"pop\"", 6) ? '-' : '+'};
  if (record.kind == '-') return record;
  copy_text(record.screen, sizeof record.screen, body, size, "{\"id\":\"");
  copy_text(record.title, sizeof record.title, body, size, "\"title\":\"");
  return record;
}

int apply(struct stack *stack, const struct record *record) {
  if (record->kind == '-') {
    if (!stack->depth) return 0;
    stack->depth--;
    return 1;
  }
  if (stack->depth == stack->room) {
    stack->room = stack->room ? stack->room * 2 : 2;
    stack->screens = realloc(stack->screens, stack->room * sizeof *stack->screens);
    if (!stack->screens) return 0;
  }
  stack->screens[stack->depth++] = *record;
  return 1;
}
