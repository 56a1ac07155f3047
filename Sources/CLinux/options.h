#pragma once
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

/// stdout and stderr are variables to Swift, which refuses shared ones.
static inline void navd_put_line(int to_stderr, const char *line) {
  fputs(line, to_stderr ? stderr : stdout);
  fputc('\n', to_stderr ? stderr : stdout);
}
