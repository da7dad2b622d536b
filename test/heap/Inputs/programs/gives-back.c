/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * gives-back STEP...: allocates blocks and frees them, and asks the kernel
 * which of their pages are gone (/proc/self/pagemap). watch-unmap.c must have
 * seen every such page. Prints for each step the MiB that are gone, in steps of
 * 100, and the number of unseen pages.
 *
 *   large   three blocks of 160 MiB        many    200 blocks of 1.5 MiB
 *   trim    the same, and malloc_trim      thread  the same in a thread
 *   shrink  one large block, realloc       move    one large block grows
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_PAGES = 200000 };
static const size_t MIB = 1 << 20;

static char *pages[MOST_PAGES]; /* all that blocks were on */
static int pageCount;
static int (*saw)(const void *);

static char *take(size_t bytes) {
  char *block = malloc(bytes);
  memset(block, 1, bytes);
  char *page = (char *)((uintptr_t)block / PAGE * PAGE + PAGE);
  for (; page + PAGE <= block + bytes && pageCount < MOST_PAGES; page += PAGE)
    pages[pageCount++] = page;
  return block;
}

static int isPresent(int pagemap, const char *page) {
  uint64_t entry = 0;
  off_t at = (off_t)((uintptr_t)page / PAGE * sizeof entry);
  if (pread(pagemap, &entry, sizeof entry, at) != sizeof entry)
    exit(3);
  return entry >> 63;
}

static void *allocateMany(void *argument) {
  char *blocks[200];
  for (int i = 0; i < 200; i++)
    blocks[i] = take(3 * MIB / 2);
  for (int i = 0; i < 200; i++)
    free(blocks[i]);
  return argument;
}

static void allocateLarge(void) {
  char *blocks[3];
  for (int i = 0; i < 3; i++)
    blocks[i] = take(160 * MIB);
  for (int i = 0; i < 3; i++)
    free(blocks[i]);
}

static void step(const char *name) {
  pthread_t thread;
  if (strcmp(name, "large") == 0)
    allocateLarge();
  if (strcmp(name, "many") == 0 || strcmp(name, "trim") == 0)
    allocateMany(NULL);
  if (strcmp(name, "trim") == 0)
    malloc_trim(0);
  if (strcmp(name, "thread") == 0) {
    pthread_create(&thread, NULL, allocateMany, NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(name, "shrink") == 0)
    free(realloc(take(600 * MIB), 300 * MIB));
  if (strcmp(name, "move") == 0) {
    char *first = take(200 * MIB), *behind = take(200 * MIB);
    first = realloc(first, 400 * MIB);
    free(first);
    free(behind);
  }
}

int main(int argc, char **argv) {
  int pagemap = open("/proc/self/pagemap", O_RDONLY);
  saw = (int (*)(const void *))dlsym(RTLD_DEFAULT, "watchSaw");
  void (*forget)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "watchForget");
  for (int i = 1; i < argc; i++) {
    int gone = 0, unseen = 0;
    pageCount = 0;
    forget();
    step(argv[i]);
    for (int p = 0; p < pageCount; p++)
      if (!isPresent(pagemap, pages[p])) {
        gone++;
        unseen += !saw(pages[p]);
      }
    printf("%s: %d MiB gone, %d pages unseen\n", argv[i], gone / 25600 * 100,
           unseen);
  }
  return 0;
}
