// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SourceNames.h.

#include "hints/SourceNames.h"
#include "hints/HintSource.h"
#include "hints/PointerUses.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

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

/// How \p type, an integer of the source, is stored; null for other types.
static Type *integerType(const DIType *type, LLVMContext &context) {
  while (auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    if (derived->getTag() == dwarf::DW_TAG_pointer_type)
      return nullptr;
    type = derived->getBaseType();
  }
  auto *basic = dyn_cast_or_null<DIBasicType>(type);
  bool isInteger = basic && (basic->getEncoding() == dwarf::DW_ATE_signed ||
                             basic->getEncoding() == dwarf::DW_ATE_unsigned);
  return isInteger && basic->getSizeInBits() <= 64
             ? IntegerType::get(context, basic->getSizeInBits())
             : nullptr;
}

/// Whether \p scope is that of \p function or of a procedure around it.
static bool isAround(const DIScope *scope, const Function &function) {
  const DIScope *own = function.getSubprogram();
  while (own && own != scope)
    own = own->getScope();
  return own;
}

/// The globals \p name that are integers, with their place in a common block:
/// those of \p function and of what is around it, or else those of modules.
static std::vector<NumberVariable> globalIntegersNamed(Function &function,
                                                       StringRef name) {
  LLVMContext &context = function.getContext();
  std::vector<NumberVariable> own, others;
  for (GlobalVariable &global : function.getParent()->globals()) {
    SmallVector<DIGlobalVariableExpression *, 1> infos;
    global.getDebugInfo(infos);
    for (DIGlobalVariableExpression *info : infos) {
      DIGlobalVariable *variable = info->getVariable();
      int64_t offset = 0;
      Type *type = integerType(variable->getType(), context);
      if (!type || !variable->getName().equals_insensitive(name) ||
          !info->getExpression()->extractIfOffset(offset))
        continue;
      const DIScope *scope = variable->getScope();
      if (auto *block = dyn_cast_or_null<DICommonBlock>(scope))
        scope = block->getScope();
      bool isOwn = scope && isAround(scope, function);
      if (!isOwn && isa_and_nonnull<DISubprogram>(scope))
        continue;
      Value *address = ConstantExpr::getGetElementPtr(
          Type::getInt8Ty(context), &global,
          ConstantInt::getSigned(Type::getInt64Ty(context), offset));
      (isOwn ? own : others).push_back({address, type});
    }
  }
  return own.empty() ? others : own;
}

NumberVariable mpg::integerNamed(Function &function, StringRef name,
                                 Instruction *&known) {
  known = nullptr;
  std::vector<NumberVariable> found;
  for (Instruction &instruction : instructions(function))
    for (DbgVariableRecord &record :
         filterDbgVars(instruction.getDbgRecordRange())) {
      DILocalVariable *variable = record.getVariable();
      if (!record.isDbgDeclare() || record.getDebugLoc()->getInlinedAt() ||
          !variable->getName().equals_insensitive(name))
        continue;
      Type *type = integerType(variable->getType(), function.getContext());
      Value *address = record.getVariableLocationOp(0);
      bool isPlain = type && record.getExpression()->getNumElements() == 0 &&
                     isa_and_nonnull<Instruction, Argument>(address);
      found.push_back({isPlain ? address : nullptr, type});
      known = &instruction;
    }
  if (found.empty())
    found = globalIntegersNamed(function, name);
  // Of a module of another source.
  GlobalVariable *global =
      found.empty() ? globalNamed(*function.getParent(), name) : nullptr;
  if (global && global->getValueType()->isIntegerTy())
    found.push_back({global, global->getValueType()});
  return found.size() == 1 ? found.front() : NumberVariable();
}

Value *mpg::rootOfParameter(Function &function, unsigned number) {
  if (number < 1 || number > function.arg_size())
    return nullptr;
  Argument *argument = function.getArg(number - 1);
  // clang stores each parameter into a local variable, which the code then
  // uses; at the start of the pipeline that is still so.
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
  return findTarget(root);
}

bool mpg::isTeamOfFlang(const Function &function) {
  return function.getName().contains("..omp_par");
}

/// What flang calls first for the directive of \p fork; null if that is not
/// there.
static const Instruction *startOfDirective(const CallBase &fork) {
  // Code that nothing reaches may be a loop without a way in.
  SmallPtrSet<const BasicBlock *, 8> seen;
  for (const Instruction *before = &fork; before;) {
    const BasicBlock *block = before->getParent();
    before = before->getPrevNode();
    if (!before && (block = block->getSinglePredecessor()) &&
        seen.insert(block).second)
      before = block->getTerminator();
    auto *call = dyn_cast_or_null<CallBase>(before);
    if (call && findParallelRegion(*call))
      return nullptr;
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->getName() == "__kmpc_global_thread_num")
      return call;
  }
  return nullptr;
}

/// The line of \p instruction in the file of its function; 0: of included text,
/// of which flang keeps no line. None: it has none.
static std::optional<unsigned> getLine(const Instruction &instruction) {
  // flang gives the start of a team the line of what is in front of it. clang
  // does not, and asks for the thread's number once, at the top.
  auto *call = dyn_cast<CallBase>(&instruction);
  const Function *team = call ? findParallelRegion(*call) : nullptr;
  if (team && isTeamOfFlang(*team))
    if (const Instruction *start = startOfDirective(*call))
      return getLine(*start);
  const DebugLoc &location = instruction.getDebugLoc();
  const DISubprogram *program = instruction.getFunction()->getSubprogram();
  // Exits come after the last line; a line's variables are at the top.
  if (isa<ReturnInst, ResumeInst, AllocaInst>(instruction) || !location ||
      !program || location->getFilename() != program->getFilename())
    return std::nullopt;
  return location.getLine();
}

