/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program that damages its heap as its argument says, and tells if it lives
 * on: `twice` frees a block twice, `middle` frees from its middle, `foreign`
 * frees memory of mmap, `past` writes one byte behind a block of 100 bytes,
 * `none` does nothing wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments) {
  const char *fault = count > 1 ? arguments[1] : "none";
  char *volatile block = malloc(100);
  char *volatile other = malloc(100000);
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
