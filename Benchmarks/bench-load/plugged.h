// What the client and the watchers have in common that another benchmark starts.

#ifndef PLUGGED_H
#define PLUGGED_H

#include <stddef.h>
#include <stdint.h>

// The id of an operation is the time it was sent at, so that watchers in another process know how
// old a diff is. Ids count 16 ns and have 16 digits.
uint64_t id_of(uint64_t time);
uint64_t time_of(uint64_t id);

// The value of a pair name=value.
const char *text_of(int count, char **pairs, const char *name, const char *otherwise);
long number_of(int count, char **pairs, const char *name, long otherwise);

// Writes the message that creates a stack with one screen; returns its size.
size_t write_stack_creation(char *to, size_t room, uint64_t id, long stack);

// The time of the processors that this process has taken, in seconds.
double own_processor_time(void);
void sort(uint64_t *values, size_t count);
// In microseconds; `values` are in order.
double quantile(const uint64_t *values, size_t count, double part);

#endif
