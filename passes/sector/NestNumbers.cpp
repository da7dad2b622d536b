// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NestNumbers.h.

#include "sector/NestNumbers.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// Whether \p value is the thread's first or last iteration, in \p variable.
bool NumberWriter::isBoundLoad(const Value *value,
                               const Value *variable) const {
  auto *load = dyn_cast<LoadInst>(value);
  return load && variable && load->getPointerOperand() == variable;
}

/// Memory that is there in front of the region.
static bool isReadable(const Value *address) {
  return isa<AllocaInst, GlobalVariable>(
      address->stripInBoundsConstantOffsets());
}

bool NumberWriter::isKnown(const Value *value, unsigned depth) const {
  constexpr unsigned maxDepth = 6;
  if (isa<Constant>(value))
    return true;
  if (!place.region)
    return isa<Argument>(value) ||
           place.dominators->dominates(cast<Instruction>(value), at);
  if (depth > maxDepth)
    return false;
  if (auto *argument = dyn_cast<Argument>(value)) {
    Value *operand = place.region->operandFor(argument->getArgNo());
    return operand && operand->getType() == argument->getType();
  }
  if (place.sharing && (isBoundLoad(value, place.sharing->lower) ||
                        isBoundLoad(value, place.sharing->upper)))
    return place.sharing->last && isKnown(place.sharing->last, depth + 1);
  if (auto *load = dyn_cast<LoadInst>(value)) {
    auto *address = dyn_cast<Argument>(load->getPointerOperand());
    Value *operand =
        address ? place.region->operandFor(address->getArgNo()) : nullptr;
    return load->isSimple() &&
           (isa<GlobalVariable>(load->getPointerOperand()) ||
            (operand && isReadable(operand)));
  }
  auto *operation = dyn_cast<BinaryOperator>(value);
  if (isa<CastInst>(value) || (operation && !operation->isIntDivRem()))
    return all_of(cast<Instruction>(value)->operands(), [&](const Use &use) {
      return isKnown(use.get(), depth + 1);
    });
  return false;
}

/// \p value where the ways are set; it is known there.
Value *NumberWriter::get(Value *value, IRBuilder<> &builder) const {
  if (!place.region || isa<Constant>(value))
    return value;
  if (auto *argument = dyn_cast<Argument>(value))
    return place.region->operandFor(argument->getArgNo());
  if (place.sharing && isBoundLoad(value, place.sharing->lower)) {
    Value *begin = place.sharing->begin;
    return isa_and_nonnull<Constant>(begin)
               ? begin
               : Constant::getNullValue(value->getType());
  }
  if (place.sharing && isBoundLoad(value, place.sharing->upper))
    return get(place.sharing->last, builder);
  if (auto *load = dyn_cast<LoadInst>(value))
    return builder.CreateAlignedLoad(load->getType(),
                                     get(load->getPointerOperand(), builder),
                                     load->getAlign());
  Instruction *copy = cast<Instruction>(value)->clone();
  for (Use &use : copy->operands())
    use.set(get(use.get(), builder));
  copy->dropPoisonGeneratingFlags();
  return builder.Insert(copy);
}

bool NumberWriter::isKnown(const SCEV *expression) const {
  return expression && !SCEVExprContains(expression, [&](const SCEV *part) {
           if (auto *unknown = dyn_cast<SCEVUnknown>(part))
             return !isKnown(unknown->getValue());
           if (auto *division = dyn_cast<SCEVUDivExpr>(part))
             return !isa<SCEVConstant>(division->getRHS());
           return !isa<SCEVConstant, SCEVCastExpr, SCEVAddExpr, SCEVMulExpr,
                       SCEVUDivExpr, SCEVMinMaxExpr, SCEVSequentialMinMaxExpr>(
               part);
         });
}

/// The only value that \p variable ever has; null: not known.
static Value *findOnlyValue(const AllocaInst &variable) {
  Value *only = nullptr;
  for (const User *user : variable.users()) {
    auto *store = dyn_cast<StoreInst>(user);
    auto *call = dyn_cast<CallBase>(user);
    if (store && store->getPointerOperand() == &variable && !only)
      only = const_cast<Value *>(store->getValueOperand());
    else if (!isa<LoadInst>(user) &&
             !(call && (findStart(*call) || call->isLifetimeStartOrEnd())))
      return nullptr;
  }
  return only;
}

/// The allocation, in front of the region, of what \p pointer of the region's
/// body points to.
std::optional<Allocation> NumberWriter::findObject(const Value &pointer) const {
  auto *load = dyn_cast<LoadInst>(&pointer);
  auto *argument =
      dyn_cast<Argument>(load ? load->getPointerOperand() : &pointer);
  if (!place.region || !argument)
    return std::nullopt;
  Value *operand = place.region->operandFor(argument->getArgNo());
  auto *variable = dyn_cast_or_null<AllocaInst>(operand);
  if (load)
    operand = variable ? findOnlyValue(*variable) : nullptr;
  auto *call = dyn_cast_or_null<CallBase>(operand);
  std::optional<Allocation> fresh =
      call ? findAllocation(*call) : std::optional<Allocation>();
  return fresh && place.dominators->dominates(call, at) ? fresh : std::nullopt;
}

