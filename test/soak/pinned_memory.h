// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is pinned as a network card's driver does (with io_uring's
// registered buffers), and the frames that it had when it was pinned. If the
// frames of its addresses are others later, and nobody has reported that the
// memory goes, the registration is stale: a card would read or write another's
// data.

#ifndef PINNED_MEMORY_H
#define PINNED_MEMORY_H

#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { slots = 512, maxBytes = 64 << 20, pageBytes = 4096 };
enum { maxPages = maxBytes / pageBytes + 1 };

typedef struct {
  uintptr_t start, end; // 0: free
  int isGone;           // reported; still pinned
  uint64_t *frames;     // of each page when it was pinned
} Registration;

static Registration cache[slots];
static int ring = -1, pagemap = -1, nextSlot;
static char lock;

static void take(void) {
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
    ;
}
static void release(void) { __atomic_clear(&lock, __ATOMIC_RELEASE); }

static long pin(int slot, uintptr_t start, size_t bytes) {
  struct iovec memory = {(void *)start, bytes};
  struct io_uring_rsrc_update2 update = {
      .offset = (unsigned)slot, .data = (uintptr_t)&memory, .nr = 1};
  return syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS_UPDATE,
                 &update, sizeof update);
}

static void readFrames(uintptr_t start, uintptr_t end, uint64_t *frames) {
  size_t bytes = (end - start) / pageBytes * sizeof *frames;
  memset(frames, 0, bytes);
  if (pread(pagemap, frames, bytes,
            (off_t)(start / pageBytes * sizeof *frames)) < 0)
    abort();
  for (size_t i = 0; i < bytes / sizeof *frames; ++i)
    frames[i] = frames[i] >> 63 ? frames[i] & ((1ull << 55) - 1) : 0;
}

static void drop(int slot) {
  pin(slot, 0, 0);
  cache[slot].start = cache[slot].end = 0;
}

// 0: refused (memory of a file, or read-only).
static int addRegistration(uintptr_t start, uintptr_t end) {
  int slot = nextSlot++ % slots;
  if (cache[slot].start)
    drop(slot);
  if (pin(slot, start, end - start) != 1)
    return 0;
  readFrames(start, end, cache[slot].frames);
  cache[slot].isGone = 0;
  cache[slot].start = start;
  cache[slot].end = end;
  return 1;
}

static int isStale(const Registration *at) {
  static uint64_t now[maxPages];
  readFrames(at->start, at->end, now);
  return memcmp(now, at->frames,
                (at->end - at->start) / pageBytes * sizeof *now) != 0;
}

// How many registrations end because this memory goes.
static unsigned long markGone(uintptr_t start, uintptr_t end) {
  unsigned long count = 0;
  for (int i = 0; i < slots; ++i)
    if (cache[i].start < end && cache[i].end > start && !cache[i].isGone) {
      cache[i].isGone = 1;
      ++count;
    }
  return count;
}

static void openRing(void) {
  struct io_uring_params params = {0};
  struct io_uring_rsrc_register table = {.nr = slots,
                                         .flags = IORING_RSRC_REGISTER_SPARSE};
  pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  ring = (int)syscall(SYS_io_uring_setup, 4, &params);
  if (ring < 0 || pagemap < 0 ||
      syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS2, &table,
              sizeof table))
    abort();
  for (int i = 0; i < slots; ++i)
    cache[i].frames =
        mmap(NULL, maxPages * sizeof(uint64_t), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

#endif
