#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The classes of the calls that a simulated disk counts and fails.
enum simulated_call {
  SIMULATED_OPEN,
  SIMULATED_READ,
  SIMULATED_WRITE,
  SIMULATED_SYNC,
  SIMULATED_TRUNCATE,
  /// mkdir, unlink, rename and link.
  SIMULATED_NAME,
  SIMULATED_CALLS
};

/// What the calls of one thread below a directory meet.
///
/// The functions of libc with which Swift and SQLite use files are replaced in this program; they do what libc does,
/// unless a disk is attached to the thread, and the file is in its directory.
struct simulated_disk {
  char directory[256];
  /// The calls of each class so far.
  int64_t calls[SIMULATED_CALLS];
  /// The class whose calls fail; -1 for none.
  int fault_call;
  /// The number of the first call that fails, counted from 1, and whether all later ones fail too.
  int64_t fault_at;
  bool fault_lasts;
  /// The number of the error; 0 for a write of half of the bytes.
  int fault_error;
  /// The faults that happened.
  int64_t faults;
  /// The changes so far: writes, truncations and changes of names.
  int64_t changes;
  /// The last change that is made. The process is dead from then on: later calls change nothing, and the program must not
  /// trust their results.
  int64_t last_change;
  /// The bytes of the last change, if it is a write, that are still written.
  int64_t last_bytes;
  bool is_dead;
  /// Gets each change and sync that succeeded: the operation as in `RecordedCall`, and the bytes of a write.
  void (*record)(void *context, char operation, const char *path, const char *second, int64_t offset, const void *bytes,
                 int64_t count);
  void *context;
};

/// Attaches a disk to the calling thread, or none.
void simulated_disk_attach(struct simulated_disk *disk);
