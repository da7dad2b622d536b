/* Calls mpg_first_touch and checks its effect: which thread paged in which part
 * (by each thread's count of page faults), and on which node it is (if there is
 * more than one). The expected result comes from the OpenMP loop itself or, in
 * a program without OpenMP, from the CPUs in turn.
 *
 *   touch KIND PAGES SKIP SCHED STEP CHUNK
 *
 * KIND normal, huge (2 MiB), huge64K, huge32M, or bss; PAGES of the array; the
 * array begins SKIP bytes after the start of a page; SCHED block or chunk; STEP
 * bytes per iteration. Prints the pages of each thread, the output of
 * mpg_where, and `right`, or with exit status 1 the first wrong page. */

#define _GNU_SOURCE
#include "touch.h"
#include <sched.h>
#include <sys/resource.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { maxThreads = 64, maxPages = 1 << 16, bssBytes = 64 << 20 };

static char bss[bssBytes] __attribute__((aligned(2 << 20)));
static char *array;
static size_t bytes, step, pageBytes, pageCount;
static uintptr_t firstPage;
static unsigned char owner[maxPages];
static int nodeOfThread[maxThreads], knowsNode[maxThreads];
static long faults[maxThreads];

static long myFaults(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

static int myNode(void) {
  unsigned cpu = 0, node = 0;
  syscall(SYS_getcpu, &cpu, &node, NULL);
  return (int)node;
}

/* Iteration i belongs to the thread: so do the pages whose middle is in it. */
static void own(size_t i, int thread) {
  uintptr_t start = (uintptr_t)array + i * step, end = start + step;
  uintptr_t middle = firstPage + pageBytes / 2;
  size_t page = 0;
  if (!knowsNode[thread]) {
    nodeOfThread[thread] = myNode();
    knowsNode[thread] = 1;
  }
  if (start > middle)
    page = (start - middle + pageBytes - 1) / pageBytes;
  for (; page < pageCount && middle + page * pageBytes < end; ++page)
    owner[page] = (unsigned char)thread;
}

#ifdef _OPENMP
static int threadCount(void) { return omp_get_max_threads(); }

static void countFaults(int sign) {
#pragma omp parallel
  faults[omp_get_thread_num()] += sign * myFaults();
}

static void queryLoop(int isChunk, size_t chunk) {
  size_t iterations = (bytes + step - 1) / step;
  if (isChunk) {
#pragma omp parallel for schedule(static, chunk)
    for (size_t i = 0; i < iterations; ++i)
      own(i, omp_get_thread_num());
  } else {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < iterations; ++i)
      own(i, omp_get_thread_num());
  }
}
#else
static int threadCount(void) {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  return CPU_COUNT(&cpus);
}

/* One thread does everything: only the sum can be known. */
static void countFaults(int sign) { faults[0] += sign * myFaults(); }

static void queryLoop(int isChunk, size_t chunk) {
  size_t iterations = (bytes + step - 1) / step;
  int threads = threadCount(), thread = 0;
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all))
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    size_t share = iterations / threads, more = iterations % threads;
    for (size_t i = 0, block = 0, left = share + (more > 0); i < iterations;
         ++i, --left) {
      if (left == 0)
        left = share + (++block < more);
      if ((int)(isChunk ? i / chunk % threads : block) == thread)
        own(i, thread);
    }
    ++thread;
  }
  sched_setaffinity(0, sizeof all, &all);
}
#endif

static size_t sizeOfPages(const char *kind) {
  if (strcmp(kind, "normal") == 0)
    return (size_t)getpagesize();
  if (strcmp(kind, "huge64K") == 0)
    return 64 << 10;
  return strcmp(kind, "huge32M") == 0 ? 32 << 20 : 2 << 20;
}

