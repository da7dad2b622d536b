/* Three arrays of 8 MiB and two of .bss: used completely, one page in each 64
 * KiB, and not again after the start, until their accessed bits were cleared
 * four times, and once more: the end may be long after the fourth time. heats
 * SECONDS prints their addresses and runs that long. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { bytes = 8 << 20, denseBytes = 64 << 20, page = 4096 };
static volatile char sum;
char hot[bytes], idle[bytes];

__attribute__((noinline)) static char *makeDense(void) {
  return malloc(denseBytes);
}
__attribute__((noinline)) static char *makeSparse(void) {
  return malloc(bytes);
}
__attribute__((noinline)) static char *makeCold(void) { return malloc(bytes); }

static void use(const char *array, int size, int step) {
  for (int i = 0; i < size; i += step)
    sum += array[i];
}

/* Whether this mapping is untouched since the bits were cleared. */
static int wasCleared(const char *mapping) {
  char line[512];
  unsigned long start, end, kilobytes, found = 1;
  FILE *file = fopen("/proc/self/smaps", "r");
  int isIn = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      isIn = start <= (unsigned long)mapping && (unsigned long)mapping < end;
    else if (isIn && sscanf(line, "Referenced: %lu", &kilobytes) == 1)
      found = kilobytes;
  }
  if (file)
    fclose(file);
  return found == 0;
}

static void say(const char *name, const char *array, int size) {
  printf("%s %lu %lu\n", name, (unsigned long)array,
         (unsigned long)array + (unsigned long)size);
}

int main(int argc, char **argv) {
  char *dense = makeDense(), *sparse = makeSparse(), *cold = makeCold();
  memset(dense, 1, denseBytes);
  memset(sparse, 1, bytes);
  memset(cold, 1, bytes);
  memset(hot, 1, bytes);
  memset(idle, 1, bytes);
  /* Shared, so that it is in a separate mapping. */
  char *sign = mmap(NULL, page, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int times = 0, seconds = argc > 1 ? atoi(argv[1]) : 0;
  if (seconds) {
    say("dense", dense, denseBytes), say("sparse", sparse, bytes);
    say("cold", cold, bytes), say("idle", idle, bytes), say("hot", hot, bytes);
    fflush(stdout);
  }
  alarm(600); /* nothing clears them */
  for (time_t start = time(NULL);;) {
    *sign = 1;
    use(dense, denseBytes, page);
    use(hot, bytes, page);
    use(sparse, bytes, 16 * page);
    if (seconds ? time(NULL) >= start + seconds : times == 4)
      return 0;
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    times += wasCleared(sign);
  }
}
