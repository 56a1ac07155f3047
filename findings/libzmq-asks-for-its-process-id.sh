#!/usr/bin/env bash
# libzmq 4.3.4, as Debian 12 packages it: to see that a socket has nothing, a program makes two system calls, getpid(2)
# and poll(2), although no process forks and nothing has come.
#
# libzmq compares the process id with that of its start before it waits for commands of its own threads, so that a child
# after fork(2) does not read from its parent's descriptors. glibc has kept no copy of the id since 2.25, so each
# comparison enters the kernel. An event loop that asks for ZMQ_EVENTS after each message pays that each time.
#
# Seen: 1000 receives 1000 getpid; 1000 questions for events 1000 getpid
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
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zmq.h>

static pthread_t own;
static int questions;

/* In place of glibc's: the library finds this one first. It counts the calls of the program's own thread. */
pid_t getpid(void) {
  if (pthread_equal(pthread_self(), own)) questions++;
  return (pid_t)syscall(SYS_getpid);
}

int main(void) {
  own = pthread_self();
  void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_DEALER);
  zmq_bind(socket, "inproc://here");
  questions = 0;
  char byte;
  for (int count = 0; count < 1000; count++) zmq_recv(socket, &byte, 1, ZMQ_DONTWAIT);
  printf("1000 receives %d getpid\n", questions);
  questions = 0;
  for (int count = 0; count < 1000; count++) {
    int events;
    size_t size = sizeof events;
    zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size);
  }
  printf("1000 questions for events %d getpid\n", questions);
  zmq_close(socket);
  zmq_ctx_term(context);
}
PROGRAM
library=root/usr/lib/x86_64-linux-gnu
gcc -Iroot/usr/include -rdynamic program.c -L"$library" -Wl,--allow-shlib-undefined,-rpath,"$PWD/$library" -lzmq -o program
./program | tee output
diff - output <<'SEEN'
1000 receives 1000 getpid
1000 questions for events 1000 getpid
SEEN
