// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an address in a program or library to its source: functions with those
// that were inlined, files and lines, and the variable that gets what a call
// returns. The debug information is in the file itself, or in a separate file
// that gdb would find as well: by build id or .gnu_debuglink. Everything else
// that uses libdw goes through here.

#pragma once

#include "Elf/Image.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// A function that an address lies in.
struct SourceFrame {
  std::string function; ///< without arguments; empty: not known
  std::string file;     ///< as the compiler wrote it; empty: not known
  unsigned line = 0;    ///< 0: not known
  unsigned column = 0;
  bool isInlined = false;      ///< into the next one
  bool returnsPointer = false; ///< it may pass on what it allocates
};

struct DwarfFile;

class DebugInfo {
public:
  /// One that cannot be read knows nothing.
  explicit DebugInfo(const std::string &path);
  ~DebugInfo();
  DebugInfo(const DebugInfo &) = delete;

  /// Functions of \p address, the innermost first. Without debug information
  /// one, whose file is not known; none if its name is not known either.
  const std::vector<SourceFrame> &frames(uint64_t address);

  /// The variable or member that gets what the call before \p returnAddress
  /// returns in function \p number of frames(returnAddress - 1); empty: not
  /// known.
  std::string receiver(uint64_t returnAddress, size_t number);
  /// The variable or member of class \p className, as "vector", whose method
  /// is called there; empty: not known.
  std::string object(uint64_t returnAddress, size_t number,
                     llvm::StringRef className);

  /// Whether function \p number, as of receiver(), may return what the call
  /// before \p returnAddress returns: it neither keeps it in a member or a
  /// global variable, nor in a variable of another type than its result.
  bool mayPassOn(uint64_t returnAddress, size_t number);

  /// Where the call in front of the one that returns to \p returnAddress
  /// returns, if both are on one line of one function; else \p returnAddress.
  uint64_t getPreviousReturn(uint64_t returnAddress);

  /// The line of \p address alone: file, line and column.
  SourceFrame line(uint64_t address);

  const FunctionTable &functions() const { return theFunctions; }

private:
  std::optional<size_t> findKeeper(uint64_t returnAddress);

  FunctionTable theFunctions;
  std::unique_ptr<DwarfFile> dwarf;
  std::map<uint64_t, std::vector<SourceFrame>> known; ///< by address
};

/// Whether \p name is one that only compilers and their libraries give: no user
/// looks for it.
bool isReservedName(llvm::StringRef name);

} // namespace mpg
