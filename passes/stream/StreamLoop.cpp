// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops beside the one that was there. See Stream.h.

#include "base/FrontLoop.h"
#include "base/PassOptions.h"
#include "stream/Stream.h"
#include "llvm/ADT/bit.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// Bytes of a line of every cache. HW:x86-l1d-way
static constexpr uint64_t x86LineBytes = 64;
/// The marked loop does a multiple of so many iterations: as many as a
/// vectorised loop does at once, so that none is left over.
static constexpr uint64_t blockTimes = 64;
/// Of a stream in one run of the loop. With less the fence, and the edges that
/// are stored the usual way, cost too much.
static constexpr uint64_t minRunBytes = 4096;
/// Of glibc, and what counts where it does not know.
static constexpr int level3CacheSize = 194; // _SC_LEVEL3_CACHE_SIZE
static constexpr uint64_t usualCacheBytes = 32 << 20;
/// A last cache, or the part of one for a thread of a team, is larger.
static constexpr uint64_t minCacheBytes = 1 << 20, minPartBytes = 64 << 10;

//===----------------------------------------------------------------------===//
// Bytes of the last cache
//===----------------------------------------------------------------------===//

/// Asks the C library when the program starts.
static void addCacheQuestion(Module &module, GlobalVariable &bytes) {
  LLVMContext &context = module.getContext();
  IRBuilder<> builder(context);
  auto *ask = Function::Create(FunctionType::get(builder.getVoidTy(), false),
                               GlobalValue::LinkOnceODRLinkage,
                               "mpg_stream_ask", module);
  ask->setVisibility(GlobalValue::HiddenVisibility);
  ask->setComdat(bytes.getComdat());
  ask->addFnAttr(Attribute::NoUnwind);
  builder.SetInsertPoint(BasicBlock::Create(context, "", ask));
  FunctionCallee sysconf = module.getOrInsertFunction(
      "sysconf", builder.getInt64Ty(), builder.getInt32Ty());
  Value *size = builder.CreateCall(sysconf, builder.getInt32(level3CacheSize));
  Value *isKnown = builder.CreateICmpSGT(size, builder.getInt64(0));
  builder.CreateStore(
      builder.CreateSelect(isKnown, size, builder.getInt64(usualCacheBytes)),
      &bytes);
  builder.CreateRetVoid();
  appendToGlobalCtors(module, ask, 0, &bytes);
}

