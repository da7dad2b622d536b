/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Takes and frees memory as its arguments say, in this order, and prints what
 * became of it, for expect_facts.py:
 *
 *   take:SIZE[:COUNT]       COUNT blocks (1), not written to
 *   touch                   writes to each page of all blocks that are held
 *   free[:STEP]             frees all blocks, or each STEPth of them
 *   trim:SIZE               sets the threshold for giving memory back
 *   team:N:SIZE[:COUNT]     the same as take by N threads, one after the other;
 *                           they wait for the end of the program
 *   visit:N:SIZE            N threads that take and free a block; each ends
 *                           before the next begins
 *   enter                   enters the group of hugetlb_cgroup.py
 *   contend:N:SIZE:ROUNDS:ARENAS  N threads take and free a block at once,
 * until there are ARENAS arenas or ROUNDS are over facts:NAME prints
 * NAME.FACT=VALUE for what printFacts() lists
 *
 * A SIZE is a number with K, M or G after it and one to add or subtract after
 * that: 128M-1. The figures about memory come from the kernel. It uses no
 * memory of the heap itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <mpg/mpg.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma weak mpg_heap_stats

enum { maxBlocks = 4096, lineBytes = 512 };

struct Block {
  char *start;
  size_t bytes;
  int thread; /* 0 is the main thread */
  int isHeld;
};

/* The kernel's figures of one mapping. */
struct Mapping {
  uintptr_t start, end;
  int canWrite, asksForThp;
  long pageKib, sizeKib, presentHugeKib;
};

struct Counts {
  long hugetlb, thp, normal, pageKib; /* of blocks, held or not */
  long hugeKib, presentKib;           /* of the process */
};

static struct Block blocks[maxBlocks];
static int blockCount, refused, lastError, threads;

static void fail(const char *what) {
  dprintf(2, "var-facts: %s\n", what);
  exit(2);
}

static size_t parseSize(const char *text) {
  char *end;
  size_t bytes = strtoull(text, &end, 10);
  const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;
  if (unit) {
    bytes <<= 10 * (unit - units + 1);
    ++end;
  }
  return *end ? bytes + strtoll(end, NULL, 10) : bytes;
}

/* The output functions of the C library take memory of the heap. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  char line[lineBytes];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  if (write(1, line, length) != length)
    exit(2);
}

/* ---- steps ----------------------------------------------------------------
 */

static void take(size_t bytes, long count, int thread) {
  for (; count > 0; --count) {
    if (blockCount == maxBlocks)
      fail("too many blocks");
    errno = 0;
    char *start = malloc(bytes);
    if (start) {
      blocks[blockCount++] = (struct Block){start, bytes, thread, 1};
    } else {
      ++refused;
      lastError = errno;
    }
  }
}

static void touch(void) {
  for (struct Block *block = blocks; block < blocks + blockCount; ++block)
    for (size_t at = 0; block->isHeld && at < block->bytes; at += 4096)
      block->start[at] = 1;
}

static void release(int step) {
  for (int index = 0; index < blockCount; index += step)
    if (blocks[index].isHeld) {
      free(blocks[index].start);
      blocks[index].isHeld = 0;
    }
}

static void enter(void) {
  char path[4096], pid[32];
  const char *group = getenv("HUGETLB_GROUP");
  snprintf(path, sizeof path, "%s/cgroup.procs", group ? group : "");
  int file = open(path, O_WRONLY);
  int length = snprintf(pid, sizeof pid, "%d", getpid());
  if (write(file, pid, length) != length)
    fail("cannot enter the group");
  close(file);
}

struct Member {
  size_t bytes;
  long count;
  int thread, stays;
  sem_t done;
};

static void *runMember(void *argument) {
  struct Member *member = argument;
  if (member->stays) {
    take(member->bytes, member->count, member->thread);
    sem_post(&member->done);
    pause();
  }
  free(malloc(member->bytes));
  return NULL;
}

