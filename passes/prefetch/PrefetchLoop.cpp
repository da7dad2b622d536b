// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streams of one loop, and the loop with prefetches:
//
//   for (left = times, bytes = 0; left; left -= n, bytes += group * step) {
//     prefetch ahead + bytes          for each stream and cache
//     n = min(left, group)
//     n iterations
//   }
//
// Without the inner loop where an iteration needs a line or more. Where
// --mpg-zfill has made such a loop, its rounds prefetch.

#include "base/A64fx.h"
#include "base/Access.h"
#include "base/Hint.h"
#include "base/LoopRounds.h"
#include "base/Scev.h"
#include "prefetch/Prefetch.h"
#include "zfill/Zfill.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// Of one round of the loop; the queue of a core has 16 places.
/// HW:a64fx-prefetch-queue
static constexpr uint64_t maxPrefetches = 16;

/// Bytes of a line of \p function's machine. LLVM knows it of some; others have
/// 64, as FUJITSU-MONAKA (HW:monaka). Code for any AArch64, and what mpgsim
/// models, is for A64FX.
static int64_t getLineBytes(const Function &function,
                            const TargetTransformInfo &target) {
  constexpr int64_t usualBytes = 64;
  if (!targetHasTags(*function.getParent()))
    return a64fx::lineBytes;
  if (unsigned known = target.getCacheLineSize())
    return known;
  StringRef machine = function.getFnAttribute("target-cpu").getValueAsString();
  return machine.empty() || machine == "generic" ? a64fx::lineBytes
                                                 : usualBytes;
}

/// \p distance in bytes.
static std::optional<int64_t> measure(const SCEV *distance, unsigned vscale) {
  auto *sum = dyn_cast<SCEVAddExpr>(distance);
  if (!sum) {
    std::optional<Distance> one = getDistance(distance);
    return one ? std::optional(one->bytes * (one->isScalable ? vscale : 1))
               : std::nullopt;
  }
  int64_t bytes = 0;
  for (const SCEV *operand : sum->operands()) {
    std::optional<int64_t> one = measure(operand, vscale);
    if (!one)
      return std::nullopt;
    bytes += *one;
  }
  return bytes;
}

namespace {
/// Accesses that walk along the same lines.
struct Stream {
  const SCEVAddRecExpr *address; ///< of the lowest one
  Instruction *access;           ///< the first of the loop
  int64_t step;                  ///< bytes of an iteration, as expected
  int64_t minStep;               ///< with registers of 128 bits
  int64_t bytes;                 ///< from the lowest on
  bool isWritten;
  int64_t lineBytes; ///< of a line
  /// Lines that an iteration of \p group iterations needs.
  uint64_t lines(uint64_t group) const {
    int64_t each = std::min(std::abs(step), bytes);
    return isSparse() ? divideCeil(uint64_t(each), lineBytes)
                      : divideCeil(uint64_t(std::abs(step)) * group, lineBytes);
  }
  /// Whether there are lines between those of two iterations.
  bool isSparse() const {
    return std::abs(step) > lineBytes && bytes < std::abs(step);
  }
};

class PrefetchWriter {
public:
  PrefetchWriter(Loop &loop, PrefetchLines lines,
                 FunctionAnalysisManager &analyses)
      : loop(loop), around(&loop), function(*loop.getHeader()->getParent()),
        lines(lines),
        scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        assuming(scev, loop),
        target(analyses.getResult<TargetIRAnalysis>(function)),
        vscale(target.getVScaleForTuning().value_or(1)),
        lineBytes(getLineBytes(function, target)),
        expander(makeExpander(scev, function, "mpg.prefetch")),
        number(Type::getInt64Ty(function.getContext())) {}
  PrefetchVerdict run();

private:
  /// One prefetch, as far as it is computed in front of the loop.
  struct Ahead {
    const Stream *stream;
    Value *advance; ///< bytes of a round
    unsigned level; ///< of the cache
    Value *address; ///< of the first round
  };
  std::optional<int64_t> expect(const SCEV *distance) const {
    return measure(distance, vscale);
  }
  bool addAccess(Instruction &access);
  void merge(const Stream &one);
  void leaveOutZeroed();
  bool fitL1() const;
  void findGroup();
  const char *whyNot();
  uint64_t count() const;
  const SCEV *getStart(const Stream &stream) const;
  const SCEV *getTimes() const;
  uint64_t linesOfStep(const Stream &stream) const;
  void addAhead(const Stream &stream, Instruction &end);
  void addPrefetches(BasicBlock &begin, BasicBlock &front, BasicBlock &last);

