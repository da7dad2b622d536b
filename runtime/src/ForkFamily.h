// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processes of a family (all that come from one by fork) have been
// promised of large pages: as many as they may write to of those that they
// share. Each of them sees it, so that none takes these for something else.

#ifndef MPG_RUNTIME_FORKFAMILY_H
#define MPG_RUNTIME_FORKFAMILY_H

#include <stdint.h>

namespace mpg {

/// Before a fork. Without it, nothing is promised.
void foundFamily();

/// Bytes that this process has promised to its children and itself, instead of
/// those before. When it ends they are free again.
void promiseInFamily(uint64_t bytes);
uint64_t ownPromise();

/// All promises in the family. Thread-safe; costs a system call for each
/// process that has promised something.
uint64_t promisedInFamily();

/// In the child: what its parent has promised is not its own.
void beginAsChild();

} // namespace mpg

#endif // MPG_RUNTIME_FORKFAMILY_H
