// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much .data and .bss a link will have, guessed from its inputs before it
// runs. An upper bound: every archive member counts although few are linked,
// and nothing is collected as garbage. Reads section headers and the global
// half of symbol tables only.

#ifndef MPG_LINK_INPUTSCAN_H
#define MPG_LINK_INPUTSCAN_H

#include "Link/DriverArgs.h"

namespace mpg {

struct ScanResult {
  std::optional<Machine> machine; ///< of -m, else of the first input
  uint64_t dataBytes = 0;         ///< .data, .bss, COMMON; large ones too
  bool large = false;             ///< .ldata, .lbss or such code
  uint64_t bitcodeBytes = 0;      ///< size of LTO inputs
  /// Sections without contents that LTO inputs name, each once.
  std::vector<std::string> lateSections;
  /// Objects that hold nothing but gcc's own LTO code, and archives with such
  /// members.
  std::vector<std::string> slimObjects, slimArchives;
};

/// Files that cannot be found or read count nothing: lld will say so. Archives
/// are opened only while the sum is below \p enoughBytes.
ScanResult scanInputs(const LinkRequest &request, uint64_t enoughBytes);

} // namespace mpg

#endif // MPG_LINK_INPUTSCAN_H
