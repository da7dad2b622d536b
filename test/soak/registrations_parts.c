// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ranks send each other messages from memory that comes and goes in each
// way that a program has, and check what arrives. registrations.c counts.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kib = 1 << 10, mib = 1 << 20, rounds = 2 };

void registrations_mark(const char *part) __attribute__((weak));

static int rank;
static const char *library;
static char fixed[6 * mib];

static void mark(const char *part) {
  if (registrations_mark && rank == 0)
    registrations_mark(part);
}

// Half of it is sent, and half is received into.
static void exchange(char *memory, size_t bytes) {
  static unsigned count;
  size_t half = bytes / 2;
  ++count;
  memset(memory, (int)(count * 2 + (unsigned)rank), half);
  memset(memory + half, 0, half);
  MPI_Sendrecv(memory, (int)half, MPI_BYTE, 1 - rank, 0, memory + half,
               (int)half, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  char expected = (char)(count * 2 + 1 - (unsigned)rank);
  for (size_t i = half; i < bytes; ++i)
    if (memory[i] != expected) {
      printf("wrong: rank %d, message %u, byte %zu\n", rank, count, i - half);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static char *map(size_t bytes) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
}

static void freeLarge(void) {
  for (size_t bytes = 64 * kib; bytes <= 32 * mib; bytes *= 2) {
    char *block = malloc(bytes);
    exchange(block, bytes);
    exchange(block, bytes);
    free(block);
  }
}

static void trim(void) {
  enum { count = 24, bytes = 900 * kib };
  char *blocks[count];
  for (int i = 0; i < count; ++i)
    exchange(blocks[i] = malloc(bytes), bytes);
  for (int i = 0; i < count; ++i)
    if (i % 8)
      free(blocks[i]);
  malloc_trim(0);
  for (int i = 0; i < count; ++i) {
    if (i % 8)
      blocks[i] = malloc(bytes);
    exchange(blocks[i], bytes);
  }
  for (int i = 0; i < count; ++i)
    free(blocks[i]);
  malloc_trim(0);
}

static void grow(void) {
  char *block = NULL;
  for (size_t bytes = 128 * kib; bytes <= 16 * mib; bytes *= 2)
    exchange(block = realloc(block, bytes), bytes);
  exchange(block = realloc(block, mib), mib);
  free(block);
}

static void unmap(void) {
  char *memory = map(8 * mib);
  exchange(memory, 8 * mib);
  munmap(memory + 2 * mib, 2 * mib);
  mmap(memory + 2 * mib, 2 * mib, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  exchange(memory, 8 * mib);
  memory = mremap(memory, 8 * mib, 12 * mib, MREMAP_MAYMOVE);
  exchange(memory, 12 * mib);
  munmap(memory, 12 * mib);
}

static void advise(void) {
  char *memory[] = {map(8 * mib), malloc(8 * mib), fixed};
  for (int i = 0; i < 3; ++i) {
    size_t bytes = i == 2 ? sizeof fixed : 8 * mib;
    char *page = (char *)(((size_t)memory[i] + mib) & ~4095ul);
    exchange(memory[i], bytes);
    madvise(page, 3 * mib, MADV_DONTNEED);
    exchange(memory[i], bytes);
  }
  munmap(memory[0], 8 * mib);
  free(memory[1]);
}

static void *onStack(void *bytes) {
  char block[(size_t)bytes];
  exchange(block, sizeof block);
  return NULL;
}

static void stacks(void) {
  for (size_t bytes = 256 * kib; bytes <= 32 * mib; bytes *= 2) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 2 * bytes);
    pthread_create(&thread, &attributes, onStack, (void *)bytes);
    pthread_join(thread, NULL);
  }
}

static void unload(void) {
  void *handle = dlopen(library, RTLD_NOW);
  char *memory = handle ? dlsym(handle, "library_memory") : NULL;
  if (!memory)
    MPI_Abort(MPI_COMM_WORLD, 2);
  exchange(memory, 4 * mib);
  exchange(memory, 4 * mib);
  dlclose(handle);
}

static void forkOnce(void) {
  char *memory[] = {map(4 * mib), malloc(4 * mib), fixed};
  for (int i = 0; i < 3; ++i)
    exchange(memory[i], 4 * mib);
  pid_t child = fork();
  if (child == 0) {
    memset(memory[1], 7, 4 * mib);
    memset(fixed, 7, sizeof fixed);
    _exit(0);
  }
  for (int i = 0; i < 3; ++i)
    exchange(memory[i], 4 * mib);
  waitpid(child, NULL, 0);
  for (int i = 0; i < 3; ++i)
    exchange(memory[i], 4 * mib);
  munmap(memory[0], 4 * mib);
  free(memory[1]);
}

// Many places, and others at the same addresses.
static void reuse(void) {
  char *blocks[16] = {0};
  for (unsigned i = 0; i < 160; ++i) {
    unsigned place = i * 7 % 16;
    size_t bytes = (64 * kib) << (i * 5 % 7);
    free(blocks[place]);
    exchange(blocks[place] = malloc(bytes), bytes);
  }
  for (int i = 0; i < 16; ++i)
    free(blocks[i]);
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*run)(void);
  } parts[] = {{"free", freeLarge},
               {"malloc_trim", trim},
               {"realloc", grow},
               {"munmap, mmap over it, mremap", unmap},
               {"madvise", advise},
               {"stacks of threads", stacks},
               {"dlclose", unload},
               {"fork", forkOnce},
               {"blocks again and again", reuse}};
  int level;
  library = count > 1 ? arguments[1] : "";
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    for (int round = 0; round < rounds; ++round)
      parts[i].run();
    mark(parts[i].name);
  }
  MPI_Finalize();
  if (rank == 0)
    puts("all messages right");
  return 0;
}
