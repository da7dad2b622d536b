// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A string table of a file, read in pieces when a name in them is asked for.
// The names of a large C++ library fill megabytes, and most questions look at
// the first two characters of a few of them: reading all of it costs more than
// everything else that is done to the file.

#ifndef MPG_ELF_STRINGTABLE_H
#define MPG_ELF_STRINGTABLE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace mpg {

class ElfReader;

class StringTable {
public:
  /// An empty table: every index is outside.
  StringTable() = default;
  /// [offset, offset + bytes) of \p reader's image; empty when that range is
  /// not in the image.
  StringTable(const ElfReader &reader, uint64_t offset, uint64_t bytes);

  uint64_t bytes() const { return tableBytes; }

  /// The NUL-terminated string at \p index, valid as long as the table; nothing
  /// when it leaves the table or cannot be read.
  std::optional<llvm::StringRef> get(uint64_t index);

private:
  bool load(uint64_t piece);

  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  const ElfReader *reader = nullptr;
  uint64_t offset = 0;
  uint64_t tableBytes = 0;
  /// malloc, not new: pages of a large table that nobody asks for are never
  /// touched.
  std::unique_ptr<char[], Free> memory;
  std::vector<bool> loaded; ///< by piece
};

} // namespace mpg

#endif // MPG_ELF_STRINGTABLE_H
