// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG103: do the writable segments, rounded out to large pages, stay clear of
// their neighbours? One finding for each conflicting pair, because that is how
// the vendor's message counts, and one for each other reason to refuse.

#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"
#include <elf.h>

using namespace llvm;
using namespace mpg;

/// The remapper that Fujitsu's library descends from gives up at this position
/// in the program header table. HW:pair-rule
static constexpr unsigned headerIndexLimit = 10;

/// The kernel maps nothing below. HW:mmap-min-addr
static constexpr uint64_t lowestAddress = 65536;

/// Linkers make a handful of segments; thousands of them are a joke,
/// and each costs a pass over the sections.
static constexpr size_t maxPairs = 64;

/// The section by which a reader knows the part of \p segment that lies in
/// the frame at \p frame: .data or .bss if one does, else the largest that
/// holds something: .relro_padding is the linker's filler.
static const Section *sectionIn(Image &image, const Segment &segment,
                                uint64_t frame, uint64_t hugeBytes) {
  const Section *best = nullptr;
  for (const Section &section : image.sections()) {
    bool inSegment = (section.flags & SHF_ALLOC) && section.bytes > 0 &&
                     section.address >= segment.address &&
                     section.address < segment.end();
    if (!inSegment || section.name == ".relro_padding" ||
        section.address >= frame + hugeBytes ||
        section.address + section.bytes <= frame)
      continue;
    if (section.name == ".data" || section.name == ".bss")
      return &section;
    if (!best || section.bytes > best->bytes)
      best = &section;
  }
  return best;
}

static std::string describe(const Segment &segment, unsigned index) {
  std::string flags = segment.writable() ? "rw" : "r";
  if (segment.executable())
    flags += "x";
  return "segment " + std::to_string(index) + " (" + flags + ", " +
         formatHex(segment.address) + "-" + formatHex(segment.end()) + ")";
}

/// A runtime that moves single frames: the data that relinking would bring
/// to large pages is not worth the larger file.
static bool gainsLittle(const Subject &subject) {
  if (subject.target != Target::mpg && subject.target != Target::thp)
    return false;
  auto [all, inside] = subject.movableBytes();
  return all - std::min(inside, all) < subject.settings.minBytes;
}

/// The fix and its price. A user should not learn the price of a flag from a
/// full pool or a full disk.
static std::string relinkText(const Subject &subject) {
  uint64_t huge = subject.hugeBytes;
  uint64_t rounded = roundedOutBytes(subject.image.loads(), huge);
  // Memory that is moved in one step exists twice meanwhile.
  uint64_t peak = startupPeakBytes(Target::mpg, rounded) - rounded;
  peak = std::min(peak, rounded);
  uint64_t pages = rounded / huge;
  std::string text = "Let the linker start every segment on a " +
                     formatBytes(huge) + " page of its own. Price: about " +
                     std::to_string(pages) + " pages of " + formatBytes(huge) +
                     " a process, while it starts up to " + formatBytes(peak) +
                     " more memory, up to " + formatBytes(huge + huge / 8) +
                     " more file (a hole)";
  if (subject.image.isStatic())
    text += ", 0.3 MiB of libmpgrt.a among it";
  else if (!subject.closure || !subject.closure->findLibmpg())
    text += ", and libmpgrt.so.1 at run time (without: -Wl,--mpg-runtime=no)";
  return text + ".";
}

/// The cost of a conflict: everything, or for a runtime that moves single
/// frames the part that does not fill one.
static void setCost(const Subject &subject, Finding &finding) {
  auto [all, inside] = subject.movableBytes();
  bool movesFrames =
      subject.target == Target::mpg || subject.target == Target::thp;
  if (!movesFrames) {
    finding.cost = "all of .data and .bss (" + formatBytes(all) +
                   ") stays on normal pages";
    return;
  }
  uint64_t lost = all - std::min(inside, all);
  finding.cost = formatBytes(lost) + " of " + formatBytes(all) +
                 " writable data stays on normal pages";
  if (gainsLittle(subject)) {
    finding.severity = Severity::note;
    finding.setFix("Nothing: a program linked for large pages is up to " +
                   formatBytes(subject.hugeBytes) + " larger, for " +
                   formatBytes(lost) + ".");
  } else if (subject.target == Target::mpg) {
    finding.setFixWords(relinkText(subject));
  }
}

