/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The candidates of stream_bench.c: a name and a loop over n elements. */

#pragma once

#include <stddef.h>

typedef void Loop(double *a, const double *b, const double *c, double s,
                  size_t n);

struct Candidate {
  const char *name;
  Loop *run;
};

/* Adds what this processor can run; returns how many. */
int addHandCandidates(struct Candidate *list, int copies);
