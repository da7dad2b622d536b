/* Dense matrix times vector, a row for each iteration; serial initialisation.
 *
 *   placed-dmvm MIB
 *
 * Whole numbers, so that sums are exact. */

#include "placed.h"
#include <stdlib.h>

enum { m = 1024 };

static void dmvm(long n, double *lhs, const double *rhs, const double *mat) {
#pragma omp parallel for schedule(static)
  for (long r = 0; r < n; ++r)
    for (long c = 0; c < m; ++c)
      lhs[r] += mat[c + r * m] * rhs[c];
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  long n = atol(argv[1]) * (1 << 20) / 8 / m;
  placed_begin(0, n * m * 8);
  double *mat = malloc((size_t)n * m * sizeof *mat);
  double *lhs = calloc((size_t)n, sizeof *lhs);
  double *rhs = malloc(m * sizeof *rhs);
  if (!mat || !lhs || !rhs)
    return 2;
  for (long c = 0; c < m; ++c)
    rhs[c] = (double)(c % 7);
  for (long r = 0; r < n; ++r)
    for (long c = 0; c < m; ++c)
      mat[c + r * m] = (double)((r + c) % 100);
  dmvm(n, lhs, rhs, mat);
  dmvm(n, lhs, rhs, mat);
  placed_end();
  placed_where("mat", mat, n, m * 8, 0);
  placed_result(lhs, n * 8);
  free(rhs);
  free(lhs);
  free(mat);
  return 0;
}
