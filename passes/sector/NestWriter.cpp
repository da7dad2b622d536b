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
#include "openmp/Allocations.h"
#include "sector/SectorAuto.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
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

namespace {
/// Writes numbers of a nest at the place where its ways are set.
class NumberWriter {
public:
  NumberWriter(const NestPlace &place, Instruction *at, LLVMContext &context)
      : place(place), at(at), number(Type::getInt64Ty(context)) {}
  bool isKnown(const SCEV *expression) const;
  bool isKnown(const ArraySize &size) const;
  Value *write(const SCEV *expression, IRBuilder<> &builder) const;
  Value *write(const ArraySize &size, IRBuilder<> &builder) const;
  /// Whether isAnyIteration() can be written.
  bool isLastKnown() const {
    if (!place.region)
      return true;
    const Value *begin = place.sharing->begin;
    return place.sharing->last && isKnown(place.sharing->last) &&
           (!begin || isa<ConstantInt>(begin));
  }
  /// Whether the team has an iteration to share.
  Value *isAnyIteration(IRBuilder<> &builder) const {
    Value *last = get(place.sharing->last, builder);
    Value *begin = place.sharing->begin;
    return builder.CreateICmpSGE(
        last, begin ? begin : Constant::getNullValue(last->getType()));
  }

private:
  bool isKnown(const Value *value, unsigned depth = 0) const;
  Value *get(Value *value, IRBuilder<> &builder) const;
  bool isBoundLoad(const Value *value, const Value *variable) const;
  Value *fold(const SCEVNAryExpr &expression, IRBuilder<> &builder) const;
  std::optional<Allocation> findObject(const Value &pointer) const;

  const NestPlace &place;
  Instruction *at;
  IntegerType *number;
};
} // namespace

/// Whether \p value is the thread's first or last iteration, in \p variable.
bool NumberWriter::isBoundLoad(const Value *value,
                               const Value *variable) const {
  auto *load = dyn_cast<LoadInst>(value);
  return load && variable && load->getPointerOperand() == variable;
}

/// Memory that is there in front of the region.
static bool isReadable(const Value *address) {
  return isa<AllocaInst, GlobalVariable>(
      address->stripInBoundsConstantOffsets());
}

bool NumberWriter::isKnown(const Value *value, unsigned depth) const {
  constexpr unsigned maxDepth = 6;
  if (isa<Constant>(value))
    return true;
  if (!place.region)
    return isa<Argument>(value) ||
           place.dominators->dominates(cast<Instruction>(value), at);
  if (depth > maxDepth)
    return false;
  if (auto *argument = dyn_cast<Argument>(value)) {
    Value *operand = place.region->operandFor(argument->getArgNo());
    return operand && operand->getType() == argument->getType();
  }
  if (place.sharing && (isBoundLoad(value, place.sharing->lower) ||
                        isBoundLoad(value, place.sharing->upper)))
    return place.sharing->last && isKnown(place.sharing->last, depth + 1);
  if (auto *load = dyn_cast<LoadInst>(value)) {
    auto *address = dyn_cast<Argument>(load->getPointerOperand());
    Value *operand =
        address ? place.region->operandFor(address->getArgNo()) : nullptr;
    return load->isSimple() &&
           (isa<GlobalVariable>(load->getPointerOperand()) ||
            (operand && isReadable(operand)));
  }
  auto *operation = dyn_cast<BinaryOperator>(value);
  if (isa<CastInst>(value) || (operation && !operation->isIntDivRem()))
    return all_of(cast<Instruction>(value)->operands(), [&](const Use &use) {
      return isKnown(use.get(), depth + 1);
    });
  return false;
}

/// \p value where the ways are set; it is known there.
Value *NumberWriter::get(Value *value, IRBuilder<> &builder) const {
  if (!place.region || isa<Constant>(value))
    return value;
  if (auto *argument = dyn_cast<Argument>(value))
    return place.region->operandFor(argument->getArgNo());
  if (place.sharing && isBoundLoad(value, place.sharing->lower)) {
    Value *begin = place.sharing->begin;
    return isa_and_nonnull<Constant>(begin)
               ? begin
               : Constant::getNullValue(value->getType());
  }
  if (place.sharing && isBoundLoad(value, place.sharing->upper))
    return get(place.sharing->last, builder);
  if (auto *load = dyn_cast<LoadInst>(value))
    return builder.CreateAlignedLoad(load->getType(),
                                     get(load->getPointerOperand(), builder),
                                     load->getAlign());
  Instruction *copy = cast<Instruction>(value)->clone();
  for (Use &use : copy->operands())
    use.set(get(use.get(), builder));
  copy->dropPoisonGeneratingFlags();
  return builder.Insert(copy);
}

bool NumberWriter::isKnown(const SCEV *expression) const {
  return expression && !SCEVExprContains(expression, [&](const SCEV *part) {
           if (auto *unknown = dyn_cast<SCEVUnknown>(part))
             return !isKnown(unknown->getValue());
           if (auto *division = dyn_cast<SCEVUDivExpr>(part))
             return !isa<SCEVConstant>(division->getRHS());
           return !isa<SCEVConstant, SCEVCastExpr, SCEVAddExpr, SCEVMulExpr,
                       SCEVUDivExpr, SCEVMinMaxExpr, SCEVSequentialMinMaxExpr>(
               part);
         });
}

