// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The facts of a file that reports print, and the table of its regions with the
// obstacles to large pages.

#include "Audit/Audit.h"
#include "Audit/Checks.h"
#include "Audit/ClosureFacts.h"
#include "Elf/HugeLayout.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;

uint64_t mpg::startupPeakBytes(Target target, uint64_t roundedOutBytes) {
  // HW:startup-copy: Fujitsu's library has old and new side by side; libmpg
  // moves in pieces, for which this is counted.
  constexpr uint64_t pieceBytes = uint64_t(64) << 20;
  switch (target) {
  case Target::fugaku:
    return SaturatingMultiply<uint64_t>(2, roundedOutBytes);
  case Target::mpg:
    return SaturatingAdd(roundedOutBytes, pieceBytes);
  case Target::libhugetlbfs:
  case Target::thp:
    break;
  }
  return roundedOutBytes;
}

uint64_t mpg::startupBytes(ArrayRef<Segment> loads, uint64_t hugeBytes,
                           bool bssPrepaged) {
  std::vector<Segment> moved(loads.begin(), loads.end());
  for (Segment &load : moved)
    if (!bssPrepaged)
      load.memoryBytes = std::min(load.memoryBytes, load.fileBytes);
  erase_if(moved, [](const Segment &load) { return load.memoryBytes == 0; });
  return roundedOutBytes(moved, hugeBytes);
}

bool mpg::hasExecutableStack(const Image &image) {
  const Segment *stack = image.findSegment(PT_GNU_STACK);
  return stack && stack->executable();
}

bool mpg::hasWritableCode(const Image &image) {
  return any_of(image.loads(), [](const Segment &load) {
    return load.writable() && load.executable();
  });
}

static LayoutFacts collectLayout(const Image &image, Target target) {
  ArrayRef<Segment> loads = image.loads();
  LayoutFacts facts;
  facts.loads = loads.vec();
  if (const Segment *relro = image.findSegment(PT_GNU_RELRO))
    facts.relro = *relro;
  facts.overlaps = findOverlaps(loads, factsHugeBytes);
  facts.writableBytes = writableBytes(loads);
  facts.hugeBytes = roundedOutBytes(loads, factsHugeBytes);
  facts.interiorBytes = interiorBytes(loads, image.segments(), factsHugeBytes);
  facts.startupPeakBytes = startupPeakBytes(target, facts.hugeBytes);
  facts.maxPageBytes = UINT64_MAX;
  for (const Segment &load : loads)
    facts.maxPageBytes = std::min(facts.maxPageBytes, load.align);
  facts.writableCode = hasWritableCode(image);
  facts.executableStack = hasExecutableStack(image);
  return facts;
}

static std::optional<std::string> owned(std::optional<StringRef> text) {
  return text ? std::optional<std::string>(text->str()) : std::nullopt;
}

static DynamicFacts collectDynamic(Image &image) {
  const Dynamic &dynamic = image.dynamic();
  DynamicFacts facts;
  for (StringRef name : dynamic.needed)
    facts.needed.push_back(name.str());
  facts.rpath = owned(dynamic.rpath);
  facts.runpath = owned(dynamic.runpath);
  facts.soname = owned(dynamic.soname);
  for (StringRef name : findKnownSymbols(image).findImports(brkSymbols()))
    facts.brk.push_back(name.str());
  return facts;
}

/// The sum over all sections with that name: a program that writes its memory
/// into a new executable file (GCL, Emacs) has several.
static uint64_t sectionBytes(Image &image, StringRef name) {
  uint64_t bytes = 0;
  for (const Section &section : image.sections())
    if (section.name == name)
      bytes += section.bytes;
  return bytes;
}

