/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded beside libmpg: reports the pages under the heap of every program
 * that a test starts. One line for the start and one for the end (if the
 * program ends by exit) goes to the file named by HEAP_WITNESS:
 *
 *   start hugetlb bash        end hugetlb bash
 *
 * Asks the kernel for the pages of a small block, one of 100 kB and one of 3
 * MB, in /proc/thread-self/smaps: that of `self` is empty if the main thread
 * has ended before the others. Reports `normal` if one of them is on normal
 * pages and so is one of 40 MiB: the first small ones are with MPG_MODE=thp. A
 * transparent page counts if it was requested from the kernel, which may or may
 * not find one. The file is opened for each line, so a program that closes all
 * descriptors is not disturbed. Reads and writes with system calls only, so
 * that the heap holds nothing of this library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 3, LINE_BYTES = 4096, ARRAY_BYTES = 40 << 20 };

struct look {
  uintptr_t blocks[BLOCKS];
  int onHugetlb, onThp;
  int inside; /* how many of the blocks are in the mapping being read */
};

static void readLine(struct look *look, const char *line) {
  unsigned long start, end;
  if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
    look->inside = 0;
    for (int i = 0; i < BLOCKS; i++)
      look->inside += look->blocks[i] >= start && look->blocks[i] < end;
  } else if (strncmp(line, "VmFlags:", 8) == 0) {
    if (strstr(line, " ht"))
      look->onHugetlb += look->inside;
    else if (strstr(line, " hg"))
      look->onThp += look->inside;
  }
}

static const char *inspect(struct look *look) {
  static char buffer[LINE_BYTES];
  size_t used = 0;
  ssize_t got;
  int file = open("/proc/thread-self/smaps", O_RDONLY | O_CLOEXEC);
  while ((got = read(file, buffer + used, sizeof buffer - 1 - used)) > 0) {
    used += got;
    buffer[used] = 0;
    char *line = buffer, *newline;
    for (; (newline = strchr(line, '\n')); line = newline + 1) {
      *newline = 0;
      readLine(look, line);
    }
    used -= line - buffer;
    memmove(buffer, line, used);
  }
  close(file);
  if (look->onHugetlb == BLOCKS)
    return "hugetlb";
  return look->onHugetlb + look->onThp == BLOCKS ? "thp" : "normal";
}

/* The pages of a block that has transparent ones whatever came before. */
static const char *inspectArray(void) {
  char *block = malloc(ARRAY_BYTES);
  uintptr_t late = (uintptr_t)block + ARRAY_BYTES - 4096;
  struct look look = {{late, late, late}, 0, 0, 0};
  const char *found = block ? inspect(&look) : "normal";
  free(block);
  return found;
}

static void tell(const char *when) {
  static const size_t sizes[BLOCKS] = {100, 100000, 3000000};
  const char *path = getenv("HEAP_WITNESS");
  int before = errno;
  void *blocks[BLOCKS];
  struct look look = {{0}, 0, 0, 0};
  if (!path)
    return;
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = malloc(sizes[i]);
    if (blocks[i])
      memset(blocks[i], 1, sizes[i]);
    look.blocks[i] = (uintptr_t)blocks[i];
  }
  char line[200];
  const char *found = inspect(&look);
  if (strcmp(found, "normal") == 0)
    found = inspectArray();
  int length = snprintf(line, sizeof line, "%s %s %s\n", when, found,
                        program_invocation_short_name);
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
  int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || write(file, line, length) != length)
    _exit(99);
  close(file);
  errno = before;
}

__attribute__((constructor)) static void atStart(void) { tell("start"); }
__attribute__((destructor)) static void atEnd(void) { tell("end"); }
