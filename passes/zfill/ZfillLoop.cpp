// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop with rounds around it:
//
//   zeroed = (times - rest) / group, the rounds with something to zero, if the
//            arrays are large and the machine's blocks fit; else 0
//   for (left = times; left; left -= n) {
//     n = zeroed ? group : left
//     if (zeroed)
//       DC ZVA for each stream, --zeroed
//     n iterations
//   }
//
// A group is as many iterations as a line has room for: a second DC ZVA to a
// line would cost as much as the first. Where rounds prefetch as well, the rest
// is done in groups, too.

#include "base/A64fx.h"
#include "base/Access.h"
#include "base/ChangeLoops.h"
#include "base/FrontLoop.h"
#include "base/LoopRounds.h"
#include "base/PassOptions.h"
#include "zfill/Zfill.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// DC ZVA, SYS #3, C7, C4, #1, as a write to a register: flang has no
/// assembler.
static constexpr char zeroRegister[] = "1:3:7:4:1";
static constexpr char blockSizeRegister[] = "dczid_el0";
/// Metadata of each DC ZVA: the iterations of its round.
static constexpr char zeroMark[] = "mpg.zero";

/// The largest block that a machine may have here, too. HW:a64fx-zero-fill
using a64fx::lineBytes;
/// DCZID_EL0 without reserved bits: log2 of words, and that it is forbidden.
/// HW:dczid
static constexpr uint64_t dczidMask = 0x1f;
static constexpr uint64_t dczidOf256 = 6, dczidOf64 = 4;

Value *mpg::zeroedAddress(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || !call->hasMetadata(zeroMark))
    return nullptr;
  Value *address = call->getArgOperand(call->arg_size() - 1);
  return address->getType()->isPointerTy()
             ? address
             : cast<PtrToIntOperator>(address)->getPointerOperand();
}

unsigned mpg::getZeroedRound(const Loop &loop) {
  if (BasicBlock *front = loop.getLoopPreheader())
    for (const BasicBlock *block : predecessors(front))
      for (const Instruction &instruction : *block)
        if (const MDNode *mark = instruction.getMetadata(zeroMark))
          return unsigned(mdconst::extract<ConstantInt>(mark->getOperand(0))
                              ->getZExtValue());
  return 0;
}

Value *mpg::getZeroingRounds(const Loop &rounds) {
  auto *branch = cast<BranchInst>(rounds.getHeader()->getTerminator());
  auto *isZeroing = branch->isConditional()
                        ? dyn_cast<ICmpInst>(branch->getCondition())
                        : nullptr;
  auto *zeroed =
      dyn_cast_or_null<PHINode>(isZeroing ? isZeroing->getOperand(0) : nullptr);
  return zeroed ? zeroed->getIncomingValueForBlock(rounds.getLoopPreheader())
                : nullptr;
}

namespace {
class ZfillWriter : FrontLoop {
public:
  ZfillWriter(Loop &loop, const StreamLoop &known,
              FunctionAnalysisManager &analyses, const PassOptions &options)
      : FrontLoop(loop, known, analyses, "mpg.zfill"), options(options),
        vscale(analyses.getResult<TargetIRAnalysis>(function)
                   .getVScaleForTuning()
                   .value_or(1)),
        hasZeroing(targetHasTags(*function.getParent())),
        prefetches(getsPrefetches(loop, options)) {}
  const char *run();

private:
  /// Values of one stream, computed in front of the loop.
  struct Ahead {
    Value *first;   ///< address of the first DC ZVA
    Value *advance; ///< bytes of a group
    unsigned count; ///< of DC ZVA for a group
  };
  bool breaks(ZfillRule rule) const { return options.zfillBreaks == rule; }
  uint64_t unit() const {
    return options.zfill == zfillAuto ? smallLineBytes : lineBytes;
  }
  uint64_t distance() const {
    uint64_t lines =
        options.zfill == zfillAuto ? zfillDefaultLines : options.zfill;
    return breaks(ZfillRule::distance) ? 0 : lines * lineBytes;
  }
  uint64_t tunedStep(const StoreStream &stream) const {
    return stream.minStep * (stream.isScalable ? vscale : 1);
  }
  unsigned countUnits(const StoreStream &stream) const;
  bool isShort() const;
  uint64_t minBytes() const;
  Value *decide(Instruction &end);
  Value *fits(IRBuilder<> &builder) const;
  Value *computeRest(const StoreStream &stream, IRBuilder<> &builder,
                     Instruction &end);
  Value *addStream(const StoreStream &stream, Value *times, Instruction &end);
  void addZero(IRBuilder<> &builder, Value *address);
  void addZeroing(const LoopRounds &rounds, BasicBlock &front, PHINode &zeroed,
                  Value &isZeroing);
  void divide(Value *times, Value *groups);

