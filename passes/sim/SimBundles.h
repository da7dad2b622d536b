// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of a basic block that follow each other become one record, with one
// address for all that lie at fixed distances from it (MPG_SIM_BUNDLE): the
// body of a loop that was unrolled writes, and mpgsim reads, much less.

#ifndef MPG_PASSES_SIMBUNDLES_H
#define MPG_PASSES_SIMBUNDLES_H

#include "sim/SimRecords.h"

namespace llvm {
class ScalarEvolution;
} // namespace llvm

namespace mpg {

class SimTable;

/// \p checks: each access is recorded as well, as MPG_SIM_CHECKED.
SimRecords bundleUp(const SimRecords &records, SimTable &table,
                    llvm::ScalarEvolution &scev, bool checks);

} // namespace mpg

#endif // MPG_PASSES_SIMBUNDLES_H