  Loop &loop;
  Loop *around; ///< the loop that gets the prefetches
  Function &function;
  PrefetchLines lines;
  ScalarEvolution &scev;
  PredicatedScalarEvolution assuming;
  const TargetTransformInfo &target;
  unsigned vscale; ///< of the machine that it is compiled for
  int64_t lineBytes;
  SCEVExpander expander;
  IntegerType *number;
  uint64_t group = 1; ///< iterations between two rounds of prefetches
  uint64_t inner = 1; ///< iterations of the loop in one of that around it
  SmallVector<Stream, 8> streams;
  SmallVector<Ahead, 16> ahead;
  MapVector<const SCEV *, Value *> advances; ///< bytes of a round, by step
};
} // namespace

// Streams

/// Bytes of an access, as far as that is known.
static int64_t getBytes(const Instruction &access, const Function &function,
                        int64_t unknown, unsigned vscale) {
  Type *type = access.getType();
  if (auto *store = dyn_cast<StoreInst>(&access))
    type = store->getValueOperand()->getType();
  else if (!isa<LoadInst>(access))
    return unknown;
  std::optional<Distance> size = getSize(type, function);
  return size ? size->bytes * (size->isScalable ? vscale : 1) : unknown;
}

/// Adds it to the streams. \returns false: the loop has prefetches already.
bool PrefetchWriter::addAccess(Instruction &access) {
  if (isPrefetch(access))
    return false;
  Use *use = taggableAddress(access);
  if (!use || !use->get()->getType()->isPointerTy())
    return true;
  // An assumption about counters may be wrong: then too little is prefetched.
  const SCEV *address = scev.getSCEV(*use);
  auto *line = dyn_cast<SCEVAddRecExpr>(address);
  if (!line && !scev.isLoopInvariant(address, &loop))
    line = dyn_cast_or_null<SCEVAddRecExpr>(assuming.getAsAddRec(*use));
  if (!line || line->getLoop() != &loop || !line->isAffine())
    return true;
  const SCEV *recurrence = line->getStepRecurrence(scev);
  std::optional<int64_t> step = expect(recurrence);
  if (!step || !*step)
    return true;
  merge({line, &access, *step, *measure(recurrence, 1),
         getBytes(access, function, std::abs(*step), vscale),
         access.mayWriteToMemory(), lineBytes});
  return true;
}

/// Of accesses that are less than a line apart only one is prefetched.
void PrefetchWriter::merge(const Stream &one) {
  for (Stream &known : streams) {
    if (known.address->getStepRecurrence(scev) !=
        one.address->getStepRecurrence(scev))
      continue;
    std::optional<int64_t> begin =
        expect(scev.getMinusSCEV(one.address, known.address));
    if (!begin)
      continue;
    int64_t end = *begin + one.bytes;
    if (*begin > known.bytes + lineBytes || end < -lineBytes)
      continue;
    if (*begin < 0)
      known.address = one.address;
    known.bytes = std::max(known.bytes, end) - std::min<int64_t>(*begin, 0);
    known.isWritten |= one.isWritten;
    return;
  }
  streams.push_back(one);
}

/// Streams of stores whose lines DC ZVA puts into the cache, if this loop does
/// the iterations of a round of zero fill. Then rounds get the prefetches, too.
void PrefetchWriter::leaveOutZeroed() {
  inner = getZeroedRound(loop);
  if (!inner) {
    inner = 1;
    return;
  }
  around = loop.getParentLoop();
  SmallVector<const SCEV *, 4> zeroed;
  for (BasicBlock *block : predecessors(loop.getLoopPreheader()))
    for (Instruction &instruction : *block)
      if (Value *address = zeroedAddress(instruction))
        zeroed.push_back(scev.getPointerBase(scev.getSCEV(address)));
  llvm::erase_if(streams, [&](const Stream &stream) {
    return stream.isWritten &&
           is_contained(zeroed, scev.getPointerBase(stream.address));
  });
}

