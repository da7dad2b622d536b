/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels of libmpg: STREAM, embedding lookup, and the loops that measure a
 * machine's memory. Each works on a range [begin, end) of elements or rows, so
 * that threads, nodes and ranks can share one array; loops over all threads of
 * an OpenMP team are in <mpg/kernels_omp.hpp>.
 *
 * The library selects the variant for the present processor
 * (mpg_kernel_variant): SVE of any vector length, AVX-512, AVX2, or plain C.
 * All variants of one architecture give the same bits, except which of two NaNs
 * results. b + s * c is rounded once on AArch64 (fused, as compilers do there)
 * and twice on x86-64.
 *
 * All functions return 0, or a negative errno with nothing written:
 *   -EINVAL     a null pointer (with begin < end), begin > end, a negative size
 *   -EOVERFLOW  an array that does not fit into the address space
 *   -ERANGE     an index outside of the table
 * mpg_kernel_error() then returns the cause as text. Pointers may have any
 * alignment; that of the element type or more is fastest. All functions are
 * thread-safe and allocate nothing.
 */
#ifndef MPG_KERNELS_H
#define MPG_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifndef MPG_API
#define MPG_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The variant in use: "sve", "avx512", "avx2" or "plain". A constant string. */
MPG_API const char *mpg_kernel_variant(void);

/* One sentence about the calling thread's last failed kernel call, such as
 * "indices[17] is 151936, and the table has 151936 rows"; empty if none failed.
 * Owned by the library; valid until the next failure in this thread. */
MPG_API const char *mpg_kernel_error(void);

/* How the STREAM kernels use the memory system. Members for features that a
 * processor lacks are ignored. */
struct mpg_stream_tuning {
  uint32_t structBytes; /* in: sizeof this struct */
  /* Prefetch loads into L2 this many bytes ahead, 0: not at all. AArch64.
   */
  uint32_t prefetchBytes;
  /* Zero lines of the destination in the cache this many bytes ahead instead of
   * reading them; 0: never. Applies only to lines that the call overwrites
   * completely, only if the destination differs from all sources, and only
   * where DC ZVA works on blocks of four SVE vectors, as on A64FX. AArch64. */
  uint32_t zeroFillBytes;
  /* If all arrays of a call together are larger than this, stores bypass the
   * caches; copy and scale do so from twice as much on. UINT64_MAX: never. Not
   * done if the destination is one of the sources. x86-64. */
  uint64_t nonTemporalBytes;
};

/* Fills *tuning with the defaults that functions use when they get NULL.
 * Returns 0, or -EINVAL: `tuning` is NULL, or its structBytes is not that of
 * this struct. */
MPG_API int mpg_stream_tuning_default(struct mpg_stream_tuning *tuning);

/* STREAM, for i in [begin, end):
 *   copy   a[i] = b[i]
 *   scale  a[i] = s * b[i]
 *   add    a[i] = b[i] + c[i]
 *   triad  a[i] = b[i] + s * c[i]
 * pre: `a` is the same array as `b` or `c`, or does not overlap it. Reads and
 * writes nothing outside of the range. */
MPG_API int mpg_stream_copy_f64(double *a, const double *b, int64_t begin,
                                int64_t end,
                                const struct mpg_stream_tuning *tuning);
MPG_API int mpg_stream_scale_f64(double *a, const double *b, double s,
                                 int64_t begin, int64_t end,
                                 const struct mpg_stream_tuning *tuning);
MPG_API int mpg_stream_add_f64(double *a, const double *b, const double *c,
                               int64_t begin, int64_t end,
                               const struct mpg_stream_tuning *tuning);
MPG_API int mpg_stream_triad_f64(double *a, const double *b, const double *c,
                                 double s, int64_t begin, int64_t end,
                                 const struct mpg_stream_tuning *tuning);
MPG_API int mpg_stream_copy_f32(float *a, const float *b, int64_t begin,
                                int64_t end,
                                const struct mpg_stream_tuning *tuning);
