// The declarations for the client and the watchers that another benchmark program starts.

#ifndef PLUGGED_H
#define PLUGGED_H

#include <stddef.h>
#include <stdint.h>

// The id of an operation is its time of sending, so that watchers in another process can compute
// the age of a diff. Ids count steps of 16 ns and have 16 digits.
uint64_t id_of(uint64_t time);
uint64_t time_of(uint64_t id);

// The value of a pair name=value; `otherwise` if there is none.
const char *text_of(int count, char **pairs, const char *name, const char *otherwise);
long number_of(int count, char **pairs, const char *name, long otherwise);

// Writes the message that creates a stack with one screen; returns its size.
size_t write_stack_creation(char *to, size_t room, uint64_t id, long stack);

// The processor time that this process has used, in seconds.
double own_processor_time(void);
void sort(uint64_t *values, size_t count);
// A quantile in microseconds, from sorted values in nanoseconds.
double quantile(const uint64_t *values, size_t count, double part);

#endif
