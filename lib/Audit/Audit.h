// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Audits one file: facts, findings and regions as plain data. Knows nothing of
// options' spelling, of output formats, or of exit codes.

#pragma once

#include "Audit/Finding.h"
#include "Audit/Launch.h"
#include "Elf/HugeLayout.h"
#include "Elf/Image.h"
#include "Loader/Closure.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mpg {

// MemoryUse.cpp: finds out what takes a program's memory from the system:
// malloc alone, a runtime with its own allocator, the program or its libraries
// by mmap. It decides which memory libmpg's malloc can bring to large pages,
// and which line helps the rest. It reads symbols, libraries and sections, and
// runs nothing.

struct Launch;
struct Subject;

/// One row of MemoryOwners.def; the words there explain each column.
struct MemoryOwner {
  llvm::StringRef id, what, libraries, symbol, section, setting, option, remark,
      texts;
};

llvm::ArrayRef<MemoryOwner> allMemoryOwners();

struct MemoryUse {
  /// The runtime whose allocator serves most of the memory; null: none known.
  const MemoryOwner *owner = nullptr;
  /// Set if `owner` is null: the program ("the program") and then the libraries
  /// that map memory. Libraries may map files only.
  std::vector<std::string> mappers;
  /// The launch sets what brings that memory to large pages.
  bool isHelped = false;
  /// The program itself is one of the mappers, so it may map much.
  bool programMaps = false;
  /// A library between the program and the C library would see its maps.
  bool isReachable = true;
  /// The function by which a small program may start another one in its place,
  /// whose memory then counts; "": none.
  llvm::StringRef replacedBy;
  /// Such a program may have set something for the other one before.
  bool callsPrctl = false;
  /// Nothing maps memory past malloc: all libraries were read.
  bool heapOnly = false;

  /// The owner has more than malloc.
  bool ownsMost() const;
  /// The setting is one of libmpg's.
  bool needsLibmpg() const;
  /// The setting or option acts without a library of ours.
  bool isHelpedAlone() const;
  bool mapsItself() const { return owner || !mappers.empty(); }
  /// NAME=VALUE and the word of the command line that help; "" where there is
  /// none, or none is needed.
  llvm::StringRef setting() const;
  llvm::StringRef option() const;
  /// One of the two.
  llvm::StringRef help() const;
  /// "Python's objects (pymalloc)", "what the program maps itself".
  std::string what() const;
};

/// Only of a program.
MemoryUse findMemoryUse(const Subject &subject);

/// Whether \p word, of a program's command line, is some owner's option: it
/// goes to Launch::memoryOption.
bool isMemoryOption(llvm::StringRef word);

/// The page size of all facts.
constexpr uint64_t factsHugeBytes = uint64_t(2) << 20;

struct LayoutFacts {
  std::vector<Segment> loads;
  std::optional<Segment> relro; ///< PT_GNU_RELRO
  std::vector<OverlapPair> overlaps;
  uint64_t writableBytes;
  uint64_t hugeBytes; ///< writable segments rounded out to large pages
  uint64_t interiorBytes;
  uint64_t startupPeakBytes;
  uint64_t maxPageBytes; ///< smallest p_align of the PT_LOADs
  bool writableCode;     ///< a PT_LOAD is writable and executable
  bool executableStack;
};

struct DynamicFacts {
  std::vector<std::string> needed;
  std::optional<std::string> rpath, runpath, soname;
  std::vector<std::string> brk; ///< imported names, sorted
};

struct Facts {
  std::optional<bool> pie, textrel;
  std::optional<std::string> interpreter;
  std::optional<LayoutFacts> layout;
  std::optional<DynamicFacts> dynamic;
  std::optional<uint64_t> dataBytes, bssBytes;
};

Facts collectFacts(Image &image, Target target);

/// Memory that start-up needs at once: fugaku holds the old and the new copy
/// of everything (HW:startup-copy), ours copies piece by piece.
uint64_t startupPeakBytes(Target target, uint64_t roundedOutBytes);

/// Bytes that start-up puts on large pages of \p hugeBytes: the writable
/// segments, or only the part that the file holds if the job pages .bss in on
/// first touch.
uint64_t startupBytes(llvm::ArrayRef<Segment> loads, uint64_t hugeBytes,
                      bool bssPrepaged);

bool hasExecutableStack(const Image &image);
bool hasWritableCode(const Image &image);

