// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program whose memory comes and goes at random in each way that a program
// has, beside a cache of registrations that learns of it as UCX and libfabric
// do: by jumps written over the C library's functions. After each step the
// frames of all registrations that are left must be those that were pinned.
// registrations_random SEED STEPS prints the counts, and what is stale; with a
// third word nothing is written over functions, so registrations become stale.
//
// dlclose() is left out: no such library sees it, because the loader unmaps.

#define _GNU_SOURCE
#include "../runtime/Inputs/patch_function.h"
#include "pinned_memory.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>

enum { places = 16, kib = 1 << 10, mib = 1 << 20 };

typedef struct {
  char *start;
  size_t bytes;
} Memory;

static Memory blocks[places], maps[places];
static char fixed[24 * mib];
static unsigned long registered, gone, kept, stale;
static uint64_t state;
extern void *__curbrk; // of the C library

static size_t random_(size_t limit) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (size_t)(state >> 33) % limit;
}

static size_t randomBytes(void) {
  return ((size_t)4 * kib << random_(13)) + random_(200) * kib;
}

// The functions in place of the C library's.
static void note(void *start, size_t bytes) {
  if (ring < 0)
    return; // a child: the pins are its parent's
  take();
  gone += markGone((uintptr_t)start, (uintptr_t)start + bytes);
  release();
}
static int onUnmap(void *start, size_t bytes) {
  note(start, bytes);
  return (int)syscall(SYS_munmap, start, bytes);
}
static void *onMap(void *start, size_t bytes, int rights, int flags, int file,
                   off_t offset) {
  if (flags & MAP_FIXED)
    note(start, bytes);
  return (void *)syscall(SYS_mmap, start, bytes, rights, flags, file, offset);
}
static void *onRemap(void *start, size_t bytes, size_t newBytes, int flags,
                     void *target) {
  note(start, bytes);
  return (void *)syscall(SYS_mremap, start, bytes, newBytes, flags, target);
}
static int onAdvise(void *start, size_t bytes, int advice) {
  if (advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE)
    note(start, bytes);
  return (int)syscall(SYS_madvise, start, bytes, advice);
}
static int onBreak(void *end) {
  if ((char *)end < (char *)__curbrk)
    note(end, (size_t)((char *)__curbrk - (char *)end));
  __curbrk = (void *)syscall(SYS_brk, end);
  return (char *)__curbrk < (char *)end ? -1 : 0;
}

// A random part of it is the buffer of a message.
static void use(Memory memory) {
  uintptr_t start = ((uintptr_t)memory.start + pageBytes - 1) & -pageBytes;
  uintptr_t end = ((uintptr_t)memory.start + memory.bytes) & -pageBytes;
  if (end < start + pageBytes)
    return;
  size_t pages = (end - start) / pageBytes, first = random_(pages);
  size_t count = 1 + random_(pages - first);
  if (count >= maxPages)
    count = maxPages - 1;
  start += first * pageBytes;
  memset((void *)start, 1, count * pageBytes);
  take();
  registered += (unsigned)addRegistration(start, start + count * pageBytes);
  release();
}

static void countKept(Memory memory) {
  uintptr_t start = (uintptr_t)memory.start, end = start + memory.bytes;
  for (int i = 0; i < slots; ++i)
    kept += cache[i].start && !cache[i].isGone && cache[i].start >= start &&
            cache[i].end <= end;
}

static void freeBlock(Memory *block) {
  free(block->start);
  countKept(*block);
  block->start = NULL;
}

static void newBlock(Memory *block) {
  freeBlock(block);
  block->bytes = randomBytes();
  block->start = random_(4) ? malloc(block->bytes)
                            : memalign(16ul << random_(18), block->bytes);
  use(*block);
}

static void resizeBlock(Memory *block) {
  Memory old = *block;
  block->bytes = randomBytes();
  block->start = realloc(block->start, block->bytes);
  if (old.start && block->start != old.start)
    countKept(old);
  use(*block);
}

static void *map(void *at, size_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0);
  return mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static void newMap(Memory *own) {
  if (own->start)
    munmap(own->start, own->bytes);
  own->bytes = randomBytes();
  own->start = map(NULL, own->bytes);
  use(*own);
}

