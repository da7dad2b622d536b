// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random update, with the numbers of the HPC Challenge benchmark RandomAccess:
// number i is x^(i + 1) in the polynomials over GF(2) modulo x^64 + x^2 + x +
// 1, its coefficients being the bits. The next number is one shift away, and
// any number is found in 64 squarings: a range begins wherever it wants.
//
// A word is asked for some updates before it is changed, so that more of them
// are on their way than the processor looks ahead by itself. The benchmark
// allows 1024; numbers are changed in their order all the same.

#include "ArgumentChecks.h"

using namespace mpg;

/// Updates from the prefetch of a word to its change. HW:x86-update-ahead
constexpr int64_t lookAhead = 128;

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
  // high * x^64 is high * (x^2 + x + 1); what that pushes out on top, at most
  // two bits, once more.
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
  // What is never changed is not asked for either.
  for (int64_t i = 0; i < lookAhead && i < left; ++i) {
    ahead = next(ahead);
    __builtin_prefetch(&cells[ahead & mask], 1);
  }
  for (; left > lookAhead; --left) {
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
