// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass about OpenMP programs. It works on a whole module that is simplified
// but not yet vectorised: loops then still resemble the source's.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// Finds arrays that one thread initialises and all threads use, reports them,
/// and places their pages where they are used. docs/first-touch.md is the
/// user's page.
class FirstTouchPass : public PassInfoMixin<FirstTouchPass> {
public:
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);
};

} // namespace mpg
