// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sixteen bytes at once: the ways of a set. Each is written as a whole even if
// one byte changes, as a host waits when it reads together what was just
// written in parts. A comparison gives -1 where it holds. SSE2 is in every
// x86-64, NEON in every AArch64; elsewhere the compiler finds its own way.

#ifndef MPG_SIM_LANES_H
#define MPG_SIM_LANES_H

#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace mpg::sim {

constexpr unsigned lanes = 16;
using Lanes = int8_t __attribute__((vector_size(lanes)));

inline Lanes allLanes(uint8_t value) { return Lanes{} + int8_t(value); }

/// A bit for each lane of a comparison that holds.
inline unsigned bitsOf(Lanes holds) {
#if defined(__SSE2__)
  return unsigned(_mm_movemask_epi8(__m128i(holds)));
#elif defined(__aarch64__)
  const Lanes weights = {1, 2, 4, 8, 16, 32, 64, -128,
                         1, 2, 4, 8, 16, 32, 64, -128};
  uint8x16_t weighed = uint8x16_t(holds & weights);
  return unsigned(vaddv_u8(vget_low_u8(weighed))) |
         unsigned(vaddv_u8(vget_high_u8(weighed))) << 8;
#else
  unsigned bits = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    bits |= unsigned(holds[lane] & 1) << lane;
  return bits;
#endif
}

/// -1 in one lane.
inline Lanes onlyLane(unsigned lane) {
  static constexpr int8_t window[2 * lanes] = {0, 0, 0, 0, 0, 0, 0, 0,
                                               0, 0, 0, 0, 0, 0, 0, -1};
  Lanes only;
  memcpy(&only, window + lanes - 1 - lane, sizeof(only));
  return only;
}

/// In how many lanes a comparison holds.
inline unsigned countOf(Lanes holds) {
#if defined(__SSE2__)
  __m128i sums = _mm_sad_epu8(__m128i(-holds), _mm_setzero_si128());
  return unsigned(_mm_cvtsi128_si32(sums)) +
         unsigned(_mm_extract_epi16(sums, 4));
#else
  int count = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    count -= holds[lane];
  return unsigned(count);
#endif
}

/// The largest of numbers that are not negative.
inline uint8_t largestOf(Lanes numbers) {
#if defined(__SSE2__)
  __m128i most = __m128i(numbers);
  most = _mm_max_epu8(most, _mm_srli_si128(most, 8));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 4));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 2));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 1));
  return uint8_t(_mm_cvtsi128_si32(most));
#else
  int8_t most = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    most = numbers[lane] > most ? numbers[lane] : most;
  return uint8_t(most);
#endif
}

} // namespace mpg::sim

#endif // MPG_SIM_LANES_H
