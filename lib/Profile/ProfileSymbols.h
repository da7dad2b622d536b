// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of a process's code and data, from the symbol tables of the files that
// are mapped into it. What was stripped has the names that it exports.

#ifndef MPG_PROFILE_PROFILESYMBOLS_H
#define MPG_PROFILE_PROFILESYMBOLS_H

#include "Elf/Image.h"
#include "Process/Smaps.h"
#include <optional>

namespace mpg {

/// Where an address of code lies.
struct CodeName {
  std::string file;     ///< "libfoo.so.1"; empty: not in any
  std::string function; ///< as its source has it; empty: not known
  uint64_t offset = 0;  ///< into the function, or the file's first byte
};
/// "solve+0x4d", "libfoo.so.1+0x1f00", "0x7f00000000".
std::string describeCode(const CodeName &name, uint64_t address);

/// A variable.
struct DataName {
  std::string name, file;
  uint64_t start, end;
  bool isProgram; ///< in the program, not in one of its libraries
  bool isZero;    ///< of .bss
};

class ProfileSymbols {
public:
  /// \p program: as /proc/PID/exe has it.
  ProfileSymbols(const std::vector<MappedArea> &areas, std::string program);

  CodeName code(uint64_t address);
  /// Variables of at least \p least bytes, by address.
  std::vector<DataName> data(uint64_t least);

private:
  struct File {
    std::string path;
    uint64_t start = 0, end = 0; ///< addresses from the first to the last
    bool hasCode = false;
    std::optional<FunctionTable> functions;
  };
  void addData(const File &file, uint64_t least,
               std::vector<DataName> &result) const;
  std::string nameOf(const File &file) const;

  std::vector<File> files; ///< by address
  std::string program;
};

} // namespace mpg

#endif // MPG_PROFILE_PROFILESYMBOLS_H