/// Until the program has asked, no loop writes that much.
static GlobalVariable *getCacheBytes(Module &module) {
  static constexpr char name[] = "mpg_stream_cache";
  if (GlobalVariable *known = module.getNamedGlobal(name))
    return known;
  Type *number = Type::getInt64Ty(module.getContext());
  auto *bytes = new GlobalVariable(
      module, number, /*isConstant=*/false, GlobalValue::LinkOnceODRLinkage,
      ConstantInt::get(number, uint64_t(INT64_MAX)), name);
  bytes->setVisibility(GlobalValue::HiddenVisibility);
  bytes->setComdat(module.getOrInsertComdat(name));
  addCacheQuestion(module, *bytes);
  return bytes;
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

namespace {
class StreamWriter : FrontLoop {
public:
  StreamWriter(Loop &loop, const StreamLoop &known,
               FunctionAnalysisManager &analyses, const PassOptions &options)
      : FrontLoop(loop, known, analyses, "mpg.stream"), options(options),
        loops(analyses.getResult<LoopAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        vectors(analyses.getResult<TargetIRAnalysis>(function)) {}
  const char *write();

private:
  /// A copy of the loop that does a given number of iterations.
  struct Part {
    ValueToValueMapTy copies;
    BasicBlock *header, *latch;
    PHINode *counter; ///< of iterations, from 0 on
  };
  const char *whyNot() const;
  Loop *findNest(const Instruction &place) const;
  Loop *findCopied(const Instruction &place) const;
  void copyNest(Loop &nest, Value &isLarge);
  uint64_t minTimes() const;
  uint64_t minBytes() const;
  Value *decide(const Decision &decision);
  Value *countFirst(IRBuilder<> &builder);
  Value *areAligned(Instruction &end);
  Value *checkRun(Instruction &end);
  void addPart(Part &part, const char *suffix);
  void close(Part &part, Value *times, BasicBlock &before, BasicBlock &after,
             MDNode *choices);
  void moveStores();
  void addFences(Loop *nest, Value &isLarge);
  Value *begin(PHINode &phi);
  void connect(BasicBlock &front, ArrayRef<Value *> begins);
  void startParts(PHINode &phi, Value *begin, BasicBlock &front);
  void leave();
  MDNode *makeChoices(bool isMarked) const;

  const PassOptions &options;
  LoopInfo &loops;
  DominatorTree &dominators;
  const TargetTransformInfo &vectors;
  Value *first = nullptr;         ///< iterations up to the border
  Value *middleTimes = nullptr;   ///< of the marked loop
  Value *lastTimes = nullptr;     ///< iterations after it
  SmallVector<Value *, 2> starts; ///< of each stream, after the first
  Part edge, middle;
  BasicBlock *enter = nullptr; ///< in front of all
  BasicBlock *run = nullptr;   ///< in front of the edge
  BasicBlock *ran = nullptr;   ///< after it
  BasicBlock *align = nullptr; ///< in front of the middle
  BasicBlock *again = nullptr; ///< after it
  BasicBlock *fence = nullptr; ///< after all, for the fence unless it is later
};
} // namespace

/// Iterations below which the loop stays as it is, besides the first.
uint64_t StreamWriter::minTimes() const {
  uint64_t shortest = minRunBytes;
  for (const StoreStream &stream : known.streams)
    shortest = std::min(shortest, stream.minStep);
  return std::max(2 * blockTimes,
                  options.streamAlways ? 0 : minRunBytes / shortest);
}

/// Fewer bytes than any last cache, or part of one, holds.
uint64_t StreamWriter::minBytes() const {
  return isRegionBody(function) ? minPartBytes : minCacheBytes;
}

const char *StreamWriter::whyNot() const {
  Instruction *end = loop.getLoopPreheader()->getTerminator();
  Decision decision = findDecision(*end);
  if (!canExpand(*end) ||
      !expander.isSafeToExpandAt(decision.bytes, decision.place))
    return "how often it runs is not known when it begins";
  uint64_t times = scev.getSmallConstantMaxTripCount(&loop);
  if (times && times <= minTimes())
    return "it is too short";
  return !options.streamAlways && getMaxBytes(decision.bytes) <= minBytes()
             ? "the caches hold what it writes"
             : nullptr;
}

/// Whether the nest writes more than this thread's part of the last cache. That
/// is asked only where it writes much: where L1 is full of its arrays, the line
/// with the size would displace one of them.
Value *StreamWriter::decide(const Decision &decision) {
  if (options.streamAlways)
    return ConstantInt::getTrue(function.getContext());
  Module &module = *function.getParent();
  Value *all = expander.expandCodeFor(decision.bytes, number, decision.place);
  IRBuilder<> builder(decision.place);
  Value *isMuch = builder.CreateICmpSGT(all, builder.getInt64(minBytes()));
  BasicBlock *front = decision.place->getParent();
  DomTreeUpdater updater(dominators, DomTreeUpdater::UpdateStrategy::Eager);
  Instruction *asked = SplitBlockAndInsertIfThen(
      isMuch, decision.place->getIterator(), /*Unreachable=*/false,
      MDBuilder(function.getContext()).createUnlikelyBranchWeights(), &updater,
      &loops);
  builder.SetInsertPoint(asked);
  Value *limit = builder.CreateLoad(number, getCacheBytes(module));
  if (isRegionBody(function)) {
    Value *threads = builder.CreateCall(module.getOrInsertFunction(
        "omp_get_num_threads", builder.getInt32Ty()));
    limit = builder.CreateUDiv(limit, builder.CreateZExt(threads, number));
  }
  Value *isMore = builder.CreateICmpSGT(all, limit);
  PHINode *isLarge = PHINode::Create(builder.getInt1Ty(), 2, "",
                                     decision.place->getParent()->begin());
  isLarge->addIncoming(builder.getFalse(), front);
  isLarge->addIncoming(isMore, asked->getParent());
  return isLarge;
}

/// Whether nothing in \p outer lets another thread learn of written memory.
static bool isQuiet(const Loop &outer) {
  for (const BasicBlock *block : outer.blocks())
    for (const Instruction &instruction : *block) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (instruction.isAtomic() || instruction.isVolatile() ||
          (isa<CallBase>(instruction) && instruction.mayReadOrWriteMemory() &&
           !(call && call->isAssumeLikeIntrinsic())))
        return false;
    }
  return true;
}

/// The outermost loop around this one, with \p place in front of it, that lets
/// no other thread see the memory. Null: none.
Loop *StreamWriter::findNest(const Instruction &place) const {
  Loop *nest = nullptr;
  if (loop.getLoopPreheader() == place.getParent())
    return nullptr;
  for (Loop *outer = loop.getParentLoop(); outer && isQuiet(*outer);
       outer = outer->getParentLoop()) {
    nest = outer;
    if (outer->getLoopPreheader() == place.getParent())
      break;
  }
  return nest;
}

/// The loop in front of \p place, if it has no other loops than ours in it.
/// Null: it has, or is ours.
Loop *StreamWriter::findCopied(const Instruction &place) const {
  Loop *nest = &loop;
  while (nest->getLoopPreheader() != place.getParent()) {
    nest = nest->getParentLoop();
    if (!nest || nest->getSubLoops().size() != 1)
      return nullptr;
  }
  return nest == &loop ? nullptr : nest;
}

/// Puts a copy of \p nest beside it for data that the caches hold: what streams
/// need would cost each row of the nest some time and registers.
void StreamWriter::copyNest(Loop &nest, Value &isLarge) {
  formLCSSARecursively(nest, dominators, &loops, &scev);
  BasicBlock *front = nest.getLoopPreheader();
  Instruction *end = front->getTerminator();
  BasicBlock *begin = SplitBlock(front, end, &dominators, &loops);
  SmallVector<BasicBlock *, 4> ends;
  nest.getUniqueExitBlocks(ends);
  ValueToValueMapTy copies;
  SmallVector<BasicBlock *, 8> blocks;
  cloneLoopWithPreheader(begin, front, &nest, copies, ".cached", &loops,
                         &dominators, blocks);
  remapInstructionsInBlocks(blocks, copies);
  for (BasicBlock *next : ends)
    for (PHINode &phi : next->phis())
      for (unsigned at = 0, count = phi.getNumIncomingValues(); at < count;
           ++at)
        if (Value *from = copies.lookup(phi.getIncomingBlock(at))) {
          Value *value = phi.getIncomingValue(at);
          Value *copy = copies.lookup(value);
          phi.addIncoming(copy ? copy : value, cast<BasicBlock>(from));
        }
  Instruction *jump = front->getTerminator();
  IRBuilder<>(jump).CreateCondBr(&isLarge, begin,
                                 cast<BasicBlock>(copies[begin]));
  jump->eraseFromParent();
  dominators.recalculate(function);
  scev.forgetBlockAndLoopDispositions();
}

/// Iterations of the first stream up to a line's border: a step of an odd
/// number of 2^n bytes meets each border of 2^n bytes.
Value *StreamWriter::countFirst(IRBuilder<> &builder) {
  const StoreStream &stream = known.streams[0];
  unsigned zeros = unsigned(llvm::countr_zero(stream.minStep));
  if (stream.minStep % x86LineBytes == 0)
    return builder.getInt64(0);
  uint64_t odd = stream.minStep >> zeros, inverse = odd;
  while (odd * inverse % x86LineBytes != 1)
    inverse *= odd;
  Value *start = builder.CreatePtrToInt(
      expander.expandCodeFor(stream.address->getStart(), nullptr,
                             &*builder.GetInsertPoint()),
      number);
  Value *missing = builder.CreateLShr(builder.CreateNeg(start), zeros);
  return builder.CreateAnd(
      builder.CreateMul(missing, builder.getInt64(inverse)),
      (x86LineBytes >> zeros) - 1);
}

/// Whether after the first iterations each stream is at a line's border.
Value *StreamWriter::areAligned(Instruction &end) {
  IRBuilder<> builder(&end);
  Value *rest = builder.getInt64(0);
  for (const StoreStream &stream : known.streams) {
    const SCEV *start =
        stream.address->evaluateAtIteration(scev.getUnknown(first), scev);
    starts.push_back(expander.expandCodeFor(start, nullptr, &end));
    rest =
        builder.CreateOr(rest, builder.CreatePtrToInt(starts.back(), number));
  }
  return builder.CreateIsNull(builder.CreateAnd(rest, x86LineBytes - 1));
}

/// A value of the loop's header where the marked loop begins. Null: it takes
/// over what the first iterations have left.
Value *StreamWriter::begin(PHINode &phi) {
  Instruction *end = loop.getLoopPreheader()->getTerminator();
  if (!scev.isSCEVable(phi.getType()))
    return nullptr;
  auto *line = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(&phi));
  if (!line || line->getLoop() != &loop || !line->isAffine())
    return nullptr;
  const SCEV *start = line->evaluateAtIteration(scev.getUnknown(first), scev);
  return expander.isSafeToExpandAt(start, end)
             ? expander.expandCodeFor(start, phi.getType(), end)
             : nullptr;
}

