/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See embedding_peers.h. A separate file, compiled with -O3 -march=native, so
 * that nothing is inlined into the caller. */

#include "embedding_peers.h"
#include <string.h>

void memcpyRows(float *out, const float *table, const int32_t *indices,
                size_t dim, long begin, long end) {
  for (long i = begin; i < end; ++i)
    memcpy(out + (size_t)i * dim, table + (size_t)indices[i] * dim,
           dim * sizeof(float));
}

void memcpyPrefetchRows(float *out, const float *table, const int32_t *indices,
                        size_t dim, long begin, long end) {
  for (long i = begin; i < end; ++i) {
    if (i + 1 < end)
      __builtin_prefetch(table + (size_t)indices[i + 1] * dim);
    memcpy(out + (size_t)i * dim, table + (size_t)indices[i] * dim,
           dim * sizeof(float));
  }
}

void compilerRows(float *restrict out, const float *restrict table,
                  const int32_t *restrict indices, size_t dim, long begin,
                  long end) {
  for (long i = begin; i < end; ++i)
    for (size_t j = 0; j < dim; ++j)
      out[(size_t)i * dim + j] = table[(size_t)indices[i] * dim + j];
}
