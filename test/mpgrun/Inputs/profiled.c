/* Large objects of every kind: profiled [watched] [kill]. Ends with status 3,
 * or kills itself; watched: after mpgrun has looked at it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MiB = 1 << 20 };

double grid[8 * MiB / 8]; /* of which half is touched */
int table[4 * MiB / 4] = {1};
char small[MiB - 64];

__attribute__((noinline)) static char *makeMatrix(size_t bytes) {
  char *block = malloc(bytes);
  memset(block, 1, bytes);
  return block;
}

__attribute__((noinline)) static char *makeSparse(size_t bytes) {
  char *block = calloc(bytes, 1);
  block[5] = 1;
  return block;
}

/* Many times, never two at once. */
__attribute__((noinline)) static void useScratch(void) {
  char *block = malloc(12 * MiB);
  memset(block, 2, 6 * MiB);
  __asm__ volatile("" ::"r"(block) : "memory");
  free(block);
}

__attribute__((noinline)) static char *growVector(void) {
  char *block = malloc(MiB);
  for (size_t i = 2; i <= 9; ++i)
    block = realloc(block, i * MiB);
  return block;
}

static void *fillInThread(void *block) {
  memset(block, 3, 16 * MiB);
  return NULL;
}

__attribute__((noinline)) static char *makeForThread(void) {
  char *block = malloc(16 * MiB);
  pthread_t thread;
  pthread_create(&thread, NULL, fillInThread, block);
  pthread_join(thread, NULL);
  return block;
}

/* How often the parent has waited; 0: not known. */
static long waitsOfParent(void) {
  char line[128];
  long count = 0;
  snprintf(line, sizeof line, "/proc/%d/status", (int)getppid());
  FILE *status = fopen(line, "r");
  while (status && fgets(line, sizeof line, status))
    sscanf(line, "voluntary_ctxt_switches: %ld", &count);
  if (status)
    fclose(status);
  return count;
}

/* mpgrun waits for a signal or the time of its next look: when it has done so
 * three times it has looked twice at least. */
static void waitForLook(void) {
  long before = waitsOfParent();
  while (before && waitsOfParent() < before + 3)
    usleep(1000);
}

int main(int argc, char **argv) {
  memset(grid, 1, sizeof grid / 2);
  memset(small, 1, sizeof small);
  char *kept[4] = {makeMatrix(32 * MiB), makeSparse(20 * MiB), growVector(),
                   makeForThread()};
  for (int i = 0; i < 4; ++i)
    useScratch();
  char *mapping = mmap(NULL, 5 * MiB, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(mapping, 1, MiB);
  /* A child's blocks are not the program's. */
  pid_t child = fork();
  if (child == 0) {
    makeSparse(48 * MiB); /* little work, whatever the machine does */
    _exit(0);
  }
  waitpid(child, NULL, 0);
  printf("sum %d\n", kept[0][9] + kept[1][5] + kept[3][7] + table[0]);
  fflush(stdout);
  if (argc > 1 && !strcmp(argv[1], "watched")) {
    /* Freed before the end; another user may not be able to create it. */
    FILE *file = fopen("shared.tmp", "w+");
    void *shared = MAP_FAILED;
    if (file && ftruncate(fileno(file), 3 * MiB) == 0)
      shared = mmap(NULL, 3 * MiB, PROT_READ | PROT_WRITE, MAP_SHARED,
                    fileno(file), 0);
    if (shared != MAP_FAILED)
      memset(shared, 1, 3 * MiB);
    waitForLook();
    if (shared != MAP_FAILED)
      munmap(shared, 3 * MiB);
  }
  if (!strcmp(argv[argc - 1], "kill"))
    kill(getpid(), SIGKILL);
  return 3;
}
