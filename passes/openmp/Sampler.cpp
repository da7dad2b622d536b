// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Sampler.h. The state shared by all evaluations: objects and their
// addresses, their contents, and the values that are the same in all contexts.

#include "openmp/Sampler.h"
#include "base/Access.h"
#include "openmp/Allocations.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

/// Each object has 32 TiB, and begins in their middle: offsets may be negative.
/// So arrays of three samples' dimensions have room.
static constexpr unsigned objectBits = 45;
static constexpr int64_t objectMiddle = int64_t(1) << (objectBits - 1);
/// Maximum of distinct objects, so that addresses stay positive.
static constexpr size_t maxObjects = (size_t(1) << 18) - 2;

int64_t mpg::bounded(int64_t value) {
  return std::clamp(value, -maxDistance, maxDistance);
}

int64_t mpg::times(int64_t a, int64_t b) {
  int64_t product;
  if (MulOverflow(a, b, product))
    return (a < 0) == (b < 0) ? maxDistance : -maxDistance;
  return bounded(product);
}

int64_t mpg::distance(int64_t from, int64_t to) {
  return bounded(static_cast<int64_t>(uint64_t(to) - uint64_t(from)));
}

// Memory

int64_t Sampler::getAddress(Value *origin, const CallFrame *frame) {
  auto [entry, isNew] = bases.try_emplace({origin, frame}, 0);
  if (isNew && objects.size() < maxObjects) {
    objects.push_back({origin, frame});
    entry->second = (int64_t(objects.size()) << objectBits) + objectMiddle;
  }
  return entry->second;
}

std::pair<int64_t, int64_t> Sampler::splitAddress(int64_t address) {
  int64_t number = address >> objectBits;
  int64_t start = static_cast<int64_t>(uint64_t(number) << objectBits);
  return {number, address - start - objectMiddle};
}

Sampler::Place Sampler::getPlace(int64_t address) const {
  auto [number, offset] = splitAddress(address);
  if (number <= 0 || size_t(number) > objects.size())
    return {nullptr, 0};
  return {&objects[size_t(number) - 1], offset};
}

SmallVector<const MemoryObject *, 4> Sampler::findObjects(Value *pointer,
                                                          EvalContext context) {
  SmallVector<const MemoryObject *, 4> found;
  for (unsigned i = 0; i < maxAlternatives; ++i) {
    context.alternative = i;
    Sample address = getSample(pointer, context);
    const MemoryObject *object = getPlace(address.value).object;
    if (!object || is_contained(found, object))
      break;
    found.push_back(object);
    if (!address.depends.isOn(Dependence::alternative))
      break;
  }
  return found;
}

/// 0 for the first loop requested, and so on. Not by its address, which differs
/// between runs of the compiler.
Dependence Sampler::getBit(const Loop &loop) {
  auto [entry, isNew] = loopNumbers.insert({&loop, loopNumbers.size()});
  return Dependence::ofLoop(entry->second);
}

ArrayRef<Sampler::Stored> Sampler::storesTo(int64_t address) const {
  auto found = stores.find(splitAddress(address));
  if (found == stores.end())
    return {};
  return found->second;
}

/// Whether \p address is that of a variable or a field, not of an element that
/// depends on a loop.
static bool isFixed(Value *address) {
  return isa<AllocaInst, GlobalVariable, Argument, LoadInst, CallBase, PHINode>(
      withoutSteps(address, /*onlyConstant=*/true));
}

void Sampler::addStore(Instruction &by, Value *address, Stores &into) {
  for (const CallFrame *path : frames.callPathsTo(*by.getFunction())) {
    EvalContext context;
    context.frame = path;
    int64_t place = evaluate(address, context);
    if (getPlace(place).object)
      into[splitAddress(place)].push_back({&by, path});
  }
}

/// Twice: an address may itself be stored in a field.
void Sampler::collectStores(Module &module) {
  for (int round = 0; round < 2; ++round) {
    Stores found;
    for (Function &function : module)
      for (Instruction &instruction : instructions(function)) {
        if (auto *store = dyn_cast<StoreInst>(&instruction)) {
          Type *type = store->getValueOperand()->getType();
          if ((type->isIntegerTy() || type->isPointerTy()) &&
              isFixed(store->getPointerOperand()))
            addStore(*store, store->getPointerOperand(), found);
        } else if (auto *call = dyn_cast<CallBase>(&instruction)) {
          std::optional<Allocation> allocation = findAllocation(*call);
          if (allocation && allocation->result)
            addStore(*call, allocation->result, found);
        }
      }
    stores = std::move(found);
    for (auto &ofSeed : fixed)
      for (Samples &values : ofSeed)
        values.clear();
  }
}

Sampler::Sampler(Module &module, FunctionAnalysisManager &analyses,
                 CallFrames &frames, bool followsMemory)
    : module(module), analyses(analyses), frames(frames) {
  if (followsMemory)
    collectStores(module);
}

// Samples

/// The one value that \p function returns; null if there are several.
static Value *findReturned(Function &function) {
  Value *returned = nullptr;
  for (BasicBlock &block : function)
    if (auto *end = dyn_cast<ReturnInst>(block.getTerminator())) {
      if (returned || !end->getReturnValue())
        return nullptr;
      returned = end->getReturnValue();
    }
  return returned;
}

Value *Sampler::returnedBy(Function &function) {
  auto [entry, isNew] = returned.try_emplace(&function);
  if (isNew)
    entry->second = findReturned(function);
  return entry->second;
}

/// The accesses of a worksharing loop are evaluated in sequence, each in a few
/// situations, and share counters: so the state at the loop's start is cached
/// until the next such loop.
Sampler::Samples *Sampler::samplesAtStart(const EvalContext &context) {
  if (!context.sharing)
    return nullptr;
  if (started != context.sharing->init) {
    for (auto &ofSeed : atStart)
      for (Samples &values : ofSeed)
        values.clear();
    started = context.sharing->init;
  }
  return &atStart[context.seed % sampleSets]
                 [context.alternative % maxAlternatives];
}

Sampler::Sample Sampler::getSample(Value *value, const EvalContext &context) {
  Evaluation evaluation(*this, context);
  int64_t number = evaluation.value(value, context.frame);
  return {number, evaluation.depends};
}

int64_t Sampler::evaluate(const SCEV *expression, Function &function,
                          const EvalContext &context) {
  Evaluation evaluation(*this, context);
  return evaluation.scev(expression, function, context.frame);
}

std::optional<int64_t> Sampler::tripCount(const Loop &loop,
                                          const EvalContext &context) {
  Function &function = *loop.getHeader()->getParent();
  ScalarEvolution &evolution =
      analyses.getResult<ScalarEvolutionAnalysis>(function);
  const SCEV *count = evolution.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(count))
    return std::nullopt;
  // The loop may be around a call on the way.
  const CallFrame *frame = findFrame(function, context.frame);
  Evaluation evaluation(*this, context);
  return bounded(evaluation.scev(count, function, frame)) + 1;
}
