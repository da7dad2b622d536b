// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TextPages.h. Measured on Linux 6.18 with ext4: of 12 MiB that a linker
// had just written, all were on large pages after this, none without.

#include "Process/TextPages.h"
#include "Elf/HugeLayout.h"
#include "Elf/Image.h"
#include "Node/HugePages.h"
#include "Node/SysTree.h"
#include "Process/RunReport.h"
#include "mpg/advice.h"
#include "mpg/filesystems.h"
#include "llvm/Support/MathExtras.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

/// Whole large pages of a file.
struct FileFrames {
  uint64_t offset, bytes;
};

/// Such a part mapped as the program will map it.
class MappedFrames {
public:
  MappedFrames(int file, FileFrames frames);
  void collapse() const { madvise(start, frames.bytes, MPG_ADVICE_COLLAPSE); }
  /// Reads a page of each frame. Whether all of each came by that.
  bool areLarge() const;

private:
  const FileFrames frames;
  LargeSpace space;
  char *start = nullptr; ///< null: it cannot be mapped
};

} // namespace

MappedFrames::MappedFrames(int file, FileFrames frames)
    : frames(frames), space(frames.bytes) {
  char *at = space.start();
  if (at &&
      mmap(at, frames.bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
           file, off_t(frames.offset)) != MAP_FAILED &&
      madvise(at, frames.bytes, MADV_HUGEPAGE) == 0 &&
      // Reading ahead can make small pages: HW:file-thp-anew.
      madvise(at, frames.bytes, MADV_RANDOM) == 0)
    start = at;
}

/// Whether the last page of the frame at \p address is mapped.
static bool isWhole(int pagemap, uintptr_t address) {
  constexpr uint64_t isPresent = uint64_t(1) << 63;
  uint64_t word = 0, last = (address + largePageBytes - 1) / 4096;
  return pread(pagemap, &word, sizeof(word), off_t(last * sizeof(word))) ==
             sizeof(word) &&
         (word & isPresent);
}

bool MappedFrames::areLarge() const {
  if (!start)
    return false;
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  bool all = pagemap >= 0;
  for (uint64_t at = 0; all && at < frames.bytes; at += largePageBytes)
    all = madvise(start + at, 4096, MPG_ADVICE_POPULATE_READ) == 0 &&
          isWhole(pagemap, reinterpret_cast<uintptr_t>(start + at));
  if (pagemap >= 0)
    close(pagemap);
  return all;
}

static std::vector<FileFrames> findFrames(const std::string &program) {
  std::vector<FileFrames> frames;
  consumeError(readImages(program, [&](Image &image) {
    if (!image.isLoadable() || image.dynamic().textrel)
      return;
    for (const Segment &load : image.loads())
      if (uint64_t bytes = fileFrameBytes(load, largePageBytes))
        frames.push_back({alignTo(load.offset, largePageBytes), bytes});
  }));
  return frames;
}

/// The switches of the site count for files too.
static bool mayHaveLargePages() {
  Fact<std::string> word =
      readTransparentFacts(SysTree("/")).effective(largePageBytes);
  return word && *word != "never" && sysconf(_SC_PAGESIZE) == 4096;
}

/// Only clean pages can be dropped, and only those that nobody maps.
static void dropClean(int file, FileFrames frames) {
  fdatasync(file);
  posix_fadvise(file, off_t(frames.offset), off_t(frames.bytes),
                POSIX_FADV_DONTNEED);
}

static void makeLarge(int file, FileFrames frames) {
  if (MappedFrames(file, frames).areLarge())
    return;
  dropClean(file, frames);
  MappedFrames again(file, frames);
  if (!again.areLarge())
    again.collapse(); // tmpfs; CONFIG_READ_ONLY_THP_FOR_FS
}

/// Reading at random is page by page.
static void makeSmall(int file, FileFrames frames) {
  dropClean(file, frames);
  posix_fadvise(file, off_t(frames.offset), off_t(frames.bytes),
                POSIX_FADV_RANDOM);
  char byte;
  for (uint64_t at = 0; at < frames.bytes; at += 4096)
    if (pread(file, &byte, 1, off_t(frames.offset + at)) != 1)
      return;
}

void mpg::placeText(const std::string &program, CodePages pages) {
  std::vector<FileFrames> all = findFrames(program);
  if (all.empty() || !mayHaveLargePages())
    return;
  int file = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  struct statfs system;
  if (file >= 0 && fstatfs(file, &system) == 0 &&
      mpg_is_local_filesystem(static_cast<unsigned long>(system.f_type)))
    for (FileFrames frames : all)
      pages == CodePages::large ? makeLarge(file, frames)
                                : makeSmall(file, frames);
  if (file >= 0)
    close(file);
}

/// Why some of the libraries' code is not on large pages.
static std::string explainLibraries(const RunReport &report, StringRef mode) {
  if (mode != "auto" && mode != "copy")
    return "not asked for: mpgrun --text=copy, or --text where they are linked "
           "for it (MPG153)";
  if (!report.hasState)
    return "libmpg was not there to ask for it";
  return mode == "copy" ? "libraries loaded later (dlopen) are left alone"
                        : "libraries that are not linked for it (MPG153), or "
                          "were loaded later (dlopen)";
}

void mpg::explainText(RunReport &report, const std::string &program,
                      StringRef mode) {
  uint64_t eligibleBytes = 0;
  for (FileFrames frames : findFrames(program))
    eligibleBytes += frames.bytes;
  for (RegionUse &use : report.regions) {
    bool isOnlyItsEnd = use.mappedBytes < use.hugeBytes + largePageBytes;
    if (!isOfPageCache(use.region) || isOnlyItsEnd || !use.reason.empty())
      continue;
    if (use.region == RunRegion::libraryText)
      use.reason = explainLibraries(report, mode);
    else if (use.isCopied)
      use.reason = "its ends share 2 MiB with other memory";
    else if (mode == "copy")
      use.reason = "libmpg was not there to copy it";
    else if (eligibleBytes == 0)
      use.reason = "the file is not linked for it: mpgaudit has the line for "
                   "the linker (MPG153)";
    else if (mode != "auto")
      use.reason = "not asked for: mpgrun --text";
    else
      use.reason = "another process maps the file, so its small pages stay in "
                   "the page cache, or the file system has no large ones "
                   "(mpginfo: file-pages)";
  }
}
