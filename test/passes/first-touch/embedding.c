// Look-up of rows by index: every thread reads the whole table, so no place is right for
// it. The remark advises a copy for each memory node. The output is divided differently
// than when it was first written: reported as well. With copies, and private outputs,
// there is no remark.
// RUN: %remarks %s > %t && FileCheck %s --check-prefix=WRONG < %t && not grep 'calls [1-9]' %t
// RUN: %remarks -x c++ %s > %t && FileCheck %s --check-prefix=WRONG < %t && not grep 'calls [1-9]' %t
// RUN: %remarks -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %remarks -x c++ -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DREPAIRED %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
// The remark may be in either function, the one that fills or the one that
// reads.
// WRONG-DAG: SharedRead@
// WRONG-DAG: MismatchedSchedules@
// WRONG: end
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { dim = 64, nodes = 4 };

#ifndef REPAIRED
__attribute__((noinline)) static void lookup(const float *table, const int *tokens,
                                             float *output, long seq) {
#pragma omp parallel for schedule(static, 128)
  for (long t = 0; t < seq; ++t)
    for (int d = 0; d < dim; ++d)
      output[t * dim + d] = table[(long)tokens[t] * dim + d];
}
#endif

int main(int argc, char **argv) {
  long vocab = argc > 1 ? atol(argv[1]) : 40000, seq = 2 * vocab;
  float *table = (float *)malloc(sizeof(float) * vocab * dim);
  int *tokens = (int *)malloc(sizeof(int) * seq);
  for (long i = 0; i < vocab * dim; ++i) table[i] = i % 1024;
#pragma omp parallel for schedule(static, 128)
  for (long t = 0; t < seq; ++t) tokens[t] = t * 7919 % vocab;
  double sum = 0;
#ifdef REPAIRED
  long share = seq / nodes;
  float *tables[nodes], *outputs[nodes];
  for (int c = 0; c < nodes; ++c) {
    tables[c] = (float *)malloc(sizeof(float) * vocab * dim);
    outputs[c] = (float *)malloc(sizeof(float) * share * dim);
  }
#pragma omp parallel
  {
    int threads = omp_get_num_threads(), id = omp_get_thread_num();
    for (int c = id; c < nodes; c += threads) {
      memcpy(tables[c], table, sizeof(float) * vocab * dim);
      memset(outputs[c], 0, sizeof(float) * share * dim);
      for (long t = 0; t < share; ++t)
        for (int d = 0; d < dim; ++d)
          outputs[c][t * dim + d] =
              tables[c][(long)tokens[c * share + t] * dim + d];
    }
  }
  for (int c = 0; c < nodes; ++c)
    for (long i = 0; i < share * dim; i += 3) sum += outputs[c][i];
#else
  float *output = (float *)malloc(sizeof(float) * seq * dim);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < seq * dim; ++i) output[i] = 0;
  lookup(table, tokens, output, seq);
  for (long i = 0; i < seq * dim; i += 3) sum += output[i];
#endif
  printf("%.1f\n", sum);
}
// REPAIRED: end
