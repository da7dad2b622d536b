// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A frame of the page cache goes through up to four tries, until all of its
// pages come by one fault, which shows that it is on a large page:
//
//   as it is    the page cache may have it so from an earlier run
//   mapped anew its page table may be that of small pages
//   read anew   the page cache may hold small pages: those that nobody maps and
//               that are clean can be dropped; the read after that makes a
//               large one, because the memory asks for it. Where the empty
//               page table of the small ones stays (HW:file-thp-anew), a second
//               mapping takes the place of the first
//   collapsed   tmpfs, and kernels with CONFIG_READ_ONLY_THP_FOR_FS (Linux 6.1)
//
// A step that failed for one frame is not tried for the next ones of the file:
// it costs reads, also of other processes.
//
// Pages are touched through the kernel (MADV_POPULATE_READ, Linux 5.14),
// because the file may be shorter by now, and that would be SIGBUS.

#include "segments/Text.h"
#include "base/Env.h"
#include "base/Messages.h"
#include "base/Syscall.h"
#include "mpg/filesystems.h"
#include "pages/PageMap.h"
#include "segments/TextCopy.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

using namespace mpg;

// The file

namespace {

/// A file whose code is mapped, and what is known about it so far.
class TextFile {
public:
  TextFile(const TextSegment &segment, const PageMap &map)
      : segment(segment), map(map) {}
  ~TextFile();
  TextFile(const TextFile &) = delete;
  TextFile &operator=(const TextFile &) = delete;
  /// Puts \p frame, at \p offset, on a large page; else the reason why not.
  const char *makeLarge(Range frame, uint64_t offset);

private:
  bool canDrop();
  bool drop(Range frame, uint64_t offset);
  bool isLargeAt(Range space, uint64_t offset) const;
  bool replace(Range frame, uint64_t offset) const;
  bool collapseFrame(Range frame);
  void stopDropping();

  const TextSegment &segment;
  const PageMap &map;
  int fd = -1;
  enum { unknown, yes, no } mayDrop = unknown;
  bool mayCollapse = true;
};

} // namespace

TextFile::~TextFile() {
  if (fd >= 0)
    rawCall(SYS_close, fd);
}

/// Whether the file is the mapped one and can be read again on this node alone.
/// Opens it only now: it may be on large pages as it is.
bool TextFile::canDrop() {
  if (mayDrop != unknown)
    return mayDrop == yes;
  struct statfs system;
  struct stat status;
  fd = int(rawCall(SYS_openat, AT_FDCWD, long(segment.path()),
                   O_RDONLY | O_CLOEXEC));
  bool isOurs =
      fd >= 0 && fstatfs(fd, &system) == 0 &&
      mpg_is_local_filesystem(static_cast<unsigned long>(system.f_type)) &&
      fstat(fd, &status) == 0 && status.st_ino == segment.findInode();
  mayDrop = isOurs ? yes : no;
  return isOurs;
}

/// Takes the pages of \p frame from this process, if none has been changed.
static bool unmapPages(Range frame) {
  return !adviseMemory(frame, MADV_DONTNEED);
}

/// Has the first page of \p frame read, with its neighbours; an errno value.
static int readFirstPage(Range frame) {
  return readIn({frame.start, frame.start + basePageBytes()});
}

/// Waits for pages that are being read: they could not be dropped.
bool TextFile::drop(Range frame, uint64_t offset) {
  return readIn(frame) == 0 && unmapPages(frame) &&
         rawCall(SYS_fadvise64, fd, long(offset), long(frame.bytes()),
                 POSIX_FADV_DONTNEED) == 0;
}

/// Maps the frame at \p offset at \p space. Whether it is on a large page
/// there.
bool TextFile::isLargeAt(Range space, uint64_t offset) const {
  int rights = PROT_READ | (segment.isCode ? PROT_EXEC : 0);
  return !isError(mapMemory(space.start, space.bytes(), rights,
                            MAP_PRIVATE | MAP_FIXED, fd, offset)) &&
         !adviseMemory(space, MADV_HUGEPAGE) &&
         !adviseMemory(space, MADV_RANDOM) && readFirstPage(space) == 0 &&
         map.readFilePresence(space) == FilePresence::all;
}

/// Moves a second mapping of the file over \p frame, if that is on a large
/// page.
bool TextFile::replace(Range frame, uint64_t offset) const {
  if (segment.isGuarded)
    return false;
  Range space = reserve(hugeFrameBytes, hugeFrameBytes);
  if (space.empty())
    return false;
  long bytes = long(space.bytes());
  if (!isLargeAt(space, offset) ||
      rawCall(SYS_mremap, long(space.start), bytes, bytes,
              MREMAP_MAYMOVE | MREMAP_FIXED,
              long(frame.start)) != long(frame.start)) {
    unmapMemory(space);
    return false;
  }
  return unmapPages(frame) && readFirstPage(frame) == 0 &&
         map.readFilePresence(frame) == FilePresence::all;
}

/// EAGAIN: khugepaged is at work there.
bool TextFile::collapseFrame(Range frame) {
  int error = mayCollapse ? collapse(frame) : EINVAL;
  mayCollapse = error == 0 || error == EAGAIN;
  return error == 0;
}