void StreamWriter::addPart(Part &part, const char *suffix) {
  copyBlocks(part.copies, suffix);
  part.header = cast<BasicBlock>(part.copies[loop.getHeader()]);
  part.latch = cast<BasicBlock>(part.copies[loop.getLoopLatch()]);
  SmallVector<MDNode *, 4> scopes;
  SmallVector<BasicBlock *, 4> blocks;
  for (BasicBlock *block : loop.blocks())
    blocks.push_back(cast<BasicBlock>(part.copies[block]));
  identifyNoAliasScopesToClone(blocks, scopes);
  cloneAndAdaptNoAliasScopes(scopes, blocks, function.getContext(), suffix);
}

/// The loop's own choices, without those about its vectors in the first
/// iterations. The marked loop writes whole lines at once: reads between the
/// parts of a line send them to memory one by one.
MDNode *StreamWriter::makeChoices(bool isMarked) const {
  LLVMContext &context = function.getContext();
  auto make = [&](StringRef name, Constant *value) {
    return MDNode::get(context, {MDString::get(context, name),
                                 ConstantAsMetadata::get(value)});
  };
  if (isMarked) {
    uint64_t bytes =
        vectors.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector)
            .getFixedValue() /
        8;
    uint64_t perLine = bytes ? std::max<uint64_t>(1, x86LineBytes / bytes) : 1;
    return makePostTransformationMetadata(
        context, loop.getLoopID(), {"llvm.loop.interleave."},
        {make(streamMark, ConstantInt::getTrue(context)),
         make("llvm.loop.interleave.count",
              ConstantInt::get(Type::getInt32Ty(context), perLine))});
  }
  return makePostTransformationMetadata(
      context, loop.getLoopID(), {"llvm.loop.vectorize.", "llvm.loop.unroll."},
      {make("llvm.loop.vectorize.enable", ConstantInt::getFalse(context)),
       MDNode::get(context,
                   MDString::get(context, "llvm.loop.unroll.disable"))});
}

