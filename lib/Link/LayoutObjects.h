// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two small objects that ld.mpg links in for the layout. Pure functions.
//
// One goes in front of all other inputs and one after them. They carry only
// alignment and a note, neither code nor data:
//
//   first   .data and .bss (by a COMMON symbol, because lld puts those first)
//           that are empty and aligned to a large page, and the layout note
//           for --mpg-text also the sections of code, empty: hot ones first,
//           and the first one aligned
//   last    an empty section without contents, .mpg.tail, aligned too: the
//           memory of the program then ends on a border; and one for the code
//
// Objects and not a linker script, because with a SECTIONS command lld gives up
// its layout with RELRO in a separate segment. INSERT keeps it, but fails where
// .data or .bss does not exist and cannot express "after everything else
// without contents". Objects follow the ordinary rules: a section is as aligned
// as its strictest part, and sections of a kind keep the order of their first
// part. So every option of lld keeps its meaning.

#pragma once

#include "Elf/Machine.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mpg {

/// Up to this size of large pages every segment gets separate pages. With
/// larger ones only .data and .bss do, and RELRO shares one with the code: five
/// pages of 1 GiB are further than code reaches, 4 GiB on AArch64 and 2 GiB on
/// x86-64.
constexpr uint64_t separateSegmentsBytes = 32 << 20;

/// Large page that segments other than those of .data and .bss are separated
/// by, with .data and .bss on pages of \p hugeBytes.
uint64_t segmentPageBytes(uint64_t hugeBytes);

constexpr const char *layoutTailSection = ".mpg.tail";

struct LayoutObjects {
  std::string first;
  std::string last; ///< empty when nothing is aligned
};

/// The tasks of the objects.
struct LayoutWish {
  uint64_t hugeBytes; ///< a power of two
  /// .ldata and .lbss of the x86-64 medium and large code models as well.
  bool large = false;
  /// Sections without contents that the program names itself and that come out
  /// of LTO, so after the last object: an empty one in the first object gives
  /// them their place in front of .mpg.tail.
  std::vector<std::string> lateSections;
  /// Code begins on a border of segmentPageBytes(), hot code in front.
  bool text = false;
};

/// The note in the objects is completed by layoutDefinitions().
LayoutObjects writeLayoutObjects(Machine machine, const LayoutWish &wish);

/// One object with a note that says that the layout was skipped. Of \p wish
/// only text and hugeBytes count.
LayoutObjects writeSkippedObjects(Machine machine, const LayoutWish &wish);

/// --defsym options that give the note its addresses: a difference of two
/// symbols has no relocation on either machine, so the linker computes it and
/// the note refers to the result.
std::vector<std::string> layoutDefinitions();

} // namespace mpg
