// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where functions start, from the table that the linker makes for exception
// handling (.eh_frame_hdr, Linux Standard Base 5.0, section 10.6.2). Stripped
// programs keep it, and programs in C have it too.

#ifndef MPG_CODE_FUNCTIONTABLE_H
#define MPG_CODE_FUNCTIONTABLE_H

#include "Code/CodeScan.h"

namespace mpg {

class FunctionTable {
public:
  /// \p header is the PT_GNU_EH_FRAME segment, empty when there is none.
  FunctionTable(CodeRange header, CodeReader read);

  /// From the start of the function around \p address to the start of the next
  /// one. Functions without an entry are part of the one before.
  std::optional<CodeRange> functionAt(uint64_t address) const;

private:
  CodeRange header;
  CodeReader read;
  uint64_t count = 0;

  std::optional<uint64_t> startOf(uint64_t index) const;
};

} // namespace mpg

#endif // MPG_CODE_FUNCTIONTABLE_H
