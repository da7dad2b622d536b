/* mpg_first_touch on memory with contents, on memory that another thread writes
 * meanwhile, and on memory that it must not touch. Prints `right`, or what is
 * wrong, with status 1. The argument is the name of a file to create. */

#define _GNU_SOURCE
#include "touch.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

enum { bytes = 16 << 20, min = 4 << 20 };

static int wrong(const char *what) {
  printf("wrong: %s\n", what);
  exit(1);
}

static char *map(int protection) {
  char *memory =
      mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    wrong("no memory");
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

static void touch(void *start, size_t size) {
  mpg_first_touch(start, size, 0, 8, 0, 0);
  mpg_first_touch(start, size, 1, 8, 1000, 3);
}

/* Random bytes in every third page. */
static void keepsContents(void) {
  unsigned char *memory = (unsigned char *)map(PROT_READ | PROT_WRITE);
  for (size_t page = 0; page < bytes / 4096; page += 3)
    for (size_t i = 0; i < 4096; ++i)
      memory[page * 4096 + i] = (unsigned char)(page * 7 + i * 13 + 1);
  touch(memory, bytes);
  if (presentPages((char *)memory, bytes) != bytes / (size_t)getpagesize())
    wrong("pages are missing");
  for (size_t i = 0; i < bytes; ++i) {
    size_t page = i / 4096;
    unsigned char value = (unsigned char)(page * 7 + i % 4096 * 13 + 1);
    if (memory[i] != (page % 3 ? 0 : value))
      wrong("contents have changed");
  }
}

static unsigned char *volatile shared;
static volatile int stop;

static void *count(void *argument) {
  unsigned char *byte = argument;
  uintptr_t rounds = 0;
  for (; !stop; ++rounds)
    *(volatile unsigned char *)byte = (unsigned char)(*byte + 1);
  return (void *)rounds;
}

/* A writer that takes no care loses a count if somebody writes back a value
 * that was read before. */
static void keepsForeignWrites(void) {
  pthread_t thread;
  void *rounds;
  shared = (unsigned char *)map(PROT_READ | PROT_WRITE);
  if (pthread_create(&thread, NULL, count, shared))
    wrong("no thread");
  for (int i = 0; i < 25; ++i)
    touch(shared, min);
  stop = 1;
  pthread_join(thread, &rounds);
  if (*shared != (unsigned char)(uintptr_t)rounds)
    wrong("a write of another thread was lost");
}

static void staysAway(const char *what, char *start, size_t size) {
  size_t before = presentPages(start, size);
  touch(start, size);
  if (presentPages(start, size) != before)
    wrong(what);
}

static void leavesFilesAlone(const char *path) {
  struct stat status;
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, bytes))
    wrong("no file");
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    wrong("the file cannot be mapped");
  staysAway("a file was touched", memory, bytes);
  fsync(file);
  if (fstat(file, &status) || status.st_blocks * 512 > 65536)
    wrong("a file has grown on disk");
}

static void ignoresNonsense(void) {
  char *memory = map(PROT_READ | PROT_WRITE);
  mpg_first_touch(NULL, bytes, 0, 8, 0, 0);
  mpg_first_touch(memory, 0, 0, 8, 0, 0);
  mpg_first_touch(memory, bytes, 0, 0, 0, 0);
  mpg_first_touch(memory, bytes, 1, 8, 0, 0);
  mpg_first_touch(memory, bytes, 2, 8, 8, 0);
  mpg_first_touch(memory, bytes, UINT32_MAX, 8, 8, 0);
  mpg_first_touch(memory, bytes, 0, 8, 0, UINT32_MAX);
  mpg_first_touch(memory, UINT64_MAX, 0, 8, 0, 0);
  mpg_first_touch(memory, UINT64_MAX / 2, 0, UINT64_MAX, 0, 0);
  if (presentPages(memory, bytes))
    wrong("an argument that means nothing did something");
  /* Unusual, but right. */
  size_t pages = min / (size_t)getpagesize();
  mpg_first_touch(memory + 4097, min, 0, UINT64_MAX, UINT64_MAX, 0);
  if (presentPages(memory, bytes) != pages)
    wrong("one iteration");
  mpg_first_touch(memory + 8 * 65536 + min + 1, min, 1, 3, UINT64_MAX, 5);
  if (presentPages(memory, bytes) != 2 * pages)
    wrong("one chunk");
}

/* Exactly the least size, and a byte less. */
static void leavesSmallArraysAlone(void) {
  char *memory = map(PROT_READ | PROT_WRITE);
  staysAway("a small array", memory, min - 1);
  touch(memory, min);
  if (presentPages(memory, bytes) != min / (size_t)getpagesize())
    wrong("an array of the least size");
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  errno = 77;
  keepsContents();
  keepsForeignWrites();
  staysAway("read-only memory", map(PROT_READ), bytes);
  staysAway("memory without access", map(PROT_NONE), bytes);
  char *memory = map(PROT_READ | PROT_WRITE);
  munmap(memory + bytes / 4, 65536);
  staysAway("memory with a hole", memory, bytes);
  munmap(memory, bytes);
  touch(memory, bytes);
  memory = map(PROT_READ | PROT_WRITE);
  mprotect(memory + bytes - 65536, 65536, PROT_READ);
  staysAway("partly read-only memory", memory, bytes);
  leavesFilesAlone(argv[1]);
  ignoresNonsense();
  leavesSmallArraysAlone();
  puts("right");
  return 0;
}
