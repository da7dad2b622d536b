// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Image.h. Opening a file, the members of an archive, and what kind of file
// it is.

#include "Elf/ImageState.h"
#include "llvm/ADT/StringExtras.h"
#include <ar.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

// Small vocabulary

StringRef mpg::kindName(ElfKind kind) {
  static constexpr StringLiteral names[] = {
      "exec",      "static",         "pie",   "static-pie", "library",
      "object",    "archive-member", "debug", "core",       "other-machine",
      "malformed", "not-elf"};
  return names[unsigned(kind)];
}

bool Segment::writable() const { return flags & PF_W; }
bool Segment::executable() const { return flags & PF_X; }

uint64_t Segment::end() const {
  uint64_t sum = address + memoryBytes;
  return sum < address ? UINT64_MAX : sum;
}

bool Section::inFile() const {
  return type != SHT_NOBITS && type != SHT_NULL && bytes > 0;
}

// Headers and kind

void Image::State::readHeaders(bool isMember) {
  std::optional<Elf64_Ehdr> read = reader->header();
  if (!read) {
    kind = ElfKind::malformed;
    add(DefectKind::header, true, "e_ident", 0, ElfReader::lastError());
    return;
  }
  header = *read;
  machineNumber = header.e_machine;
  fullyRead = header.e_ident[EI_CLASS] == ELFCLASS64 &&
              header.e_ident[EI_DATA] == ELFDATA2LSB &&
              (machineNumber == EM_X86_64 || machineNumber == EM_AARCH64);
  uint64_t declared = 0;
  std::vector<Elf64_Phdr> table = reader->programHeaders(declared);
  segments.reserve(table.size());
  loads.reserve(std::min<size_t>(table.size(), 8));
  uint32_t index = 0;
  for (const Elf64_Phdr &entry : table) {
    Segment segment = {entry.p_type,   entry.p_flags, index++,
                       entry.p_offset, entry.p_vaddr, entry.p_filesz,
                       entry.p_memsz,  entry.p_align};
    segments.push_back(segment);
    if (entry.p_type == PT_LOAD)
      loads.push_back(segment);
  }
  // Only now: what kind a file is, its dynamic section or its sections may say.
  kind = decideKind(isMember);
  if (kind == ElfKind::debug)
    defects.clear(); // of a dynamic section that is not there
  if (!fullyRead || kind == ElfKind::debug)
    return;
  HeaderContext context = {kind, header, declared, reader->bytes()};
  checkHeader(context, segments, defects);
  if (loadable())
    checkSegments(context, segments, defects);
}

ElfKind Image::State::decideKind(bool isMember) {
  if (!fullyRead)
    return ElfKind::otherMachine;
  if (isDetachedDebug())
    return ElfKind::debug;
  if (isMember)
    return ElfKind::archiveMember;
  bool hasInterpreter = false;
  for (const Segment &segment : segments)
    hasInterpreter |= segment.type == PT_INTERP;
  switch (header.e_type) {
  case ET_REL:
    return ElfKind::object;
  case ET_CORE:
    return ElfKind::core;
  case ET_EXEC:
    return hasInterpreter ? ElfKind::exec : ElfKind::staticExec;
  case ET_DYN:
    readDynamic();
    if (dynamic.flags1 & DF_1_PIE)
      return hasInterpreter ? ElfKind::pie : ElfKind::staticPie;
    // Go and linkers before 2.26 do not set the flag; libc.so.6 and the loader
    // have an interpreter or an entry point, but a SONAME as well.
    return hasInterpreter && !dynamic.soname ? ElfKind::pie : ElfKind::library;
  default:
    add(DefectKind::header, true, "e_type", offsetof(Elf64_Ehdr, e_type),
        std::to_string(header.e_type) + " is none of REL, EXEC, DYN, CORE");
    return ElfKind::malformed;
  }
}

