// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TouchTeam.h.

#include "numa/TouchTeam.h"
#include "numa/NodeCpus.h"
#include "numa/OpenMp.h"
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

static void goTo(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof(one), &one);
}

/// Thread by thread, and back to where it may be in the end.
static void visit(const TeamWork &work, uint32_t threads,
                  const cpu_set_t &usable, PlaceList &list) {
  PlaceWishes wishes = readPlaceWishes(environ);
  makePlaces(wishes, usable, readNeighbors, list);
  if (threads == 0)
    threads = defaultThreads(wishes, usable);
  int here = -1;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    int cpu = cpuOfThread(list, thread, threads);
    if (cpu != here)
      goTo(cpu);
    here = cpu;
    work.body(work, thread, threads);
  }
  sched_setaffinity(0, sizeof(usable), &usable);
}

static void visitPlaces(const TeamWork &work, uint32_t threads) {
  cpu_set_t usable;
  Away away;
  size_t bytes = roundUp(sizeof(PlaceList), basePageBytes());
  if (sched_getaffinity(0, sizeof(usable), &usable) == 0 &&
      buildAway(Source::normal, bytes, basePageBytes(), nullptr, away) == 0) {
    visit(work, threads, usable,
          *reinterpret_cast<PlaceList *>(away.range.start));
    discard(away);
    return;
  }
  // More CPUs than a set has, or no memory: everything from here.
  work.body(work, 0, 1);
}

void mpg::doAsTeam(const TeamWork &work, uint32_t threads) {
  if (GOMP_parallel && omp_get_num_threads && omp_get_thread_num)
    GOMP_parallel(workInTeam, const_cast<TeamWork *>(&work), threads, 0);
  else
    visitPlaces(work, threads);
}

bool mpg::isInTeam() { return omp_in_parallel && omp_in_parallel(); }