struct Subject;

struct Region {
  llvm::StringRef name; ///< text rodata data bss heap stack thread-stack mapped
  uint64_t bytes;       ///< 0 where atRunTime
  uint64_t eligibleBytes;
  /// Large pages can back all of it, unless atRunTime names an obstacle.
  bool eligible;
  std::vector<FindingId> because;
  /// The target can put this region on large pages at all.
  bool reachable = true;
  /// Heap and stacks: the size is known only at run time.
  bool atRunTime = false;

  /// The kernel serves it from the page cache, no library moves it.
  bool isFromCache() const { return name == "text" || name == "rodata"; }
};

/// The regions of a program, none for any other kind of file. "mapped" is there
/// only where something maps memory past malloc.
std::vector<Region> collectRegions(const Subject &subject,
                                   const MemoryUse &memory,
                                   llvm::ArrayRef<Finding> findings);

struct LargeSymbol {
  std::string name;
  std::string section; ///< ".data" or ".bss"
  uint64_t bytes;
};

/// The \p count largest objects of .data and .bss together, largest first;
/// empty when the symbol table was stripped.
std::vector<LargeSymbol> findLargestSymbols(Image &image, unsigned count);

/// The user's settings; the same for every file of a run.
struct AuditSettings {
  std::optional<Target> target; ///< nothing: decided per file
  /// The job is for a machine with Fujitsu's library, so AArch64 programs use
  /// it. Ignored if there is a target.
  bool fujitsuJob = false;
  bool onMonaka = false;             ///< the machine is FUJITSU-MONAKA
  std::optional<uint64_t> pageBytes; ///< nothing: the target's
  uint64_t hugeBytes = uint64_t(2) << 20;
  /// Writable data below this is not worth a warning.
  uint64_t minBytes = uint64_t(2) << 20;
  /// Memory that one process may use; absent: the target's, if it has one.
  std::optional<uint64_t> memoryBytes;
  bool expectLibmpg = false;
  /// The findings to look for, where the target does not switch them off.
  FindingSet checks;
  /// Findings that the user named one by one: reported for every target.
  FindingSet named;
  /// Files with more code are not searched for calls of sbrk and brk: over all
  /// of /usr that alone would double the time. Absent: no limit.
  std::optional<uint64_t> codeLimitBytes;
  /// Facts and regions are computed only for the reports that print them.
  bool wantFacts = false;
  /// Fixes name one compiler's flags where the file says who compiled it.
  bool allCompilers = false;
  /// How the program will be started; null if nothing is known.
  std::shared_ptr<const Launch> launch;
  /// Where libraries are read once for all files; null: --no-closure.
  std::shared_ptr<LibraryStore> libraries;
  /// The installed parts that fixes name, in all reports.
  std::shared_ptr<const InstalledParts> parts;
};

/// The kernel's base page where a target usually runs.
uint64_t usualPageBytes(Target target);

/// Every finding that is not off by default.
FindingSet defaultChecks();

/// The result for one file, or one member of an archive.
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
  /// Known for a program if facts are wanted.
  MemoryUse memory;
  /// Our runtime is linked into the program itself.
  bool carriesLibmpg = false;
  std::vector<LargeSymbol> largestSymbols;
  /// Known for a dynamic program, unless --no-closure.
  std::optional<Closure> closure;
  /// In the order of the checks, which is by number.
  std::vector<Finding> findings;
  /// Something is known of how the program will be started.
  bool launchKnown = false;
  /// The facts of this file that fixText() needs.
  FixContext fixContext;

  Severity worst() const;
  bool has(FindingId id, Severity min = Severity::note) const;
  /// Null: there is none of that \p name.
  const Region *region(llvm::StringRef name) const;
  /// Sums over .data and .bss.
  uint64_t dataBytes() const;
  uint64_t eligibleDataBytes() const;
  /// A program or library, and not damaged.
  bool readsAsProgram() const {
    return kind != ElfKind::notElf && kind != ElfKind::malformed;
  }
  /// The file cannot be used as what it claims to be; exit status 2.
  bool unusable() const;
};

FileReport auditImage(Image &image, const AuditSettings &settings);

/// The text that --explain prints for "MPG103" or "LPG 2003"; empty for an
/// unknown number. Its command lines name \p parts.
std::string explain(llvm::StringRef code, const InstalledParts &parts);

} // namespace mpg