/// Lets \p part run \p times times, from \p before to \p after.
void StreamWriter::close(Part &part, Value *times, BasicBlock &before,
                         BasicBlock &after, MDNode *choices) {
  Instruction *end = part.latch->getTerminator();
  auto *condition =
      dyn_cast<Instruction>(cast<BranchInst>(end)->getCondition());
  part.counter = PHINode::Create(number, 2, "", part.header->begin());
  IRBuilder<> builder(end);
  Value *done = builder.CreateAdd(part.counter, builder.getInt64(1), "",
                                  /*HasNUW=*/true, /*HasNSW=*/true);
  part.counter->addIncoming(builder.getInt64(0), &before);
  part.counter->addIncoming(done, part.latch);
  builder.CreateCondBr(builder.CreateICmpEQ(done, times), &after, part.header)
      ->setMetadata(LLVMContext::MD_loop, choices);
  end->eraseFromParent();
  if (condition)
    RecursivelyDeleteTriviallyDeadInstructions(condition);
}

/// Lets the stores of the middle begin at the aligned addresses: LLVM knows the
/// alignment only of what is computed from those.
void StreamWriter::moveStores() {
  for (auto [stream, start] : zip(known.streams, starts))
    for (auto [store, offset] : zip(stream.stores, stream.offsets)) {
      auto *copy = cast<StoreInst>(middle.copies[store]);
      IRBuilder<> builder(copy);
      Value *way = builder.CreateAdd(
          builder.CreateMul(middle.counter, builder.getInt64(stream.minStep)),
          builder.getInt64(uint64_t(offset)));
      copy->setOperand(StoreInst::getPointerOperandIndex(),
                       builder.CreatePtrAdd(start, way));
    }
}

