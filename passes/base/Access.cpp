// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Access.h.

#include "base/Access.h"
#include "base/Diagnostics.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace mpg;

/// Recognises AArch64 intrinsics that load, store or prefetch by their names:
/// there are about two hundred, each with one address operand. Excludes gathers
/// whose addresses are a vector of integers.
static bool isVectorAccess(StringRef name) {
  if (!name.consume_front("llvm.aarch64."))
    return false;
  if (!name.consume_front("sve.") && !name.consume_front("neon."))
    return false;
  return name.starts_with("ld") || name.starts_with("st") ||
         name.starts_with("prf");
}

static bool isAccess(const IntrinsicInst &call) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
  case Intrinsic::masked_expandload:
  case Intrinsic::masked_compressstore:
  case Intrinsic::vp_load:
  case Intrinsic::vp_store:
  case Intrinsic::vp_gather:
  case Intrinsic::vp_scatter:
  case Intrinsic::prefetch:
    return true;
  default:
    return isVectorAccess(call.getCalledFunction()->getName());
  }
}

/// The address operand of \p call, if it has exactly one. A scatter of pointers
/// also stores a vector of pointers: the address is the last.
static Use *getAddress(IntrinsicInst &call) {
  Use *address = nullptr;
  for (Use &argument : call.args())
    if (argument->getType()->isPtrOrPtrVectorTy())
      address = &argument;
  return address && !address->get()->getType()->getPointerAddressSpace()
             ? address
             : nullptr;
}

// The tag is on the base, so what the pointer is computed into has it, too:
// each of those uses has to be one that may see a tag.
SmallVector<const Use *, 16> mpg::findEndUses(const Instruction &pointer) {
  SmallVector<const Use *, 16> found;
  SetVector<const Instruction *> pointers;
  pointers.insert(&pointer);
  for (unsigned next = 0; next < pointers.size(); ++next)
    for (const Use &use : pointers[next]->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      if (isa<GetElementPtrInst, PHINode, SelectInst>(user))
        pointers.insert(user);
      else
        found.push_back(&use);
    }
  return found;
}

Value *mpg::withoutSteps(Value *address, bool onlyConstant) {
  SmallPtrSet<Value *, 8> seen;
  for (auto *step = dyn_cast<GEPOperator>(address);
       step && seen.insert(step).second &&
       (!onlyConstant || step->hasAllConstantIndices());
       step = dyn_cast<GEPOperator>(address))
    address = step->getPointerOperand();
  return address;
}

// Volatile and atomic accesses keep their address: they may be to devices and
// locks, which gain nothing from a hint. The meaning of other address spaces is
// unknown here.
Use *mpg::taggableAddress(Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return load->isSimple() && !load->getPointerAddressSpace()
               ? &load->getOperandUse(load->getPointerOperandIndex())
               : nullptr;
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->isSimple() && !store->getPointerAddressSpace()
               ? &store->getOperandUse(store->getPointerOperandIndex())
               : nullptr;
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && isAccess(*call) ? getAddress(*call) : nullptr;
}

bool mpg::isPrefetch(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && (call->getIntrinsicID() == Intrinsic::prefetch ||
                  call->getCalledFunction()->getName().contains(".sve.prf"));
}

Untaggable mpg::classifyUse(const Use &use) {
  auto *user = dyn_cast<Instruction>(use.getUser());
  if (!user)
    return Untaggable::notAnAccess;
  const Use *address = taggableAddress(*user);
  if (address == &use)
    return Untaggable::no;
  if (auto *load = dyn_cast<LoadInst>(user))
    return load->isAtomic() ? Untaggable::isAtomic : Untaggable::isVolatile;
  if (auto *store = dyn_cast<StoreInst>(user)) {
    // It is stored, not stored through: code that loads it may compare or free
    // it.
    if (use.getOperandNo() != store->getPointerOperandIndex())
      return Untaggable::escapes;
    return store->isAtomic() ? Untaggable::isAtomic : Untaggable::isVolatile;
  }
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(user))
    return Untaggable::isAtomic;
  if (isa<MemIntrinsic>(user))
    return Untaggable::memoryIntrinsic;
  if (auto *call = dyn_cast<IntrinsicInst>(user))
    if (call->isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(call) ||
        call->isAssumeLikeIntrinsic())
      return Untaggable::notAnAccess;
  return isa<CallBase>(user) ? Untaggable::escapes : Untaggable::notAnAccess;
}

const char *mpg::describe(Untaggable code) {
  switch (code) {
  case Untaggable::isVolatile:
    return "it is volatile, which is never tagged";
  case Untaggable::isAtomic:
    return "it is atomic, which is never tagged";
  case Untaggable::memoryIntrinsic:
    return "it is a memcpy, memmove or memset: write a loop, or call "
           "mpg_copy_tagged";
  case Untaggable::escapes:
    return "the pointer is passed to a function: put the hint on its parameter";
  case Untaggable::merges:
    return "the pointer may also be one that has another hint or none";
  case Untaggable::inTask:
    return "an OpenMP task uses it: take a local pointer with the hint there";
  case Untaggable::no:
  case Untaggable::notAnAccess:
    break;
  }
  return "nothing is loaded or stored through it";
}

// Not by the triple alone: x32 and ILP32 have pointers of 32 bits on processors
// of 64.
bool mpg::isLinux64(const Module &module) {
  return Triple(module.getTargetTriple()).isOSLinux() &&
         module.getDataLayout().getPointerSizeInBits() == 64;
}

// Any AArch64 with Linux: there the processor ignores the top byte, so a tag
// does no harm where it is not A64FX.
bool mpg::targetHasTags(const Module &module) {
  return isLinux64(module) &&
         Triple(module.getTargetTriple()).getArch() == Triple::aarch64;
}

// HW:monaka. A function with another target than its file counts for all.
const char *mpg::whyNoHints(const Module &module) {
  if (!targetHasTags(module))
    return "only AArch64 Linux has tags";
  for (const Function &function : module)
    if (function.getFnAttribute("target-cpu").getValueAsString() ==
        "fujitsu-monaka")
      return "no public document says that FUJITSU-MONAKA acts on tags";
  return nullptr;
}

const char *mpg::whyUntagged(const Function &function) {
  static constexpr Attribute::AttrKind sanitizers[] = {
      Attribute::SanitizeAddress, Attribute::SanitizeHWAddress,
      Attribute::SanitizeMemTag,  Attribute::SanitizeThread,
      Attribute::SanitizeMemory,
#if LLVM_VERSION_MAJOR >= 20
      Attribute::SanitizeType,
#endif
  };
  for (Attribute::AttrKind kind : sanitizers)
    if (function.hasFnAttribute(kind))
      return "it is compiled with a sanitizer, which uses addresses itself";
  if (function.hasFnAttribute(Attribute::OptimizeNone))
    return "it is not optimised; compile with -O1 or more";
  if (function.hasFnAttribute(Attribute::Naked))
    return "it is a naked function";
  return nullptr;
}

void mpg::remarkUntagged(Function &function, StringRef reason) {
  OptimizationRemarkEmitter emitter(&function);
  emitter.emit([&] {
    BasicBlock &entry = function.getEntryBlock();
    return OptimizationRemarkMissed(
               remarkPass, "NotTagged",
               DiagnosticLocation(function.getSubprogram()), &entry)
           << "no hint is applied in "
           << ore::NV("Function", function.getName()) << ": "
           << ore::NV("Reason", reason);
  });
}

void mpg::remarkUntagged(Module &module, StringRef reason) {
  for (Function &function : module)
    if (!function.isDeclaration())
      return remarkUntagged(function, reason);
}
