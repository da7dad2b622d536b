// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory and numbers of the random cases for the kernels (kernels_random.cpp):
// arrays between inaccessible pages, at any alignment.

#ifndef KERNELS_RANDOM_H
#define KERNELS_RANDOM_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

/// xorshift64*, one for each case.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15 | 1) {
    for (int i = 0; i < 8; ++i)
      next();
  }
  uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1d;
  }
  /// In [0, limit).
  uint64_t below(uint64_t limit) { return (next() >> 11) % limit; }
  bool oneOf(uint64_t chances) { return below(chances) == 0; }
  /// Small ones most of the time.
  uint64_t size(uint64_t largest) {
    uint64_t limit = oneOf(8) ? largest : oneOf(3) ? 4000 : 130;
    return below((limit < largest ? limit : largest) + 1);
  }

private:
  uint64_t state;
};

/// `bytes` in front of an inaccessible page, or behind one, or between the two;
/// the rest of its pages holds a pattern.
class Guarded {
public:
  Guarded(Random &random, size_t bytes) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    inner = (bytes + page - 1) / page * page + page;
    mapped = inner + 2 * page;
    base = static_cast<char *>(
        mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED ||
        mprotect(base + page, inner, PROT_READ | PROT_WRITE)) {
      perror("mmap");
      exit(2);
    }
    room = base + page;
    for (size_t i = 0; i < inner; ++i)
      room[i] = char(i * 31 + 7);
    size_t slack = inner - bytes;
    // Shifts of a few bytes are what alignment is about.
    size_t shift = random.oneOf(3)   ? slack
                   : random.oneOf(3) ? slack - random.below(65)
                   : random.oneOf(2) ? random.below(65)
                                     : random.below(slack + 1);
    start = room + shift;
  }
  ~Guarded() { munmap(base, mapped); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  template <typename T> T *as() const { return reinterpret_cast<T *>(start); }
  template <typename T> T get(size_t i) const {
    T value;
    memcpy(&value, start + i * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void set(size_t i, T value) {
    memcpy(start + i * sizeof(T), &value, sizeof(T));
  }
  /// All that can be written, also around the array.
  std::vector<char> contents() const { return {room, room + inner}; }
  /// The array in contents().
  size_t offset() const { return size_t(start - room); }

private:
  size_t inner, mapped;
  char *base, *room, *start;
};

#endif // KERNELS_RANDOM_H