std::shared_ptr<Region> mpg::regionOfLines(const SourceLines &lines,
                                           Function &function) {
  auto region = std::make_shared<Region>();
  // The code is still in the order of the source.
  SmallVector<Instruction *, 8> included;
  unsigned before = 0;
  auto addIncluded = [&](unsigned after) {
    if (lines.mayContain(before, after))
      region->insert(included.begin(), included.end());
    included.clear();
  };
  for (Instruction &instruction : instructions(function)) {
    std::optional<unsigned> line = getLine(instruction);
    if (!line)
      continue;
    if (*line == 0) {
      included.push_back(&instruction);
      continue;
    }
    addIncluded(*line);
    before = *line;
    if (lines.contains(*line))
      region->insert(&instruction);
  }
  addIncluded(UINT_MAX);
  return region;
}

/// Blocks after \p first, and that one, that lead to code of \p lines without
/// coming back to it. All are entered through it alone.
static SmallPtrSet<BasicBlock *, 16>
blocksLeadingTo(const Region &lines, BasicBlock &first,
                const DominatorTree &dominators) {
  SmallPtrSet<BasicBlock *, 16> found;
  SmallVector<BasicBlock *, 16> todo;
  for (const Instruction *instruction : lines)
    if (!isa<PHINode>(instruction))
      todo.push_back(const_cast<BasicBlock *>(instruction->getParent()));
  while (!todo.empty()) {
    BasicBlock *block = todo.pop_back_val();
    if (dominators.dominates(&first, block) && found.insert(block).second &&
        block != &first)
      todo.append(pred_begin(block), pred_end(block));
  }
  return found;
}

bool mpg::findBracket(WaysRequest &request) {
  DominatorTree dominators(*request.function);
  auto isInside = [lines = request.region](const Instruction &instruction) {
    return lines->contains(&instruction) && !isa<PHINode>(instruction);
  };
  BasicBlock *first = nullptr;
  for (const Instruction &instruction : instructions(*request.function)) {
    auto *block = const_cast<BasicBlock *>(instruction.getParent());
    if (isInside(instruction) && dominators.isReachableFromEntry(block))
      first =
          first ? dominators.findNearestCommonDominator(first, block) : block;
  }
  if (!first)
    return false;
  auto inside = find_if(*first, isInside);
  request.begin = inside == first->end() ? first->getTerminator() : &*inside;
  auto blocks = blocksLeadingTo(*request.region, *first, dominators);
  auto region = std::make_shared<Region>();
  for (BasicBlock *block : blocks) {
    Instruction *end = nullptr;
    if (none_of(successors(block), [&](BasicBlock *next) {
          return next != first && blocks.contains(next);
        }))
      for (Instruction &instruction : *block)
        if (isInside(instruction) && !instruction.isTerminator())
          end = instruction.getNextNode();
    Instruction *from = block == first ? request.begin : &block->front();
    for (; from && from != end; from = from->getNextNode())
      region->insert(from);
    if (end)
      request.ends.push_back(end);
  }
  request.region = region;
  return true;
}

/// Whether \p location, of code that is not inlined, is in the file \p name.
static bool isInFile(const DebugLoc &location, StringRef name) {
  return location && !location->getInlinedAt() &&
         sys::path::filename(location->getFilename()) == name;
}

bool mpg::hasCode(const Module &module, StringRef file) {
  return any_of(module, [&](const Function &function) {
    return any_of(instructions(function), [&](const Instruction &instruction) {
      return isInFile(instruction.getDebugLoc(), file);
    });
  });
}

std::vector<CallBase *> mpg::callsAt(Module &module, StringRef file,
                                     unsigned line) {
  std::vector<CallBase *> found;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction);
          call && !isa<IntrinsicInst>(call) &&
          isInFile(call->getDebugLoc(), file) &&
          call->getDebugLoc().getLine() == line)
        found.push_back(call);
  return found;
}

static bool isOnLine(const Instruction &instruction, const CallBase &call) {
  const DebugLoc &location = instruction.getDebugLoc();
  const DebugLoc &other = call.getDebugLoc();
  return location && location.getLine() == other.getLine() &&
         location->getFilename() == other->getFilename();
}

std::vector<Value *> mpg::findReceivers(CallBase &call) {
  SmallPtrSet<const Value *, 8> values = {&call};
  std::vector<Value *> found;
  // The code is still in the order of the source.
  for (Instruction &instruction : instructions(*call.getFunction())) {
    if (!isOnLine(instruction, call))
      continue;
    if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      Value *place = store->getPointerOperand();
      if (values.contains(store->getValueOperand()) &&
          isa<AllocaInst, GlobalVariable>(place) && !is_contained(found, place))
        found.push_back(place);
    } else if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      if (is_contained(found, load->getPointerOperand()))
        values.insert(load);
    } else if (isa<CastInst, GetElementPtrInst, PHINode, SelectInst>(
                   instruction) &&
               any_of(instruction.operands(), [&](const Use &operand) {
                 return values.contains(operand.get());
               })) {
      values.insert(&instruction);
    }
  }
  return found;
}
