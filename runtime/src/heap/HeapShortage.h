// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said when the heap grows and finds no large pages: that it goes on
// with others, or that malloc fails because HUGETLB_FALLBACK=0 asks for that.
// One line per process each, with cause and fix.
//
// A node without any pool, where nobody has promised large pages, is no news:
// there a heap on transparent huge pages is as good as it gets, and one on
// normal pages is told of only when the program has a heap to speak of.

#ifndef MPG_RUNTIME_HEAPSHORTAGE_H
#define MPG_RUNTIME_HEAPSHORTAGE_H

#include "base/Messages.h"
#include "pages/Pages.h"

namespace mpg {

/// The heap has \p wantedBytes of \p used (thp or normal) now instead of pages
/// of \p hugeBytes from the pool; \p error is what the pool was refused with, 0
/// if it was not asked (mode thp). Call at every such growth: cheap once the
/// line is said. Thread-safe, allocates nothing.
void sayHeapFallback(uint64_t wantedBytes, size_t hugeBytes, Source used,
                     int error, Messages &messages);

/// From here on each first fallback is told: the user has asked for pages of
/// the pool by name, or how to do without.
void tellEveryFallback();

/// The cause of the first fallback, for Messages::region(): of a heap that is
/// not all on pages of the pool. Empty before; never changes after that.
const char *heapFallbackReason();

/// A block of \p wantedBytes is refused with ENOMEM, because the pool was
/// refused with \p error and no other pages may be used. As above.
void sayHeapRefusal(uint64_t wantedBytes, size_t hugeBytes, int error,
                    Messages &messages);

/// Whether an arena may take \p bytes more where there is a limit on memory.
/// Blocks of the heap lie in sizes of its own and in whole granules, which
/// takes more than the C library would; so of a limit a quarter is for arenas,
/// and what comes then is the next malloc's. Says so once. \p arenaBytes: of
/// all arenas now. Thread-safe.
bool limitAllows(uint64_t arenaBytes, uint64_t bytes, Messages &messages);

} // namespace mpg

#endif // MPG_RUNTIME_HEAPSHORTAGE_H
