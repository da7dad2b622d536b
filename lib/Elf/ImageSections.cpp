// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of an Image from its section headers: names, sizes, .symtab; and the
// notes of a whole file, wherever they are. Section headers come first: they
// are exact, and the only place in an object. A program whose section headers
// were stripped off still has its PT_NOTEs.

#include "Elf/Image.h"
#include "Elf/ImageState.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace llvm;
using namespace mpg;

/// File offset of [address, address + bytes) as the loader maps it.
std::optional<uint64_t> Image::State::getOffset(uint64_t address,
                                                uint64_t bytes) const {
  for (const Segment &load : loads)
    if (address >= load.address && address - load.address <= load.fileBytes &&
        bytes <= load.fileBytes - (address - load.address))
      return load.offset + (address - load.address);
  return std::nullopt;
}

void Image::State::readSections() {
  if (triedSections)
    return;
  triedSections = true;
  if (!fullyRead)
    return;
  // The linker needs section headers, the kernel and the loader do not.
  bool fatal = header.e_type == ET_REL;
  if (header.e_shoff == 0)
    return;
  // libelf's count is 0 when the table does not fit into the file.
  uint64_t count = header.e_shnum ? header.e_shnum : reader->sectionCount();
  if (count == 0) {
    add(DefectKind::sectionHeaders, fatal, "e_shnum",
        offsetof(Elf64_Ehdr, e_shnum), "0, although e_shoff names a table");
    return;
  }
  ArrayRef<Elf64_Shdr> headers = reader->sectionHeaders(header.e_shoff, count);
  if (headers.empty() || header.e_shentsize != sizeof(Elf64_Shdr)) {
    bool range = header.e_shentsize == sizeof(Elf64_Shdr);
    add(DefectKind::sectionHeaders, fatal, range ? "e_shoff" : "e_shentsize",
        range ? offsetof(Elf64_Ehdr, e_shoff)
              : offsetof(Elf64_Ehdr, e_shentsize),
        range ? std::to_string(count) + " section headers at " +
                    formatHex(header.e_shoff) + " pass the end of the file (" +
                    formatHex(reader->bytes()) + ")"
              : std::to_string(header.e_shentsize) + " is not 64");
    return;
  }
  sections.reserve(headers.size());
  for (const Elf64_Shdr &entry : headers)
    sections.push_back({"", entry.sh_type, entry.sh_link, entry.sh_flags,
                        entry.sh_addr, entry.sh_offset, entry.sh_size,
                        entry.sh_entsize});
  if (headers[0].sh_type != SHT_NULL)
    add(DefectKind::sectionHeaders, fatal, "section[0].sh_type",
        header.e_shoff + offsetof(Elf64_Shdr, sh_type),
        formatHex(headers[0].sh_type) + " is not SHT_NULL");
  nameSections(headers);
  checkSectionRanges();
  findSymbolTable();
}

void Image::State::nameSections(ArrayRef<Elf64_Shdr> headers) {
  bool fatal = header.e_type == ET_REL;
  uint64_t index = reader->sectionNameIndex();
  if (index != 0 && index < headers.size())
    sectionNames =
        StringTable(*reader, headers[index].sh_offset, headers[index].sh_size);
  if (sectionNames.bytes() == 0) {
    if (headers.size() > 1 || header.e_shstrndx != SHN_UNDEF)
      add(DefectKind::sectionHeaders, fatal, "e_shstrndx",
          offsetof(Elf64_Ehdr, e_shstrndx),
          "section " + std::to_string(index) + " holds no section names");
    return;
  }
  for (size_t i = 1; i < headers.size(); ++i) {
    std::optional<StringRef> name = sectionNames.get(headers[i].sh_name);
    if (name) {
      sections[i].name = *name;
      continue;
    }
    add(DefectKind::stringOffset, fatal,
        "section[" + std::to_string(i) + "].sh_name",
        header.e_shoff + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_name),
        formatHex(headers[i].sh_name) + " lies outside the section names (" +
            formatHex(sectionNames.bytes()) + " bytes)");
    return; // one bad table makes every name bad; one finding says it
  }
}

