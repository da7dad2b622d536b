// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the checks of programs know of the libraries that a program loads. Each
// library is looked at once per run, when it is first read; the programs that
// load it share the answer, so nothing here depends on a program.

#ifndef MPG_AUDIT_CLOSUREFACTS_H
#define MPG_AUDIT_CLOSUREFACTS_H

#include "Audit/Finding.h"
#include "Audit/KnownSymbols.h"
#include "Elf/HintNote.h"
#include "Elf/Image.h"
#include "Loader/Closure.h"

namespace mpg {

struct AuditSettings;

struct LibraryCheckFacts {
  KnownSymbolUse symbols; ///< imports
  bool exportsMalloc = false;
  bool isOurs = false; ///< a libmpg of mpgtools, whatever its name
  /// Of AArch64 libraries only; elsewhere hints do nothing.
  std::optional<mpg_note_hints> hints;
  std::vector<TopByteUser> topByteUsers;
  /// What the checks of single files say, with the severities of the strictest
  /// target.
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
  /// \p sysroot stands in front of every path.
  ProgramClosure(const Closure &closure, llvm::StringRef sysroot);

  const Closure &closure;
  std::vector<LoadedLibrary> libraries;

  /// Null if there is none.
  const LoadedLibrary *findLibmpg() const;
  /// For a title: "libopen-pal.so.40 (via libmpi.so.40)", "libx.so
  /// (preloaded)", or the name alone of what the program itself needs.
  std::string describe(const LoadedLibrary &library) const;
  /// Fills in how the program comes to \p library.
  void setVia(Finding &finding, const LoadedLibrary &library) const;
};

/// Fujitsu's library or ours, where only a name is known.
bool isLibmpgName(llvm::StringRef name);
/// Of a library that brings another malloc into a program.
bool isAllocatorName(llvm::StringRef name);

} // namespace mpg

#endif // MPG_AUDIT_CLOSUREFACTS_H
