#!/usr/bin/env bash
# libzmq 4.3.4, as Debian 12 packages it: the first `zmq_ctx_new` of a process asks the name service for the protocol
# "pgm", also in a program that never uses the transport pgm://.
#
# The package is built with OpenPGM, which libzmq initialises with each context; OpenPGM asks once, by getprotobyname_r(3).
# Debian's nsswitch.conf has "protocols: db files", so glibc first searches all library folders for libnss_db.so.2, which
# is seldom installed. A command that sends one message and ends pays that each time. A program can call
# __nss_configure_lookup("protocols", "files") before it.
#
# Seen: linked 0; first context 1 pgm; second context 0; socket 0
#
# Needs gcc, apt and Debian 12 on x86-64. Ends with 1 if the behaviour has changed.
set -euo pipefail
readonly version=4.3.4-6
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
apt-get download "libzmq5=$version" "libzmq3-dev=$version" libpgm-5.3-0 libnorm1 libsodium23 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
cat >program.c <<'PROGRAM'
#include <netdb.h>
#include <stdio.h>
#include <zmq.h>

static int questions;
static const char *asked = "";

/* In place of glibc's: the library finds this one first. */
int getprotobyname_r(const char *name, struct protoent *entry, char *buffer, size_t size, struct protoent **result) {
  (void)entry, (void)buffer, (void)size;
  questions++;
  asked = name;
  *result = 0;
  return 0;
}

static void tell(const char *what) {
  printf("%s %d%s%s\n", what, questions, questions ? " " : "", questions ? asked : "");
  questions = 0;
}

int main(void) {
  tell("linked");
  void *first = zmq_ctx_new();
  tell("first context");
  void *second = zmq_ctx_new();
  tell("second context");
  void *socket = zmq_socket(second, ZMQ_DEALER);
  tell("socket");
  zmq_close(socket);
  zmq_ctx_term(second);
  zmq_ctx_term(first);
}
PROGRAM
library=root/usr/lib/x86_64-linux-gnu
gcc -Iroot/usr/include -rdynamic program.c -L"$library" -Wl,--allow-shlib-undefined,-rpath,"$PWD/$library" -lzmq -o program
./program | tee output
diff - output <<'SEEN'
linked 0
first context 1 pgm
second context 0
socket 0
SEEN
