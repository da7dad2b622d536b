// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .data and .bss on hugetlb pages and fork().

#ifndef MPG_RUNTIME_SEGMENTFORK_H
#define MPG_RUNTIME_SEGMENTFORK_H

#include "Env.h"
#include "Messages.h"
#include "Mover.h"

namespace mpg {

/// From here on a fork() is no danger to programs with .data or .bss on hugetlb
/// pages. Call once, with everything that was moved. \p parts may go away.
void watchForks(const Part *parts, size_t partCount, const Config &config,
                Messages &messages);

// The steps of Fork.cpp.

/// \p stackBytes of pages of \p stackGranuleBytes are needed besides. Returns
/// whether it is sure that these, too, can be had.
bool prepareSegments(size_t stackBytes, size_t stackGranuleBytes);
/// Pages of \p granuleBytes that earlier children may still write to: whoever
/// takes them now ends such a child. Valid after prepareSegments() said false.
uint64_t promisedToChildren(size_t granuleBytes);
void segmentsInParent();
void segmentsInChild();

} // namespace mpg

#endif // MPG_RUNTIME_SEGMENTFORK_H