bool NumberWriter::isKnown(const ArraySize &size) const {
  if (size.object)
    return bool(findObject(*size.object));
  return isKnown(size.bytes) &&
         all_of(size.product,
                [&](const SCEV *address) { return isKnown(address); }) &&
         all_of(size.loaded, [&](const ArraySize::Difference &one) {
           return isKnown(one.last) && isKnown(one.first);
         });
}

static Intrinsic::ID getMinMax(const SCEV &expression) {
  switch (expression.getSCEVType()) {
  case scUMaxExpr:
    return Intrinsic::umax;
  case scSMaxExpr:
    return Intrinsic::smax;
  case scSMinExpr:
    return Intrinsic::smin;
  default:
    return Intrinsic::umin; // the sequential one, too
  }
}

Value *NumberWriter::fold(const SCEVNAryExpr &expression,
                          IRBuilder<> &builder) const {
  // A pointer first: what is added to it are bytes.
  Value *result = nullptr;
  for (const SCEV *operand : expression.operands())
    if (operand->getType()->isPointerTy())
      result = write(operand, builder);
  for (const SCEV *operand : expression.operands()) {
    if (operand->getType()->isPointerTy())
      continue;
    Value *one = write(operand, builder);
    if (!result)
      result = one;
    else if (result->getType()->isPointerTy())
      result = builder.CreateGEP(builder.getInt8Ty(), result, one);
    else if (isa<SCEVAddExpr>(expression))
      result = builder.CreateAdd(result, one);
    else if (isa<SCEVMulExpr>(expression))
      result = builder.CreateMul(result, one);
    else
      result =
          builder.CreateBinaryIntrinsic(getMinMax(expression), result, one);
  }
  return result;
}

Value *NumberWriter::write(const SCEV *expression, IRBuilder<> &builder) const {
  if (auto *constant = dyn_cast<SCEVConstant>(expression))
    return constant->getValue();
  if (auto *unknown = dyn_cast<SCEVUnknown>(expression))
    return get(unknown->getValue(), builder);
  if (auto *division = dyn_cast<SCEVUDivExpr>(expression))
    return builder.CreateUDiv(write(division->getLHS(), builder),
                              write(division->getRHS(), builder));
  if (auto *several = dyn_cast<SCEVNAryExpr>(expression))
    return fold(*several, builder);
  auto *cast = llvm::cast<SCEVCastExpr>(expression);
  Value *from = write(cast->getOperand(), builder);
  Type *to = cast->getType();
  if (isa<SCEVSignExtendExpr>(cast))
    return builder.CreateSExt(from, to);
  if (isa<SCEVZeroExtendExpr>(cast))
    return builder.CreateZExt(from, to);
  return isa<SCEVTruncateExpr>(cast) ? builder.CreateTrunc(from, to)
                                     : builder.CreatePtrToInt(from, to);
}

Value *NumberWriter::write(const ArraySize &size, IRBuilder<> &builder) const {
  if (size.object) {
    Allocation fresh = *findObject(*size.object);
    Value *bytes = builder.CreateZExtOrTrunc(fresh.bytes, number);
    return fresh.count ? builder.CreateMul(bytes, builder.CreateZExtOrTrunc(
                                                      fresh.count, number))
                       : bytes;
  }
  Value *sum = write(size.bytes, builder);
  if (!size.product.empty())
    sum = builder.getInt64(1);
  for (const SCEV *address : size.product)
    sum = builder.CreateMul(
        sum,
        builder.CreateAlignedLoad(number, write(address, builder), Align(8)));
  for (const ArraySize::Difference &one : size.loaded) {
    auto load = [&](const SCEV *address) {
      Value *value = builder.CreateAlignedLoad(
          one.type, write(address, builder), Align(1));
      return one.type->isPointerTy() ? builder.CreatePtrToInt(value, number)
                                     : builder.CreateSExtOrTrunc(value, number);
    };
    Value *elements = builder.CreateSub(load(one.last), load(one.first));
    sum = builder.CreateAdd(
        sum, builder.CreateMul(elements, builder.getInt64(one.factor)));
  }
  return sum;
}

bool NumberWriter::isLastKnown() const {
  if (!place.region)
    return true;
  const Value *begin = place.sharing->begin;
  return place.sharing->last && isKnown(place.sharing->last) &&
         (!begin || isa<ConstantInt>(begin));
}

Value *NumberWriter::isAnyIteration(IRBuilder<> &builder) const {
  Value *last = get(place.sharing->last, builder);
  Value *begin = place.sharing->begin;
  return builder.CreateICmpSGE(
      last, begin ? begin : Constant::getNullValue(last->getType()));
}
