// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One finding: which rule, where in the file, the evidence, the cost and the
// fix. Findings.def has what is the same for every file; this has what depends
// on the file.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

enum class Target : uint8_t {
  fugaku,       ///< Fujitsu's libmpg.so.1
  mpg,          ///< our libmpg
  libhugetlbfs, ///< libhugetlbfs with HUGETLB_ELFMAP
  thp,          ///< transparent huge pages, no library
};
constexpr unsigned targetCount = 4;

llvm::StringRef targetName(Target target);

/// Ordered, so that the worst of several is the largest.
enum class Severity : uint8_t { off, note, warning, error };
llvm::StringRef severityName(Severity severity);

/// The numbers of Findings.def: FindingId::mpg103 is 103.
enum class FindingId : uint16_t {
#define MPG_FINDING(number, ...) mpg##number = number,
#include "Audit/Findings.def"
};

enum class FindingGroup : uint8_t {
  layout,
  loader,
  heap,
  tags,
  hygiene,
  job,
  malformed
};
llvm::StringRef groupName(FindingGroup group);
std::optional<FindingGroup> parseGroup(llvm::StringRef name);

/// A set of findings; asked once for every check of every file.
class FindingSet {
public:
  /// Every number is below.
  static constexpr unsigned numbers = 1000;

  bool contains(FindingId id) const { return bits[unsigned(id)]; }
  /// A number from \p first to \p last.
  bool containsAny(unsigned first, unsigned last) const {
    while (first <= last)
      if (bits[first++])
        return true;
    return false;
  }
  void insert(FindingId id) { bits.set(unsigned(id)); }
  void erase(FindingId id) { bits.reset(unsigned(id)); }
  void clear() { bits.reset(); }
  void insert(const FindingSet &others) { bits |= others.bits; }

private:
  std::bitset<numbers> bits;
};

/// One row of Findings.def.
struct FindingInfo {
  FindingId id;
  llvm::StringRef vendor; ///< "LPG 2003", or empty
  FindingGroup group;
  Severity severity[targetCount]; ///< by Target
  llvm::StringRef summary, rule, cost, remedy, source;
};

/// All rows, by ascending number.
llvm::ArrayRef<FindingInfo> allFindings();
const FindingInfo &getInfo(FindingId id);
const FindingInfo *findInfo(unsigned number);
std::string idText(FindingId id); ///< "MPG103"

/// A vendor's message number: what it means and which findings foresee it.
struct VendorCode {
  llvm::StringRef code; ///< "LPG 2003"
  llvm::StringRef meaning, action, related;
};
llvm::ArrayRef<VendorCode> allVendorCodes();

struct Where {
  std::optional<uint64_t> address;
  std::string section;
  std::optional<uint64_t> bytes;
  std::vector<unsigned> segments; ///< positions among the PT_LOADs
  std::string symbol; ///< or variable: "sbrk", "MALLOC_TRIM_THRESHOLD_"
  std::optional<unsigned> line; ///< of a job script
};

struct Finding {
  FindingId id;
  Severity severity;
  std::string sub; ///< which case of the rule: "ro-overlap"
  std::string title;
  Where where;
  std::string field; ///< 9xx: the field as elf.h names it
  std::optional<uint64_t> offset;
  std::string evidence;
  std::string cost;
  /// The fix, where a check knows it better than the table; see fixText().
  std::optional<std::string> fixWords;
  /// The command lines of the table stand below these words.
  bool fixLines = false;
  std::string via;

  /// \p words are all there is to do; empty for nothing.
  void setFix(std::string words) { fixWords = std::move(words); }
  /// \p words are better than the table's, but its command lines are right.
  void setFixWords(std::string words) {
    fixWords = std::move(words);
    fixLines = true;
  }
};

/// The worst severity among \p findings; off if there is none.
Severity findWorst(llvm::ArrayRef<Finding> findings);

// Fixes. The words of Findings.def, with the large page that was asked for, the
// paths of this installation, and without the command lines that would not help
// this file. It is done when a report prints a fix, not when a check finds
// something: a run over many files prints none.

/// Where the parts of mpgtools lie that a fix names. The program finds them
/// relative to itself; what is empty stays <prefix>/... in the text.
struct InstalledParts {
  std::string linker;    ///< .../bin/ld.mpg
  std::string gccFolder; ///< .../share/mpgtools/ld, for gcc -B
  std::string lldScript;
  std::string bfdScript;
  std::string libraries; ///< .../lib, where libmpgrt.so is
};

/// What a fix depends on beside the finding itself.
struct FixContext {
  uint64_t hugeBytes = uint64_t(2) << 20;
  /// There is nothing to lay out.
  bool noData = false;
  /// ld.mpg by itself would leave the layout out.
  bool smallData = false;
  /// The linker scripts need a .data and a .bss to work on.
  bool scriptsFit = true;
  /// Whose command lines to print: "gcc" (g++ and gfortran too), "clang",
  /// "flang" or "fcc"; "": not known, all.
  llvm::StringRef compiler;
  /// Nothing: all parts as <prefix>/...
  std::shared_ptr<const InstalledParts> parts;
};

/// Prose, then lines "  gcc:   <flags>" that can be pasted. Empty when nothing
/// has to be done.
std::string fixText(const Finding &finding, const FixContext &context);

/// The part of a remedy that a report prints: up to the first paragraph that
/// only explains.
std::string shortRemedy(const FindingInfo &info, const FixContext &context);

/// \p text with the paths of \p parts in place of <prefix>/...
std::string withPaths(llvm::StringRef text, const InstalledParts &parts);

/// "2M", "512M", "1G": how ld.mpg and mpgaudit take a size.
std::string pageOption(uint64_t bytes);

} // namespace mpg
