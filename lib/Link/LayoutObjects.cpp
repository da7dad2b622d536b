// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A writer for exactly the object files that LayoutObjects.h describes: 64-bit,
// little-endian, a handful of sections and symbols.

#include "Link/LayoutObjects.h"
#include "Elf/HintNote.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include <elf.h>

using namespace llvm;
using namespace mpg;

uint64_t mpg::segmentPageBytes(uint64_t hugeBytes) {
  return hugeBytes <= separateSegmentsBytes ? hugeBytes : uint64_t(2) << 20;
}

namespace {

/// Ends the segment of the code on a border, so that its last large page is
/// whole: what is between is a hole in the file.
constexpr const char *textTailSection = ".mpg.text.tail";
constexpr const char *dataStartName = "__mpg_layout_data_start";
constexpr const char *bssStartName = "__mpg_layout_bss_start";
constexpr const char *bssEndName = "__mpg_layout_bss_end";
constexpr const char *tailName = "__mpg_tail";
constexpr const char *largeTailName = "__mpg_large_tail";
constexpr const char *textTailName = "__mpg_text_tail";

/// Collects sections, symbols and relocations; bytes() lays them out. Symbol
/// numbers are final when they are given out, because section symbols (local)
/// have to come before the others: add all sections first.
class ObjectWriter {
public:
  explicit ObjectWriter(Machine machine) : machine(machine) {}

  /// Returns the section's number.
  unsigned addSection(StringRef name, uint32_t type, uint64_t flags,
                      uint64_t align, std::string contents = {});
  unsigned sectionSymbol(unsigned section) const { return section; }
  /// \p section may be SHN_UNDEF or SHN_COMMON; \p value is then the
  /// alignment. All symbols are hidden: none is seen outside of the output.
  unsigned addSymbol(StringRef name, unsigned section, uint64_t value);
  /// Relocations of one section only: the one given first.
  void addRelocation(unsigned section, uint64_t offset, unsigned symbol,
                     uint32_t type);
  std::string bytes();

private:
  struct SectionRecord {
    uint32_t name, type;
    uint64_t flags, align;
    std::string contents;
    uint32_t link = 0, info = 0;
    uint64_t entryBytes = 0;
  };
  uint32_t addName(StringRef name);
  void writeSymbolTable();
  template <typename T> static void appendValue(std::string &out, T value) {
    char bytes[sizeof(T)];
    support::endian::write<T, llvm::endianness::little>(bytes, value);
    out.append(bytes, sizeof(T));
  }
  static void appendSymbol(std::string &out, uint32_t name, uint8_t info,
                           uint8_t other, uint16_t section, uint64_t value);
  void appendHeader(std::string &out, uint64_t sectionOffset) const;
  static void appendSectionHeader(std::string &out,
                                  const SectionRecord &section,
                                  uint64_t offset);

  Machine machine;
  std::vector<SectionRecord> sections;
  std::string names = std::string(1, '\0');
  std::string globals;
  unsigned globalCount = 0;
  unsigned firstGlobal = 0;
  std::string relocations;
  unsigned relocated = 0;
};

} // namespace

uint32_t ObjectWriter::addName(StringRef name) {
  uint32_t offset = uint32_t(names.size());
  names += name;
  names += '\0';
  return offset;
}

unsigned ObjectWriter::addSection(StringRef name, uint32_t type, uint64_t flags,
                                  uint64_t align, std::string contents) {
  SectionRecord section;
  section.name = addName(name);
  section.type = type;
  section.flags = flags;
  section.align = align;
  section.contents = std::move(contents);
  sections.push_back(std::move(section));
  return unsigned(sections.size());
}

void ObjectWriter::appendSymbol(std::string &out, uint32_t name, uint8_t info,
                                uint8_t other, uint16_t section,
                                uint64_t value) {
  appendValue(out, name);
  appendValue(out, info);
  appendValue(out, other);
  appendValue(out, section);
  appendValue(out, value);
  appendValue(out, uint64_t(0));
}

