// Parallel code whose threads do not have fixed parts: tasks, sections, nested regions,
// parts that the program computes itself. No call that would place for another division.
// For a number of threads known only at run time, the call uses a team's default, or there
// is none.
// RUN: %remarks %s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt
// RUN: FileCheck %s --input-file=%t.txt --check-prefix=NO-CALL
// RUN: %same-args --args 600000 --args 4 --args 0 -- %c-program %s | FileCheck %s --check-prefix=SAME
// CHECK: end
// NO-CALL-NOT: {{^(tasks|sections|by_hand|only_single|nested): calls [1-9]}}
// SAME: same: 60 runs
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CASE __attribute__((noinline)) double
#define ARRAY                                                                  \
  double *a = malloc(n * sizeof(double));                                      \
  for (long i = 0; i < n; ++i) a[i] = i
#define END                                                                    \
  double last = n ? a[n - 1] + a[n / 2] : 0;                                   \
  free(a);                                                                     \
  return last

CASE tasks(long n) {
  ARRAY;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1000)
  for (long i = 0; i < n; ++i) a[i] += 1;
  END;
}
CASE sections(long n) {
  ARRAY;
#pragma omp parallel sections
  {
#pragma omp section
    for (long i = 0; i < n / 2; ++i) a[i] += 1;
#pragma omp section
    for (long i = n / 2; i < n; ++i) a[i] += 2;
  }
  END;
}
CASE by_hand(long n) {
  ARRAY;
#pragma omp parallel
  {
    int id = omp_get_thread_num(), threads = omp_get_num_threads();
    for (long i = n * id / threads; i < n * (id + 1) / threads; ++i) a[i] += 1;
  }
  END;
}
CASE only_single(long n) {
  ARRAY;
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < n; ++i) a[i] += 1;
  END;
}
CASE nested(long n) {
  ARRAY;
#pragma omp parallel num_threads(2)
  {
    long from = omp_get_thread_num() * n / omp_get_num_threads();
    long to = (omp_get_thread_num() + 1) * n / omp_get_num_threads();
#pragma omp parallel for schedule(static)
    for (long i = from; i < to; ++i) a[i] += 1;
  }
  END;
}
CASE threads_at_run_time(long n) {
  ARRAY;
  int threads = n % 3 + 1;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  END;
}
CASE conditional(long n) {
  ARRAY;
#pragma omp parallel for if (n > 1000) schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  END;
}
CASE down(long n) {
  ARRAY;
#pragma omp parallel for schedule(static)
  for (long i = n - 1; i >= 0; --i) a[i] += 1;
  END;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", tasks(n), sections(n), by_hand(n),
         only_single(n), nested(n), threads_at_run_time(n), conditional(n), down(n));
}