/// Whether all variables that the streams walk along fit into L1 together.
bool PrefetchWriter::fitL1() const {
  SmallSetVector<const Value *, 8> objects;
  for (const Stream &stream : streams)
    objects.insert(getUnderlyingObject(*taggableAddress(*stream.access)));
  uint64_t all = 0;
  for (const Value *object : objects) {
    uint64_t size = 0;
    if (!getObjectSize(object, size, function.getDataLayout(),
                       /*TLI=*/nullptr))
      return false;
    all = SaturatingAdd(all, size);
  }
  return all <= a64fx::l1Bytes;
}

/// Of all streams, for each round.
uint64_t PrefetchWriter::count() const {
  uint64_t all = 0;
  for (const Stream &stream : streams)
    all += stream.lines(group * inner) *
           (unsigned(lines.l1 != 0) + unsigned(lines.l2 != 0));
  return all;
}

/// So that each round prefetches one line of the slowest stream.
void PrefetchWriter::findGroup() {
  if (around != &loop)
    return;
  int64_t shortest = lineBytes;
  for (const Stream &stream : streams)
    shortest = std::min(shortest, std::abs(stream.step));
  for (group = uint64_t(lineBytes / shortest);
       group > 1 && count() > maxPrefetches;)
    group /= 2;
}

// The loop

/// Null: unknown.
const SCEV *PrefetchWriter::getTimes() const {
  if (loop.getExitingBlock() != loop.getLoopLatch() ||
      !isa<BranchInst>(loop.getLoopLatch()->getTerminator()))
    return nullptr;
  const SCEV *times = countTimes(scev.getBackedgeTakenCount(&loop), scev);
  return times && expander.isSafeToExpandAt(
                      times, loop.getLoopPreheader()->getTerminator())
             ? times
             : nullptr;
}

/// Where \p stream begins, in front of the loop that gets the prefetches. Null:
/// not known there.
const SCEV *PrefetchWriter::getStart(const Stream &stream) const {
  const SCEV *start = stream.address->getStart();
  BasicBlock *front = around->getLoopPreheader();
  if (around != &loop && front)
    start = getFirstStart(start, *around, scev);
  return front && expander.isSafeToExpandAt(start, front->getTerminator())
             ? start
             : nullptr;
}

const char *PrefetchWriter::whyNot() {
  if (count() > maxPrefetches)
    return "it has too many streams";
  uint64_t times = scev.getSmallConstantMaxTripCount(&loop);
  int64_t longest = 0; // longer registers need fewer iterations
  for (const Stream &stream : streams)
    longest = std::max(longest, std::abs(stream.minStep));
  auto isShort = [&](unsigned ahead) {
    return around == &loop && times &&
           times * uint64_t(longest) <= ahead * uint64_t(lineBytes);
  };
  if (isShort(lines.l1))
    lines.l1 = 0;
  if (isShort(lines.l2))
    lines.l2 = 0;
  if (!lines.l1 && !lines.l2)
    return "it is too short";
  return group == 1 || getTimes()
             ? nullptr
             : "how often it runs is not known when it begins";
}

// Prefetches

/// That an iteration needs of the streams that jump as \p stream does: an
/// unrolled loop has several.
uint64_t PrefetchWriter::linesOfStep(const Stream &stream) const {
  uint64_t all = 0;
  for (const Stream &one : streams)
    if (one.address->getStepRecurrence(scev) ==
            stream.address->getStepRecurrence(scev) &&
        scev.getPointerBase(one.address) == scev.getPointerBase(stream.address))
      all += one.lines(1);
  return all;
}

