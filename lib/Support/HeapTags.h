// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C library can tag the heap with the memory tagging of Arm (MTE): it uses
// the top byte of pointers as HPC tags do.

#ifndef MPG_SUPPORT_HEAPTAGS_H
#define MPG_SUPPORT_HEAPTAGS_H

#include "llvm/ADT/StringRef.h"

namespace mpg {

/// Whether \p tunables, a value of GLIBC_TUNABLES, lets malloc tag its memory:
/// glibc.mem.tagging with bit 0 (manual of glibc, Memory Related Tunables). The
/// last one counts.
bool tagsHeap(llvm::StringRef tunables);

} // namespace mpg

#endif // MPG_SUPPORT_HEAPTAGS_H
