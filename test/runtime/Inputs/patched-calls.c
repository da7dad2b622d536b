/* Acts like MPI libraries that track registered memory: writes a jump to its
 * own function over the code of munmap and madvise, where dlsym() finds them,
 * and prints the memory that went away. With an argument it writes into the
 * tables of calls instead. */
#define _GNU_SOURCE
#include "patch_function.h"
#include "patch_tables.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uintptr_t watched, watchedEnd;
static volatile size_t seen; /* of the watched addresses */

static void note(void *address, size_t bytes) {
  uintptr_t start = (uintptr_t)address, end = start + bytes;
  start = start > watched ? start : watched;
  end = end < watchedEnd ? end : watchedEnd;
  if (end > start)
    __atomic_add_fetch(&seen, end - start, __ATOMIC_RELAXED);
}

static int onUnmap(void *address, size_t bytes) {
  note(address, bytes);
  return (int)syscall(SYS_munmap, address, bytes);
}

static int onAdvise(void *address, size_t bytes, int advice) {
  if (advice == MADV_DONTNEED)
    note(address, bytes);
  return (int)syscall(SYS_madvise, address, bytes, advice);
}

static void *(*realOpen)(const char *, int);
static int isOpening;

/* libfabric patches the tables of new libraries. */
static void *onOpen(const char *file, int flags) {
  if (isOpening++)
    abort();
  void *library = realOpen(file, flags);
  isOpening--;
  return library;
}

static void patchCalls(void) {
  *(void **)&realOpen = dlsym(RTLD_DEFAULT, "dlopen");
  if (patchTables("munmap", (void *)onUnmap) ||
      patchTables("madvise", (void *)onAdvise) ||
      patchTables("dlopen", (void *)onOpen))
    exit(9);
  printf("dlopen: %s\n", dlopen("libm.so.6", RTLD_NOW) ? "works" : dlerror());
}

static void watch(void *start, size_t bytes) {
  watched = (uintptr_t)start;
  watchedEnd = watched + bytes;
  seen = 0;
}

/* All but a page at each end may stay with others. */
static const char *answer(void) {
  return seen + 8192 >= watchedEnd - watched ? "all" : seen ? "part" : "none";
}

static void *fillStack(void *unused) {
  char block[1 << 20];
  (void)unused;
  memset(block, 1, sizeof block);
  watch(block, sizeof block);
  return (void *)(long)block[77];
}

static void runThread(size_t stackBytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_create(&thread, &attributes, fillStack, NULL);
  pthread_join(thread, NULL);
  printf("stack of %zu MiB: %s\n", stackBytes >> 20, answer());
}

/* More than before, where the C library maps no smaller ones any more. */
static void freeBlocks(size_t blockBytes) {
  size_t bytes = 200 << 20;
  char *block = malloc(bytes), *blocks[100];
  memset(block, 1, bytes);
  watch(block, bytes);
  free(block);
  printf("free: %s\n", answer());
  for (int i = 0; i < 100; ++i)
    memset(blocks[i] = malloc(blockBytes), 1, blockBytes);
  watch(blocks[10], blockBytes);
  for (int i = 0; i < 100; ++i)
    free(blocks[i]);
  malloc_trim(0);
  printf("malloc_trim: %s\n", answer());
}

static void ownMapping(void) {
  size_t bytes = 8 << 20;
  char *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(own, 1, bytes);
  watch(own, bytes);
  madvise(own, bytes, MADV_DONTNEED);
  printf("madvise: %s\n", answer());
  watch(own, bytes);
  munmap(own, bytes);
  printf("munmap: %s\n", answer());
}

/* The program gives back pages of a block, of static memory, and of mappings
 * where the stack of a thread has been. */
static void adviseAll(void) {
  static char fixed[16 << 20];
  size_t bytes = 16 << 20, page = 4096;
  char *memory[10] = {malloc(bytes), fixed};
  for (int i = 2; i < 10; ++i)
    memory[i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 10; ++i) {
    char *start = (char *)(((uintptr_t)memory[i] + page - 1) & -page);
    memset(memory[i], 1, bytes);
    watch(start, bytes - page);
    int error = madvise(start, bytes - page, MADV_DONTNEED);
    printf("advice %d: %s%s\n", i, answer(),
           !error && start[page] ? ", not zero" : "");
  }
}

int main(int count, char **words) {
  (void)words;
  setvbuf(stdout, NULL, _IONBF, 0);
  if (count > 1) {
    patchCalls();
  } else {
    patch("munmap", (void *)onUnmap);
    patch("madvise", (void *)onAdvise);
  }
  freeBlocks(1 << 20);
  ownMapping();
  runThread(4 << 20);
  runThread(64 << 20);
  adviseAll();
  if (fork() == 0) {
    puts("in a child:");
    freeBlocks(2 << 20);
    return 0;
  }
  int status = 0;
  wait(&status);
  return status != 0;
}