/// \p more: pairs after it that are only counted.
static void addPair(const Subject &subject, Findings &findings,
                    OverlapPair pair, size_t more) {
  Image &image = subject.image;
  uint64_t huge = subject.hugeBytes;
  const Segment &first = image.loads()[pair.first];
  const Segment &second = image.loads()[pair.second];
  uint64_t frame =
      roundDown(second.writable() ? second.address : first.end() - 1, huge);
  const Segment &data = second.writable() ? second : first;
  const Segment &other = second.writable() ? first : second;
  const Section *dataSection = sectionIn(image, data, frame, huge);
  const Section *otherSection = sectionIn(image, other, frame, huge);
  std::string dataName =
      dataSection ? dataSection->name.str() : "writable data";
  uint64_t address = dataSection ? dataSection->address : data.address;
  Finding &finding = findings.add(
      FindingId::mpg103,
      dataName + " at " + formatHex(address) + " shares a " +
          formatBytes(huge) + " page with " +
          (otherSection ? otherSection->name : "the segment beside it") +
          " (segments " + std::to_string(pair.first) + " and " +
          std::to_string(pair.second) + ")");
  finding.sub = first.writable() && second.writable() ? "rw-rw" : "ro-overlap";
  finding.where.address = address;
  finding.where.section = dataSection ? dataName : "";
  finding.where.bytes = dataSection ? dataSection->bytes : data.memoryBytes;
  finding.where.segments = {pair.first, pair.second};
  finding.evidence = describe(first, pair.first) + " and " +
                     describe(second, pair.second) + " meet in the " +
                     formatBytes(huge) + " page at " + formatHex(frame);
  const std::optional<mpg_note_layout> &note = subject.linkFacts().note;
  if (note && (note->flags & MPG_LAYOUT_SKIPPED))
    finding.evidence += "; ld.mpg left its layout out, because .data and .bss "
                        "are small (--mpg-min)";
  if (more)
    finding.evidence += "; so do " + std::to_string(more) + " more pairs";
  setCost(subject, finding);
}

static void addLowAddress(const Subject &subject, Findings &findings) {
  ElfKind kind = subject.image.kind();
  if (kind == ElfKind::pie || kind == ElfKind::staticPie)
    return;
  unsigned index = 0, found = 0;
  for (const Segment &load : subject.image.loads()) {
    unsigned at = index++;
    if (!load.writable() ||
        roundDown(load.address, subject.hugeBytes) >= lowestAddress ||
        ++found > maxPairs)
      continue;
    Finding &finding = findings.add(
        FindingId::mpg103, "writable data at " + formatHex(load.address) +
                               " lies in the lowest large page, which the "
                               "kernel does not map (segment " +
                               std::to_string(at) + ")");
    finding.sub = "low-address";
    finding.where.address = load.address;
    finding.where.bytes = load.memoryBytes;
    finding.where.segments = {at};
    setCost(subject, finding);
    finding.setFixWords(
        "Take a low -Ttext, -Ttext-segment or --image-base out of "
        "the link command, or move the data up by giving every "
        "segment a large page of its own.");
  }
}

static void addHeaderIndex(const Subject &subject, Findings &findings) {
  if (subject.target != Target::fugaku &&
      subject.target != Target::libhugetlbfs)
    return;
  for (const Segment &load : subject.image.loads()) {
    if (load.headerIndex < headerIndexLimit)
      continue;
    Finding &finding = findings.add(
        FindingId::mpg103,
        "a PT_LOAD is at position " + std::to_string(load.headerIndex) +
            " of the program header table; the library reads only the first "
            "10");
    finding.sub = "header-index";
    finding.where.address = load.address;
    finding.where.bytes = load.memoryBytes;
    setCost(subject, finding);
    finding.setFix(
        "Use fewer program headers in your linker script (PHDRS), or "
        "name those of type PT_LOAD first.");
    return;
  }
}

void mpg::checkOverlap(const Subject &subject, Findings &findings) {
  if (!subject.image.isProgram())
    return;
  // Nearly every program has the conflict. Where it costs little, report it
  // only to users who ask for it.
  if (subject.target == Target::mpg && gainsLittle(subject) &&
      !subject.settings.named.contains(FindingId::mpg103))
    return;
  std::vector<OverlapPair> pairs =
      findOverlaps(subject.image.loads(), subject.hugeBytes);
  size_t shown = std::min(pairs.size(), maxPairs);
  for (size_t i = 0; i < shown; ++i)
    addPair(subject, findings, pairs[i],
            i + 1 == shown ? pairs.size() - shown : 0);
  addLowAddress(subject, findings);
  addHeaderIndex(subject, findings);
}
