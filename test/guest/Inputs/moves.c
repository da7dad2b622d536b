/* Memory that one thread has initialised and four work on: where each thread's
 * part is before and after mpg_move, according to direct system calls.
 *
 *   moves here MIB      each thread moves its own part
 *   moves later MIB     one starts moving each part to its thread's node
 *   moves node MIB      one thread moves all of it to each node in turn
 *   moves next MIB      MPG_NEXT_TOUCH with the kernel's balancing on, then
 *                       threads write until 95 % are local
 *   moves plain MIB     the same without a call of libmpg
 *   moves pinned MIB    a page in the middle is in a pipe
 *   moves off MIB       MPG_NEXT_TOUCH, and the balancing as it is
 *   moves full MIB      to a node that has no room for it
 *
 * Each ends with `right`, or `wrong: ` and what, with status 1. */

#define _GNU_SOURCE
#include "../../runtime/Inputs/touch.h"
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <sys/uio.h>
#include <time.h>

static size_t bytes;
static unsigned char *a;

static int wrong(const char *what) {
  printf("wrong: %s (errno %d)\n", what, errno);
  exit(1);
}

/* Whole large pages for each thread. */
static unsigned char *getPart(int thread) { return a + bytes / 4 * thread; }

static uint64_t valueAt(size_t i) { return i * 0x9e3779b97f4a7c15; }

static void fill(void) {
  uint64_t *words = (uint64_t *)a;
  for (size_t i = 0; i < bytes / 8; ++i)
    words[i] = valueAt(i);
}

static void check(void) {
  const uint64_t *words = (const uint64_t *)a;
  for (size_t i = 0; i < bytes / 8; ++i)
    if (words[i] != valueAt(i))
      wrong("the contents");
}

/* Pages of [from, from + size) on `node`. */
static size_t pagesOn(unsigned char *from, size_t size, int node) {
  enum { batch = 256 };
  size_t page = (size_t)getpagesize(), count = 0;
  for (size_t at = 0; at < size; at += batch * page) {
    void *pages[batch];
    int nodes[batch];
    for (size_t i = 0; i < batch; ++i)
      pages[i] = from + at + i * page;
    if (syscall(SYS_move_pages, 0, batch, pages, NULL, nodes, 0))
      wrong("move_pages");
    for (size_t i = 0; i < batch; ++i)
      count += nodes[i] == node;
  }
  return count;
}

/* Percent of the pages that lie on the node of their thread, which is its
 * number: threads are bound to CPUs 0 to 3. */
static double local(void) {
  size_t count = 0;
  for (int thread = 0; thread < 4; ++thread)
    count += pagesOn(getPart(thread), bytes / 4, thread);
  return 100.0 * (double)count * (double)getpagesize() / (double)bytes;
}

static void tell(const char *what, int error, const struct mpg_moved *m) {
  printf("%s: %d, MiB moved %lu there %lu left %lu later %lu absent %lu,"
         " reason %d\n",
         what, error, m->movedBytes >> 20, m->thereBytes >> 20,
         m->leftBytes >> 20, m->laterBytes >> 20, m->absentBytes >> 20,
         m->reason);
}

static void here(void) {
  struct mpg_moved moved[4];
  int error[4];
#pragma omp parallel
  {
    int thread = omp_get_thread_num();
    error[thread] =
        mpg_move(getPart(thread), bytes / 4, MPG_NODE_HERE, &moved[thread]);
  }
  for (int thread = 0; thread < 4; ++thread)
    tell("here", error[thread], &moved[thread]);
}

/* All parts are on their way at once, and are read meanwhile. */
static void later(void) {
  int64_t moves[4];
  for (int thread = 0; thread < 4; ++thread)
    moves[thread] = mpg_move_start(getPart(thread), bytes / 4, thread);
  check();
  for (int thread = 0; thread < 4; ++thread) {
    struct mpg_moved moved;
    tell("later", mpg_move_wait(moves[thread], &moved), &moved);
  }
}

