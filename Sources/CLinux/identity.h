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

// By the functions with a buffer of the caller: another thread may look up a name at the same time.

/// Looks up a group, however many members it has; the caller frees `texts`.
static inline struct group *navd_group(const char *name, struct group *entry, char **texts) {
  struct group *group = NULL;
  *texts = NULL;
  for (size_t room = 4096; room <= 1 << 24; room *= 4) {
    char *more = realloc(*texts, room);
    if (!more) return NULL;
    *texts = more;
    if (getgrnam_r(name, entry, *texts, room, &group) != ERANGE) break;
  }
  return group;
}

/// The number of a group, or -1 if there is none of that name.
static inline long navd_group_id(const char *name) {
  struct group entry, *group;
  char *texts;
  group = navd_group(name, &entry, &texts);
  long number = group ? (long)group->gr_gid : -1;
  free(texts);
  return number;
}

/// The number of a user, or -1 if there is none of that name.
static inline long navd_user_id(const char *name) {
  char texts[16384];
  struct passwd entry, *user = NULL;
  getpwnam_r(name, &entry, texts, sizeof texts, &user);
  return user ? (long)user->pw_uid : -1;
}

/// The number of a group's member at a place, -2 for one that is no user, -1 behind the last.
static inline long navd_group_member(const char *name, int index) {
  struct group entry, *group;
  char *texts;
  group = navd_group(name, &entry, &texts);
  long user = -1;
  int at = 0;
  while (group && group->gr_mem[at] && at < index) at++;
  if (group && group->gr_mem[at] && at == index) {
    user = navd_user_id(group->gr_mem[index]);
    if (user < 0) user = -2;
  }
  free(texts);
  return user;
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
