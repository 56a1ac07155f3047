#pragma once
#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

/// What `navd_sqlite3_pread` adds to the number of an error.
#define navd_sqlite3_failed_read 4096

/// pread(2), which SQLite calls instead of the system's.
///
/// SQLite reports a read that fails with EIO, ENXIO or ERANGE as damage of the file
/// (SQLITE_IOERR_CORRUPTFS). With any other number, it reports SQLITE_IOERR_READ.
static inline ssize_t navd_sqlite3_pread(int file, void *bytes, size_t count, off_t place) {
  ssize_t read = pread(file, bytes, count, place);
  if (read < 0 && errno != EINTR) errno += navd_sqlite3_failed_read;
  return read;
}

/// pwrite(2), which SQLite calls instead of the system's.
///
/// SQLite takes only ENOSPC for a full disk, and has no number of the error after a commit. A quota is one too.
static inline ssize_t navd_sqlite3_pwrite(int file, const void *bytes, size_t count, off_t place) {
  ssize_t written = pwrite(file, bytes, count, place);
  if (written < 0 && errno == EDQUOT) errno = ENOSPC;
  return written;
}

/// Makes SQLite call `call` in place of one of two system calls, whichever its build options chose.
static inline int navd_sqlite3_replace(const char *wide, const char *plain, sqlite3_syscall_ptr call) {
  sqlite3_vfs *system = sqlite3_vfs_find("unix-excl");
  const char *name = system && system->xGetSystemCall(system, wide) ? wide : plain;
  return system && system->xGetSystemCall(system, name) && system->xSetSystemCall(system, name, call) == SQLITE_OK;
}

/// Makes SQLite call `navd_sqlite3_pread` and `navd_sqlite3_pwrite`; returns whether it uses such calls at all.
static inline int navd_sqlite3_distinguish_errors(void) {
  return navd_sqlite3_replace("pread64", "pread", (sqlite3_syscall_ptr)navd_sqlite3_pread) &&
         navd_sqlite3_replace("pwrite64", "pwrite", (sqlite3_syscall_ptr)navd_sqlite3_pwrite);
}

/// SQLITE_TRANSIENT is a cast that Swift cannot import.
static inline int navd_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// sqlite3_db_config is variadic, which Swift cannot call.
static inline int navd_sqlite3_db_config(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}
