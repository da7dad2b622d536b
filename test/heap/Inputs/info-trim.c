/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * malloc_trim returns free memory to the system, and only that. Arguments: how
 * many bytes may be kept, and which kind of blocks is freed.
 */
#define _GNU_SOURCE
#include "info-expect.h"

#include <fcntl.h>
#include <malloc.h>

/* kB of large pages that the process has present. */
static long presentHugeKib(void) {
  static char text[8192];
  int file = open("/proc/self/status", O_RDONLY);
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[got > 0 ? got : 0] = 0;
  char *line = strstr(text, "HugetlbPages:");
  return line ? atol(line + strlen("HugetlbPages:")) : -1;
}

enum { MOST = 60000 };

static char *blocks[MOST];

int main(int count, char **arguments) {
  size_t keep = strtoul(arguments[1], NULL, 10) * MIB;
  int isSmall = strcmp(arguments[2], "small") == 0;
  size_t bytes = isSmall ? 1000 : 3 * MIB;
  int number = isSmall ? MOST : 18;
  long atFirst = presentHugeKib();
  char *volatile stays = malloc(50000);
  memset(stays, 7, 50000);
  for (int i = 0; i < number; i++) {
    blocks[i] = malloc(bytes);
    memset(blocks[i], 1, bytes);
  }
  char *volatile last = malloc(50000);
  memset(last, 7, 50000);
  for (int i = 0; i < number; i++)
    free(blocks[i]);
  /* Less than what goes back by itself. */
  EXPECT(presentHugeKib() - atFirst, >=, 53 * 1024);
  EXPECT(malloc_trim(keep), ==, 1);
  long left = presentHugeKib() - atFirst;
  EXPECT(left, >=, keep / 1024);
  EXPECT(left, <=, keep / 1024 + 8 * 1024);
  EXPECT(statsNow().hugeBytes / 1024, <=, left + atFirst);
  EXPECT(malloc_trim(keep), ==, 0);
  for (int i = 0; i < 50000; i++)
    EXPECT(stays[i] + last[i], ==, 14);
  EXPECT(mpg_heap_check(), ==, 0);
  return wrongAnswers != 0;
}
