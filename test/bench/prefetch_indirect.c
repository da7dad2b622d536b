/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kernels of prefetch_indirect.py, each on its own and self-checking:
 * KERNEL TIMES. Prints nanoseconds of processor time and a checksum. Tables
 * have 64 MiB and more, so that what is looked up comes from memory.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNEL __attribute__((noinline)) static uint64_t
enum {
  KEYS = 1 << 24,
  TABLE = 1 << 24,
  ROWS = 1 << 21,
  ROW = 16,
  NODES = 1 << 22
};

static uint64_t state = 88172645463325252;
static uint32_t draw(uint32_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(((state >> 32) * below) >> 32);
}

static void *get(size_t bytes) {
  void *memory = aligned_alloc(1 << 21, (bytes + (1 << 21) - 1) >> 21 << 21);
  if (!memory)
    exit(3);
  memset(memory, 0, bytes);
  return memory;
}

static uint32_t *drawAll(size_t count, uint32_t below) {
  uint32_t *all = get(count * sizeof *all);
  for (size_t i = 0; i < count; i++)
    all[i] = draw(below);
  return all;
}

// IS of NAS: counts keys.
KERNEL countKeys(int32_t *count, const uint32_t *key, long n) {
  for (long i = 0; i < n; i++)
    count[key[i]]++;
  return (uint64_t)count[key[n / 2]];
}

// The sparse product of CG.
KERNEL multiply(double *y, const int32_t *start, const uint32_t *column,
                const double *value, const double *x, long rows) {
  for (long i = 0; i < rows; i++) {
    double sum = 0;
    for (int32_t k = start[i]; k < start[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
  return (uint64_t)y[rows / 2];
}

// RandomAccess of HPCC: blocks of 128 numbers.
KERNEL update(uint64_t *table, uint64_t *number, long blocks) {
  for (long block = 0; block < blocks; block++)
    for (int j = 0; j < 128; j++) {
      number[j] = (number[j] << 1) ^ ((int64_t)number[j] < 0 ? 7 : 0);
      table[number[j] & (TABLE - 1)] ^= number[j];
    }
  return table[number[0] & (TABLE - 1)];
}

// The probe of a hash join: one entry a bucket.
struct Entry {
  uint32_t key, payload;
};
KERNEL probe(const struct Entry *table, const uint32_t *key, long n) {
  uint64_t sum = 0;
  for (long i = 0; i < n; i++) {
    const struct Entry *entry = &table[(key[i] * 2654435761u) >> 8];
    if (entry->key == key[i])
      sum += entry->payload;
  }
  return sum;
}

// A step of a breadth-first search: the neighbours of the nodes in the queue.
KERNEL visit(const uint32_t *queue, long nodes, const int32_t *start,
             const uint32_t *next, uint32_t *parent, uint32_t *found) {
  long count = 0;
  for (long i = 0; i < nodes; i++) {
    uint32_t node = queue[i];
    for (int32_t k = start[node]; k < start[node + 1]; k++)
      if (!parent[next[k]]) {
        parent[next[k]] = node + 1;
        found[count++] = next[k];
      }
  }
  return (uint64_t)count;
}

// Cannot gain: the table is in L2, or the loop has no index.
KERNEL smallTable(const double *table, const uint32_t *index, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += table[index[i]];
  return (uint64_t)sum;
}
KERNEL addUp(const double *value, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += value[i] * value[i];
  return (uint64_t)sum;
}

static int32_t *makeStarts(long rows, int each) {
  int32_t *start = get((rows + 1) * sizeof *start);
  for (long i = 0; i <= rows; i++)
    start[i] = (int32_t)(i * each);
  return start;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  char kernel = argv[1][0];
  long times = atol(argv[2]);
  uint32_t *index = drawAll(KEYS * 2, kernel == 'm' ? ROWS * 4 : TABLE);
  uint32_t *few = drawAll(KEYS, 1 << 14);
  void *table = get(TABLE * sizeof(uint64_t));
  void *other = get(TABLE * sizeof(uint64_t));
  uint64_t number[128], sum = 0;
  for (int j = 0; j < 128; j++)
    number[j] = ((uint64_t)draw(1u << 31) << 32) | draw(1u << 31);
  int32_t *start = kernel == 'b' ? makeStarts(NODES, 8) : makeStarts(ROWS, ROW);
  uint32_t *next = kernel == 'b' ? drawAll((size_t)NODES * 8, NODES) : 0;
  uint32_t *queue = kernel == 'b' ? drawAll(NODES / 4, NODES) : 0;
  struct Entry *entries = table;
  for (long i = 0; i < KEYS && kernel == 'h'; i += 2)
    entries[(index[i] * 2654435761u) >> 8] = (struct Entry){index[i], 3};
  struct timespec begin, end;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  for (long time = 0; time < times; time++)
    switch (kernel) {
    case 'i':
      sum += countKeys(table, index, KEYS);
      break;
    case 'm':
      sum += multiply(other, start, index, table, table, ROWS / 2);
      break;
    case 'r':
      sum += update(table, number, KEYS / 128);
      break;
    case 'h':
      sum += probe(table, index, KEYS);
      break;
    case 'b':
      memset(table, 0, NODES * sizeof(uint32_t));
      sum += visit(queue, NODES / 4, start, next, table, other);
      break;
    case 't':
      sum += smallTable(table, few, KEYS);
      break;
    case 'a':
      sum += addUp(table, TABLE);
      break;
    default:
      return 2;
    }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  for (long i = 0; i < TABLE; i++)
    sum = sum * 31 + ((uint64_t *)table)[i];
  printf("%lld %llu\n",
         (end.tv_sec - begin.tv_sec) * 1000000000LL +
             (end.tv_nsec - begin.tv_nsec),
         (unsigned long long)sum);
}
