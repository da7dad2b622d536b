/* A stream over arrays of the heap and a global one, in a program compiled
 * without --mpg-sim. With an argument it ends in that way. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { size = 1 << 18, rounds = 4 };
double global[size];

int main(int argc, char **argv) {
  double *a = malloc(size * sizeof(*a)), *b = malloc(size * sizeof(*b));
  for (int i = 0; i < size; ++i)
    b[i] = i;
  for (int round = 0; round < rounds; ++round) {
    __asm__ volatile("" : : : "memory"); /* keep the rounds separate */
    for (int i = 0; i < size; ++i)
      a[i] = b[i] + 3 * global[i];
  }
  printf("%g %s\n", a[size - 1], argv[0]);
  fflush(stdout);
  if (argc > 1 && argv[1][0] == 'a')
    abort();
  if (argc > 1 && argv[1][0] == 'f') {
    pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < size; ++i)
        global[i] = i;
      _exit(global[5] != 5);
    }
    int status;
    waitpid(child, &status, 0);
    return status != 0;
  }
  return 3;
}
