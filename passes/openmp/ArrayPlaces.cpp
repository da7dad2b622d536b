// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/ArrayPlaces.h"
#include "openmp/Allocations.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

/// From this size on, glibc's malloc maps pages of its own for a block, which
/// then begins 16 bytes behind a page (HW:glibc-mmap-threshold). Pages of A64FX
/// systems have 64 KiB, others 4 KiB or more: never less than a way.
static constexpr uint64_t mappedBytes = 128 * 1024, mallocHeaderBytes = 16;

static constexpr char zeroed = 0, initialised = 0, mapped = 0;

/// The part of the file's memory that \p variable goes to, in the order of the
/// module; null if that is not known.
static const void *areaOf(const GlobalVariable &variable) {
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
    const void *area = areaOf(variable);
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
      call ? allocationOf(const_cast<CallBase &>(*call)) : std::nullopt;
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

ArrayPlace ArrayPlaces::placeOf(const Value &origin, uint64_t wayBytes) const {
  if (isMapped(origin))
    return {&mapped, mallocHeaderBytes % wayBytes};
  if (auto *variable = dyn_cast<GlobalVariable>(&origin)) {
    auto known = variables.find(variable);
    if (known != variables.end())
      return {known->second.area, known->second.bytes % wayBytes};
  }
  return {&origin, 0};
}
