// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/Allocations.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"

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

/// Whether sizes are numbers and memory is a pointer: a function that only has
/// the name is none.
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

std::optional<Allocation> mpg::allocationOf(CallBase &call) {
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