/// Pages that were just written could not be dropped. Has the kernel begin with
/// what it would do in half a minute, so that the next start finds them clean.
void TextFile::stopDropping() {
  mayDrop = no;
  rawCall(SYS_sync_file_range, fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

const char *TextFile::makeLarge(Range frame, uint64_t offset) {
  enum Try { asItIs, mappedAnew, readAnew, collapsed, none };
  for (int next = asItIs; next != none; ++next) {
    if ((next == mappedAnew && !unmapPages(frame)) ||
        (next == readAnew && !(canDrop() && drop(frame, offset))) ||
        (next == collapsed && !collapseFrame(frame)))
      continue;
    if (int error = readFirstPage(frame))
      return error == EINVAL ? "the kernel cannot be asked to read it (before "
                               "Linux 5.14); it may come later"
                             : "the file cannot be read";
    switch (map.readFilePresence(frame)) {
    case FilePresence::all:
      return nullptr;
    case FilePresence::owned:
      return "this process has changed pages of it (relocations, a breakpoint)";
    case FilePresence::unknown:
      return "/proc/self/pagemap cannot be read, so it is not known";
    case FilePresence::part:
      break;
    }
    if (next == readAnew) {
      if (replace(frame, offset))
        return nullptr;
      stopDropping();
    }
  }
  return "small pages of the file are in the page cache: it was just written, "
         "or another process maps it (start it again later, or by mpgrun "
         "--text), or the file system has no large ones (mpginfo: file-pages)";
}

// The step

namespace {

/// What became of code, and of constants.
struct TextTally {
  uint64_t bytes = 0, hugeBytes = 0;
  const char *reason = nullptr; ///< the first
};

} // namespace

/// Why none of \p segment can be on large pages; null if it can.
static const char *findObstacle(const TextSegment &segment) {
  if (!segment.isAligned() || segment.frames().empty())
    return "address and place in the file differ modulo 2 MiB; fix: the line "
           "for the linker that mpgaudit prints (MPG153)";
  if (segment.hasRelocations)
    return "it has text relocations; fix: compile all of it with -fPIC";
  if (!thpIsAllowed())
    return "the system or the process forbids transparent huge pages "
           "(" MPG_THP_FOLDER "enabled)";
  if (!thpIsCounted())
    return "base pages of this size have no large pages of 2 MiB for files";
  if (!segment.findInode())
    return "/proc/self/maps does not show it as a mapping of the file";
  return nullptr;
}

/// Whether an earlier start has put all of \p frames on large pages, as is
/// usual.
static bool areLarge(Range frames, const PageMap &map) {
  for (uintptr_t at = frames.start; at < frames.end; at += hugeFrameBytes)
    if (readFirstPage({at, at + hugeFrameBytes}) != 0)
      return false;
  return map.isOnLargePages(frames);
}

/// Puts the frames of \p segment on large pages one by one, as advise().
static const char *makeEachLarge(const TextSegment &segment, const PageMap &map,
                                 uint64_t &hugeBytes) {
  TextFile file(segment, map);
  Range frames = segment.frames();
  const char *reason = nullptr;
  for (uintptr_t at = frames.start; at < frames.end; at += hugeFrameBytes) {
    uint64_t offset = segment.offset + (at - segment.range.start);
    const char *problem = file.makeLarge({at, at + hugeFrameBytes}, offset);
    if (!problem)
      hugeBytes += hugeFrameBytes;
    else if (!reason)
      reason = problem;
  }
  return reason;
}

/// Asks for large pages for \p segment. \p hugeBytes receives what is on them;
/// returns why not all frames are, or null.
static const char *advise(const TextSegment &segment, uint64_t &hugeBytes) {
  if (const char *obstacle = findObstacle(segment))
    return obstacle;
  // All of it, so that it stays one mapping.
  Range all{roundDown(segment.range.start, basePageBytes()),
            roundUp(segment.range.end, basePageBytes())};
  if (adviseMemory(all, MADV_HUGEPAGE))
    return "the kernel refuses the request (madvise: no transparent huge pages "
           "of files, or a system call filter)";
  // Else the kernel reads ahead, and small pages get in the way of the third
  // frame where its read_ahead_kb is below 2 MiB: HW:file-thp-anew.
  adviseMemory(all, MADV_RANDOM);
  PageMap map;
  Range frames = segment.frames();
  const char *reason = nullptr;
  if (areLarge(frames, map))
    hugeBytes = frames.bytes();
  else
    reason = makeEachLarge(segment, map, hugeBytes);
  adviseMemory(all, MADV_NORMAL);
  return reason;
}

static void reportRest(const TextTally &tally, TextMode mode,
                       Messages &messages) {
  // The two ends of a segment are what any program may cost.
  if (!tally.reason || tally.bytes < tally.hugeBytes + hugeFrameBytes)
    return;
  messages.report(
      MPG_MSG_TEXT,
      mode == TextMode::copy ? "MPG_TEXT=copy: " : "MPG_TEXT=auto: ",
      Bytes(tally.bytes - tally.hugeBytes), " of ", Bytes(tally.bytes),
      " of code and constants stay on normal pages (more TLB misses): ",
      tally.reason);
}

void mpg::placeText(const Config &config, Messages &messages) {
  TextSegments segments(config.remapLibraries);
  if (segments.begin() == segments.end())
    return;
  bool copies = config.text == TextMode::copy;
  const char *obstacle = copies ? findObstacleToCopies() : nullptr;
  PerfMap names;
  TextTally all;
  for (const TextSegment &segment : segments) {
    uint64_t hugeBytes = 0;
    const char *reason = obstacle;
    if (!obstacle)
      reason =
          copies ? copyText(segment, hugeBytes) : advise(segment, hugeBytes);
    if (copies && segment.isCode && hugeBytes)
      names.add(segment);
    if (!*segment.file)
      messages.region(segment.isCode ? MPG_REGION_TEXT : MPG_REGION_RODATA,
                      segment.range, hugeBytes, hugeFrameBytes,
                      reason ? reason : "");
    all.bytes += segment.range.bytes();
    all.hugeBytes += hugeBytes;
    if (!all.reason)
      all.reason = reason;
  }
  reportRest(all, config.text, messages);
}
