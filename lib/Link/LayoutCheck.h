// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The promise of the layout, checked on the file that came out: .data and .bss
// (and .ldata, .lbss) begin and end on borders of large pages, in memory that
// belongs to nothing else, and the file asks the kernel to load it so. The
// check knows nothing of how the layout was made.

#ifndef MPG_LINK_LAYOUTCHECK_H
#define MPG_LINK_LAYOUTCHECK_H

#include "Elf/Image.h"

namespace mpg {

/// Sizes of .data, .bss, .ldata and .lbss together: what --mpg-min counts.
uint64_t largeDataBytes(Image &image);

/// Whether the file has sections of the medium or large code model.
bool hasLargeSections(Image &image);

/// Names of the sections without contents that lie after the section \p tail
/// in the same segment, where nothing should be.
std::vector<std::string> sectionsBehind(Image &image, llvm::StringRef tail);

/// Everything that is not as promised, one sentence each; empty if all is.
std::vector<std::string> checkLayout(Image &image, uint64_t hugeBytes);

} // namespace mpg

#endif // MPG_LINK_LAYOUTCHECK_H
