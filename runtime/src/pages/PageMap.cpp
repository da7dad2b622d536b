// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PageMap.h.

#include "pages/PageMap.h"
#include "base/Syscall.h"
#include "mpg/pagemap.h"
#include <atomic>
#include <fcntl.h>
#include <sys/mman.h>

using namespace mpg;

static constexpr uint64_t presentBit = 1ULL << 63, swappedBit = 1ULL << 62,
                          fileBit = 1ULL << 61, exclusiveBit = 1ULL << 56;

PageMap::PageMap()
    : fd(int(rawCall(SYS_openat, AT_FDCWD, long("/proc/self/pagemap"),
                     O_RDONLY | O_CLOEXEC))) {}

PageMap::~PageMap() {
  if (fd >= 0)
    rawCall(SYS_close, fd);
}

/// Under an emulator the file can describe other addresses than ours. Checks it
/// with two pages, one touched and one not.
bool PageMap::describesUs() const {
  size_t bytes = 2 * basePageBytes();
  long at =
      mapMemory(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (isError(at))
    return false;
  Range pages{uintptr_t(at), uintptr_t(at) + bytes};
  // Not both of them on one transparent huge page.
  adviseMemory(pages, MADV_NOHUGEPAGE);
  *reinterpret_cast<volatile char *>(at) = 1;
  uint64_t words[2];
  bool truth = readWords(pages.start, 2, words) &&
               (words[0] & (presentBit | swappedBit)) &&
               !(words[1] & (presentBit | swappedBit));
  unmapMemory(pages);
  return truth;
}

bool PageMap::isReliable() const {
  static std::atomic<char> answer{'?'}; // y or n when known
  if (fd >= 0 && answer == '?')
    answer = describesUs() ? 'y' : 'n';
  return fd >= 0 && answer == 'y';
}

bool PageMap::readWords(uintptr_t start, size_t pages, uint64_t *words) const {
  long want = long(pages * sizeof *words);
  return rawCall(SYS_pread64, fd, long(words), want,
                 long(start / basePageBytes() * sizeof *words)) == want;
}

bool PageMap::isTouched(Range range) const {
  uint64_t words[512];
  size_t pages = range.bytes() / basePageBytes();
  uintptr_t at = range.start;
  if (!isReliable())
    return true;
  while (pages) {
    size_t count = pages < 512 ? pages : 512;
    if (!readWords(at, count, words))
      return true;
    for (size_t i = 0; i < count; ++i)
      if (words[i] & (presentBit | swappedBit))
        return true;
    at += count * basePageBytes();
    pages -= count;
  }
  return false;
}

/// The words of all pages of \p frame; 0: they cannot be read.
size_t PageMap::readFrame(Range frame, uint64_t (&words)[maxPages]) const {
  size_t pages = frame.bytes() / basePageBytes();
  return isReliable() && pages <= maxPages &&
                 readWords(frame.start, pages, words)
             ? pages
             : 0;
}

FilePresence PageMap::readFilePresence(Range frame) const {
  uint64_t words[maxPages];
  size_t pages = readFrame(frame, words), count = 0;
  if (!pages)
    return FilePresence::unknown;
  for (size_t i = 0; i < pages; ++i) {
    bool isHere = words[i] & presentBit;
    if ((words[i] & swappedBit) || (isHere && !(words[i] & fileBit)))
      return FilePresence::owned;
    count += isHere ? 1 : 0;
  }
  return count == pages ? FilePresence::all : FilePresence::part;
}

bool PageMap::isOnLargePages(Range frames) const {
  mpg_scan_region first = {};
  mpg_scan scan = mpg_scan_for(&first, 1, frames.end);
  scan.start = frames.start;
  scan.inverted = scan.anyOf = scan.returned = 0;
  scan.mask = MPG_PAGE_FILE | MPG_PAGE_PRESENT | MPG_PAGE_HUGE;
  return rawCall(SYS_ioctl, fd, long(MPG_PAGEMAP_SCAN), long(&scan)) == 1 &&
         first.start == frames.start && first.end == frames.end;
}

Presence PageMap::readPresence(Range frame) const {
  uint64_t words[maxPages];
  size_t pages = readFrame(frame, words), count = 0;
  if (!pages)
    return Presence::other;
  for (size_t i = 0; i < pages; ++i) {
    if (!(words[i] & presentBit))
      continue;
    if (!(words[i] & exclusiveBit))
      return Presence::shared;
    ++count;
  }
  return count >= pages / 2 ? Presence::alone : Presence::other;
}

// For one look (Pages.h)

Presence mpg::readPresence(Range frame) {
  return PageMap().readPresence(frame);
}

size_t mpg::touchedRun(Range range, size_t hugePageBytes, bool &touched) {
  PageMap map;
  touched = map.isTouched({range.start, range.start + hugePageBytes});
  uintptr_t at = range.start + hugePageBytes;
  while (at < range.end && map.isTouched({at, at + hugePageBytes}) == touched)
    at += hugePageBytes;
  return at - range.start;
}
