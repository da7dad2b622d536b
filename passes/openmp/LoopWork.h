// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much work code does, where that is known at compile time.

#ifndef MPG_PASSES_LOOPWORK_H
#define MPG_PASSES_LOOPWORK_H

#include "base/OmpRegions.h"

namespace llvm {
class ScalarEvolution;
}

namespace mpg {

/// Instructions of a loop that is just worth a team of threads: 8,000
/// iterations of a[i] = b[i] + c[i] * d[i], each 3 loads, 2 operations, 1 store
/// and 3 for the loop. Known from teaching as the size to put into the if
/// clause.
inline constexpr uint64_t workWorthATeam = 8000 * 9;

/// Iterations of \p sharing, by all threads; nothing unless it is a constant.
std::optional<uint64_t> constantIterations(const WorksharingLoop &sharing);

/// About how many instructions all threads execute in \p function, which has
/// the worksharing loops \p sharings; nothing if that is not known.
std::optional<uint64_t> workOfRegion(llvm::Function &function,
                                     llvm::ArrayRef<WorksharingLoop> sharings,
                                     const llvm::LoopInfo &loops,
                                     llvm::ScalarEvolution &evolution);

} // namespace mpg

#endif // MPG_PASSES_LOOPWORK_H
