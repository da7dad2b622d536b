/* Calls for single pages of 4 KiB in memory of every kind: .data, .bss, heap
 * and (`stack`) stack. Prints what they return and what the memory is like
 * afterwards, which has to be the same with and without large pages.
 * `threads`: while others write to the neighbours of these pages, of which no
 * write may be lost. `deaf`: beside a thread that no signal reaches. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define LARGE (2ul << 20)
#define FRAMES 52
#define BYTES ((FRAMES + 1) * LARGE)
#define DATA_FRAMES 7 /* of the file, so not many */

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif

char data[(DATA_FRAMES + 1) * LARGE] = {1};
char bss[BYTES];

static sigjmp_buf back;
static volatile int isTrying;
static void fault(int number) {
  if (!isTrying)
    _exit(128 + number);
  siglongjmp(back, number);
}

static const char *reads(volatile char *at) {
  isTrying = 1;
  int failed = sigsetjmp(back, 1);
  if (!failed)
    (void)*at;
  isTrying = 0;
  return failed ? "faults" : "reads";
}

static const char *writes(volatile char *at) {
  isTrying = 1;
  int failed = sigsetjmp(back, 1);
  if (!failed)
    *at = *at;
  isTrying = 0;
  return failed ? "faults" : "writes";
}

/* A frame full of numbers, and its page in the middle. */
static char *nextFrame(char **at) {
  char *frame = *at;
  *at += LARGE;
  for (uint64_t i = 0; i < LARGE / 8; ++i)
    ((volatile uint64_t *)frame)[i] = i * 0x9e3779b97f4a7c15;
  return frame + 5 * PAGE;
}

/* Pages of the frame around \p page: right, zero, wrong or gone. */
static void look(char *page) {
  char *frame = page - 5 * PAGE;
  size_t right = 0, zero = 0, other = 0, gone = 0, closed = 0;
  for (size_t i = 0; i < LARGE / PAGE; ++i) {
    char *at = frame + i * PAGE;
    unsigned char present;
    if (mincore(at, PAGE, &present)) {
      ++gone;
      continue;
    }
    if (strcmp(reads(at), "reads")) {
      ++closed;
      continue;
    }
    int isRight = 1, isZero = 1;
    for (size_t j = 0; j < PAGE / 8; ++j) {
      uint64_t word = ((volatile uint64_t *)at)[j];
      isRight &= word == (i * PAGE / 8 + j) * 0x9e3779b97f4a7c15;
      isZero &= word == 0;
    }
    ++*(isRight ? &right : isZero ? &zero : &other);
  }
  printf(
      " [%zu right, %zu zero, %zu other, %zu gone, %zu closed; page %s %s]\n",
      right, zero, other, gone, closed, reads(page), writes(page));
}

static void tell(const char *what, long result) {
  printf("%s: %s", what,
         result == -1 ? strerrorname_np(errno)
         : result     ? "value"
                      : "0");
}
#define SHOW(page, call) (errno = 0, tell(#call, (long)(call)), look(page))

static void rights(char *at) {
  char *p = nextFrame(&at);
  SHOW(p, mprotect(p, PAGE, PROT_READ));
  SHOW(p, mprotect(p, PAGE, PROT_READ | PROT_WRITE));
  p = nextFrame(&at);
  nextFrame(&at);
  SHOW(p, mprotect(p, PAGE, PROT_NONE));
  SHOW(p, mprotect(p, LARGE, PROT_READ)); /* across the border */
  p = nextFrame(&at);
  SHOW(p, mprotect(p - 5 * PAGE, LARGE, PROT_READ)); /* a whole frame */
  SHOW(p, mprotect(p, PAGE, PROT_READ | PROT_WRITE));
  p = nextFrame(&at);
  SHOW(p, mprotect(p - 5 * PAGE, LARGE, PROT_NONE));
  SHOW(p, mprotect(p, PAGE, PROT_READ | PROT_WRITE));
  SHOW(p, mprotect(p - 5 * PAGE, LARGE, PROT_READ | PROT_WRITE));
  p = nextFrame(&at);
  SHOW(p, mprotect(p + 1, PAGE, PROT_NONE));
  SHOW(p, mprotect(p, 1, PROT_READ));
  SHOW(p, mprotect(p, 0, PROT_NONE));
  SHOW(p, mprotect(p, PAGE, 0x10000));
  SHOW(p, pkey_mprotect(p + PAGE, PAGE, PROT_READ, -1));
}

