// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the malloc family with every odd argument that there is and prints what
// comes back: block or null, errno, alignment. The C library's own allocator is
// the specification, so the output must be the same with any other. Addresses
// and usable sizes are not in it.

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {0,
                               1,
                               24,
                               4096,
                               14337,
                               1 << 20,
                               200 << 20,
                               (size_t)1 << 46,
                               (size_t)1 << 62,
                               PTRDIFF_MAX - 4096,
                               PTRDIFF_MAX,
                               (size_t)PTRDIFF_MAX + 1,
                               SIZE_MAX - 4096,
                               SIZE_MAX - 1,
                               SIZE_MAX};
enum { sizeCount = sizeof sizes / sizeof *sizes };

static const size_t alignments[] = {0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    7,
                                    8,
                                    16,
                                    24,
                                    48,
                                    64,
                                    4095,
                                    4096,
                                    65536,
                                    100000,
                                    2 << 20,
                                    32 << 20,
                                    1 << 30,
                                    (size_t)1 << 40,
                                    SIZE_MAX / 2,
                                    SIZE_MAX / 2 + 1,
                                    SIZE_MAX / 2 + 2,
                                    SIZE_MAX};
enum { alignmentCount = sizeof alignments / sizeof *alignments };

/// Prints one result and frees it. \p alignment is what the block must have.
static void show(const char *call, size_t a, size_t b, void *block,
                 size_t alignment) {
  int error = errno;
  size_t bits = alignment < 16 ? 16 : alignment;
  while (bits & (bits - 1)) // up to a power of two
    bits += bits & -bits;
  printf("%s(%#zx, %#zx): %s, errno %d", call, a, b, block ? "block" : "null",
         error);
  if (block) {
    printf(", %s", (uintptr_t)block % bits ? "UNALIGNED" : "aligned");
    if (malloc_usable_size(block) < b)
      printf(", TOO SMALL");
    // The last byte of what was asked for can be used.
    if (b)
      ((volatile char *)block)[b - 1] = 1;
    errno = 99;
    free(block);
    if (errno != 99)
      printf(", free sets errno to %d", errno);
  }
  printf("\n");
  errno = 0;
}

static void showBySize(void) {
  for (int i = 0; i < sizeCount; ++i) {
    size_t bytes = sizes[i];
    errno = 0;
    show("malloc", 0, bytes, malloc(bytes), 16);
    show("realloc(NULL)", 0, bytes, realloc(NULL, bytes), 16);
    show("valloc", 0, bytes, valloc(bytes), 4096);
    void *whole = pvalloc(bytes);
    if (whole && malloc_usable_size(whole) < (bytes ? 4096 : 0))
      printf("pvalloc is no whole page\n");
    show("pvalloc", 0, bytes, whole, 4096);
    for (int j = 0; j < sizeCount; ++j) {
      // A product that fits into memory succeeds.
      size_t product;
      if (!__builtin_mul_overflow(bytes, sizes[j], &product) &&
          product > 300 << 20 && product < (size_t)1 << 46)
        continue;
      show("calloc", bytes, product < 300 << 20 ? product : sizes[j],
           calloc(bytes, sizes[j]), 16);
      show("reallocarray(NULL)", bytes,
           product < 300 << 20 ? product : sizes[j],
           reallocarray(NULL, bytes, sizes[j]), 16);
    }
  }
}

static void showByAlignment(void) {
  static const size_t few[] = {0, 1, 5000, 3 << 20, PTRDIFF_MAX, SIZE_MAX - 16};
  for (int i = 0; i < alignmentCount; ++i)
    for (int j = 0; j < 6; ++j) {
      size_t alignment = alignments[i], bytes = few[j];
      size_t expected = alignment > (size_t)1 << 31 ? 16 : alignment;
      errno = 0;
      show("memalign", alignment, bytes, memalign(alignment, bytes), expected);
      show("aligned_alloc", alignment, bytes, aligned_alloc(alignment, bytes),
           expected);
      void *block = &block;
      errno = 77; // ENOMEM if that is the result, else not touched
      int result = posix_memalign(&block, alignment, bytes);
      printf("posix_memalign returns %d, errno %d%s\n", result, errno,
             block == &block ? ", block untouched" : "");
      errno = 0;
      show("posix_memalign", alignment, bytes, result ? NULL : block, expected);
    }
}

/// A block that cannot get larger is as it was.
static void showFailedRealloc(void) {
  static const size_t from[] = {10, 5000, 100000, 5 << 20, 200 << 20};
  for (int i = 0; i < 5; ++i)
    for (int j = 8; j < sizeCount; ++j) {
      char *block = malloc(from[i]);
      memset(block, 0x5a, from[i]);
      errno = 0;
      void *larger = realloc(block, sizes[j]);
      printf("realloc from %zu to %#zx: %s, errno %d", from[i], sizes[j],
             larger ? "block" : "null", errno);
      errno = 0;
      larger = reallocarray(block, sizes[j], 2);
      printf("; array: %s, errno %d; %s\n", larger ? "block" : "null", errno,
             block[0] == 0x5a && block[from[i] - 1] == 0x5a ? "as it was"
                                                            : "CHANGED");
      free(block);
    }
}

static void showRest(void) {
  static const size_t some[] = {0, 16, 30000, 3 << 20, 150 << 20};
  errno = 0;
  printf("malloc_usable_size(NULL): %zu\n", malloc_usable_size(NULL));
  free(NULL);
  printf("free(NULL): errno %d\n", errno);
  for (int i = 0; i < 5; ++i) {
    void *gone = realloc(malloc(some[i]), 0);
    printf("realloc(%zu to 0): %s, errno %d\n", some[i],
           gone ? "BLOCK" : "null", errno);
    gone = reallocarray(malloc(some[i]), 0, 5);
    printf("reallocarray(%zu to 0): %s, errno %d\n", some[i],
           gone ? "BLOCK" : "null", errno);
  }
  void *a = malloc(0), *b = malloc(0), *c = calloc(0, 0), *d = memalign(64, 0);
  printf("of no bytes: %s\n", a && b && c && d && a != b && a != c && b != c &&
                                      a != d && b != d && c != d
                                  ? "all different"
                                  : "NOT DIFFERENT");
  free(a), free(b), free(c), free(d);
}

int main(void) {
  showBySize();
  showByAlignment();
  showFailedRealloc();
  showRest();
  return 0;
}
