#!/usr/bin/env bash
# SQLite 3.40.1, as Debian 12 packages it: `xSetSystemCall` of the VFS "unix" answers SQLITE_OK for a system call that
# this build never makes.
#
# The VFS can replace system calls, so that a program counts reads or lets them fail. Builds with 64-bit offsets read by
# pread64(2). There, "pread" stays in the table of names: setting it succeeds, and the replacement is never called. Only
# `xGetSystemCall`, which returns NULL for "pread", tells the difference. A test that sets "pread" alone, and checks the
# status, believes that it watches each read.
#
# Seen: pread: there 0, status 0, called 0; pread64: there 1, status 0, called 1
#
# Needs gcc, apt and Debian 12 on x86-64. Ends with 1 if the behaviour has changed.
set -euo pipefail
readonly version=3.40.1-2+deb12u2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
apt-get download "libsqlite3-0=$version" "libsqlite3-dev=$version" >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
cat >program.c <<'PROGRAM'
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

static int calls;

static ssize_t counted(int file, void *bytes, size_t count, off_t place) {
  calls++;
  return pread(file, bytes, count, place);
}

int main(void) {
  sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
  const char *names[] = {"pread", "pread64"};
  for (int index = 0; index < 2; index++) {
    int isThere = vfs->xGetSystemCall(vfs, names[index]) != 0;
    int status = vfs->xSetSystemCall(vfs, names[index], (sqlite3_syscall_ptr)counted);
    sqlite3 *database;
    calls = 0;
    if (sqlite3_open("test.db", &database) ||
        sqlite3_exec(database, "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(1)", 0, 0, 0) ||
        sqlite3_close(database))
      return 1;
    printf("%s: there %d, status %d, called %d\n", names[index], isThere, status, calls > 0);
    vfs->xSetSystemCall(vfs, names[index], 0);
  }
  printf("SQLite %s\n", sqlite3_libversion());
}
PROGRAM
library=root/usr/lib/x86_64-linux-gnu
gcc -Iroot/usr/include program.c -L"$library" -lsqlite3 -Wl,-rpath,"$PWD/$library" -o program
./program | tee output
diff - output <<'SEEN'
pread: there 0, status 0, called 0
pread64: there 1, status 0, called 1
SQLite 3.40.1
SEEN
