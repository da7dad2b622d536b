// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common part of the passes' classes.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// Runs at -O0 and on functions that are not to be optimised, too.
template <typename Pass> struct RequiredPass : PassInfoMixin<Pass> {
  static bool isRequired() { return true; }
};

/// The end of a pipeline, by what follows it.
enum class Stage {
  last,    ///< nothing changes the code any more
  preLink, ///< a link with LTO will optimise again: leave the marks
  unknown  ///< LLVM 19, which does not say: decided by the module's flags
};

/// At the end of a pipeline.
template <typename Pass> struct StagePass : RequiredPass<Pass> {
  using Stage = mpg::Stage;
  explicit StagePass(Stage stage) : stage(stage) {}

protected:
  Stage stage;
};

} // namespace mpg
