// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sixteen ways at once. SSE2 is in every x86-64; elsewhere the compiler finds
// its own way through the loops.

#ifndef MPG_SIM_LANES_H
#define MPG_SIM_LANES_H

#include <cstdint>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace mpg::sim {

constexpr unsigned lanes = 16;

/// A bit for each of the numbers that is \p wanted.
inline unsigned lanesEqual(const uint32_t *numbers, uint32_t wanted) {
#ifdef __SSE2__
  __m128i all = _mm_set1_epi32(int(wanted));
  auto *at = reinterpret_cast<const __m128i *>(numbers);
  __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at), all),
                                _mm_cmpeq_epi32(_mm_load_si128(at + 1), all));
  __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at + 2), all),
                                 _mm_cmpeq_epi32(_mm_load_si128(at + 3), all));
  return unsigned(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
  unsigned found = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    found |= unsigned(numbers[lane] == wanted) << lane;
  return found;
#endif
}

/// The same of what remains of them under \p mask.
inline unsigned lanesEqual(const uint8_t *numbers, uint8_t mask,
                           uint8_t wanted) {
#ifdef __SSE2__
  __m128i all = _mm_load_si128(reinterpret_cast<const __m128i *>(numbers));
  __m128i masked = _mm_and_si128(all, _mm_set1_epi8(char(mask)));
  return unsigned(
      _mm_movemask_epi8(_mm_cmpeq_epi8(masked, _mm_set1_epi8(char(wanted)))));
#else
  unsigned found = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    found |= unsigned((numbers[lane] & mask) == wanted) << lane;
  return found;
#endif
}

/// Adds one to those below \p limit. All are below 128.
inline void countUpBelow(uint8_t *numbers, uint8_t limit) {
#ifdef __SSE2__
  auto *at = reinterpret_cast<__m128i *>(numbers);
  __m128i all = _mm_load_si128(at);
  __m128i below = _mm_cmplt_epi8(all, _mm_set1_epi8(char(limit)));
  _mm_store_si128(at, _mm_sub_epi8(all, below));
#else
  for (unsigned lane = 0; lane < lanes; ++lane)
    numbers[lane] = uint8_t(numbers[lane] + (numbers[lane] < limit));
#endif
}

} // namespace mpg::sim

#endif // MPG_SIM_LANES_H