  const PassOptions &options;
  unsigned vscale;    ///< of the machine that it is compiled for
  bool hasZeroing;    ///< the machine has DC ZVA; else it is for mpgsim alone
  bool prefetches;    ///< rounds will prefetch, too
  uint64_t group = 1; ///< iterations of a round that zeroes
  SmallVector<Ahead, 4> ahead;
};
} // namespace

/// DC ZVA of a stream for one group, if the registers are as long as expected;
/// where they are longer some lines are read.
unsigned ZfillWriter::countUnits(const StoreStream &stream) const {
  return unsigned(divideCeil(tunedStep(stream) * group, unit()));
}

/// Whether the loop has no whole line to zero, however often it runs.
bool ZfillWriter::isShort() const {
  uint64_t times = scev.getSmallConstantMaxTripCount(&loop);
  return times && llvm::all_of(known.streams, [&](const StoreStream &stream) {
           return times * tunedStep(stream) <= distance() + 2 * lineBytes;
         });
}

static Value *registerName(LLVMContext &context, StringRef name) {
  return MetadataAsValue::get(
      context, MDNode::get(context, MDString::get(context, name)));
}

/// Whether the machine's blocks are those that the loop is made for. For
/// mpgsim, which models another machine, they may be smaller.
Value *ZfillWriter::fits(IRBuilder<> &builder) const {
  if (breaks(ZfillRule::size) || !hasZeroing)
    return builder.getTrue();
  Value *size = builder.CreateIntrinsic(
      Intrinsic::read_register, number,
      registerName(function.getContext(), blockSizeRegister));
  Value *blocks = builder.CreateAnd(size, dczidMask);
  if (options.sim != Simulation::off)
    return builder.CreateICmpULE(blocks, builder.getInt64(dczidOf256));
  if (options.zfill != zfillAuto)
    return builder.CreateICmpEQ(blocks, builder.getInt64(dczidOf256));
  return builder.CreateICmpULE(
      builder.CreateSub(blocks, builder.getInt64(dczidOf64)),
      builder.getInt64(dczidOf256 - dczidOf64));
}

/// In L2 what is zeroed costs no reading anyway.
uint64_t ZfillWriter::minBytes() const {
  return a64fx::l2Bytes / (isRegionBody(function) ? a64fx::threadsOfL2 : 1);
}

/// Whether zeroing pays on this machine: decided as far outside as it is known.
Value *ZfillWriter::decide(Instruction &end) {
  auto [place, bytes] = findDecision(end);
  IRBuilder<> builder(place);
  if (options.zfillAlways || !expander.isSafeToExpandAt(bytes, place))
    return fits(builder);
  Value *all = expander.expandCodeFor(bytes, number, place);
  return builder.CreateAnd(
      builder.CreateICmpUGT(all, builder.getInt64(minBytes())), fits(builder));
}

/// Iterations before the end in which \p stream has no line left to zero.
Value *ZfillWriter::computeRest(const StoreStream &stream, IRBuilder<> &builder,
                                Instruction &end) {
  if (breaks(ZfillRule::end))
    return builder.getInt64(1);
  Value *step = expander.expandCodeFor(stream.step, number, &end);
  uint64_t bytes = distance() + (countUnits(stream) - 1) * unit() + lineBytes;
  Value *wanted = builder.CreateAdd(step, builder.getInt64(bytes - 1));
  // The step itself: the last zeroed byte counts from the iteration's end.
  return builder.CreateAdd(
      builder.CreateUDiv(builder.CreateAdd(wanted, step), step),
      builder.getInt64(group));
}

/// Zeroes the line of \p address, or only marks it.
void ZfillWriter::addZero(IRBuilder<> &builder, Value *address) {
  LLVMContext &context = function.getContext();
  auto *type =
      FunctionType::get(builder.getVoidTy(), address->getType(), false);
  CallInst *zero =
      hasZeroing
          ? builder.CreateIntrinsic(Intrinsic::write_register, number,
                                    {registerName(context, zeroRegister),
                                     builder.CreatePtrToInt(address, number)})
          : builder.CreateCall(InlineAsm::get(type, "", "r,~{memory}", true),
                               address);
  zero->setMetadata(
      zeroMark, MDNode::get(context, ConstantAsMetadata::get(
                                         builder.getInt32(uint32_t(group)))));
}

