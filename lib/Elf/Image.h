// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One ELF file as plain structs: kind, segments, dynamic section, sections,
// symbols. ElfReader hides libelf.
//
// The idea: open() reads the headers, everything else is read when it is first
// asked for and kept, so that a question about the layout costs three small
// reads and a question about symbols costs more. The program headers are the
// truth, as they are for the kernel and the loader; section headers are used
// where only they know (names, sizes of .data and .bss, the symbol table).
//
// Nothing here trusts the file. Whatever does not hold is recorded as a
// Defect, with the field and its offset, and the rest of the file is read on.
// An Image is used by one thread at a time; different Images are independent.

#pragma once

#include "Elf/HintNote.h"
#include "Elf/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// As much as segments of one kind hold together in a file of \p fileBytes:
/// some lie over others, but what has thousands of them over the whole file was
/// made to take time.
constexpr uint64_t getMaxOverlaidBytes(uint64_t fileBytes) {
  return 4 * fileBytes;
}

/// The kind of a file, decided before anything else. The rules are in
/// docs/findings.md, "Kinds of file"; e_type alone decides nothing.
enum class ElfKind : uint8_t {
  exec,          ///< ET_EXEC with an interpreter
  staticExec,    ///< ET_EXEC without one
  pie,           ///< position-independent program with an interpreter
  staticPie,     ///< position-independent program without one
  library,       ///< any other ET_DYN
  object,        ///< ET_REL
  archiveMember, ///< an ELF member of an ar archive
  debug,         ///< detached debug information
  core,          ///< core dump
  otherMachine,  ///< 32-bit, big-endian, or not x86-64 and not AArch64
  malformed,     ///< ELF magic, but the headers cannot be used
  notElf,
};
llvm::StringRef kindName(ElfKind kind);
/// A program without an interpreter.
bool isStatic(ElfKind kind);

/// A program header, sizes in bytes.
struct Segment {
  uint32_t type;
  uint32_t flags;       ///< PF_R, PF_W, PF_X
  uint32_t headerIndex; ///< position in the program header table
  uint64_t offset;
  uint64_t address;
  uint64_t fileBytes;
  uint64_t memoryBytes;
  uint64_t align;

  bool writable() const;
  bool executable() const;
  /// Saturates: a damaged header cannot make the end smaller than the start.
  uint64_t end() const;
};

struct Section {
  llvm::StringRef name;
  uint32_t type;
  uint32_t link;
  uint64_t flags;
  uint64_t address;
  uint64_t offset;
  uint64_t bytes;
  uint64_t entryBytes;

  /// Occupies bytes in the file.
  bool inFile() const;
};

struct Symbol {
  llvm::StringRef name;
  uint64_t value;
  uint64_t bytes;
  uint32_t section; ///< st_shndx; 0 is undefined
  uint8_t type;     ///< STT_*
  uint8_t binding;  ///< STB_*

  bool defined() const { return section != 0; }
};

/// A library that is searched for symbols in front of the one that names it.
struct Filtee {
  llvm::StringRef name;
  bool optional; ///< DT_AUXILIARY, not DT_FILTER
};

/// The dynamic section. Strings live as long as the Image.
struct Dynamic {
  bool present = false;
  std::vector<llvm::StringRef> needed; ///< DT_NEEDED, in order
  std::vector<Filtee> filtees;         ///< in order
  std::optional<llvm::StringRef> soname, rpath, runpath;
  uint64_t flags = 0;  ///< DT_FLAGS
  uint64_t flags1 = 0; ///< DT_FLAGS_1
  bool textrel = false;
  uint64_t symbolTable = 0, stringTable = 0, stringBytes = 0; ///< addresses
  uint64_t hash = 0, gnuHash = 0;
  uint64_t rela = 0, relaBytes = 0, pltRel = 0, pltRelBytes = 0;
  uint64_t relativeCount = 0; ///< DT_RELACOUNT
};

