// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C library's allocator with a fault, which BROKEN names: preloaded to see
// that random-heap.c finds it. After some good calls, every 16th call
// that can go wrong does.
//
//   overlap    malloc gives the middle of a block that is in use
//   zero       calloc gives memory that is not zero
//   copy       realloc changes a byte
//   align      memalign and aligned_alloc give 16 bytes too much
//   posix      posix_memalign does so
//   usable     malloc_usable_size says 0
//   errno      free changes errno
//   write      free writes to a block that is still in use
//   null       malloc gives NULL although there is memory
//   child      in the child of a fork malloc gives blocks of the parent
//   realloc0   realloc to 0 bytes gives a block

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { before = 20, each = 16, keptBytes = 4096 };

static char *last;        // a block of at least keptBytes that is in use
static void *overlapping; // what malloc gave out of it
static size_t overlappingBytes;
static int calls, firstProcess;

/// Whether this call goes wrong.
static int fails(const char *kind) {
  const char *broken = getenv("BROKEN");
  if (!broken || strcmp(broken, kind))
    return 0;
  int number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  return number > before && number % each == 0;
}

__attribute__((constructor)) static void start(void) {
  firstProcess = getpid();
}

static int inChild(void) { return firstProcess != getpid(); }

static void *keep(void *block, size_t bytes) {
  if (block && bytes >= keptBytes && !inChild())
    __atomic_store_n(&last, block, __ATOMIC_RELAXED);
  return block;
}

void *malloc(size_t bytes) {
  char *kept = __atomic_load_n(&last, __ATOMIC_RELAXED);
  if (fails("null")) {
    errno = ENOMEM;
    return NULL;
  }
  if (kept && (fails("overlap") || (inChild() && fails("child")))) {
    overlappingBytes = bytes;
    return overlapping = kept + 1024;
  }
  return keep(__libc_malloc(bytes), bytes);
}

void *calloc(size_t count, size_t bytes) {
  char *block = __libc_calloc(count, bytes);
  if (block && count && bytes && fails("zero"))
    block[count * bytes - 1] = 1;
  return block;
}

void *realloc(void *old, size_t bytes) {
  if (old && !bytes && fails("realloc0"))
    return __libc_malloc(1);
  __atomic_compare_exchange_n(&last, &(char *){old}, NULL, 0, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  char *block = __libc_realloc(old, bytes);
  if (old && block && bytes > 8 && bytes < 32768 && fails("copy"))
    block[7] ^= 1;
  return block;
}

void free(void *block) {
  __atomic_compare_exchange_n(&last, &(char *){block}, NULL, 0,
                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  char *kept = __atomic_load_n(&last, __ATOMIC_RELAXED);
  if (kept && fails("write"))
    kept[3] ^= 64;
  int saved = errno;
  __libc_free(block);
  errno = fails("errno") ? EINVAL : saved;
}

void *memalign(size_t alignment, size_t bytes) {
  char *block = __libc_memalign(alignment, bytes + 16);
  return alignment > 16 && fails("align") ? block + 16 : block;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  *block = __libc_memalign(alignment, bytes + 16);
  if (*block && alignment > 16 && fails("posix"))
    *(char **)block += 16;
  return *block ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *block) {
  if (block == overlapping)
    return overlappingBytes;
  if (fails("usable"))
    return 0;
  // As the C library keeps it in front of a block.
  size_t bytes = ((size_t *)block)[-1];
  return (bytes & ~(size_t)7) - (bytes & 2 ? 16 : 8);
}
