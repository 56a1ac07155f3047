// The stacks of the peer, and the rows they are made from.

#ifndef STACKS_H
#define STACKS_H

#include <stddef.h>

enum { nav_limit = 1 << 20 };

// One operation, as it is stored.
struct record {
  // '+' pushes the screen, '-' pops the one on top.
  char kind, screen[11], title[108];
};

_Static_assert(sizeof(struct record) == 120, "a row has 120 bytes");

struct stack {
  struct record *screens;
  unsigned depth, room;
};

extern struct stack stacks[nav_limit];

// What a message that creates, pushes or pops says.
struct record make_record(const char *body, size_t size);
// Does what is stored; returns 0 if there is nothing to pop.
int apply(struct stack *stack, const struct record *record);

#endif
