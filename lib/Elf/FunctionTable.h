// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of a program or library by address, from its symbol table; of
// one that was stripped those that it exports.

#ifndef MPG_ELF_FUNCTIONTABLE_H
#define MPG_ELF_FUNCTIONTABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace mpg {

class FunctionTable {
public:
  struct Function {
    uint64_t start, end; ///< addresses in the file
    std::string name;    ///< as in the symbol table
  };

  FunctionTable() = default;
  /// None if the file cannot be read.
  explicit FunctionTable(const std::string &path);

  /// Where its first segment begins, down to a page of 4 KiB.
  uint64_t firstAddress() const { return first; }
  /// The one that \p address lies in; null: none is known.
  const Function *find(uint64_t address) const;

private:
  std::vector<Function> functions; ///< by address
  uint64_t first = 0;
};

} // namespace mpg

#endif // MPG_ELF_FUNCTIONTABLE_H
