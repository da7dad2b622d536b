// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop with stores past the caches:
//
//   round = elements that fill whole lines, of one iteration or more
//   one round from element 0 on, as it is
//   first = elements up to a line's border, less than a round
//   rounds from element first on, all but one of those that there are
//   then the loop goes on where as many rounds from element 0 would end

#include "base/Hint.h"
#include "base/PassOptions.h"
#include "base/Scev.h"
#include "stream/Stream.h"
#include "stream/StreamNest.h"
#include "llvm/ADT/bit.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace mpg;

/// Bytes of a line of every cache. HW:x86-l1d-way
static constexpr uint64_t x86LineBytes = 64;
/// Of a stream in one run of the loop. With less the fence costs too much.
static constexpr uint64_t minRunBytes = 4096;
/// Of prefetches.
static constexpr int64_t aheadBytes = 512;
/// Of the non-temporal stores of vectors, which must be aligned to their size
/// (emmintrin.h of clang 22; Intel SDM, MOVNTPD: read).
static constexpr uint64_t minVectorBytes = 16;

static constexpr char notIndependent[] =
    "the compiler has not made vectors of independent elements of it";

namespace {
class StreamWriter : StreamNest {
public:
  StreamWriter(Loop &loop, const StreamBody &body,
               FunctionAnalysisManager &analyses, const PassOptions &options)
      : StreamNest(loop, body.known, analyses, options.largeAlways), body(body),
        header(*loop.getHeader()) {}
  const char *write();

private:
  /// Memory that an instruction of the loop accesses.
  struct Access {
    const SCEVAddRecExpr *address;
    int64_t step;   ///< bytes for one element
    int64_t offset; ///< from the address
  };
  /// Vectors of the loop's header, and their values in an iteration.
  using Counts = SmallVector<std::pair<PHINode *, Value *>, 2>;
  Value *begin(const PHINode &phi) const {
    return phi.getIncomingValueForBlock(loop.getLoopPreheader());
  }
  bool canStream() const;
  const char *whyNot() const;
  uint64_t minElements() const;
  Value *countFirst(IRBuilder<> &builder);
  Value *areAligned(IRBuilder<> &builder, Instruction &end);
  Value *checkRun(Instruction &end);
  std::optional<Access> findAccess(Instruction &instruction) const;
  Value *findPlace(Instruction &instruction, Access &access,
                   IRBuilder<> &builder);
  void prefetch(const Instruction &load, Value &place, const Access &access,
                Value &address, IRBuilder<> &builder);
  void addCopy(Instruction &instruction, uint64_t turn,
               ValueToValueMapTy &copies, IRBuilder<> &builder);
  void addIterations(BasicBlock &block, Counts &counts);
  void fillOnce(BasicBlock &once);
  void fillMiddle(BasicBlock &middle, BasicBlock &once, BasicBlock &after);
  void connect(BasicBlock &front, BasicBlock &check, Value &isLarge, Value &go,
               const Loop *nest);

  const StreamBody &body;
  BasicBlock &header;
  uint64_t roundElements = 0;
  Value *first = nullptr;  ///< elements up to the border
  Value *passed = nullptr; ///< elements of all rounds
  /// The element that a round begins with. Null: none has begun.
  PHINode *element = nullptr;
  ValueToValueMapTy firstCopies; ///< of the first iteration
  /// Addresses of a block, with others at known distances from them.
  SmallVector<std::pair<Access, Value *>, 4> places;
  SmallVector<std::pair<Value *, int64_t>, 8> prefetched;
};
} // namespace

/// Whether all stores are of vectors, and aligned once the streams are.
bool StreamWriter::canStream() const {
  return llvm::all_of(known.streams, [&](const StoreStream &stream) {
    uint64_t step = stream.minStep * roundElements;
    return llvm::all_of(
        zip(stream.stores, stream.offsets), [&](const auto &part) {
          auto [store, offset] = part;
          auto *type =
              dyn_cast<FixedVectorType>(store->getValueOperand()->getType());
          if (!type || !store->isSimple())
            return false;
          const DataLayout &layout = header.getDataLayout();
          uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
          uint64_t scalar =
              layout.getTypeStoreSize(type->getElementType()).getFixedValue();
          return isPowerOf2_64(bytes) && bytes >= minVectorBytes &&
                 stream.minStep % scalar == 0 &&
                 (step | uint64_t(offset)) % std::min(bytes, x86LineBytes) == 0;
        });
  });
}

/// Elements below which the loop stays as it is.
uint64_t StreamWriter::minElements() const {
  uint64_t shortest = minRunBytes;
  for (const StoreStream &stream : known.streams)
    shortest = std::min(shortest, stream.minStep);
  return std::max(2 * roundElements, isAlways ? 0 : minRunBytes / shortest);
}

