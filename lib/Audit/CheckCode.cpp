// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG153: code that the kernel can map by normal pages only, because of how the
// file is laid out. HW:file-thp has the rule and how it was tried.

#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static uint64_t largestAlign(const Image &image) {
  uint64_t align = 0;
  for (const Segment &load : image.loads())
    align = std::max(align, load.align);
  return align;
}

/// The kernel places a position-independent program at a multiple of its
/// largest p_align. glibc's loader does so with a library too, but leaves one
/// of base pages to the kernel, which places a file to fit large pages. Other
/// programs lie where they were linked.
static bool isPlacedToFit(const Image &image, uint64_t hugeBytes) {
  constexpr uint64_t basePageBytes = 4096;
  if (image.kind() == ElfKind::exec || image.kind() == ElfKind::staticExec)
    return true;
  uint64_t align = largestAlign(image);
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
  // Relocations in code make private pages of it.
  if (!isPlacedToFit(image, hugeBytes) || image.dynamic().textrel)
    memory.eligibleBytes = 0;
  return memory;
}

/// "  lld: -Wl,..." for the linker that left its name in the file. GNU ld
/// leaves none.
static std::string linkLine(const Subject &subject) {
  constexpr uint64_t maxBytes = 64 << 10;
  Image &image = subject.image;
  const Section *section = image.findSection(".comment");
  StringRef comment = section ? image.sectionData(*section, maxBytes) : "";
  StringRef linker = subject.notes().layout                        ? "ld.mpg"
                     : comment.contains("LLD ")                    ? "lld"
                     : comment.contains("mold ")                   ? "mold"
                     : image.findSection(".note.gnu.gold-version") ? "gold"
                     : comment.empty()                             ? "any"
                                                                   : "bfd";
  if (linker == "ld.mpg")
    return "  ld.mpg: -Wl,--mpg-text";
  std::string line = ("  " + linker + ": -Wl,-z,max-page-size=").str() +
                     std::to_string(subject.hugeBytes);
  // gold refuses it, and what linked the file may be gold.
  if (linker != "gold" && linker != "any")
    line += ",-z,separate-code";
  return line;
}

static std::string reasonText(const Subject &subject) {
  const Image &image = subject.image;
  std::string huge = formatBytes(subject.hugeBytes);
  if (!isPlacedToFit(image, subject.hugeBytes))
    return "no segment is aligned to more than " +
           formatBytes(largestAlign(image)) +
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
  // Half of it is what a link that already fits may lose at the ends.
  if (code.eligibleBytes >= roundDown(code.bytes, subject.hugeBytes) / 2)
    return;
  uint64_t left = code.bytes - code.eligibleBytes;
  Finding &finding = findings.add(
      FindingId::mpg153,
      formatBytes(left) + " of code" +
          (code.eligibleBytes ? ", of " + formatBytes(code.bytes) + ","
                              : std::string()) +
          " can be on normal pages only");
  finding.evidence = reasonText(subject);
  finding.where.bytes = left;
  finding.setFix("Link it once more with this line, and let something ask for "
                 "the pages when it starts (--explain=MPG153).\n" +
                 linkLine(subject));
}
