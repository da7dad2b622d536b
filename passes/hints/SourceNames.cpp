// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints/SourceNames.h"
#include "hints/HintReaders.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// Whether \p linkageName is what flang makes of \p name: name_ or
/// _QM<module>P<name>, E<name> for variables.
static bool isFortranName(StringRef linkageName, StringRef name, char kind) {
  if (linkageName.consume_back("_") && linkageName.equals_insensitive(name))
    return true;
  return linkageName.starts_with("_Q") && linkageName.size() > name.size() &&
         linkageName.ends_with_insensitive(name) &&
         linkageName[linkageName.size() - name.size() - 1] == kind;
}

std::vector<Function *> mpg::functionsNamed(Module &module, StringRef name) {
  std::vector<Function *> found;
  for (Function &function : module) {
    StringRef own = function.getName().split("..").first;
    if (!function.isDeclaration() &&
        (own == name || isFortranName(own, name, 'P')))
      found.push_back(&function);
  }
  return found;
}

GlobalVariable *mpg::globalNamed(Module &module, StringRef name) {
  for (GlobalVariable &global : module.globals())
    if (global.getName() == name || isFortranName(global.getName(), name, 'E'))
      return &global;
  return nullptr;
}

/// Whether \p variable can be meant by its name in \p function: its own, or one
/// of a module or common block.
static bool isVisible(const DIGlobalVariable &variable,
                      const Function &function) {
  auto *scope = dyn_cast_or_null<DISubprogram>(variable.getScope());
  return !scope || scope == function.getSubprogram();
}

/// Adds the globals \p name: what Fortran programs save is one, as are
/// variables of modules, common blocks and the main program.
static void addGlobalsNamed(Function &function, StringRef name,
                            std::vector<Value *> &found) {
  std::vector<Value *> others;
  for (GlobalVariable &global : function.getParent()->globals()) {
    SmallVector<DIGlobalVariableExpression *, 1> infos;
    global.getDebugInfo(infos);
    for (DIGlobalVariableExpression *info : infos)
      if (info->getVariable()->getName().equals_insensitive(name))
        (isVisible(*info->getVariable(), function) ? found : others)
            .push_back(&global);
  }
  // An internal procedure sees those of its host.
  if (found.empty() && others.size() == 1)
    found = others;
}

std::vector<Value *> mpg::variablesNamed(Function &function, StringRef name) {
  std::vector<Value *> found;
  for (Instruction &instruction : instructions(function))
    for (DbgVariableRecord &record :
         filterDbgVars(instruction.getDbgRecordRange())) {
      // Clang makes an assignment of each store.
      Value *address = record.isDbgAssign()    ? record.getAddress()
                       : record.isDbgDeclare() ? record.getVariableLocationOp(0)
                                               : nullptr;
      if (record.getVariable()->getName().equals_insensitive(name) &&
          isa_and_nonnull<Instruction, Argument, GlobalVariable>(address) &&
          address->getType()->isPointerTy() && !is_contained(found, address))
        found.push_back(address);
    }
  if (found.empty())
    addGlobalsNamed(function, name, found);
  return found;
}

Value *mpg::rootOfParameter(Function &function, unsigned number) {
  if (number < 1 || number > function.arg_size())
    return nullptr;
  Argument *argument = function.getArg(number - 1);
  for (User *user : argument->users())
    if (auto *store = dyn_cast<StoreInst>(user))
      if (store->getValueOperand() == argument &&
          isa<AllocaInst>(store->getPointerOperand()))
        return store->getPointerOperand();
  return argument->getType()->isPointerTy() ? argument : nullptr;
}

std::optional<HintRequest::Target> mpg::targetOfRoot(Value *root) {
  Type *type = nullptr;
  if (auto *variable = dyn_cast<AllocaInst>(root))
    type = variable->getAllocatedType();
  else if (auto *global = dyn_cast<GlobalVariable>(root))
    type = global->getValueType();
  auto *structure = dyn_cast_or_null<StructType>(type);
  if (structure && structure->getNumElements() &&
      structure->getElementType(0)->isPointerTy())
    return HintRequest::pointerVariable;
  for (const User *user : root->users()) {
    auto *copy = dyn_cast<MemCpyInst>(user);
    if (copy && copy->getRawSource() == root && isa<Argument>(root))
      return HintRequest::pointerVariable;
    auto *gep = dyn_cast<GetElementPtrInst>(user);
    if (gep && gep->hasAllZeroIndices() &&
        isa<StructType>(gep->getSourceElementType()))
      return HintRequest::pointerVariable;
  }
  return targetOf(root);
}

std::shared_ptr<Region> mpg::regionOfLines(const SourceLines &lines,
                                           Function &function) {
  auto region = std::make_shared<Region>();
  for (Instruction &instruction : instructions(function)) {
    const DebugLoc &location = instruction.getDebugLoc();
    // Exits come after the last line.
    if (isa<ReturnInst, ResumeInst>(instruction))
      continue;
    // Included text has lines of its own.
    if (location && function.getSubprogram() &&
        location->getFilename() == function.getSubprogram()->getFilename() &&
        location.getLine() >= lines.first && location.getLine() <= lines.last)
      region->insert(&instruction);
  }
  return region;
}

bool mpg::findBracket(WaysRequest &request) {
  DominatorTree dominators(*request.function);
  PostDominatorTree postDominators(*request.function);
  BasicBlock *first = nullptr, *last = nullptr;
  for (BasicBlock &block : *request.function)
    for (Instruction &instruction : block) {
      if (!request.region->contains(&instruction) || isa<PHINode>(instruction))
        continue;
      first =
          first ? dominators.findNearestCommonDominator(first, &block) : &block;
      last = last ? postDominators.findNearestCommonDominator(last, &block)
                  : &block;
      if (!first || !last)
        return false;
    }
  if (!first)
    return false;
  auto isInside = [&](Instruction &instruction) {
    return request.region->contains(&instruction) && !isa<PHINode>(instruction);
  };
  request.begin = first->getTerminator();
  for (Instruction &instruction : *first)
    if (isInside(instruction)) {
      request.begin = &instruction;
      break;
    }
  Instruction *end = &*last->getFirstInsertionPt();
  for (Instruction &instruction : *last)
    if (isInside(instruction) && !instruction.isTerminator())
      end = instruction.getNextNode();
  request.ends.push_back(end);
  return true;
}