static void runMembers(int count, size_t bytes, long each, int stays) {
  for (int index = 0; index < count; ++index) {
    static struct Member members[64];
    struct Member *member = &members[++threads % 64];
    *member = (struct Member){bytes, each, threads, stays, {{0}}};
    sem_init(&member->done, 0, 0);
    pthread_t thread;
    if (pthread_create(&thread, NULL, runMember, member) != 0)
      fail("no thread");
    if (!stays)
      pthread_join(thread, NULL);
    else
      while (sem_wait(&member->done) != 0)
        ;
  }
}

/* -1: the heap is not libmpg's. */
static long arenas(void) {
  struct mpg_heap_stats stats = {0};
  stats.structBytes = sizeof(stats);
  if (!mpg_heap_stats || mpg_heap_stats(&stats) != 0)
    return -1;
  return (long)stats.arenas;
}

struct Contest {
  size_t bytes;
  long rounds, arenas;
  atomic_int isOver;
};

static void *contend(void *argument) {
  struct Contest *contest = argument;
  for (long round = 0; round < contest->rounds && !contest->isOver; ++round) {
    free(malloc(contest->bytes));
    if (round % 256 == 0 && arenas() >= contest->arenas)
      contest->isOver = 1;
  }
  return NULL;
}

static void runContest(int count, struct Contest *contest) {
  pthread_t team[64];
  for (int index = 0; index < count && index < 64; ++index)
    if (pthread_create(&team[index], NULL, contend, contest) != 0)
      fail("no thread");
  for (int index = 0; index < count && index < 64; ++index)
    pthread_join(team[index], NULL);
}

/* ---- facts ----------------------------------------------------------------
 */

static void countMapping(const struct Mapping *mapping, struct Counts *counts) {
  if (!mapping->canWrite)
    return;
  if (mapping->pageKib >= 2048) {
    counts->hugeKib += mapping->sizeKib;
    counts->presentKib += mapping->presentHugeKib;
  }
  for (int index = 0; index < blockCount; ++index) {
    /* Its neighbours may be on the same pages as its ends. */
    uintptr_t middle = (uintptr_t)blocks[index].start + blocks[index].bytes / 2;
    if (middle < mapping->start || middle >= mapping->end)
      continue;
    if (mapping->pageKib > counts->pageKib)
      counts->pageKib = mapping->pageKib;
    if (mapping->pageKib >= 2048)
      ++counts->hugetlb;
    else if (mapping->asksForThp)
      ++counts->thp;
    else
      ++counts->normal;
  }
}

static void readLine(const char *line, struct Mapping *mapping,
                     struct Counts *counts) {
  unsigned long start, end;
  char write;
  long kib;
  if (sscanf(line, "%lx-%lx %*c%c", &start, &end, &write) == 3)
    *mapping = (struct Mapping){start, end, write == 'w', 0, 0, 0, 0};
  else if (sscanf(line, "Size: %ld", &kib) == 1)
    mapping->sizeKib = kib;
  else if (sscanf(line, "KernelPageSize: %ld", &kib) == 1)
    mapping->pageKib = kib;
  else if (sscanf(line, "Private_Hugetlb: %ld", &kib) == 1 ||
           sscanf(line, "Shared_Hugetlb: %ld", &kib) == 1)
    mapping->presentHugeKib += kib;
  else if (strncmp(line, "VmFlags:", 8) == 0) { /* the last line of each */
    mapping->asksForThp = strstr(line, " hg") != NULL;
    countMapping(mapping, counts);
  }
}

static void readMappings(struct Counts *counts) {
  static char buffer[1 << 16];
  struct Mapping mapping = {0};
  char line[lineBytes];
  size_t length = 0;
  int fd = open("/proc/self/smaps", O_RDONLY);
  if (fd < 0)
    fail("no smaps");
  for (ssize_t got; (got = read(fd, buffer, sizeof(buffer))) > 0;)
    for (ssize_t at = 0; at < got; ++at) {
      if (buffer[at] != '\n') {
        if (length < lineBytes - 1)
          line[length++] = buffer[at];
        continue;
      }
      line[length] = '\0';
      length = 0;
      readLine(line, &mapping, counts);
    }
  close(fd);
}

