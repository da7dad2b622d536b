// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy is built elsewhere, gets the rights of the original, and takes its
// place by one system call: memory is at no moment writable and executable, and
// a failure leaves the original. Transparent pages only: of a page of the pool
// no part can get other rights, and programs that patch their code do that.

#include "segments/TextCopy.h"
#include "base/Cgroup.h"
#include "base/Syscall.h"
#include "pages/PageMap.h"
#include <errno.h>
#include <sys/mman.h>

using namespace mpg;

/// Code exists twice for a moment; not more of it than this.
static constexpr size_t pieceBytes = 32 << 20;

// V8 with short builtin calls maps its own code from the file again, by what
// /proc/self/maps shows. node and Electron export this function.
extern "C" const char *_ZN2v82V810GetVersionEv() __attribute__((weak));

const char *mpg::findObstacleToCopies() {
  if (&_ZN2v82V810GetVersionEv)
    return "V8 may map its code from the file again";
  if (!thpIsAllowed())
    return "the system or the process forbids transparent huge pages "
           "(" MPG_THP_FOLDER "enabled)";
  if (!canMove(Source::thp))
    return "the system refuses to move memory (mremap)";
  return nullptr;
}

/// Why all of \p segment stays; null if it can be copied.
static const char *findSegmentObstacle(const TextSegment &segment) {
  if (segment.frames().empty())
    return "no 2 MiB of it begin at a border of large pages";
  if (!segment.findInode())
    return "/proc/self/maps does not show it as a mapping of the file";
  if (segment.holdsUs)
    return "libmpg is part of it, and runs while it copies";
  if (segment.isGuarded)
    return "it may be guarded (BTI), which a copy would not be";
  return nullptr;
}

/// Whether the process has pages of \p frame that are not the file's. A
/// breakpoint of the kernel (uprobe) works in the file's pages alone.
static bool isChanged(const PageMap &map, Range frame) {
  FilePresence presence = map.readFilePresence(frame);
  return presence == FilePresence::owned || presence == FilePresence::unknown;
}

/// As much from the start of \p range as is unchanged.
static Range findUnchanged(Range range) {
  PageMap map;
  Range piece{range.start, range.start};
  while (piece.end < range.end && piece.bytes() < pieceBytes &&
         !isChanged(map, {piece.end, piece.end + hugeFrameBytes}))
    piece.end += hugeFrameBytes;
  return piece;
}

/// Whether \p staged is, or becomes, large pages. A kernel before 6.1 cannot be
/// asked for them at once; then they come as they would by a touch.
static bool isLarge(const Staged &staged) {
  if (populate(staged.range, hugeFrameBytes) < staged.range.bytes())
    return false;
  int error = collapse(staged.range);
  return error == 0 || error == EINVAL;
}

/// The instruction cache of AArch64 does not see what the data cache holds.
static void makeVisible(Range code) {
  __builtin___clear_cache(reinterpret_cast<char *>(code.start),
                          reinterpret_cast<char *>(code.end));
}

/// Fills \p staged and puts it in the place of \p piece; else returns why not.
static const char *replace(Range piece, Staged &staged, int rights) {
  if (!isLarge(staged))
    return "no memory is free in pieces of 2 MiB";
  copyPages(staged.range.start, piece.start, piece.bytes());
  if (protectMemory(staged.range, rights))
    return "the system refuses to make copied memory executable";
  if (moveInto(staged, piece.start, hugeFrameBytes) == 0)
    return nullptr;
  protectMemory(piece, rights); // moveInto() may have left it on normal pages
  return "the kernel has refused to move the copy";
}

/// Returns why \p piece stays where it is, or null.
static const char *copyPiece(Range piece, int rights) {
  Staged staged;
  if (!hugePagesFitGroup(piece.bytes()) ||
      buildStaged(Source::thp, piece.bytes(), hugeFrameBytes, nullptr, staged))
    return "there is not enough memory for copies";
  const char *problem = replace(piece, staged, rights);
  if (problem)
    discard(staged);
  else if (rights & PROT_EXEC)
    makeVisible(piece);
  return problem;
}

const char *mpg::copyText(const TextSegment &segment, uint64_t &hugeBytes) {
  if (const char *obstacle = findSegmentObstacle(segment))
    return obstacle;
  int rights = PROT_READ | (segment.isCode ? PROT_EXEC : 0);
  Range rest = segment.frames();
  if (int error = readIn(rest); error && error != EINVAL)
    return "the file cannot be read";
  const char *reason = nullptr;
  while (!rest.empty()) {
    Range piece = findUnchanged(rest);
    const char *problem =
        piece.empty()
            ? "this process has changed pages of it (relocations, a breakpoint)"
            : copyPiece(piece, rights);
    size_t done = piece.empty() ? hugeFrameBytes : piece.bytes();
    rest.start += done;
    if (!problem)
      hugeBytes += done;
    else if (!reason)
      reason = problem;
  }
  return reason;
}
