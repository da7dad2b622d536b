// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the files of this folder that read an Image: what it has read so
// far (Image.cpp, ImageDynamic.cpp, ImageSections.cpp), and the rules about its
// headers (HeaderRules.cpp).

#pragma once

#include "Elf/ElfReader.h"
#include "Elf/Image.h"
#include <elf.h>

namespace mpg {

struct Image::State {
  std::string path;
  uint64_t fileBytes = 0;
  uint32_t mode = 0;
  ElfKind kind = ElfKind::notElf;
  uint16_t machineNumber = 0;
  bool fullyRead = false;
  std::string notElfReason;
  ElfReader *reader = nullptr; // outlives the Image: visit() runs inside it
  Elf64_Ehdr header = {};
  std::vector<Segment> segments;
  std::vector<Segment> loads;

  // Read on demand; the flag says that it was tried.
  bool triedDynamic = false, triedSections = false, triedDynamicSymbols = false,
       triedSymbols = false;
  Dynamic dynamic;
  llvm::ArrayRef<Elf64_Dyn> dynamicEntries; ///< without DT_NULL
  uint64_t dynamicOffset = 0;
  StringTable dynamicStrings;
  std::vector<Section> sections;
  size_t symbolTable = 0; ///< the section, if its header is right; else 0
  llvm::ArrayRef<Elf64_Sym> dynamicSymbols;
  /// dynamicSymbols lacks those that the hash table finds, few of which are
  /// imports.
  bool skipsHashed = false;
  llvm::ArrayRef<Elf64_Sym> symbols;
  StringTable symbolStrings;
  StringTable sectionNames;

  std::vector<Defect> defects;

  void add(DefectKind kind, bool fatal, std::string field, uint64_t offset,
           std::string reason) {
    defects.push_back(
        {kind, fatal, std::move(field), offset, std::move(reason)});
  }

  void readHeaders(bool isMember);
  ElfKind decideKind(bool isMember);
  bool isDetachedDebug();
  void readSections();
  void nameSections(llvm::ArrayRef<Elf64_Shdr> headers);
  void checkSectionRanges();
  void findSymbolTable();
  void readDynamic();
  void readDynamicEntries();
  void expectDynamicTables(uint64_t stringsAt) const;
  void readDynamicStrings();
  void readDynamicSymbols();
  uint64_t countDynamicSymbols();
  llvm::ArrayRef<Elf64_Sym> exports();
  uint64_t countImports();
  uint64_t countByGnuHash();
  void readHashedSymbols();
  void visitHashedImport(llvm::StringRef name,
                         llvm::function_ref<void(const Symbol &)> visit);
  std::optional<uint64_t> findByGnuHash(llvm::StringRef name, bool defined);
  bool isSymbol(uint64_t index, llvm::StringRef name, bool defined);
  bool findByScan(llvm::StringRef name);
  std::optional<uint32_t> readWord(uint64_t address) const;
  void readSymbols();
  void checkNotes();
  void checkInterpreterText();
  void checkDynamic();
  void checkDynamicPointers();
  void checkDynamicValues();
  std::optional<uint64_t> dynamicValue(int64_t tag) const;
  void checkDynamicNames();
  /// Offset in the file of the value of a dynamic entry.
  uint64_t dynamicField(int64_t tag) const;
  void addPointerDefect(int64_t tag, const char *name, std::string reason);
  std::optional<uint64_t> getOffset(uint64_t address, uint64_t bytes) const;
  /// \p table names the table in a defect; \p index is the symbol's place.
  Symbol decode(const Elf64_Sym &symbol, StringTable &strings,
                llvm::StringRef table, uint64_t index);
  bool loadable() const {
    return kind == ElfKind::exec || kind == ElfKind::staticExec ||
           kind == ElfKind::pie || kind == ElfKind::staticPie ||
           kind == ElfKind::library;
  }
  bool relocatable() const {
    return kind == ElfKind::object || kind == ElfKind::archiveMember;
  }
};

// Rules about headers. Rules of the Linux kernel and the dynamic loader for the
// ELF header and the program headers, as pure functions over plain structs. A
// defect is fatal when one of the two refuses the file, or when running it ends
// in SIGBUS.

/// The facts about a file that the rules need beside the table itself.
struct HeaderContext {
  ElfKind kind;
  Elf64_Ehdr header;
  uint64_t declaredHeaders; ///< e_phnum, the escape resolved
  uint64_t fileBytes;
};

/// e_ident, e_version, e_phentsize, e_phnum: defects 901 to 903.
void checkHeader(const HeaderContext &context, llvm::ArrayRef<Segment> segments,
                 std::vector<Defect> &defects);

/// Sizes, ranges, order and alignment of the segments: defects 904 to 909.
/// Only for programs and libraries; other kinds are never mapped.
void checkSegments(const HeaderContext &context,
                   llvm::ArrayRef<Segment> segments,
                   std::vector<Defect> &defects);

/// Offset in the file of field \p fieldOffset of program header \p index.
uint64_t programHeaderField(const Elf64_Ehdr &header, uint32_t index,
                            uint64_t fieldOffset);

/// "PT_LOAD[3]": the type and the position in the table.
std::string segmentName(const Segment &segment);

} // namespace mpg
