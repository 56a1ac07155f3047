#!/usr/bin/env bash
# SQLite 3.40.1, as Debian 12 packages it: with synchronous=FULL, the first commit in WAL mode returns SQLITE_OK although
# the name of the new write-ahead log was never synced.
#
# The first sync of a new log also syncs its directory, for which SQLite opens the directory. If that fails, as in a process
# without a spare descriptor, SQLite goes on without the sync, once and for ever. A power failure can then take the name of
# the log, and with it each commit that no checkpoint has moved. A program that needs the promise syncs the directory itself
# after the first commit.
#
# Seen: spare descriptor: status 0, directory synced 1; no spare descriptor: status 0, directory synced 0
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
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int synced;

static int counted(long call, int file) {
  struct stat status;
  if (!fstat(file, &status) && S_ISDIR(status.st_mode)) synced++;
  return syscall(call, file);
}

/* The library calls these two in place of those of libc. */
int fsync(int file) { return counted(SYS_fsync, file); }
int fdatasync(int file) { return counted(SYS_fdatasync, file); }

static int run(const char *name, const char *what, int spare) {
  sqlite3 *database;
  if (sqlite3_open(name, &database) ||
      sqlite3_exec(database, "CREATE TABLE t(a); PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; SELECT * FROM t", 0, 0, 0))
    return 1;
  int next = dup(0);
  close(next);
  struct rlimit before, limit;
  getrlimit(RLIMIT_NOFILE, &before);
  limit = before;
  if (!spare) limit.rlim_cur = next;
  setrlimit(RLIMIT_NOFILE, &limit);
  synced = 0;
  int status = sqlite3_exec(database, "INSERT INTO t VALUES(1)", 0, 0, 0);
  setrlimit(RLIMIT_NOFILE, &before);
  // Later commits do not make up for it.
  if (sqlite3_exec(database, "INSERT INTO t VALUES(2)", 0, 0, 0)) return 1;
  printf("%s: status %d, directory synced %d\n", what, status, synced);
  // The connection stays open, so that no checkpoint follows.
  return 0;
}

int main(void) {
  int failed = run("one.db", "spare descriptor", 1) || run("two.db", "no spare descriptor", 0);
  printf("SQLite %s\n", sqlite3_libversion());
  return failed;
}
PROGRAM
library=root/usr/lib/x86_64-linux-gnu
gcc -rdynamic -Iroot/usr/include program.c -L"$library" -lsqlite3 -Wl,-rpath,"$PWD/$library" -o program
./program | tee output
diff - output <<'SEEN'
spare descriptor: status 0, directory synced 1
no spare descriptor: status 0, directory synced 0
SQLite 3.40.1
SEEN
