// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StoreStreams.h. zfill/Zfill.h has the rules.

#include "base/StoreStreams.h"
#include "base/Access.h"
#include "base/PassOptions.h"
#include "base/Scev.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <algorithm>
#include <optional>

using namespace llvm;
using namespace mpg;

// Streams

namespace {
class StreamFinder {
public:
  StreamFinder(Loop &loop, FunctionAnalysisManager &analyses,
               const PassOptions &options, StreamUse use)
      : loop(loop), function(*loop.getHeader()->getParent()), options(options),
        use(use), scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        aliases(analyses.getResult<AAManager>(function)),
        layout(function.getParent()->getDataLayout()), assuming(scev, loop) {}
  StreamLoop run();

private:
  struct Part {
    StoreInst *store;
    int64_t offset, bytes;
    bool isScalable;
  };
  struct Group {
    const SCEVAddRecExpr *address;
    Distance step;
    SmallVector<Part, 4> parts;
  };
  bool breaks(ZfillRule rule) const { return options.zfillBreaks == rule; }
  void addStore(StoreInst &store);
  bool isRegular(const StoreInst &store) const;
  const SCEV *getAddress(Value *pointer);
  std::optional<StoreStream> makeStream(Group &group);
  const SCEV *getTimes() const;
  const char *whyNoTimes() const;
  const char *whyLeaves() const;
  bool reads(Instruction &reader, const StoreStream &stream) const;
  bool storesToo(Instruction &writer, const StoreStream &stream) const;
  const char *whyReads(StoreStream &stream);
  const Loop *findReadingLoop(const StoreStream &stream) const;
  bool addRead(Instruction &reader, StoreStream &stream);
  bool isBehind(Instruction &reader, const StoreStream &stream);
  MemoryLocation anywhere(const Value *object, const Instruction &access) const;
  const Value *getObject(Value *address) const;
  bool mayMeet(Value *address, const Instruction &reader,
               StoreInst &store) const;

  Loop &loop;
  Function &function;
  const PassOptions &options;
  StreamUse use;
  ScalarEvolution &scev;
  DominatorTree &dominators;
  AAResults &aliases;
  const DataLayout &layout;
  PredicatedScalarEvolution assuming;
  SmallVector<Group, 4> groups;
  bool hasStores = false;
  bool declaresScopes = false;
};
} // namespace

/// Whether each iteration stores, in the plain way. Non-temporal stores go past
/// the cache that the line was zeroed in.
bool StreamFinder::isRegular(const StoreInst &store) const {
  return (store.isSimple() || breaks(ZfillRule::volatiles)) &&
         store.getPointerAddressSpace() == 0 &&
         !store.hasMetadata(LLVMContext::MD_nontemporal) &&
         (dominators.dominates(store.getParent(), loop.getLoopLatch()) ||
          breaks(ZfillRule::conditions));
}

/// A counter of 32 bits is assumed not to wrap where the address of 64 does
/// not.
const SCEV *StreamFinder::getAddress(Value *pointer) {
  const SCEV *address = scev.getSCEV(pointer);
  if (isa<SCEVAddRecExpr>(address) || scev.isLoopInvariant(address, &loop))
    return address;
  const SCEV *line = assuming.getAsAddRec(pointer);
  return line ? line : address;
}

void StreamFinder::addStore(StoreInst &store) {
  hasStores = true;
  std::optional<Distance> size =
      getSize(store.getValueOperand()->getType(), function);
  if (!size || !isRegular(store))
    return;
  auto *address =
      dyn_cast<SCEVAddRecExpr>(getAddress(store.getPointerOperand()));
  if (!address || address->getLoop() != &loop || !address->isAffine())
    return;
  std::optional<Distance> step = getDistance(address->getStepRecurrence(scev));
  if (!step || step->bytes <= 0 || step->isScalable != size->isScalable)
    return;
  for (Group &group : groups) {
    if (group.address->getStepRecurrence(scev) !=
        address->getStepRecurrence(scev))
      continue;
    std::optional<Distance> offset =
        getDistance(scev.getMinusSCEV(address, group.address));
    if (!offset || (offset->bytes && offset->isScalable != size->isScalable))
      continue;
    group.parts.push_back(
        {&store, offset->bytes, size->bytes, size->isScalable});
    return;
  }
  groups.push_back(
      {address, *step, {{&store, 0, size->bytes, size->isScalable}}});
}

