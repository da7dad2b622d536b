// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the loops of a nest may be collapsed, that is, whether the iterations
// of the inner loop may run on different threads once those of the outer may.

#ifndef MPG_PASSES_LOOPNEST_H
#define MPG_PASSES_LOOPNEST_H

namespace llvm {
class Loop;
class ScalarEvolution;
} // namespace llvm

namespace mpg {

/// The loop in \p outer that can be collapsed with it; null if there is none.
/// Different pointers are taken to be to different memory: good enough for an
/// advice, not for a change of code.
const llvm::Loop *collapsibleLoop(const llvm::Loop &outer,
                                  llvm::ScalarEvolution &evolution);

} // namespace mpg

#endif // MPG_PASSES_LOOPNEST_H
