/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Copy and triad with stores past the caches, by hand, for arrays that are
 * aligned to 64 bytes and have a multiple of 32 elements: what an expert would
 * write for one machine. Shares no code with libmpg. */

#include "stream_candidates.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

__attribute__((target("avx2"))) static void
copyAvx2(double *a, const double *b, const double *c, double s, size_t n) {
  (void)c, (void)s;
  for (size_t i = 0; i < n; i += 16)
    for (size_t k = 0; k < 16; k += 4)
      _mm256_stream_pd(a + i + k, _mm256_load_pd(b + i + k));
  _mm_sfence();
}

__attribute__((target("avx2,fma"))) static void
triadAvx2(double *a, const double *b, const double *c, double s, size_t n) {
  __m256d factor = _mm256_set1_pd(s);
  for (size_t i = 0; i < n; i += 16)
    for (size_t k = 0; k < 16; k += 4)
      _mm256_stream_pd(a + i + k,
                       _mm256_fmadd_pd(factor, _mm256_load_pd(c + i + k),
                                       _mm256_load_pd(b + i + k)));
  _mm_sfence();
}

__attribute__((target("avx512f"))) static void
copyAvx512(double *a, const double *b, const double *c, double s, size_t n) {
  (void)c, (void)s;
  for (size_t i = 0; i < n; i += 32)
    for (size_t k = 0; k < 32; k += 8)
      _mm512_stream_pd(a + i + k, _mm512_load_pd(b + i + k));
  _mm_sfence();
}

__attribute__((target("avx512f"))) static void
triadAvx512(double *a, const double *b, const double *c, double s, size_t n) {
  __m512d factor = _mm512_set1_pd(s);
  for (size_t i = 0; i < n; i += 32)
    for (size_t k = 0; k < 32; k += 8)
      _mm512_stream_pd(a + i + k,
                       _mm512_fmadd_pd(factor, _mm512_load_pd(c + i + k),
                                       _mm512_load_pd(b + i + k)));
  _mm_sfence();
}

int addHandCandidates(struct Candidate *list, int copies) {
  int n = 0;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    list[n++] = (struct Candidate){"NT-AVX2", copies ? copyAvx2 : triadAvx2};
  if (__builtin_cpu_supports("avx512f"))
    list[n++] =
        (struct Candidate){"NT-AVX512", copies ? copyAvx512 : triadAvx512};
  return n;
}

#else

int addHandCandidates(struct Candidate *list, int copies) {
  (void)list, (void)copies;
  return 0;
}

#endif
