// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways in which MPI moves data, a program for each: two ranks
// exchange blocks that are allocated anew for each message, and check what
// arrives. registrations_patterns NAME; registrations.c counts.

#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kib = 1 << 10, mib = 1 << 20, rounds = 14 };

static int rank, other;

// A size between 64 KiB and 4 MiB, the same in both ranks.
static int bytesOf(int round) { return (64 * kib) << (round * 5 % 7); }

static char valueOf(int sender, int round) {
  return (char)(round * 2 + sender + 1);
}

static char *filled(int bytes, int round) {
  char *block = malloc((size_t)bytes);
  memset(block, valueOf(rank, round), (size_t)bytes);
  return block;
}

static char *empty(int bytes) { return calloc(1, (size_t)bytes); }

static void check(const char *block, int bytes, int stride, int sender,
                  int round) {
  for (int i = 0; i < bytes; i += stride)
    if (block[i] != valueOf(sender, round)) {
      printf("wrong: rank %d, round %d, byte %d\n", rank, round, i);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void alltoall(int round) {
  int bytes = bytesOf(round);
  char *from = filled(2 * bytes, round), *to = empty(2 * bytes);
  MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
  check(to + other * bytes, bytes, 1, other, round);
  free(from), free(to);
}

static void allreduce(int round) {
  int count = bytesOf(round) / (int)sizeof(double);
  double *from = malloc(sizeof *from * (size_t)count);
  double *to = malloc(sizeof *to * (size_t)count);
  for (int i = 0; i < count; ++i)
    from[i] = i + rank + round;
  MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i)
    if (to[i] != 2.0 * (i + round) + 1)
      MPI_Abort(MPI_COMM_WORLD, 1);
  free(from), free(to);
}

static void gather(int round) {
  int bytes = bytesOf(round);
  char *from = filled(bytes, round), *to = empty(2 * bytes);
  MPI_Allgather(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
  check(to + other * bytes, bytes, 1, other, round);
  free(from), free(to);
}

static void broadcast(int round) {
  int bytes = bytesOf(round), root = round % 2;
  char *block = filled(bytes, round);
  MPI_Bcast(block, bytes, MPI_CHAR, root, MPI_COMM_WORLD);
  check(block, bytes, 1, root, round);
  free(block);
}

// Every second block of 4 KiB, as a column of a matrix.
static void vector(int round) {
  enum { run = 4 * kib };
  int bytes = bytesOf(round);
  MPI_Datatype type;
  MPI_Type_vector(bytes / run / 2, run, 2 * run, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  char *from = filled(bytes, round), *to = empty(bytes);
  MPI_Sendrecv(from, 1, type, other, 0, to, 1, type, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < bytes / run / 2; ++i)
    check(to + 2 * i * run, run, 1, other, round);
  MPI_Type_free(&type);
  free(from), free(to);
}

static void persistent(int round) {
  int bytes = bytesOf(round);
  char *from = filled(bytes, round), *to = empty(bytes);
  MPI_Request both[2];
  MPI_Send_init(from, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, both);
  MPI_Recv_init(to, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, both + 1);
  for (int again = 0; again < 3; ++again) {
    memset(from, valueOf(rank, round + again), (size_t)bytes);
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    check(to, bytes, 1, other, round + again);
  }
  MPI_Request_free(both), MPI_Request_free(both + 1);
  free(from), free(to);
}

static void nonblocking(int round) {
  enum { count = 6 };
  int bytes = bytesOf(round);
  char *from[count], *to[count];
  MPI_Request all[2 * count];
  for (int i = 0; i < count; ++i) {
    from[i] = filled(bytes, round + i), to[i] = empty(bytes);
    MPI_Irecv(to[i], bytes, MPI_CHAR, other, i, MPI_COMM_WORLD, all + 2 * i);
    MPI_Isend(from[i], bytes, MPI_CHAR, other, i, MPI_COMM_WORLD,
              all + 2 * i + 1);
  }
  MPI_Waitall(2 * count, all, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    check(to[i], bytes, 1, other, round + i);
    free(from[i]), free(to[i]);
  }
  malloc_trim(0);
}

// One-sided, in a window of the program's memory or of MPI's.
static void put(int round) {
  int bytes = bytesOf(round);
  char *from = filled(bytes, round), *to = empty(bytes);
  MPI_Win window;
  MPI_Win_create(to, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(from, bytes, MPI_CHAR, other, 0, bytes, MPI_CHAR, window);
  MPI_Win_fence(0, window);
  check(to, bytes, 1, other, round);
  MPI_Win_free(&window);
  free(from), free(to);
}

static void get(int round) {
  int bytes = bytesOf(round);
  char *from, *to = empty(bytes);
  MPI_Win window;
  MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &from, &window);
  MPI_Win_fence(0, window);
  memset(from, valueOf(rank, round), (size_t)bytes);
  MPI_Win_fence(0, window);
  MPI_Get(to, bytes, MPI_CHAR, other, 0, bytes, MPI_CHAR, window);
  MPI_Win_fence(0, window);
  check(to, bytes, 1, other, round);
  MPI_Win_free(&window);
  free(to);
}

// Memory from MPI, and buffered messages.
static void buffered(int round) {
  int bytes = bytesOf(round), room = bytes + MPI_BSEND_OVERHEAD;
  char *from, *to, *buffer = malloc((size_t)room);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &from);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &to);
  memset(from, valueOf(rank, round), (size_t)bytes);
  MPI_Buffer_attach(buffer, room);
  MPI_Bsend(from, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD);
  MPI_Recv(to, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(to, bytes, 1, other, round);
  MPI_Buffer_detach(&buffer, &room);
  MPI_Free_mem(from), MPI_Free_mem(to);
  free(buffer);
}

// From small to large, each side's block new for each message.
static void pingPong(int round) {
  for (int bytes = 1; bytes <= bytesOf(round); bytes *= 4) {
    char *block = filled(bytes, round);
    if (rank == 0)
      MPI_Send(block, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(block, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    check(block, bytes, 1, other, round);
    memset(block, valueOf(rank, round), (size_t)bytes);
    if (rank == 1)
      MPI_Send(block, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    free(block);
  }
}

// The rims of a grid that grows and shrinks, its first rows to the other's last
// and back.
static void halo(int round) {
  static char *grid;
  int bytes = bytesOf(round), rim = bytes / 4;
  grid = realloc(grid, (size_t)bytes);
  memset(grid, valueOf(rank, round), (size_t)bytes);
  for (int step = 0; step < 3; ++step) {
    MPI_Sendrecv(grid + rim, rim, MPI_CHAR, other, 0, grid + bytes - rim, rim,
                 MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(grid + bytes - 2 * rim, rim, MPI_CHAR, other, 1, grid, rim,
                 MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(grid, rim, 1, other, round);
    check(grid + bytes - rim, rim, 1, other, round);
  }
}

static int threadRound;

static void *runThread(void *tag) {
  enum { onStack = 128 * kib };
  int round = threadRound, bytes = bytesOf(round), id = *(int *)tag;
  char *from = filled(bytes, round), *to = empty(bytes), near[onStack];
  MPI_Sendrecv(from, bytes, MPI_CHAR, other, id, to, bytes, MPI_CHAR, other, id,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(to, bytes, 1, other, round);
  MPI_Sendrecv(from, onStack / 2, MPI_CHAR, other, id, near, onStack, MPI_CHAR,
               other, id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(near, onStack / 2, 1, other, round);
  free(from), free(to);
  return NULL;
}

// Threads that send from their blocks and stacks at the same time, and end.
static void threads(int round) {
  enum { count = 3 };
  pthread_t all[count];
  int tags[count];
  threadRound = round;
  for (int i = 0; i < count; ++i) {
    tags[i] = i;
    pthread_create(all + i, NULL, runThread, tags + i);
  }
  for (int i = 0; i < count; ++i)
    pthread_join(all[i], NULL);
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*run)(int round);
  } patterns[] = {{"alltoall", alltoall},
                  {"allreduce", allreduce},
                  {"allgather", gather},
                  {"broadcast", broadcast},
                  {"vector", vector},
                  {"persistent", persistent},
                  {"nonblocking", nonblocking},
                  {"put", put},
                  {"get", get},
                  {"buffered", buffered},
                  {"pingpong", pingPong},
                  {"halo", halo},
                  {"threads", threads}};
  int isFound = 0, isThreaded = count > 1 && !strcmp(arguments[1], "threads");
  MPI_Init_thread(NULL, NULL,
                  isThreaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &(int){0});
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  for (size_t i = 0; count > 1 && i < sizeof patterns / sizeof *patterns; ++i)
    for (int round = 0;
         !strcmp(patterns[i].name, arguments[1]) && round < rounds; ++round) {
      patterns[i].run(round);
      isFound = 1;
    }
  MPI_Finalize();
  if (rank == 0 && isFound)
    puts("all messages right");
  return !isFound;
}
