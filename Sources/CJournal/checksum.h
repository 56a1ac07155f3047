#pragma once
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

/// Takes the widest vectors of the processor, where the library can choose: the same value at half the
/// cost. Which function that is, is behind a macro that Swift cannot import.
static inline XXH64_hash_t navd_xxh3(const void *bytes, size_t count, XXH64_hash_t seed) {
  return XXH3_64bits_withSeed(bytes, count, seed);
}
