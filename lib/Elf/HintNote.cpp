// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HintNote.h.

#include "Elf/HintNote.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace mpg;

// The notes are little-endian, and so is every machine that these programs are
// for. So the bytes are those of the structs, which have no padding.
static_assert(llvm::endianness::native == llvm::endianness::little);

std::string mpg::writeNote(uint32_t type, StringRef contents) {
  const uint32_t head[] = {sizeof(MPG_NOTE_NAME), uint32_t(contents.size()),
                           type};
  std::string note(reinterpret_cast<const char *>(head), sizeof(head));
  note.append(MPG_NOTE_NAME, sizeof(MPG_NOTE_NAME));
  return note + contents.str();
}

mpg_note_hints mpg::emptyHints() {
  mpg_note_hints hints = {};
  hints.version = MPG_NOTE_HINTS_VERSION;
  std::fill(std::begin(hints.waysL1), std::end(hints.waysL1),
            uint8_t(MPG_WAYS_NOT_ASKED));
  std::fill(std::begin(hints.waysL2), std::end(hints.waysL2),
            uint8_t(MPG_WAYS_NOT_ASKED));
  return hints;
}

static void mergeWays(uint8_t (&into)[4], const uint8_t (&from)[4],
                      StringRef cache, std::vector<std::string> &conflicts) {
  for (unsigned sector = 0; sector < 4; ++sector) {
    if (from[sector] == MPG_WAYS_NOT_ASKED || from[sector] == into[sector])
      continue;
    if (into[sector] == MPG_WAYS_NOT_ASKED) {
      into[sector] = from[sector];
      continue;
    }
    unsigned larger = std::max(into[sector], from[sector]);
    conflicts.push_back("modules ask for " + utostr(into[sector]) + " and " +
                        utostr(from[sector]) + " " + cache.str() +
                        " ways of sector " + utostr(sector) + "; " +
                        utostr(larger) + " is kept");
    into[sector] = uint8_t(larger);
  }
}