/// objcopy --only-keep-debug keeps the headers and turns what would be loaded
/// into NOBITS; without this rule such files look like programs whose data
/// lies outside the file.
bool Image::State::isDetachedDebug() {
  if (header.e_type == ET_CORE)
    return false;
  // A well-formed dynamic section is not a left-over.
  if (header.e_type != ET_REL) {
    readDynamic();
    if (dynamic.present && defects.empty())
      return false;
  }
  readSections();
  bool hasDebug = false;
  for (const Section &section : sections) {
    if (section.type == SHT_NOBITS &&
        (section.name == ".text" || section.name == ".interp" ||
         section.name == ".dynamic"))
      return true;
    hasDebug |= section.name.starts_with(".debug_");
  }
  // A supplementary file of dwz has nothing but debug sections.
  return hasDebug && loads.empty() && header.e_type != ET_REL;
}

// Image

Image::Image(std::unique_ptr<State> state) : state(std::move(state)) {}
Image::~Image() = default;

const std::string &Image::path() const { return state->path; }
ElfKind Image::kind() const { return state->kind; }
StringRef Image::notElfReason() const { return state->notElfReason; }
uint64_t Image::fileBytes() const { return state->fileBytes; }
uint32_t Image::fileMode() const { return state->mode; }
bool Image::fullyRead() const { return state->fullyRead; }
bool Image::isLoadable() const { return state->loadable(); }
ArrayRef<Segment> Image::segments() const { return state->segments; }
ArrayRef<Segment> Image::loads() const { return state->loads; }
ArrayRef<Defect> Image::defects() const { return state->defects; }

std::optional<uint64_t> Image::failedReadOffset() const {
  return state->reader ? state->reader->failedReadOffset() : std::nullopt;
}

Machine Image::machine() const {
  return state->machineNumber == EM_AARCH64 ? Machine::aarch64
                                            : Machine::x86_64;
}

std::string Image::machineName() const {
  constexpr unsigned loongarch = 258; // which not every elf.h has
  static constexpr std::pair<unsigned, const char *> names[] = {
      {EM_NONE, "none"}, {EM_X86_64, "x86-64"},   {EM_AARCH64, "aarch64"},
      {EM_386, "i386"},  {EM_ARM, "arm"},         {EM_RISCV, "riscv"},
      {EM_PPC, "ppc"},   {EM_PPC64, "ppc64"},     {EM_S390, "s390"},
      {EM_MIPS, "mips"}, {EM_SPARCV9, "sparc64"}, {loongarch, "loongarch"},
      {EM_BPF, "bpf"}};
  for (auto [number, name] : names)
    if (number == state->machineNumber)
      return name;
  return "machine-" + std::to_string(state->machineNumber);
}

bool mpg::isStatic(ElfKind kind) {
  return kind == ElfKind::staticExec || kind == ElfKind::staticPie;
}

bool Image::isStatic() const { return mpg::isStatic(kind()); }

bool Image::isProgram() const {
  return isLoadable() && kind() != ElfKind::library;
}

const Segment *Image::findSegment(uint32_t type) const {
  for (const Segment &segment : state->segments)
    if (segment.type == type)
      return &segment;
  return nullptr;
}

const Dynamic &Image::dynamic() {
  state->readDynamic();
  return state->dynamic;
}

bool Image::needs(StringRef libraryPrefix) {
  for (StringRef name : dynamic().needed)
    if (name.starts_with(libraryPrefix))
      return true;
  return false;
}

std::optional<StringRef> Image::interpreter() {
  const Segment *segment = findSegment(PT_INTERP);
  if (!segment)
    return std::nullopt;
  StringRef text = state->reader->text(segment->offset, segment->fileBytes);
  size_t end = text.find('\0');
  // Without a NUL it is not a path; checkInterpreterText() reports it.
  return end == StringRef::npos ? std::nullopt
                                : std::optional<StringRef>(text.substr(0, end));
}

ArrayRef<Section> Image::sections() {
  state->readSections();
  return state->sections;
}

