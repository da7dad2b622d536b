/* mpg_heap_stats in the child of a fork: one line for the parent before, one
 * for the child, one for the parent after, in MiB: "WHO large N other N". */
#include <mpg/mpg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print(const char *who) {
  struct mpg_heap_stats stats = {.structBytes = sizeof stats};
  if (mpg_heap_stats(&stats))
    exit(2);
  printf("%s large %lu other %lu\n", who,
         (unsigned long)(stats.hugeBytes >> 20),
         (unsigned long)((stats.thpBytes + stats.normalBytes) >> 20));
}

int main(void) {
  static char line[BUFSIZ]; /* or the first print would make the heap larger */
  setvbuf(stdout, line, _IOLBF, sizeof line);
  size_t bytes = 30 << 20;
  char *block = malloc(bytes);
  memset(block, 1, bytes);
  print("before");
  pid_t child = fork();
  if (child == 0) {
    memset(block, 2, bytes);
    print("child");
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  print("after");
  return status || block[bytes - 1] != 1;
}
