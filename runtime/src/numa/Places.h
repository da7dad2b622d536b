// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPUs of a team's threads according to OMP_PLACES, OMP_PROC_BIND and
// OMP_NUM_THREADS (OpenMP 5.2, chapter 21), for programs without an OpenMP
// runtime to ask. A malformed value counts as unset. Text and numbers only: the
// caller describes the machine.

#pragma once

#include <sched.h>
#include <stdint.h>

namespace mpg {

/// What CPUs may have in common; the abstract names of OMP_PLACES.
enum class Level : uint8_t { threads, cores, llCaches, numaDomains, sockets };

/// Puts into \p group the CPUs that share \p level with \p cpu.
using GroupOfCpu = void (*)(unsigned cpu, Level level, cpu_set_t &group);

/// The variables' values, or null.
struct PlaceWishes {
  const char *places, *bind, *threads;
};

PlaceWishes readPlaceWishes(const char *const *environment);

enum class Binding : uint8_t {
  none,    ///< one place with all CPUs
  close,   ///< neighbours on neighbouring places
  spread,  ///< as far from each other as can be
  primary, ///< all on the first place
};

/// 128 KiB: not for the stack.
struct PlaceList {
  static constexpr uint32_t max = 1024;
  Binding binding;
  uint32_t count;
  cpu_set_t places[max];
};

/// Where threads may stand that may use \p usable. There is at least one place,
/// and every place has a CPU out of \p usable.
/// pre: \p usable is not empty.
void makePlaces(const PlaceWishes &wishes, const cpu_set_t &usable,
                GroupOfCpu getGroup, PlaceList &list);

/// Number of threads of a team that does not set one.
uint32_t defaultThreads(const PlaceWishes &wishes, const cpu_set_t &usable);

/// The CPU of thread \p thread of \p threads: the first of its place. Threads
/// that share a place get consecutive CPUs of it.
int cpuOfThread(const PlaceList &list, uint32_t thread, uint32_t threads);

} // namespace mpg

// The program's own OpenMP runtime, if it has one: GOMP_parallel is in libgomp
// and in libomp. Null without one. If there are two, the loader takes all of
// them from the program's own.

// NOLINTBEGIN(readability-identifier-naming): the names are OpenMP's.
extern "C" {
__attribute__((weak)) void GOMP_parallel(void (*body)(void *), void *data,
                                         unsigned threads, unsigned flags);
__attribute__((weak)) int omp_get_num_threads(void);
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_in_parallel(void);
}
// NOLINTEND(readability-identifier-naming)