bool Image::hasSections() { return !sections().empty(); }

const Section *Image::findSection(StringRef name) {
  for (const Section &section : sections())
    if (section.name == name)
      return &section;
  return nullptr;
}

StringRef Image::sectionData(const Section &section, uint64_t limitBytes) {
  if (!section.inFile() || section.bytes > limitBytes)
    return "";
  return state->reader->text(section.offset, section.bytes);
}

void Image::forEachImport(function_ref<void(const Symbol &)> visit) {
  state->readHashedSymbols();
  for (size_t i = 1; i < state->dynamicSymbols.size(); ++i)
    if (state->dynamicSymbols[i].st_shndx == SHN_UNDEF)
      visit(state->decode(state->dynamicSymbols[i], state->dynamicStrings,
                          "DT_SYMTAB", i));
}

NameStarts::NameStarts(ArrayRef<const char *> names) : names(names) {
  for (const char *name : names) {
    uint32_t first = 0;
    memcpy(&first, name, std::min(sizeof first, strlen(name)));
    bits[hash(first) / 64] |= uint64_t(1) << hash(first) % 64;
  }
}

void Image::forEachImport(const NameStarts &names,
                          function_ref<void(const Symbol &)> visit) {
  state->readDynamicSymbols();
  auto mayBe = [&](uint32_t first) { return names.mayBe(first); };
  for (size_t i = 1; i < state->dynamicSymbols.size(); ++i) {
    const Elf64_Sym &symbol = state->dynamicSymbols[i];
    if (symbol.st_shndx == SHN_UNDEF &&
        state->dynamicStrings.mayBegin(symbol.st_name, mayBe))
      visit(state->decode(symbol, state->dynamicStrings, "DT_SYMTAB", i));
  }
  for (size_t i = 0; state->skipsHashed && i < names.all().size(); ++i)
    state->visitHashedImport(names.all()[i], visit);
}

bool Image::exportsSymbol(StringRef name) {
  state->readDynamic();
  return state->dynamic.gnuHash ? state->findByGnuHash(name, true).has_value()
                                : state->findByScan(name);
}

void Image::forEachSymbol(function_ref<void(const Symbol &)> visit) {
  state->readSymbols();
  for (size_t i = 1; i < state->symbols.size(); ++i)
    visit(state->decode(state->symbols[i], state->symbolStrings, ".symtab", i));
}

void Image::forEachSymbol(const NameStarts &names,
                          function_ref<void(const Symbol &)> visit) {
  state->readSymbols();
  auto mayBe = [&](uint32_t first) { return names.mayBe(first); };
  for (size_t i = 1; i < state->symbols.size(); ++i)
    if (state->symbolStrings.mayBegin(state->symbols[i].st_name, mayBe))
      visit(
          state->decode(state->symbols[i], state->symbolStrings, ".symtab", i));
}

void Image::forEachDefinition(function_ref<void(const Symbol &)> visit) {
  state->readSymbols();
  ArrayRef<Elf64_Sym> symbols = state->symbols;
  bool hasTable = !symbols.empty();
  if (!hasTable)
    symbols = state->exports();
  StringTable &strings =
      hasTable ? state->symbolStrings : state->dynamicStrings;
  for (size_t i = 1; i < symbols.size(); ++i)
    if (symbols[i].st_shndx != SHN_UNDEF)
      visit(state->decode(symbols[i], strings,
                          hasTable ? ".symtab" : "DT_SYMTAB", i));
}