/// Nothing if the stores of an iteration leave bytes as they are.
std::optional<StoreStream> StreamFinder::makeStream(Group &group) {
  llvm::sort(group.parts,
             [](const Part &a, const Part &b) { return a.offset < b.offset; });
  int64_t begin = group.parts[0].offset, end = begin;
  StoreStream stream;
  for (const Part &part : group.parts) {
    if (part.offset > end && !breaks(ZfillRule::gaps))
      return std::nullopt;
    end = std::max(end, part.offset + part.bytes);
    stream.stores.push_back(part.store);
    stream.offsets.push_back(part.offset - begin);
  }
  if (end - begin < group.step.bytes && !breaks(ZfillRule::gaps))
    return std::nullopt;
  stream.address =
      cast<SCEVAddRecExpr>(getAddress(stream.stores[0]->getPointerOperand()));
  stream.step = stream.address->getStepRecurrence(scev);
  stream.minStep = uint64_t(group.step.bytes);
  stream.isScalable = group.step.isScalable;
  return stream;
}

// The loop's end

/// Null: unknown.
const SCEV *StreamFinder::getTimes() const {
  return countTimes(breaks(ZfillRule::exits)
                        ? scev.getSymbolicMaxBackedgeTakenCount(&loop)
                        : scev.getBackedgeTakenCount(&loop),
                    scev);
}

/// Whether \p call reads nothing of the program.
static bool isUnread(const CallBase &call) {
  auto *intrinsic = dyn_cast<IntrinsicInst>(&call);
  return intrinsic && (intrinsic->isAssumeLikeIntrinsic() ||
                       intrinsic->getIntrinsicID() == Intrinsic::prefetch);
}

/// Whether \p call touches memory of the program in no way that matters.
static bool isAside(const CallBase &call) {
  auto *intrinsic = dyn_cast<IntrinsicInst>(&call);
  if (!intrinsic)
    return false;
  switch (intrinsic->getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
    return true; // reads are looked at by address
  default:
    return isUnread(call);
  }
}

/// Why something in the loop could leave it, or show its memory to others.
const char *StreamFinder::whyLeaves() const {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      bool isSpecial = instruction.isAtomic() || instruction.isVolatile();
      if (isSpecial && !breaks(ZfillRule::volatiles))
        return "it has volatile or atomic accesses";
      if (isSpecial || breaks(ZfillRule::calls))
        continue;
      auto *call = dyn_cast<CallBase>(&instruction);
      if (call && call->mayReadOrWriteMemory() && !isAside(*call))
        return "it calls a function that may use the memory";
      if (!isGuaranteedToTransferExecutionToSuccessor(&instruction))
        return "it calls a function that may not return";
    }
  return nullptr;
}

const char *StreamFinder::whyNoTimes() const {
  if (loop.getExitingBlock() != loop.getLoopLatch() ||
      !isa<BranchInst>(loop.getLoopLatch()->getTerminator()))
    return "it can end in more than one way";
  return getTimes() ? nullptr : "how often it runs is not known when it begins";
}

// Reads of the loop

/// All of \p object, as \p access accesses it.
MemoryLocation StreamFinder::anywhere(const Value *object,
                                      const Instruction &access) const {
  AAMDNodes tags = access.getAAMetadata();
  // A scope that begins in each iteration anew says nothing about two of them.
  if (declaresScopes && !breaks(ZfillRule::scopes))
    tags.Scope = tags.NoAlias = nullptr;
  return MemoryLocation::getBeforeOrAfter(object, tags);
}

/// What \p address points into, also if the loop counts by the pointer itself.
const Value *StreamFinder::getObject(Value *address) const {
  auto *base =
      dyn_cast<SCEVUnknown>(scev.getPointerBase(scev.getSCEV(address)));
  return getUnderlyingObject(base ? base->getValue() : address);
}