/// Computes in front of the loop where the first prefetches of \p stream go to.
void PrefetchWriter::addAhead(const Stream &stream, Instruction &end) {
  const SCEV *step = stream.address->getStepRecurrence(scev);
  Value *&advance = advances[step];
  if (!advance)
    advance = expander.expandCodeFor(
        scev.getMulExpr(step, scev.getConstant(number, group * inner)), number,
        &end);
  Value *start = expander.expandCodeFor(getStart(stream), nullptr, &end);
  IRBuilder<> builder(&end);
  int64_t way = stream.step < 0 ? -lineBytes : lineBytes;
  for (unsigned level : {1, 2})
    for (uint64_t line = 0; line < stream.lines(group * inner); ++line) {
      unsigned count = level == 1 ? lines.l1 : lines.l2;
      if (!count)
        continue;
      Value *distance = builder.getInt64(uint64_t(way * int64_t(line)));
      Value *more =
          stream.isSparse()
              ? builder.CreateMul(
                    expander.expandCodeFor(step, number, &end),
                    builder.getInt64(divideCeil(count, linesOfStep(stream))))
              : builder.getInt64(uint64_t(way * int64_t(count)));
      distance = builder.CreateAdd(distance, more);
      // Frozen, so that loop strength reduction does not compute one address
      // from another in each iteration.
      ahead.push_back({&stream, advance, level,
                       builder.CreateFreeze(builder.CreateGEP(
                           builder.getInt8Ty(), start, distance))});
    }
}

/// In \p begin, which is reached from \p front and again from \p last.
void PrefetchWriter::addPrefetches(BasicBlock &begin, BasicBlock &front,
                                   BasicBlock &last) {
  MapVector<Value *, PHINode *> counters;
  for (auto &[step, advance] : advances) {
    PHINode *bytes = PHINode::Create(number, 2, "", begin.begin());
    counters[advance] = bytes;
    bytes->addIncoming(ConstantInt::get(number, 0), &front);
    IRBuilder<> builder(last.getTerminator());
    bytes->addIncoming(builder.CreateAdd(bytes, advance), &last);
  }
  IRBuilder<> builder(&begin, begin.getFirstInsertionPt());
  for (const Ahead &one : ahead) {
    builder.SetCurrentDebugLocation(one.stream->access->getDebugLoc());
    Value *address = builder.CreateGEP(builder.getInt8Ty(), one.address,
                                       counters[one.advance]);
    writePrefetch(*one.stream->access, one.stream->isWritten, one.level,
                  address, builder);
  }
}

PrefetchVerdict PrefetchWriter::run() {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (!addAccess(instruction))
        return {0, {}, 0, "it has prefetches already"};
  if (streams.empty() || !loop.getLoopLatch())
    return {};
  if (fitL1())
    return {0, {}, 0, "L1 holds what it accesses"};
  leaveOutZeroed();
  if (streams.empty())
    return {0, {}, 0, "its lines are zeroed ahead"};
  llvm::erase_if(streams, [&](const Stream &one) { return !getStart(one); });
  if (streams.empty())
    return {0, {}, 0, "where its streams begin is not known in front of it"};
  findGroup();
  if (const char *reason = whyNot())
    return {0, {}, 0, reason};
  BasicBlock *front = around->getLoopPreheader();
  Instruction *end = front->getTerminator();
  for (const Stream &stream : streams)
    addAhead(stream, *end);
  LoopRounds rounds = {around->getHeader(), around->getLoopLatch()};
  if (group > 1)
    rounds = divideLoop(loop, expander.expandCodeFor(getTimes(), number, end),
                        [&](IRBuilder<> &builder, Value *left) {
                          return builder.CreateBinaryIntrinsic(
                              Intrinsic::umin, left, builder.getInt64(group));
                        });
  expander.clear();
  addPrefetches(*rounds.begin, *front, *rounds.next);
  return {unsigned(streams.size()), lines, 0, nullptr};
}

PrefetchVerdict mpg::writePrefetches(Loop &loop, PrefetchLines lines,
                                     FunctionAnalysisManager &analyses) {
  return PrefetchWriter(loop, lines, analyses).run();
}
