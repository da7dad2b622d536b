/* Transparent huge pages after a fork.
 *   fork-collapse again   the child ends; the parent frees and allocates until its
 *                         pages are large again
 *   fork-collapse stays   the same, but no longer than 100,000 times
 *   fork-collapse split   ends when they are split */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { blocks = 32 << 10, bytes = 1000, heapMib = 32 };
static char *block[blocks];

static long largeMib(void) {
  long sum = 0, kib;
  char line[300];
  FILE *file = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "AnonHugePages: %ld", &kib) == 1)
      sum += kib;
  fclose(file);
  return sum >> 10;
}

static void writeAll(char value) {
  for (int i = 0; i < blocks; ++i)
    block[i][5] = value;
}

int main(int count, char **words) {
  const char *what = words[count - 1];
  int ends[2];
  for (int i = 0; i < blocks; ++i)
    memset(block[i] = malloc(bytes), 1, bytes);
  printf("before: %s\n", largeMib() >= heapMib ? "large" : "not");
  fflush(stdout);
  if (pipe(ends))
    return 9;
  pid_t child = fork();
  if (child == 0) {
    char end;
    close(ends[1]);
    _exit(read(ends[0], &end, 1) != 0);
  }
  writeAll(2);
  printf("child is there: %s\n", largeMib() < heapMib / 2 ? "split" : "not");
  fflush(stdout);
  close(ends[1]);
  waitpid(child, NULL, 0);
  if (!strcmp(what, "split"))
    return 0;
  long most = strcmp(what, "stays") ? -1 : 100000;
  alarm(300);
  for (long i = 0; i != most; ++i) {
    int at = rand() % blocks;
    free(block[at]);
    memset(block[at] = malloc(bytes), 3, bytes);
    if (i % 10000 == 0 && largeMib() >= heapMib - heapMib / 8)
      break;
  }
  puts(largeMib() >= heapMib / 2 ? "large again" : "stays split");
  return 0;
}
