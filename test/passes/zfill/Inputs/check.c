/* Runs each kernel with and without lines zeroed ahead, on arrays that are apart,
 * touch or overlap, and compares all memory. check [KERNEL]. */
#include "kernels.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOTH(kernel, any, ...) void plain_##kernel(struct arrays *); void zfill_##kernel(struct arrays *);
KERNELS(BOTH)
static const struct {
  const char *name;
  int any;
  void (*plain)(struct arrays *), (*zfill)(struct arrays *);
} kernels[] = {
#define ROW(kernel, any, ...) {#kernel, any, plain_##kernel, zfill_##kernel},
    KERNELS(ROW)};

long sink;
jmp_buf leave;
static long stopAt;
long look(const double *a, long i) { return (long)(a[i] * 1000); }
void jump(const double *a, long i) { if (a && i == stopAt) longjmp(leave, 1); }

/* Array a begins in the middle, so that all others fit around it. */
enum { words = 22000, middle = words / 2 };
static double pattern[words];
static double first[words] __attribute__((aligned(4096)));
static double second[words] __attribute__((aligned(4096)));

static void fill(void) {
  uint64_t state = 12345;
  for (long i = 0; i < words; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    pattern[i] = (double)(state >> 11) / 9007199254740992.;
  }
}

static struct arrays place(double *memory, long n, long shift, long b, long c) {
  return (struct arrays){(char *)(memory + middle + shift), (char *)(memory + middle + shift + b),
                         (char *)(memory + middle + shift + c), n};
}

/* Compares the words that a kernel may reach, and gives them their pattern again. What is written
 * elsewhere stays, for the last comparison of a kernel. */
static int compare(long from, long to) {
  size_t bytes = (to - from) * sizeof *first;
  int differ = memcmp(first + from, second + from, bytes);
  memcpy(first + from, pattern + from, bytes);
  memcpy(second + from, pattern + from, bytes);
  return differ;
}

static int differs(unsigned at, long n, long shift, long b, long c) {
  long low = b < c ? b : c, high = b < c ? c : b;
  stopAt = n / 2;
  struct arrays one = place(first, n, shift, b, c), two = place(second, n, shift, b, c);
  sink = 0;
  kernels[at].plain(&one);
  long plain = sink;
  sink = 0;
  kernels[at].zfill(&two);
  if (!compare(middle + (low < 0 ? low : 0) - 512, middle + (high > 0 ? high : 0) + n + 1024) &&
      sink == plain)
    return 0;
  printf("%s: differs with n=%ld, a at %ld words after a page, b %ld and c %ld after a\n",
         kernels[at].name, n, shift, b, c);
  return 1;
}

static int check(unsigned at) {
  static const long sizes[] = {0, 1, 131, 641, 1403, 2800};
  static const long shifts[] = {0, 1, 13, 31};
  static const long apart[][2] = {{3000, 6000}, {-3000, 3003}, {-6001, -3001}};
  static const long meet[][2] = {{0, 3600}, {1, 3600}, {-1, 1}, {40, -40}, {100, 0}, {300, -300},
                                 {600, 700}, {-600, 3600}, {33, 65}};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (unsigned p = 0; p < 3; p++)
      if (differs(at, sizes[s], shifts[(s + p) % 4], apart[p][0], apart[p][1]))
        return 1;
    for (unsigned p = 0; kernels[at].any && p < 9; p++)
      if (differs(at, sizes[s], shifts[(s + p) % 4], meet[p][0], meet[p][1]))
        return 1;
  }
  if (compare(0, words))
    return printf("%s: differs with memory that is far from its arrays\n", kernels[at].name);
  return 0;
}

/* Each thread its own part, with borders in the middle of lines. */
enum { threads = 4, part = 4003, rounds = 3 };
static void *work(void *argument) {
  long number = (long)argument;
  for (int round = 0; round < rounds; round++) {
    struct arrays k = {(char *)(first + number * part), (char *)(second + number * part),
                       (char *)(second + number * part), part};
    zfill_triad(&k);
    zfill_copy_any(&k);
  }
  return 0;
}

static int checkThreads(void) {
  pthread_t thread[threads];
  for (long t = 0; t < threads; t++)
    pthread_create(&thread[t], 0, work, (void *)t);
  for (long t = 0; t < threads; t++)
    pthread_join(thread[t], 0);
  for (long i = 0; i < threads * part; i++)
    if (first[i] != second[i] + 0.5)
      return printf("threads: word %ld\n", i);
  return 0;
}

int main(int argc, char **argv) {
  int bad = 0;
  fill();
  compare(0, words);
  unsigned count = sizeof kernels / sizeof *kernels;
  for (unsigned at = 0; at < count; at++)
    if (argc < 2 || !strcmp(argv[1], kernels[at].name))
      bad += check(at) != 0;
  bad += argc < 2 && checkThreads();
  printf("%u kernels, %d differ\n", count, bad);
  return bad != 0;
}
