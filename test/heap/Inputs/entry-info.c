// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reports of the malloc family: mallinfo, mallinfo2, malloc_info,
// malloc_stats, mallopt, malloc_trim. Checks what holds for any allocator, and
// prints `wrong: ...`; their own output is passed on, to check its form. With
// the argument `cfree`: that old name of free, where it exists.

#include "entry-memory.h"
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // mallinfo

static void check(int fine, const char *what) {
  if (!fine)
    printf("wrong: %s\n", what);
}

static int isAll(const void *block, unsigned char byte, size_t bytes) {
  const unsigned char *start = block;
  return start[0] == byte && !memcmp(start, start + 1, bytes - 1);
}

/// Memory in use, large blocks included.
static size_t used(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static void checkCounts(void) {
  enum { number = 2000, bytes = 1000 };
  static void *blocks[number];
  size_t before = used();
  for (int i = 0; i < number; ++i)
    blocks[i] = malloc(bytes);
  size_t full = used();
  check(full >= before + number * bytes, "mallinfo2 counts too little");
  check(full <= before + number * bytes * 3 / 2, "mallinfo2 counts too much");
  struct mallinfo2 info = mallinfo2();
  check(info.arena == info.uordblks + info.fordblks,
        "used and free memory are not all");
  struct mallinfo small = mallinfo();
  check((unsigned)small.uordblks == (unsigned)info.uordblks &&
            (unsigned)small.arena == (unsigned)info.arena,
        "mallinfo and mallinfo2 differ");
  for (int i = 0; i < number; ++i)
    free(blocks[i]);
  size_t after = used();
  check(after <= before + number * bytes / 10, "mallinfo2 after the frees");
}

static void checkLarge(void) {
  struct mallinfo2 before = mallinfo2();
  char *large = malloc(200 << 20);
  large[0] = 1;
  struct mallinfo2 with = mallinfo2();
  check(with.hblks == before.hblks + 1, "hblks of a large block");
  check(with.hblkhd >= before.hblkhd + (200 << 20) &&
            with.hblkhd <= before.hblkhd + (205 << 20),
        "hblkhd of a large block");
  malloc_stats();
  malloc_info(0, stdout);
  free(large);
  struct mallinfo2 after = mallinfo2();
  check(after.hblks == before.hblks && after.hblkhd == before.hblkhd,
        "hblks after free");
}

static void checkInfo(void) {
  errno = 0;
  check(malloc_info(1, stdout) == EINVAL, "malloc_info with options");
  malloc_stats();
  check(malloc_info(0, stdout) == 0, "malloc_info");
}

static void checkTrim(void) {
  enum { number = 700, bytes = 100000 };
  static char *blocks[number];
  for (int i = 0; i < number; ++i)
    memset(blocks[i] = malloc(bytes), 1, bytes);
  for (int i = 0; i < number - 1; ++i) // the end of the heap stays in use
    free(blocks[i]);
  long before = presentKib();
  check(malloc_trim(0) == 1, "malloc_trim with free memory");
  long after = presentKib();
  check(before - after > 60 << 10, "malloc_trim gives nothing back");
  check(isAll(blocks[number - 1], 1, bytes), "contents after malloc_trim");
  blocks[0] = calloc(1, bytes);
  check(isAll(blocks[0], 0, bytes), "calloc after malloc_trim");
  free(blocks[0]);
  free(blocks[number - 1]);
}

static void checkOptions(void) {
  static const int known[] = {M_TRIM_THRESHOLD, M_TOP_PAD,   M_MMAP_THRESHOLD,
                              M_MMAP_MAX,       M_PERTURB,   M_CHECK_ACTION,
                              M_ARENA_MAX,      M_ARENA_TEST};
  static const int values[] = {1 << 20, 65536, 1 << 20, 1000, 0, 3, 4, 4};
  for (int i = 0; i < 8; ++i)
    printf("mallopt(%d, %d): %d\n", known[i], values[i],
           mallopt(known[i], values[i]));
  printf("mallopt(M_MXFAST, 64): %d\n", mallopt(M_MXFAST, 64));
  // From here on 8 MiB are a large block.
  size_t before = mallinfo2().hblks;
  void *block = malloc(8 << 20);
  check(mallinfo2().hblks == before + 1, "M_MMAP_THRESHOLD has no effect");
  free(block);
  check(mallinfo2().hblks == before, "blocks above M_MMAP_THRESHOLD stay");
  mallopt(M_MMAP_MAX, 0);
  block = malloc(8 << 20);
  check(mallinfo2().hblks == before, "M_MMAP_MAX has no effect");
  free(block);
  // Sizes that this program has not freed before: the C library's own caches
  // do not know of M_PERTURB.
  mallopt(M_PERTURB, 0xa5);
  unsigned char *fresh = malloc(777);
  check(isAll(fresh, 0x5a, 777), "M_PERTURB has no effect");
  free(fresh);
  fresh = calloc(1, 776);
  check(isAll(fresh, 0, 776), "M_PERTURB changes calloc");
  free(fresh);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "cfree")) {
    union {
      void *object;
      void (*function)(void *);
    } cfree = {dlsym(RTLD_DEFAULT, "cfree")};
    if (!cfree.object) {
      puts("no cfree");
      return 0;
    }
    size_t before = used();
    for (int i = 0; i < 100000; ++i)
      cfree.function(malloc(3000));
    cfree.function(NULL);
    check(used() < before + (1 << 20), "cfree does not free");
    puts("cfree");
    return 0;
  }
  checkInfo();
  checkCounts();
  checkLarge();
  checkTrim();
  checkOptions();
  return 0;
}
