/* Transparent huge pages after a fork: of the heap, .bss, the process stack and
 * that of a thread. fork-collapse again   the child ends; the parent frees and
 * allocates until its pages are large again fork-collapse stays   the same, but
 * no longer than 100,000 times fork-collapse held    as again, while another
 * child keeps memory in front of theirs fork-collapse split   ends when they
 * are split Many threads, and a child, have ended before. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { blocks = 32 << 10, bytes = 1000, heapMib = 32 };
static char *block[blocks];
static char bss[8 << 20], *stack, *threadStack;
static volatile char
    onlyRead[8 << 20]; /* pages of zeros, in front of the heap */
static char unchanged[8 << 20];
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

static void *waitForAll(void *barrier) {
  pthread_barrier_wait(barrier);
  return (void *)((long)&barrier & -4096);
}

/* A page stays where each stack was: no later stack has their addresses. */
static void startMany(void) {
  enum { many = 150 };
  pthread_t threads[many];
  void *places[many];
  pthread_attr_t attributes;
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, many);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16 << 20);
  for (int i = 0; i < many; ++i)
    if (pthread_create(&threads[i], &attributes, waitForAll, &barrier))
      exit(8);
  for (int i = 0; i < many; ++i)
    pthread_join(threads[i], &places[i]);
  for (int i = 0; i < many; ++i)
    mmap(places[i], 4096, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void startThread(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 22 << 20);
  pthread_create(&thread, &attributes, runThread, NULL);
  while (!threadIsReady)
    usleep(1000);
}

/* Lives until the descriptor is closed. */
static pid_t startChild(int *keepOpen) {
  int ends[2];
  char end;
  if (pipe(ends))
    exit(9);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    _exit(read(ends[0], &end, 1) != 0);
  }
  close(ends[0]);
  *keepOpen = ends[1];
  return child;
}

static void endChild(pid_t child, int descriptor) {
  close(descriptor);
  waitpid(child, NULL, 0);
}

int main(int count, char **words) {
  const char *what = words[count - 1];
  int isOpen, isHeld;
  pid_t child, held = 0;
  char onStack[5 << 20];
  stack = onStack;
  startMany();
  child = startChild(&isOpen);
  endChild(child, isOpen);
  startThread();
  touch(unchanged, sizeof unchanged, 1);
  touch(bss, sizeof bss, 1);
  for (long i = 0; i < (long)sizeof onlyRead; i += 4096)
    (void)onlyRead[i];
  touch(stack, sizeof onStack, 1);
  for (int i = 0; i < blocks; ++i)
    memset(block[i] = malloc(bytes), 1, bytes);
  printf("before: %s\n", areLarge() ? "large" : "not");
  fflush(stdout);
  if (!strcmp(what, "held"))
    held = startChild(&isHeld);
  child = startChild(&isOpen);
  writeAll(2);
  printf("child is there: %s\n",
         largeMib(NULL) < heapMib / 2 ? "split" : "not");
  fflush(stdout);
  endChild(child, isOpen);
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
  if (held)
    endChild(held, isHeld);
  return 0;
}
