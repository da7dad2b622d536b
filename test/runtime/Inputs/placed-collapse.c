/* Both loops over a matrix are shared out together: collapse(2).
 *
 *   placed-collapse MIB */

#include "placed.h"
#include <stdlib.h>

enum { rows = 6 };

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  long columns = atol(argv[1]) * (1 << 20) / 8 / rows;
  placed_begin(0, 2 * rows * columns * 8);
  double *a = malloc(rows * (size_t)columns * sizeof *a);
  double *b = calloc(rows * (size_t)columns, sizeof *b);
  if (!a || !b)
    return 2;
  for (long r = 0; r < rows; ++r)
    for (long c = 0; c < columns; ++c)
      a[r * columns + c] = (double)((r + c) % 1000);
#pragma omp parallel for collapse(2) schedule(static)
  for (long r = 0; r < rows; ++r)
    for (long c = 0; c < columns; ++c)
      b[r * columns + c] += 2 * a[r * columns + c] + 1;
  placed_end();
  placed_where("a", a, rows * columns, 8, 0);
  placed_where("b", b, rows * columns, 8, 0);
  placed_result(b, rows * columns * 8);
  free(b);
  free(a);
  return 0;
}
