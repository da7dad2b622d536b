// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Audit/Facts.h"
#include "Audit/KnownSymbols.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;

uint64_t mpg::startupPeakBytes(Target target, uint64_t roundedOutBytes) {
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
  for (StringRef name : findKnownSymbols(image).importsOf(brkSymbols()))
    facts.brk.push_back(name.str());
  return facts;
}

static uint64_t sectionBytes(Image &image, StringRef name) {
  const Section *section = image.findSection(name);
  return section ? section->bytes : 0;
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
