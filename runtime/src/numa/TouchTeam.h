// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does something where each thread of a team stands. The threads are those of
// the program's own OpenMP runtime if it has one (GOMP_parallel is in libgomp
// and in libomp), because only they stand where the loop will run. Without
// OpenMP the calling thread goes from CPU to CPU, to where the threads would
// stand by OMP_PLACES and its like, else over all CPUs: threads of our own
// would leave the C library in its slower ways for several threads for good.

#ifndef MPG_RUNTIME_TOUCHTEAM_H
#define MPG_RUNTIME_TOUCHTEAM_H

#include <stdint.h>

namespace mpg {

/// What is to be done; derive from it for the data.
struct TeamWork {
  /// For thread \p thread of \p threads, where it stands. With OpenMP all of
  /// them at once.
  void (*body)(const TeamWork &work, uint32_t thread, uint32_t threads);
};

/// \p threads 0: as many as the team usually has. OpenMP may give fewer, and
/// the next loop will be shared out by the smaller number too.
void doAsTeam(const TeamWork &work, uint32_t threads);

/// Whether the caller is in a parallel region.
bool isInTeam();

} // namespace mpg

#endif // MPG_RUNTIME_TOUCHTEAM_H
