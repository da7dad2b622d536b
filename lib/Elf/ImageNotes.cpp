// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ImageNotes.h.

#include "Elf/ImageNotes.h"
#include <elf.h>

using namespace llvm;
using namespace mpg;

/// More than any program has: a hint note is 76 bytes a module.
static constexpr uint64_t limitBytes = 16 << 20;

static void visitSegments(Image &image, function_ref<void(StringRef)> visit) {
  uint64_t left = mostOverlaidBytes(image.fileBytes());
  for (const Segment &segment : image.segments()) {
    if (segment.type != PT_NOTE || segment.fileBytes == 0 ||
        segment.fileBytes > limitBytes)
      continue;
    if (segment.fileBytes > left)
      return;
    left -= segment.fileBytes;
    std::vector<uint8_t> bytes(segment.fileBytes);
    if (image.readMemory(segment.address, bytes))
      visit(StringRef(reinterpret_cast<const char *>(bytes.data()),
                      bytes.size()));
  }
}

void mpg::forEachNoteBlock(Image &image, function_ref<void(StringRef)> visit) {
  if (!image.hasSections())
    return visitSegments(image, visit);
  for (const Section &section : image.sections())
    if (section.type == SHT_NOTE)
      visit(image.sectionData(section, limitBytes));
}

Notes mpg::readOwnNotes(Image &image) {
  Notes notes;
  auto isOurs = [](const Section &section) {
    return section.name == MPG_NOTE_SECTION_HINTS ||
           section.name == MPG_NOTE_SECTION_LAYOUT;
  };
  // By name where there are names: damage to a foreign note is not ours to
  // tell, and a run over all of /usr reads nothing at all here.
  if (!image.hasSections())
    visitSegments(image, [&](StringRef block) { readNotes(block, notes); });
  else
    for (const Section &section : image.sections())
      if (isOurs(section))
        readNotes(image.sectionData(section, limitBytes), notes);
  return notes;
}