static void mappings(char *at) {
  char *p = nextFrame(&at), path[] = "/tmp/page-callsXXXXXX";
  SHOW(p, munmap(p, PAGE));
  SHOW(p, munmap(p, PAGE));
  SHOW(p, mprotect(p - PAGE, 3 * PAGE, PROT_READ));
  SHOW(p, munmap(p + 1, PAGE));
  SHOW(p, munmap(p, 0));
  SHOW(p, mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == p);
  p = nextFrame(&at);
  SHOW(p, munmap(p - 5 * PAGE, LARGE));
  p = nextFrame(&at);
  SHOW(p, mmap(p, 3 * PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
  int file = mkstemp(path);
  unlink(path);
  if (ftruncate(file, PAGE))
    exit(1);
  p = nextFrame(&at);
  SHOW(p, mmap64(p, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                 0) == p);
  *p = 'x';
  if (pread(file, path, 1, 0) == 1)
    printf("in the file: %c\n", path[0]);
  p = nextFrame(&at);
  SHOW(p, mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, -1, 0));
  SHOW(p, mmap(p + 1, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0));
  SHOW(p, mmap(p, PAGE, PROT_READ,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  SHOW(p, mlock(p, PAGE));
  SHOW(p, munlock(p, PAGE));
  SHOW(p, msync(p, PAGE, MS_SYNC));
  close(file);
}

static void moves(char *at) {
  char *p = nextFrame(&at);
  char *other = mmap(0, 4 * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(other, 7, 4 * PAGE);
  SHOW(p, mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other);
  SHOW(p, memcmp(other + 8, p + PAGE, 8) != 0);
  p = nextFrame(&at);
  SHOW(p, mremap(p, 3 * PAGE, PAGE, 0) == p); /* shrinks */
  SHOW(p, mremap(p, PAGE, 2 * PAGE, 0) == p); /* grows into the hole */
  p = nextFrame(&at);
  SHOW(p, mremap(p, PAGE, 2 * PAGE, 0)); /* the next page is there */
  char *moved = mremap(p, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
  printf("moved: %d %d", moved != p, moved != MAP_FAILED);
  look(p);
  p = nextFrame(&at);
  SHOW(p,
       mremap(other + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p) == p);
  printf("%d\n", *p);
  SHOW(p, mremap(p + 1, PAGE, PAGE, MREMAP_MAYMOVE));
  SHOW(p, mremap(p + PAGE, PAGE, 0, MREMAP_MAYMOVE));
  p = nextFrame(&at);
  SHOW(p, mremap(p - 5 * PAGE, LARGE, LARGE / 2, 0) == p - 5 * PAGE);
  p = nextFrame(&at);
  char *whole =
      mmap(0, 2 * LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SHOW(p, mremap(p - 5 * PAGE, LARGE, 2 * LARGE, MREMAP_MAYMOVE | MREMAP_FIXED,
                 whole) == whole);
  look(whole + 5 * PAGE);
}

static void advices(char *at) {
  static const int hints[] = {MADV_NORMAL,   MADV_RANDOM,     MADV_SEQUENTIAL,
                              MADV_WILLNEED, MADV_DONTDUMP,   MADV_DODUMP,
                              MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_COLD,
                              MADV_PAGEOUT,  MADV_REMOVE,     12345};
  char *p;
  for (size_t i = 0; i < sizeof hints / sizeof *hints; ++i) {
    p = nextFrame(&at);
    printf("%d ", hints[i]);
    SHOW(p, madvise(p, PAGE, hints[i]));
    SHOW(p, madvise(p + 1, PAGE, hints[i]));
  }
  p = nextFrame(&at);
  SHOW(p, posix_madvise(p, PAGE, POSIX_MADV_SEQUENTIAL));
  SHOW(p, posix_madvise(p, PAGE, POSIX_MADV_DONTNEED));
  SHOW(p, madvise(p, 0, MADV_DONTNEED));
  SHOW(p, madvise(p + 1, PAGE, MADV_DONTNEED));
  SHOW(p, madvise(p, PAGE, MADV_DONTNEED));
  SHOW(p,
       madvise(p - 5 * PAGE, PAGE, MADV_DONTNEED)); /* begins with the frame */
  SHOW(p, madvise(p, 1, MADV_DONTNEED));
  char *q = nextFrame(&at);
  nextFrame(&at);
  SHOW(p, madvise(p, 2 * LARGE, MADV_DONTNEED));
  look(q);
  look(q + LARGE);
  p = nextFrame(&at);
  SHOW(p, madvise(p - 5 * PAGE, LARGE, MADV_DONTNEED));
  p = nextFrame(&at);
  memset(p, 0, PAGE); /* may be kept or not */
  SHOW(p, madvise(p, PAGE, MADV_FREE));
  p = nextFrame(&at);
  SHOW(p, munmap(p, PAGE));
  SHOW(p, madvise(p - PAGE, 3 * PAGE, MADV_DONTNEED));
  p = nextFrame(&at);
  SHOW(p, mprotect(p, PAGE, PROT_READ));
  SHOW(p, madvise(p, PAGE, MADV_DONTNEED));
  p = nextFrame(&at);
  SHOW(p, mprotect(p - 5 * PAGE, LARGE, PROT_READ));
  SHOW(p, madvise(p, PAGE, MADV_DONTNEED));
}

static void inChild(const char *what, char *page) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    printf("%s, child:", what);
    look(page);
    fflush(stdout);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  printf("%s: %d, parent:", what, status);
  look(page);
}

static void forks(char *at) {
  char *p = nextFrame(&at);
  SHOW(p, madvise(p, PAGE, MADV_DONTFORK));
  inChild("dontfork", p);
  SHOW(p, madvise(p, PAGE, MADV_DOFORK));
  inChild("dofork", p);
}

/* Not of .data: that is a file's without large pages. */
static void wipes(char *at) {
  char *p = nextFrame(&at);
  SHOW(p, madvise(p, 3 * PAGE, MADV_WIPEONFORK));
  inChild("wipe", p);
  SHOW(p, madvise(p, 3 * PAGE, MADV_KEEPONFORK));
  inChild("keep", p);
  p = nextFrame(&at);
  SHOW(p, madvise(p - 5 * PAGE, LARGE, MADV_WIPEONFORK));
  inChild("wipe all", p);
}

/*===-- threads ----------------------------------------------------------===*/

static volatile int isOver;

struct Writer {
  char *first;
  int frames;
  uint64_t rounds, lost;
};

/* Writes one word after the other, and looks whether it is still there. */
static void *writeWords(void *argument) {
  struct Writer *self = argument;
  while (!isOver) {
    ++self->rounds;
    for (int i = 0; i < self->frames; ++i) {
      volatile uint64_t *word = (volatile uint64_t *)(self->first + i * LARGE);
      self->lost += *word != self->rounds - 1;
      *word = self->rounds;
    }
  }
  return argument;
}

/* The kernel writes, too. */
static void *readPipe(void *argument) {
  struct Writer *self = argument;
  int ends[2];
  if (pipe(ends))
    exit(1);
  while (!isOver) {
    ++self->rounds;
    for (int i = 0; i < self->frames; ++i) {
      uint64_t *word = (uint64_t *)(self->first + i * LARGE);
      if (write(ends[1], &self->rounds, 8) != 8 || read(ends[0], word, 8) != 8)
        ++self->lost;
      self->lost += *(volatile uint64_t *)word != self->rounds;
    }
  }
  return argument;
}

static void *sleepLong(void *argument) {
  while (!isOver)
    usleep(1000);
  return argument;
}

static void withThreads(const char *name, char *at, int frames) {
  enum { count = 6 };
  static struct Writer writers[count];
  pthread_t threads[count + 2];
  isOver = 0;
  memset(at, 0, frames * LARGE);
  for (int i = 0; i < count; ++i) {
    writers[i] = (struct Writer){at + 64 * i + 2 * PAGE, frames, 0, 0};
    pthread_create(&threads[i], 0, i % 3 == 2 ? readPipe : writeWords,
                   &writers[i]);
  }
  for (int i = count; i < count + 2; ++i)
    pthread_create(&threads[i], 0, sleepLong, 0);
  uint64_t failed = 0, lost = 0;
  for (int i = 0; i < frames; ++i) {
    char *p = at + i * LARGE + 5 * PAGE;
    usleep(1000);
    switch (i % 4) {
    case 0:
      failed += mprotect(p, PAGE, PROT_READ) != 0;
      break;
    case 1:
      failed += munmap(p, PAGE) != 0;
      break;
    case 2:
      failed += mmap(p, PAGE, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p;
      break;
    case 3:
      failed += madvise(p, PAGE, MADV_DONTNEED) != 0 ||
                madvise(p, PAGE, MADV_DONTFORK) != 0;
      break;
    }
  }
  isOver = 1;
  for (int i = 0; i < count + 2; ++i)
    pthread_join(threads[i], 0);
  for (int i = 0; i < count; ++i)
    lost += writers[i].lost;
  printf("%s: %d calls failed, %d writes lost\n", name, (int)failed, (int)lost);
}

static char *aligned(char *at) {
  return (char *)(((uintptr_t)at + LARGE - 1) & ~(LARGE - 1));
}

/* A thread that no signal reaches: memory cannot be replaced beside it. */
static volatile int isDeaf;

static void *blockAll(void *argument) {
  uint64_t all = ~0ull;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all);
  isDeaf = 1;
  return sleepLong(argument);
}

static void besideDeaf(char *at) {
  pthread_t thread;
  pthread_create(&thread, 0, blockAll, 0);
  while (!isDeaf)
    usleep(1000);
  char *p = nextFrame(&at);
  SHOW(p, mprotect(p, PAGE, PROT_READ));
  SHOW(p, madvise(p, PAGE, MADV_DONTNEED));
  isOver = 1;
  pthread_join(thread, 0);
  SHOW(p, mprotect(p, PAGE, PROT_READ));
}

static void onStack(void) {
  char memory[8 * LARGE];
  printf("== stack\n");
  rights(aligned(memory));
}

int main(int count, char **arguments) {
  static char *const names[] = {"data", "bss", "medium", "large"};
  static void (*const kinds[])(char *) = {rights,   forks, wipes,
                                          mappings, moves, advices};
  static const int firstFrame[] = {0, 6, 7, 9, 16, 25};
  const char *what = count > 1 ? arguments[1] : "calls";
  char *memory[] = {data, bss, malloc(BYTES), malloc(3 * BYTES)};
  struct sigaction action = {.sa_handler = fault};
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGBUS, &action, 0);
  if (!strcmp(what, "deaf"))
    besideDeaf(aligned(bss));
  if (!strcmp(what, "stack"))
    onStack();
  for (int i = 0; i < 4; ++i) {
    char *at = aligned(memory[i]);
    if (!strcmp(what, "threads"))
      withThreads(names[i], at, i == 0 ? DATA_FRAMES : FRAMES);
    if (strcmp(what, "calls"))
      continue;
    printf("== %s\n", names[i]);
    for (int kind = 0; kind < (i == 0 ? 2 : 6); ++kind)
      kinds[kind](at + firstFrame[kind] * LARGE);
    fflush(stdout);
  }
  return 0;
}
