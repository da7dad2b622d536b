/* A block of the C library's where the heap has returned memory: malloc's own
 * mapping, as the C library writes it. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

void *__libc_malloc(size_t);

enum { bytes = 1 << 20, isMapping = 2 };

static char *place;

/* The size before the block, with the bit of a mapping. */
static char *makeBlock(void) {
  size_t *words =
      mmap(place, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (words != (void *)place)
    exit(printf("something is there\n"));
  words[1] = bytes | isMapping;
  return (char *)(words + 2);
}

static int isGone(void) {
  unsigned char present[bytes >> 12];
  return mincore(place, bytes, present) != 0 && errno == ENOMEM;
}

int main(int count, char **words) {
  (void)words;
  char *large = malloc(256 << 20);
  large[5 << 20] = 1;
  place = (char *)(((uintptr_t)large + (4 << 20)) & -65536);
  free(__libc_malloc(100));
  free(large);
  if (count > 1) { /* of memory that the heap has */
    char *small = malloc(100);
    free(small);
    free(small);
  }
  char *block = makeBlock();
  printf("usable: %zu\n", malloc_usable_size(block));
  free(block);
  printf("freed: %s\n", isGone() ? "gone" : "still there");
  block = makeBlock();
  block[99] = 7;
  block = realloc(block, 100);
  printf("resized: %d\n", block[99]);
  free(block);
  return 0;
}