std::vector<Relocation>
Image::findRelocations(function_ref<bool(const Symbol &)> wanted) {
  state->readHashedSymbols();
  std::vector<bool> isWanted(state->dynamicSymbols.size());
  for (size_t i = 1; i < isWanted.size(); ++i)
    isWanted[i] = state->dynamicSymbols[i].st_shndx == SHN_UNDEF &&
                  wanted(state->decode(state->dynamicSymbols[i],
                                       state->dynamicStrings, "DT_SYMTAB", i));
  std::vector<Relocation> found;
  const Dynamic &dynamic = state->dynamic;
  // Relative relocations come first, are many, and name no symbol.
  uint64_t skipped =
      std::min(dynamic.relativeCount * sizeof(Elf64_Rela), dynamic.relaBytes);
  std::pair<uint64_t, uint64_t> const tables[] = {
      {dynamic.rela + skipped, dynamic.relaBytes - skipped},
      {dynamic.pltRel, dynamic.pltRelBytes}};
  for (auto [address, bytes] : tables) {
    std::optional<uint64_t> at = state->getOffset(address, bytes);
    if (!at)
      continue;
    for (const Elf64_Rela &entry :
         state->reader->relocations(*at, bytes / sizeof(Elf64_Rela))) {
      uint64_t symbol = ELF64_R_SYM(entry.r_info);
      if (symbol < isWanted.size() && isWanted[symbol])
        found.push_back(
            {entry.r_offset, uint32_t(ELF64_R_TYPE(entry.r_info)),
             state
                 ->decode(state->dynamicSymbols[symbol], state->dynamicStrings,
                          "DT_SYMTAB", symbol)
                 .name});
    }
  }
  return found;
}

bool Image::readMemory(uint64_t address, MutableArrayRef<uint8_t> buffer) {
  std::optional<uint64_t> at = state->getOffset(address, buffer.size());
  return at && state->reader->copy(*at, buffer);
}

void Image::readEverything() {
  if (!fullyRead() || kind() == ElfKind::debug || kind() == ElfKind::core)
    return;
  state->readSections();
  if (state->relocatable()) {
    forEachSymbol([](const Symbol &) {});
    return;
  }
  if (!isLoadable())
    return;
  state->readDynamic();
  state->checkInterpreterText();
  state->checkDynamic();
  state->checkDynamicNames();
  state->checkNotes();
}

// Opening

/// Describes a file that is not an ELF file, for the message.
static std::string describeContent(StringRef start) {
  if (start.empty())
    return "an empty file";
  if (start.starts_with("#!"))
    return ("a script: " + start.take_until([](char c) { return c == '\n'; }))
        .str();
  if (start.starts_with("!<thin>\n"))
    return "a thin archive: audit the files that it names";
  if (start.starts_with("BC\xC0\xDE"))
    return "LLVM bitcode, not machine code: audit the linked program";
  if (all_of(start, [](char c) { return c == 0; }))
    return "zeros";
  return "no ELF file and no archive";
}

