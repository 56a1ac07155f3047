// The stacks of the peer, and the rows from which they are built.

#ifndef STACKS_H
#define STACKS_H

#include <stddef.h>

enum { nav_limit = 1 << 20 };

// One operation, in its stored form.
struct record {
  // '+' pushes the screen, '-' pops the top one.
  char kind, screen[11], title[108];
};

_Static_assert(sizeof(struct record) == 120, "a row has 120 bytes");

struct stack {
  struct record *screens;
  unsigned depth, room;
};

extern struct stack stacks[nav_limit];

// Makes the row for a message that creates, pushes or pops.
struct record make_record(const char *body, size_t size);
// Performs a stored operation; returns 0 if there is nothing to pop, or no memory.
int apply(struct stack *stack, const struct record *record);

#endif
