#pragma once
#include <zmq.h>
#include <errno.h>

/// In libzmq 4.3.4 the name of option 93 is hidden behind its DRAFT header, but the library as
/// Debian builds it accepts and enforces it. The caller checks the return code.
enum { NAVD_ZMQ_ZAP_ENFORCE_DOMAIN = 93 };

#include <stdlib.h>
#include <sys/random.h>

/// Seeds rand, which libzmq uses and never seeds. Returns whether the kernel gave a seed.
static inline int navd_seed_rand(void) {
  unsigned seed;
  ssize_t got;
  do {
    got = getrandom(&seed, sizeof seed, 0);
  } while (got == -1 && errno == EINTR);
  if (got != (ssize_t)sizeof seed) return 0;
  srand(seed);
  return 1;
}

/// The name of an errno value, such as "EINVAL", or NULL. Declared by glibc for _GNU_SOURCE only,
/// which must not be defined here: it changes types this module shares with others.
const char *strerrorname_np(int);
