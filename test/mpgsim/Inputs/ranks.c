/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A rank of MPI: its own share of a vector, twice as much on the last one, and
 * the sum of all.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { share = 1 << 16 };

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int count = rank == ranks - 1 ? 2 * share : share;
  double *mine = malloc(count * sizeof *mine), sum = 0, all;
  for (int i = 0; i < count; ++i)
    mine[i] = rank + i % 7;
  for (int i = 0; i < count; ++i)
    sum += mine[i];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks, sum %.0f\n", ranks, all);
  MPI_Finalize();
  return 0;
}