static void toEach(void) {
  for (int node = 3; node >= 0; --node) {
    struct mpg_moved moved;
    tell("node", mpg_move(a, bytes, node, &moved), &moved);
    if (pagesOn(a, bytes, node) * (size_t)getpagesize() != bytes)
      wrong("not all of it is there");
  }
  /* A byte in the middle of a large page takes all of that along. The first 2
   * MiB of an array can be on base pages with MPG_MODE=thp. */
  struct mpg_moved moved;
  size_t large = 2 << 20;
  if (mpg_move(a + large + large / 2, 1, 2, &moved) || moved.movedBytes != 1)
    wrong("one byte");
  printf("with one byte: %zu KiB\n",
         pagesOn(a + large, large, 2) * (size_t)getpagesize() >> 10);
}

/* Pages that the balancing watches are not told to be anywhere: none are new
 * after it is off, and the others end by a touch. */
static void balance(const char *word) {
  FILE *file = fopen("/proc/sys/kernel/numa_balancing", "w");
  if (!file || fputs(word, file) < 0 || fclose(file))
    wrong("the balancing cannot be switched");
}

static void touch(unsigned char *from, size_t size) {
  for (size_t at = 0; at < size; at += (size_t)getpagesize())
    ((volatile unsigned char *)from)[at] = from[at];
}

static double localNow(void) {
  balance("0");
#pragma omp parallel
  touch(getPart(omp_get_thread_num()), bytes / 4);
  return local();
}

/* Like a program that ignores nodes. */
static void work(void) {
  for (time_t start = time(NULL); time(NULL) - start < 400;) {
    balance("1");
#pragma omp parallel
    for (int round = 0; round < 200; ++round)
      touch(getPart(omp_get_thread_num()), bytes / 4);
    if (localNow() >= 95)
      return;
  }
}

static void pinned(void) {
  struct mpg_moved moved;
  int ends[2];
  struct iovec middle = {a + bytes / 2, 16};
  if (pipe(ends) || vmsplice(ends[1], &middle, 1, 0) != 16)
    wrong("vmsplice");
  int error = mpg_move(a, bytes, 1, &moved);
  printf("pinned: %d, left %lu KiB, the rest %s, reason %d\n", error,
         moved.leftBytes >> 10,
         moved.movedBytes == bytes - moved.leftBytes ? "moved" : "not",
         moved.reason);
  a[bytes / 2] ^= 0xff; /* what the pipe has is the same memory still */
  unsigned char seen;
  if (read(ends[0], &seen, 1) != 1 || seen != a[bytes / 2])
    wrong("the pipe has another page");
  a[bytes / 2] ^= 0xff;
}

int main(int argc, char **argv) {
  const char *what = argc == 3 ? argv[1] : "";
  bytes = strtoul(argc == 3 ? argv[2] : "8", NULL, 0) << 20;
  void *memory;
  if (posix_memalign(&memory, 2 << 20, bytes))
    wrong("no memory");
  a = memory;
#pragma omp parallel
  if (sched_getcpu() != omp_get_thread_num())
    wrong("threads are not bound");
  int balances = !strcmp(what, "next") || !strcmp(what, "plain");
  fill();
  struct mpg_moved moved = {0};
  printf("before: %.0f %% local\n", local());
  if (balances)
    balance("1");
  if (!strcmp(what, "here"))
    here();
  else if (!strcmp(what, "later"))
    later();
  else if (!strcmp(what, "node"))
    toEach();
  else if (!strcmp(what, "pinned"))
    pinned();
  else if (!strcmp(what, "full"))
    tell("full", mpg_move(a, bytes, 3, &moved), &moved);
  else if (!strcmp(what, "off") || !strcmp(what, "next"))
    tell("next", mpg_move(a, bytes, MPG_NEXT_TOUCH, &moved), &moved);
  if (moved.laterBytes || !strcmp(what, "plain"))
    work();
  if (balances)
    balance("0");
  printf("after: %.0f %% local\n", local());
  check();
  puts("right");
  return 0;
}
