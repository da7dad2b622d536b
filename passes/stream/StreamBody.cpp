// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether an iteration of a vectorised loop could begin at any element, not
// only at a multiple of as many as it does at once.
//
// The vectoriser makes all lanes of an iteration alike, but for what it has
// found to be the same in all of them, such as x[i / 8], or in all iterations,
// such as the lanes' own numbers. StreamMarker.cpp has found the loops that use
// no bits of these numbers. So that nothing else of this kind is in the way,
// the header's values must grow by the elements, wide accesses must leave no
// gap, a vector that the loop does not change must be one number, and no scalar
// of the loop may get into a vector, or out of one. Scalars are for linear
// addresses alone.

#include "base/Scev.h"
#include "base/StoreStreams.h"
#include "stream/Stream.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace mpg;

namespace {
class BodyReader {
public:
  BodyReader(const Loop &loop, const StreamLoop &known, ScalarEvolution &scev)
      : loop(loop), known(known), scev(scev),
        layout(loop.getHeader()->getDataLayout()) {}
  std::optional<StreamBody> run();

private:
  std::optional<int64_t> getStep(PHINode &phi) const;
  std::optional<int64_t> getLaneStep(PHINode &phi) const;
  bool isSame(const Value *value) const;
  bool isAlike(Instruction &instruction);
  bool isWide(Value &address, Type &type);
  bool isInvariant(const Value *value) const {
    return loop.isLoopInvariant(value);
  }
  bool hasNoGaps() const;
  bool count(StreamBody &body) const;

  struct Access {
    const SCEVAddRecExpr *address;
    int64_t step, bytes;
  };
  const Loop &loop;
  const StreamLoop &known;
  ScalarEvolution &scev;
  const DataLayout &layout;
  int64_t elements = 0;
  SmallVector<Access, 8> reads;
};
} // namespace

/// Bytes or numbers that \p phi grows by in one iteration. Nothing: not known.
std::optional<int64_t> BodyReader::getStep(PHINode &phi) const {
  if (!scev.isSCEVable(phi.getType()))
    return std::nullopt;
  auto *line = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(&phi));
  return line && line->getLoop() == &loop && line->isAffine()
             ? smallConstant(line->getStepRecurrence(scev))
             : std::nullopt;
}

/// What \p phi, a vector of numbers, grows by from lane to lane, and so from
/// iteration to iteration. Nothing: it does not.
std::optional<int64_t> BodyReader::getLaneStep(PHINode &phi) const {
  Value *start = phi.getIncomingValueForBlock(loop.getLoopPreheader());
  Value *next = phi.getIncomingValueForBlock(loop.getLoopLatch());
  Value *base = nullptr;
  Constant *lanes = nullptr;
  const APInt *step = nullptr, *first = nullptr, *second = nullptr;
  auto *type = dyn_cast<FixedVectorType>(phi.getType());
  if (!type || !match(next, m_c_Add(m_Specific(&phi), m_APInt(step))) ||
      !(match(start, m_Constant(lanes)) ||
        (match(start, m_c_Add(m_Value(base), m_Constant(lanes))) &&
         isSplatValue(base))))
    return std::nullopt;
  auto getLane = [&](unsigned lane, const APInt *&value) {
    return match(lanes->getAggregateElement(lane), m_APInt(value));
  };
  if (!getLane(0, first) || !getLane(1, second))
    return std::nullopt;
  APInt way = *second - *first;
  for (unsigned lane = 2; lane < type->getNumElements(); ++lane)
    if (!getLane(lane, second) || *second - *first != way * lane)
      return std::nullopt;
  return way * APInt(64, uint64_t(elements)).zextOrTrunc(way.getBitWidth()) ==
                     *step &&
                 way.getSignificantBits() <= 32
             ? std::optional(way.getSExtValue())
             : std::nullopt;
}

/// Whether an access to \p type at \p address has the elements' places, or is
/// of one number, the same in all iterations.
bool BodyReader::isWide(Value &address, Type &type) {
  if (isInvariant(&address))
    return !type.isVectorTy();
  auto *line = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(&address));
  if (!isa<FixedVectorType>(type) || !line || line->getLoop() != &loop ||
      !line->isAffine())
    return false;
  std::optional<int64_t> step = smallConstant(line->getStepRecurrence(scev));
  if (!step || !*step || *step % elements)
    return false;
  reads.push_back({line, *step, int64_t(layout.getTypeStoreSize(&type))});
  return true;
}

