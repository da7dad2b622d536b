// Writes the first and the last byte of each 2 MiB of 200 MiB of .bss and of as
// much from malloc, forks COUNT times, and checks all of it in the child and
// afterwards. Prints `right`, or what was wrong.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { step = 2 << 20, bytes = 100 * step };
static char area[bytes];

static int isRight(const char *memory) {
  for (long at = 0; at < bytes; at += step)
    if (memory[at] != (char)(at / step + 1) || memory[at + step - 1] != 1)
      return 0;
  return 1;
}

int main(int argc, char **argv) {
  char *block = malloc(bytes);
  for (long at = 0; at < bytes; at += step) {
    area[at] = block[at] = (char)(at / step + 1);
    area[at + step - 1] = block[at + step - 1] = 1;
  }
  for (int count = argc > 1 ? atoi(argv[1]) : 1; count > 0; --count) {
    int status = -1;
    pid_t child = fork();
    if (child < 0) {
      perror("fork");
      return 1;
    }
    if (child == 0)
      _exit(!isRight(area) || !isRight(block));
    waitpid(child, &status, 0);
    if (status != 0) {
      printf("wrong: the child's status is %d\n", status);
      return 1;
    }
  }
  puts(isRight(area) && isRight(block) ? "right" : "wrong in the parent");
  return 0;
}
