/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Forks with one frame of .bss full and one nearly empty, and prints whether
 * the mapping of each then asks for transparent huge pages. The child writes to
 * both and ends with 0 if parent and child have the right contents.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAME = 2 << 20 };
static char full[2 * FRAME] __attribute__((aligned(FRAME)));
static char sparse[2 * FRAME] __attribute__((aligned(FRAME)));

static void tell(const char *name, const char *address) {
  FILE *maps = fopen("/proc/self/smaps", "r");
  char line[512];
  unsigned long start, end;
  int isIt = 0;
  while (maps && fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      isIt = start <= (uintptr_t)address && (uintptr_t)address < end;
    else if (isIt && !strncmp(line, "VmFlags:", 8))
      printf("%s: %s\n", name, strstr(line, " hg") ? "huge" : "normal");
  }
  fclose(maps);
}

static int sum(const char *memory) {
  int all = 0;
  for (int i = 0; i < 2 * FRAME; i += 4096)
    all += memory[i];
  return all;
}

int main(void) {
  memset(full, 1, sizeof full);
  sparse[5 << 12] = sparse[FRAME] = 1;
  pid_t child = fork();
  if (child == 0) {
    full[FRAME + 4096] = 2;
    sparse[1 << 12] = 3;
    _exit(sum(full) == 1025 && sum(sparse) == 5 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  tell("full", full + FRAME);
  tell("sparse", sparse + FRAME);
  printf("parent %d %d, child %x\n", sum(full), sum(sparse), status);
  return 0;
}