/// Whether the reads of one iteration leave no gap before those of the next.
bool BodyReader::hasNoGaps() const {
  return llvm::all_of(reads, [&](const Access &one) {
    int64_t length = std::abs(one.step);
    SmallVector<std::pair<int64_t, int64_t>, 8> parts;
    for (const Access &other : reads) {
      std::optional<int64_t> way =
          smallConstant(scev.getMinusSCEV(other.address, one.address));
      if (!way || other.step != one.step)
        continue;
      int64_t begin = (*way % length + length) % length;
      parts.push_back({begin, begin + other.bytes});
      parts.push_back({begin - length, begin - length + other.bytes});
    }
    llvm::sort(parts);
    int64_t end = 0;
    for (auto [from, to] : parts)
      if (from <= end)
        end = std::max(end, to);
    return end >= length;
  });
}

/// Whether \p shuffle moves the lanes of each element in the same way: it
/// reverses, joins, parts, interleaves or deinterleaves vectors. Others choose
/// by the number of a lane. With two lanes the latter look like the former.
static bool movesAlike(const ShuffleVectorInst &shuffle) {
  ArrayRef<int> mask = shuffle.getShuffleMask();
  auto *type = cast<FixedVectorType>(shuffle.getOperand(0)->getType());
  unsigned inputs = 2 * type->getNumElements();
  int first = 0;
  if (shuffle.isSelect())
    return false;
  if (shuffle.isReverse() || shuffle.isConcat() ||
      shuffle.isIdentityWithPadding())
    return true;
  if (shuffle.isExtractSubvectorMask(first))
    return first % int(mask.size()) == 0;
  for (unsigned factor = 2; factor <= mask.size() / 2; ++factor)
    if (ShuffleVectorInst::isInterleaveMask(mask, factor, inputs) ||
        ShuffleVectorInst::isDeInterleaveMaskOfFactor(mask, factor))
      return true;
  return false;
}

static ElementCount getLanes(const Value &value) {
  auto *type = dyn_cast<VectorType>(value.getType());
  return type ? type->getElementCount() : ElementCount::getFixed(1);
}

/// Whether \p instruction, of vectors, does the same in all lanes.
static bool isLaneWise(const Instruction &instruction) {
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
    return movesAlike(*shuffle);
  if (auto *call = dyn_cast<CallInst>(&instruction)) {
    Intrinsic::ID which = call->getIntrinsicID();
    return !which || which == Intrinsic::masked_gather ||
           isTriviallyVectorizable(which);
  }
  if (isa<BitCastInst>(instruction))
    return getLanes(instruction) == getLanes(*instruction.getOperand(0));
  return isa<BinaryOperator, UnaryOperator, CastInst, CmpInst, SelectInst,
             FreezeInst, GetElementPtrInst>(instruction);
}

/// Whether the scalar result of \p instruction may be part of an address.
static bool isLinear(const Instruction &instruction) {
  switch (instruction.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::Shl:
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::GetElementPtr:
    return true;
  case Instruction::ICmp: // of the loop's end
    return llvm::all_of(instruction.users(),
                        [](const User *user) { return isa<BranchInst>(user); });
  default:
    return isSum(instruction);
  }
}

/// Whether the loop changes \p value, or all its lanes are alike. Otherwise
/// they may be numbers of elements, in bytes, of an iteration of 256.
bool BodyReader::isSame(const Value *value) const {
  return !isInvariant(value) || !value->getType()->isVectorTy() ||
         isSplatValue(value);
}

/// Whether \p instruction does the same for each lane.
bool BodyReader::isAlike(Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return isWide(*load->getPointerOperand(), *load->getType());
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return isSame(store->getValueOperand()) &&
           llvm::any_of(known.streams, [&](const StoreStream &stream) {
             return is_contained(stream.stores, store);
           });
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (call && call->isAssumeLikeIntrinsic())
    return true;
  if (instruction.mayWriteToMemory())
    return false;
  bool isVector = instruction.getType()->isVectorTy();
  bool isPure = llvm::all_of(instruction.operands(), [&](const Value *value) {
    return isSame(value) &&
           (isInvariant(value) || value->getType()->isVectorTy() == isVector);
  });
  return isPure && (isVector ? isLaneWise(instruction) : isLinear(instruction));
}

