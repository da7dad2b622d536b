// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts, in the IR that goes into code generation, how many accesses of loops
// could have a tagged address and how many have one. A pass plugin, loaded
// after the one under test: -fpass-plugin=MpgPasses.so
// -fpass-plugin=CountTags.so.
//
// Shares no code with passes/, so that a rule that is wrong there is not wrong
// here too. Counts more accesses as eligible than the passes do: a plain load
// or store in a loop whose address is computed from pointers that the innermost
// loop does not change, and none of which is a stack slot. Accesses that the
// passes skip for a good reason count as missed.
//
// Appends a line "MODULE ELIGIBLE TAGGED" to the file named by the environment
// variable COUNT_TAGS_FILE, and changes nothing.

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace {

/// The address of a plain access, nullptr for anything else.
const Value *getAddress(const Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return load->isSimple() ? load->getPointerOperand() : nullptr;
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->isSimple() ? store->getPointerOperand() : nullptr;
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return nullptr;
  switch (call->getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_gather:
  case Intrinsic::vp_load:
    return call->getArgOperand(0);
  case Intrinsic::masked_store:
  case Intrinsic::masked_scatter:
  case Intrinsic::vp_store:
    return call->getArgOperand(1);
  default:
    return nullptr;
  }
}

/// The pointer below a tag, nullptr if \p value is not a tagged pointer. One
/// that code generation can look through does not count.
const Value *withoutTag(const Value *value) {
  using namespace PatternMatch;
  const Value *pointer, *number;
  const APInt *mask;
  if (!match(value, m_IntToPtr(m_Value(number))))
    return nullptr;
  auto *copy = dyn_cast<CallInst>(number);
  if (!copy || !copy->isInlineAsm() || copy->arg_size() != 1)
    return nullptr;
  if (match(copy->getArgOperand(0),
            m_Or(m_PtrToInt(m_Value(pointer)), m_APInt(mask))) &&
      mask->getBitWidth() == 64 && !mask->isZero() && mask->countr_zero() >= 56)
    return pointer;
  return nullptr;
}

/// The sources of one address, over all ways to compute it.
class Address {
public:
  explicit Address(const Loop &loop) : loop(loop) {}

  bool isEligible = true;
  bool isTagged = true; ///< on every way

  void follow(const Value *value, bool belowTag) {
    // The back edges of loops end here.
    if (!seen.insert(value).second)
      return;
    if (const Value *pointer = withoutTag(value))
      return follow(pointer, true);
    if (auto *gep = dyn_cast<GEPOperator>(value))
      return follow(gep->getPointerOperand(), belowTag);
    if (auto *select = dyn_cast<SelectInst>(value)) {
      follow(select->getTrueValue(), belowTag);
      return follow(select->getFalseValue(), belowTag);
    }
    if (auto *phi = dyn_cast<PHINode>(value)) {
      for (const Value *incoming : phi->incoming_values())
        follow(incoming, belowTag);
      return;
    }
    start(value, belowTag);
  }

private:
  void start(const Value *value, bool belowTag) {
    auto *instruction = dyn_cast<Instruction>(value);
    if (instruction && loop.contains(instruction))
      isEligible = false;
    if (isa<AllocaInst>(value) || !value->getType()->isPointerTy())
      isEligible = false;
    if (isa<Constant>(value) && !isa<GlobalValue>(value))
      isEligible = false; // null, or an address from a number
    isTagged &= belowTag;
  }

  const Loop &loop;
  SmallPtrSet<const Value *, 16> seen;
};

class CountTags : public PassInfoMixin<CountTags> {
public:
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module &module, ModuleAnalysisManager &modules) {
    auto &functions =
        modules.getResult<FunctionAnalysisManagerModuleProxy>(module)
            .getManager();
    for (Function &function : module)
      if (!function.isDeclaration())
        count(function, functions.getResult<LoopAnalysis>(function));
    write(module);
    return PreservedAnalyses::all();
  }

private:
  void count(const Function &function, const LoopInfo &loops) {
    for (const BasicBlock &block : function) {
      const Loop *loop = loops.getLoopFor(&block);
      if (!loop)
        continue;
      for (const Instruction &instruction : block)
        if (const Value *value = getAddress(instruction)) {
          Address address(*loop);
          address.follow(value, false);
          eligible += address.isEligible;
          tagged += address.isEligible && address.isTagged;
        }
    }
  }

  void write(const Module &module) {
    const char *path = std::getenv("COUNT_TAGS_FILE");
    std::error_code error;
    raw_fd_ostream file(path ? path : "-", error, sys::fs::OF_Append);
    if (error)
      report_fatal_error(Twine("count-tags: cannot write ") + path + ": " +
                         error.message());
    file << sys::path::filename(module.getSourceFileName()) << ' ' << eligible
         << ' ' << tagged << '\n';
  }

  unsigned eligible = 0, tagged = 0;
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "count-tags", "1", [](PassBuilder &builder) {
            // Last, and after the plugins named before this one.
            builder.registerOptimizerLastEPCallback(
                [](ModulePassManager &passes, OptimizationLevel,
                   ThinOrFullLTOPhase) { passes.addPass(CountTags()); });
            builder.registerPipelineParsingCallback(
                [](StringRef name, ModulePassManager &passes,
                   ArrayRef<PassBuilder::PipelineElement>) {
                  if (name != "count-tags")
                    return false;
                  passes.addPass(CountTags());
                  return true;
                });
          }};
}
