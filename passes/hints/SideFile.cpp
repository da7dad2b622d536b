// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hints from a file beside the code. It names things as the source does, so
// most of this is about finding again, by debug information and flang's rules
// for names, what became of a variable, a function or a range of lines. See
// HintSource.h.

#include "hints/HintSource.h"
#include "hints/HintText.h"
#include "hints/PointerUses.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace llvm;
using namespace mpg;

//===----------------------------------------------------------------------===//
// Names of the source
//===----------------------------------------------------------------------===//
//
// From the names and lines of a source, C or Fortran, to what became of them in
// the module.

namespace {

/// Lines of one file.
struct SourceLines {
  SmallVector<std::pair<unsigned, unsigned>, 1> ranges; ///< both ends included
  bool hasIncluded = false; ///< included text between them as well

  bool areGiven() const { return !ranges.empty(); }
  bool contains(unsigned line) const {
    return any_of(ranges, [=](auto range) {
      return range.first <= line && line <= range.second;
    });
  }
  /// Whether code between \p before and \p after, without a line number, may
  /// belong to the lines.
  bool mayContain(unsigned before, unsigned after) const {
    return hasIncluded && any_of(ranges, [=](auto range) {
             return before <= range.second && range.first <= after;
           });
  }
};

} // namespace

/// Whether \p linkageName is what flang makes of \p name: name_ or
/// _QM<module>P<name>, E<name> for variables.
static bool isFortranName(StringRef linkageName, StringRef name, char kind) {
  if (linkageName.consume_back("_") && linkageName.equals_insensitive(name))
    return true;
  return linkageName.starts_with("_Q") && linkageName.size() > name.size() &&
         linkageName.ends_with_insensitive(name) &&
         linkageName[linkageName.size() - name.size() - 1] == kind;
}

/// The function \p name (a linkage name or the name of a Fortran procedure),
/// and the functions that flang made of its OpenMP regions.
static std::vector<Function *> functionsNamed(Module &module, StringRef name) {
  std::vector<Function *> found;
  for (Function &function : module) {
    StringRef own = function.getName().split("..").first;
    if (!function.isDeclaration() &&
        (own == name || isFortranName(own, name, 'P')))
      found.push_back(&function);
  }
  return found;
}

