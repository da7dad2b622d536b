/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The program of sample.test: its argument selects the regions in which mpgsim
 * --sample records it: nested, in threads, recursive, left by an exception.
 * Each pass over the table is 4096 loads, so the report's counts show which
 * passes were recorded.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpg/mpg.h>
#include <thread>

static const int entries = 4096;
static volatile long *table;

namespace work {
__attribute__((noinline)) void pass() {
  for (int i = 0; i < entries; ++i)
    table[i];
}

struct Grid {
  /* Calls itself in tail position: as deep as no stack is. */
  __attribute__((noinline)) long relax(long depth) {
    if (depth % 65536 == 0)
      pass();
    return depth ? relax(depth - 1) : last;
  }
  long last;
};
} // namespace work

__attribute__((noinline)) static long thrown(int argument) {
  work::pass();
  if (argument > 1)
    throw argument;
  return argument;
}

extern "C" __attribute__((noinline)) int neverCalled(int argument) {
  return argument + (int)table[argument];
}

static void region() {
  mpg_sim_begin();
  work::pass();
  mpg_sim_end();
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  table = (long *)calloc(entries, sizeof(long));
  work::pass();
  if (!strcmp(what, "nested")) {
    mpg_sim_begin();
    region();
    region();
    mpg_sim_end();
    work::pass();
    region();
  }
  if (!strcmp(what, "lone")) {
    mpg_sim_end();
    region();
    mpg_sim_end();
  }
  if (!strcmp(what, "open")) {
    mpg_sim_begin();
    work::pass();
  }
  if (!strcmp(what, "threads")) {
    // Those that were there before the region, and those that begin in it.
    mpg_sim_begin();
    std::thread one(work::pass), other(region);
    one.join();
    other.join();
    mpg_sim_end();
    std::thread(work::pass).join();
    std::thread(region).join();
  }
  work::Grid grid = {7};
  printf("relaxed %ld\n", grid.relax(argc > 2 ? 1000000 : 65535));
  try {
    printf("returned %ld\n", thrown(argc));
  } catch (int thrownNumber) {
    printf("thrown %d\n", thrownNumber);
  }
  if (argc > 100)
    return neverCalled(argc);
  return 3;
}
