/* The functions declared in placed.h. Nodes come from move_pages, page sizes
 * from smaps, and each thread's part from an OpenMP loop with the same
 * division.
 */

#define _GNU_SOURCE
#include "placed.h"
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { maxThreads = 16, maxRuns = 4096, maxNodes = 8 };

static int threadCount;
static long faults[maxThreads];

/* Iterations that follow each other, of one thread. */
struct run {
  long first, behind;
  int thread;
};
static struct run runs[maxThreads][maxRuns];
static int runCount[maxThreads], nodeOfThread[maxThreads];

static void die(const char *what) {
  printf("wrong: %s\n", what);
  exit(1);
}

static void countFaults(int sign) {
#pragma omp parallel num_threads(threadCount)
  {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    faults[omp_get_thread_num()] += sign * usage.ru_minflt;
  }
}

static void addIteration(long i, int thread) {
  int count = runCount[thread];
  if (count && runs[thread][count - 1].behind == i) {
    runs[thread][count - 1].behind = i + 1;
    return;
  }
  if (count == maxRuns)
    die("too many chunks");
  runs[thread][count] = (struct run){i, i + 1, thread};
  runCount[thread] = count + 1;
}

static void queryLoop(long iterations, long chunk) {
#pragma omp parallel num_threads(threadCount)
  {
    unsigned cpu = 0, node = 0;
    int thread = omp_get_thread_num();
    syscall(SYS_getcpu, &cpu, &node, NULL);
    nodeOfThread[thread] = (int)node;
    runCount[thread] = 0;
    if (chunk) {
#pragma omp for schedule(static, chunk)
      for (long i = 0; i < iterations; ++i)
        addIteration(i, thread);
    } else { /* one run each, which the compiler finds without a branch */
      long first = iterations, behind = 0;
#pragma omp for schedule(static)
      for (long i = 0; i < iterations; ++i) {
        first = i < first ? i : first;
        behind = i < behind ? behind : i + 1;
      }
      runs[thread][0] = (struct run){first, behind, thread};
      runCount[thread] = first < behind;
    }
  }
}

/* Pages in the private memory of the heap (its tables), the stacks and the
 * OpenMP runtime. */
static void warmUp(long heapBytes) {
  enum { blocks = 2, min = 1 << 15 };
  char *volatile block[blocks];
  for (int i = 0; i < blocks; ++i)
    block[i] = malloc((size_t)heapBytes / blocks);
  for (int i = blocks - 1; i >= 0; --i)
    free(block[i]);
  block[0] = calloc(1, min);
#pragma omp parallel num_threads(threadCount)
  {
    char *volatile own = malloc(min);
    volatile char stack[min];
    for (size_t i = 0; i < sizeof stack; ++i)
      stack[i] = own[i] = block[0][i];
    free(own);
  }
  free(block[0]);
  queryLoop(1000, 0);
}

/* Normal pages shall be of the smallest size, whatever the machine's setting;
 * pages of the pool of large ones are not meant by that. */
void placed_begin(int threads, long heapBytes) {
  threadCount = threads ? threads : omp_get_max_threads();
  if (threadCount > maxThreads)
    die("too many threads");
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  warmUp(heapBytes);
  countFaults(0);
  countFaults(-1);
}

void placed_end(void) {
  countFaults(1);
  long min = faults[0], max = faults[0];
  printf("faults:");
  for (int thread = 0; thread < threadCount; ++thread) {
    min = faults[thread] < min ? faults[thread] : min;
    max = faults[thread] > max ? faults[thread] : max;
    printf(" %ld", faults[thread]);
  }
  const long heapPages = 8; // that the heap pages in for its own tables
  int even = max - min <= heapPages || max * 100 <= min * 105;
  printf(", %s\n", even ? "even" : "uneven");
}