void Image::State::checkSectionRanges() {
  for (size_t i = 1; i < sections.size(); ++i) {
    const Section &section = sections[i];
    if (!section.inFile() ||
        (section.offset <= reader->bytes() &&
         section.bytes <= reader->bytes() - section.offset))
      continue;
    add(DefectKind::sectionRange, header.e_type == ET_REL,
        "section[" + std::to_string(i) + "].sh_offset",
        header.e_shoff + i * sizeof(Elf64_Shdr) +
            offsetof(Elf64_Shdr, sh_offset),
        (section.name.empty() ? std::string("section") : section.name.str()) +
            ": offset " + formatHex(section.offset) + " + size " +
            formatHex(section.bytes) + " passes the end of the file (" +
            formatHex(reader->bytes()) + ")");
    return;
  }
}

void Image::State::findSymbolTable() {
  for (size_t i = 0; i < sections.size(); ++i) {
    const Section &section = sections[i];
    if (section.type != SHT_SYMTAB)
      continue;
    bool goodLink = section.link < sections.size() &&
                    sections[section.link].type == SHT_STRTAB;
    if (section.entryBytes != sizeof(Elf64_Sym) || !goodLink) {
      add(DefectKind::symbolTable, header.e_type == ET_REL,
          "section[" + std::to_string(i) + "]." +
              (goodLink ? "sh_entsize" : "sh_link"),
          header.e_shoff + i * sizeof(Elf64_Shdr) +
              (goodLink ? offsetof(Elf64_Shdr, sh_entsize)
                        : offsetof(Elf64_Shdr, sh_link)),
          goodLink ? std::to_string(section.entryBytes) + " is not 24"
                   : "section " + std::to_string(section.link) +
                         " is not a string table");
      return;
    }
    symbolTable = i;
    return;
  }
}

void Image::State::readSymbols() {
  if (triedSymbols)
    return;
  triedSymbols = true;
  readSections();
  if (symbolTable == 0)
    return;
  const Section &section = sections[symbolTable];
  symbols = reader->symbols(section.offset, section.bytes / sizeof(Elf64_Sym));
  const Section &strings = sections[section.link];
  symbolStrings = StringTable(*reader, strings.offset, strings.bytes);
}

Symbol Image::State::decode(const Elf64_Sym &symbol, StringTable &strings,
                            StringRef table, uint64_t index) {
  Symbol decoded = {"",
                    symbol.st_value,
                    symbol.st_size,
                    symbol.st_shndx,
                    uint8_t(ELF64_ST_TYPE(symbol.st_info)),
                    uint8_t(ELF64_ST_BIND(symbol.st_info))};
  if (std::optional<StringRef> name = strings.get(symbol.st_name)) {
    decoded.name = *name;
    return decoded;
  }
  // One finding for a table, not one per symbol.
  std::string field = (table + " name").str();
  for (const Defect &defect : defects)
    if (defect.kind == DefectKind::stringOffset && defect.field == field)
      return decoded;
  bool isDynamic = table == "DT_SYMTAB";
  uint64_t start = isDynamic ? getOffset(dynamic.symbolTable, 0).value_or(0)
                             : sections[symbolTable].offset;
  // st_name is the first member of a symbol.
  add(DefectKind::stringOffset, loadable() == isDynamic, field,
      start + index * sizeof(Elf64_Sym),
      "symbol " + std::to_string(index) + ": " + formatHex(symbol.st_name) +
          " lies outside the string table (" + formatHex(strings.bytes()) +
          " bytes)");
  return decoded;
}

/// More than any program has: a hint note is 76 bytes a module.
static constexpr uint64_t limitBytes = 16 << 20;

