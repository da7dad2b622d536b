// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG153: code that the kernel can map with normal pages only, because the file
// has the wrong layout. HW:file-thp has the rule and the trials.

#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static uint64_t getMaxAlign(const Image &image) {
  uint64_t align = 0;
  for (const Segment &load : image.loads())
    align = std::max(align, load.align);
  return align;
}

/// The kernel places a position-independent program at a multiple of its
/// largest p_align, and glibc's loader does the same with a library. A library
/// with the alignment of base pages is an exception: the kernel chooses its
/// address, one that fits large pages. Other programs lie where they were
/// linked.
static bool isPlacedToFit(const Image &image, uint64_t hugeBytes) {
  constexpr uint64_t basePageBytes = 4096;
  if (image.kind() == ElfKind::exec || image.kind() == ElfKind::staticExec)
    return true;
  uint64_t align = getMaxAlign(image);
  return align >= hugeBytes ||
         (image.kind() == ElfKind::library && align <= basePageBytes);
}

FileMemory mpg::findFileMemory(Image &image, uint64_t hugeBytes, bool code) {
  FileMemory memory;
  for (const Segment &load : image.loads()) {
    if (load.writable() || load.executable() != code)
      continue;
    memory.bytes = SaturatingAdd(memory.bytes, load.memoryBytes);
    memory.eligibleBytes =
        SaturatingAdd(memory.eligibleBytes, fileFrameBytes(load, hugeBytes));
  }
  // A relocation writes to the code, and the written pages are private copies,
  // not those of the page cache.
  if (!isPlacedToFit(image, hugeBytes) || image.dynamic().textrel)
    memory.eligibleBytes = 0;
  return memory;
}

/// The linker of the file, by the name that it left there. GNU ld leaves none:
/// "bfd" if the compiler left its own, and "any" if nothing is known.
static StringRef findLinker(const Subject &subject) {
  constexpr uint64_t maxBytes = 64 << 10;
  Image &image = subject.image;
  const Section *section = image.findSection(".comment");
  StringRef comment = section ? image.sectionData(*section, maxBytes) : "";
  if (subject.notes().layout)
    return "ld.mpg";
  if (comment.contains("LLD "))
    return "lld";
  if (comment.contains("mold "))
    return "mold";
  if (image.findSection(".note.gnu.gold-version"))
    return "gold";
  return comment.empty() ? "any" : "bfd";
}

/// "  lld: -Wl,..."
static std::string makeLinkLine(const Subject &subject) {
  StringRef linker = findLinker(subject);
  if (linker == "ld.mpg")
    return "  ld.mpg: -Wl,--mpg-text";
  std::string line = ("  " + linker + ": -Wl,-z,max-page-size=").str() +
                     std::to_string(subject.hugeBytes);
  // gold refuses it, and an unknown linker may be gold.
  if (linker != "gold" && linker != "any")
    line += ",-z,separate-code";
  return line;
}

static std::string explainMisfit(const Subject &subject) {
  const Image &image = subject.image;
  std::string huge = formatBytes(subject.hugeBytes);
  if (!isPlacedToFit(image, subject.hugeBytes))
    return "no segment is aligned to more than " +
           formatBytes(getMaxAlign(image)) +
           ", so the file is placed without regard to " + huge;
  for (const Segment &load : image.loads())
    if (load.executable() && !load.writable() &&
        (load.address - load.offset) % subject.hugeBytes != 0)
      return "address " + formatHex(load.address) + " and file offset " +
             formatHex(load.offset) + " differ within " + huge;
  return "it does not begin at a multiple of " + huge +
         ", so hardly a whole page of that size lies in it";
}

void mpg::checkCode(const Subject &subject, Findings &findings) {
  Image &image = subject.image;
  if (!findings.wants(FindingId::mpg153) || !image.fullyRead() ||
      !image.isLoadable() || image.dynamic().textrel)
    return;
  FileMemory code = findFileMemory(image, subject.hugeBytes, /*code=*/true);
  // Even a link with the right layout loses up to half of the code, at the ends
  // of its segments: no finding, since linking again would not help.
  if (code.eligibleBytes >= roundDown(code.bytes, subject.hugeBytes) / 2)
    return;
  uint64_t left = code.bytes - code.eligibleBytes;
  Finding &finding = findings.add(
      FindingId::mpg153,
      formatBytes(left) + " of code" +
          (code.eligibleBytes ? ", of " + formatBytes(code.bytes) + ","
                              : std::string()) +
          " can be on normal pages only");
  finding.evidence = explainMisfit(subject);
  finding.where.bytes = left;
  finding.setFix("Link it once more with this line, and let something ask for "
                 "the pages when it starts (--explain=MPG153).\n" +
                 makeLinkLine(subject));
}
