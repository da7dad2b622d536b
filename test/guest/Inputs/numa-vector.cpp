// A std::vector that is filled serially and then used in a parallel loop: how
// much of each thread's elements lies on the node where the thread runs.
//
//   numa-vector CHUNK   schedule(static, CHUNK); 0: schedule(static)
//
// With mpg::numa_allocator, or plain if MPG_TEST_PLAIN is defined.

#include <mpg/numa_allocator.hpp>

#include "../../runtime/Inputs/touch.h"
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <vector>

static int myNode() {
  unsigned cpu = 0, node = 0;
  syscall(SYS_getcpu, &cpu, &node, nullptr);
  return int(node);
}

int main(int argc, char **argv) {
  int chunk = argc > 1 ? std::atoi(argv[1]) : 0;
  const long count = 4194304;
#ifdef MPG_TEST_PLAIN
  std::vector<double> x(count, 1.0);
#else
  std::vector<double, mpg::numa_allocator<double>> x(
      count, 1.0, mpg::numa_allocator<double>(std::size_t(chunk)));
#endif
  if (chunk)
    omp_set_schedule(omp_sched_static, chunk);
  else
    omp_set_schedule(omp_sched_static, 0);
#pragma omp parallel
  {
    long mine = 0, here = 0;
#pragma omp for schedule(runtime)
    for (long i = 0; i < count; ++i) {
      x[i] += double(i);
      if (i % 512 == 0) {
        ++mine;
        here += nodeOfPage(reinterpret_cast<uintptr_t>(&x[i])) == myNode();
      }
    }
#pragma omp for ordered schedule(static, 1)
    for (int thread = 0; thread < omp_get_num_threads(); ++thread)
#pragma omp ordered
      std::printf("thread %d: %ld.%ld %% local\n", thread, here * 100 / mine,
                  here * 1000 / mine % 10);
  }
#ifndef MPG_TEST_WEAK // which is built without libmpg
  mpg_print_where(x.data(), count * sizeof(double), "x");
#endif
}
