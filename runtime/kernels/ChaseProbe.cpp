// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointer chase: one random cycle through a buffer, and the walk along it. The
// buffer holds nothing but the cycle, and the cells are permuted where they are
// (Sattolo's algorithm, which gives each single cycle with the same
// probability), so that as much memory is measured as was asked for.

#include "ArgumentChecks.h"

using namespace mpg;

/// Where the cells are.
struct Cells {
  char *buffer;
  size_t count, strideBytes;
  size_t places; ///< 64 bytes each, at which a cell can lie in its stride

  /// Places take turns. With a random place for each cell some sets of a cache
  /// would get more cells than others, and conflicts were measured; in turn,
  /// with a stride of a power of two, each set gets the same number.
  void **at(size_t i) const {
    constexpr size_t placeBytes = 64;
    size_t offset = i % places * placeBytes;
    return reinterpret_cast<void **>(buffer + i * strideBytes + offset);
  }
};

/// Numbers of 64 bits that look random: splitmix64.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t mixed = state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

/// In [0, limit), each equally likely but for 2^-64 * limit.
static size_t randomBelow(uint64_t &state, size_t limit) {
  __extension__ typedef unsigned __int128 Wide;
  return size_t(Wide(nextRandom(state)) * limit >> 64);
}

static int check(const void *buffer, size_t bytes, size_t strideBytes) {
  if (!buffer)
    return kernelError(EINVAL, "buffer is a null pointer");
  if (uintptr_t(buffer) % sizeof(void *))
    return kernelError(EINVAL, "buffer is not aligned to %zu bytes",
                       sizeof(void *));
  if (strideBytes < sizeof(void *) || strideBytes % sizeof(void *))
    return kernelError(EINVAL,
                       "strideBytes is %zu; it must be a multiple of %zu",
                       strideBytes, sizeof(void *));
  if (bytes < strideBytes)
    return kernelError(EINVAL,
                       "a buffer of %zu bytes has no room for a cell of %zu",
                       bytes, strideBytes);
  return checkReach("buffer", buffer, bytes - 1, 1);
}

void *mpg_chase_fill(void *buffer, size_t bytes, size_t strideBytes,
                     uint64_t seed) {
  if (check(buffer, bytes, strideBytes)) {
    errno = EINVAL;
    return nullptr;
  }
  Cells cells = {static_cast<char *>(buffer), bytes / strideBytes, strideBytes,
                 (strideBytes - sizeof(void *)) / 64 + 1};
  for (size_t i = 0; i < cells.count; ++i)
    *cells.at(i) = cells.at(i);
  for (size_t i = cells.count; i-- > 1;) {
    // Below i, not i itself: that is what leaves one cycle only.
    void **other = cells.at(randomBelow(seed, i));
    void *swapped = *other;
    *other = *cells.at(i);
    *cells.at(i) = swapped;
  }
  return cells.at(0);
}

/// Steps of one turn of the loop: enough for its own two instructions to hide
/// behind the loads, which wait for each other.
constexpr int64_t stepsPerTurn = 16;

static inline void *step(void *cell) { return *static_cast<void **>(cell); }

static inline void *fourSteps(void *cell) {
  return step(step(step(step(cell))));
}

void *mpg_chase(void *cell, int64_t steps) {
  if (!cell || steps < 0) {
    if (cell)
      kernelError(EINVAL, "steps is %" PRId64 "; it must not be negative",
                  steps);
    else
      kernelError(EINVAL, "cell is a null pointer");
    return nullptr;
  }
  for (; steps >= stepsPerTurn; steps -= stepsPerTurn)
    cell = fourSteps(fourSteps(fourSteps(fourSteps(cell))));
  for (; steps; --steps)
    cell = step(cell);
  return cell;
}
