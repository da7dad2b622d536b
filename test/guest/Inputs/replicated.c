/* Tables and buffers for each NUMA node, checked page by page through direct
 * system calls: the share of each thread's reads and writes on its node.
 *
 *   replicated shared MIB     an embedding table as it is: on one node
 *   replicated copies MIB     the same with mpg_replicate, and output buffers
 *   replicated full MIB       the same when node 2 is full
 *   replicated dmvm           y = A x, inner loop shared out: A interleaved
 *                             page by page, x replicated
 *   replicated visit          without a team: the thread goes to each CPU
 *
 * Each thread looks rows up; the results are compared with those of one. */

#define _GNU_SOURCE
#include "../../runtime/Inputs/touch.h"
#include <sched.h>

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_thread_num(void) { return 0; }
static int omp_get_num_threads(void) { return 1; }
#endif

enum { dim = 1024, tokens = 1000, maxThreads = 64, nodes = 4 };

static int wrong(const char *what) {
  printf("wrong: %s (errno %d)\n", what, errno);
  exit(1);
}

static int myNode(void) {
  unsigned cpu = 0, node = 0;
  syscall(SYS_getcpu, &cpu, &node, NULL);
  return (int)node;
}

static int isHere(const void *at) {
  return nodeOfPage((uintptr_t)at) == myNode();
}

static float getValue(size_t i) { return (float)(i % 8191) + 0.5f; }

/* Zeroed and untouched, on whatever pages the mode gives. */
static float *newTable(size_t elements) {
  float *table = mmap(NULL, elements * sizeof *table, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table == MAP_FAILED)
    wrong("no memory for the table");
  for (size_t i = 0; i < elements; ++i)
    table[i] = getValue(i);
  return table;
}

static size_t getRow(size_t token, size_t rows) {
  return token * 2654435761u % rows;
}

struct counts {
  unsigned reads, localReads, localWrites;
};

/* The tokens of thread `self` of `team`, as schedule(static) gives them. */
static void lookup(const float *table, size_t rows, float *output, int self,
                   int team, struct counts *counts) {
  size_t first = (size_t)tokens * (size_t)self / (size_t)team;
  size_t behind = (size_t)tokens * (size_t)(self + 1) / (size_t)team;
  for (size_t token = first; token < behind; ++token) {
    const float *row = table + getRow(token, rows) * dim;
    float *to = output + token * dim;
    memcpy(to, row, dim * sizeof *row);
    ++counts->reads;
    counts->localReads += (unsigned)isHere(row);
    counts->localWrites += (unsigned)isHere(to);
  }
}

static void isRight(const float *output, size_t rows, size_t first,
                    size_t behind) {
  for (size_t token = first; token < behind; ++token)
    for (size_t i = 0; i < dim; ++i)
      if (output[token * dim + i] != getValue(getRow(token, rows) * dim + i))
        wrong("a row that was looked up");
}

static void print(const struct counts *counts, int thread, int node) {
  printf("thread %d on node %d: %u %% of reads local, %u %% of writes\n",
         thread, node, counts->localReads * 100 / counts->reads,
         counts->localWrites * 100 / counts->reads);
}

static void embed(size_t mib, int isReplicated) {
  size_t rows = (mib << 20) / (dim * sizeof(float));
  float *table = newTable(rows * dim);
  size_t outputBytes = (size_t)tokens * dim * sizeof(float);
  float *shared = isReplicated ? NULL : newTable((size_t)tokens * dim);
  struct mpg_replica *tables = NULL, *outputs = NULL;
  if (isReplicated) {
    tables = mpg_replicate(table, rows * dim * sizeof(float));
    outputs = mpg_replicate(NULL, outputBytes);
    if (!tables || !outputs)
      wrong("mpg_replicate");
  }
  struct counts counts[maxThreads] = {{0, 0, 0}};
  int getNode[maxThreads], team = 1;
#pragma omp parallel
  {
    int self = omp_get_thread_num();
#pragma omp single
    team = omp_get_num_threads();
    const float *mine = isReplicated ? mpg_local_copy(tables) : table;
    float *output = isReplicated ? mpg_local_copy(outputs) : shared;
    lookup(mine, rows, output, self, team, &counts[self]);
    getNode[self] = myNode();
  }
  for (int thread = 0; thread < team; ++thread) {
    print(&counts[thread], thread, getNode[thread]);
    isRight(isReplicated ? mpg_node_copy(outputs, getNode[thread]) : shared,
            rows, (size_t)tokens * (size_t)thread / (size_t)team,
            (size_t)tokens * (size_t)(thread + 1) / (size_t)team);
  }
  for (int node = 0; node < nodes && isReplicated; ++node) {
    const void *copy = mpg_node_copy(tables, node);
    printf("node %d has %s on node %d\n", node,
           copy == table ? "the original" : "a copy",
           nodeOfPage((uintptr_t)copy));
  }
  mpg_replica_free(tables);
  mpg_replica_free(outputs);
}

/* Takes all of node 2 but less than 16 MiB. */
static void fillNode(void) {
  while (mpg_alloc_onnode(16 << 20, 2))
    ;
}

static void dmvm(void) {
  enum { n = 256, m = 8192 };
  double *matrix = mpg_interleave((size_t)n * m * sizeof(double));
  double *x = malloc(n * sizeof *x), *y = calloc(m, sizeof *y);
  if (!matrix || !x || !y)
    wrong("no memory");
  for (size_t i = 0; i < n; ++i)
    x[i] = (double)i;
  for (size_t i = 0; i < (size_t)n * m; ++i)
    matrix[i] = (double)(i % 7);
  mpg_print_where(matrix, (size_t)n * m * sizeof(double), "matrix");
  struct mpg_replica *vectors = mpg_replicate(x, n * sizeof *x);
  unsigned away = 0;
#pragma omp parallel reduction(+ : away)
  {
    const double *mine = mpg_local_copy(vectors);
    for (size_t r = 0; r < n; ++r) {
      away += !isHere(mine + r);
#pragma omp for schedule(static)
      for (size_t c = 0; c < m; ++c)
        y[c] += matrix[c + m * r] * mine[r];
    }
  }
  printf("%u reads of x from another node\n", away);
  for (size_t c = 0; c < m; ++c) {
    double sum = 0;
    for (size_t r = 0; r < n; ++r)
      sum += (double)((c + m * r) % 7) * (double)r;
    if (sum != y[c])
      wrong("a sum");
  }
}

static void visit(void) {
  enum { bytes = 9 << 20 };
  float *table = newTable(bytes / sizeof(float));
  struct mpg_replica *tables = mpg_replicate(table, bytes);
  for (int cpu = 0; cpu < nodes; ++cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one))
      wrong("sched_setaffinity");
    const char *copy = mpg_local_copy(tables);
    unsigned here = 0, pages = bytes / (unsigned)getpagesize();
    for (unsigned page = 0; page < pages; ++page)
      here += (unsigned)isHere(copy + page * (size_t)getpagesize());
    if (memcmp(copy, table, bytes))
      wrong("the contents");
    printf("CPU %d: %u %% local\n", cpu, here * 100 / pages);
  }
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  size_t mib = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
  if (strcmp(what, "full") == 0)
    fillNode();
  if (strcmp(what, "dmvm") == 0)
    dmvm();
  else if (strcmp(what, "visit") == 0)
    visit();
  else
    embed(mib, strcmp(what, "shared") != 0);
  puts("right");
  return 0;
}
