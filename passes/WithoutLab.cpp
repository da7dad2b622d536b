// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A build without the lab has neither remarks about parallel code nor
// --mpg-sim.

#include "LabPasses.h"

void mpg::addParallelRemarks(llvm::ModulePassManager &) {}
void mpg::addAccessRecorder(llvm::ModulePassManager &, Stage) {}
