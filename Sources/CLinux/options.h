#pragma once
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

/// argp_error is variadic, which Swift cannot call.
static inline void navd_argp_error(const struct argp_state *state, const char *message) {
  argp_error(state, "%s", message);
}

/// argp's exit status for a wrong command line is a global variable, 64 unless set.
static inline void navd_argp_set_error_status(int status) { argp_err_exit_status = status; }

/// stdout and stderr are variables to Swift, which refuses shared ones.
static inline void navd_put_line(int to_stderr, const char *line) {
  fputs(line, to_stderr ? stderr : stdout);
  fputc('\n', to_stderr ? stderr : stdout);
}

/// ARGP_ERR_UNKNOWN is E2BIG, a macro of errno.h.
static inline int navd_argp_unknown(void) { return ARGP_ERR_UNKNOWN; }
