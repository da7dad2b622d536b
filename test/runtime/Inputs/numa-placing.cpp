// Which threads place the pages of a vector with mpg::numa_allocator: prints
// how many each has faulted in when `std::vector<double>(n)` is made, in
// percent of all pages, and whether that was all of them.
//
//   numa-placing CHUNK   CHUNK elements go round the threads; 0: blocks

#include <mpg/numa_allocator.hpp>

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#ifndef _OPENMP
static int omp_get_thread_num() { return 0; }
static int omp_get_max_threads() { return 1; }
#endif

static constexpr std::size_t elements = 10000000;

static std::vector<long> faultsOfThreads() {
  std::vector<long> faults(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    faults[static_cast<std::size_t>(omp_get_thread_num())] = usage.ru_minflt;
  }
  return faults;
}

static std::size_t presentPages(const void *start, std::size_t pages) {
  std::vector<unsigned char> present(pages);
  if (mincore(const_cast<void *>(start), pages * sysconf(_SC_PAGESIZE),
              present.data()))
    return 0;
  std::size_t count = 0;
  for (unsigned char page : present)
    count += page & 1;
  return count;
}

int main(int argc, char **argv) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); // one fault, one page
  mpg::numa_allocator<double> allocator(
      argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 0);
  faultsOfThreads(); // the team's own memory
  std::vector<long> before = faultsOfThreads();
  std::vector<double, mpg::numa_allocator<double>> x(elements, allocator);
  std::vector<long> after = faultsOfThreads();
  long pages = long(elements * sizeof(double)) / sysconf(_SC_PAGESIZE);
  for (std::size_t thread = 0; thread < before.size(); ++thread)
    std::printf("thread %zu: %ld %%\n", thread,
                ((after[thread] - before[thread]) * 100 + pages / 2) / pages);
  std::printf("present: %ld %%\n",
              long(presentPages(x.data(), std::size_t(pages)) * 100) / pages);
}
