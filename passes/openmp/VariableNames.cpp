// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/VariableNames.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mpg;

static std::string nameOfGlobal(const GlobalVariable &global) {
  SmallVector<DIGlobalVariableExpression *, 1> infos;
  global.getDebugInfo(infos);
  // A common block has an entry for each of its variables.
  if (infos.size() == 1)
    return infos.front()->getVariable()->getName().str();
  StringRef name = global.getName();
  // Flang: _QM<module>E<variable>, _QF<procedure>E<variable>; block_
  if (name.starts_with("_Q"))
    // Descriptors are taken apart into variables with a number.
    return name.rsplit('E').second.split('.').first.str();
  return demangle(name.str());
}

/// The variable that debug information of \p function says \p value holds.
static std::string nameInDebugInfo(const Function &function,
                                   const Value *value) {
  for (const Instruction &instruction : instructions(function))
    for (const DbgVariableRecord &record :
         filterDbgVars(instruction.getDbgRecordRange()))
      if (is_contained(record.location_ops(), value))
        return record.getVariable()->getName().str();
  return "";
}

/// The class that variables with the value \p pointer point to, the largest.
static const DICompositeType *classBehind(const Value &pointer,
                                          const Function &function) {
  const DICompositeType *found = nullptr;
  for (const Instruction &instruction : instructions(function))
    for (const DbgVariableRecord &record :
         filterDbgVars(instruction.getDbgRecordRange())) {
      if (!is_contained(record.location_ops(), &pointer))
        continue;
      const DIType *type = record.getVariable()->getType();
      while (auto *derived = dyn_cast_or_null<DIDerivedType>(type))
        type = derived->getBaseType();
      auto *whole = dyn_cast_or_null<DICompositeType>(type);
      if (whole && (!found || whole->getSizeInBits() > found->getSizeInBits()))
        found = whole;
    }
  return found;
}

std::string mpg::memberNameOf(const Value &address) {
  auto *at = dyn_cast<Instruction>(&address);
  auto *argument = dyn_cast<Argument>(&address);
  const Function *function = at         ? at->getFunction()
                             : argument ? argument->getParent()
                                        : nullptr;
  if (!function)
    return variableNameOf(address);
  const DataLayout &layout = function->getDataLayout();
  APInt offset(layout.getIndexTypeSizeInBits(address.getType()), 0);
  const Value *base =
      address.stripAndAccumulateConstantOffsets(layout, offset, true);
  if (const DICompositeType *whole = classBehind(*base, *function))
    for (const DINode *element : whole->getElements())
      if (auto *member = dyn_cast<DIDerivedType>(element);
          member && member->getTag() == dwarf::DW_TAG_member &&
          !member->isStaticMember() &&
          offset.getZExtValue() * 8 - member->getOffsetInBits() <
              member->getSizeInBits())
        return member->getName().str();
  return variableNameOf(address);
}

std::string mpg::variableNameOf(const Value &address) {
  const Value *object = getUnderlyingObject(&address);
  if (auto *global = dyn_cast<GlobalVariable>(object))
    return nameOfGlobal(*global);
  const Function *function = nullptr;
  if (auto *argument = dyn_cast<Argument>(object))
    function = argument->getParent();
  if (auto *instruction = dyn_cast<Instruction>(object))
    function = instruction->getFunction();
  if (!function)
    return "";
  std::string name = nameInDebugInfo(*function, object);
  // A pointer that is shared by reference is loaded from the variable.
  if (auto *load = dyn_cast<LoadInst>(object); load && name.empty())
    name = variableNameOf(*load->getPointerOperand());
  return name;
}
