// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ImageState.h: what the kernel and the loader refuse, and what the loader
// takes for granted.

#include "Elf/ImageState.h"
#include "Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>
#include <cstring>

using namespace llvm;
using namespace mpg;

/// Every kernel of both machines maps at least in units of 4 KiB.
static constexpr uint64_t smallestPageBytes = 4096;

std::string mpg::segmentName(const Segment &segment) {
  std::string type;
  switch (segment.type) {
  case PT_LOAD:
    type = "PT_LOAD";
    break;
  case PT_INTERP:
    type = "PT_INTERP";
    break;
  case PT_DYNAMIC:
    type = "PT_DYNAMIC";
    break;
  case PT_NOTE:
    type = "PT_NOTE";
    break;
  case PT_PHDR:
    type = "PT_PHDR";
    break;
  default:
    type = "segment";
  }
  return type + "[" + std::to_string(segment.headerIndex) + "]";
}

uint64_t mpg::programHeaderField(const Elf64_Ehdr &header, uint32_t index,
                                 uint64_t fieldOffset) {
  return header.e_phoff + uint64_t(index) * sizeof(Elf64_Phdr) + fieldOffset;
}

namespace {

/// Collects defects of one table with the bookkeeping that all rules share.
class Rules {
public:
  Rules(const HeaderContext &context, std::vector<Defect> &defects)
      : context(context), defects(defects) {}

  void add(DefectKind kind, bool fatal, std::string field, uint64_t offset,
           std::string reason) {
    defects.push_back(
        {kind, fatal, std::move(field), offset, std::move(reason)});
  }
  void addSegment(DefectKind kind, bool fatal, const Segment &segment,
                  const char *field, uint64_t fieldOffset, std::string reason) {
    add(kind, fatal, segmentName(segment) + "." + field,
        programHeaderField(context.header, segment.headerIndex, fieldOffset),
        std::move(reason));
  }

  void checkRange(const Segment &segment);
  void checkSizes(const Segment &segment);
  void checkAddresses(const Segment &segment);
  void checkAlignment(const Segment &segment);
  void checkInterpreter(const Segment &segment);
  void checkOrder(const Segment &previous, const Segment &segment);
  void checkHeaderTable(const Segment &table, ArrayRef<Segment> segments);

  bool isLibrary() const { return context.kind == ElfKind::library; }

private:
  const HeaderContext &context;
  std::vector<Defect> &defects;
};

} // namespace

void Rules::checkRange(const Segment &segment) {
  if (segment.fileBytes == 0)
    return;
  if (segment.offset <= context.fileBytes &&
      segment.fileBytes <= context.fileBytes - segment.offset)
    return;
  addSegment(
      DefectKind::segmentRange, true, segment, "p_offset",
      offsetof(Elf64_Phdr, p_offset),
      "offset " + formatHex(segment.offset) + " + p_filesz " +
          formatHex(segment.fileBytes) + " passes the end of the file (" +
          formatHex(context.fileBytes) + ")" +
          (segment.type == PT_LOAD ? ": the missing part is SIGBUS" : ""));
}

void Rules::checkSizes(const Segment &segment) {
  if (segment.fileBytes > segment.memoryBytes)
    addSegment(DefectKind::segmentSize, true, segment, "p_filesz",
               offsetof(Elf64_Phdr, p_filesz),
               "p_filesz " + formatHex(segment.fileBytes) +
                   " is larger than p_memsz " + formatHex(segment.memoryBytes));
}

void Rules::checkAddresses(const Segment &segment) {
  uint64_t end = segment.address + segment.memoryBytes;
  if (end < segment.address) {
    addSegment(DefectKind::segmentAddress, true, segment, "p_memsz",
               offsetof(Elf64_Phdr, p_memsz),
               "p_vaddr " + formatHex(segment.address) + " + p_memsz " +
                   formatHex(segment.memoryBytes) + " wraps");
    return;
  }
  // HW:user-address-bits. 48 bits on AArch64 unless the program asks for more.
  unsigned bits = context.header.e_machine == EM_X86_64 ? 47 : 48;
  if (end > uint64_t(1) << bits)
    addSegment(DefectKind::segmentAddress, true, segment, "p_vaddr",
               offsetof(Elf64_Phdr, p_vaddr),
               "ends at " + formatHex(end) + ", beyond the " +
                   std::to_string(bits) + " bits of user space");
}