// A random part of it is unmapped and mapped again, or moves with the rest.
static void changeMap(Memory *own) {
  if (!own->start)
    return;
  size_t pages = own->bytes / pageBytes, first = random_(pages);
  char *start = own->start + first * pageBytes;
  size_t bytes = (1 + random_(pages - first)) * pageBytes;
  if (random_(3) == 0) {
    munmap(start, bytes);
    map(start, bytes);
  } else if (random_(2)) {
    map(start, bytes);
  } else {
    size_t newBytes = randomBytes();
    own->start = mremap(own->start, own->bytes, newBytes, MREMAP_MAYMOVE);
    own->bytes = newBytes;
  }
  use(*own);
}

static void advise(Memory memory) {
  if (!memory.start)
    return;
  uintptr_t start = ((uintptr_t)memory.start + pageBytes - 1) & -pageBytes;
  size_t pages = memory.bytes / pageBytes;
  if (pages < 3)
    return;
  size_t first = random_(pages - 2), count = 1 + random_(pages - 2 - first);
  madvise((char *)start + first * pageBytes, count * pageBytes, MADV_DONTNEED);
  use(memory);
}

static void *onStack(void *bytes) {
  char block[(size_t)bytes];
  use((Memory){block, sizeof block});
  return NULL;
}

static void runThread(void) {
  size_t bytes = (size_t)64 * kib << random_(8);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 2 * bytes);
  pthread_create(&thread, &attributes, onStack, (void *)bytes);
  pthread_join(thread, NULL);
}

static void writeAll(void) {
  for (int i = 0; i < places; ++i)
    if (blocks[i].start)
      memset(blocks[i].start, 2, blocks[i].bytes);
  memset(fixed, 2, sizeof fixed);
}

static void forkOnce(void) {
  pid_t child = fork();
  if (child == 0) {
    ring = -1;
    writeAll();
    _exit(0);
  }
  if (random_(2))
    writeAll();
  waitpid(child, NULL, 0);
}

static void moveBreak(void) {
  intptr_t bytes = (intptr_t)(1 + random_(1024)) * pageBytes;
  char *start = sbrk(bytes);
  if (start == (void *)-1)
    return;
  use((Memory){start, (size_t)bytes});
  if (sbrk(0) == start + bytes)
    sbrk(-bytes);
}

static const char *step(void) {
  Memory *block = &blocks[random_(places)], *own = &maps[random_(places)];
  switch (random_(16)) {
  case 0:
    return freeBlock(block), "free";
  case 1:
    return malloc_trim(0), "malloc_trim";
  case 2:
    return resizeBlock(block), "realloc";
  case 3:
    return newMap(own), "munmap, mmap";
  case 4:
    return changeMap(own), "mmap over memory, mremap";
  case 5:
    return advise(*own), "madvise of a mapping";
  case 6:
    return advise(*block), "madvise of a block";
  case 7:
    return advise((Memory){fixed, sizeof fixed}), "madvise of .bss";
  case 8:
    return runThread(), "thread";
  case 9:
    return random_(8) ? "nothing" : (forkOnce(), "fork");
  case 10:
    return moveBreak(), "sbrk";
  case 11:
    return use(*own), "use of a mapping";
  case 12:
    return use((Memory){fixed, sizeof fixed}), "use of .bss";
  default:
    return newBlock(block), "free, malloc";
  }
}

static void check(const char *after) {
  for (int i = 0; i < slots; ++i) {
    if (cache[i].start && !cache[i].isGone && isStale(&cache[i])) {
      fprintf(stderr, "stale after %s: %#lx to %#lx\n", after,
              (long)cache[i].start, (long)cache[i].end);
      ++stale;
      cache[i].isGone = 1;
    }
    if (cache[i].isGone)
      drop(i);
  }
}

int main(int count, char **words) {
  if (count < 3)
    return 2;
  state = strtoul(words[1], NULL, 10);
  if (count == 3) {
    patch("munmap", (void *)onUnmap);
    patch("mmap", (void *)onMap);
    patch("mremap", (void *)onRemap);
    patch("madvise", (void *)onAdvise);
    patch("brk", (void *)onBreak);
  }
  openRing();
  for (long left = strtol(words[2], NULL, 10); left > 0; --left)
    check(step());
  printf("%lu %lu %lu %lu\n", registered, gone, kept, stale);
  return stale != 0;
}
