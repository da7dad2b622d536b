// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work that is to be done where each thread of the program's teams stands.

#ifndef MPG_RUNTIME_TEAM_H
#define MPG_RUNTIME_TEAM_H

#include <stdint.h>

namespace mpg {

/// Two large pages, the fewest that can lie on two nodes. Less than that is in
/// the L2 cache of one group in any case (HW:a64fx-l2-way), and starting a team
/// costs more than it brings.
constexpr uint64_t leastSharedBytes = 4 << 20;

/// What is to be done where each thread of a team stands; derive from it for
/// the data.
struct TeamWork {
  /// For thread \p thread of \p threads, where it stands. With OpenMP all of
  /// them at once.
  void (*body)(const TeamWork &work, uint32_t thread, uint32_t threads);
};

/// By the threads of the program's OpenMP runtime if it has one, else as
/// visitPlaces(). \p threads 0: as many as the team usually has. OpenMP may
/// give fewer, and the next loop will be shared out by the smaller number too.
void doAsTeam(const TeamWork &work, uint32_t threads);

/// The calling thread goes from CPU to CPU, to where the threads would stand by
/// OMP_PLACES and its like, else over all CPUs, and comes back. False if it
/// could not go: the work is done all the same, from where it was.
bool visitPlaces(const TeamWork &work, uint32_t threads);

/// Whether the caller is in a parallel region.
bool isInTeam();

} // namespace mpg

#endif // MPG_RUNTIME_TEAM_H
