// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory on large pages: maps it, moves it over existing memory, and advises
// the kernel. libmpg's own memory on normal pages is mapped where it is needed
// (Messages.cpp, StackMove.cpp).
//
// One idea serves every region: new memory is built somewhere else, filled and
// proven to be present, and then moved over the old in one system call. Until
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
// uses stdio. Start-up is single-threaded. Thread stacks use these functions
// from many threads at once, which is safe: what this kernel can do is the only
// state.

#pragma once

#include "base/Range.h"

namespace mpg {

enum class Source : uint8_t {
  hugetlb,     ///< private anonymous MAP_HUGETLB: "/anon_hugepage"
  hugetlbFile, ///< private hugetlb memfd with a name of ours (stacks)
  thp,         ///< anonymous, aligned, MADV_HUGEPAGE
  normal,      ///< anonymous pages of the base size
};

/// New memory at a separate address, not yet part of the program.
struct Staged {
  Range range; ///< the memory; whole frames
  Source source = Source::normal;
  int fd = -1; ///< hugetlb file: open only as long as it is needed
};

/// The contents of a piece that is moved in.
enum class Contents : uint8_t {
  copied, ///< what the caller has put there
  zero,   ///< nothing but zeros; the target gets as much of it present
};

/// Finds out what this kernel can do (moving mappings, transparent pages). Call
/// once, before everything else here. \p forceCopyBack makes it believe that
/// mappings cannot be moved, as hugetlb ones before Linux 5.16.
void probePages(bool forceCopyBack);

size_t basePageBytes();

/// Whether \p source can be moved in one system call. Where it cannot be, a
/// piece needs up to twice its size for a moment.
bool canMove(Source source);

/// Where the switches of transparent huge pages are, and that of 2 MiB there.
#define MPG_THP_FOLDER "/sys/kernel/mm/transparent_hugepage/"
#define MPG_THP_2M "hugepages-2048kB/enabled"

/// Whether MADV_HUGEPAGE memory gets transparent huge pages: sysfs has always
/// or madvise, for 2 MiB or a larger size, and this process is not switched off
/// (prctl). As of probePages().
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
/// Returns how many bytes are certain to be present, a multiple of \p
/// hugePageBytes; raises no signal, whatever is short. Of memory on transparent
/// huge or normal pages only the first word of each frame is certain. That is
/// enough, because such memory also comes when it is touched.
size_t populate(Range range, size_t hugePageBytes);

/// Rewrites one word with its own value. False if the page is missing or
/// read-only; raises no signal. pre: \p address is a multiple of 4.
bool touchWord(uintptr_t address);

/// Keeps the first \p bytes of \p staged and gives the rest back.
void shrinkStaged(Staged &staged, size_t bytes);

/// Replaces [target, target + bytes) with \p staged and its contents. All or
/// nothing: after an error the old memory is still there and \p staged still
/// exists. pre: the caller has copied the contents to keep, and nothing writes
/// to the target meanwhile (one thread, signals blocked).
///
/// If the memory cannot be moved (canMove), its contents are saved on normal
/// pages, and new large pages are mapped over the target and filled. If that
/// fails, the target gets normal pages with the same contents, the error
/// reports it, and \p staged is gone.
int moveInto(Staged &staged, uintptr_t target, size_t hugePageBytes,
             Contents contents = Contents::copied);

/// The flags of mmap for private memory of \p source that is in no file.
int mapFlags(Source source, size_t hugePageBytes);

/// Copies without touching anything but the two places: no libc, no global
/// variable. pre: whole base pages that do not overlap.
void copyPages(uintptr_t to, uintptr_t from, size_t bytes);

/// Gives \p staged back.
void discard(Staged &staged);

/// Advises transparent huge pages for existing anonymous memory and, if \p
/// collapse, makes them at once where the kernel can (Linux 6.1). Does nothing
/// where the site's setting is `never`, because a collapse would override it.
/// Returns the kernel's answer to the advice, 0 or an errno value, which may be
/// ignored.
int adviseHuge(Range range, bool collapse = true);

/// The kernel's answer to advice for transparent huge pages: 0 or an errno
/// value. For finding the cause of a shortage.
int tryAdvice();

/// Whether all of \p range, at most a frame, is mapped; true if unknown.
/// pre: it begins with a base page.
bool isMapped(Range range);

/// Has the kernel read \p range of a file, which may be shorter by now: a touch
/// would be SIGBUS. Returns an errno value; EINVAL before Linux 5.14, which
/// cannot be asked.
int readIn(Range range);

/// The number of base pages of \p range that are in memory; SIZE_MAX if
/// unknown. pre: whole base pages, at most a frame of 2 MiB.
size_t countPresent(Range range);

/// The contents of a frame.
enum class Presence : uint8_t {
  alone,  ///< half of it and more is present, and no other process has it
  shared, ///< a parent or child has some of it, too
  other,  ///< little, swapped out, or not known
};
/// pre: \p frame is a frame or one base page, of private memory.
Presence readPresence(Range frame);

/// Makes the kernel put \p frame on one transparent huge page (Linux 6.1).
/// Returns 0 or an errno value: EINVAL if it cannot, ENOMEM if there is none.
int collapse(Range frame);

/// Length of the stretch at the start of \p range whose frames are all touched
/// or all untouched; \p touched receives which. pre: \p range is whole frames
/// and not empty.
size_t touchedRun(Range range, size_t hugePageBytes, bool &touched);

// Addresses (PagesReserve.cpp). Address ranges for later, and memory in them,
// for the heap. A chosen range is not mapped, because addresses count against
// RLIMIT_AS even without access rights, and a program that sets such a limit
// for itself could map nothing any more. So others may get addresses in it: it
// lies where the kernel does not put mappings by itself, and memory is mapped
// only where nothing else is. It is returned through the C library's munmap,
// because libraries that register memory with a network card (MPI) watch that.

/// Reserves \p bytes of address space that begin at a multiple of
/// \p alignment, a power of two. Empty if they cannot be had.
Range reserve(size_t bytes, size_t alignment);

/// Gives rights to [range): normal pages that come at the first touch. Returns
/// an errno value. pre: reserved, whole base pages.
int openReserved(Range range);

/// A number of this process's own, for addresses that cannot be guessed; 0
/// where addresses are to be the same in each run (setarch -R, debuggers).
uint64_t addressRandom();

/// \p bytes of free addresses at a place of this process, beginning at a
/// multiple of \p alignment. Empty if there are none.
Range chooseAddresses(size_t bytes, size_t alignment);

/// Maps memory at chosen addresses, as buildStaged() does elsewhere. Returns an
/// errno value, with nothing changed; EEXIST: other memory uses some of them.
/// pre: whole frames.
int mapChosen(Range range, Source source, size_t hugePageBytes);
/// The same for tables, of which most is never touched: normal pages that do
/// not count as promised. pre: whole base pages.
int mapTable(Range range);

/// Gives the memory back.
/// pre: no lock is held, for libraries that watch memory going away may
/// allocate.
void unmapChosen(Range range);

/// Makes the pages zero and gives them back; the addresses stay. False if that
/// fails, as for locked memory. pre: as unmapChosen(); whole base pages, or
/// empty.
bool emptyChosen(Range range);

} // namespace mpg
