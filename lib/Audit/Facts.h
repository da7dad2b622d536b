// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The facts of a file that reports print: what its headers say, and the sums
// that follow from them. docs/schema/mpgaudit-1.schema.json describes the same
// keys. A fact that does not apply is absent. Layout facts are always for
// 2 MiB pages, whatever --huge says, so that two reports can be compared.

#ifndef MPG_AUDIT_FACTS_H
#define MPG_AUDIT_FACTS_H

#include "Audit/Target.h"
#include "Elf/HugeLayout.h"
#include "Elf/Image.h"

namespace mpg {

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

/// What start-up puts on large pages of \p hugeBytes: the writable segments, or
/// what the file holds of them, where the job lets .bss come with its first
/// touch.
uint64_t startupBytes(llvm::ArrayRef<Segment> loads, uint64_t hugeBytes,
                      bool bssPrepaged);

bool hasExecutableStack(const Image &image);
bool hasWritableCode(const Image &image);

} // namespace mpg

#endif // MPG_AUDIT_FACTS_H
