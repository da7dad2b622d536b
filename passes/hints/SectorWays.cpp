// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HintSource.h.

#include "base/WeakCalls.h"
#include "hints/HintSource.h"
#include "hints/PointerFlow.h"
#include "mpg/note.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// uint8_t l1[4], l2[2] of struct mpg_ways.
static GlobalVariable *waysConstant(Module &module, const Ways &ways) {
  uint8_t bytes[6];
  std::fill_n(bytes, 6, MPG_WAYS_NOT_ASKED);
  if (ways.l1) {
    bytes[0] = l1Ways - *ways.l1;
    bytes[1] = *ways.l1;
  }
  if (ways.l2) {
    bytes[4] = l2Ways - *ways.l2;
    bytes[5] = *ways.l2;
  }
  Constant *value = ConstantDataArray::get(module.getContext(), bytes);
  auto *global =
      new GlobalVariable(module, value->getType(), true,
                         GlobalValue::PrivateLinkage, value, "mpg.ways");
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return global;
}

namespace {
class Bracketer {
public:
  explicit Bracketer(Module &module);
  bool isUsable() const { return begin && end; }
  void bracketFunction(Function &function, GlobalVariable *ways);
  bool bracketRegion(const WaysRequest &request, GlobalVariable *ways);

private:
  void callEnd(Instruction *before, Value *token);

  Function *begin, *end;
};
} // namespace

Bracketer::Bracketer(Module &module) {
  Type *integer = Type::getInt32Ty(module.getContext());
  Type *pointer = PointerType::get(module.getContext(), 0);
  Type *nothing = Type::getVoidTy(module.getContext());
  begin = callIfThere(module, "mpg_sector_begin",
                      FunctionType::get(integer, pointer, false),
                      ConstantInt::getSigned(integer, -1));
  end = callIfThere(module, "mpg_sector_end",
                    FunctionType::get(nothing, integer, false), nullptr);
}

void Bracketer::callEnd(Instruction *before, Value *token) {
  // A musttail call has to stay right before the return.
  if (CallInst *tail = before->getParent()->getTerminatingMustTailCall())
    before = tail;
  IRBuilder<> builder(before);
  builder.CreateCall(end, token);
}

void Bracketer::bracketFunction(Function &function, GlobalVariable *ways) {
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Value *token = builder.CreateCall(begin, ways);
  for (BasicBlock &block : function)
    if (isa<ReturnInst, ResumeInst>(block.getTerminator()))
      callEnd(block.getTerminator(), token);
}

bool Bracketer::bracketRegion(const WaysRequest &request,
                              GlobalVariable *ways) {
  DominatorTree dominators(*request.function);
  std::vector<Instruction *> ends = request.ends;
  for (const Instruction *instruction : *request.region)
    if (isa<ReturnInst, ResumeInst>(instruction))
      ends.push_back(const_cast<Instruction *>(instruction));
  for (Instruction *oneEnd : ends)
    if (!dominators.dominates(request.begin, oneEnd))
      return false;
  IRBuilder<> builder(request.begin);
  Value *token = builder.CreateCall(begin, ways);
  for (Instruction *oneEnd : ends)
    callEnd(oneEnd, token);
  return true;
}

/// The OpenMP regions that start in \p request.
static SmallSetVector<Function *, 4>
parallelRegionsIn(const WaysRequest &request) {
  SmallSetVector<Function *, 4> regions;
  for (Instruction &instruction : instructions(*request.function)) {
    auto *call = dyn_cast<CallBase>(&instruction);
    Function *region = call ? parallelRegionOf(*call) : nullptr;
    if (region && (!request.region || request.region->contains(call)))
      for (Function *inner : functionWithRegions(*region))
        if (!inner->isDeclaration() && !isDebugBody(*inner))
          regions.insert(inner);
  }
  return regions;
}

bool mpg::bracketWays(Module &module, const HintRequests &requests) {
  if (requests.ways.empty())
    return false;
  Bracketer bracketer(module);
  if (!bracketer.isUsable()) {
    warn(module.getContext(), {},
         "no ways are set: the program has a mpg_sector_begin or "
         "mpg_sector_end of its own; rename it");
    return false;
  }
  for (const WaysRequest &request : requests.ways) {
    if (request.function->isDeclaration())
      continue;
    if (request.function->hasFnAttribute(Attribute::Naked)) {
      warn(module.getContext(), request.where,
           "no ways are set: a naked function can call nothing; put them on "
           "the function that calls it");
      continue;
    }
    GlobalVariable *ways = waysConstant(module, request.ways);
    auto regions = parallelRegionsIn(request);
    if (!request.begin) {
      bracketer.bracketFunction(*request.function, ways);
    } else if (!bracketer.bracketRegion(request, ways)) {
      warn(module.getContext(), request.where,
           "no ways are set: a jump leads around the begin of the region to "
           "its end; let the region be one block");
      continue;
    }
    for (Function *region : regions)
      bracketer.bracketFunction(*region, ways);
  }
  return true;
}
