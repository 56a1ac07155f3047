#pragma once

// Who and when this process is: names of users and groups, and its time namespace.

#include "shim.h"

/// Copies the name of a user, or else the number, without a terminating zero; returns its length.
static inline size_t navd_user_name(uid_t number, unsigned char *name, size_t room) {
  char texts[4096], digits[16];
  struct passwd entry, *user = NULL;
  getpwuid_r(number, &entry, texts, sizeof texts, &user);
  snprintf(digits, sizeof digits, "%u", number);
  size_t length = strnlen(user ? user->pw_name : digits, room);
  return memcpy(name, user ? user->pw_name : digits, length), length;
}

/// Copies the name of a group in the same way.
static inline size_t navd_group_name(gid_t number, unsigned char *name, size_t room) {
  char texts[4096], digits[16];
  struct group entry, *group = NULL;
  getgrgid_r(number, &entry, texts, sizeof texts, &group);
  snprintf(digits, sizeof digits, "%u", number);
  size_t length = strnlen(group ? group->gr_name : digits, room);
  return memcpy(name, group ? group->gr_name : digits, length), length;
}

/// What the time namespace of this process adds to CLOCK_BOOTTIME, in milliseconds; a negative number
/// as its two's complement, 0 if it is unknown.
static inline uint64_t navd_boot_offset(void) {
  struct stat own, next;
  // The kernel shows the offsets of the namespace that children get.
  if (stat("/proc/self/ns/time", &own) < 0 || stat("/proc/self/ns/time_for_children", &next) < 0 ||
      own.st_ino != next.st_ino)
    return 0;
  FILE *file = fopen("/proc/self/timens_offsets", "re");
  long long seconds = 0, nanoseconds = 0;
  int found = file ? fscanf(file, "monotonic %*d %*d boottime %lld %lld", &seconds, &nanoseconds) : 0;
  if (file) fclose(file);
  return found == 2 ? (uint64_t)(seconds * 1000 + nanoseconds / 1000000) : 0;
}