/* Held blocks that begin in a page of one that was freed: the shift within the
 * page may be another one. */
static int reusedCount(void) {
  int count = 0;
  for (int held = 0; held < blockCount; ++held)
    for (int gone = 0; blocks[held].isHeld && gone < blockCount; ++gone)
      if (!blocks[gone].isHeld &&
          (uintptr_t)blocks[held].start >=
              ((uintptr_t)blocks[gone].start & ~4095ul) &&
          blocks[held].start < blocks[gone].start + blocks[gone].bytes) {
        ++count;
        break;
      }
  return count;
}

/* Blocks in a frame of 2 MiB in which a block of another thread begins. */
static int mixedCount(void) {
  int count = 0;
  for (int one = 0; one < blockCount; ++one)
    for (int other = 0; other < blockCount; ++other)
      if (blocks[one].thread != blocks[other].thread &&
          (uintptr_t)blocks[one].start >> 21 ==
              (uintptr_t)blocks[other].start >> 21) {
        ++count;
        break;
      }
  return count;
}

static void printFacts(const char *name) {
  struct Counts counts = {0};
  readMappings(&counts);
  struct mallinfo2 info = mallinfo2();
  int held = 0;
  for (int index = 0; index < blockCount; ++index)
    held += blocks[index].isHeld;
#define FACT(fact, value) say("%s." #fact "=%ld\n", name, (long)(value))
  FACT(held, held);
  FACT(refused, refused);
  FACT(error, lastError);        /* errno of the last that was refused */
  FACT(hugetlb, counts.hugetlb); /* blocks on such pages, held or not */
  FACT(thp, counts.thp);
  FACT(normal, counts.normal);
  FACT(gone, blockCount - counts.hugetlb - counts.thp - counts.normal);
  FACT(pageKib, counts.pageKib);       /* the largest page under a block */
  FACT(hugeMib, counts.hugeKib >> 10); /* mapped from the pool */
  FACT(presentMib, counts.presentKib >> 10);
  FACT(large, info.hblks);
  FACT(arenas, arenas());
  FACT(reused, reusedCount());
  FACT(mixed, mixedCount());
#undef FACT
  /* Sets of the L1 cache of A64FX, in which the held blocks begin: lines of
   * 256 bytes, ways of 16 KiB (HW:a64fx-l1d-way). */
  say("%s.sets=", name);
  for (int index = 0; index < blockCount; ++index)
    if (blocks[index].isHeld)
      say("%d,", (int)((uintptr_t)blocks[index].start / 256 % 64));
  say("\n");
}

int main(int count, char **arguments) {
  for (int index = 1; index < count; ++index) {
    char *field[6] = {"", "1", "1", "1", "1", "1"};
    int fields = 0;
    for (char *at = strtok(arguments[index], ":"); at && fields < 6;
         at = strtok(NULL, ":"))
      field[fields++] = at;
    const char *step = field[0];
    if (!strcmp(step, "take"))
      take(parseSize(field[1]), atol(field[2]), 0);
    else if (!strcmp(step, "touch"))
      touch();
    else if (!strcmp(step, "free"))
      release(atoi(field[1]));
    else if (!strcmp(step, "trim"))
      mallopt(M_TRIM_THRESHOLD, parseSize(field[1]));
    else if (!strcmp(step, "enter"))
      enter();
    else if (!strcmp(step, "team"))
      runMembers(atoi(field[1]), parseSize(field[2]), atol(field[3]), 1);
    else if (!strcmp(step, "visit"))
      runMembers(atoi(field[1]), parseSize(field[2]), 1, 0);
    else if (!strcmp(step, "contend"))
      runContest(atoi(field[1]),
                 &(struct Contest){parseSize(field[2]), atol(field[3]),
                                   atol(field[4]), 0});
    else if (!strcmp(step, "facts"))
      printFacts(field[1]);
    else
      fail("no such step");
  }
  return 0;
}
