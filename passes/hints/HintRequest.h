// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One hint, out of whatever source, about one variable or function of a module.

#ifndef MPG_PASSES_HINTREQUEST_H
#define MPG_PASSES_HINTREQUEST_H

#include "base/Diagnostics.h"
#include "base/Hint.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Instructions.h"
#include <memory>
#include <vector>

namespace mpg {

/// Instructions between a begin and an end in the source.
using Region = llvm::DenseSet<const llvm::Instruction *>;

struct HintRequest {
  enum Target {
    pointerVariable, ///< root is the address of a pointer (or descriptor)
    data,            ///< root is the address of the data
    function         ///< root is a function
  };
  llvm::Value *root = nullptr;
  Target target = data;
  Hint hint;
  SourceLine where;
  /// Only what lies in here; everything if there is none.
  std::shared_ptr<Region> region;
  llvm::Function *regionFunction = nullptr;

  /// Of two hints for one access the stronger one wins: that of a function is
  /// weakest, that of a region strongest.
  int strength() const { return region ? 2 : target == function ? 0 : 1; }
};

/// Ways of the caches for a function, or for the code between two places.
struct WaysRequest {
  llvm::Function *function = nullptr;
  Ways ways;
  SourceLine where;
  llvm::Instruction *begin = nullptr; ///< none: the whole function
  std::vector<llvm::Instruction *> ends;
  std::shared_ptr<Region> region;
};

/// Whether first touch may care for what is allocated for a variable, or in a
/// function.
struct TouchRequest {
  llvm::Value *root = nullptr;
  HintRequest::Target target = HintRequest::data;
  TouchChoice choice = TouchChoice::none;
  SourceLine where;
};

/// All that was said in a module.
struct HintRequests {
  std::vector<HintRequest> hints;
  std::vector<WaysRequest> ways;
  std::vector<TouchRequest> touches;
  /// What was said about side files: two may come from one source.
  llvm::StringSet<> complaints;
};

} // namespace mpg

#endif // MPG_PASSES_HINTREQUEST_H