static uint32_t addSaturating(uint32_t a, uint32_t b) {
  return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

void mpg::mergeHints(mpg_note_hints &into, const mpg_note_hints &from,
                     std::vector<std::string> &conflicts) {
  into.flags |= from.flags;
  into.llvmMajor = std::max(into.llvmMajor, from.llvmMajor);
  for (unsigned word = 0; word < 8; ++word)
    into.tagBytes[word] |= from.tagBytes[word];
  into.sectorsMask |= from.sectorsMask;
  into.injectionMask |= from.injectionMask;
  mergeWays(into.waysL1, from.waysL1, "L1", conflicts);
  mergeWays(into.waysL2, from.waysL2, "L2", conflicts);
  into.taggedAccesses = addSaturating(into.taggedAccesses, from.taggedAccesses);
  into.firstTouchSites =
      addSaturating(into.firstTouchSites, from.firstTouchSites);
}

/// Whether the note can be read as one of \p bytes and \p version; if not, the
/// reason is added to \p warnings.
static bool isReadable(StringRef what, StringRef contents, size_t bytes,
                       uint16_t version, std::vector<std::string> &warnings) {
  std::string note = "a " + what.str() + " note of ";
  if (contents.size() < 2) {
    warnings.push_back(note + utostr(contents.size()) +
                       " bytes is too short for a version");
    return false;
  }
  unsigned found = support::endian::read16le(contents.data());
  if (found != version) {
    warnings.push_back(note + "version " + utostr(found) +
                       " is not known and was skipped");
    return false;
  }
  if (contents.size() != bytes) {
    warnings.push_back(note + utostr(contents.size()) +
                       " bytes is damaged: version " + utostr(version) +
                       " has " + utostr(bytes));
    return false;
  }
  return true;
}

static void addHints(StringRef contents, Notes &notes) {
  if (!isReadable("hint", contents, sizeof(mpg_note_hints),
                  MPG_NOTE_HINTS_VERSION, notes.warnings)) {
    notes.unreadHints.push_back(notes.warnings.back());
    return;
  }
  mpg_note_hints hints;
  memcpy(&hints, contents.data(), sizeof(hints));
  if (!notes.hints)
    notes.hints = emptyHints();
  size_t known = notes.wayConflicts.size();
  mergeHints(*notes.hints, hints, notes.wayConflicts);
  notes.warnings.insert(notes.warnings.end(),
                        notes.wayConflicts.begin() + ptrdiff_t(known),
                        notes.wayConflicts.end());
  notes.modules.push_back(hints);
}

static void addLayout(StringRef contents, Notes &notes) {
  if (!isReadable("layout", contents, sizeof(mpg_note_layout),
                  MPG_NOTE_LAYOUT_VERSION, notes.warnings))
    return;
  mpg_note_layout layout;
  memcpy(&layout, contents.data(), sizeof(layout));
  // Each is written by the link of this very file, so the last one counts: an
  // earlier one can only have come in with a prelinked input.
  if (notes.layout)
    notes.warnings.push_back("more than one layout note; the last one counts");
  notes.layout = layout;
}

std::optional<std::string> mpg::forEachNote(
    StringRef section,
    function_ref<void(StringRef name, uint32_t type, StringRef contents)>
        visit) {
  while (!section.empty()) {
    if (section.size() < 12)
      return utostr(section.size()) + " bytes after the last note are none";
    // Three words; then name and contents, each filled up to 4 bytes.
    uint32_t nameBytes = support::endian::read32le(section.data());
    uint32_t bytes = support::endian::read32le(section.data() + 4);
    uint32_t type = support::endian::read32le(section.data() + 8);
    uint64_t start = 12 + ((uint64_t(nameBytes) + 3) & ~uint64_t(3));
    if (start + bytes > section.size())
      return "a note of " + utostr(start + bytes) +
             " bytes does not fit into " + utostr(section.size());
    visit(section.substr(12, nameBytes), type, section.substr(start, bytes));
    uint64_t next = start + ((uint64_t(bytes) + 3) & ~uint64_t(3));
    section = section.substr(std::min<uint64_t>(next, section.size()));
  }
  return std::nullopt;
}

void mpg::readNotes(StringRef section, Notes &notes) {
  std::optional<std::string> wrong = forEachNote(
      section, [&](StringRef name, uint32_t type, StringRef contents) {
        if (name != StringRef(MPG_NOTE_NAME, sizeof(MPG_NOTE_NAME)))
          return;
        if (type == MPG_NOTE_TYPE_HINTS)
          addHints(contents, notes);
        else if (type == MPG_NOTE_TYPE_LAYOUT)
          addLayout(contents, notes);
        else
          notes.warnings.push_back("a note of type " + utostr(type) +
                                   " is not known and was skipped");
      });
  if (wrong)
    notes.warnings.push_back(*wrong);
}

std::vector<unsigned> mpg::listBits(uint8_t mask) {
  std::vector<unsigned> bits;
  for (unsigned bit = 0; bit < 8; ++bit)
    if (mask >> bit & 1)
      bits.push_back(bit);
  return bits;
}

std::vector<unsigned> mpg::getTagBytes(const mpg_note_hints &hints) {
  std::vector<unsigned> bytes;
  for (unsigned byte = 0; byte < 256; ++byte)
    if (hints.tagBytes[byte / 32] >> (byte % 32) & 1)
      bytes.push_back(byte);
  return bytes;
}

/// " 0x01 0x41", or " none".
static std::string tagByteList(const mpg_note_hints &hints) {
  std::string text;
  for (unsigned byte : getTagBytes(hints))
    text += " 0x" + utohexstr(byte, /*LowerCase=*/true, 2);
  return text.empty() ? " none" : text;
}

std::string mpg::describeTags(const mpg_note_hints &hints) {
  return countWord(hints.taggedAccesses, "tagged access") + ", tag bytes" +
         tagByteList(hints);
}

std::string mpg::describeWays(const uint8_t (&ways)[4]) {
  std::string text;
  for (unsigned sector = 0; sector < 4; ++sector)
    if (ways[sector] != MPG_WAYS_NOT_ASKED)
      text += (text.empty() ? "sector " : ", sector ") + utostr(sector) + ": " +
              utostr(ways[sector]);
  return text;
}
