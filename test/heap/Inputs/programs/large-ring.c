/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An MPI program that hands buffers of malloc to MPI and frees them at once, of
 * all sizes from a byte to 160 MB: around the ring of ranks, without waiting,
 * to everybody, and by access from outside. MPI may remember where buffers were
 * (it pins them and hooks munmap to forget), so every buffer is a new one whose
 * contents depend on the round.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static unsigned char pattern(int from, size_t bytes, int round) {
  return (unsigned char)(from * 31 + bytes % 251 + round * 7 + 1);
}

static unsigned char *filled(size_t bytes, int round) {
  unsigned char *block = malloc(bytes);
  memset(block, pattern(rank, bytes, round), bytes);
  return block;
}

static int isFrom(const unsigned char *block, int from, size_t bytes,
                  int round) {
  unsigned char wanted = pattern(from, bytes, round);
  for (size_t i = 0; i < bytes; i++)
    if (block[i] != wanted)
      return 0;
  return 1;
}

static int aroundTheRing(size_t bytes, int round) {
  int left = (rank + size - 1) % size;
  unsigned char *sent = filled(bytes, round), *got = malloc(bytes);
  MPI_Request requests[2];
  MPI_Irecv(got, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent, bytes, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD,
            &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  int right = isFrom(got, left, bytes, round);
  free(sent);
  free(got);
  return right;
}

static int fromOutside(size_t bytes, int round) {
  int left = (rank + size - 1) % size;
  unsigned char *shown = filled(bytes, round), *got = malloc(bytes);
  MPI_Win window;
  MPI_Win_create(shown, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Get(got, bytes, MPI_BYTE, left, 0, bytes, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  int right = isFrom(got, left, bytes, round);
  free(got);
  free(shown);
  return right;
}

int main(int argc, char **argv) {
  static const size_t sizes[] = {1, 5000, 70000, 3 << 20, 160 << 20};
  int right = 0, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 20; round++)
    for (int i = 0; i < (round < 2 ? 5 : 4); i++) {
      right += aroundTheRing(sizes[i], round);
      if (i < 4 && round < 3)
        right += fromOutside(sizes[i], round);
    }
  MPI_Reduce(&right, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks, %d right\n", size, all);
  MPI_Finalize();
  return 0;
}