MPG_API int mpg_stream_scale_f32(float *a, const float *b, float s,
                                 int64_t begin, int64_t end,
                                 const struct mpg_stream_tuning *tuning);
MPG_API int mpg_stream_add_f32(float *a, const float *b, const float *c,
                               int64_t begin, int64_t end,
                               const struct mpg_stream_tuning *tuning);
MPG_API int mpg_stream_triad_f32(float *a, const float *b, const float *c,
                                 float s, int64_t begin, int64_t end,
                                 const struct mpg_stream_tuning *tuning);

/* Embedding lookup: out[i][:] = table[indices[i]][:], all row-major. Rows are
 * copied bit for bit, so bfloat16 and integers of the same size work too. */
struct mpg_embedding {
  uint32_t structBytes;  /* sizeof this struct */
  uint32_t elementBytes; /* 4: float, 2: half precision */
  uint32_t indexBytes;   /* 4: int32_t, 8: int64_t */
  /* The tag byte (<mpg/hints.h>) used to read the table; A64FX obeys it, other
   * processors ignore it. mpg_embedding_default sets "no hardware prefetch":
   * rows follow no pattern that it could learn. */
  uint32_t tableTag;
  const void *table;   /* table[rows][tableStride] */
  int64_t rows, dim;   /* dim: elements of a row that are copied */
  int64_t tableStride; /* elements from row to row, at least dim */
  const void *indices; /* indices[i] for each i of a call */
  void *out;           /* out[i][outStride]; overlaps nothing of the above */
  int64_t outStride;   /* elements from row to row, at least dim */
};

/* A dense table of `rows` x `dim` elements of `elementBytes`, indices of
 * `indexBytes`, dense output, and the default tag; the pointers are NULL. */
MPG_API struct mpg_embedding mpg_embedding_default(int64_t rows, int64_t dim,
                                                   uint32_t elementBytes,
                                                   uint32_t indexBytes);

/* Computes rows [begin, end) of the output. Checks all indices of the range
 * before it writes the first row. -ERANGE: mpg_kernel_error names i and
 * indices[i]. pre: no thread changes the indices meanwhile. */
MPG_API int mpg_embedding_lookup(const struct mpg_embedding *embedding,
                                 int64_t begin, int64_t end);

/* Probes: access patterns that a memory system handles badly, for measurements.
 */

/* y[i * stride] += a * x[i * stride] for i in [begin, end), stride >= 1. pre: x
 * and y are the same or do not overlap. */
MPG_API int mpg_saxpy_f32(float *y, const float *x, float a, int64_t begin,
                          int64_t end, int64_t stride);

/* Makes one random cycle through all cells of [buffer, buffer + bytes). A cell
 * is a pointer to the next one of the cycle, one each `strideBytes` (at least
 * 8, a multiple of 8), so each load waits for the one before. If the stride has
 * room, the offset of a cell within it (a multiple of 64) changes from cell to
 * cell: cells at one offset would compete for a few sets of the caches. Returns
 * the first cell, or NULL with errno EINVAL. The same seed gives the same
 * cycle. pre: buffer is aligned to 8. */
MPG_API void *mpg_chase_fill(void *buffer, size_t bytes, size_t strideBytes,
                             uint64_t seed);

/* The cell `steps` steps after `cell`; NULL if cell is NULL or steps < 0.
 */
MPG_API void *mpg_chase(void *cell, int64_t steps);

/* Random update (GUPS): table[r % words] ^= r for updates [begin, end) of one
 * fixed sequence of numbers r, the same for each range that it is cut into.
 * words: a power of two. Threads that share a table may lose updates, as the
 * benchmark allows. Applying it twice restores the table. */
MPG_API int mpg_random_update_u64(uint64_t *table, int64_t words, int64_t begin,
                                  int64_t end);

#ifdef __cplusplus
}
#endif

#endif /* MPG_KERNELS_H */
