// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether code that certainly runs, such as a library's initialisation, leads
// to a call of an imported function. Only direct calls are followed, and every
// way through a function counts, so the answer is "can", not "does".

#ifndef MPG_CODE_CALLREACH_H
#define MPG_CODE_CALLREACH_H

#include "Code/CodeScan.h"
#include <vector>

namespace mpg {

struct CallQuestion {
  /// The functions from which calls are followed.
  std::vector<uint64_t> starts;
  /// Where the loader puts the address of the function that is looked for.
  std::vector<uint64_t> slots;
  /// As in CallTarget. Without it functions are followed for 4 KiB at most.
  CodeRange functionTable = {};
};

/// Looks at no more than 1,000 functions.
bool reachesCall(Machine machine, llvm::ArrayRef<CodeRange> code,
                 CodeReader read, const CallQuestion &question);

} // namespace mpg

#endif // MPG_CODE_CALLREACH_H