const char *StreamWriter::whyNot() const {
  Instruction *end = loop.getLoopPreheader()->getTerminator();
  Decision decision = findDecision(*end);
  if (!canStream())
    return notIndependent;
  if (!canExpand(*end) ||
      !expander.isSafeToExpandAt(decision.bytes, decision.place))
    return "how often it runs is not known when it begins";
  uint64_t times = scev.getSmallConstantMaxTripCount(&loop);
  if (times && times * body.elements < minElements())
    return "it is too short";
  return !isAlways && getMaxBytes(decision.bytes) <= minBytes()
             ? "the caches hold what it writes"
             : nullptr;
}

/// Elements of the first stream up to a line's border: a step of an odd number
/// of 2^n bytes meets each border of 2^n bytes.
Value *StreamWriter::countFirst(IRBuilder<> &builder) {
  const StoreStream &stream = known.streams[0];
  uint64_t step = stream.minStep;
  unsigned zeros = unsigned(llvm::countr_zero(step));
  if (step % x86LineBytes == 0)
    return builder.getInt64(0);
  uint64_t odd = step >> zeros, inverse = odd;
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

/// Whether after the first elements each stream is at a line's border.
Value *StreamWriter::areAligned(IRBuilder<> &builder, Instruction &end) {
  Value *rest = builder.getInt64(0);
  for (const StoreStream &stream : known.streams) {
    Value *start = builder.CreatePtrToInt(
        expander.expandCodeFor(stream.address->getStart(), nullptr, &end),
        number);
    Value *way = builder.CreateMul(first, builder.getInt64(stream.minStep));
    rest = builder.CreateOr(rest, builder.CreateAdd(start, way));
  }
  return builder.CreateIsNull(builder.CreateAnd(rest, x86LineBytes - 1));
}

/// Whether this run of the loop can begin at borders of lines.
Value *StreamWriter::checkRun(Instruction &end) {
  IRBuilder<> builder(&end);
  Value *elements = expander.expandCodeFor(known.times, number, &end);
  first = countFirst(builder);
  Value *go = builder.CreateICmpUGE(elements, builder.getInt64(minElements()));
  go = builder.CreateAnd(go, areAligned(builder, end));
  for (const StoreStream &stream : known.streams) {
    Value *start =
        expander.expandCodeFor(stream.address->getStart(), nullptr, &end);
    if (Value *isFree = isApart(stream, start, elements, end))
      go = builder.CreateAnd(go, isFree);
  }
  if (Value *isTrue = areAssumptionsTrue(end))
    go = builder.CreateAnd(go, isTrue);
  Value *round = builder.getInt64(roundElements);
  passed = builder.CreateSub(elements, builder.CreateURem(elements, round));
  passed = builder.CreateSub(passed, round);
  return go;
}

/// What \p instruction accesses. Nothing: the same place always, or none.
std::optional<StreamWriter::Access>
StreamWriter::findAccess(Instruction &instruction) const {
  for (const StoreStream &stream : known.streams)
    for (auto [store, offset] : zip(stream.stores, stream.offsets))
      if (store == &instruction)
        return Access{stream.address, int64_t(stream.minStep), offset};
  Value *pointer = getLoadStorePointerOperand(&instruction);
  if (!pointer || loop.isLoopInvariant(pointer))
    return std::nullopt;
  auto *line = cast<SCEVAddRecExpr>(scev.getSCEV(pointer));
  int64_t step = *smallConstant(line->getStepRecurrence(scev));
  return Access{line, step / int64_t(body.elements), 0};
}

/// An address from which the one of \p instruction has a known distance, which
/// becomes the offset of \p access.
Value *StreamWriter::findPlace(Instruction &instruction, Access &access,
                               IRBuilder<> &builder) {
  for (auto [other, place] : places)
    if (other.step == access.step)
      if (std::optional<int64_t> way =
              smallConstant(scev.getMinusSCEV(access.address, other.address))) {
        access.offset += *way;
        return place;
      }
  Value *place = firstCopies.lookup(getLoadStorePointerOperand(&instruction));
  if (element) {
    IRBuilder<> before(element->getIncomingBlock(0)->getTerminator());
    Value *step = builder.getInt64(uint64_t(access.step));
    place = before.CreatePtrAdd(place, before.CreateMul(first, step));
    place = before.CreatePtrAdd(place, builder.getInt64(-access.offset));
    // So that LLVM does not take the sum apart, into more registers.
    place = before.CreateFreeze(place);
    place = builder.CreatePtrAdd(place, builder.CreateMul(element, step));
  } else if (access.offset) {
    place = builder.CreatePtrAdd(place, builder.getInt64(-access.offset));
  }
  places.push_back({access, place});
  return place;
}

/// One prefetch for each line of each upwards stream that the loop reads. With
/// them a stencil of 512 MiB is a tenth faster, by one thread and by two.
void StreamWriter::prefetch(const Instruction &load, Value &place,
                            const Access &access, Value &address,
                            IRBuilder<> &builder) {
  int64_t length = access.step * int64_t(roundElements);
  if (length <= 0 || llvm::any_of(prefetched, [&](const auto &other) {
        int64_t rest = std::abs(access.offset - other.second) % length;
        return other.first == &place &&
               std::min(rest, length - rest) < int64_t(x86LineBytes);
      }))
    return;
  prefetched.push_back({&place, access.offset});
  Value *ahead = builder.CreatePtrAdd(&address, builder.getInt64(aheadBytes));
  writePrefetch(load, /*isWritten=*/false, 1, ahead, builder);
}

/// Lets \p store go past the caches.
static void makeStreamed(StoreInst &store) {
  LLVMContext &context = store.getContext();
  uint64_t bytes = store.getDataLayout()
                       .getTypeStoreSize(store.getValueOperand()->getType())
                       .getFixedValue();
  store.setAlignment(Align(std::min(bytes, x86LineBytes)));
  auto *one =
      ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), 1));
  store.setMetadata(LLVMContext::MD_nontemporal, MDNode::get(context, one));
}