static void addFence(BasicBlock::iterator place) {
  IRBuilder<>(place->getParent(), place)
      .CreateIntrinsic(Intrinsic::x86_sse_sfence, ArrayRef<Type *>(),
                       ArrayRef<Value *>());
}

/// Where \p nest is left, if \p isLarge: better than after each run, because a
/// fence waits for all stores. Null: after the run.
void StreamWriter::addFences(Loop *nest, Value &isLarge) {
  if (!nest)
    return addFence(fence->getFirstInsertionPt());
  SmallVector<BasicBlock *, 4> exits;
  nest->getUniqueExitBlocks(exits);
  for (BasicBlock *exit : exits) {
    SmallVector<BasicBlock *, 4> writers;
    for (BasicBlock *from : predecessors(exit))
      if (nest->contains(from))
        writers.push_back(from);
    if (writers.size() != size_t(pred_size(exit)))
      exit = SplitBlockPredecessors(exit, writers, ".fence");
    Instruction *then = SplitBlockAndInsertIfThen(
        &isLarge, exit->getFirstInsertionPt(), /*Unreachable=*/false);
    addFence(then->getIterator());
  }
}

/// The value of \p value in a copy of the loop.
static Value *getCopy(const ValueToValueMapTy &copies, Value *value) {
  Value *copy = copies.lookup(value);
  return copy ? copy : value;
}

/// Starts \p phi of the loop in both parts: the edge twice, the middle at
/// \p begin, or where the edge has stopped.
void StreamWriter::startParts(PHINode &phi, Value *begin, BasicBlock &front) {
  Value *last = phi.getIncomingValueForBlock(loop.getLoopLatch());
  PHINode *start = PHINode::Create(phi.getType(), 2, "", run->begin());
  start->addIncoming(phi.getIncomingValueForBlock(loop.getLoopPreheader()),
                     enter);
  start->addIncoming(getCopy(middle.copies, last), again);
  auto *copy = cast<PHINode>(edge.copies[&phi]);
  copy->replaceIncomingBlockWith(&front, run);
  copy->setIncomingValueForBlock(run, start);
  if (!begin) {
    PHINode *stop = PHINode::Create(phi.getType(), 2, "", ran->begin());
    stop->addIncoming(start, run);
    stop->addIncoming(getCopy(edge.copies, last), edge.latch);
    begin = stop;
  }
  copy = cast<PHINode>(middle.copies[&phi]);
  copy->replaceIncomingBlockWith(&front, align);
  copy->setIncomingValueForBlock(align, begin);
}

/// Values that are used after the loop may come from the edge, too.
void StreamWriter::leave() {
  for (PHINode &phi : loop.getExitBlock()->phis()) {
    Value *value = phi.getIncomingValueForBlock(loop.getLoopLatch());
    if (Value *copy = edge.copies.lookup(value)) {
      PHINode *last = PHINode::Create(phi.getType(), 2, "", ran->begin());
      last->addIncoming(copy, edge.latch);
      last->addIncoming(PoisonValue::get(phi.getType()), run);
      value = last;
    }
    phi.addIncoming(value, fence);
  }
}