static uintptr_t pageBytesAt(uintptr_t at) {
  unsigned long start = 0, end = 0, kib = 0, low, high;
  char line[512];
  FILE *file = fopen("/proc/self/smaps", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &low, &high) == 2) {
      start = low;
      end = high;
    }
    if (start <= at && at < end &&
        sscanf(line, "KernelPageSize: %lu kB", &kib) == 1)
      break;
  }
  if (!kib)
    die("the array is in no mapping");
  fclose(file);
  return kib << 10;
}

static int nodeAt(uintptr_t at) {
  void *page = (void *)(at & -(uintptr_t)getpagesize());
  int node = -1;
  if (syscall(SYS_move_pages, 0, 1L, &page, NULL, &node, 0))
    die("move_pages");
  if (node < 0 || node >= maxNodes)
    die("a page is not present");
  return node;
}

/* The thread whose run has the iteration, runs sorted by iteration. */
static int compareRuns(const void *a, const void *b) {
  long left = ((const struct run *)a)->first;
  long right = ((const struct run *)b)->first;
  return (left > right) - (left < right);
}

static long sortRuns(struct run *all) {
  long count = 0;
  for (int thread = 0; thread < threadCount; ++thread)
    for (int i = 0; i < runCount[thread]; ++i)
      all[count++] = runs[thread][i];
  qsort(all, (size_t)count, sizeof *all, compareRuns);
  return count;
}

struct sums {
  long all, local, inner, innerLocal, onNode[maxNodes];
};

/* One page: [low, high) are its bytes of the array. Returns the first run that
 * reaches the next page. */
static long addPage(struct sums *sums, const struct run *all, long first,
                    long low, long high, long step, long pageBytes, int node) {
  long local = 0, at = first;
  int isInner = high - low == pageBytes;
  for (;; ++at) {
    long from = all[at].first * step, to = all[at].behind * step;
    from = from < low ? low : from;
    to = to > high ? high : to;
    if (nodeOfThread[all[at].thread] == node)
      local += to - from;
    isInner &= all[at].thread == all[first].thread;
    if (all[at].behind * step >= high)
      break;
  }
  sums->all += high - low;
  sums->onNode[node] += high - low;
  sums->local += local;
  if (isInner) {
    sums->inner += high - low;
    sums->innerLocal += local;
  }
  return all[at].behind * step == high ? at + 1 : at;
}

static double percent(long part, long all) {
  return all ? 100.0 * (double)part / (double)all : 0;
}

void placed_where(const char *name, const void *array, long iterations,
                  long step, long chunk) {
  static struct run all[maxThreads * maxRuns];
  struct sums sums = {0};
  uintptr_t start = (uintptr_t)array;
  long bytes = iterations * step, run = 0;
  uintptr_t pageBytes = pageBytesAt(start + (uintptr_t)bytes / 2);
  queryLoop(iterations, chunk);
  sortRuns(all);
  for (long low = 0; low < bytes;) {
    uintptr_t at = start + (uintptr_t)low;
    long high = low + (long)(pageBytes - at % pageBytes);
    high = high < bytes ? high : bytes;
    run =
        addPage(&sums, all, run, low, high, step, (long)pageBytes, nodeAt(at));
    low = high;
  }
  printf("%s: %lu KiB pages, nodes", name, (unsigned long)pageBytes >> 10);
  for (int node = 0; node < maxNodes; ++node)
    if (sums.onNode[node] || node < 4)
      printf(" %.0f", percent(sums.onNode[node], sums.all));
  printf(" %%, local %.1f %%, inner pages %.1f %%\n",
         percent(sums.local, sums.all), percent(sums.innerLocal, sums.inner));
}

void placed_result(const void *array, long bytes) {
  const uint64_t *words = array;
  uint64_t hash[4] = {1, 2, 3, 4};
  for (long i = 0; i < bytes / 8; ++i)
    hash[i % 4] = (hash[i % 4] ^ words[i]) * 1099511628211u;
  printf("result %016lx%016lx%016lx%016lx\n", hash[0], hash[1], hash[2], hash[3]);
}
