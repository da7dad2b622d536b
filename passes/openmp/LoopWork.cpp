// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/LoopWork.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

/// A division or square root keeps its unit busy for about as long as this many
/// other instructions take.
static constexpr uint64_t slowInstruction = 10;

static std::optional<uint64_t> smallConstant(const Value *value) {
  auto *number = dyn_cast_or_null<ConstantInt>(value);
  if (!number || number->isNegative() ||
      number->getValue().getActiveBits() > 62)
    return std::nullopt;
  return number->getZExtValue();
}

std::optional<uint64_t>
mpg::constantIterations(const WorksharingLoop &sharing) {
  // __kmpc_dispatch_init_*(loc, thread, schedule, lower, upper, stride, chunk):
  // lower is 0 in clang's code and 1 in flang's.
  bool isDispatch = sharing.init->arg_size() == 7;
  const Value *lower = isDispatch ? sharing.init->getArgOperand(3) : nullptr;
  std::optional<uint64_t> first = isDispatch ? smallConstant(lower) : 0;
  std::optional<uint64_t> last = smallConstant(sharing.last);
  if (!first || !last || *last < *first)
    return std::nullopt;
  return *last - *first + 1;
}

/// What a worksharing loop and the end of a region consist of.
static bool isPartOfSharing(StringRef name) {
  for (StringRef part : {"__kmpc_for_static_", "__kmpc_dispatch_",
                         "__kmpc_reduce", "__kmpc_end_reduce", "__kmpc_barrier",
                         "__kmpc_global_thread_num", "omp_get_"})
    if (name.starts_with(part))
      return true;
  return false;
}

static std::optional<uint64_t> workOfCall(const CallBase &call) {
  if (auto *memory = dyn_cast<MemIntrinsic>(&call)) {
    std::optional<uint64_t> bytes = smallConstant(memory->getLength());
    return bytes ? std::optional<uint64_t>(*bytes / 8 + 1) : std::nullopt;
  }
  if (call.isDebugOrPseudoInst() || call.isLifetimeStartOrEnd())
    return 0;
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    return intrinsic->getIntrinsicID() == Intrinsic::sqrt ? slowInstruction : 1;
  const Function *callee = call.getCalledFunction();
  if (callee && isPartOfSharing(callee->getName()))
    return 1;
  return std::nullopt;
}

/// What does not become an instruction of its own counts nothing.
static std::optional<uint64_t> workOf(const Instruction &instruction) {
  if (auto *call = dyn_cast<CallBase>(&instruction))
    return workOfCall(*call);
  if (isa<PHINode, GetElementPtrInst, CastInst>(instruction))
    return 0;
  switch (instruction.getOpcode()) {
  case Instruction::FDiv:
  case Instruction::FRem:
    return slowInstruction;
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    // By a constant it is a multiplication: collapsed loops have one.
    return isa<Constant>(instruction.getOperand(1)) ? 1 : slowInstruction;
  default:
    return 1;
  }
}

static std::optional<uint64_t> workOf(const BasicBlock &block) {
  uint64_t sum = 0;
  for (const Instruction &instruction : block) {
    std::optional<uint64_t> work = workOf(instruction);
    if (!work)
      return std::nullopt;
    sum = SaturatingAdd(sum, *work);
  }
  return sum;
}

static std::optional<uint64_t> constantTrips(const Loop &loop,
                                             ScalarEvolution &evolution) {
  unsigned trips = evolution.getSmallConstantTripCount(&loop);
  return trips ? std::optional<uint64_t>(trips) : std::nullopt;
}

/// How often all threads together run \p loop for each time that what is around
/// it runs.
static std::optional<uint64_t> tripsIn(const Loop &loop,
                                       ArrayRef<WorksharingLoop> sharings,
                                       ScalarEvolution &evolution) {
  for (const WorksharingLoop &sharing : sharings) {
    if (!is_contained(sharing.loops, &loop))
      continue;
    // The loop over chunks only deals out what the one in it counts.
    return &loop == sharing.loops.back() ? constantIterations(sharing) : 1;
  }
  return constantTrips(loop, evolution);
}

std::optional<uint64_t> mpg::workOfRegion(Function &function,
                                          ArrayRef<WorksharingLoop> sharings,
                                          const LoopInfo &loops,
                                          ScalarEvolution &evolution) {
  uint64_t sum = 0;
  for (const BasicBlock &block : function) {
    std::optional<uint64_t> work = workOf(block);
    if (!work)
      return std::nullopt;
    for (const Loop *loop = loops.getLoopFor(&block); loop;
         loop = loop->getParentLoop()) {
      std::optional<uint64_t> trips = tripsIn(*loop, sharings, evolution);
      if (!trips)
        return std::nullopt;
      work = SaturatingMultiply(*work, *trips);
    }
    sum = SaturatingAdd(sum, *work);
  }
  return sum;
}
