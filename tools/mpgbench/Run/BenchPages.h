// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kinds of pages by name. What only the files of measurements need; the rest is
// in BenchMemory.h.

#ifndef MPG_TOOLS_MPGBENCH_RUN_BENCHPAGES_H
#define MPG_TOOLS_MPGBENCH_RUN_BENCHPAGES_H

#include "mpgbench/Run/BenchMemory.h"
#include "llvm/Support/Error.h"

namespace mpg {

/// "4K", "2M", "1G": a size as parameters of points give it, and parseBytes
/// reads it. The largest unit that leaves a whole number.
std::string sizeName(uint64_t bytes);

/// The kind that parameters call \p name, as the kernel that runs now has it.
llvm::Expected<PageKind> findPageKind(llvm::StringRef name);

/// "128 pages of 2 MiB are needed, and 12 of 512 are free"; "" if the pool
/// holds enough for \p bytes.
std::string poolShortage(const PageFacts &pages, uint64_t pageBytes,
                         uint64_t bytes);

/// Whether at least 9 of 10 bytes of \p backing lie on \p pages; else a text
/// for WorkerResult::error.
std::string checkBackingOn(llvm::StringRef pages, const Backing &backing);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_RUN_BENCHPAGES_H
