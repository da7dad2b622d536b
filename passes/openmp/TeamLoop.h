// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that an OpenMP team runs, as clang writes it for libomp: the iterations
// of a loop are shared out by __kmpc_for_static_init_8, as those of any other
// static loop with as many iterations, and the code becomes a function that
// __kmpc_fork_call runs on each thread. The interface is described in LLVM's
// openmp/runtime/src/kmp.h. What the code does, and whether that is allowed, is
// not known here.

#ifndef MPG_PASSES_TEAMLOOP_H
#define MPG_PASSES_TEAMLOOP_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace mpg {

/// How a worksharing loop shares its iterations out.
struct LoopShare {
  /// Iterations in one chunk of schedule(static, chunk), any integer; null:
  /// schedule(static).
  llvm::Value *chunk = nullptr;
  /// Of the clause num_threads, any integer; null: the default.
  llvm::Value *threads = nullptr;
};

class TeamLoop {
public:
  /// Starts the code in front of \p behind, reached from nowhere yet, for
  /// iterations 0 to \p iterations - 1 (64 bits, less than 2^48, more than 0).
  /// Values of \p share are computed where \p builder stands.
  TeamLoop(llvm::IRBuilderBase &builder, llvm::Value *iterations,
           const LoopShare &share, llvm::BasicBlock &behind);

  /// Where control must come from outside.
  llvm::BasicBlock *entry() const { return start; }
  /// Without a terminator: what is to run iterations first to last follows
  /// here, and goes on to next.
  llvm::BasicBlock *run;
  llvm::Value *first, *last; ///< 64 bits
  llvm::BasicBlock *next;

  /// Moves the code, with \p blocks in it, into functions of its own. Its debug
  /// locations stay. Every analysis of the function is out of date after it.
  void outline(llvm::ArrayRef<llvm::BasicBlock *> blocks);

private:
  void shareOut(llvm::Value *iterations, llvm::Value *chunk);
  void callOnTeam(llvm::CallInst &call);

  llvm::Function &function;
  llvm::DebugLoc where;
  llvm::Value *threads;
  llvm::BasicBlock *start, *check, *finish, &behind;
};

} // namespace mpg

#endif // MPG_PASSES_TEAMLOOP_H
