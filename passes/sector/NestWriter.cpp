// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a nest is divided, and the code for it:
//
//   token = -1
//   if (kept arrays fit into their ways && not with the streams into L2)
//     token = mpg_sector_begin(ways)
//   the nest, or the parallel region around it
//   mpg_sector_end(token)                          // -1: does nothing
//
// See SectorAuto.h.

#include "base/A64fx.h"
#include "base/ChangeLoops.h"
#include "base/Hint.h"
#include "hints/HintSource.h"
#include "sector/NestNumbers.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// Of L2, without the assistant core's. HW:a64fx-l2-way, HW:sector-ways
static constexpr uint64_t wayBytes = 512 << 10;
static constexpr uint64_t cacheBytes = l2Ways * wayBytes;
/// Kept arrays may fill three quarters of L2. A published table of 6 MiB lost
/// 3 % on one thread and won 9 % on twelve, so a team may fill more: its ways,
/// or all of L2 where elements are looked up, because most of them are still
/// there then. By the model lookups in 6.9 MiB gain a tenth.
static constexpr uint64_t maxKept = cacheBytes / 4 * 3;
static constexpr uint64_t maxKeptOfTeam = 12 * wayBytes;
static constexpr uint64_t maxLookedUpByTeam = cacheBytes;
/// Less is kept anyway, or worth nothing.
static constexpr uint64_t minKept = 128 << 10;
/// Kept arrays, and what is streamed between two uses of them: with less some
/// sets still hold all.
static constexpr uint64_t minTogether = (l2Ways + 1) * wayBytes;
/// Setting ways takes microseconds, which a shorter nest would not win back.
static constexpr uint64_t minStreamed = 16 << 20;

// Constants

namespace {
/// Sums of sizes; nothing where one is not a constant.
struct KnownBytes {
  std::optional<uint64_t> kept = 0, streamed = 0;
};
} // namespace

static std::optional<uint64_t> constantSize(const ArraySize &size) {
  auto *bytes = dyn_cast_or_null<SCEVConstant>(size.bytes);
  if (!bytes || !size.loaded.empty() || !size.product.empty())
    return std::nullopt;
  return bytes->getAPInt().getLimitedValue(uint64_t(1) << 48);
}

static KnownBytes countKnown(const Nest &nest) {
  KnownBytes known;
  for (const NestArray &array : nest.arrays) {
    if (array.kind == NestArray::other)
      continue;
    auto &sum = array.kind == NestArray::kept ? known.kept : known.streamed;
    std::optional<uint64_t> one = constantSize(array.size);
    sum = sum && one ? std::optional(*sum + *one) : std::nullopt;
  }
  return known;
}

static uint64_t getLimit(const Nest &nest, const NestPlace &place) {
  if (!place.region)
    return maxKept;
  return nest.isRandom ? maxLookedUpByTeam : maxKeptOfTeam;
}

static const char *whyNotBySize(const Nest &nest, const NestPlace &place,
                                const KnownBytes &known) {
  if (known.kept && *known.kept > getLimit(nest, place))
    return "what is used again does not fit into its ways";
  if (known.kept && *known.kept < minKept)
    return "what is used again is small";
  if (!known.streamed)
    return nullptr;
  if (*known.streamed < minStreamed)
    return "what is used once is not much";
  if (!known.kept)
    return nullptr;
  auto *times = dyn_cast<SCEVConstant>(nest.times);
  if (!nest.isRandom && !times)
    return nullptr;
  uint64_t between = *known.streamed;
  if (!nest.isRandom)
    between = between / times->getAPInt().getLimitedValue() *
              (place.region ? a64fx::threadsOfL2 : 1);
  return between + *known.kept <= minTogether ? "L2 holds it without a division"
                                              : nullptr;
}

/// The place in front of the nest or region.
static Instruction *findFront(const Nest &nest, const NestPlace &place) {
  return place.region ? place.region->fork
                      : nest.loop->getLoopPredecessor()->getTerminator();
}

NestVerdict mpg::judge(const Nest &nest, const NestPlace &place) {
  NestVerdict verdict;
  Instruction *front = findFront(nest, place);
  if (isa<IndirectBrInst>(front)) { // a begin there might have no end
    verdict.reason = "a jump to a computed address leads to it";
    return verdict;
  }
  NumberWriter writer(place, front, front->getContext());
  unsigned streams = 0;
  for (const NestArray &array : nest.arrays) {
    streams += array.kind == NestArray::stream;
    if (array.kind == NestArray::other || writer.isKnown(array.size))
      continue;
    verdict.reason = array.kind == NestArray::kept
                         ? "the size of what is used again is not known in "
                           "front of it"
                         : "how much it uses once is not known in front of it";
    return verdict;
  }
  if (!nest.times || !writer.isKnown(nest.times) || !writer.isLastKnown()) {
    verdict.reason = "how often it runs is not known in front of it";
    return verdict;
  }
  KnownBytes known = countKnown(nest);
  verdict.reason = whyNotBySize(nest, place, known);
  verdict.isAsked = !known.kept || !known.streamed ||
                    (!nest.isRandom && !isa<SCEVConstant>(nest.times));
  if (verdict.isAsked && !place.region && !verdict.reason &&
      nest.loop->isInnermost() && nest.loop->getParentLoop())
    verdict.reason = "its sizes would be compared again and again";
  // What a stream prefetches must not displace another's.
  verdict.ways = streams > 2 ? 2 : 1;
  return verdict;
}