Facts mpg::collectFacts(Image &image, Target target) {
  Facts facts;
  if (!image.loads().empty())
    facts.layout = collectLayout(image, target);
  if (!image.fullyRead())
    return facts;
  if (image.isLoadable()) {
    facts.pie =
        image.kind() == ElfKind::pie || image.kind() == ElfKind::staticPie;
    facts.textrel = image.dynamic().textrel;
    facts.interpreter = owned(image.interpreter());
    if (image.dynamic().present)
      facts.dynamic = collectDynamic(image);
  }
  if (image.hasSections()) {
    facts.dataBytes = sectionBytes(image, ".data");
    facts.bssBytes = sectionBytes(image, ".bss");
  }
  return facts;
}

namespace {

/// The memory that a target can put on large pages at all.
struct TargetReach {
  bool data, bss, heap, stack;
};

} // namespace

/// HW:libhugetlbfs-heap: its malloc hook died with glibc 2.34. HW:thp-data:
/// the kernel gives file-backed .data no large pages, .bss it does.
static constexpr TargetReach reaches[targetCount] = {
    {true, true, true, true},    // fugaku
    {true, true, true, true},    // mpg
    {true, true, false, false},  // libhugetlbfs
    {false, true, true, false}}; // thp

/// A library's brk memory does not belong to the heap that malloc serves.
static bool isBesideHeap(const Finding &finding) {
  return finding.id == FindingId::mpg130 && !finding.via.empty();
}

static std::vector<FindingId> present(ArrayRef<Finding> findings,
                                      ArrayRef<FindingId> candidates) {
  std::vector<FindingId> ids;
  for (const Finding &finding : findings)
    if (finding.severity >= Severity::warning && !isBesideHeap(finding) &&
        is_contained(candidates, finding.id) && !is_contained(ids, finding.id))
      ids.push_back(finding.id);
  return ids;
}

/// Where a runtime that moves whole frames can put large pages: everything
/// when the layout is free of conflicts, else what fills a frame.
static std::vector<AddressRange> movableRanges(const Subject &subject) {
  const Image &image = subject.image;
  std::vector<AddressRange> inside =
      interiorRanges(image.loads(), image.segments(), subject.hugeBytes);
  if (subject.target == Target::thp ||
      !findOverlaps(image.loads(), subject.hugeBytes).empty())
    return inside;
  std::vector<AddressRange> ranges;
  for (const Segment &load : image.loads())
    if (load.writable())
      ranges.push_back({load.address, load.end()});
  const Segment *relro = nullptr; // the loader obeys the last one
  for (const Segment &segment : image.segments())
    if (segment.type == PT_GNU_RELRO)
      relro = &segment;
  if (relro)
    subtractRange(ranges, {roundDown(relro->address, subject.hugeBytes),
                           roundUp(relro->end(), subject.hugeBytes)});
  return ranges;
}

static Region sectionRegion(const Subject &subject, StringRef name,
                            StringRef sectionName, bool reachable,
                            ArrayRef<Finding> findings) {
  Region region = {name, 0, 0, false, {}};
  const Section *section = subject.image.findSection(sectionName);
  if (!section)
    return region;
  region.bytes = section->bytes;
  region.reachable = reachable;
  region.because = present(findings, {FindingId::mpg102, FindingId::mpg103,
                                      FindingId::mpg112, FindingId::mpg150});
  // These two targets move all of .data and .bss or nothing, the others frame
  // by frame.
  bool allOrNothing = subject.target == Target::fugaku ||
                      subject.target == Target::libhugetlbfs;
  bool blocked = any_of(region.because, [](FindingId id) {
    return id == FindingId::mpg112 || id == FindingId::mpg150;
  });
  if (allOrNothing)
    blocked |= !region.because.empty();
  if (reachable && !blocked)
    region.eligibleBytes = allOrNothing
                               ? region.bytes
                               : coveredBytes(movableRanges(subject),
                                              section->address, section->bytes);
  region.eligible = region.bytes > 0 && region.eligibleBytes == region.bytes;
  if (region.bytes == 0 || region.eligible || !reachable)
    region.because.clear();
  return region;
}

