// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of heap blocks by the calls that allocated them, with the program's
// debug information: what DebugInfo/BlockOrigin.h says, and what the compiler
// passes know of the innermost call.

#ifndef MPG_SIMRUN_SIMCALLERS_H
#define MPG_SIMRUN_SIMCALLERS_H

#include "DebugInfo/BlockOrigin.h"
#include "SimRun/SimArrays.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace mpg::sim {

class SimCallers {
public:
  /// Lines "I begin end bias path" of a module's text: where files lie.
  void read(llvm::StringRef text);

  /// Gives \p array, which has what the passes know, the place and the variable
  /// that \p calls lead to. Without calls, or without lines, it stays as it is.
  /// \p number: that SimArrays will give it.
  void name(SimArray &array, unsigned number,
            const std::vector<uint64_t> &calls);

  /// Whether the user's \p wanted is the array \p number.
  bool isNamed(unsigned number, llvm::StringRef wanted) const;

  /// At the end of the program: gives keys and distinctions to \p arrays.
  void disambiguate(SimArrays &arrays);

private:
  struct File {
    uint64_t end, bias;
    std::string path;
  };
  std::map<uint64_t, File> files; ///< by address
  BlockNamer namer;
  std::vector<BlockOrigin> origins;
  struct Named {
    size_t origin;
    unsigned order; ///< of the arrays with one variable and line
  };
  std::map<unsigned, Named> named;         ///< by number of the array
  std::map<std::string, unsigned> namings; ///< how often a name was given
};

} // namespace mpg::sim

#endif // MPG_SIMRUN_SIMCALLERS_H
