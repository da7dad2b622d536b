// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/VariableNames.h"
#include "llvm/Analysis/ValueTracking.h"
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
