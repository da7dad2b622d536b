// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reserved address ranges and memory in them: the part of Pages.h for the heap.
// Reserved means mapped without any rights: it costs nothing, and nobody else
// gets the addresses. Memory comes into such a range whole or not at all, and
// goes back through the C library's munmap, because libraries that register
// memory with a network card (MPI) watch that.

#ifndef MPG_RUNTIME_PAGESRESERVE_H
#define MPG_RUNTIME_PAGESRESERVE_H

#include "Pages.h"

namespace mpg {

/// Reserves \p bytes of address space that begin at a multiple of
/// \p alignment, a power of two. Empty if they cannot be had.
Range reserve(size_t bytes, size_t alignment);

/// Gives rights to [range): normal pages that come at the first touch. Returns
/// an errno value. pre: reserved, whole base pages.
int openReserved(Range range);

/// Puts hugetlb memory into reserved addresses, as buildAway() does elsewhere.
/// Returns an errno value; the range is reserved as before then, or somebody
/// else has taken the addresses: \p lost.
/// pre: whole granules, nothing mapped but the reservation.
int mapReserved(Range range, size_t granuleBytes, bool &lost);

/// Gives memory back and reserves its addresses again. False if another thread
/// has mapped something there in between: the addresses are lost then.
/// pre: no lock is held, for libraries that watch memory going away may
/// allocate.
bool unmapReserved(Range range);
/// The same for memory that nobody has had yet; locks may be held.
bool unmapUnused(Range range);

} // namespace mpg

#endif // MPG_RUNTIME_PAGESRESERVE_H
