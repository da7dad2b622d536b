// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes 2 MiB pieces of a large block mappings of their own, for
// `mpgrun --profile --working-set`: the kernel says of a mapping, and to anyone
// but root of nothing smaller, how much of it was accessed.

#ifndef MPG_RUNTIME_FRAMEMARKS_H
#define MPG_RUNTIME_FRAMEMARKS_H

#include <stdint.h>

namespace mpg {

/// Marks some of the 2 MiB frames that lie wholly in [\p start, \p end), so
/// that those between two of them are mappings, too. How many were marked; none
/// when the process would have too many mappings. Any thread.
uint32_t markFrames(uint64_t start, uint64_t end);

/// Marks frames of the program's own .data and .bss.
void markProgram();

/// \p marks: what markFrames() said of the same block, which still is there.
void unmarkFrames(uint64_t start, uint64_t end, uint32_t marks);

/// The same for a block that is there no more.
void forgetMarks(uint32_t marks);

} // namespace mpg

#endif // MPG_RUNTIME_FRAMEMARKS_H
