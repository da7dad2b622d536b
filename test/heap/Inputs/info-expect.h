/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For the programs of info-*.test: they ask the heap of what they know it must
 * say, and end with 1 and a line for each answer that is wrong. Nothing here
 * allocates, so that what a program holds is what it asked for.
 */
#ifndef INFO_EXPECT_H
#define INFO_EXPECT_H

#include <mpg/mpg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libmpg is preloaded; without it they are null. */
#pragma weak mpg_heap_stats
#pragma weak mpg_heap_check

#define MIB ((size_t)1 << 20)

static int wrongAnswers;

#define EXPECT(left, relation, right)                                          \
  expect((long)(left), (long)(right), (long)(left)relation(long)(right),       \
         #left " " #relation " " #right, __LINE__)

static void expect(long left, long right, int holds, const char *text,
                   int line) {
  char buffer[400];
  if (holds)
    return;
  wrongAnswers++;
  int length = snprintf(buffer, sizeof buffer,
                        "line %d: not %s: %ld and %ld\n", line, text, left,
                        right);
  if (write(2, buffer, length) != length)
    _exit(2);
}

static struct mpg_heap_stats statsNow(void) {
  struct mpg_heap_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.structBytes = sizeof stats;
  EXPECT(mpg_heap_stats(&stats), ==, 0);
  return stats;
}

#endif