/// The global or module variable \p name; nullptr if there is none.
static GlobalVariable *globalNamed(Module &module, StringRef name) {
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

/// Addresses of the variables \p name of \p function: known from debug
/// information only. Letters may be upper or lower case.
static std::vector<Value *> variablesNamed(Function &function, StringRef name) {
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

/// The integer variable \p name of \p function; without an address if there is
/// none, or more than one. \p known: the point where it has its address, or an
/// argument its value; null: from the start.
static NumberVariable integerNamed(Function &function, StringRef name,
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

/// Parameter \p number (1 is the first), or the local variable into which clang
/// stores it; nullptr if there is none.
static Value *rootOfParameter(Function &function, unsigned number) {
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

/// As targetOf; descriptors of Fortran arrays, which begin with the pointer,
/// count as pointers.
static std::optional<HintRequest::Target> targetOfRoot(Value *root) {
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

/// Whether \p function is a parallel region of flang's.
static bool isTeamOfFlang(const Function &function) {
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
    if (call && parallelRegionOf(*call))
      return nullptr;
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->getName() == "__kmpc_global_thread_num")
      return call;
  }
  return nullptr;
}

/// The line of \p instruction in the file of its function; 0: of included text,
/// of which flang keeps no line. None: it has none.
static std::optional<unsigned> lineOf(const Instruction &instruction) {
  // flang gives the start of a team the line of what is in front of it. clang
  // does not, and asks for the thread's number once, at the top.
  auto *call = dyn_cast<CallBase>(&instruction);
  const Function *team = call ? parallelRegionOf(*call) : nullptr;
  if (team && isTeamOfFlang(*team))
    if (const Instruction *start = startOfDirective(*call))
      return lineOf(*start);
  const DebugLoc &location = instruction.getDebugLoc();
  const DISubprogram *program = instruction.getFunction()->getSubprogram();
  // Exits come after the last line; a line's variables are at the top.
  if (isa<ReturnInst, ResumeInst, AllocaInst>(instruction) || !location ||
      !program || location->getFilename() != program->getFilename())
    return std::nullopt;
  return location.getLine();
}

/// The code in \p function that came from \p lines: known from debug
/// information only.
static std::shared_ptr<Region> regionOfLines(const SourceLines &lines,
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
    std::optional<unsigned> line = lineOf(instruction);
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

/// Sets the begin, the ends and the code of \p request so that all of its lines
/// lie between. False if that is not possible.
static bool findBracket(WaysRequest &request) {
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

static bool hasCodeOf(const Module &module, StringRef file) {
  return any_of(module, [&](const Function &function) {
    return any_of(instructions(function), [&](const Instruction &instruction) {
      return isInFile(instruction.getDebugLoc(), file);
    });
  });
}

/// The calls in line \p line of \p file.
static std::vector<CallBase *> callsAt(Module &module, StringRef file,
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

/// The variables that have in the line of \p call what it returns: two of
/// `a = b = malloc(n)`.
static std::vector<Value *> receiversOf(CallBase &call) {
  SmallPtrSet<const Value *, 8> values = {&call};
  std::vector<Value *> found;
  // The code is still in the order of the source.
  for (Instruction &instruction : instructions(*call.getFunction())) {
    const DebugLoc &location = instruction.getDebugLoc();
    if (!location || location.getLine() != call.getDebugLoc().getLine())
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

//===----------------------------------------------------------------------===//
// Lines of the file
//===----------------------------------------------------------------------===//

namespace {
/// NAME, FUNCTION/VARIABLE or FUNCTION/NUMBER, each with @FIRST-LAST or
/// without; or FILE:LINE/VARIABLE or FILE:LINE, of a block of the heap.
struct Key {
  StringRef name;
  StringRef variable;
  std::optional<unsigned> parameter; ///< 1 is the first
  SourceLines lines;
  unsigned blockLine = 0; ///< name is that of its file
};

class SideFileReader {
public:
  SideFileReader(Module &module, StringRef path, HintRequests &requests)
      : module(module), path(path), requests(requests) {}
  void read(MemoryBufferRef buffer);

private:
  bool readOrigin(SMLoc entry);
  void readEntry(yaml::KeyValueNode &entry);
  void readValue(const Key &key, yaml::Node *value);
  void readText(const Key &key, yaml::Node *value,
                SmallVectorImpl<HintText> &texts);
  void apply(const Key &key, const HintText &text);
  void applyWays(const Key &key, const HintText &text);
  bool setVariables(const WayNames &names, WaysRequest &request);
  bool applyToVariable(const Key &key, const HintText &text,
                       Function &function);
  void applyToBlock(const Key &key, const HintText &text);
  bool applyToResult(const Key &key, const HintText &text, CallBase &call);
  void add(const Key &key, const HintText &text, Value *root,
           Function *function);
  void addHint(const Key &key, const Hint &hint, Value *root,
               HintRequest::Target target, Function *function);
  void noteAbsent(const Twine &name);
  void complain(const Twine &text) {
    if (requests.complaints.insert((where.text() + text).str()).second)
      warn(module.getContext(), where, text);
  }

  Module &module;
  StringRef path;
  StringRef text;
  HintRequests &requests;
  SourceMgr sources;
  SourceLine where;
  bool isDirective = false; ///< the entry comes from an !OCL line
};
} // namespace

static constexpr char noWays[] =
    "no ways are set, and tags there have no effect without ways from "
    "elsewhere: ";

// --- Entries

/// flang calls all files the same.
static std::string nameOf(const Module &module) {
  StringRef file = module.getSourceFileName();
  return file == "FIRModule" ? "this file" : file.str();
}

/// The file may serve a whole program, so a name that is missing from this
/// source is not a mistake; a name that should come from this source is.
void SideFileReader::noteAbsent(const Twine &name) {
  std::string text = ("there is no " + name + " in " + nameOf(module)).str();
  if (isDirective)
    return complain(text);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    OptimizationRemarkMissed remark(remarkPass, "NameAbsent", DebugLoc(),
                                    &function.getEntryBlock());
    remark << where.text() << text;
    OptimizationRemarkEmitter(&function).emit(remark);
    return;
  }
}

void SideFileReader::add(const Key &key, const HintText &text, Value *root,
                         Function *function) {
  // In an OpenMP region of Fortran, the choice for the variable itself counts.
  if (text.kind == HintKind::touch && isa<Instruction>(root) &&
      !isa<AllocaInst>(root))
    return;
  std::optional<HintRequest::Target> target = HintRequest::function;
  if (!isa<Function>(root))
    target = targetOfRoot(root);
  if (!target)
    return complain("'" + key.name + "/" + key.variable +
                    "' is neither a pointer nor an array; the hint is ignored");
  if (text.kind == HintKind::touch)
    requests.touches.push_back({root, *target, text.touch, where});
  else
    addHint(key, text.hint, root, *target, function);
}

void SideFileReader::addHint(const Key &key, const Hint &hint, Value *root,
                             HintRequest::Target target, Function *function) {
  HintRequest request;
  request.root = root;
  request.hint = hint;
  request.where = where;
  request.isDirective = isDirective;
  std::string entry = where.text() + "/" + key.variable.str();
  request.entry =
      requests.entries.try_emplace(entry, requests.entries.size() + 1)
          .first->second;
  request.target = target;
  if (!key.variable.empty() || key.lines.areGiven())
    request.regionFunction = function;
  if (key.lines.areGiven())
    request.region = regionOfLines(key.lines, *function);
  if (request.region && request.target == HintRequest::function)
    for (Function *inner : functionWithRegions(*function)) {
      std::shared_ptr<Region> lines = regionOfLines(key.lines, *inner);
      request.region->insert(lines->begin(), lines->end());
    }
  requests.hints.push_back(request);
}

bool SideFileReader::applyToVariable(const Key &key, const HintText &text,
                                     Function &function) {
  if (key.parameter) {
    Value *root = rootOfParameter(function, *key.parameter);
    if (root)
      add(key, text, root, &function);
    return root;
  }
  std::vector<Value *> roots = variablesNamed(function, key.variable);
  for (Value *root : roots)
    add(key, text, root, &function);
  return !roots.empty();
}

/// Sets what \p names mean where \p request begins: false if that is not known.
bool SideFileReader::setVariables(const WayNames &names, WaysRequest &request) {
  bool isWhole = !request.begin;
  if (isWhole && !names.isEmpty())
    coverFunction(request);
  DominatorTree dominators(*request.function);
  auto set = [&](StringRef name, NumberVariable &into) {
    if (name.empty())
      return true;
    Instruction *known;
    into = integerNamed(*request.function, name, known);
    if (isWhole && known && dominators.dominates(request.begin, known))
      request.begin = known;
    bool inRegion = isTeamOfFlang(*request.function);
    auto *first = dyn_cast_or_null<Instruction>(into.address);
    if (into.address && (!first || dominators.dominates(first, request.begin)))
      return true;
    complain(Twine(noWays) + "'" + name + "' is not an integer variable of '" +
             request.function->getName().split("..").first +
             "' that can be read there" +
             (inRegion ? ", where only variables are known that the parallel "
                         "region uses: write the number, or begin in front of "
                         "the parallel region"
                       : ", or there is no debug information (-g)"));
    return false;
  };
  return set(names.l1, request.l1Variable) && set(names.l2, request.l2Variable);
}

/// The code of \p lines: of several functions where a parallel region is cut
/// by them or holds them. Empty if some of it cannot be bracketed.
static std::vector<WaysRequest>
requestsForLines(const WaysRequest &request, const SourceLines &lines,
                 ArrayRef<Function *> functions) {
  std::vector<WaysRequest> found;
  for (Function *function : functions) {
    WaysRequest one = request;
    one.function = function;
    one.region = regionOfLines(lines, *function);
    if (one.region->empty())
      continue;
    if (!findBracket(one))
      return {};
    found.push_back(one);
  }
  SmallPtrSet<Function *, 4> inside;
  for (const WaysRequest &one : found)
    for (Function *region : parallelRegionsIn(one))
      inside.insert(region);
  erase_if(found, [&](const WaysRequest &one) {
    return inside.contains(one.function);
  });
  return found;
}

void SideFileReader::applyWays(const Key &key, const HintText &text) {
  std::vector<Function *> functions = functionsNamed(module, key.name);
  if (functions.empty())
    return noteAbsent("function '" + key.name + "'");
  // Parallel regions of it are found from there.
  WaysRequest request;
  request.function = functions.front();
  request.ways = text.ways;
  request.where = where;
  request.isDirective = isDirective;
  std::vector<WaysRequest> found = {request};
  if (key.lines.areGiven())
    found = requestsForLines(request, key.lines, functions);
  if (found.empty())
    return complain(Twine(noWays) + "lines " +
                    Twine(key.lines.ranges.front().first) + " to " +
                    Twine(key.lines.ranges.back().second) + " of '" + key.name +
                    "' have no code, no one way in and out, or no debug "
                    "information (-g)");
  for (WaysRequest &one : found)
    if (setVariables(text.wayNames, one))
      requests.ways.push_back(one);
}

/// Adds the variables that get what \p call returns. False if the key names one
/// and it is not among them.
bool SideFileReader::applyToResult(const Key &key, const HintText &text,
                                   CallBase &call) {
  if (!call.getType()->isPointerTy())
    return false;
  std::vector<Value *> roots = receiversOf(call);
  std::vector<Value *> named =
      variablesNamed(*call.getFunction(), key.variable);
  if (!key.variable.empty() &&
      none_of(roots, [&](Value *root) { return is_contained(named, root); }))
    return false;
  for (Value *root : roots)
    add(key, text, root, call.getFunction());
  return !roots.empty();
}

/// A block is known by the line that allocates it. The hint is for the
/// variables that get its address there: no hint follows memory.
void SideFileReader::applyToBlock(const Key &key, const HintText &text) {
  if (text.kind == HintKind::ways || key.lines.areGiven())
    return complain("'" + key.name + ":" + Twine(key.blockLine) +
                    "' is a block of the heap, which has no ways and no lines");
  std::vector<CallBase *> calls = callsAt(module, key.name, key.blockLine);
  bool isFound = false;
  for (CallBase *call : calls)
    isFound |= applyToResult(key, text, *call);
  // Fortran's descriptors are set otherwise.
  SmallSetVector<Function *, 4> functions;
  for (CallBase *call : calls)
    functions.insert(call->getFunction());
  if (!isFound && !key.variable.empty())
    for (Function *function : functions)
      isFound |= applyToVariable(key, text, *function);
  if (isFound)
    return;
  if (calls.empty() && !hasCodeOf(module, key.name))
    return noteAbsent("file '" + key.name + "', or no debug information (-g)");
  complain("no variable" +
           (key.variable.empty() ? Twine() : " '" + key.variable + "'") +
           " gets a pointer from a call in line " + Twine(key.blockLine) +
           " of '" + key.name +
           "'; put the macro in front of the pointers to that block");
}

void SideFileReader::apply(const Key &key, const HintText &text) {
  if (key.blockLine)
    return applyToBlock(key, text);
  if (text.kind == HintKind::ways)
    return applyWays(key, text);
  if (text.kind == HintKind::touch && key.lines.areGiven())
    return complain("touch is about all that is allocated; leave out the "
                    "lines of '" +
                    key.name + "'");
  if (text.kind != HintKind::hint && text.kind != HintKind::touch)
    return complain("only hint:, ways: and touch: are allowed here");
  std::vector<Function *> functions = functionsNamed(module, key.name);
  bool isFound = false;
  if (key.variable.empty()) {
    if (GlobalVariable *global = globalNamed(module, key.name)) {
      isFound = true;
      if (key.lines.areGiven())
        complain("lines are those of a function, and '" + key.name +
                 "' is a variable; write FUNCTION/" + key.name +
                 "@FIRST-LAST; the hint is ignored");
      else
        add(key, text, global, nullptr);
    }
    for (Function *function : functions)
      add(key, text, function, function);
    if (!isFound && functions.empty())
      noteAbsent("function, array or pointer '" + key.name + "'");
    return;
  }
  for (Function *function : functions)
    isFound |= applyToVariable(key, text, *function);
  if (functions.empty())
    noteAbsent("function '" + key.name + "'");
  else if (!isFound && key.parameter)
    complain("'" + key.name + "' has no pointer as parameter " +
             Twine(*key.parameter));
  else if (!isFound)
    complain("there is no variable '" + key.variable + "' in '" + key.name +
             "'; names of variables are known with debug information (-g), " +
             "parameters also by number: " + key.name + "/N");
}

/// Reads "10-20", or several of them, "10-20,5-7"; false if it is malformed.
static bool parseLines(StringRef text, SourceLines &lines) {
  lines.hasIncluded = text.consume_back("+");
  SmallVector<StringRef, 1> ranges;
  text.split(ranges, ',');
  for (StringRef range : ranges) {
    auto [first, last] = range.split('-');
    std::pair<unsigned, unsigned> &numbers = lines.ranges.emplace_back();
    if (first.getAsInteger(10, numbers.first) ||
        last.getAsInteger(10, numbers.second) || !numbers.first ||
        numbers.first > numbers.second)
      return false;
  }
  return true;
}

/// Reads "name/variable@first-last" or "file:line/variable"; nullopt if it is
/// malformed.
static std::optional<Key> parseKey(StringRef text) {
  Key key;
  auto [names, lines] = text.split('@');
  std::tie(key.name, key.variable) = names.split('/');
  auto [file, line] = key.name.rsplit(':');
  if (!line.getAsInteger(10, key.blockLine))
    key.name = file;
  unsigned number;
  if (!key.variable.getAsInteger(10, number))
    key.parameter = number;
  bool isSplit = names.size() != text.size();
  if (isSplit && !parseLines(lines, key.lines))
    return std::nullopt;
  bool hasSlash = names.contains('/');
  if (key.name.empty() || (hasSlash && key.variable.empty()))
    return std::nullopt;
  return key;
}

/// Reads the one hint or the list after \p key. Several hints are merged,
/// because one at a time they would contradict each other.
void SideFileReader::readValue(const Key &key, yaml::Node *value) {
  SmallVector<HintText, 4> texts;
  if (auto *list = dyn_cast_or_null<yaml::SequenceNode>(value))
    for (yaml::Node &item : *list)
      readText(key, &item, texts);
  else
    readText(key, value, texts);
  HintText hints;
  bool hasHints = false;
  for (const HintText &text : texts) {
    if (text.kind != HintKind::hint) {
      apply(key, text);
      continue;
    }
    std::string wrong = hints.hint.add(text.hint);
    if (!wrong.empty())
      return complain("contradictory hints: " + wrong);
    hasHints = true;
  }
  if (hasHints)
    apply(key, hints);
}

void SideFileReader::readText(const Key &key, yaml::Node *value,
                              SmallVectorImpl<HintText> &texts) {
  auto *scalar = dyn_cast_or_null<yaml::ScalarNode>(value);
  if (!scalar)
    return complain("a hint is missing after '" + key.name + ":'");
  SmallString<64> storage;
  Expected<HintText> text = parseShortHintText(scalar->getValue(storage));
  if (!text)
    return complain("the hint is ignored: " + toString(text.takeError()));
  texts.push_back(*text);
}

/// mpg-ocl writes an entry's origin in front of it, "# app.f90:12", or "#
/// loop.inc:3 < app.f90" if the line is in an included file: the place to
/// print. False if this module has another source.
bool SideFileReader::readOrigin(SMLoc entry) {
  isDirective = false;
  StringRef before(text.begin(), entry.getPointer() - text.begin());
  before = before.rtrim("\n");
  StringRef line = before.substr(before.rfind('\n') + 1);
  if (!line.consume_front("# "))
    return true;
  auto [place, source] = line.split(" < ");
  auto [file, number] = place.rsplit(':');
  unsigned originLine;
  if (number.getAsInteger(10, originLine))
    return true;
  where = {file.str(), originLine};
  isDirective = true;
  if (source.empty())
    source = file;
  for (const DICompileUnit *unit : module.debug_compile_units())
    if (sys::path::filename(unit->getFilename()) == sys::path::filename(source))
      return true;
  return module.debug_compile_units().empty();
}

void SideFileReader::readEntry(yaml::KeyValueNode &entry) {
  auto *name = dyn_cast_or_null<yaml::ScalarNode>(entry.getKey());
  if (!name)
    return;
  where = {path.str(),
           sources.getLineAndColumn(name->getSourceRange().Start).first};
  if (!readOrigin(name->getSourceRange().Start))
    return; // of another source
  SmallString<64> storage;
  StringRef text = name->getValue(storage);
  std::optional<Key> key = parseKey(text);
  if (!key)
    return complain("'" + text +
                    "' is not a name; write FUNCTION, ARRAY, "
                    "FUNCTION/VARIABLE or FUNCTION/1, with @10-20 after it "
                    "for lines 10 to 20, or FILE:LINE/VARIABLE");
  readValue(*key, entry.getValue());
}

void SideFileReader::read(MemoryBufferRef buffer) {
  text = buffer.getBuffer();
  where.file = path.str();
  // The parser's own messages, in our words.
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *context) {
        auto *reader = static_cast<SideFileReader *>(context);
        reader->where.line = diagnostic.getLineNo();
        reader->complain("this is not YAML: " + diagnostic.getMessage());
      },
      this);
  yaml::Stream stream(buffer, sources);
  yaml::document_iterator document = stream.begin();
  if (document == stream.end())
    return;
  yaml::Node *root = document->getRoot();
  auto *map = dyn_cast_or_null<yaml::MappingNode>(root);
  if (!map) {
    if (!stream.failed() && !isa_and_nonnull<yaml::NullNode>(root))
      complain("this is not a list of 'name: hint'");
    return;
  }
  for (yaml::KeyValueNode &entry : *map) {
    if (stream.failed())
      return;
    readEntry(entry);
  }
}

void mpg::readSideFile(Module &module, const std::string &path,
                       HintRequests &requests) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return warn(module.getContext(), {},
                "no hints are read from '" + path +
                    "': " + buffer.getError().message());
  SideFileReader(module, path, requests).read((*buffer)->getMemBufferRef());
}
