// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of one file, read piece by piece: in windows from the last address
// to the first or the other way, or a few hundred bytes around one address.
// Never more than a window is held, however large the file says it is.

#ifndef MPG_CODE_CODEMEMORY_H
#define MPG_CODE_CODEMEMORY_H

#include "Code/CodeScan.h"
#include <memory>
#include <vector>

namespace mpg {

/// Some bytes of code and where they are. Its `bytes` end with the next read of
/// the same buffer.
struct CodePiece {
  uint64_t address = 0;
  llvm::ArrayRef<uint8_t> bytes;
  /// Whether the range that it is part of starts here.
  bool startsRange = false;

  uint64_t end() const { return address + bytes.size(); }
};

class CodeMemory {
public:
  /// Windows and their overlap. Anything up to `overlapBytes` long lies in one
  /// window, and what starts in the first `overlapBytes / 2` bytes of a window
  /// that does not start a range lies in the window before it as well.
  static constexpr uint64_t windowBytes = 64 << 10;
  static constexpr uint64_t overlapBytes = 32;

  enum class Order { ascending, descending };
  enum class Walk { done, stopped, unreadable };

  CodeMemory(llvm::ArrayRef<CodeRange> ranges, CodeReader read);

  /// From the first byte of the first range to the last of the last.
  uint64_t spanBytes() const;

  /// Calls \p visit with each window, until it returns false. Only what is at
  /// \p from or above is read.
  Walk forEachWindow(Order order, llvm::function_ref<bool(CodePiece)> visit,
                     uint64_t from = 0);

  /// At most \p before bytes in front of \p address and \p after bytes from it
  /// on, read into \p buffer; less at the ends of the range, and nothing when
  /// \p address is in no range or cannot be read.
  CodePiece around(uint64_t address, uint64_t before, uint64_t after,
                   llvm::MutableArrayRef<uint8_t> buffer) const;

private:
  std::vector<CodeRange> ranges; // ascending; none empty, none past the end
  CodeReader read;
  std::unique_ptr<uint8_t[]> window;

  Walk visitWindow(const CodeRange &range, uint64_t start, uint64_t end,
                   llvm::function_ref<bool(CodePiece)> visit);
};

class FrameTable {
public:
  /// \p header is the PT_GNU_EH_FRAME segment, empty when there is none.
  FrameTable(CodeRange header, CodeReader read);

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

#endif // MPG_CODE_CODEMEMORY_H
