/* The classic mistake, with mpg_first_touch in front of it: an array that is
 * initialised by one thread and used by all of a team. Says which share of the
 * pages that each thread uses is local to it, by the kernel's answer
 * (move_pages), and on which nodes each eighth of the array lies.
 *
 *   touch-share KIND MIB SCHED CHUNK [REPEAT]
 *
 * KIND normal (base pages), huge (2 MiB), heap (malloc), bss or shared (a
 * memory file); SCHED block, chunk, or none, for which mpg_first_touch is not
 * called; CHUNK in KiB. REPEAT: that many arrays. Also prints how many pages
 * there are before the initialisation. Built without OpenMP, one thread uses
 * all, and the local share is not printed. */

#define _GNU_SOURCE
#include "touch.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { batch = 512, bssBytes = 16 << 20 };

static char bss[bssBytes] __attribute__((aligned(2 << 20)));
static size_t pageBytes;

/* Nodes of base pages; -1 for one that is not there. */
static void queryNodes(void **pages, size_t count, int *nodes) {
  if (syscall(SYS_move_pages, 0, count, pages, NULL, nodes, 0)) {
    perror("wrong: move_pages");
    exit(1);
  }
}

static void nodesFrom(const char *start, size_t count, int *nodes) {
  void *pages[batch];
  for (size_t i = 0; i < count; ++i)
    pages[i] = (void *)(start + i * pageBytes);
  queryNodes(pages, count, nodes);
}

static size_t present(const char *array, size_t bytes) {
  size_t all = bytes / pageBytes, found = 0;
  for (size_t done = 0; done < all; done += batch) {
    size_t now = all - done < batch ? all - done : batch;
    int nodes[batch];
    nodesFrom(array + done * pageBytes, now, nodes);
    for (size_t i = 0; i < now; ++i)
      found += nodes[i] >= 0;
  }
  return found;
}

static char *makeArray(const char *kind, size_t bytes) {
  if (strcmp(kind, "bss") == 0)
    return bytes <= bssBytes ? bss : NULL;
  if (strcmp(kind, "heap") == 0)
    return malloc(bytes);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (strcmp(kind, "huge") == 0)
    flags |= MAP_HUGETLB | 21 << 26;
  if (strcmp(kind, "shared") == 0)
    flags = MAP_SHARED | MAP_ANONYMOUS;
  char *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (array == MAP_FAILED)
    return NULL;
  if (strcmp(kind, "normal") == 0)
    madvise(array, bytes, MADV_NOHUGEPAGE);
  return array;
}

static void printNodes(const char *array, size_t bytes) {
  int node;
  printf(", nodes");
  for (size_t part = 0; part < 8; ++part) {
    uintptr_t middle = (uintptr_t)array + (2 * part + 1) * (bytes / 16);
    nodesFrom((char *)(middle & -pageBytes), 1, &node);
    printf(" %d", node);
  }
}

#ifdef _OPENMP
/* How many of these pages lie where the calling thread runs. */
static long getLocal(void **pages, size_t count) {
  unsigned cpu, here;
  int nodes[batch];
  long local = 0;
  syscall(SYS_getcpu, &cpu, &here, NULL);
  queryNodes(pages, count, nodes);
  for (size_t i = 0; i < count; ++i)
    local += nodes[i] == (int)here;
  return local;
}

/* Each iteration of the loop works on one page. */
static void printShare(char *array, size_t bytes, const char *sched,
                       size_t chunkBytes) {
  long all = (long)(bytes / pageBytes), local = 0;
  int isChunk = strcmp(sched, "chunk") == 0;
  omp_set_schedule(omp_sched_static,
                   isChunk ? (int)(chunkBytes / pageBytes) : 0);
#pragma omp parallel reduction(+ : local)
  {
    void *mine[batch];
    size_t count = 0;
#pragma omp for schedule(runtime)
    for (long page = 0; page < all; ++page) {
      mine[count++] = array + (size_t)page * pageBytes;
      if (count == batch) {
        local += getLocal(mine, count);
        count = 0;
      }
    }
    local += getLocal(mine, count);
  }
  printf(", local %ld of %ld, %ld %%", local, all, local * 100 / all);
}
#else
static void printShare(char *array, size_t bytes, const char *sched,
                       size_t chunkBytes) {
  (void)array, (void)bytes, (void)sched, (void)chunkBytes;
}
#endif

static int use(const char *kind, size_t bytes, const char *sched,
               size_t chunkBytes) {
  char *array = makeArray(kind, bytes);
  if (!array)
    return puts("no memory"), 1;
  errno = 77;
  if (strcmp(sched, "none") != 0)
    mpg_first_touch(array, bytes, strcmp(sched, "chunk") == 0, 8,
                    chunkBytes / 8, 0);
  if (errno != 77)
    return puts("wrong: errno has changed"), 1;
  printf("%zu of %zu pages before",
         present((char *)((uintptr_t)array & -pageBytes), bytes),
         bytes / pageBytes);
  for (size_t i = 0; i < bytes; i += 64)
    if (array[i] != 0)
      return puts("\nwrong: not zero"), 1;
  memset(array, 1, bytes);
  printNodes(array, bytes);
  printShare((char *)((uintptr_t)array & -pageBytes), bytes, sched, chunkBytes);
  printf("\n");
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  size_t bytes = strtoul(argv[2], NULL, 0) << 20;
  size_t chunkBytes = strtoul(argv[4], NULL, 0) << 10;
  long repeat = argc > 5 ? strtol(argv[5], NULL, 0) : 1;
  pageBytes = (size_t)getpagesize();
  for (; repeat > 0; --repeat)
    if (use(argv[1], bytes, argv[3], chunkBytes))
      return 1;
  return 0;
}