// The calls

/// Whether dividing pays, by sizes at run time.
static Value *compare(const Nest &nest, const NestPlace &place,
                      const NumberWriter &writer, IRBuilder<> &builder) {
  Value *kept = builder.getInt64(0), *streamed = builder.getInt64(0);
  for (const NestArray &array : nest.arrays) {
    if (array.kind == NestArray::other)
      continue;
    Value *&sum = array.kind == NestArray::kept ? kept : streamed;
    sum = builder.CreateAdd(sum, writer.write(array.size, builder));
  }
  Value *between = streamed;
  if (!nest.isRandom) {
    Value *times = writer.write(nest.times, builder);
    Value *some = builder.CreateBinaryIntrinsic(Intrinsic::umax, times,
                                                builder.getInt64(1));
    between = builder.CreateUDiv(streamed, some);
    if (place.region)
      between =
          builder.CreateMul(between, builder.getInt64(a64fx::threadsOfL2));
  }
  Value *fits = builder.CreateICmpULT(
      builder.CreateSub(kept, builder.getInt64(minKept)),
      builder.getInt64(getLimit(nest, place) - minKept + 1));
  Value *pays = builder.CreateICmpSGE(streamed, builder.getInt64(minStreamed));
  Value *displaces = builder.CreateICmpSGT(builder.CreateAdd(kept, between),
                                           builder.getInt64(minTogether));
  return builder.CreateAnd(builder.CreateAnd(fits, pays), displaces);
}

/// As compare(), where a team may have nothing to do: then the elements that it
/// reads are not there.
static Value *compareIfAny(const Nest &nest, const NestPlace &place,
                           const NumberWriter &writer, Instruction *front) {
  IRBuilder<> builder(front);
  Value *any = writer.isAnyIteration(builder);
  BasicBlock *before = front->getParent();
  Instruction *then = SplitBlockAndInsertIfThen(any, front, false);
  builder.SetInsertPoint(then);
  Value *pays = compare(nest, place, writer, builder);
  builder.SetInsertPoint(front->getParent(), front->getParent()->begin());
  PHINode *either = builder.CreatePHI(pays->getType(), 2);
  either->addIncoming(pays, then->getParent());
  either->addIncoming(builder.getFalse(), before);
  return either;
}

static void callEnd(const SectorCalls &calls, Value *token,
                    BasicBlock::iterator before) {
  IRBuilder<> builder(before->getParent(), before);
  builder.CreateCall(calls.end, token);
}

void mpg::writeNest(const Nest &nest, const NestPlace &place,
                    const NestVerdict &verdict) {
  Module &module = *nest.loop->getHeader()->getModule();
  SectorCalls calls = findSectorCalls(module);
  if (!calls.areThere())
    return;
  if (!place.region && !nest.loop->getLoopPreheader())
    InsertPreheaderForLoop(nest.loop, nullptr, nullptr, nullptr,
                           /*PreserveLCSSA=*/false);
  Instruction *front = findFront(nest, place);
  Ways asked;
  asked.l2 = verdict.ways;
  GlobalVariable *ways = waysConstant(module, asked, /*areShared=*/true);
  NumberWriter writer(place, front, module.getContext());
  IRBuilder<> builder(front);
  Instruction *end = place.region ? front->getNextNode() : nullptr;
  Value *token = nullptr;
  if (verdict.isAsked) {
    Value *pays = place.region ? compareIfAny(nest, place, writer, front)
                               : compare(nest, place, writer, builder);
    BasicBlock *before = front->getParent();
    Instruction *then = SplitBlockAndInsertIfThen(pays, front, false);
    builder.SetInsertPoint(then);
    Value *given = builder.CreateCall(calls.begin, ways);
    builder.SetInsertPoint(front->getParent(), front->getParent()->begin());
    PHINode *either = builder.CreatePHI(given->getType(), 2);
    either->addIncoming(given, then->getParent());
    either->addIncoming(ConstantInt::getSigned(given->getType(), -1), before);
    token = either;
  } else {
    token = builder.CreateCall(calls.begin, ways);
  }
  if (end)
    callEnd(calls, token, end->getIterator());
  else
    for (BasicBlock *exit : makeOwnExits(*nest.loop, ".sector"))
      callEnd(calls, token, exit->getFirstInsertionPt());
}