/// The only value that \p variable ever has; null: not known.
static Value *findOnlyValue(const AllocaInst &variable) {
  Value *only = nullptr;
  for (const User *user : variable.users()) {
    auto *store = dyn_cast<StoreInst>(user);
    auto *call = dyn_cast<CallBase>(user);
    if (store && store->getPointerOperand() == &variable && !only)
      only = const_cast<Value *>(store->getValueOperand());
    else if (!isa<LoadInst>(user) &&
             !(call && (findStart(*call) || call->isLifetimeStartOrEnd())))
      return nullptr;
  }
  return only;
}

/// The allocation, in front of the region, of what \p pointer of the region's
/// body points to.
std::optional<Allocation> NumberWriter::findObject(const Value &pointer) const {
  auto *load = dyn_cast<LoadInst>(&pointer);
  auto *argument =
      dyn_cast<Argument>(load ? load->getPointerOperand() : &pointer);
  if (!place.region || !argument)
    return std::nullopt;
  Value *operand = place.region->operandFor(argument->getArgNo());
  auto *variable = dyn_cast_or_null<AllocaInst>(operand);
  if (load)
    operand = variable ? findOnlyValue(*variable) : nullptr;
  auto *call = dyn_cast_or_null<CallBase>(operand);
  std::optional<Allocation> fresh =
      call ? findAllocation(*call) : std::optional<Allocation>();
  return fresh && place.dominators->dominates(call, at) ? fresh : std::nullopt;
}

bool NumberWriter::isKnown(const ArraySize &size) const {
  if (size.object)
    return bool(findObject(*size.object));
  return isKnown(size.bytes) &&
         all_of(size.product,
                [&](const SCEV *address) { return isKnown(address); }) &&
         all_of(size.loaded, [&](const ArraySize::Difference &one) {
           return isKnown(one.last) && isKnown(one.first);
         });
}

static Intrinsic::ID getMinMax(const SCEV &expression) {
  switch (expression.getSCEVType()) {
  case scUMaxExpr:
    return Intrinsic::umax;
  case scSMaxExpr:
    return Intrinsic::smax;
  case scSMinExpr:
    return Intrinsic::smin;
  default:
    return Intrinsic::umin; // the sequential one, too
  }
}

Value *NumberWriter::fold(const SCEVNAryExpr &expression,
                          IRBuilder<> &builder) const {
  // A pointer first: what is added to it are bytes.
  Value *result = nullptr;
  for (const SCEV *operand : expression.operands())
    if (operand->getType()->isPointerTy())
      result = write(operand, builder);
  for (const SCEV *operand : expression.operands()) {
    if (operand->getType()->isPointerTy())
      continue;
    Value *one = write(operand, builder);
    if (!result)
      result = one;
    else if (result->getType()->isPointerTy())
      result = builder.CreateGEP(builder.getInt8Ty(), result, one);
    else if (isa<SCEVAddExpr>(expression))
      result = builder.CreateAdd(result, one);
    else if (isa<SCEVMulExpr>(expression))
      result = builder.CreateMul(result, one);
    else
      result =
          builder.CreateBinaryIntrinsic(getMinMax(expression), result, one);
  }
  return result;
}

Value *NumberWriter::write(const SCEV *expression, IRBuilder<> &builder) const {
  if (auto *constant = dyn_cast<SCEVConstant>(expression))
    return constant->getValue();
  if (auto *unknown = dyn_cast<SCEVUnknown>(expression))
    return get(unknown->getValue(), builder);
  if (auto *division = dyn_cast<SCEVUDivExpr>(expression))
    return builder.CreateUDiv(write(division->getLHS(), builder),
                              write(division->getRHS(), builder));
  if (auto *several = dyn_cast<SCEVNAryExpr>(expression))
    return fold(*several, builder);
  auto *cast = llvm::cast<SCEVCastExpr>(expression);
  Value *from = write(cast->getOperand(), builder);
  Type *to = cast->getType();
  if (isa<SCEVSignExtendExpr>(cast))
    return builder.CreateSExt(from, to);
  if (isa<SCEVZeroExtendExpr>(cast))
    return builder.CreateZExt(from, to);
  return isa<SCEVTruncateExpr>(cast) ? builder.CreateTrunc(from, to)
                                     : builder.CreatePtrToInt(from, to);
}

Value *NumberWriter::write(const ArraySize &size, IRBuilder<> &builder) const {
  if (size.object) {
    Allocation fresh = *findObject(*size.object);
    Value *bytes = builder.CreateZExtOrTrunc(fresh.bytes, number);
    return fresh.count ? builder.CreateMul(bytes, builder.CreateZExtOrTrunc(
                                                      fresh.count, number))
                       : bytes;
  }
  Value *sum = write(size.bytes, builder);
  if (!size.product.empty())
    sum = builder.getInt64(1);
  for (const SCEV *address : size.product)
    sum = builder.CreateMul(
        sum,
        builder.CreateAlignedLoad(number, write(address, builder), Align(8)));
  for (const ArraySize::Difference &one : size.loaded) {
    auto load = [&](const SCEV *address) {
      Value *value = builder.CreateAlignedLoad(
          one.type, write(address, builder), Align(1));
      return one.type->isPointerTy() ? builder.CreatePtrToInt(value, number)
                                     : builder.CreateSExtOrTrunc(value, number);
    };
    Value *elements = builder.CreateSub(load(one.last), load(one.first));
    sum = builder.CreateAdd(
        sum, builder.CreateMul(elements, builder.getInt64(one.factor)));
  }
  return sum;
}

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