void Rules::checkAlignment(const Segment &segment) {
  uint64_t align = segment.align;
  if (align > 1 && !isPowerOf2_64(align)) {
    addSegment(DefectKind::segmentAlign, isLibrary(), segment, "p_align",
               offsetof(Elf64_Phdr, p_align),
               formatHex(align) + " is not a power of two");
    return;
  }
  // The loader maps a library by p_align, the kernel a program by its pages.
  uint64_t unit = std::max(isLibrary() ? align : 0, smallestPageBytes);
  if (isLibrary() && align % smallestPageBytes != 0)
    addSegment(DefectKind::segmentAlign, true, segment, "p_align",
               offsetof(Elf64_Phdr, p_align),
               formatHex(align) + " is not a multiple of a page");
  else if ((segment.address - segment.offset) % unit != 0 &&
           (isLibrary() || segment.fileBytes > 0))
    addSegment(DefectKind::segmentAlign, true, segment, "p_vaddr",
               offsetof(Elf64_Phdr, p_vaddr),
               "p_vaddr " + formatHex(segment.address) + " and p_offset " +
                   formatHex(segment.offset) + " differ modulo " +
                   formatHex(unit));
}

void Rules::checkInterpreter(const Segment &segment) {
  if (segment.fileBytes < 2 || segment.fileBytes > 4096)
    addSegment(DefectKind::interpreter, true, segment, "p_filesz",
               offsetof(Elf64_Phdr, p_filesz),
               std::to_string(segment.fileBytes) +
                   " bytes; the kernel takes 2 to 4096");
  else
    checkRange(segment);
}

void Rules::checkOrder(const Segment &previous, const Segment &segment) {
  if (segment.address < previous.address)
    addSegment(DefectKind::segmentOrder, true, segment, "p_vaddr",
               offsetof(Elf64_Phdr, p_vaddr),
               formatHex(segment.address) + " is below the one before it (" +
                   formatHex(previous.address) + ")");
  else if (segment.address < previous.end())
    addSegment(DefectKind::segmentOrder, true, segment, "p_vaddr",
               offsetof(Elf64_Phdr, p_vaddr),
               formatHex(segment.address) +
                   " lies inside the one before it, which "
                   "ends at " +
                   formatHex(previous.end()));
}

/// The loader takes the difference between where the program headers are and
/// where PT_PHDR says they are for the address of the program.
void Rules::checkHeaderTable(const Segment &table, ArrayRef<Segment> segments) {
  for (const Segment &load : segments) {
    if (load.type != PT_LOAD || table.address < load.address ||
        table.address >= load.end())
      continue;
    if (isLibrary() ||
        table.address - load.address + load.offset == context.header.e_phoff)
      return;
  }
  addSegment(DefectKind::segmentAddress, true, table, "p_vaddr",
             offsetof(Elf64_Phdr, p_vaddr),
             formatHex(table.address) +
                 " is not where the program headers are mapped");
}

/// The fields that say what kind of file it is.
static void checkIdent(Rules &rules, const Elf64_Ehdr &header) {
  if (header.e_version != EV_CURRENT)
    rules.add(DefectKind::header, true, "e_version",
              offsetof(Elf64_Ehdr, e_version),
              std::to_string(header.e_version) + " is not 1");
  if (header.e_ehsize != sizeof(Elf64_Ehdr))
    rules.add(DefectKind::header, false, "e_ehsize",
              offsetof(Elf64_Ehdr, e_ehsize),
              std::to_string(header.e_ehsize) + " is not 64");
  uint8_t abi = header.e_ident[EI_OSABI];
  uint8_t abiVersion = header.e_ident[EI_ABIVERSION];
  if (rules.isLibrary() && abi != ELFOSABI_SYSV && abi != ELFOSABI_GNU)
    rules.add(DefectKind::ident, true, "e_ident[EI_OSABI]", EI_OSABI,
              std::to_string(abi) + ": the loader of Linux refuses it");
  else if (rules.isLibrary() && abiVersion > (abi == ELFOSABI_GNU ? 3 : 0))
    rules.add(DefectKind::ident, true, "e_ident[EI_ABIVERSION]", EI_ABIVERSION,
              std::to_string(abiVersion) + ": the loader of Linux refuses it");
  for (int at = EI_ABIVERSION + 1; rules.isLibrary() && at < EI_NIDENT; ++at)
    if (header.e_ident[at] != 0) {
      rules.add(DefectKind::ident, true, "e_ident[EI_PAD]", uint64_t(at),
                "not zero: the loader of Linux refuses it");
      break;
    }
}

