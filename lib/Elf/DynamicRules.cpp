// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the loader takes for granted after the program headers: the path of the
// loader itself, notes, and the dynamic section's tables. Only a full read
// looks here (Image::readEverything).

#include "Elf/ImageState.h"
#include "Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;
using namespace mpg;

/// Offset of the first note of \p data that passes its end when notes are
/// padded to \p align, or nothing.
static std::optional<uint64_t> brokenNote(StringRef data, uint64_t align) {
  auto padded = [&](uint64_t bytes) {
    return (bytes + align - 1) / align * align;
  };
  uint64_t at = 0;
  while (at < data.size()) {
    Elf64_Nhdr note;
    if (data.size() - at < sizeof note)
      return at;
    memcpy(&note, data.data() + at, sizeof note);
    uint64_t bytes =
        padded(sizeof note + uint64_t(note.n_namesz)) + uint64_t(note.n_descsz);
    if (bytes > data.size() - at)
      return at;
    at += padded(bytes);
  }
  return std::nullopt;
}

void Image::State::checkNotes() {
  uint64_t left = mostOverlaidBytes(reader->bytes());
  for (const Segment &segment : segments) {
    if (segment.type != PT_NOTE || segment.fileBytes == 0)
      continue;
    if (segment.fileBytes > left)
      return;
    left -= segment.fileBytes;
    StringRef data = reader->text(segment.offset, segment.fileBytes);
    // mold puts notes of both paddings into one segment with p_align 8.
    std::optional<uint64_t> broken = brokenNote(data, 4);
    if (data.empty())
      broken = 0;
    else if (broken && segment.align == 8)
      broken = brokenNote(data, 8);
    if (broken)
      add(DefectKind::note, false, segmentName(segment),
          programHeaderField(header, segment.headerIndex,
                             offsetof(Elf64_Phdr, p_offset)),
          "a note at offset " + formatHex(segment.offset + *broken) +
              " passes the end of its segment");
  }
}

void Image::State::checkInterpreterText() {
  for (const Segment &segment : segments) {
    if (segment.type != PT_INTERP || segment.fileBytes < 2 ||
        segment.fileBytes > 4096)
      continue;
    StringRef text = reader->text(segment.offset, segment.fileBytes);
    if (!text.empty() && text.back() != 0)
      add(DefectKind::interpreter, true, segmentName(segment),
          segment.offset + segment.fileBytes - 1,
          "the path of the loader has no end");
  }
}

/// File offset of the value of \p tag, for messages; of the section when the
/// tag is missing.
uint64_t Image::State::dynamicField(int64_t tag) const {
  for (size_t i = 0; i < dynamicEntries.size(); ++i)
    if (dynamicEntries[i].d_tag == tag)
      return dynamicOffset + i * sizeof(Elf64_Dyn) + offsetof(Elf64_Dyn, d_un);
  return dynamicOffset;
}

/// The loader keeps the last of several equal tags.
std::optional<uint64_t> Image::State::dynamicValue(int64_t tag) const {
  for (size_t i = dynamicEntries.size(); i-- > 0;)
    if (dynamicEntries[i].d_tag == tag)
      return dynamicEntries[i].d_un.d_val;
  return std::nullopt;
}

/// Once for a table: who reads the symbols may have found it already.
void Image::State::addPointerDefect(int64_t tag, const char *name,
                                    std::string reason) {
  for (const Defect &defect : defects)
    if (defect.kind == DefectKind::dynamicPointer && defect.field == name)
      return;
  add(DefectKind::dynamicPointer, true, name, dynamicField(tag),
      std::move(reason));
}

/// Tables that the loader follows without asking how far they reach.
void Image::State::checkDynamicPointers() {
  struct {
    int64_t tag;
    const char *name;
    uint64_t bytes;
  } const pointers[] = {
      {DT_STRTAB, "DT_STRTAB", dynamic.stringBytes},
      {DT_SYMTAB, "DT_SYMTAB", sizeof(Elf64_Sym)},
      {DT_HASH, "DT_HASH", 8},
      {DT_GNU_HASH, "DT_GNU_HASH", 16},
      {DT_RELA, "DT_RELA", dynamic.relaBytes},
      {DT_JMPREL, "DT_JMPREL", dynamic.pltRelBytes},
  };
  for (const auto &pointer : pointers) {
    std::optional<uint64_t> address = dynamicValue(pointer.tag);
    if (address && !offsetOf(*address, pointer.bytes))
      addPointerDefect(pointer.tag, pointer.name,
                       "address " + formatHex(*address) + ", " +
                           formatHex(pointer.bytes) +
                           " bytes, leaves the loaded segments");
  }
}

/// Values that glibc asserts on, or uses without a look: a wrong one ends the
/// process before main. Programs without an interpreter relocate themselves
/// and need less.
void Image::State::checkDynamicValues() {
  struct {
    int64_t tag;
    const char *name;
    int64_t readWith; ///< the loader looks when this tag is there
    uint64_t wanted;
  } const values[] = {
      {DT_RELAENT, "DT_RELAENT", DT_RELA, sizeof(Elf64_Rela)},
      {DT_RELRENT, "DT_RELRENT", DT_RELR, sizeof(Elf64_Relr)},
      {DT_PLTREL, "DT_PLTREL", DT_PLTREL, DT_RELA},
  };
  for (const auto &value : values) {
    std::optional<uint64_t> found = dynamicValue(value.tag);
    if (dynamicValue(value.readWith) && found != value.wanted)
      add(DefectKind::dynamicSection, true, value.name, dynamicField(value.tag),
          found ? std::to_string(*found) + " is not " +
                      std::to_string(value.wanted)
                : "missing");
  }
  bool relocated = dynamicValue(DT_RELA) || dynamicValue(DT_JMPREL);
  for (auto [tag, name, needed] :
       {std::tuple(int64_t(DT_STRTAB), "DT_STRTAB", true),
        std::tuple(int64_t(DT_SYMTAB), "DT_SYMTAB", relocated)})
    if (needed && dynamicValue(tag).value_or(0) == 0)
      add(DefectKind::dynamicSection, true, name, dynamicField(tag), "missing");
  std::optional<uint32_t> bloomWords =
      dynamic.gnuHash ? readWord(dynamic.gnuHash + 8) : std::nullopt;
  if (bloomWords && !isPowerOf2_32(*bloomWords))
    add(DefectKind::dynamicPointer, true, "DT_GNU_HASH",
        dynamicField(DT_GNU_HASH),
        "a filter of " + std::to_string(*bloomWords) +
            " words; the loader needs a power of two");
}

void Image::State::checkDynamic() {
  if (dynamic.present) {
    checkDynamicPointers();
    if (kind != ElfKind::staticPie && kind != ElfKind::staticExec)
      checkDynamicValues();
  } else if (kind == ElfKind::library) {
    add(DefectKind::dynamicSection, true, "PT_DYNAMIC", header.e_phoff,
        "a library without a dynamic section; the loader refuses it");
  }
}

/// Looks at the indices alone: reading every name would cost more than all
/// else.
void Image::State::checkDynamicNames() {
  readDynamicSymbols();
  for (size_t i = 1; i < dynamicSymbols.size(); ++i)
    if (dynamicSymbols[i].st_name >= dynamicStrings.bytes()) {
      decode(dynamicSymbols[i], dynamicStrings, "DT_SYMTAB", i);
      return;
    }
}