static Region runTimeRegion(StringRef name, bool reachable,
                            std::vector<FindingId> because) {
  bool eligible = reachable && because.empty();
  if (!reachable)
    because.clear();
  return {name, 0, 0, eligible, std::move(because), reachable, true};
}

/// The kernel of fugaku's target (4.18) has no large pages of files.
static Region cachedRegion(const Subject &subject, StringRef name, bool code) {
  FileMemory memory = findFileMemory(subject.image, subject.hugeBytes, code);
  Region region = {name, memory.bytes, 0, false, {}};
  region.reachable = subject.target != Target::fugaku;
  if (region.reachable)
    region.eligibleBytes = memory.eligibleBytes;
  if (region.reachable && !region.eligibleBytes &&
      region.bytes >= subject.hugeBytes)
    region.because = {subject.image.dynamic().textrel ? FindingId::mpg160
                                                      : FindingId::mpg153};
  return region;
}

/// libhugetlbfs brings malloc to large pages only up to glibc 2.33, and only
/// where it is asked.
static bool hasMorecore(const Subject &subject) {
  return subject.target == Target::libhugetlbfs && subject.closure &&
         subject.launch() && subject.closure->glibcMinor() == 33 &&
         asksForMorecore(*subject.launch());
}

/// Memory that is mapped past malloc is large where the job asks for it.
static void addMappedRegion(const MemoryUse &memory,
                            std::vector<Region> &regions) {
  if (!memory.mapsItself())
    return;
  regions.push_back(
      {"mapped", 0, 0, memory.isHelped, {}, /*reachable=*/true, true});
}

std::vector<Region> mpg::collectRegions(const Subject &subject,
                                        const MemoryUse &memory,
                                        ArrayRef<Finding> findings) {
  if (!subject.image.isProgram())
    return {};
  const TargetReach &reach = reaches[unsigned(subject.target)];
  std::vector<Region> regions;
  regions.push_back(cachedRegion(subject, "text", /*code=*/true));
  regions.push_back(cachedRegion(subject, "rodata", /*code=*/false));
  regions.push_back(
      sectionRegion(subject, "data", ".data", reach.data, findings));
  regions.push_back(sectionRegion(subject, "bss", ".bss", reach.bss, findings));
  regions.push_back(
      runTimeRegion("heap", reach.heap || hasMorecore(subject),
                    present(findings, {FindingId::mpg110, FindingId::mpg111,
                                       FindingId::mpg112, FindingId::mpg113,
                                       FindingId::mpg114, FindingId::mpg130,
                                       FindingId::mpg131, FindingId::mpg132})));
  regions.push_back(
      runTimeRegion("stack", reach.stack,
                    present(findings, {FindingId::mpg110, FindingId::mpg112})));
  regions.push_back(
      runTimeRegion("thread-stack", reach.stack,
                    present(findings, {FindingId::mpg104, FindingId::mpg110,
                                       FindingId::mpg111, FindingId::mpg112})));
  addMappedRegion(memory, regions);
  return regions;
}

std::vector<LargeSymbol> mpg::findLargestSymbols(Image &image, unsigned count) {
  constexpr uint64_t smallestBytes = 4096; // less never matters to a page
  std::vector<LargeSymbol> largest;
  ArrayRef<Section> sections = image.sections();
  image.forEachSymbol([&](const Symbol &symbol) {
    if ((symbol.type != STT_OBJECT && symbol.type != STT_COMMON) ||
        symbol.bytes < smallestBytes || symbol.section >= sections.size())
      return;
    StringRef section = sections[symbol.section].name;
    if (section != ".data" && section != ".bss")
      return;
    if (largest.size() == count && symbol.bytes <= largest.back().bytes)
      return;
    auto before = std::find_if(
        largest.begin(), largest.end(),
        [&](const LargeSymbol &other) { return other.bytes < symbol.bytes; });
    largest.insert(before, {symbol.name.str(), section.str(), symbol.bytes});
    if (largest.size() > count)
      largest.pop_back();
  });
  return largest;
}
