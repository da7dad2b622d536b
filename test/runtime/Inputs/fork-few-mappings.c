/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Fills its address space with mappings until the number of the argument is
 * left, forks, and prints the result: `right` if the child saw the right
 * contents and ended, the name of the error if there was no child. With
 * `addresses` before the number, limits the address space instead (RLIMIT_AS).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };
static const size_t pairs = 1 << 21;

/* Every second page of \p memory can be read. Returns how many. */
static size_t fill(char *memory) {
  size_t count = 0;
  while (count < pairs && !mprotect(memory + count * 2 * PAGE, PAGE, PROT_READ))
    count++;
  return count;
}

static void leaveFew(size_t left) {
  char *memory = mmap(0, pairs * 2 * PAGE, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  size_t count = fill(memory);
  for (size_t i = 1; i <= left / 2 && i <= count; i++)
    mprotect(memory + (count - i) * 2 * PAGE, PAGE, PROT_NONE);
}

int main(int argumentCount, char **arguments) {
  size_t left = strtoul(arguments[argumentCount - 1], 0, 10);
  char *volatile block = malloc(3 << 20);
  memset(block, 7, 3 << 20);
  if (argumentCount > 2)
    setrlimit(RLIMIT_AS, &(struct rlimit){PAGE, PAGE});
  else
    leaveFew(left);
  pid_t child = fork();
  if (child == 0) {
    int isRight = block[1 << 20] == 7;
    memset(block, 8, 3 << 20);
    _exit(isRight ? 3 : 4);
  }
  int status = 0, error = child < 0 ? errno : 0;
  if (child > 0)
    waitpid(child, &status, 0);
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 3)
    printf("%zu left: right\n", left);
  else
    printf("%zu left: %s, status %x\n", left,
           error ? strerrorname_np(error) : "wrong", status);
  return block[1 << 20] == 7 ? 0 : 1;
}
