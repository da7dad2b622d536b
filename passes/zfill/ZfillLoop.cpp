// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop with DC ZVA in front of the one that was there:
//
//   go = the arrays are large and the machine's blocks fit, outside of the nest
//   if (go && times > rest)
//     for (groups = (times - rest) / group; groups; --groups) {
//       DC ZVA for each stream
//       group iterations
//     }
//   the loop as it was, from where that stopped
//
// A group is as many iterations as a line has room for: a second DC ZVA to a
// line would cost as much as the first.

#include "base/Access.h"
#include "base/OmpRegions.h"
#include "zfill/Zfill.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// DC ZVA, SYS #3, C7, C4, #1, as a write to a register: flang has no
/// assembler.
static constexpr char zeroRegister[] = "1:3:7:4:1";
static constexpr char blockSizeRegister[] = "dczid_el0";
/// Metadata of each DC ZVA.
static constexpr char zeroMark[] = "mpg.zero";

/// Of A64FX, and the largest block that a machine may have here.
/// HW:a64fx-zero-fill
static constexpr uint64_t lineBytes = 256;
/// Of most others; `auto` zeroes in these steps.
static constexpr uint64_t smallLineBytes = 64;
/// DCZID_EL0 without reserved bits: log2 of words, and that it is forbidden.
/// HW:dczid
static constexpr uint64_t dczidMask = 0x1f;
static constexpr uint64_t dczidOf256 = 6, dczidOf64 = 4;
/// In L2 what is zeroed costs no reading anyway. HW:a64fx-l2-way
static constexpr uint64_t cacheBytes = 8 << 20;
/// Threads that share it, for code of parallel regions. HW:a64fx-cmgs
static constexpr uint64_t threadsOfCache = 12;

Value *mpg::zeroedAddress(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || !call->hasMetadata(zeroMark))
    return nullptr;
  Value *address = call->getArgOperand(call->arg_size() - 1);
  return address->getType()->isPointerTy()
             ? address
             : cast<PtrToIntOperator>(address)->getPointerOperand();
}

/// Whether a team runs \p function.
static bool isRegionBody(const Function &function) {
  return llvm::any_of(function.users(), [&](const User *user) {
    auto *call = dyn_cast<CallBase>(user);
    std::optional<RegionStart> start =
        call ? findStart(*call) : std::optional<RegionStart>();
    return start && start->body == &function;
  });
}

namespace {
class ZfillWriter {
public:
  ZfillWriter(Loop &loop, const StreamLoop &known,
              FunctionAnalysisManager &analyses, const PassOptions &options)
      : loop(loop), function(*loop.getHeader()->getParent()), known(known),
        options(options),
        scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        vscale(analyses.getResult<TargetIRAnalysis>(function)
                   .getVScaleForTuning()
                   .value_or(1)),
#if LLVM_VERSION_MAJOR >= 22
        expander(scev, "mpg.zfill"),
#else
        expander(scev, function.getParent()->getDataLayout(), "mpg.zfill"),
#endif
        number(Type::getInt64Ty(function.getContext())),
        hasZeroing(targetHasTags(*function.getParent())) {
  }
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
  const SCEV *footprint(const StoreStream &stream) const;
  Value *decide(Instruction &end);
  Value *fits(IRBuilder<> &builder) const;
  Value *computeRest(const StoreStream &stream, IRBuilder<> &builder,
                     Instruction &end);
  bool canExpand(Instruction &end) const;
  Value *scaled(int64_t bytes, bool isScalable, Instruction &end);
  Value *isElsewhere(const ReadRange &range, Value *begin, Value *bytes,
                     Instruction &end);
  Value *addStream(const StoreStream &stream, Value *times, Instruction &end);
  void clone();
  void addCounters(BasicBlock &front, BasicBlock &rest);
  void addZero(IRBuilder<> &builder, Value *address);
  void addZeroing();
  void mergeValues(BasicBlock &front, BasicBlock &rest);