/// Whether \p reader, at \p address, and \p store may access the same memory,
/// in different iterations too: so only objects that the loop does not change
/// are compared.
bool StreamFinder::mayMeet(Value *address, const Instruction &reader,
                           StoreInst &store) const {
  const Value *read = getObject(address);
  const Value *written = getObject(store.getPointerOperand());
  return !loop.isLoopInvariant(read) || !loop.isLoopInvariant(written) ||
         aliases.alias(anywhere(read, reader), anywhere(written, store)) !=
             AliasResult::NoAlias;
}

/// Whether \p reader reads only what the stream has already stored, or what is
/// in front of it.
bool StreamFinder::isBehind(Instruction &reader, const StoreStream &stream) {
  auto *load = dyn_cast<LoadInst>(&reader);
  if (!load)
    return false;
  const SCEV *address = getAddress(load->getPointerOperand());
  auto *line = dyn_cast<SCEVAddRecExpr>(address);
  if (!line || line->getLoop() != &loop || !line->isAffine() ||
      line->getStepRecurrence(scev) != stream.step)
    return false;
  const SCEV *offset = scev.getMinusSCEV(line, stream.address);
  if (isa<SCEVCouldNotCompute>(offset))
    return false;
  if (breaks(ZfillRule::ahead) && isa<SCEVConstant>(offset))
    return true;
  TypeSize size = layout.getTypeStoreSize(load->getType());
  return scev.isKnownNonPositive(
      scev.getAddExpr(offset, scev.getSizeOfExpr(offset->getType(), size)));
}

/// The address that \p reader reads from, or the base of all; null: unknown.
static Value *readAddress(Instruction &reader) {
  if (auto *load = dyn_cast<LoadInst>(&reader))
    return load->getPointerOperand();
  auto *call = dyn_cast<IntrinsicInst>(&reader);
  if (!call)
    return nullptr;
  if (call->getIntrinsicID() == Intrinsic::masked_load)
    return call->getArgOperand(0);
  if (call->getIntrinsicID() != Intrinsic::masked_gather)
    return nullptr;
  auto *lanes = dyn_cast<GetElementPtrInst>(call->getArgOperand(0));
  if (!lanes || lanes->getPointerOperand()->getType()->isVectorTy())
    return nullptr;
  return lanes->getPointerOperand();
}

/// Adds what \p reader reads or writes to what must be elsewhere. \returns
/// false if that is not known in front of the loop, or too much.
bool StreamFinder::addRead(Instruction &reader, StoreStream &stream) {
  constexpr size_t maxRanges = 8;
  Value *pointer = getLoadStorePointerOperand(&reader);
  if (!pointer)
    return false;
  const SCEV *address = getAddress(pointer);
  const SCEV *step = scev.getZero(Type::getInt64Ty(function.getContext()));
  if (auto *line = dyn_cast<SCEVAddRecExpr>(address);
      line && line->getLoop() == &loop && line->isAffine())
    step = line->getStepRecurrence(scev);
  else if (!scev.isLoopInvariant(address, &loop))
    return false;
  // In the stream itself, ahead of the stores: no question for a running
  // program.
  bool isOwn = step == stream.step &&
               getDistance(scev.getMinusSCEV(address, stream.address));
  if (isOwn ||
      (use == StreamUse::unread &&
       scev.getPointerBase(address) == scev.getPointerBase(stream.address)))
    return false;
  TypeSize size = layout.getTypeStoreSize(getLoadStoreType(&reader));
  int64_t bytes = int64_t(size.getKnownMinValue());
  for (ReadRange &range : stream.reads) {
    if (range.step != step || range.isScalable != size.isScalable())
      continue;
    std::optional<Distance> offset =
        getDistance(scev.getMinusSCEV(address, range.address));
    if (!offset || (offset->bytes && offset->isScalable != range.isScalable))
      continue;
    range.begin = std::min(range.begin, offset->bytes);
    range.end = std::max(range.end, offset->bytes + bytes);
    return true;
  }
  stream.reads.push_back({address, step, 0, bytes, size.isScalable()});
  return stream.reads.size() <= maxRanges;
}

