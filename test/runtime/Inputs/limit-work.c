// Work under a limit: limit-work WORK [RESOURCE BYTES], the limit is set by the
// program itself then, after its start. Prints what came out and ends with 0 if
// all memory could be had. WORK: blocks, one, threads, ended, static, deep, fork,
// files.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { mib = 1 << 20, staticBytes = 16 * mib };
static char area[staticBytes];

static uint64_t fill(char *memory, size_t bytes, char value) {
  uint64_t sum = 0;
  memset(memory, value, bytes);
  for (size_t i = 0; i < bytes; i += 4096)
    sum += (unsigned char)memory[i];
  return sum;
}

static uint64_t useBlocks(size_t count, size_t bytes) {
  uint64_t sum = 0;
  char **all = calloc(count, sizeof *all);
  for (size_t i = 0; i < count; ++i) {
    if (!(all[i] = malloc(bytes)))
      exit(3);
    sum += fill(all[i], bytes, (char)i);
  }
  for (size_t i = 0; i < count; ++i)
    free(all[i]);
  return sum;
}

__attribute__((noinline)) static uint64_t goDown(long bytes) {
  volatile char frame[16 << 10];
  memset((void *)frame, 3, sizeof frame);
  return bytes <= 0 ? frame[9] : goDown(bytes - (long)sizeof frame) + frame[9];
}

static void *thread(void *stackBytes) {
  static char blocks[] = "x";
  return (void *)(goDown((long)stackBytes / 2) + useBlocks(16, 20000) +
                  (uint64_t)blocks[0]);
}

static uint64_t useThreads(void) {
  enum { count = 12, stackBytes = 4 * mib };
  pthread_t all[count];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i)
    if (pthread_create(&all[i], &attributes, thread, (void *)stackBytes))
      exit(4);
  for (int i = 0; i < count; ++i) {
    void *part;
    pthread_join(all[i], &part);
    sum += (uint64_t)part;
  }
  return sum;
}

static void *hold(void *barrier) {
  char *block = malloc(6 * mib);
  if (!block)
    exit(3);
  uint64_t sum = fill(block, 6 * mib, 4);
  pthread_barrier_wait(barrier);
  free(block);
  return (void *)sum;
}

/// One block after threads that had some have ended, and errno as it was.
static uint64_t useEnded(void) {
  enum { count = 4 };
  pthread_t all[count];
  pthread_attr_t attributes;
  pthread_barrier_t barrier;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, mib);
  pthread_barrier_init(&barrier, 0, count);
  for (int i = 0; i < count; ++i)
    if (pthread_create(&all[i], &attributes, hold, &barrier))
      exit(4);
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    void *part;
    pthread_join(all[i], &part);
    sum += (uint64_t)part;
  }
  errno = 0;
  sum += useBlocks(1, 100 * mib);
  if (errno)
    exit(9);
  return sum;
}

/// Descriptors and files, and a mapping that is not malloc's.
static uint64_t useFiles(void) {
  int fds[8];
  for (int i = 0; i < 8; ++i)
    if ((fds[i] = open("/dev/null", O_WRONLY)) < 0)
      exit(5);
  char *map = mmap(0, 8 * mib, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    exit(6);
  return fill(map, 8 * mib, 5) + (uint64_t)write(fds[7], map, 100);
}

/// Children that see what their parent wrote.
static uint64_t forkSome(void) {
  uint64_t sum = 0;
  char *block = malloc(9 * mib);
  if (!block)
    exit(3);
  fill(block, 9 * mib, 3);
  for (int i = 0; i < 4; ++i) {
    int status = 0;
    pid_t child = fork();
    if (child < 0)
      exit(8);
    if (child == 0)
      _exit(block[9 * mib - 1] + i);
    waitpid(child, &status, 0);
    sum += (uint64_t)status;
  }
  return sum;
}

int main(int argc, char **argv) {
  if (argc > 3) {
    struct rlimit limit;
    int resource = atoi(argv[2]);
    getrlimit(resource, &limit);
    limit.rlim_cur = strtoull(argv[3], 0, 10);
    if (setrlimit(resource, &limit))
      return 7;
  }
  const char *work = argv[1];
  uint64_t sum = 0;
  if (!strcmp(work, "blocks"))
    sum = useBlocks(1500, 30000);
  else if (!strcmp(work, "one"))
    sum = useBlocks(1, 60 * mib);
  else if (!strcmp(work, "threads"))
    sum = useThreads();
  else if (!strcmp(work, "ended"))
    sum = useEnded();
  else if (!strcmp(work, "static"))
    sum = fill(area, staticBytes, 7);
  else if (!strcmp(work, "deep"))
    sum = goDown(12 * mib);
  else if (!strcmp(work, "fork"))
    sum = forkSome();
  else if (!strcmp(work, "files"))
    sum = useFiles();
  printf("%s %llu\n", work, (unsigned long long)sum);
  return 0;
}
