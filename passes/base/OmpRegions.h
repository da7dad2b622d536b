// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenMP as clang and flang generate it for libomp: a parallel region is a
// function that __kmpc_fork_call runs in all threads of a team; a worksharing
// loop begins with a call that stores the calling thread's first and last
// iteration in two variables. Iterations count from 0, except that flang counts
// from 1 in loops that are not static; collapsed loops are one loop. LLVM's
// openmp/runtime/src/kmp.h describes the interface.
//
// Not known here: tasks, teams and distribute, target, sections, libgomp.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/InstrTypes.h"
#include <optional>

namespace mpg {

/// A place where a team starts to run a function.
struct ParallelRegion {
  CallBase *fork;
  Function *body;
  /// Operand of fork that is parameter 2 of body; the next ones follow.
  unsigned firstOperand;
  Value *threads; ///< of the clause num_threads; null without
  bool hasIf;     ///< has an if clause: may run serially

  /// What \p parameter of body is bound to; null for the first two, the thread
  /// numbers.
  Value *operandFor(unsigned parameter) const;
};

/// The operand of \p fork that is \p parameter of the body, if \p firstOperand
/// is the one that is parameter 2; null for the thread numbers in front of it.
Value *forkOperand(const CallBase &fork, unsigned firstOperand,
                   unsigned parameter);

/// The region that a call of __kmpc_fork_call or __kmpc_fork_call_if runs in a
/// team.
struct RegionStart {
  Function *body; ///< may be a declaration
  unsigned firstOperand;
  bool hasIf;
};
std::optional<RegionStart> findStart(const CallBase &call);

/// All of \p module, in the order of the code.
SmallVector<ParallelRegion, 8> findRegions(Module &module);

/// Whether some code of \p module runs in parallel by OpenMP; cheap.
bool usesOpenMp(const Module &module);

enum class LoopSchedule {
  block, ///< static: one block of iterations for each thread
  chunk, ///< static, with chunks of a given size in turn
  other  ///< dynamic, guided, runtime, auto, ordered
};

/// One worksharing loop. If no loop is left in the code (its body was a
/// memset), it is the code between init and the end.
struct WorksharingLoop {
  CallBase *init =
      nullptr; ///< __kmpc_for_static_init_*, __kmpc_dispatch_init_*
  LoopSchedule schedule = LoopSchedule::other;
  unsigned scheduleNumber = 0; ///< as libomp numbers them, without modifiers
  Value *chunk = nullptr;      ///< iterations; null unless schedule is chunk
  Value *lower = nullptr;      ///< variable with the thread's first iteration
  Value *upper = nullptr;      ///< variable with its last iteration
  Value *begin = nullptr;      ///< number of the first iteration; null: 0
  Value *last = nullptr;       ///< number of the last one; null if not seen
  /// The loop that runs over iterations, outermost first; with chunks the loop
  /// over chunks is around it.
  SmallVector<Loop *, 2> loops;
  SmallVector<CallBase *, 1> ends; ///< __kmpc_for_static_fini

  /// "static", "static, chunk", "dynamic", "guided", "runtime", "auto".
  const char *name() const;
};

SmallVector<WorksharingLoop, 4>
findWorksharingLoops(Function &function, const LoopInfo &loops,
                     const DominatorTree &dominators);

/// The one of \p candidates that \p instruction is part of; null if none.
const WorksharingLoop *findWorksharingLoop(const Instruction &instruction,
                                           ArrayRef<WorksharingLoop> candidates,
                                           const DominatorTree &dominators);

} // namespace mpg