/// Adds a block in front of the iterations of a round, which zeroes as long as
/// there is something.
void ZfillWriter::addZeroing(const LoopRounds &rounds, BasicBlock &front,
                             PHINode &zeroed, Value &isZeroing) {
  Instruction *enter = rounds.begin->getTerminator();
  Instruction *zero = SplitBlockAndInsertIfThen(
      &isZeroing, enter->getIterator(), /*Unreachable=*/false);
  IRBuilder<> builder(zero);
  for (size_t at = 0; at < ahead.size(); ++at) {
    const Ahead &one = ahead[at];
    builder.SetCurrentDebugLocation(known.streams[at].stores[0]->getDebugLoc());
    PHINode *address =
        PHINode::Create(one.first->getType(), 2, "", rounds.begin->begin());
    for (unsigned line = 0; line < one.count; ++line)
      addZero(builder, builder.CreateConstGEP1_64(builder.getInt8Ty(), address,
                                                  line * unit()));
    address->addIncoming(one.first, &front);
    address->addIncoming(
        IRBuilder<>(rounds.next->getTerminator())
            .CreateGEP(builder.getInt8Ty(), address, one.advance),
        rounds.next);
  }
  Value *fewer = builder.CreateSub(&zeroed, builder.getInt64(1));
  PHINode *rest = PHINode::Create(number, 2, "", enter->getIterator());
  rest->addIncoming(fewer, zero->getParent());
  rest->addIncoming(builder.getInt64(0), rounds.begin);
  zeroed.addIncoming(rest, rounds.next);
}

void ZfillWriter::divide(Value *times, Value *groups) {
  BasicBlock *front = loop.getLoopPreheader();
  PHINode *zeroed = PHINode::Create(number, 2);
  zeroed->addIncoming(groups, front);
  Value *isZeroing = nullptr;
  LoopRounds rounds = divideLoop(
      loop, times, [&](IRBuilder<> &builder, Value *left) -> Value * {
        zeroed->insertBefore(builder.GetInsertBlock()->begin());
        isZeroing = builder.CreateIsNotNull(zeroed);
        Value *all = builder.getInt64(group);
        if (!prefetches)
          return builder.CreateSelect(isZeroing, all, left);
        return group == 1
                   ? all
                   : builder.CreateBinaryIntrinsic(Intrinsic::umin, left, all);
      });
  addZeroing(rounds, *front, *zeroed, *isZeroing);
}

/// Computes what zeroing of \p stream needs. \returns whether nothing that the
/// loop reads is in the way; null: nothing is.
Value *ZfillWriter::addStream(const StoreStream &stream, Value *times,
                              Instruction &end) {
  IRBuilder<> builder(&end);
  Value *step = expander.expandCodeFor(stream.step, number, &end);
  Value *start =
      expander.expandCodeFor(stream.address->getStart(), nullptr, &end);
  Value *way = breaks(ZfillRule::distance)
                   ? builder.getInt64(0)
                   : builder.CreateAdd(step, builder.getInt64(distance()));
  ahead.push_back({builder.CreateGEP(builder.getInt8Ty(), start, way),
                   builder.CreateMul(step, builder.getInt64(group)),
                   countUnits(stream)});
  return isApart(stream, start, times, end);
}

const char *ZfillWriter::run() {
  BasicBlock *front = loop.getLoopPreheader();
  Instruction *end = front->getTerminator();
  if (isShort())
    return "it is too short";
  if (!canExpand(*end))
    return "how often it runs is not known when it begins";
  if (!options.zfillAlways &&
      getMaxBytes(findDecision(*end).bytes) <= minBytes())
    return "the caches hold what it writes";
  uint64_t longest = 0;
  for (const StoreStream &stream : known.streams)
    longest = std::max(longest, tunedStep(stream));
  group = std::max<uint64_t>(1, unit() / longest);
  Value *times = expander.expandCodeFor(known.times, number, end);
  Value *go = decide(*end);
  IRBuilder<> builder(end);
  Value *rest = builder.getInt64(0);
  for (const StoreStream &stream : known.streams) {
    Value *one = computeRest(stream, builder, *end);
    rest = builder.CreateBinaryIntrinsic(Intrinsic::umax, rest, one);
    if (Value *isFree = addStream(stream, times, *end))
      go = builder.CreateAnd(go, isFree);
  }
  if (Value *isTrue = areAssumptionsTrue(*end);
      isTrue && !breaks(ZfillRule::wraps))
    go = builder.CreateAnd(go, isTrue);
  Value *more = builder.CreateSub(times, rest);
  Value *groups = builder.CreateUDiv(more, builder.getInt64(group));
  go = builder.CreateAnd(go, builder.CreateICmpUGT(times, rest));
  groups = builder.CreateSelect(go, groups, builder.getInt64(0));
  expander.clear();
  divide(times, groups);
  return nullptr;
}

const char *mpg::writeZfillLoop(Loop &loop, const StreamLoop &known,
                                FunctionAnalysisManager &analyses,
                                const PassOptions &options) {
  return ZfillWriter(loop, known, analyses, options).run();
}
