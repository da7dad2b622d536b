/* Dense matrix times vector with the loop inside a row shared out: a thread's
 * part of a row is shorter than a page, so no placement can be right.
 *
 *   placed-rows MIB
 *
 * INTERLEAVED: repaired by memory that goes round the nodes. OUTER: repaired by
 * a parallel loop over rows. Whole numbers, so that sums are exact. */

#include "placed.h"
#include <stdlib.h>
#ifdef INTERLEAVED
#include <mpg/mpg.h>
#define malloc mpg_interleave
#endif

enum { m = 10000, threads = 4 };

#ifdef OUTER
static void dmvm(long n, double *lhs, const double *rhs, const double *mat) {
#pragma omp parallel for schedule(static) num_threads(threads)                 \
    reduction(+ : lhs[ : m])
  for (long r = 0; r < n; ++r)
    for (long c = 0; c < m; ++c)
      lhs[c] += mat[c + r * m] * rhs[r];
}
#else
static void dmvm(long n, double *lhs, const double *rhs, const double *mat) {
  for (long r = 0; r < n; ++r)
#pragma omp parallel for schedule(static) num_threads(threads)
    for (long c = 0; c < m; ++c)
      lhs[c] += mat[c + r * m] * rhs[r];
}
#endif

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  long n = atol(argv[1]) * (1 << 20) / 8 / m;
  placed_begin(threads, n * m * 8);
  double *mat = malloc((size_t)n * m * sizeof *mat);
  double *lhs = calloc(m, sizeof *lhs);
  double *rhs = calloc((size_t)n, sizeof *rhs);
  if (!mat || !lhs || !rhs)
    return 2;
  for (long r = 0; r < n; ++r)
    rhs[r] = (double)(r % 7);
  for (long r = 0; r < n; ++r)
    for (long c = 0; c < m; ++c)
      mat[c + r * m] = (double)((r + c) % 100);
  dmvm(n, lhs, rhs, mat);
  placed_end();
#ifdef OUTER
  placed_where("mat", mat, n, m * 8, 0);
#else
  placed_where("mat", mat, n * m, 8, m / threads);
#endif
  placed_result(lhs, m * 8);
  return 0;
}
