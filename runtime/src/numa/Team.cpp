// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Numa.h. The threads are those of the program's own OpenMP runtime if it
// has one (GOMP_parallel is in libgomp and in libomp), because only they stand
// where the loop will run. Without OpenMP the calling thread goes round:
// threads of our own would leave the C library in its slower ways for several
// threads for good.

#include "numa/NodeCpus.h"
#include "numa/Numa.h"
#include "numa/Places.h"
#include "pages/Pages.h"
#include <sched.h>
#include <unistd.h>

using namespace mpg;

static void workInTeam(void *data) {
  const auto &work = *static_cast<const TeamWork *>(data);
  work.body(work, uint32_t(omp_get_thread_num()),
            uint32_t(omp_get_num_threads()));
}

static bool goTo(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

/// Thread by thread, and back to where it may be in the end.
static bool visit(const TeamWork &work, uint32_t threads,
                  const cpu_set_t &usable, PlaceList &list) {
  PlaceWishes wishes = readPlaceWishes(environ);
  makePlaces(wishes, usable, readNeighbors, list);
  if (threads == 0)
    threads = defaultThreads(wishes, usable);
  int here = -1;
  bool hasGone = true;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    int cpu = cpuOfThread(list, thread, threads);
    if (cpu != here)
      hasGone &= goTo(cpu);
    here = cpu;
    work.body(work, thread, threads);
  }
  sched_setaffinity(0, sizeof(usable), &usable);
  return hasGone;
}

bool mpg::visitPlaces(const TeamWork &work, uint32_t threads) {
  cpu_set_t usable;
  Staged staged;
  size_t bytes = roundUp(sizeof(PlaceList), basePageBytes());
  if (sched_getaffinity(0, sizeof(usable), &usable) == 0 &&
      buildStaged(Source::normal, bytes, basePageBytes(), nullptr, staged) ==
          0) {
    bool hasGone = visit(work, threads, usable,
                         *reinterpret_cast<PlaceList *>(staged.range.start));
    discard(staged);
    return hasGone;
  }
  // More CPUs than a set has, or no memory: everything from here.
  work.body(work, 0, 1);
  return false;
}

void mpg::doAsTeam(const TeamWork &work, uint32_t threads) {
  if (GOMP_parallel && omp_get_num_threads && omp_get_thread_num)
    GOMP_parallel(workInTeam, const_cast<TeamWork *>(&work), threads, 0);
  else
    visitPlaces(work, threads);
}

bool mpg::isInTeam() { return omp_in_parallel && omp_in_parallel(); }
