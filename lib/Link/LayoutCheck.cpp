// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LayoutCheck.h. Program headers are what the kernel obeys; sections are
// needed only to know which of the memory is .data and .bss.

#include "Link/LayoutCheck.h"
#include "Elf/HugeLayout.h"
#include "Link/LldCommand.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include <elf.h>
#include <set>

using namespace llvm;
using namespace mpg;

static bool isData(const Section &section) {
  return (section.flags & SHF_ALLOC) && !(section.flags & SHF_TLS) &&
         is_contained({".data", ".bss", ".ldata", ".lbss"}, section.name);
}

uint64_t mpg::largeDataBytes(Image &image) {
  uint64_t bytes = 0;
  for (const Section &section : image.sections())
    if (isData(section))
      bytes += section.bytes;
  return bytes;
}

bool mpg::hasLargeSections(Image &image) {
  return any_of(image.sections(), [](const Section &section) {
    return isData(section) && section.bytes > 0 &&
           section.name.starts_with(".l");
  });
}

std::vector<std::string> mpg::sectionsBehind(Image &image, StringRef tail) {
  std::vector<std::string> names;
  const Section *tailSection = image.findSection(tail);
  if (!tailSection)
    return names;
  const Segment *load = nullptr;
  for (const Segment &candidate : image.loads())
    if (tailSection->address >= candidate.address &&
        tailSection->address < candidate.end())
      load = &candidate;
  for (const Section &section : image.sections())
    if (load && section.type == SHT_NOBITS && section.name != tail &&
        (section.flags & SHF_WRITE) && !(section.flags & SHF_TLS) &&
        section.address >= tailSection->address &&
        section.address < load->end() && !isData(section))
      names.push_back(section.name.str());
  return names;
}

namespace {

class LayoutChecker {
public:
  LayoutChecker(Image &image, uint64_t hugeBytes)
      : image(image), hugeBytes(hugeBytes), page(formatBytes(hugeBytes)) {}
  std::vector<std::string> check();

private:
  void checkSection(const Section &section);
  void checkSegment(const Segment &load, StringRef of);
  void checkRelro();
  void checkNeighbours();
  const Segment *loadOf(const Section &section) const;

  Image &image;
  uint64_t hugeBytes;
  std::string page;
  std::vector<const Segment *> dataLoads;
  std::set<std::pair<const Segment *, std::string>> seen;
  std::vector<std::string> reasons;
};

} // namespace

const Segment *LayoutChecker::loadOf(const Section &section) const {
  for (const Segment &load : image.loads())
    if (section.address >= load.address &&
        section.address + section.bytes <= load.end())
      return &load;
  return nullptr;
}

void LayoutChecker::checkSection(const Section &section) {
  std::string name = section.name.str();
  const Segment *load = loadOf(section);
  // What only carries an alignment may lie in no segment if there is nothing
  // to align.
  if (!load && section.bytes == 0)
    return;
  if (!load) {
    reasons.push_back(name + " at " + formatHex(section.address) +
                      " lies in no segment");
    return;
  }
  // With --unique there are many of one name; the others follow the first.
  bool isFirst = seen.insert({load, name}).second;
  if (isFirst && section.address % hugeBytes != 0)
    reasons.push_back(name + " begins at " + formatHex(section.address) +
                      ", which is no border of a " + page + " page");
  if (!is_contained(dataLoads, load)) {
    dataLoads.push_back(load);
    checkSegment(*load, name);
  }
}

/// What is asked of a segment that holds .data or .bss; \p of names it.
void LayoutChecker::checkSegment(const Segment &load, StringRef of) {
  std::string segment = "the segment of " + of.str();
  if (!load.writable())
    reasons.push_back(segment + " at " + formatHex(load.address) +
                      " is not writable");
  if (load.executable())
    reasons.push_back(segment + " at " + formatHex(load.address) +
                      " is executable: a section of that name holds code");
  if (load.end() % hugeBytes != 0)
    reasons.push_back(segment + " ends at " + formatHex(load.end()) +
                      ", which is no border of a " + page + " page");
  if (load.align < hugeBytes)
    reasons.push_back(segment + " is aligned to " + formatBytes(load.align) +
                      " only (p_align), so it may be loaded anywhere");
  else if ((load.address - load.offset) % load.align != 0)
    reasons.push_back(segment + " at " + formatHex(load.address) +
                      " and its place in the file, " + formatHex(load.offset) +
                      ", differ within a page");
}

/// RELRO becomes read-only after start-up; large pages can only do so whole.
void LayoutChecker::checkRelro() {
  const Segment *relro = image.findSegment(PT_GNU_RELRO);
  if (!relro || relro->memoryBytes == 0)
    return;
  for (const Section &section : image.sections()) {
    if (!isData(section) || section.bytes == 0)
      continue;
    uint64_t start = roundDown(section.address, hugeBytes);
    uint64_t end = roundUp(section.address + section.bytes, hugeBytes);
    if (relro->address < end && relro->end() > start)
      reasons.push_back(section.name.str() + " shares a " + page +
                        " page with RELRO at " + formatHex(relro->address));
  }
}

void LayoutChecker::checkNeighbours() {
  for (OverlapPair pair : findOverlaps(image.loads(), hugeBytes)) {
    const Segment &first = image.loads()[pair.first];
    const Segment &second = image.loads()[pair.second];
    // RELRO beside code: see separateSegmentsBytes.
    if (hugeBytes > separateSegmentsBytes && !is_contained(dataLoads, &first) &&
        !is_contained(dataLoads, &second))
      continue;
    reasons.push_back("the segments at " + formatHex(first.address) + " and " +
                      formatHex(second.address) + " meet in one " + page +
                      " page");
  }
}

std::vector<std::string> LayoutChecker::check() {
  for (const Section &section : image.sections())
    if (isData(section))
      checkSection(section);
  // Without section headers the last writable segment is all that is known.
  if (!image.hasSections()) {
    const Segment *last = nullptr;
    for (const Segment &load : image.loads())
      if (load.writable())
        last = &load;
    if (last)
      checkSegment(*last, "the data");
  }
  checkRelro();
  checkNeighbours();
  return std::move(reasons);
}

std::vector<std::string> mpg::checkLayout(Image &image, uint64_t hugeBytes) {
  return LayoutChecker(image, hugeBytes).check();
}
