// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory on large pages: how it is mapped, moved over what is there, and
// advised. What libmpg needs for itself on normal pages is mapped where it is
// needed (Messages.cpp, StackMove.cpp).
//
// One idea serves every region: new memory is built somewhere else, filled and
// proven to be there, and then moved over the old in one system call. Until
// that call nothing of the program has changed, so every failure leaves it as
// it was. The obvious call, mmap with MAP_FIXED, is never made on memory in
// use: when the pool is short it fails after it has already removed the old
// mapping (measured on Linux 6.18).
//
// Never MAP_NORESERVE: beyond the pool a touch is then SIGBUS. That pages are
// present is proven after populating, never taken from a return value of mmap:
// under a cgroup's usage limit MAP_POPULATE succeeds with pages missing.
//
// Errors are errno values, 0 is success. Nothing here allocates, prints, or
// uses stdio. Start-up is single-threaded; thread stacks use these functions
// from many threads at once, which is safe: there is no state but what
// probePages() found out.

#ifndef MPG_RUNTIME_PAGES_H
#define MPG_RUNTIME_PAGES_H

#include "base/Range.h"

namespace mpg {

enum class Source : uint8_t {
  hugetlb,     ///< private anonymous MAP_HUGETLB: "/anon_hugepage"
  hugetlbFile, ///< private hugetlb memfd with a name of ours (stacks)
  thp,         ///< anonymous, aligned, MADV_HUGEPAGE
  normal,      ///< anonymous pages of the base size
};

/// New memory in a place of its own, not yet part of the program.
struct Staged {
  Range range; ///< the memory; whole frames
  Source source = Source::normal;
  int fd = -1; ///< hugetlb file: open only as long as it is needed
};

/// What a piece that is moved in has in it.
enum class Contents : uint8_t {
  copied, ///< what the caller has put there
  zero,   ///< nothing but zeros; the target gets as much of it present
};

/// Finds out what this kernel can do (moving hugetlb mappings, populating with
/// an answer). Call once, before everything else here. \p forceCopyBack makes
/// it believe that mappings cannot be moved, as hugetlb ones before Linux 5.16.
void probePages(bool forceCopyBack);

size_t basePageBytes();

/// Whether \p source can be moved in one system call. Where it cannot be, a
/// piece needs up to twice its size for a moment.
bool canMove(Source source);

/// Where the switches of transparent huge pages are, and that of 2 MiB there.
#define MPG_THP_FOLDER "/sys/kernel/mm/transparent_hugepage/"
#define MPG_THP_2M "hugepages-2048kB/enabled"

/// THP for MADV_HUGEPAGE memory: sysfs says always or madvise, for 2 MiB or a
/// larger size, and this process has not been switched off (prctl). As it was
/// at probePages().
bool thpIsAllowed();

/// Whether these can be of 2 MiB; reads sysfs.
bool thpOf2MibIsOn();

/// Whether AnonHugePages counts pages of 2 MiB. On base pages of 64 KiB it is
/// those of 512 MiB alone (HW:huge-sizes-64k).
bool thpIsCounted();

/// New memory of \p bytes, readable and writable, nothing present yet. hugetlb
/// memory is reserved: touching it later cannot fail for want of a page, but
/// it can under a cgroup's usage limit; then populate() it. \p name (hugetlb
/// file only) is what /proc/PID/maps will show.
/// pre: \p bytes is a multiple of \p hugePageBytes, a power of two.
int buildStaged(Source source, size_t bytes, size_t hugePageBytes,
                const char *name, Staged &staged);

/// Makes the memory present, from its start on, without changing its contents.
/// Returns how many bytes are present for certain, a multiple of
/// \p hugePageBytes; no signal, whatever is short. Of memory on transparent
/// huge or normal pages only the first word of each frame is certain, and no
/// more is needed: such memory comes when it is touched.
size_t populate(Range range, size_t hugePageBytes);

/// Writes one word as it is. False if the page cannot be had or written to; no
/// signal. pre: \p address is a multiple of 4.
bool touchWord(uintptr_t address);

/// Keeps the first \p bytes of \p staged and gives the rest back.
void shrinkStaged(Staged &staged, size_t bytes);

/// Puts \p staged in the place of [target, target + bytes) with its contents.
/// All or nothing: after an error the old memory is there as before and \p
/// staged still exists. pre: the caller has copied what has to survive, and
/// nothing writes to the target meanwhile (one thread, signals blocked). Where
/// the memory cannot be moved (canMove), its contents are set aside on normal
/// pages, new large pages are mapped over the target and filled again; should
/// that fail, the target gets normal pages with the same contents, and the
/// error says so; \p staged is gone then.
int moveInto(Staged &staged, uintptr_t target, size_t hugePageBytes,
             Contents contents = Contents::copied);

/// Maps new memory of \p source over \p target, whatever is there; nothing of
/// it is present yet, and hugetlb memory is reserved. Returns an errno value;
/// there may be nothing at the target then. \p fd: for hugetlbFile.
int mapOver(Range target, Source source, size_t hugePageBytes, int fd = -1);

/// The flags of mmap for private memory of \p source that is in no file.
int mapFlags(Source source, size_t hugePageBytes);

/// Copies without touching anything but the two places: no libc, no global
/// variable. pre: whole base pages that do not overlap.
void copyPages(uintptr_t to, uintptr_t from, size_t bytes);

/// Gives \p staged back.
void discard(Staged &staged);

/// Asks for transparent huge pages on existing anonymous memory and, if
/// \p collapse, for their making at once where the kernel can do that (Linux
/// 6.1). Does nothing where the site says `never`: the collapse by itself
/// would go past that. Returns what the kernel said to the advice, 0 or an
/// errno value, which may be ignored.
int adviseHuge(Range range, bool collapse = true);

/// What the kernel says to a wish for transparent huge pages: 0 or an errno
/// value. For those who look for the cause of a shortage.
int tryAdvice();

/// Whether any page of \p range has contents (present or swapped out); true
/// when that cannot be told. pre: \p range is whole base pages.
bool isTouched(Range range);

/// The contents of a frame.
enum class Presence : uint8_t {
  alone,  ///< half of it and more is present, and no other process has it
  shared, ///< a parent or child has some of it, too
  other,  ///< little, swapped out, or not known
};
/// pre: \p frame is a frame of private memory.
Presence presenceOf(Range frame);

/// Has the kernel put \p frame on one transparent huge page (Linux 6.1).
/// Returns 0 or an errno value: EINVAL if it cannot, ENOMEM if there is none.
int collapse(Range frame);

/// Length of the stretch at the start of \p range whose frames are all
/// touched or all untouched; \p touched says which.
/// pre: \p range is whole frames and not empty.
size_t touchedRun(Range range, size_t hugePageBytes, bool &touched);

//===----------------------------------------------------------------------===//
// Addresses (PagesReserve.cpp)
//===----------------------------------------------------------------------===//
//
// Address ranges for later, and memory in them: the part for the
// heap. A range that is chosen is not mapped: addresses count against RLIMIT_AS
// even where they have no rights, and a program that sets such a limit for
// itself could map nothing any more. So others may get addresses in it; it lies
// where the kernel does not put mappings by itself, and memory comes only where
// there is none of others'. It goes back through the C library's munmap,
// because libraries that register memory with a network card (MPI) watch that.

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

/// \p bytes of free addresses, at a place of this process's own,
/// beginning at a multiple of \p alignment. Empty if there are none.
Range chooseAddresses(size_t bytes, size_t alignment);

/// Memory for chosen addresses, as buildStaged() makes it elsewhere. Returns an
/// errno value, and then nothing has changed; EEXIST: other memory has some of
/// them. pre: whole frames.
int mapChosen(Range range, Source source, size_t hugePageBytes);
/// The same for tables, of which most is never touched: normal pages that do
/// not count as promised. pre: whole base pages.
int mapTable(Range range);

/// Gives the memory back.
/// pre: no lock is held, for libraries that watch memory going away may
/// allocate.
void unmapChosen(Range range);

/// Makes the pages zero and gives them back; the addresses stay. Returns
/// whether it could be: not where memory is locked in. pre: as unmapChosen();
/// whole base pages, or empty.
bool emptyChosen(Range range);

} // namespace mpg

#endif // MPG_RUNTIME_PAGES_H
