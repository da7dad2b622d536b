// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file that a link writes: before lld runs, and after.

#ifndef MPG_TOOLS_LDMPG_LINKOUTPUT_H
#define MPG_TOOLS_LDMPG_LINKOUTPUT_H

#include "Link/LinkPlan.h"
#include "llvm/Support/FileSystem.h"

namespace mpg {

/// Whether the output is no file (a device, a pipe, standard output): what is
/// written cannot be read, or written anew.
bool isSpecialOutput(const std::string &path);

/// lld and the kernel decide for themselves; this only tells early, and in
/// plain words, that the output cannot be written.
bool isOutputWritable(const std::string &path);

/// What an output is before it is linked: shows whether it was written anew.
llvm::sys::fs::UniqueID outputId(const std::string &path);

/// What was linked, judged as large pages of \p hugeBytes ask for.
OutputFacts readOutput(const std::string &path, uint64_t hugeBytes);

void removeOutput(const std::string &path);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKOUTPUT_H
