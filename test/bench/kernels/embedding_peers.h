/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The peers of mpg_embedding_lookup: loops as people write them. Copies the
 * indexed rows of table[][dim] into rows [begin, end) of out[][dim]; checks
 * nothing. */
#ifndef EMBEDDING_PEERS_H
#define EMBEDDING_PEERS_H

#include <stddef.h>
#include <stdint.h>

/* One memcpy for each row. */
void memcpyRows(float *out, const float *table, const int32_t *indices,
                size_t dim, long begin, long end);
/* The same with the start of the next row prefetched. */
void memcpyPrefetchRows(float *out, const float *table, const int32_t *indices,
                        size_t dim, long begin, long end);
/* Two loops, as the compiler makes them at -O3 for this processor. */
void compilerRows(float *restrict out, const float *restrict table,
                  const int32_t *restrict indices, size_t dim, long begin,
                  long end);

#endif /* EMBEDDING_PEERS_H */