unsigned ObjectWriter::addSymbol(StringRef name, unsigned section,
                                 uint64_t value) {
  if (globalCount == 0)
    firstGlobal = unsigned(sections.size()) + 1;
  uint8_t type = section == SHN_UNDEF ? STT_NOTYPE : STT_OBJECT;
  appendSymbol(globals, addName(name), ELF64_ST_INFO(STB_GLOBAL, type),
               STV_HIDDEN, uint16_t(section), value);
  return firstGlobal + globalCount++;
}

void ObjectWriter::addRelocation(unsigned section, uint64_t offset,
                                 unsigned symbol, uint32_t type) {
  relocated = section;
  appendValue(relocations, offset);
  appendValue(relocations, ELF64_R_INFO(uint64_t(symbol), type));
  appendValue(relocations, int64_t(0));
}

void ObjectWriter::writeSymbolTable() {
  unsigned localCount = unsigned(sections.size());
  std::string table;
  appendSymbol(table, 0, 0, 0, SHN_UNDEF, 0);
  for (unsigned section = 1; section <= localCount; ++section)
    appendSymbol(table, 0, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), 0,
                 uint16_t(section), 0);
  unsigned symbols = addSection(".symtab", SHT_SYMTAB, 0, 8, table + globals);
  sections[symbols - 1].info = localCount + 1;
  sections[symbols - 1].entryBytes = sizeof(Elf64_Sym);
  if (!relocations.empty()) {
    unsigned rela =
        addSection(".rela.mpg", SHT_RELA, SHF_INFO_LINK, 8, relocations);
    sections[rela - 1].link = symbols;
    sections[rela - 1].info = relocated;
    sections[rela - 1].entryBytes = sizeof(Elf64_Rela);
  }
  // Its own name must be in the table before the table is copied.
  unsigned strings = addSection(".strtab", SHT_STRTAB, 0, 1);
  sections[strings - 1].contents = names;
  sections[symbols - 1].link = strings;
}