/// One entry of a relocation table that names a symbol.
struct Relocation {
  uint64_t address;
  uint32_t type;
  llvm::StringRef name;
};

/// Why a file is not what its headers claim. One per 9xx finding.
enum class DefectKind : uint16_t {
  ident = 901,
  header = 902,
  programHeaders = 903,
  segmentRange = 904,
  segmentSize = 905,
  segmentAddress = 906,
  segmentOrder = 907,
  segmentAlign = 908,
  interpreter = 909,
  dynamicSection = 910,
  dynamicPointer = 911,
  stringOffset = 912,
  sectionHeaders = 913,
  sectionRange = 914,
  symbolTable = 915,
  note = 916,
  archive = 917,
  readFailed = 918,
};

struct Defect {
  DefectKind kind;
  /// The kernel, the loader or the linker refuses the file, or running it ends
  /// in SIGBUS. Otherwise only tools are misled.
  bool fatal;
  std::string field; ///< as elf.h names it: "e_phoff", "PT_LOAD[2].p_filesz"
  uint64_t offset;   ///< of the field in the file
  std::string reason;
};

/// The first four bytes of some names, their ends among them, as far as it
/// takes to turn away nearly all others. The names must live as long.
class NameStarts {
public:
  explicit NameStarts(llvm::ArrayRef<const char *> names);
  llvm::ArrayRef<const char *> all() const { return names; }
  bool mayBe(uint32_t first) const {
    uint32_t at = hash(first);
    return bits[at / 64] >> at % 64 & 1;
  }

private:
  static uint32_t hash(uint32_t first) { return first * 2654435761u >> 20; }
  llvm::ArrayRef<const char *> names;
  std::array<uint64_t, 64> bits = {};
};

class Image {
public:
  ~Image();
  Image(const Image &) = delete;

  const std::string &path() const; ///< "libfoo.a(member.o)" for a member
  ElfKind kind() const;
  Machine machine() const;
  /// "x86-64", "aarch64", "i386", ..., "machine-N".
  std::string machineName() const;
  /// For notElf: what the file is instead ("a script: #!/bin/sh").
  llvm::StringRef notElfReason() const;
  uint64_t fileBytes() const;
  uint32_t fileMode() const; ///< st_mode

  /// 64-bit little-endian x86-64 or AArch64: everything below is meaningful.
  bool fullyRead() const;
  bool isProgram() const;  ///< exec, staticExec, pie, staticPie
  bool isStatic() const;   ///< staticExec, staticPie
  bool isLoadable() const; ///< a program or a library

  llvm::ArrayRef<Segment> segments() const; ///< the whole table
  llvm::ArrayRef<Segment> loads() const;    ///< PT_LOAD, in table order
  const Segment *findSegment(uint32_t type) const;

  const Dynamic &dynamic();
  bool needs(llvm::StringRef libraryPrefix); ///< DT_NEEDED starts with it
  std::optional<llvm::StringRef> interpreter();
  /// Empty without a table; see hasSections().
  llvm::ArrayRef<Section> sections();
  bool hasSections();
  const Section *findSection(llvm::StringRef name);
  /// Whole contents; empty when not in the file or larger than \p limitBytes.
  llvm::StringRef sectionData(const Section &section, uint64_t limitBytes);

  /// Calls \p visit for each undefined dynamic symbol, in table order.
  void forEachImport(llvm::function_ref<void(const Symbol &)> visit);
  /// The same, of those whose names can begin with one of \p names.
  void forEachImport(const NameStarts &names,
                     llvm::function_ref<void(const Symbol &)> visit);
  /// Whether the loader would find \p name in this file.
  bool exportsSymbol(llvm::StringRef name);
  /// Calls \p visit for each entry of .symtab; objects have only this table.
  void forEachSymbol(llvm::function_ref<void(const Symbol &)> visit);
  void forEachSymbol(const NameStarts &names,
                     llvm::function_ref<void(const Symbol &)> visit);
  /// Calls \p visit for each symbol that is defined here: of .symtab, or, when
  /// that was stripped, of what is exported.
  void forEachDefinition(llvm::function_ref<void(const Symbol &)> visit);
  /// Relocations of the dynamic section that name an undefined dynamic symbol
  /// for which \p wanted is true.
  std::vector<Relocation>
  findRelocations(llvm::function_ref<bool(const Symbol &)> wanted);

