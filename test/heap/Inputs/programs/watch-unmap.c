/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded: acts like MPI libraries that register memory with a network card.
 * They must know when memory goes away, and interpose munmap, mremap and
 * madvise for that. Remembers every range that went away; watchSaw queries it.
 * Takes a lock, as those do, and calls no malloc inside.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 100000 };

static struct {
  uintptr_t start, end;
} ranges[MOST];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void remember(void *start, size_t bytes) {
  pthread_mutex_lock(&lock);
  if (count < MOST) {
    ranges[count].start = (uintptr_t)start;
    ranges[count++].end = (uintptr_t)start + bytes;
  }
  pthread_mutex_unlock(&lock);
}

int watchSaw(const void *address) {
  int saw = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; i++)
    saw |= (uintptr_t)address >= ranges[i].start &&
           (uintptr_t)address < ranges[i].end;
  pthread_mutex_unlock(&lock);
  return saw;
}

void watchForget(void) {
  pthread_mutex_lock(&lock);
  count = 0;
  pthread_mutex_unlock(&lock);
}

int munmap(void *start, size_t bytes) {
  remember(start, bytes);
  return syscall(SYS_munmap, start, bytes);
}

int madvise(void *start, size_t bytes, int advice) {
  if (advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE)
    remember(start, bytes);
  return syscall(SYS_madvise, start, bytes, advice);
}

void *mremap(void *start, size_t bytes, size_t newBytes, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void *to = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
  va_end(list);
  remember(start, bytes);
  return (void *)syscall(SYS_mremap, start, bytes, newBytes, flags, to);
}
