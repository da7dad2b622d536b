// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call paths to a function: chains of calls, including the start of a parallel
// region. The binding of a parameter depends on the call path.

#pragma once

#include "base/LLVM.h"
#include "base/OmpRegions.h"
#include "llvm/IR/Argument.h"
#include <deque>

namespace mpg {

/// One call on a call path. A null pointer ends the path: the function has no
/// caller, or the path is longer than we look. Equal paths are equal pointers.
struct CallFrame {
  CallBase *call;
  Function *callee;
  /// Of a parallel region: its first operand for the body; 0 for a plain call.
  unsigned firstOperand;
  const CallFrame *outer;

  /// What \p parameter of callee is bound to in the caller; null if that is not
  /// seen.
  Value *operandFor(const Argument &parameter) const;
};

/// The frame of \p path, or outside of it, in which \p function runs; null if
/// it is where the call path begins.
const CallFrame *findFrame(const Function &function, const CallFrame *path);

/// The function that \p call calls, by its name or by an alias: clang calls a
/// constructor of a complete object by the alias of the base object's. Null if
/// that is not seen.
Function *findCallee(const CallBase &call);

class CallFrames {
public:
  CallFrames(Module &module, ArrayRef<ParallelRegion> regions);

  /// All call paths to \p function, those that begin at a function that may be
  /// called from elsewhere among them. At most maxPaths, of at most maxDepth
  /// calls; none repeats a function.
  SmallVector<const CallFrame *, 2> callPathsTo(Function &function);

  /// The same of each caller: where a function of a library is called from
  /// everywhere, more than maxPaths.
  SmallVector<const CallFrame *, 2> callPathsOfCallers(Function &function);

  /// Extends \p outer through \p call into \p callee; null if that were too
  /// deep.
  const CallFrame *enter(CallBase &call, Function &callee,
                         const CallFrame *outer);

  /// Whether \p function runs in threads of a team whenever it runs: a region's
  /// body, or called from such only.
  bool isParallel(Function &function);

  /// Whether \p path leads through a parallel region.
  bool isInTeam(const CallFrame *path);

  static constexpr unsigned maxPaths = 16, maxDepth = 6;

private:
  struct Caller {
    CallBase *call;
    unsigned firstOperand;
  };
  using CallPaths = SmallVector<const CallFrame *, 2>;
  const CallFrame *frame(const Caller &caller, Function &callee,
                         const CallFrame *outer);
  void findPaths(Function &function, unsigned depth,
                 SmallVectorImpl<const Caller *> &calls,
                 SmallVectorImpl<Function *> &callees, CallPaths &into);

  DenseMap<Function *, SmallVector<Caller, 2>> callers;
  DenseMap<Function *, CallPaths> paths;
  DenseMap<Function *, bool> parallel;
  DenseMap<std::pair<CallBase *, const CallFrame *>, const CallFrame *> known;
  std::deque<CallFrame> frames;
};

} // namespace mpg
