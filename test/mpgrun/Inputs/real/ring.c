/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An MPI program: a message around the ring of ranks, a sum over all of them,
 * out of .bss, .data, a stack and a heap that are on large pages.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT (1 << 20)

static double cleared[COUNT];
static double filled[COUNT] = {1};

static double onStack(int rank, int size) {
  double block[100000];
  for (int i = 0; i < 100000; i++)
    block[i] = rank + i;
  MPI_Status status;
  MPI_Sendrecv_replace(block, 100000, MPI_DOUBLE, (rank + 1) % size, 1,
                       (rank + size - 1) % size, 1, MPI_COMM_WORLD, &status);
  return block[99999];
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < COUNT; i++)
    filled[i] = rank + 1;
  MPI_Allreduce(filled, cleared, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double *heap = malloc(sizeof cleared);
  memcpy(heap, cleared, sizeof cleared);
  MPI_Bcast(heap, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  double total = onStack(rank, size) + heap[COUNT - 1], all;
  MPI_Reduce(&total, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks, sum %.0f\n", size, all);
  free(heap);
  MPI_Finalize();
  return 0;
}
