// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks on their way through the optimiser: two passes that keep hinted loops
// from becoming memcpy or memset, and one that remembers bases, for accesses
// that lose their marks. See TagWriter.h.

#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/Hint.h"
#include "tags/TagWriter.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// Ours has a second operand, so that a user's own nontemporal store keeps his.
static MDNode *keepNode(LLVMContext &context) {
  Metadata *one =
      ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), 1));
  return MDNode::get(context, {one, MDString::get(context, "mpg")});
}

/// Whether \p store could become a memcpy or memset and takes a hint with it.
static bool isAtRisk(const StoreInst &store) {
  if (readMark(store).kind != Mark::none)
    return true;
  const Value *value = store.getValueOperand();
  // Few: where code is never reached a cast can be computed from itself.
  for (int steps = 0; steps < 8 && isa<CastInst>(value); ++steps)
    value = cast<CastInst>(value)->getOperand(0);
  auto *load = dyn_cast<LoadInst>(value);
  return load && readMark(*load).kind != Mark::none;
}

/// On functions whose marked loads may go through a string: how many calls for
/// lengths there are in it.
static constexpr StringLiteral lengthsFlag = "mpg-lengths";

/// Calls of strlen and wcslen. LoopIdiom makes some of loops, too.
static SmallVector<CallBase *, 2> lengthCalls(Function &function) {
  SmallVector<CallBase *, 2> calls;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    if (callee &&
        (callee->getName() == "strlen" || callee->getName() == "wcslen"))
      calls.push_back(call);
  }
  return calls;
}

static void noteLengths(Function &function) {
  if (any_of(instructions(function), [](const Instruction &instruction) {
        return isa<LoadInst>(instruction) &&
               instruction.getType()->isIntegerTy() &&
               readMark(instruction).kind != Mark::none;
      }))
    function.addFnAttr(lengthsFlag,
                       std::to_string(lengthCalls(function).size()));
}

PreservedAnalyses LostLoopsPass::run(Function &function,
                                     FunctionAnalysisManager &) {
  Attribute flag = function.getFnAttribute(lengthsFlag);
  size_t before;
  if (!flag.isValid() || flag.getValueAsString().getAsInteger(10, before))
    return PreservedAnalyses::all();
  function.removeFnAttr(lengthsFlag);
  SmallVector<CallBase *, 2> calls = lengthCalls(function);
  if (calls.size() <= before)
    return PreservedAnalyses::all();
  OptimizationRemarkEmitter(&function).emit([&] {
    CallBase *call = calls.front();
    return OptimizationRemarkMissed(remarkPass, "TagSkipped",
                                    userLocation(call->getDebugLoc()),
                                    call->getParent())
           << "the hint is not applied here: "
           << ore::NV("Reason", "a loop became a call of strlen or wcslen: "
                                "compile with -fno-builtin-strlen "
                                "-fno-builtin-wcslen");
  });
  return PreservedAnalyses::all();
}

PreservedAnalyses KeepLoopsPass::run(Module &module, ModuleAnalysisManager &) {
  if (!hasMarks(module))
    return PreservedAnalyses::all();
  MDNode *keep = keepNode(module.getContext());
  for (Function &function : module) {
    noteLengths(function);
    for (Instruction &instruction : instructions(function)) {
      auto *store = dyn_cast<StoreInst>(&instruction);
      if (store && !store->getMetadata(LLVMContext::MD_nontemporal) &&
          isAtRisk(*store))
        store->setMetadata(LLVMContext::MD_nontemporal, keep);
    }
  }
  return PreservedAnalyses::all(); // of what any analysis looks at
}

/// Whether \p pointer goes through memory without gaps in \p loop.
static bool isDense(Value *pointer, Type *type, const Loop &loop,
                    ScalarEvolution &evolution) {
  auto *address = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(pointer));
  if (!address || address->getLoop() != &loop)
    return false;
  auto *step = dyn_cast<SCEVConstant>(address->getStepRecurrence(evolution));
  TypeSize bytes =
      loop.getHeader()->getModule()->getDataLayout().getTypeStoreSize(type);
  return step && !bytes.isScalable() &&
         step->getAPInt().abs() == bytes.getFixedValue();
}

/// Whether \p loop would have become a memset or a memcpy by \p store.
static bool wouldBeLost(StoreInst &store, const Loop &loop,
                        ScalarEvolution &evolution) {
  Value *value = store.getValueOperand();
  if (!isDense(store.getPointerOperand(), value->getType(), loop, evolution))
    return false;
  auto *load = dyn_cast<LoadInst>(value);
  return loop.isLoopInvariant(value) ||
         (load &&
          isDense(load->getPointerOperand(), load->getType(), loop, evolution));
}

PreservedAnalyses ReleaseLoopsPass::run(Function &function,
                                        FunctionAnalysisManager &analyses) {
  if (!hasMarks(*function.getParent()))
    return PreservedAnalyses::all();
  MDNode *keep = keepNode(function.getContext());
  for (Instruction &instruction : instructions(function)) {
    auto *store = dyn_cast<StoreInst>(&instruction);
    if (!store || store->getMetadata(LLVMContext::MD_nontemporal) != keep)
      continue;
    store->setMetadata(LLVMContext::MD_nontemporal, nullptr);
    const Loop *loop = analyses.getResult<LoopAnalysis>(function).getLoopFor(
        store->getParent());
    if (!loop ||
        !wouldBeLost(*store, *loop,
                     analyses.getResult<ScalarEvolutionAnalysis>(function)))
      continue;
    OptimizationRemarkEmitter emitter(&function);
    emitter.emit([&] {
      return OptimizationRemark(remarkPass, "LoopKept",
                                userLocation(store->getDebugLoc()),
                                store->getParent())
             << "this loop does not become a memcpy or memset: those take no "
                "hints";
    });
  }
  return PreservedAnalyses::all();
}

/// On functions that have marked bases, so that others need not be looked at.
static constexpr StringLiteral functionFlag = "mpg-bases";

PreservedAnalyses BaseMarkerPass::run(Function &function,
                                      FunctionAnalysisManager &) {
  if (!hasMarks(*function.getParent()))
    return PreservedAnalyses::all();
  MapVector<Value *, Mark> marks;
  for (Instruction &instruction : instructions(function)) {
    Use *address = taggableAddress(instruction);
    if (!address)
      continue;
    Mark own = readMark(instruction);
    Mark &all =
        marks.try_emplace(withoutSteps(address->get()), own).first->second;
    if (own.kind != Mark::one || own.tag != all.tag)
      all.kind = Mark::conflict;
  }
  SmallVector<std::pair<GlobalVariable *, uint8_t>, 4> globals;
  for (auto &[base, mark] : marks) {
    if (mark.kind != Mark::one)
      continue;
    if (auto *global = dyn_cast<GlobalVariable>(base))
      globals.push_back({global, mark.tag});
    else
      writeBaseMark(*base, function, mark.tag);
    function.addFnAttr(functionFlag);
  }
  if (!globals.empty())
    writeGlobalMarks(function, globals);
  return PreservedAnalyses::all(); // of what any analysis looks at
}

void mpg::restoreMarks(Function &function) {
  if (!function.hasFnAttribute(functionFlag))
    return;
  BaseMarks bases(function);
  for (Instruction &instruction : instructions(function)) {
    Use *address = taggableAddress(instruction);
    if (!address || readMark(instruction).kind != Mark::none)
      continue;
    Mark mark = bases.of(*withoutSteps(address->get()));
    if (mark.kind == Mark::one)
      writeMark(instruction, mark.tag);
  }
}