/// e_ident values that libelf refuses, named one by one.
static void addIdentDefects(StringRef start, std::vector<Defect> &defects) {
  if (start.size() < EI_NIDENT) {
    defects.push_back({DefectKind::header, true, "e_ident", start.size(),
                       "the file ends inside the ELF header"});
    return;
  }
  auto check = [&](int index, const char *field, int max) {
    unsigned value = uint8_t(start[index]);
    if (value < 1 || value > unsigned(max))
      defects.push_back({DefectKind::ident, true, field, uint64_t(index),
                         std::to_string(value) + " is not defined"});
  };
  // Each counts from 1; 0 is "invalid".
  check(EI_CLASS, "e_ident[EI_CLASS]", ELFCLASS64);
  check(EI_DATA, "e_ident[EI_DATA]", ELFDATA2MSB);
  check(EI_VERSION, "e_ident[EI_VERSION]", EV_CURRENT);
  bool is64 = start[EI_CLASS] == ELFCLASS64;
  if (start.size() < (is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
    defects.push_back({DefectKind::header, true, "e_ident", start.size(),
                       "the file ends inside the ELF header"});
}

namespace {
struct FileCloser {
  int fd;
  ~FileCloser() { close(fd); }
};
} // namespace

static Error openFailed(const Twine &reason) {
  return createStringError(inconvertibleErrorCode(), reason);
}

/// Opens without waiting for the other end of a FIFO.
static Expected<int> openRegular(const std::string &path, struct stat &status) {
  int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return openFailed(strerror(errno));
  if (fstat(fd, &status) != 0) {
    std::string reason = strerror(errno);
    close(fd);
    return openFailed(reason);
  }
  if (S_ISREG(status.st_mode))
    return fd;
  close(fd);
  return openFailed(S_ISDIR(status.st_mode)
                        ? "is a directory; -r audits what is in it"
                        : "is not a regular file");
}

namespace {

/// The images of one file, each shown to the visitor and gone then.
class FileImages {
public:
  FileImages(const std::string &path, const struct stat &status,
             StringRef start, function_ref<void(Image &)> visit)
      : path(path), bytes(uint64_t(status.st_size)), mode(status.st_mode),
        start(start), visit(visit) {}
  bool isElf() const { return start.starts_with(StringRef(ELFMAG, SELFMAG)); }

  void showMember(ElfReader &reader, const std::string &member) {
    auto state = newState(member);
    state->reader = &reader;
    // Defects are collected, so a damaged file is shown like any other.
    state->readHeaders(!member.empty());
    show(std::move(state));
    hasMembers = true;
  }

  void showRefused(const std::string &libelfReason) {
    auto state = newState();
    if (isElf()) {
      state->kind = ElfKind::malformed;
      addIdentDefects(start, state->defects);
      if (state->defects.empty())
        state->add(DefectKind::header, true, "e_ident", 0, libelfReason);
    } else {
      state->notElfReason = describeContent(start);
    }
    show(std::move(state));
  }

  /// After the members.
  void showEndOfArchive(const std::optional<ArchiveDamage> &damage) {
    auto state = newState();
    if (damage) {
      state->kind = ElfKind::malformed;
      state->add(DefectKind::archive, true, damage->field, damage->offset,
                 damage->reason);
      show(std::move(state));
    } else if (!hasMembers && bytes > strlen(ARMAG)) {
      // glibc's libpthread.a has no members.
      state->notElfReason = "an archive without ELF members";
      show(std::move(state));
    }
  }

private:
  std::unique_ptr<Image::State> newState(const std::string &member = "") {
    auto state = std::make_unique<Image::State>();
    state->path = member.empty() ? path : path + "(" + member + ")";
    state->fileBytes = bytes;
    state->mode = mode;
    return state;
  }
  void show(std::unique_ptr<Image::State> state) {
    Image image(std::move(state));
    visit(image);
  }

  const std::string &path;
  uint64_t bytes;
  uint32_t mode;
  StringRef start;
  function_ref<void(Image &)> visit;
  bool hasMembers = false;
};

} // namespace

Error mpg::readImages(const std::string &path,
                      function_ref<void(Image &)> visit) {
  struct stat status = {};
  Expected<int> fd = openRegular(path, status);
  if (!fd)
    return fd.takeError();
  FileCloser closer = {*fd};

  // One page: besides the ELF header most files have the interpreter and the
  // notes there.
  uint8_t first[4096];
  ssize_t got = pread(*fd, first, sizeof first, 0);
  if (got < 0)
    return openFailed(strerror(errno));
  ArrayRef<uint8_t> head(first, size_t(got));
  StringRef start = toStringRef(head);

  FileImages images(path, status, start, visit);
  if (!images.isElf() && !start.starts_with(ARMAG)) {
    images.showRefused("");
    return Error::success();
  }
  std::optional<ArchiveDamage> damage;
  OpenedFile opened = readElf(
      *fd, uint64_t(status.st_size), head,
      [&](ElfReader &reader, const std::string &member) {
        images.showMember(reader, member);
      },
      damage);
  if (opened.content == OpenedFile::Content::refused)
    images.showRefused(opened.reason);
  if (damage || opened.content == OpenedFile::Content::archive)
    images.showEndOfArchive(damage);
  return Error::success();
}
