// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Audits one file: facts, findings and regions as plain data. Knows nothing of
// options' spelling, of output formats, or of exit codes.

#ifndef MPG_AUDIT_AUDIT_H
#define MPG_AUDIT_AUDIT_H

#include "Audit/Facts.h"
#include "Audit/Fix.h"
#include "Audit/Launch.h"
#include "Audit/Regions.h"
#include "Elf/Image.h"
#include "Loader/Closure.h"

namespace mpg {

/// What the user asked for; the same for every file of a run.
struct AuditSettings {
  std::optional<Target> target; ///< nothing: decided per file
  /// The job is for a machine with Fujitsu's library: AArch64 programs of it
  /// are. Only asked where there is no target.
  bool fujitsuJob = false;
  std::optional<uint64_t> pageBytes; ///< nothing: the target's
  uint64_t hugeBytes = uint64_t(2) << 20;
  /// Writable data below this is not worth a warning.
  uint64_t minBytes = uint64_t(2) << 20;
  /// What one process may use; nothing: the target's, if it has one.
  std::optional<uint64_t> memoryBytes;
  bool expectLibmpg = false;
  /// The findings to look for, where the target does not switch them off.
  FindingSet checks;
  /// Those that the user named one by one: looked for in any case.
  FindingSet named;
  /// Files with more code are not looked through for calls of sbrk and brk:
  /// over all of /usr that alone would double the time. Nothing: no limit.
  std::optional<uint64_t> codeLimitBytes;
  /// Facts and regions are computed only for the reports that print them.
  bool wantFacts = false;
  /// Fixes name one compiler's flags where the file says who compiled it.
  bool allCompilers = false;
  /// How the program will be started; null if nothing is known.
  std::shared_ptr<const Launch> launch;
  /// Where libraries are read once for all files; null: --no-closure.
  std::shared_ptr<LibraryStore> libraries;
  /// What the fixes of all reports name.
  std::shared_ptr<const InstalledParts> parts;
};

/// The kernel's base page where a target usually runs.
uint64_t usualPageBytes(Target target);

/// Every finding that is not off by default.
FindingSet defaultChecks();

/// What is known about one file, or one member of an archive.
struct FileReport {
  std::string path;
  ElfKind kind;
  std::string machine;
  std::string notElfReason;
  Target target;
  uint64_t pageBytes;
  uint64_t hugeBytes;
  Facts facts;
  std::vector<Region> regions;
  std::vector<LargeSymbol> largestSymbols;
  /// Of a dynamic program, unless --no-closure.
  std::optional<Closure> closure;
  /// In the order of the checks, which is by number.
  std::vector<Finding> findings;
  /// Something is known of how the program will be started.
  bool launchKnown = false;
  /// What fixText() needs to know of this file.
  FixContext fixContext;

  Severity worst() const;
  /// A program or library, and not damaged.
  bool readsAsProgram() const {
    return kind != ElfKind::notElf && kind != ElfKind::malformed;
  }
  /// The file cannot be used as what it claims to be; exit status 2.
  bool unusable() const;
};

FileReport auditImage(Image &image, const AuditSettings &settings);

} // namespace mpg

#endif // MPG_AUDIT_AUDIT_H
