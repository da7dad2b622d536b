/* The most simple case: a serial initialisation, a parallel use.
 *
 *   placed-block MIB
 *
 * CLAUSES of the loop, and what they mean: CHUNK, THREADS. BOTH: the array that
 * is written to is initialised as well. */

#include "placed.h"
#include <stdlib.h>

#ifndef CLAUSES
#define CLAUSES schedule(static)
#endif
#ifndef CHUNK
#define CHUNK 0
#endif
#ifndef THREADS
#define THREADS 0
#endif
#define TEXT_OF(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(TEXT_OF(__VA_ARGS__))

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  long n = atol(argv[1]) * (1 << 20) / 8;
  placed_begin(THREADS, 2 * n * 8);
  double *a = malloc((size_t)n * sizeof *a);
  double *b = malloc((size_t)n * sizeof *b);
  if (!a || !b)
    return 2;
  for (long i = 0; i < n; ++i)
    a[i] = (double)(i % 1000);
#ifdef BOTH
  for (long i = 0; i < n; ++i)
    b[i] = 0;
#endif
  PRAGMA(omp parallel for CLAUSES)
  for (long i = 0; i < n; ++i)
    b[i] = 2 * a[i] + 1;
  placed_end();
  placed_where("a", a, n, 8, CHUNK);
  placed_where("b", b, n, 8, CHUNK);
  placed_result(b, n * 8);
  free(b);
  free(a);
  return 0;
}