/// Adds a copy of \p instruction, of iteration \p turn.
void StreamWriter::addCopy(Instruction &instruction, uint64_t turn,
                           ValueToValueMapTy &copies, IRBuilder<> &builder) {
  // Its parts need not be disjoint at other elements.
  Instruction *copy = isSum(instruction)
                          ? BinaryOperator::CreateAdd(instruction.getOperand(0),
                                                      instruction.getOperand(1))
                          : instruction.clone();
  std::optional<Access> access = findAccess(instruction);
  builder.SetCurrentDebugLocation(instruction.getDebugLoc());
  Value *address = nullptr;
  if (access && (element || turn)) {
    Value *place = findPlace(instruction, *access, builder);
    access->offset += access->step * int64_t(body.elements * turn);
    address =
        builder.CreatePtrAdd(place, builder.getInt64(uint64_t(access->offset)));
    if (element && isa<LoadInst>(copy))
      prefetch(instruction, *place, *access, *address, builder);
  }
  builder.Insert(copy);
  RemapInstruction(copy, copies,
                   RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
  copies[&instruction] = copy;
  auto *load = dyn_cast<LoadInst>(copy);
  auto *store = dyn_cast<StoreInst>(copy);
  if (address)
    copy->setOperand(load ? LoadInst::getPointerOperandIndex()
                          : StoreInst::getPointerOperandIndex(),
                     address);
  if (address && load)
    load->setAlignment(
        commonAlignment(load->getAlign(), uint64_t(access->step)));
  if (element && store)
    makeStreamed(*store);
}

/// Whether an iteration needs a copy of \p instruction. Only the first computes
/// addresses: those of the others have known distances from them.
static bool isCopied(const Instruction &instruction, bool isFirst) {
  if (isa<PHINode>(instruction) || instruction.isTerminator())
    return false;
  const Type *type = instruction.getType();
  return isa<StoreInst>(instruction) || type->isVectorTy() ||
         (isFirst && !isa<CmpInst>(instruction) && !type->isVoidTy());
}

/// Adds the iterations of a round to \p block, with vectors from \p counts on.
void StreamWriter::addIterations(BasicBlock &block, Counts &counts) {
  IRBuilder<> builder(&block);
  SmallVector<StoreInst *, 8> stores;
  for (uint64_t turn = 0; turn < roundElements / body.elements; ++turn) {
    bool isFirst = !element && !turn;
    ValueToValueMapTy more;
    ValueToValueMapTy &copies = isFirst ? firstCopies : more;
    for (auto [phi, value] : counts)
      copies[phi] = value;
    for (Instruction &instruction : header)
      if (isCopied(instruction, isFirst)) {
        addCopy(instruction, turn, copies, builder);
        if (isa<StoreInst>(instruction))
          stores.push_back(cast<StoreInst>(copies[&instruction]));
      }
    for (auto &[phi, value] : counts) {
      Value *next = phi->getIncomingValueForBlock(&header);
      Value *copy = copies.lookup(next);
      value = copy ? copy : next;
    }
  }
  // Reads between the parts of a line send them to memory one by one.
  for (StoreInst *store : stores)
    store->moveBefore(block, block.end());
}

/// The first iterations, as they are.
void StreamWriter::fillOnce(BasicBlock &once) {
  Counts counts;
  for (const ElementCounter &counter : body.counters) {
    Value *start = begin(*counter.phi);
    firstCopies[counter.phi] = start;
    if (start->getType()->isVectorTy())
      counts.push_back({counter.phi, start});
  }
  addIterations(once, counts);
}

/// The rounds, from \p once to \p after.
void StreamWriter::fillMiddle(BasicBlock &middle, BasicBlock &once,
                              BasicBlock &after) {
  IRBuilder<> before(BranchInst::Create(&middle, &once)), builder(&middle);
  places.clear();
  element = builder.CreatePHI(number, 2);
  element->addIncoming(builder.getInt64(0), &once);
  Counts counts;
  for (const ElementCounter &counter : body.counters)
    if (counter.phi->getType()->isVectorTy()) {
      PHINode *phi = builder.CreatePHI(counter.phi->getType(), 2);
      phi->addIncoming(advance(counter, begin(*counter.phi), first, before),
                       &once);
      counts.push_back({counter.phi, phi});
    }
  Counts phis = counts;
  addIterations(middle, counts);
  for (auto [phi, count] : zip(phis, counts))
    cast<PHINode>(phi.second)->addIncoming(count.second, &middle);
  Value *next = builder.CreateAdd(element, builder.getInt64(roundElements));
  element->addIncoming(next, &middle);
  builder.SetCurrentDebugLocation(loop.getStartLoc());
  builder.CreateCondBr(builder.CreateICmpEQ(next, passed), &after, &middle);
}

/// front, if isLarge -> check, if go -> once -> middle -> after -> join, the
/// loop's preheader now
void StreamWriter::connect(BasicBlock &front, BasicBlock &check, Value &isLarge,
                           Value &go, const Loop *nest) {
  LLVMContext &context = function.getContext();
  auto addBlock = [&](const char *name) {
    return BasicBlock::Create(context, name, &function);
  };
  BasicBlock *join = loop.getLoopPreheader();
  BasicBlock *once = addBlock("stream.once"), *middle = addBlock("stream");
  BasicBlock *after = addBlock("stream.done");
  auto branch = [join](BasicBlock &from, Value &condition, BasicBlock &to) {
    Instruction *jump = from.getTerminator();
    IRBuilder<>(jump).CreateCondBr(
        &condition, &to, join,
        MDBuilder(join->getContext()).createUnlikelyBranchWeights());
    jump->eraseFromParent();
  };
  if (nest)
    addFences(*nest, isLarge);
  branch(front, isLarge, check);
  branch(check, go, *once);
  fillOnce(*once);
  fillMiddle(*middle, *once, *after);
  IRBuilder<> builder(BranchInst::Create(join, after));
  builder.SetCurrentDebugLocation(loop.getStartLoc());
  if (!nest)
    addStoreFence(builder);
  for (const ElementCounter &counter : body.counters) {
    Value *start = begin(*counter.phi);
    Value *stop = advance(counter, start, passed, builder);
    PHINode *from = PHINode::Create(start->getType(), 4, "", join->begin());
    for (BasicBlock *before : predecessors(join))
      from->addIncoming(before == after ? stop : start, before);
    counter.phi->setIncomingValueForBlock(join, from);
  }
}

const char *StreamWriter::write() {
  uint64_t step = known.streams[0].minStep * body.elements;
  roundElements = body.elements * (x86LineBytes / std::gcd(x86LineBytes, step));
  if (const char *reason = whyNot())
    return reason;
  Instruction *end = loop.getLoopPreheader()->getTerminator();
  Decision decision = findDecision(*end);
  Value *isLarge = decide(decision, end);
  Loop *nest = findNest(*decision.place);
  BasicBlock *front = end->getParent();
  BasicBlock *check = SplitBlock(front, end, &dominators, &loops);
  Value *go = checkRun(*end);
  expander.clear();
  if (loop.getLoopPreheader() == check)
    SplitBlock(check, end, &dominators, &loops);
  connect(*front, *check, *isLarge, *go, nest);
  return nullptr;
}

const char *mpg::writeStreamLoop(Loop &loop, const StreamLoop &known,
                                 FunctionAnalysisManager &analyses,
                                 const PassOptions &options) {
  Function &function = *loop.getHeader()->getParent();
  std::optional<StreamBody> body = findStreamBody(
      loop, known, analyses.getResult<ScalarEvolutionAnalysis>(function));
  if (!body)
    return notIndependent;
  return StreamWriter(loop, *body, analyses, options).write();
}