/// Where the program headers are, and how many.
static void checkSegmentTable(Rules &rules, const HeaderContext &context,
                              size_t segmentCount) {
  const Elf64_Ehdr &header = context.header;
  if (context.declaredHeaders == 0) {
    rules.add(DefectKind::programHeaders, true, "e_phnum",
              offsetof(Elf64_Ehdr, e_phnum), "no program headers");
    return;
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr))
    rules.add(DefectKind::programHeaders, true, "e_phentsize",
              offsetof(Elf64_Ehdr, e_phentsize),
              std::to_string(header.e_phentsize) + " is not 56");
  if (segmentCount < context.declaredHeaders)
    rules.add(DefectKind::programHeaders, true, "e_phoff",
              offsetof(Elf64_Ehdr, e_phoff),
              std::to_string(context.declaredHeaders) + " program headers at " +
                  formatHex(header.e_phoff) + " do not lie in the file (" +
                  formatHex(context.fileBytes) + ")");
  else if (context.kind != ElfKind::core &&
           context.declaredHeaders * sizeof(Elf64_Phdr) > 65536)
    rules.add(DefectKind::programHeaders, true, "e_phnum",
              offsetof(Elf64_Ehdr, e_phnum),
              std::to_string(context.declaredHeaders) +
                  " program headers; the kernel takes 64 KiB of them");
}

void mpg::checkHeader(const HeaderContext &context, ArrayRef<Segment> segments,
                      std::vector<Defect> &defects) {
  Rules rules(context, defects);
  checkIdent(rules, context.header);
  bool isMapped =
      context.kind != ElfKind::object && context.kind != ElfKind::archiveMember;
  if (isMapped)
    checkSegmentTable(rules, context, segments.size());
}

void mpg::checkSegments(const HeaderContext &context,
                        ArrayRef<Segment> segments,
                        std::vector<Defect> &defects) {
  Rules rules(context, defects);
  const Segment *previous = nullptr, *table = nullptr;
  for (const Segment &segment : segments) {
    if (segment.type == PT_INTERP)
      rules.checkInterpreter(segment);
    if (segment.type == PT_PHDR && !table) // the kernel takes the first
      rules.checkHeaderTable(*(table = &segment), segments);
    if (segment.type != PT_LOAD)
      continue;
    rules.checkRange(segment);
    rules.checkSizes(segment);
    rules.checkAddresses(segment);
    rules.checkAlignment(segment);
    if (previous)
      rules.checkOrder(*previous, segment);
    previous = &segment;
  }
  if (!previous && !segments.empty())
    rules.add(DefectKind::programHeaders, true, "e_phnum",
              offsetof(Elf64_Ehdr, e_phnum), "no PT_LOAD: nothing is mapped");
}

// Assumptions of the loader. After the program headers: the path of the loader
// itself, notes, and the dynamic section's tables. Only a full read looks here
// (Image::readEverything).

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
  uint64_t left = getMaxOverlaidBytes(reader->bytes());
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
    if (address && !getOffset(*address, pointer.bytes))
      addPointerDefect(pointer.tag, pointer.name,
                       "address " + formatHex(*address) + ", " +
                           formatHex(pointer.bytes) +
                           " bytes, leaves the loaded segments");
  }
}

// Of packed relocations, which the elf.h of RHEL 8 does not have.
static constexpr int64_t relrTag = 36;      // DT_RELR
static constexpr int64_t relrEntryTag = 37; // DT_RELRENT

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
      {relrEntryTag, "DT_RELRENT", relrTag, sizeof(Elf64_Xword)},
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