void ObjectWriter::appendHeader(std::string &out,
                                uint64_t sectionOffset) const {
  const char ident[EI_NIDENT] = {ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
                                 ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
  out.append(ident, EI_NIDENT);
  appendValue(out, uint16_t(ET_REL));
  appendValue(out, uint16_t(machine));
  appendValue(out, uint32_t(EV_CURRENT));
  appendValue(out, uint64_t(0)); // e_entry
  appendValue(out, uint64_t(0)); // e_phoff
  appendValue(out, sectionOffset);
  appendValue(out, uint32_t(0)); // e_flags
  appendValue(out, uint16_t(sizeof(Elf64_Ehdr)));
  appendValue(out, uint16_t(0)); // e_phentsize
  appendValue(out, uint16_t(0)); // e_phnum
  appendValue(out, uint16_t(sizeof(Elf64_Shdr)));
  appendValue(out, uint16_t(sections.size() + 1));
  appendValue(out, uint16_t(sections.size())); // .strtab is the last one
}

void ObjectWriter::appendSectionHeader(std::string &out,
                                       const SectionRecord &section,
                                       uint64_t offset) {
  appendValue(out, section.name);
  appendValue(out, section.type);
  appendValue(out, section.flags);
  appendValue(out, uint64_t(0)); // sh_addr
  appendValue(out, offset);
  appendValue(out, uint64_t(section.contents.size()));
  appendValue(out, section.link);
  appendValue(out, section.info);
  appendValue(out, section.align);
  appendValue(out, section.entryBytes);
}

std::string ObjectWriter::bytes() {
  writeSymbolTable();
  std::string body, headers(sizeof(Elf64_Shdr), '\0');
  for (const SectionRecord &section : sections) {
    body.resize((body.size() + 7) & ~size_t(7));
    appendSectionHeader(headers, section, sizeof(Elf64_Ehdr) + body.size());
    body += section.contents;
  }
  body.resize((body.size() + 7) & ~size_t(7));
  std::string out;
  appendHeader(out, sizeof(Elf64_Ehdr) + body.size());
  return out + body + headers;
}

/// The linker keeps a security property (IBT, shadow stack, BTI, PAC, GCS) only
/// if every input has it. Objects without code have all of them.
static std::string allFeatures(Machine machine) {
  bool isArm = machine == Machine::aarch64;
  uint32_t words[8] = {4,
                       16,
                       5 /* NT_GNU_PROPERTY_TYPE_0 */,
                       0x00554e47,
                       isArm ? 0xc0000000u : 0xc0000002u, // FEATURE_1_AND
                       4,
                       isArm ? 7u : 3u,
                       0};
  std::string note;
  for (uint32_t word : words) {
    char bytes[4];
    support::endian::write32le(bytes, word);
    note.append(bytes, 4);
  }
  return note;
}

static void addFeatures(ObjectWriter &object, Machine machine) {
  object.addSection(".note.gnu.property", SHT_NOTE, SHF_ALLOC, 8,
                    allFeatures(machine));
}

/// Without it other linkers ask for an executable stack.
static void addStackMark(ObjectWriter &object) {
  object.addSection(".note.GNU-stack", SHT_PROGBITS, 0, 1);
}

static std::string layoutNote(uint64_t hugeBytes, uint16_t flags) {
  mpg_note_layout note = {};
  note.version = MPG_NOTE_LAYOUT_VERSION;
  note.flags = flags;
  note.hugeBytes = hugeBytes;
  return writeNote(
      MPG_NOTE_TYPE_LAYOUT,
      StringRef(reinterpret_cast<const char *>(&note), sizeof(note)));
}

namespace {

/// A section of the last object. It is aligned, so the memory after it begins
/// at a border of a large page.
struct Tail {
  const char *section, *symbol;
  uint32_t type;
  uint64_t flags, align;
};

} // namespace

static std::vector<Tail> findTails(const LayoutWish &wish, bool data) {
  constexpr uint64_t flags = SHF_ALLOC | SHF_WRITE;
  std::vector<Tail> tails;
  if (data)
    tails.push_back(
        {layoutTailSection, tailName, SHT_NOBITS, flags, wish.hugeBytes});
  if (data && wish.large)
    tails.push_back({".mpg.ltail", largeTailName, SHT_NOBITS,
                     flags | largeSectionFlag, wish.hugeBytes});
  if (wish.text)
    tails.push_back({textTailSection, textTailName, SHT_PROGBITS,
                     SHF_ALLOC | SHF_EXECINSTR,
                     segmentPageBytes(wish.hugeBytes)});
  return tails;
}

static std::string writeLast(Machine machine, ArrayRef<Tail> tails) {
  if (tails.empty())
    return {};
  ObjectWriter object(machine);
  std::vector<unsigned> sections;
  for (const Tail &tail : tails)
    sections.push_back(
        object.addSection(tail.section, tail.type, tail.flags, tail.align));
  addFeatures(object, machine);
  addStackMark(object);
  for (auto [tail, section] : zip(tails, sections))
    object.addSymbol(tail.symbol, section, 0);
  return object.bytes();
}

/// The sections of the first object, without the note; all but the late ones
/// are aligned. Returns their numbers.
static std::vector<unsigned> addDataSections(ObjectWriter &object,
                                             const LayoutWish &wish) {
  constexpr uint64_t flags = SHF_ALLOC | SHF_WRITE;
  std::vector<unsigned> added;
  auto add = [&](StringRef name, uint32_t type, uint64_t moreFlags,
                 uint64_t align) {
    added.push_back(object.addSection(name, type, flags | moreFlags, align));
  };
  add(".data", SHT_PROGBITS, 0, wish.hugeBytes);
  if (wish.large) {
    add(".ldata", SHT_PROGBITS, largeSectionFlag, wish.hugeBytes);
    add(".lbss", SHT_NOBITS, largeSectionFlag, wish.hugeBytes);
  }
  for (const std::string &name : wish.lateSections)
    add(name, SHT_NOBITS, 0, 1);
  return added;
}

/// Sections of code keep the order of their first part, so these decide it:
/// those that -z keep-text-section-prefix keeps apart, and the stubs that lld
/// would put behind the last object. Code that is hardly run comes last.
static std::vector<unsigned> addTextSections(ObjectWriter &object,
                                             uint64_t hugeBytes) {
  std::vector<unsigned> added;
  uint64_t align = segmentPageBytes(hugeBytes);
  for (StringRef name : {".text.hot", ".text", ".text.unknown", ".plt",
                         ".plt.sec", ".iplt", ".init", ".fini", ".text.startup",
                         ".text.exit", ".text.unlikely", ".text.split"}) {
    added.push_back(object.addSection(name, SHT_PROGBITS,
                                      SHF_ALLOC | SHF_EXECINSTR, align));
    align = 1;
  }
  return added;
}

static constexpr uint32_t none = 0; // R_X86_64_NONE, R_AARCH64_NONE

/// Notes are never collected as garbage; what one refers to stays as well.
static void keepSections(ObjectWriter &object, unsigned note,
                         ArrayRef<unsigned> sections, ArrayRef<Tail> tails) {
  for (unsigned section : sections)
    object.addRelocation(note, 0, object.sectionSymbol(section), none);
  for (const Tail &tail : tails)
    object.addRelocation(note, 0, object.addSymbol(tail.symbol, SHN_UNDEF, 0),
                         none);
}

LayoutObjects mpg::writeLayoutObjects(Machine machine, const LayoutWish &wish) {
  bool isArm = machine == Machine::aarch64;
  uint32_t absolute = isArm ? R_AARCH64_ABS64 : R_X86_64_64;
  ObjectWriter object(machine);
  std::vector<unsigned> sections = addDataSections(object, wish);
  if (wish.text)
    llvm::append_range(sections, addTextSections(object, wish.hugeBytes));
  unsigned note =
      object.addSection(MPG_NOTE_SECTION_LAYOUT, SHT_NOTE, SHF_ALLOC,
                        MPG_NOTE_ALIGN, layoutNote(wish.hugeBytes, 0));
  addFeatures(object, machine);
  addStackMark(object);

  std::vector<Tail> tails = findTails(wish, /*data=*/true);
  keepSections(object, note, sections, tails);
  object.addRelocation(
      note, 0, object.addSymbol("__mpg_bss_start", SHN_COMMON, wish.hugeBytes),
      none);
  unsigned dataStart = object.addSymbol(dataStartName, SHN_UNDEF, 0);
  unsigned bssStart = object.addSymbol(bssStartName, SHN_UNDEF, 0);
  unsigned bssEnd = object.addSymbol(bssEndName, SHN_UNDEF, 0);
  // The border at which .bss begins is where the pages of .data end.
  const std::pair<size_t, unsigned> fields[] = {
      {offsetof(mpg_note_layout, dataStart), dataStart},
      {offsetof(mpg_note_layout, dataEnd), bssStart},
      {offsetof(mpg_note_layout, bssStart), bssStart},
      {offsetof(mpg_note_layout, bssEnd), bssEnd}};
  for (auto [offset, symbol] : fields)
    object.addRelocation(note, noteHeaderBytes + offset, symbol, absolute);
  return {object.bytes(), writeLast(machine, tails)};
}

LayoutObjects mpg::writeSkippedObjects(Machine machine,
                                       const LayoutWish &wish) {
  ObjectWriter object(machine);
  std::vector<unsigned> sections;
  if (wish.text)
    sections = addTextSections(object, wish.hugeBytes);
  unsigned note = object.addSection(
      MPG_NOTE_SECTION_LAYOUT, SHT_NOTE, SHF_ALLOC, MPG_NOTE_ALIGN,
      layoutNote(wish.hugeBytes, MPG_LAYOUT_SKIPPED));
  addFeatures(object, machine);
  addStackMark(object);
  std::vector<Tail> tails = findTails(wish, /*data=*/false);
  keepSections(object, note, sections, tails);
  return {object.bytes(), writeLast(machine, tails)};
}

std::vector<std::string> mpg::layoutDefinitions() {
  auto definition = [](const char *symbol, const char *section) {
    return std::string("--defsym=") + symbol + "=ADDR(" + section +
           ")-__ehdr_start";
  };
  return {definition(dataStartName, ".data"), definition(bssStartName, ".bss"),
          definition(bssEndName, layoutTailSection)};
}