std::optional<StreamBody> BodyReader::run() {
  BasicBlock *block = loop.getHeader();
  if (loop.getNumBlocks() != 1 || !isMarkedAlone(loop) ||
      !getBooleanLoopAttribute(&loop, "llvm.loop.isvectorized"))
    return std::nullopt;
  StreamBody body;
  for (PHINode &phi : block->phis()) {
    std::optional<int64_t> step = getStep(phi);
    Value *start = phi.getIncomingValueForBlock(loop.getLoopPreheader());
    bool counts = step && match(start, m_ZeroInt()) && *step > 0;
    if (counts && (!elements || *step < elements)) {
      elements = *step;
      body.index = body.counters.size();
    }
    body.counters.push_back({&phi, step.value_or(0)});
  }
  if (!elements)
    return std::nullopt;
  body.elements = uint64_t(elements);
  for (ElementCounter &counter : body.counters) {
    if (counter.phi->getType()->isVectorTy())
      if (std::optional<int64_t> step = getLaneStep(*counter.phi)) {
        counter.step = *step;
        continue;
      }
    if (!counter.step || counter.step % elements)
      return std::nullopt;
    counter.step /= elements;
  }
  bool isRegular = llvm::all_of(*block, [&](Instruction &instruction) {
    return isa<PHINode>(instruction) || instruction.isTerminator() ||
           isAlike(instruction);
  });
  return isRegular && hasNoGaps() && count(body) ? std::optional(body)
                                                 : std::nullopt;
}

/// Counts elements, not iterations. \returns false if that is not possible.
bool BodyReader::count(StreamBody &body) const {
  PHINode *counter = body.counters[body.index].phi;
  Value *end = nullptr;
  auto *jump = cast<BranchInst>(loop.getLoopLatch()->getTerminator());
  if (!match(jump->getCondition(),
             m_SpecificICmp(ICmpInst::ICMP_EQ,
                            m_Specific(counter->getIncomingValueForBlock(
                                loop.getLoopLatch())),
                            m_Value(end))) ||
      !isInvariant(end) || !end->getType()->isIntegerTy(64))
    return false;
  body.known = known;
  body.known.times = scev.getSCEV(end);
  auto divide = [&](const SCEV *&step) {
    std::optional<int64_t> bytes = smallConstant(step);
    if (!bytes || !*bytes || *bytes % elements)
      return false;
    step = scev.getConstant(step->getType(), uint64_t(*bytes / elements), true);
    return true;
  };
  return llvm::all_of(body.known.streams, [&](StoreStream &stream) {
    stream.minStep /= uint64_t(elements);
    return divide(stream.step) &&
           llvm::all_of(stream.reads, [&](ReadRange &range) {
             return range.step->isZero() || divide(range.step);
           });
  });
}

bool mpg::isSum(const Instruction &instruction) {
  auto *either = dyn_cast<PossiblyDisjointInst>(&instruction);
  return either && either->isDisjoint();
}

std::optional<StreamBody> mpg::findStreamBody(const Loop &loop,
                                              const StreamLoop &known,
                                              ScalarEvolution &scev) {
  return BodyReader(loop, known, scev).run();
}

Value *mpg::advance(const ElementCounter &counter, Value *start,
                    Value *elements, IRBuilderBase &builder) {
  Type *type = start->getType();
  if (type->isPointerTy())
    return builder.CreatePtrAdd(
        start,
        builder.CreateMul(elements, builder.getInt64(uint64_t(counter.step))));
  Type *scalar = type->getScalarType();
  Value *way = builder.CreateMul(
      builder.CreateZExtOrTrunc(elements, scalar),
      ConstantInt::get(scalar, uint64_t(counter.step), /*IsSigned=*/true));
  if (auto *vector = dyn_cast<VectorType>(type))
    way = builder.CreateVectorSplat(vector->getElementCount(), way);
  return builder.CreateAdd(start, way);
}