  Loop &loop;
  Function &function;
  const StreamLoop &known;
  const PassOptions &options;
  ScalarEvolution &scev;
  unsigned vscale; ///< of the machine that it is compiled for
  SCEVExpander expander;
  IntegerType *number;
  bool hasZeroing;    ///< the machine has DC ZVA; else it is for mpgsim alone
  uint64_t group = 1; ///< iterations
  Value *groups = nullptr;
  SmallVector<Ahead, 4> ahead;
  ValueToValueMapTy copies;
  BasicBlock *enter = nullptr; ///< in front of the new loop
  BasicBlock *begin = nullptr; ///< of each group
  BasicBlock *next = nullptr;  ///< after each group
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

/// Bytes that the stream writes in the loop, or in the nest around it as far as
/// its length is known there.
const SCEV *ZfillWriter::footprint(const StoreStream &stream) const {
  const SCEV *bytes = scev.getMulExpr(known.times, stream.step);
  const SCEV *start = stream.address->getStart();
  for (Loop *outer = loop.getParentLoop(); outer;
       outer = outer->getParentLoop()) {
    if (!scev.isLoopInvariant(bytes, outer))
      break;
    if (scev.isLoopInvariant(start, outer))
      continue;
    auto *rows = dyn_cast<SCEVAddRecExpr>(start);
    const SCEV *repeats = scev.getBackedgeTakenCount(outer);
    if (!rows || rows->getLoop() != outer || !rows->isAffine() ||
        isa<SCEVCouldNotCompute>(repeats) ||
        scev.getTypeSizeInBits(repeats->getType()) > 64)
      break;
    const SCEV *all = scev.getMulExpr(
        scev.getNoopOrZeroExtend(repeats, number),
        scev.getNoopOrSignExtend(rows->getStepRecurrence(scev), number));
    bytes = scev.getSMaxExpr(bytes, all);
    start = rows->getStart();
  }
  return bytes;
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

/// Whether zeroing pays on this machine: decided as far outside as it is known.
Value *ZfillWriter::decide(Instruction &end) {
  Instruction *place = &end;
  const SCEV *bytes = nullptr;
  for (const StoreStream &stream : known.streams) {
    const SCEV *one = footprint(stream);
    bytes = bytes ? scev.getAddExpr(bytes, one) : one;
  }
  for (Loop *outer = loop.getParentLoop(); outer;
       outer = outer->getParentLoop()) {
    BasicBlock *front = outer->getLoopPreheader();
    if (!front || !scev.isLoopInvariant(bytes, outer) ||
        !expander.isSafeToExpandAt(bytes, front->getTerminator()))
      break;
    place = front->getTerminator();
  }
  uint64_t minBytes =
      isRegionBody(function) ? cacheBytes / threadsOfCache : cacheBytes;
  IRBuilder<> builder(place);
  if (options.zfillAlways || !expander.isSafeToExpandAt(bytes, place))
    return fits(builder);
  Value *all = expander.expandCodeFor(bytes, number, place);
  return builder.CreateAnd(
      builder.CreateICmpUGT(all, builder.getInt64(minBytes)), fits(builder));
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

void ZfillWriter::clone() {
  SmallVector<BasicBlock *, 4> blocks;
  for (BasicBlock *block : loop.blocks()) {
    BasicBlock *copy = CloneBasicBlock(block, copies, ".zfill", &function);
    copies[block] = copy;
    blocks.push_back(copy);
  }
  remapInstructionsInBlocks(blocks, copies);
}

/// The counters of the new loop: of groups, and of iterations in a group.
void ZfillWriter::addCounters(BasicBlock &front, BasicBlock &rest) {
  auto *header = cast<BasicBlock>(copies[loop.getHeader()]);
  auto *latch = cast<BasicBlock>(copies[loop.getLoopLatch()]);
  Instruction *end = latch->getTerminator();
  auto *condition =
      dyn_cast<Instruction>(cast<BranchInst>(end)->getCondition());
  IRBuilder<> builder(enter);
  builder.SetCurrentDebugLocation(loop.getStartLoc());
  builder.CreateBr(begin);
  builder.SetInsertPoint(begin);
  PHINode *left = builder.CreatePHI(number, 2);
  builder.CreateBr(header);
  builder.SetInsertPoint(next);
  Value *fewer = builder.CreateSub(left, builder.getInt64(1));
  builder.CreateCondBr(builder.CreateIsNull(fewer), &rest, begin);
  left->addIncoming(groups, enter);
  left->addIncoming(fewer, next);
  for (PHINode &phi : header->phis()) {
    PHINode *first = PHINode::Create(phi.getType(), 2, "", begin->begin());
    Value *again = phi.getIncomingValueForBlock(latch);
    first->addIncoming(phi.getIncomingValueForBlock(&front), enter);
    first->addIncoming(again, next);
    phi.setIncomingBlock(unsigned(phi.getBasicBlockIndex(&front)), begin);
    phi.setIncomingValueForBlock(begin, first);
    if (group == 1)
      phi.removeIncomingValue(latch, /*DeletePHIIfEmpty=*/false);
  }
  builder.SetInsertPoint(end);
  builder.SetCurrentDebugLocation(end->getDebugLoc());
  if (group == 1) {
    builder.CreateBr(next);
  } else {
    PHINode *counter = PHINode::Create(number, 2, "", header->begin());
    Value *now = builder.CreateSub(counter, builder.getInt64(1));
    builder.CreateCondBr(builder.CreateIsNull(now), next, header);
    counter->addIncoming(builder.getInt64(group), begin);
    counter->addIncoming(now, latch);
  }
  // The source's choices of prefetches.
  MDNode *choices = end->getMetadata(LLVMContext::MD_loop);
  end->eraseFromParent();
  (group == 1 ? next : latch)
      ->getTerminator()
      ->setMetadata(LLVMContext::MD_loop, choices);
  if (condition)
    RecursivelyDeleteTriviallyDeadInstructions(condition);
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
  zero->setMetadata(zeroMark, MDNode::get(context, {}));
}

void ZfillWriter::addZeroing() {
  IRBuilder<> builder(begin->getTerminator());
  for (size_t at = 0; at < ahead.size(); ++at) {
    const Ahead &one = ahead[at];
    builder.SetCurrentDebugLocation(known.streams[at].stores[0]->getDebugLoc());
    PHINode *address =
        PHINode::Create(one.first->getType(), 2, "", begin->begin());
    for (unsigned line = 0; line < one.count; ++line)
      addZero(builder, builder.CreateConstGEP1_64(builder.getInt8Ty(), address,
                                                  line * unit()));
    address->addIncoming(one.first, enter);
    address->addIncoming(
        builder.CreateGEP(builder.getInt8Ty(), address, one.advance), next);
  }
}

/// The loop as it was goes on with what the new one has left.
void ZfillWriter::mergeValues(BasicBlock &front, BasicBlock &rest) {
  BasicBlock *latch = loop.getLoopLatch();
  for (PHINode &phi : loop.getHeader()->phis()) {
    PHINode *both = PHINode::Create(phi.getType(), 2, "", rest.begin());
    Value *last = phi.getIncomingValueForBlock(latch);
    if (Value *copy = copies.lookup(last))
      last = copy;
    both->addIncoming(phi.getIncomingValueForBlock(&rest), &front);
    both->addIncoming(last, next);
    phi.setIncomingValueForBlock(&rest, both);
  }
}

/// Whether all that must be known is known at \p end.
bool ZfillWriter::canExpand(Instruction &end) const {
  auto isKnown = [&](const SCEV *value) {
    return expander.isSafeToExpandAt(value, &end);
  };
  auto getFirst = [](const SCEV *address) {
    auto *line = dyn_cast<SCEVAddRecExpr>(address);
    return line ? line->getStart() : address;
  };
  auto isRangeKnown = [&](const ReadRange &range) {
    return isKnown(getFirst(range.address)) && isKnown(range.step);
  };
  return isKnown(known.times) &&
         llvm::all_of(known.streams, [&](const StoreStream &stream) {
           return isKnown(stream.address->getStart()) &&
                  llvm::all_of(stream.reads, isRangeKnown);
         });
}

Value *ZfillWriter::scaled(int64_t bytes, bool isScalable, Instruction &end) {
  const SCEV *number64 = scev.getConstant(number, uint64_t(bytes), true);
  return expander.expandCodeFor(
      isScalable ? scev.getMulExpr(number64, scev.getVScale(number)) : number64,
      number, &end);
}

/// Whether nothing of \p range is among \p bytes from \p begin on.
Value *ZfillWriter::isElsewhere(const ReadRange &range, Value *begin,
                                Value *bytes, Instruction &end) {
  auto *line = dyn_cast<SCEVAddRecExpr>(range.address);
  bool moves = line && line->getLoop() == &loop;
  const SCEV *start = moves ? line->getStart() : range.address;
  const SCEV *way = scev.getMulExpr(
      range.step, scev.getMinusSCEV(known.times, scev.getOne(number)));
  IRBuilder<> builder(&end);
  Value *first = builder.CreatePtrToInt(
      expander.expandCodeFor(start, nullptr, &end), number);
  Value *last =
      builder.CreateAdd(first, expander.expandCodeFor(way, number, &end));
  Value *low = builder.CreateAdd(
      builder.CreateBinaryIntrinsic(Intrinsic::umin, first, last),
      scaled(range.begin, range.isScalable, end));
  Value *high = builder.CreateAdd(
      builder.CreateBinaryIntrinsic(Intrinsic::umax, first, last),
      scaled(range.end, range.isScalable, end));
  return builder.CreateOr(
      builder.CreateICmpULE(high, begin),
      builder.CreateICmpULE(builder.CreateAdd(begin, bytes), low));
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
  Value *all = nullptr;
  for (const ReadRange &range : stream.reads) {
    Value *one = isElsewhere(range, builder.CreatePtrToInt(start, number),
                             builder.CreateMul(times, step), end);
    all = all ? builder.CreateAnd(all, one) : one;
  }
  return all;
}

const char *ZfillWriter::run() {
  BasicBlock *front = loop.getLoopPreheader();
  Instruction *end = front->getTerminator();
  if (isShort())
    return "it is too short";
  if (!canExpand(*end))
    return "how often it runs is not known when it begins";
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
  // The expanded predicate is true where the assumption fails.
  if (!breaks(ZfillRule::wraps))
    for (const SCEVPredicate *one : known.assumed)
      go = builder.CreateAnd(
          go, builder.CreateNot(expander.expandCodeForPredicate(one, end)));
  Value *more = builder.CreateSub(times, rest);
  groups = builder.CreateUDiv(more, builder.getInt64(group));
  go = builder.CreateAnd(go, builder.CreateICmpUGT(times, rest));
  go = builder.CreateAnd(go, builder.CreateIsNotNull(groups));
  expander.clear();
  clone();
  LLVMContext &context = function.getContext();
  enter = BasicBlock::Create(context, "", &function);
  begin = BasicBlock::Create(context, "", &function);
  next = BasicBlock::Create(context, "", &function);
  BasicBlock *tail = SplitBlock(front, end);
  addCounters(*front, *tail);
  addZeroing();
  mergeValues(*front, *tail);
  Instruction *jump = front->getTerminator();
  builder.SetInsertPoint(jump);
  builder.CreateCondBr(go, enter, tail);
  jump->eraseFromParent();
  return nullptr;
}

const char *mpg::writeZfillLoop(Loop &loop, const StreamLoop &known,
                                FunctionAnalysisManager &analyses,
                                const PassOptions &options) {
  return ZfillWriter(loop, known, analyses, options).run();
}
