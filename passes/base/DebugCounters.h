// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// -mllvm -debug-counter=mpg-tag=0-99 tags the first hundred accesses only: with
// it, the one tag that breaks a program is found by halving.

#ifndef MPG_PASSES_DEBUGCOUNTERS_H
#define MPG_PASSES_DEBUGCOUNTERS_H

namespace mpg {

/// Makes the counter known. Call it once, before the command line is read; not
/// from a global constructor, see registerPassOptions.
void registerDebugCounters();

/// Counts one access; whether it may be tagged.
bool shouldTag();

} // namespace mpg

#endif // MPG_PASSES_DEBUGCOUNTERS_H
