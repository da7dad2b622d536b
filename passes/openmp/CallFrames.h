// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways to reach a function: chains of calls, the start of a parallel region
// among them. What a parameter is bound to depends on the way.

#ifndef MPG_PASSES_CALLFRAMES_H
#define MPG_PASSES_CALLFRAMES_H

#include "base/OmpRegions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Argument.h"
#include <deque>

namespace mpg {

/// One call on a way. A null pointer is the way that ends: the function has
/// no caller, or the way is longer than we look. Equal ways are equal pointers.
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

/// The frame of \p way, or outside of it, in which \p function runs; null if it
/// is where the way begins.
const CallFrame *frameOf(const llvm::Function &function, const CallFrame *way);

/// The function that \p call calls, by its name or by an alias: clang calls a
/// constructor of a complete object by the alias of the base object's. Null if
/// that is not seen.
llvm::Function *calleeOf(const llvm::CallBase &call);

class CallFrames {
public:
  CallFrames(llvm::Module &module, llvm::ArrayRef<ParallelRegion> regions);

  /// All ways to \p function, those that begin at a function that may be called
  /// from elsewhere among them. At most maxWays, of at most maxDepth calls;
  /// none repeats a function.
  llvm::SmallVector<const CallFrame *, 2> waysTo(llvm::Function &function);

  /// The same of each caller: where a function of a library is called from
  /// everywhere, more than maxWays.
  llvm::SmallVector<const CallFrame *, 2>
  waysOfCallers(llvm::Function &function);

  /// The way that goes on from \p outer through \p call into \p callee; null if
  /// it were too deep.
  const CallFrame *enter(llvm::CallBase &call, llvm::Function &callee,
                         const CallFrame *outer);

  /// Whether \p function runs in threads of a team whenever it runs: a region's
  /// body, or called from such only.
  bool isParallel(llvm::Function &function);

  static constexpr unsigned maxWays = 16, maxDepth = 6;

private:
  struct Caller {
    llvm::CallBase *call;
    unsigned firstOperand;
  };
  using Ways = llvm::SmallVector<const CallFrame *, 2>;
  const CallFrame *frame(const Caller &caller, llvm::Function &callee,
                         const CallFrame *outer);
  void findWays(llvm::Function &function, unsigned depth,
                llvm::SmallVectorImpl<const Caller *> &path,
                llvm::SmallVectorImpl<llvm::Function *> &callees, Ways &into);

  llvm::DenseMap<llvm::Function *, llvm::SmallVector<Caller, 2>> callers;
  llvm::DenseMap<llvm::Function *, Ways> ways;
  llvm::DenseMap<llvm::Function *, bool> parallel;
  llvm::DenseMap<std::pair<llvm::CallBase *, const CallFrame *>,
                 const CallFrame *>
      known;
  std::deque<CallFrame> frames;
};

} // namespace mpg

#endif // MPG_PASSES_CALLFRAMES_H