static void visitSegments(Image &image, function_ref<void(StringRef)> visit) {
  uint64_t left = getMaxOverlaidBytes(image.fileBytes());
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

// Users of the top byte. Numbers are those of the ELF documents for AArch64
// (the memory tagging and the PAuth ABI extension) and of Android; elf.h of
// older systems does not have them.

static constexpr uint64_t memtagMode = 0x70000009;    // DT_AARCH64_MEMTAG_MODE
static constexpr uint64_t memtagHeap = 0x7000000b;    // ..._HEAP
static constexpr uint64_t memtagStack = 0x7000000c;   // ..._STACK
static constexpr uint64_t memtagGlobals = 0x7000000d; // ..._GLOBALS
static constexpr uint32_t androidMemtagNote = 4;      // NT_ANDROID_TYPE_MEMTAG
static constexpr uint32_t gnuPropertyNote = 5;        // NT_GNU_PROPERTY_TYPE_0
static constexpr uint32_t pauthProperty = 0xc0000001;

static std::string findSanitizer(Image &image) {
  std::string found;
  auto visit = [&](const Symbol &symbol) {
    if (found.empty() && symbol.name.starts_with("__hwasan_"))
      found = "symbol " + symbol.name.str();
  };
  if (image.isLoadable()) {
    for (StringRef name : image.dynamic().needed)
      if (name.contains("clang_rt.hwasan"))
        return name.str() + " in DT_NEEDED";
    image.forEachImport(visit);
  }
  image.forEachSymbol(visit);
  return found;
}

/// DT_AARCH64_MEMTAG_* of the dynamic section; Image keeps only what others ask
/// for more often.
static std::string findMemtagEntry(Image &image) {
  const Segment *segment = image.findSegment(PT_DYNAMIC);
  if (!segment)
    return {};
  uint8_t entry[sizeof(Elf64_Dyn)];
  for (uint64_t at = 0; at + sizeof(entry) <= segment->fileBytes;
       at += sizeof(entry)) {
    if (!image.readMemory(segment->address + at, entry))
      return {};
    uint64_t tag = support::endian::read64le(entry);
    if (tag == DT_NULL)
      return {};
    if (tag == memtagMode || tag == memtagHeap || tag == memtagStack ||
        tag == memtagGlobals)
      return "dynamic entry 0x" + utohexstr(tag, /*LowerCase=*/true) +
             " (DT_AARCH64_MEMTAG)";
  }
  return {};
}

/// Whether a note of GNU properties has one of type \p wanted.
static bool hasProperty(StringRef properties, uint32_t wanted) {
  while (properties.size() >= 8) {
    uint32_t type = support::endian::read32le(properties.data());
    uint64_t bytes = support::endian::read32le(properties.data() + 4);
    if (type == wanted)
      return true;
    // substr() stops at the end, whatever the size claims.
    properties = properties.substr(8 + ((bytes + 7) & ~uint64_t(7)));
  }
  return false;
}

std::vector<TopByteUser> mpg::findTopByteUsers(Image &image) {
  std::vector<TopByteUser> users;
  if (image.machine() != Machine::aarch64)
    return users;
  auto add = [&](StringRef sub, StringRef name, std::string evidence) {
    if (!evidence.empty())
      users.push_back({sub.str(), name.str(), std::move(evidence)});
  };
  std::string memtag = findMemtagEntry(image), pauth;
  forEachNoteBlock(image, [&](StringRef block) {
    forEachNote(block, [&](StringRef name, uint32_t type, StringRef contents) {
      name = name.take_until([](char c) { return c == '\0'; });
      if (name == "Android" && type == androidMemtagNote)
        memtag = "Android's note of memory tagging";
      if (name == "GNU" && type == gnuPropertyNote &&
          hasProperty(contents, pauthProperty))
        pauth = "GNU property 0xc0000001 (PAuth ABI)";
    });
  });
  add("hwasan", "HWAddressSanitizer", findSanitizer(image));
  add("memtag", "Arm's memory tagging", std::move(memtag));
  add("pauth", "the PAuth ABI of signed pointers", std::move(pauth));
  return users;
}

bool mpg::tagsHeap(StringRef tunables) {
  bool tags = false;
  for (StringRef item : split(tunables, ':')) {
    unsigned value;
    if (item.consume_front("glibc.mem.tagging=") &&
        !item.getAsInteger(0, value))
      tags = value & 1;
  }
  return tags;
}

FunctionTable::FunctionTable(const std::string &path) {
  Error error = readImages(path, [this](Image &image) {
    if (!image.isLoadable() || image.loads().empty())
      return;
    first = alignDown(image.loads().front().address, 4096);
    image.forEachDefinition([this](const Symbol &symbol) {
      uint64_t end = symbol.value + symbol.bytes;
      if (symbol.type == STT_FUNC && end > symbol.value)
        functions.push_back({symbol.value, end, symbol.name.str()});
    });
  });
  consumeError(std::move(error));
  sortBy(functions, &Function::start);
}

const FunctionTable::Function *FunctionTable::find(uint64_t address) const {
  auto next = std::partition_point(
      functions.begin(), functions.end(),
      [&](const Function &one) { return one.start <= address; });
  if (next == functions.begin() || std::prev(next)->end <= address)
    return nullptr;
  return &*std::prev(next);
}
