/* Work that has gone wrong under other allocators, whose results must be those
 * under the C library's. each-mode forks | trim BYTES STEP | stack; a last
 * line "N MiB" is the memory that was in use. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char **blocks;
static size_t number;

static void printMemory(void) {
  unsigned long kib = 0, sum = 0;
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "VmRSS: %lu", &kib) == 1 ||
        sscanf(line, "HugetlbPages: %lu", &kib) == 1)
      sum += kib;
  fclose(file);
  printf("%lu MiB\n", sum >> 10);
}

static void fill(size_t all, size_t bytes) {
  number = all / bytes;
  blocks = calloc(number, sizeof *blocks);
  for (size_t i = 0; i < number; ++i)
    memset(blocks[i] = malloc(bytes), (int)(i % 251), bytes);
}

/* Byte 3 of some blocks, byte 5 of others may be \p changed. */
static int areRight(size_t bytes, int changed) {
  for (size_t i = 0; i < number; ++i)
    for (size_t at = 0; blocks[i] && at < bytes; ++at)
      if (blocks[i][at] != (i % 251) &&
          !((at == 3 || at == 5) && blocks[i][at] == changed))
        return 0;
  return 1;
}

static int writeSome(size_t at, int value) {
  static unsigned seed = 1;
  for (int i = 0; i < 50; ++i) {
    seed = seed * 1103515245 + 12345;
    blocks[seed % number][at] = (unsigned char)value;
  }
  return areRight(1000, value) ? 7 : 8;
}

/* A child's writes are its own; the parent's are not the child's. */
static int forks(void) {
  int wrong = 0;
  fill(10 << 20, 1000);
  for (int i = 0; i < 5; ++i) {
    int status;
    pid_t child = fork();
    if (!child)
      _exit(writeSome(3, 253));
    wrong += writeSome(5, 252) != 7;
    waitpid(child, &status, 0);
    for (size_t j = 0; j < number; ++j) /* as before */
      blocks[j][5] = (unsigned char)(j % 251);
    wrong += status != 7 << 8;
  }
  return printf("wrong: %d\n", wrong), wrong;
}

static int trim(size_t bytes, size_t step) {
  fill(100 << 20, bytes);
  for (size_t i = 0; i < number; ++i)
    if (i % step) {
      free(blocks[i]);
      blocks[i] = NULL;
    }
  malloc_trim(0);
  printf("%s\n", areRight(bytes, 0) ? "right" : "wrong");
  printMemory();
  return 0;
}

static int stack(void) {
  volatile char array[11 << 20];
  long sum = 0;
  for (size_t i = 0; i < sizeof array; ++i)
    array[i] = (char)(i % 7);
  for (size_t i = 0; i < sizeof array; ++i)
    sum += array[i];
  return printf("sum %ld\n", sum), 0;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
  if (!strcmp(what, "forks"))
    return forks();
  if (!strcmp(what, "trim"))
    return trim(strtoul(words[2], NULL, 10), strtoul(words[3], NULL, 10));
  return stack();
}
