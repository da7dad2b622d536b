// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun --merge: one screen for people, and JSON.

#ifndef MPG_TOOLS_MPGRUN_MERGE_MERGEREPORT_H
#define MPG_TOOLS_MPGRUN_MERGE_MERGEREPORT_H

#include "mpgrun/Merge/MergeFold.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

void writeMergeText(llvm::raw_ostream &out, const Merge &merge);
/// Schema mpgmerge-1.
void writeMergeJson(llvm::raw_ostream &out, const Merge &merge);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_MERGE_MERGEREPORT_H
