// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to Image.cpp, ImageDynamic.cpp and ImageSections.cpp: what an Image
// has read so far, and the functions that read more of it.

#ifndef MPG_ELF_IMAGESTATE_H
#define MPG_ELF_IMAGESTATE_H

#include "Elf/ElfReader.h"
#include "Elf/Image.h"

namespace mpg {

struct Image::State {
  std::string path;
  uint64_t fileBytes = 0;
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
  bool findByGnuHash(llvm::StringRef name);
  bool isDefinition(uint64_t index, llvm::StringRef name);
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
  std::optional<uint64_t> offsetOf(uint64_t address, uint64_t bytes) const;
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

} // namespace mpg

#endif // MPG_ELF_IMAGESTATE_H
