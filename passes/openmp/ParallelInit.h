// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the initialisation of an array parallel: its iterations run on the
// threads that will work on the array, so each page lands on the node of its
// user by being written first. Done only where it is proven, partly at run
// time, that the program computes the same, bit for bit: the serial loop stays,
// for what is small (a team costs more), for arrays that turn out to overlap,
// and inside parallel regions.
//
// Whether the loop should be parallel is the caller's question, not ours.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// How a worksharing loop shares its iterations out.
struct LoopShare {
  /// Iterations in one chunk of schedule(static, chunk), any integer; null:
  /// schedule(static).
  Value *chunk = nullptr;
  /// Of the clause num_threads, any integer; null: the default.
  Value *threads = nullptr;
};

/// Code that an OpenMP team runs, as clang generates it for libomp:
/// __kmpc_for_static_init_8 divides the iterations of a loop like those of any
/// other static loop with as many iterations, and the code becomes a function
/// that __kmpc_fork_call runs on each thread. LLVM's openmp/runtime/src/kmp.h
/// describes the interface. This class does not know what the code does, nor
/// whether that is allowed.
class TeamLoop {
public:
  /// Starts the code in front of \p after, reached from nowhere yet, for
  /// iterations 0 to \p iterations - 1 (64 bits, less than 2^48, more than 0).
  /// Values of \p share are computed where \p builder stands.
  TeamLoop(IRBuilderBase &builder, Value *iterations, const LoopShare &share,
           BasicBlock &after);

  /// The block to enter from outside.
  BasicBlock *entry() const { return start; }
  /// Has no terminator: the code that runs iterations first to last goes here,
  /// and continues to next.
  BasicBlock *run;
  Value *first, *last; ///< 64 bits
  BasicBlock *next;

  /// Moves the code, including \p blocks, into separate functions and keeps its
  /// debug locations. Returns the block that replaces it, which no analysis
  /// knows.
  BasicBlock *outline(ArrayRef<BasicBlock *> blocks);

private:
  void shareOut(Value *iterations, Value *chunk);
  void callOnTeam(CallInst &call);

  Function &function;
  DebugLoc where;
  Value *threads;
  BasicBlock *start, *check, *finish, &after;
};

/// Runs the iterations of \p loop on an OpenMP team. Values of \p share must be
/// there in front of the loop. Returns "" when done; otherwise the reason, of
/// the form "it calls rand", and the code does what it did. The function's
/// dominators, loops and evolutions are kept up to date in any case: \p loop is
/// the serial one then.
std::string parallelise(Loop &loop, const LoopShare &share,
                        FunctionAnalysisManager &analyses);

/// The same for a memset: iteration i covers \p bytesPerIteration bytes from i
/// times that many on, and the last one covers the rest. An unsigned integer;
/// if it is 0 at run time the memset stays serial.
std::string parallelise(MemSetInst &memset, Value &bytesPerIteration,
                        const LoopShare &share,
                        FunctionAnalysisManager &analyses);

} // namespace mpg
