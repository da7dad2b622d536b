// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about the symbols of one file, and about the libraries that
// a program loads. Each library is read once per run; the programs
// that load it share the answer, so nothing here depends on a
// program.

#pragma once

#include "Audit/Finding.h"
#include "Elf/HintNote.h"
#include "Elf/Image.h"
#include "Loader/Closure.h"
#include <bitset>

namespace mpg {

// Known symbols. Which of the symbols that matter to us a file imports or
// defines. One pass over a symbol table answers all checks.

enum class KnownSymbol : uint8_t {
#define MPG_SYMBOL(name) name,
#include "Audit/KnownSymbols.def"
};
constexpr unsigned knownSymbolCount = 0
#define MPG_SYMBOL(name) +1
#include "Audit/KnownSymbols.def"
    ;

struct KnownSymbolUse {
  std::bitset<knownSymbolCount> imported, defined;

  bool imports(KnownSymbol symbol) const { return imported[unsigned(symbol)]; }
  /// Only of findStaticSymbols(): defined in the symbol table.
  bool defines(KnownSymbol symbol) const { return defined[unsigned(symbol)]; }
  /// Names of those of \p candidates that are imported, in their order.
  std::vector<llvm::StringRef>
  findImports(llvm::ArrayRef<KnownSymbol> candidates) const;
};

/// Imports: of programs and libraries by their dynamic symbols, of objects by
/// their symbol table.
KnownSymbolUse findKnownSymbols(Image &image);

/// Every name through which a program moves the program break.
llvm::ArrayRef<KnownSymbol> brkSymbols();

/// Symbols of .symtab that a stripped or dynamic program does not show:
/// whether a static program has the C library's malloc.
KnownSymbolUse findStaticSymbols(Image &image);

// Libraries

struct AuditSettings;

struct LibraryCheckFacts {
  KnownSymbolUse symbols; ///< imports
  bool exportsMalloc = false;
  bool isOurs = false; ///< a libmpg of mpgtools, whatever its name
  /// If it is libc.so.6: N of glibc 2.N, where 33 is "or older", and 35 "or
  /// newer" if the file does not say it. 0: not known.
  unsigned glibcMinor = 0;
  /// Read from AArch64 libraries only; elsewhere hints do nothing.
  std::optional<mpg_note_hints> hints;
  std::vector<TopByteUser> topByteUsers;
  /// The findings of the checks of single files, with the severities of the
  /// strictest target.
  std::vector<Finding> findings;
};

/// For the LibraryStore. pre: \p settings are final.
LibraryStore::Collector makeCollector(const AuditSettings &settings);

/// One object of a program's closure.
struct LoadedLibrary {
  const ClosureEntry *entry;
  size_t index;         ///< in Closure::libraries
  llvm::StringRef name; ///< its SONAME, or the name of the file
  /// Null if the library is missing.
  const LibraryCheckFacts *checks;

  /// Fujitsu's library by its name, or ours by what it exports.
  bool isLibmpg() const;
  bool isOurs() const { return checks && checks->isOurs; }
  /// The C library's own parts and the compilers' support libraries: what they
  /// do is what every program gets, and it cannot leave them out.
  bool isCore() const;
  /// Lies in a folder of the operating system.
  bool isSystem;
};

/// A program's closure as the checks look at it, in the loader's order.
struct ProgramClosure {
  explicit ProgramClosure(const Closure &closure);

  const Closure &closure;
  std::vector<LoadedLibrary> libraries;

  /// Null if there is none.
  const LoadedLibrary *findLibmpg() const;
  /// See LibraryCheckFacts.
  unsigned glibcMinor() const;
  /// For a title: "libopen-pal.so.40 (via libmpi.so.40)", "libx.so
  /// (preloaded)", or the name alone of what the program itself needs.
  std::string describe(const LoadedLibrary &library) const;
  /// Fills in how the program comes to \p library.
  void setVia(Finding &finding, const LoadedLibrary &library) const;
};

/// Fujitsu's library or ours, where only a name is known.
bool isLibmpgName(llvm::StringRef name);
/// Whether a library of this name brings another malloc into a program.
bool isAllocatorName(llvm::StringRef name);

} // namespace mpg
