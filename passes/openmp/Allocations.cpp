// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Allocations.h.

#include "openmp/Allocations.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

namespace {
struct Allocator {
  StringLiteral name;
  unsigned operands;
  int bytes;
  int count = -1;
  int result = -1;
};
} // namespace

// operator new: _Znw and _Zna (arrays); m is a size of 64 bits; with nothrow,
// with an alignment, or with both.
static constexpr Allocator allocators[] = {
    {"malloc", 1, 0},
    {"calloc", 2, 1, 0},
    {"aligned_alloc", 2, 1},
    {"memalign", 2, 1},
    {"valloc", 1, 0},
    {"pvalloc", 1, 0},
    {"posix_memalign", 3, 2, -1, 0},
    {"_Znwm", 1, 0},
    {"_Znam", 1, 0},
    {"_ZnwmRKSt9nothrow_t", 2, 0},
    {"_ZnamRKSt9nothrow_t", 2, 0},
    {"_ZnwmSt11align_val_t", 2, 0},
    {"_ZnamSt11align_val_t", 2, 0},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", 3, 0},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", 3, 0},
};

/// Whether the sizes are numbers and the memory is a pointer: an unrelated
/// function may have the same name.
static bool isTyped(const Allocation &allocation) {
  auto isNumber = [](const Value *value) {
    return !value || (value->getType()->isIntegerTy() &&
                      value->getType()->getIntegerBitWidth() <= 64);
  };
  const Value *result = allocation.result;
  auto *type =
      dyn_cast<PointerType>((result ? result : allocation.call)->getType());
  bool isMemory = type && type->getAddressSpace() == 0;
  return isMemory && isNumber(allocation.bytes) && isNumber(allocation.count) &&
         (!result || isNumber(allocation.call));
}

std::optional<Allocation> mpg::findAllocation(CallBase &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration())
    return std::nullopt;
  for (const Allocator &known : allocators) {
    if (callee->getName() != known.name || call.arg_size() != known.operands)
      continue;
    auto operand = [&](int number) {
      return number < 0 ? nullptr : call.getArgOperand(unsigned(number));
    };
    Allocation found{&call, operand(known.bytes), operand(known.count),
                     operand(known.result), known.count >= 0};
    return isTyped(found) ? std::optional(found) : std::nullopt;
  }
  return std::nullopt;
}

static bool isNamed(const CallBase &call, StringRef prefix) {
  const Function *callee = call.getCalledFunction();
  return callee && call.arg_size() > 0 && callee->getName().starts_with(prefix);
}

Value *mpg::freedBy(const CallBase &call) {
  // operator delete: _ZdlPv, _ZdaPv.
  bool frees = (isNamed(call, "free") && call.arg_size() == 1) ||
               isNamed(call, "_ZdlPv") || isNamed(call, "_ZdaPv");
  return frees ? call.getArgOperand(0) : nullptr;
}

Value *mpg::reallocatedBy(const CallBase &call) {
  return isNamed(call, "realloc") ? call.getArgOperand(0) : nullptr;
}

/// From this size on, glibc's malloc maps separate pages for a block, which
/// then begins 16 bytes after a page (mallopt(3), M_MMAP_THRESHOLD: read; the
/// 16 bytes measured). Pages of A64FX systems have 64 KiB, others 4 KiB or
/// more: never less than a way.
static constexpr uint64_t mappedBytes = 128 * 1024, mallocHeaderBytes = 16;

static constexpr char zeroed = 0, initialised = 0, mapped = 0;

/// The section of the file that holds \p variable, in the order of the module;
/// null if unknown.
static const void *findArea(const GlobalVariable &variable) {
  if (variable.isDeclaration() || variable.isConstant() ||
      variable.isThreadLocal() || variable.hasSection())
    return nullptr;
  // The linker decides about the order of these.
  if (!variable.hasExternalLinkage() && !variable.hasLocalLinkage())
    return nullptr;
  return variable.getInitializer()->isNullValue() ? &zeroed : &initialised;
}

ArrayPlaces::ArrayPlaces(const Module &module) {
  const DataLayout &layout = module.getDataLayout();
  DenseMap<const void *, uint64_t> ends;
  for (const GlobalVariable &variable : module.globals()) {
    const void *area = findArea(variable);
    if (!area)
      continue;
    uint64_t bytes = layout.getTypeAllocSize(variable.getValueType());
    uint64_t &end = ends[area];
    end = alignTo(end, layout.getPreferredAlign(&variable));
    variables[&variable] = {area, end};
    end += bytes;
  }
}

/// Whether \p origin is a block that malloc takes from the system.
static bool isMapped(const Value &origin) {
  auto *call = dyn_cast<CallBase>(&origin);
  std::optional<Allocation> block =
      call ? findAllocation(const_cast<CallBase &>(*call)) : std::nullopt;
  if (!block)
    return false;
  auto *bytes = dyn_cast<ConstantInt>(block->bytes);
  auto *count = dyn_cast_or_null<ConstantInt>(block->count);
  if (!bytes || (block->count && !count))
    return false;
  return SaturatingMultiply(bytes->getLimitedValue(),
                            count ? count->getLimitedValue() : 1) >=
         mappedBytes;
}

ArrayPlace ArrayPlaces::getPlace(const Value &origin, uint64_t wayBytes) const {
  if (isMapped(origin))
    return {&mapped, mallocHeaderBytes % wayBytes};
  if (auto *variable = dyn_cast<GlobalVariable>(&origin)) {
    auto known = variables.find(variable);
    if (known != variables.end())
      return {known->second.area, known->second.bytes % wayBytes};
  }
  return {&origin, 0};
}
