// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Address ranges for later, and memory in them: the part of Pages.h for the
// heap. A range that is chosen is not mapped: addresses count against RLIMIT_AS
// even where they have no rights, and a program that sets such a limit for
// itself could map nothing any more. So others may get addresses in it; it lies
// where the kernel does not put mappings by itself, and memory comes only where
// nobody else's is. It goes back through the C library's munmap, because
// libraries that register memory with a network card (MPI) watch that.

#ifndef MPG_RUNTIME_PAGESRESERVE_H
#define MPG_RUNTIME_PAGESRESERVE_H

#include "pages/Pages.h"

namespace mpg {

/// Reserves \p bytes of address space that begin at a multiple of
/// \p alignment, a power of two. Empty if they cannot be had.
Range reserve(size_t bytes, size_t alignment);

/// Gives rights to [range): normal pages that come at the first touch. Returns
/// an errno value. pre: reserved, whole base pages.
int openReserved(Range range);

/// Gives the addresses of reserve() back.
void releaseAddresses(Range range);

/// A number of this process's own, for addresses that cannot be guessed; 0
/// where addresses are to be the same in each run (setarch -R, debuggers).
uint64_t addressRandom();

/// \p bytes of addresses that nobody has, at a place of this process's own,
/// beginning at a multiple of \p alignment. Empty if there are none.
Range chooseAddresses(size_t bytes, size_t alignment);

/// Memory for chosen addresses, as buildAway() makes it elsewhere. Returns an
/// errno value, and then nothing has changed; EEXIST: somebody has some of
/// them. pre: whole granules.
int mapChosen(Range range, Source source, size_t granuleBytes);
/// The same for tables, of which most is never touched: normal pages that do
/// not count as promised. pre: whole base pages.
int mapTable(Range range);

/// Gives the memory back.
/// pre: no lock is held, for libraries that watch memory going away may
/// allocate.
void unmapChosen(Range range);

} // namespace mpg

#endif // MPG_RUNTIME_PAGESRESERVE_H
