// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the two small object files that ld.mpg adds to a link, one in front
// of all other inputs and one after them. They carry no code and no data,
// only alignment and a note:
//
//   first   .data and .bss (by a COMMON symbol, because lld puts those first)
//           that are empty and aligned to a large page, and the layout note
//   last    an empty section without contents, .mpg.tail, aligned too: the
//           memory of the program then ends on a border
//
// Why objects and not a linker script: with a SECTIONS command lld gives up
// its own layout (RELRO in a segment of its own), and INSERT, which keeps it,
// fails where .data or .bss does not exist and cannot say "after everything
// else that has no contents". Objects work by the ordinary rules (a section is
// as aligned as its strictest part, sections of a kind stand in the order of
// their first part), so every option of lld keeps its meaning.

#ifndef MPG_LINK_LAYOUTOBJECT_H
#define MPG_LINK_LAYOUTOBJECT_H

#include "Elf/Machine.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mpg {

constexpr const char *layoutTailSection = ".mpg.tail";

struct LayoutObjects {
  std::string first;
  std::string last; ///< empty when nothing is aligned
};

/// What the objects have to take care of.
struct LayoutWish {
  uint64_t hugeBytes; ///< a power of two
  /// .ldata and .lbss of the x86-64 medium and large code models as well.
  bool large = false;
  /// Sections without contents that the program names itself and that come out
  /// of LTO, so after the last object: an empty one in the first object gives
  /// them their place in front of .mpg.tail.
  std::vector<std::string> lateSections;
};

/// The note in the objects is completed by layoutDefinitions().
LayoutObjects writeLayoutObjects(Machine machine, const LayoutWish &wish);

/// One object with a note that says that the layout was skipped.
LayoutObjects writeSkippedObjects(Machine machine, uint64_t hugeBytes);

/// --defsym options that give the note its addresses: a difference of two
/// symbols has no relocation on either machine, so the linker computes it and
/// the note refers to the result.
std::vector<std::string> layoutDefinitions();

} // namespace mpg

#endif // MPG_LINK_LAYOUTOBJECT_H
