/* Transparent huge pages after a fork: of the heap, .bss, the process stack and
 * that of a thread. fork-collapse again   the child ends; the parent frees and
 * allocates until its pages are large again fork-collapse stays   the same, but
 * no longer than 100,000 times fork-collapse split   ends when they are split
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { blocks = 32 << 10, bytes = 1000, heapMib = 32 };
static char *block[blocks];
static char bss[8 << 20], *stack, *threadStack;
static volatile char
    onlyRead[8 << 20]; /* pages of zeros, in front of the heap */
static volatile int threadIsReady;

/* Of the mapping that holds the address, or of all. */
static long largeMib(const void *inside) {
  long sum = 0, kib, start, end;
  int counts = 0;
  char line[300];
  FILE *file = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      counts = !inside || (start <= (long)inside && (long)inside < end);
    else if (counts && sscanf(line, "AnonHugePages: %ld", &kib) == 1)
      sum += kib;
  fclose(file);
  return sum >> 10;
}

static int areLarge(void) {
  return largeMib(NULL) >= heapMib - heapMib / 8 &&
         largeMib(bss + sizeof bss / 2) >= 4 && largeMib(stack) >= 2 &&
         largeMib(threadStack) >= 2;
}

static void touch(char *at, long size, char value) {
  for (long i = 0; i < size; i += 4096)
    at[i] = value;
}

static void writeAll(char value) {
  for (int i = 0; i < blocks; ++i)
    block[i][5] = value;
  touch(bss, sizeof bss, value);
  touch(stack, 5 << 20, value);
  touch(threadStack, 12 << 20, value);
}

static void *runThread(void *unused) {
  char place[12 << 20];
  memset(place, 1, sizeof place);
  threadStack = place;
  threadIsReady = 1;
  for (;;)
    pause();
  return unused;
}

static void startThread(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16 << 20);
  pthread_create(&thread, &attributes, runThread, NULL);
  while (!threadIsReady)
    usleep(1000);
}

int main(int count, char **words) {
  const char *what = words[count - 1];
  int ends[2];
  char onStack[5 << 20];
  stack = onStack;
  startThread();
  touch(bss, sizeof bss, 1);
  for (long i = 0; i < (long)sizeof onlyRead; i += 4096)
    (void)onlyRead[i];
  touch(stack, sizeof onStack, 1);
  for (int i = 0; i < blocks; ++i)
    memset(block[i] = malloc(bytes), 1, bytes);
  printf("before: %s\n", areLarge() ? "large" : "not");
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
  printf("child is there: %s\n",
         largeMib(NULL) < heapMib / 2 ? "split" : "not");
  fflush(stdout);
  close(ends[1]);
  waitpid(child, NULL, 0);
  if (!strcmp(what, "split"))
    return 0;
  long max = strcmp(what, "stays") ? -1 : 100000;
  alarm(300);
  for (long i = 0; i != max; ++i) {
    int at = rand() % blocks;
    free(block[at]);
    memset(block[at] = malloc(bytes), 3, bytes);
    if (i % 10000 == 0 && areLarge())
      break;
  }
  puts(areLarge() ? "large again" : "stays split");
  return 0;
}