/// Whether \p reader may read what \p stream stores in some iteration.
bool StreamFinder::reads(Instruction &reader, const StoreStream &stream) const {
  auto *call = dyn_cast<CallBase>(&reader);
  if (!reader.mayReadFromMemory() || isa<StoreInst>(reader) ||
      (call && isUnread(*call)))
    return false;
  Value *address = readAddress(reader);
  return !address || llvm::any_of(stream.stores, [&](StoreInst *store) {
    return mayMeet(address, reader, *store);
  });
}

/// Whether \p writer, which is not of \p stream, may store to its memory.
bool StreamFinder::storesToo(Instruction &writer,
                             const StoreStream &stream) const {
  return isa<StoreInst>(writer) && !is_contained(stream.stores, &writer) &&
         llvm::any_of(stream.stores, [&](StoreInst *store) {
           return mayMeet(getLoadStorePointerOperand(&writer), writer, *store);
         });
}

/// Why the loop may read bytes of \p stream before they are stored. Other
/// stores to them do not matter: the stream overwrites each byte that was
/// zeroed.
const char *StreamFinder::whyReads(StoreStream &stream) {
  static constexpr char reason[] = "it may read what it overwrites";
  if (breaks(ZfillRule::reads))
    return nullptr;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &reader : *block) {
      bool isTwice = use == StreamUse::unread && storesToo(reader, stream);
      if ((isa<CallBase>(reader) && breaks(ZfillRule::calls)) ||
          !(isTwice || reads(reader, stream)))
        continue;
      bool isAllowed =
          use == StreamUse::overwritten && isBehind(reader, stream);
      if (!isAllowed && !addRead(reader, stream))
        return isTwice ? "it may store to the same place twice" : reason;
    }
  return nullptr;
}

/// Objects that the loop itself reads do not count: where it runs, they are
/// elsewhere in memory.
const Loop *StreamFinder::findReadingLoop(const StoreStream &stream) const {
  SmallPtrSet<const Value *, 8> elsewhere;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &reader : *block)
      if (Value *address = readAddress(reader))
        elsewhere.insert(getObject(address));
  auto readsStream = [&](Instruction &reader) {
    Value *address = readAddress(reader);
    return reads(reader, stream) &&
           !(address && elsewhere.contains(getObject(address)));
  };
  for (Loop *outer = loop.getParentLoop(); outer;
       outer = outer->getParentLoop())
    for (BasicBlock *block : outer->blocks())
      if (!loop.contains(block) && llvm::any_of(*block, readsStream))
        return outer;
  return nullptr;
}

// All of it

StreamLoop StreamFinder::run() {
  StreamLoop found;
  if (!loop.getLoopLatch())
    return found;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (auto *store = dyn_cast<StoreInst>(&instruction))
        addStore(*store);
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      hasStores |= call && call->getIntrinsicID() == Intrinsic::masked_store;
      declaresScopes |= isa<NoAliasScopeDeclInst>(instruction);
    }
  if (!hasStores)
    return found;
  for (Group &group : groups)
    if (std::optional<StoreStream> stream = makeStream(group))
      found.streams.push_back(*stream);
  found.reason = whyLeaves();
  if (!found.reason)
    found.reason = found.streams.empty()
                       ? "no store in it overwrites consecutive memory, upwards"
                       : whyNoTimes();
  if (found.reason)
    return found;
  found.times = getTimes();
  llvm::erase_if(found.streams, [&](StoreStream &stream) {
    const char *reason = whyReads(stream);
    found.reason = reason ? reason : found.reason;
    return reason;
  });
  if (!found.streams.empty())
    found.reason = nullptr;
  if (use == StreamUse::unread)
    for (StoreStream &stream : found.streams)
      stream.readIn = findReadingLoop(stream);
  auto &all = cast<SCEVUnionPredicate>(assuming.getPredicate());
  found.assumed.assign(all.getPredicates().begin(), all.getPredicates().end());
  return found;
}

StreamLoop mpg::findStoreStreams(Loop &loop, FunctionAnalysisManager &analyses,
                                 const PassOptions &options, StreamUse use) {
  return StreamFinder(loop, analyses, options, use).run();
}
