// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small kernels that measure memory: a pointer chase, random updates, and saxpy
// with a stride.
//
// Pointer chase: one random cycle through a buffer, and the walk along it. The
// buffer holds only the cycle, and the cells are permuted in place (Sattolo's
// algorithm, which produces each single cycle with the same probability), so
// exactly the requested amount of memory is measured.

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
/// after the loads, which wait for each other.
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

// Random update, with the numbers of the HPC Challenge benchmark RandomAccess:
// number i is x^(i + 1) in the polynomials over GF(2) modulo x^64 + x^2 + x +
// 1, its coefficients being the bits. The next number is one shift away, and
// any number is found in 64 squarings: a range begins wherever it wants.
//
// Prefetch a word some updates before it changes, so that more are in flight
// than the processor looks ahead by itself. The benchmark allows 1024. Updates
// still happen in order.

/// Updates from the prefetch of a word to its change: of a table of 1 GiB on
/// transparent huge pages 9.4 ns each without, 4.0 with 128; of 32 MiB 7.9
/// and 2.1 (measured on an AMD EPYC).
constexpr int64_t aheadLoads = 128;

/// Pointers of the caller need no alignment.
typedef uint64_t UnalignedWord __attribute__((aligned(1), may_alias));

/// x * \p number.
static inline uint64_t next(uint64_t number) {
  constexpr uint64_t x64 = 7; // x^64 is x^2 + x + 1
  return number << 1 ^ (uint64_t(int64_t(number) >> 63) & x64);
}

/// The bits of \p half, with a zero in front of each. Over GF(2) that is its
/// square: mixed terms come twice and cancel.
static uint64_t spread(uint32_t half) {
  uint64_t bits = half;
  bits = (bits | bits << 16) & 0x0000ffff0000ffff;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits << 2) & 0x3333333333333333;
  return (bits | bits << 1) & 0x5555555555555555;
}

static uint64_t square(uint64_t number) {
  uint64_t low = spread(uint32_t(number));
  uint64_t high = spread(uint32_t(number >> 32));
  // high * x^64 is high * (x^2 + x + 1); reduce its overflow, at most two bits,
  // again.
  uint64_t top = high >> 63 ^ high >> 62;
  return low ^ high ^ high << 1 ^ high << 2 ^ top ^ top << 1 ^ top << 2;
}

/// x^exponent.
static uint64_t power(uint64_t exponent) {
  uint64_t number = 1;
  for (uint64_t bit = uint64_t(1) << 63; bit; bit >>= 1) {
    number = square(number);
    if (exponent & bit)
      number = next(number);
  }
  return number;
}

static int check(const uint64_t *table, int64_t words, int64_t begin,
                 int64_t end) {
  if (int error = checkElements(begin, end))
    return error;
  if (words < 1 || (words & (words - 1)))
    return kernelError(
        EINVAL, "words is %" PRId64 "; it must be a power of two", words);
  if (begin == end)
    return 0;
  return checkReach("table", table, uint64_t(words) - 1, sizeof(uint64_t));
}

int mpg_random_update_u64(uint64_t *table, int64_t words, int64_t begin,
                          int64_t end) {
  int error = check(table, words, begin, end);
  if (error || begin == end)
    return error;
  UnalignedWord *cells = table;
  const uint64_t mask = uint64_t(words) - 1;
  int64_t left = end - begin;
  uint64_t number = power(uint64_t(begin)), ahead = number;
  // Prefetch only words that an update will change.
  for (int64_t i = 0; i < aheadLoads && i < left; ++i) {
    ahead = next(ahead);
    __builtin_prefetch(&cells[ahead & mask], 1);
  }
  for (; left > aheadLoads; --left) {
    ahead = next(ahead);
    __builtin_prefetch(&cells[ahead & mask], 1);
    number = next(number);
    cells[number & mask] ^= number;
  }
  for (; left; --left) {
    number = next(number);
    cells[number & mask] ^= number;
  }
  return 0;
}

// Saxpy. y += a * x with a stride: how much of each cache line a program throws
// away. Plain loops for any machine. With stride 1 the compiler makes vectors
// of them; with others it must not gather, or it would no longer be what it
// measures: one load and one store an element.

/// Pointers of the caller need no alignment.
typedef float UnalignedFloat __attribute__((aligned(1), may_alias));

static int check(const float *y, const float *x, int64_t begin, int64_t end,
                 int64_t stride) {
  if (int error = checkElements(begin, end))
    return error;
  if (stride < 1)
    return kernelError(EINVAL, "stride is %" PRId64 "; it must be at least 1",
                       stride);
  if (begin == end)
    return 0;
  int64_t last;
  if (__builtin_mul_overflow(end - 1, stride, &last))
    return kernelError(EOVERFLOW,
                       "element %" PRId64 " with stride %" PRId64
                       " is outside of the address space",
                       end - 1, stride);
  if (int error = checkReach("y", y, uint64_t(last), sizeof(float)))
    return error;
  return checkReach("x", x, uint64_t(last), sizeof(float));
}

/// x may equal y, hence no `restrict`; the compiler checks for overlap before
/// it uses vectors.
static void runDense(UnalignedFloat *y, const UnalignedFloat *x, float a,
                     size_t count) {
  for (size_t i = 0; i < count; ++i)
    y[i] += a * x[i];
}

static void runStrided(UnalignedFloat *y, const UnalignedFloat *x, float a,
                       size_t count, size_t stride) {
  for (; count; --count, y += stride, x += stride)
    *y += a * *x;
}

int mpg_saxpy_f32(float *y, const float *x, float a, int64_t begin, int64_t end,
                  int64_t stride) {
  int error = check(y, x, begin, end, stride);
  if (error || begin == end)
    return error;
  size_t count = size_t(end - begin);
  if (stride == 1)
    runDense(y + begin, x + begin, a, count);
  else
    runStrided(y + begin * stride, x + begin * stride, a, count,
               size_t(stride));
  return 0;
}