  /// Copies \p buffer.size() bytes from the image at \p address, as the
  /// program would see them before relocation. False when no PT_LOAD has them
  /// in the file.
  bool readMemory(uint64_t address, llvm::MutableArrayRef<uint8_t> buffer);

  /// Everything that was found wrong by what has been read so far, one per
  /// kind and field.
  llvm::ArrayRef<Defect> defects() const;
  /// Where a read inside the file failed or came back short, if one has: the
  /// file changed, and everything said about it may be wrong.
  std::optional<uint64_t> failedReadOffset() const;
  /// Reads all parts that are otherwise read on demand and follows what they
  /// point at, so that defects() is complete.
  void readEverything();

  struct State;
  explicit Image(std::unique_ptr<State> state);

private:
  std::unique_ptr<State> state;
};

/// Opens \p path and calls \p visit once, or once per ELF member when it is an
/// archive. A file that is no ELF file is visited too (kind notElf).
/// Fails when the path cannot be read or is not a regular file: the error's
/// text is the reason alone, without the path.
llvm::Error readImages(const std::string &path,
                       llvm::function_ref<void(Image &)> visit);

/// Calls \p visit with the contents of each SHT_NOTE section, or of each
/// PT_NOTE if there are no sections. The bytes are valid during the call.
void forEachNoteBlock(Image &image,
                      llvm::function_ref<void(llvm::StringRef)> visit);

/// The notes that our compiler passes and our linker left in \p image.
Notes readOwnNotes(Image &image);

/// Whether \p path, of a PT_INTERP, is musl's loader.
bool isMuslLoader(llvm::StringRef path);

/// Why no library for the GNU C library may come into \p program, as the end of
/// a sentence about it; empty if one may: musl's loader ends a program that
/// gets one, gcc's ThreadSanitizer, a library, dies of memory that was
/// allocated before its own start.
std::string findStranger(Image &program);

// Users of the top byte. Who else than HPC tags uses the top byte of pointers:
// a sanitizer, the memory tagging of Arm, or signed pointers, told from what
// such code leaves in the file; and the C library's heap, told from its
// settings. That it is absent from a file proves nothing about libraries which
// the file loads.

struct TopByteUser {
  std::string sub;      ///< "hwasan", "memtag", "pauth"
  std::string name;     ///< "HWAddressSanitizer"
  std::string evidence; ///< what in the file shows it
};

/// Each user once, in the order of `sub` above. AArch64 files only.
std::vector<TopByteUser> findTopByteUsers(Image &image);

/// Whether \p tunables, a value of GLIBC_TUNABLES, lets malloc tag its memory
/// with the memory tagging of Arm (MTE), whatever the file says:
/// glibc.mem.tagging with bit 0 (manual of glibc, Memory Related Tunables). The
/// last one counts.
bool tagsHeap(llvm::StringRef tunables);

/// The functions of a program or library by address, from its symbol table; of
/// one that was stripped those that it exports.
class FunctionTable {
public:
  struct Function {
    uint64_t start, end; ///< addresses in the file
    std::string name;    ///< as in the symbol table
  };

  FunctionTable() = default;
  /// None if the file cannot be read.
  explicit FunctionTable(const std::string &path);

  /// Where its first segment begins, down to a page of 4 KiB.
  uint64_t firstAddress() const { return first; }
  /// The one that \p address lies in; null: none is known.
  const Function *find(uint64_t address) const;

private:
  std::vector<Function> functions; ///< by address
  uint64_t first = 0;
};

} // namespace mpg