static char *makeMemory(const char *kind, size_t wanted) {
  if (strcmp(kind, "bss") == 0)
    return wanted <= bssBytes ? bss : NULL;
  int huge = strncmp(kind, "huge", 4) == 0;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (huge)
    flags |= MAP_HUGETLB | __builtin_ctzl(pageBytes) << 26;
  char *memory = mmap(NULL, wanted, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  if (!huge)
    madvise(memory, wanted, MADV_NOHUGEPAGE);
  return memory;
}

/* Linux 6.1 does not count large pages that come by an advice. */
static int faultsAreCounted(void) {
  enum { populateWrite = 23 };
  size_t baseBytes = (size_t)getpagesize();
  char *memory =
      makeMemory(pageBytes > baseBytes ? "huge" : "normal", pageBytes);
  long before = myFaults();
  if (!memory || madvise(memory, pageBytes, populateWrite))
    return 1;
  return myFaults() > before;
}

/* A few faults more are the thread's own: stacks, the OpenMP runtime. */
static int threadsAreRight(const char *kind) {
  enum { maxOther = 6 };
  long expected[maxThreads] = {0}, other = 0;
  for (size_t page = 0; page < pageCount; ++page)
    ++expected[owner[page]];
  int threads = threadCount(), good = 1;
  int isKnown = strcmp(kind, "bss") != 0 && faultsAreCounted();
  for (int thread = 0; thread < threads; ++thread)
    printf("thread %d: %ld pages on node %d\n", thread, expected[thread],
           nodeOfThread[thread]);
#ifndef _OPENMP
  expected[0] = (long)pageCount;
  threads = 1;
#endif
  if (!isKnown)
    puts("page faults are not counted");
  for (int thread = 0; isKnown && thread < threads; ++thread) {
    other = faults[thread] - expected[thread];
    if (other >= 0 && other <= maxOther)
      continue;
    printf("wrong: thread %d had %ld page faults for %ld pages\n", thread,
           faults[thread], expected[thread]);
    good = 0;
  }
  return good;
}

static int nodesAreRight(void) {
  for (size_t page = 0; page < pageCount; ++page) {
    uintptr_t at = firstPage + page * pageBytes;
    int node = nodeOfPage(at), wanted = nodeOfThread[owner[page]];
    if (node == wanted)
      continue;
    printf("wrong: page %zu lies on node %d, thread %d works on node %d\n",
           page, node, owner[page], wanted);
    return 0;
  }
  return 1;
}

static void printWhere(void) {
  size_t out[maxThreads];
  if (mpg_where(array, bytes, out, maxThreads) == (size_t)-1)
    puts("wrong: mpg_where");
  for (int node = 0; node < maxThreads; ++node)
    if (out[node])
      printf("node %d: %zu KiB\n", node, out[node] >> 10);
}

int main(int argc, char **argv) {
  if (argc != 7)
    return 2;
  const char *kind = argv[1];
  size_t pages = strtoul(argv[2], NULL, 0), skip = strtoul(argv[3], NULL, 0);
  int isChunk = strcmp(argv[4], "chunk") == 0;
  size_t chunk = strtoul(argv[6], NULL, 0);
  step = strtoul(argv[5], NULL, 0);
  pageBytes = sizeOfPages(kind);
  char *memory = makeMemory(kind, pages * pageBytes);
  if (!memory || pages > maxPages)
    return printf("no memory\n"), 2;
  array = memory + skip;
  bytes = pages * pageBytes - skip;
  /* The pages whose middle is in the array. */
  firstPage = ((uintptr_t)array + pageBytes / 2 - 1) / pageBytes * pageBytes;
  pageCount = ((uintptr_t)memory + pages * pageBytes - firstPage) / pageBytes;
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof before, &before);
  countFaults(0);
  countFaults(-1);
  errno = 77;
  mpg_first_touch(array, bytes, (uint32_t)isChunk, step, chunk, 0);
  if (errno != 77)
    return printf("wrong: errno has changed\n"), 1;
  countFaults(1);
  sched_getaffinity(0, sizeof after, &after);
  if (!CPU_EQUAL(&before, &after))
    return printf("wrong: the CPUs that may be used have changed\n"), 1;
  queryLoop(isChunk, chunk);
  int isRight = threadsAreRight(kind);
  printWhere();
  if (!nodesAreRight() || !isRight)
    return 1;
  puts("right");
  return 0;
}