/// The edge runs once in front of the middle, unless that begins at once, and
/// once after it: enter -> run -> edge -> ran -> align -> middle -> again ->
/// run
/// -> edge -> ran -> fence
void StreamWriter::connect(BasicBlock &front, ArrayRef<Value *> begins) {
  IRBuilder<> builder(enter);
  builder.SetCurrentDebugLocation(loop.getStartLoc());
  builder.CreateBr(run);
  builder.SetInsertPoint(run);
  PHINode *times = builder.CreatePHI(number, 2);
  times->addIncoming(first, enter);
  times->addIncoming(lastTimes, again);
  PHINode *isLast = builder.CreatePHI(builder.getInt1Ty(), 2);
  isLast->addIncoming(builder.getFalse(), enter);
  isLast->addIncoming(builder.getTrue(), again);
  builder.CreateCondBr(builder.CreateIsNull(times), ran, edge.header);
  builder.SetInsertPoint(ran);
  builder.CreateCondBr(isLast, fence, align);
  builder.SetInsertPoint(align);
  for (Value *start : starts)
    builder.CreateAlignmentAssumption(function.getParent()->getDataLayout(),
                                      start, unsigned(x86LineBytes));
  builder.CreateAssumption(builder.CreateIsNotNull(middleTimes));
  builder.CreateBr(middle.header);
  builder.SetInsertPoint(again);
  builder.CreateBr(run)->setMetadata(LLVMContext::MD_loop,
                                     makeChoices(/*isMarked=*/false));
  builder.SetInsertPoint(fence);
  builder.CreateBr(loop.getExitBlock());
  for (auto [phi, begin] : zip(loop.getHeader()->phis(), begins))
    startParts(phi, begin, front);
  leave();
  close(edge, times, *run, *ran, makeChoices(/*isMarked=*/false));
  close(middle, middleTimes, *align, *again, makeChoices(/*isMarked=*/true));
  moveStores();
}

/// Whether this run of the loop can begin at borders of lines; the iterations
/// of both parts.
Value *StreamWriter::checkRun(Instruction &end) {
  IRBuilder<> builder(&end);
  Value *times = expander.expandCodeFor(known.times, number, &end);
  first = countFirst(builder);
  Value *go = builder.CreateICmpUGT(
      times, builder.CreateAdd(first, builder.getInt64(minTimes())));
  go = builder.CreateAnd(go, areAligned(end));
  for (const StoreStream &stream : known.streams) {
    Value *start =
        expander.expandCodeFor(stream.address->getStart(), nullptr, &end);
    if (Value *isFree = isApart(stream, start, times, end))
      go = builder.CreateAnd(go, isFree);
  }
  if (Value *isTrue = areAssumptionsTrue(end))
    go = builder.CreateAnd(go, isTrue);
  // At least one iteration is left for the edge.
  Value *more =
      builder.CreateSub(builder.CreateSub(times, first), builder.getInt64(1));
  Value *blocks = builder.CreateUDiv(more, builder.getInt64(blockTimes));
  middleTimes = builder.CreateMul(blocks, builder.getInt64(blockTimes));
  lastTimes = builder.CreateSub(builder.CreateSub(times, first), middleTimes);
  return go;
}

const char *StreamWriter::write() {
  if (const char *reason = whyNot())
    return reason;
  formLCSSA(loop, dominators, &loops, &scev);
  Instruction *end = loop.getLoopPreheader()->getTerminator();
  Decision decision = findDecision(*end);
  Value *isLarge = decide(decision);
  if (Loop *nest = findCopied(*decision.place)) {
    copyNest(*nest, *isLarge);
    isLarge = ConstantInt::getTrue(function.getContext());
  }
  Loop *nest = findNest(*decision.place);
  BasicBlock *front = end->getParent();
  BasicBlock *check = SplitBlock(front, end, &dominators, &loops);
  Value *go = checkRun(*end);
  SmallVector<Value *, 4> begins;
  for (PHINode &phi : loop.getHeader()->phis())
    begins.push_back(begin(phi));
  expander.clear();
  addPart(edge, ".edge");
  addPart(middle, ".stream");
  for (BasicBlock **block : {&enter, &run, &ran, &align, &again, &fence})
    *block = BasicBlock::Create(function.getContext(), "", &function);
  BasicBlock *tail = SplitBlock(check, end, &dominators, &loops);
  connect(*check, begins);
  addFences(nest, *isLarge);
  auto branch = [tail](BasicBlock &from, Value *condition, BasicBlock *to) {
    Instruction *jump = from.getTerminator();
    IRBuilder<>(jump).CreateCondBr(condition, to, tail);
    jump->eraseFromParent();
  };
  branch(*front, isLarge, check);
  branch(*check, go, enter);
  return nullptr;
}

const char *mpg::writeStreamLoop(Loop &loop, const StreamLoop &known,
                                 FunctionAnalysisManager &analyses,
                                 const PassOptions &options) {
  return StreamWriter(loop, known, analyses, options).write();
}
