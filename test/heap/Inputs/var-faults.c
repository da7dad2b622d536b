/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program that damages its heap as its argument asks, and prints a line if it
 * survives: `twice` frees a block twice, `middle` frees from its middle,
 * `foreign` frees memory of mmap, `past` writes one byte after a block of 100
 * bytes, `none` does nothing wrong. With BYTES and COUNT, `behind` writes COUNT
 * bytes after a block of BYTES, `front` in front of it; `resized` and `grown`
 * write behind one that is later, or was, resized to it; `node` allocates it on
 * a node; `link` writes COUNT bytes to the start of one of many freed blocks,
 * `last` to the only one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *mpg_malloc_onnode(size_t bytes, int node) __attribute__((weak));

/* Other values than were there: the heap's marks are random. */
static void overwrite(char *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    bytes[i] = ~bytes[i];
}

/* Blocks in front and behind, so that only this function's memory is
 * overwritten. */
static void writeAround(const char *fault, size_t bytes, size_t count) {
  int isGrown = !strcmp(fault, "grown");
  char *volatile before = malloc(bytes);
  char *volatile block = malloc(isGrown ? bytes / 2 : bytes);
  if (!strcmp(fault, "node"))
    block = mpg_malloc_onnode(bytes, 0);
  if (isGrown)
    block = realloc(block, bytes);
  char *volatile after = malloc(bytes);
  overwrite(strcmp(fault, "front") ? block + bytes : block - count, count);
  if (!strcmp(fault, "resized"))
    block = realloc(block, 2 * bytes);
  free(block);
  free(before);
  free(after);
}

static void writeToFreed(size_t bytes, size_t count, int freed) {
  enum { some = 200 };
  static char *volatile blocks[some];
  for (int i = 0; i < some; ++i)
    blocks[i] = malloc(bytes);
  for (int i = 0; i < freed; ++i)
    free(blocks[i]);
  memset(blocks[freed - 1], 'x', count);
  for (int i = 0; i < some; ++i)
    memset(malloc(bytes), 1, bytes);
}

int main(int count, char **arguments) {
  const char *fault = count > 1 ? arguments[1] : "none";
  char *volatile block = malloc(100);
  char *volatile other = malloc(100000);
  size_t some = count > 3 ? strtoul(arguments[3], 0, 10) : 0;
  if (!strcmp(fault, "link"))
    writeToFreed(strtoul(arguments[2], 0, 10), some, 5);
  else if (!strcmp(fault, "last"))
    writeToFreed(strtoul(arguments[2], 0, 10), some, 1);
  else if (count > 3)
    writeAround(fault, strtoul(arguments[2], 0, 10), some);
  if (!strcmp(fault, "middle"))
    free(other + 4096);
  if (!strcmp(fault, "foreign"))
    free(mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0));
  if (!strcmp(fault, "past"))
    block[100] = 77;
  free(block);
  if (!strcmp(fault, "twice"))
    free(block);
  block = malloc(100);
  memset(block, 1, 100);
  return write(1, "alive\n", 6) == 6 ? 0 : 1;
}
