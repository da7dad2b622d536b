// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call paths to a function: chains of calls, including the start of a parallel
// region. The binding of a parameter depends on the call path.

#ifndef MPG_PASSES_CALLFRAMES_H
#define MPG_PASSES_CALLFRAMES_H

#include "base/OmpRegions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Argument.h"
#include <deque>

namespace mpg {

/// One call on a call path. A null pointer ends the path: the function has no
/// caller, or the path is longer than we look. Equal paths are equal pointers.
struct CallFrame {
  llvm::CallBase *call;
  llvm::Function *callee;
  /// Of a parallel region: its first operand for the body; 0 for a plain call.
  unsigned firstOperand;
  const CallFrame *outer;

  /// What \p parameter of callee is bound to in the caller; null if that is not
  /// seen.
  llvm::Value *operandFor(const llvm::Argument &parameter) const;
};

/// The frame of \p path, or outside of it, in which \p function runs; null if
/// it is where the call path begins.
const CallFrame *findFrame(const llvm::Function &function,
                           const CallFrame *path);

/// The function that \p call calls, by its name or by an alias: clang calls a
/// constructor of a complete object by the alias of the base object's. Null if
/// that is not seen.
llvm::Function *findCallee(const llvm::CallBase &call);

class CallFrames {
public:
  CallFrames(llvm::Module &module, llvm::ArrayRef<ParallelRegion> regions);

  /// All call paths to \p function, those that begin at a function that may be
  /// called from elsewhere among them. At most maxPaths, of at most maxDepth
  /// calls; none repeats a function.
  llvm::SmallVector<const CallFrame *, 2> callPathsTo(llvm::Function &function);

  /// The same of each caller: where a function of a library is called from
  /// everywhere, more than maxPaths.
  llvm::SmallVector<const CallFrame *, 2>
  callPathsOfCallers(llvm::Function &function);

  /// Extends \p outer through \p call into \p callee; null if that were too
  /// deep.
  const CallFrame *enter(llvm::CallBase &call, llvm::Function &callee,
                         const CallFrame *outer);

  /// Whether \p function runs in threads of a team whenever it runs: a region's
  /// body, or called from such only.
  bool isParallel(llvm::Function &function);

  /// Whether \p path leads through a parallel region.
  bool isInTeam(const CallFrame *path);

  static constexpr unsigned maxPaths = 16, maxDepth = 6;

private:
  struct Caller {
    llvm::CallBase *call;
    unsigned firstOperand;
  };
  using CallPaths = llvm::SmallVector<const CallFrame *, 2>;
  const CallFrame *frame(const Caller &caller, llvm::Function &callee,
                         const CallFrame *outer);
  void findPaths(llvm::Function &function, unsigned depth,
                 llvm::SmallVectorImpl<const Caller *> &calls,
                 llvm::SmallVectorImpl<llvm::Function *> &callees,
                 CallPaths &into);

  llvm::DenseMap<llvm::Function *, llvm::SmallVector<Caller, 2>> callers;
  llvm::DenseMap<llvm::Function *, CallPaths> paths;
  llvm::DenseMap<llvm::Function *, bool> parallel;
  llvm::DenseMap<std::pair<llvm::CallBase *, const CallFrame *>,
                 const CallFrame *>
      known;
  std::deque<CallFrame> frames;
};

} // namespace mpg

#endif // MPG_PASSES_CALLFRAMES_H
