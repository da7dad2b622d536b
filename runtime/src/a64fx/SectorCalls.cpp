// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_sector_begin and mpg_sector_end: which threads they are for.
//
// A region is usually around a parallel loop, so begun while only the first
// thread runs; the ways must be there on the CPUs of the whole team. So the
// first thread, outside of a parallel region of a program with OpenMP, has its
// team do it. Any other thread does it for itself: in a parallel region each
// thread comes by, and a thread of another kind has no team.

#include "a64fx/Sector.h"
#include "base/Syscall.h"
#include "numa/OpenMp.h"
#include <errno.h>
#include <unistd.h>

using namespace mpg;

static SectorControl control(thisMachine);
static bool isStarted = false;

void mpg::startSectors(const SectorSettings &settings, Messages *messages) {
  control.start(settings, messages);
  __atomic_store_n(&isStarted, true, __ATOMIC_RELEASE);
}

/// A static program may have these functions without the constructor of the
/// library. The environment counts all the same.
static void startIfNobodyHas() {
  static uint32_t isTaken = 0;
  if (__atomic_load_n(&isStarted, __ATOMIC_ACQUIRE))
    return;
  if (__atomic_exchange_n(&isTaken, 1, __ATOMIC_ACQ_REL) == 0) {
    SectorSettings settings;
    readSectorSettings(environ, settings);
    startSectors(settings, nullptr);
  }
  while (!__atomic_load_n(&isStarted, __ATOMIC_ACQUIRE))
    rawCall(SYS_sched_yield);
}

void mpg::writeInitialWays() { control.writeInitialWays(); }

static bool hasTeam() {
  return GOMP_parallel && omp_in_parallel && omp_get_thread_num &&
         !omp_in_parallel() && rawCall(SYS_gettid) == rawCall(SYS_getpid);
}

namespace {

struct TeamWork {
  int token;
  const mpg_ways *ways; ///< null: end
};

} // namespace

/// The first thread has done it already.
static void workInTeam(void *data) {
  const auto &work = *static_cast<const TeamWork *>(data);
  if (omp_get_thread_num() == 0)
    return;
  if (work.ways)
    control.beginAt(work.token, *work.ways);
  else
    control.end(work.token);
}

static void haveTeamDo(TeamWork work) {
  if (hasTeam())
    GOMP_parallel(workInTeam, &work, 0, 0);
}

int mpg_sector_begin(const mpg_ways *ways) {
  int saved = errno;
  startIfNobodyHas();
  int token = control.begin(*ways);
  if (token >= 0)
    haveTeamDo({token, ways});
  errno = saved;
  return token;
}

void mpg_sector_end(int token) {
  if (token < 0)
    return;
  int saved = errno;
  control.end(token);
  haveTeamDo({token, nullptr});
  errno = saved;
}
