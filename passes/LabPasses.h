// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lab adds to the pipeline (remarks/, sim/). In a build without the
// lab WithoutLab.cpp defines both functions, and they add nothing.

#pragma once

#include "base/StagePass.h"

namespace mpg {

/// Adds remarks about what slows parallel code down. Wants code that is
/// simplified, but neither vectorised nor unrolled; leaves it unchanged.
void addParallelRemarks(ModulePassManager &passes);

/// Adds what makes a program report its accesses to mpgsim (--mpg-sim). Wants
/// code after the last optimisation, and before tags make addresses hard to
/// read.
void addAccessRecorder(ModulePassManager &passes, Stage stage);

} // namespace mpg
