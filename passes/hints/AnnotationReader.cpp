// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the hints in the code: annotations of variables, fields and functions,
// and the markers of pragmas, which begin and end regions. Annotations are
// erased before they are applied: only its uses show what a field is, and until
// then these are uses of the annotation. See HintSource.h.

#include "hints/HintSource.h"
#include "hints/HintText.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace mpg;

namespace {
/// All hints for one variable, field or function, added up.
struct Said {
  Hint hint;
  Ways ways;
  TouchChoice touch = TouchChoice::none;
  SourceLine where;
  bool isWrong = false;
  bool hasHint = false, hasWays = false;
};
using SaidOf = MapVector<Value *, Said>;

/// Warnings, each once: a field's annotation appears at every use.
class Complaints {
public:
  explicit Complaints(LLVMContext &context) : context(context) {}
  void add(const SourceLine &where, const Twine &text) {
    if (told.insert(where.text() + text.str()).second)
      warn(context, where, text);
  }

private:
  LLVMContext &context;
  StringSet<> told;
};
} // namespace

/// The text of the constant that \p pointer points to; "" if it is not one.
static StringRef constantText(const Value *pointer) {
  StringRef text;
  getConstantStringInfo(pointer, text);
  return text;
}

static SourceLine readPlace(const Value *file, const Value *line) {
  SourceLine where;
  where.file = constantText(file).str();
  if (auto *number = dyn_cast<ConstantInt>(line))
    where.line = number->getZExtValue();
  return where;
}

/// The source position of \p annotation, a call of an annotation intrinsic.
static SourceLine getLine(const CallBase &annotation) {
  return readPlace(annotation.getArgOperand(2), annotation.getArgOperand(3));
}

/// Adds \p text to what was \p said. A wrong text spoils the whole variable:
/// half of a hint could mean the opposite.
static void addText(StringRef text, bool isFunction, Said &said,
                    Complaints &complaints) {
  auto complain = [&](const Twine &why) {
    complaints.add(said.where, "hint '" + text + "' is ignored: " + why);
    said.isWrong = true;
  };
  Expected<HintText> parsed = parseHintText(text);
  if (!parsed)
    return complain(toString(parsed.takeError()));
  if (parsed->kind == HintKind::hint) {
    said.hasHint = true;
    std::string wrong = said.hint.add(parsed->hint);
    if (!wrong.empty())
      complain("contradictory hints: " + wrong);
  } else if (parsed->kind == HintKind::ways) {
    said.hasWays = true;
    std::string wrong = said.ways.add(parsed->ways);
    if (!isFunction)
      complain("ways are for functions; put it in front of the function");
    else if (!wrong.empty())
      complain("contradictory hints: " + wrong);
  } else if (parsed->kind == HintKind::touch) {
    if (said.touch != TouchChoice::none && said.touch != parsed->touch)
      complain("contradictory hints: touch:off and touch:on; leave out one of "
               "them");
    said.touch = parsed->touch;
  } else {
    complain("this kind is for pragmas");
  }
}

// --- Globals and functions

/// The remains of an erased list count as uses of globals, and would make their
/// addresses appear significant in the object.
static void dropDeadUses(Module &module) {
  for (GlobalValue &global : module.global_values())
    global.removeDeadConstantUsers();
}

/// llvm.global.annotations has those of all tools: ours are taken out, others
/// stay as they were.
static void readGlobals(Module &module, SaidOf &said, Complaints &complaints) {
  GlobalVariable *list = module.getGlobalVariable("llvm.global.annotations");
  auto *array =
      list ? dyn_cast_or_null<ConstantArray>(
                 list->hasInitializer() ? list->getInitializer() : nullptr)
           : nullptr;
  if (!array)
    return;
  SmallVector<Constant *, 8> others;
  for (Use &entry : array->operands()) {
    auto *fields = dyn_cast<ConstantStruct>(entry);
    if (!fields || fields->getNumOperands() < 4 ||
        !isHintText(constantText(fields->getOperand(1)))) {
      others.push_back(cast<Constant>(entry));
      continue;
    }
    Value *global = fields->getOperand(0)->stripPointerCasts();
    Said &one = said[global];
    one.where = readPlace(fields->getOperand(2), fields->getOperand(3));
    addText(constantText(fields->getOperand(1)), isa<Function>(global), one,
            complaints);
  }
  // An array has its length in its type, so what stays needs a new variable.
  if (others.size() == array->getNumOperands())
    return;
  std::string section = list->getSection().str();
  list->eraseFromParent();
  if (others.empty())
    return dropDeadUses(module);
  auto *type = ArrayType::get(others.front()->getType(), others.size());
  auto *rest = new GlobalVariable(
      module, type, /*isConstant=*/false, GlobalValue::AppendingLinkage,
      ConstantArray::get(type, others), "llvm.global.annotations");
  rest->setSection(section);
  dropDeadUses(module);
}

// --- Variables and fields

namespace {
/// Annotations of variables and fields, and what stays in their place.
class AnnotationCalls {
public:
  void read(Function &function, SaidOf &said, Complaints &complaints);
  void erase();

private:
  Value *findRoot(IntrinsicInst &call);

  SmallVector<IntrinsicInst *, 8> calls;
  DenseMap<Value *, Value *> rootOfField;
};
} // namespace

/// The variable, or a separate GEP if the expression refers to a field: the
/// first member has the address of the structure, members of a union all have
/// the same, and only one of them is meant.
Value *AnnotationCalls::findRoot(IntrinsicInst &call) {
  Value *operand = call.getArgOperand(0);
  if (call.getIntrinsicID() == Intrinsic::var_annotation)
    return operand; // a local variable: its alloca
  // Several annotations of one field are a chain.
  Value *&root = rootOfField[&call];
  root = rootOfField.lookup(operand);
  if (!root) {
    IRBuilder<> builder(&call);
    auto *gep = GetElementPtrInst::CreateInBounds(builder.getInt8Ty(), operand,
                                                  builder.getInt64(0));
    root = builder.Insert(gep);
  }
  return root;
}

void AnnotationCalls::read(Function &function, SaidOf &said,
                           Complaints &complaints) {
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call || (call->getIntrinsicID() != Intrinsic::var_annotation &&
                  call->getIntrinsicID() != Intrinsic::ptr_annotation))
      continue;
    StringRef text = constantText(call->getArgOperand(1));
    if (!isHintText(text))
      continue;
    Said &one = said[findRoot(*call)];
    one.where = getLine(*call);
    addText(text, /*isFunction=*/false, one, complaints);
    calls.push_back(call);
  }
}

void AnnotationCalls::erase() {
  for (IntrinsicInst *call : calls) {
    if (Value *root = rootOfField.lookup(call))
      call->replaceAllUsesWith(root);
    call->eraseFromParent();
  }
}

std::optional<HintRequest::Target> mpg::findTarget(Value *address) {
  Type *type = nullptr;
  if (auto *variable = dyn_cast<AllocaInst>(address))
    type = variable->getAllocatedType();
  else if (auto *global = dyn_cast<GlobalVariable>(address))
    type = global->getValueType();
  if (type) {
    if (type->isPointerTy())
      return HintRequest::pointerVariable;
    auto *variable = dyn_cast<AllocaInst>(address);
    bool isArray =
        type->isArrayTy() || (variable && variable->isArrayAllocation());
    return isArray ? std::optional(HintRequest::data) : std::nullopt;
  }
  // A field: pointers have no types, so the first use that shows what lies
  // there decides.
  bool isUsed = false;
  for (const Use &use : address->uses()) {
    auto *user = cast<Instruction>(use.getUser());
    auto *store = dyn_cast<StoreInst>(user);
    if (store && use.getOperandNo() != store->getPointerOperandIndex())
      continue;
    Type *accessed =
        store ? store->getValueOperand()->getType() : user->getType();
    if ((store || isa<LoadInst>(user)) && accessed->isPointerTy())
      return HintRequest::pointerVariable;
    if (isa<GetElementPtrInst>(user))
      return HintRequest::data;
    auto *call = dyn_cast<IntrinsicInst>(user);
    if (call && call->getIntrinsicID() == Intrinsic::ptr_annotation)
      return findTarget(call); // another tool's
    isUsed |= isa<LoadInst, StoreInst>(user);
  }
  // Only plain values are loaded and stored: neither a pointer nor an array. A
  // variable without any use needs no warning.
  return isUsed ? std::nullopt : std::optional(HintRequest::data);
}

static void addTouch(Value *root, const Said &said, HintRequests &requests,
                     Complaints &complaints) {
  std::optional<HintRequest::Target> target = HintRequest::function;
  if (!isa<Function>(root))
    target = findTarget(root);
  if (!target)
    return complaints.add(
        said.where,
        "touch is ignored: this is neither a pointer nor an array; for a class "
        "such as std::vector put it in front of the function that fills it");
  requests.touches.push_back({root, *target, said.touch, said.where});
}

static void addRequests(Value *root, const Said &said, HintRequests &requests,
                        Complaints &complaints) {
  if (said.isWrong)
    return;
  auto *function = dyn_cast<Function>(root);
  if (said.touch != TouchChoice::none)
    addTouch(root, said, requests, complaints);
  if (function && said.hasWays)
    requests.ways.push_back({function, said.ways, said.where});
  if (!said.hasHint)
    return;
  HintRequest request;
  request.root = root;
  request.hint = said.hint;
  request.where = said.where;
  if (function) {
    request.target = HintRequest::function;
  } else if (std::optional<HintRequest::Target> target = findTarget(root)) {
    request.target = *target;
  } else {
    return complaints.add(
        said.where,
        "the hint is ignored: this is neither a pointer nor an array");
  }
  requests.hints.push_back(request);
}

bool mpg::readAnnotations(Module &module, HintRequests &requests) {
  SaidOf said;
  AnnotationCalls calls;
  Complaints complaints(module.getContext());
  readGlobals(module, said, complaints);
  for (Function &function : module)
    calls.read(function, said, complaints);
  // First: what a field is, its uses say, and these are the calls' until then.
  calls.erase();
  for (auto &[root, one] : said)
    addRequests(root, one, requests, complaints);
  return !said.empty();
}

namespace {
struct Marker {
  IntrinsicInst *call = nullptr;
  HintText text;
  SourceLine where;
};
} // namespace

static bool isMarker(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::annotation &&
         isHintText(constantText(call->getArgOperand(1)));
}

/// Those with a valid text; warns about the others, which do nothing.
static std::vector<Marker> findMarkers(Function &function) {
  std::vector<Marker> markers;
  for (Instruction &instruction : instructions(function)) {
    if (!isMarker(instruction))
      continue;
    Marker marker;
    marker.call = cast<IntrinsicInst>(&instruction);
    marker.where = getLine(*marker.call);
    StringRef text = constantText(marker.call->getArgOperand(1));
    Expected<HintText> parsed = parseHintText(text);
    if (!parsed) {
      warn(function.getContext(), marker.where,
           "hint '" + text + "' is ignored: " + toString(parsed.takeError()));
      continue;
    }
    marker.text = *parsed;
    markers.push_back(marker);
  }
  return markers;
}

/// Whether \p marker is the end of the region of \p begin.
static bool isEnd(const Marker &begin, const Marker &marker) {
  HintKind end = begin.text.kind == HintKind::assign ? HintKind::endAssign
                                                     : HintKind::endWays;
  return marker.text.kind == end && marker.text.region == begin.text.region;
}

/// Blocks that follow an end of \p begin, up to where it begins anew.
static SmallPtrSet<BasicBlock *, 16> blocksAfterEnds(const Marker &begin,
                                                     ArrayRef<Marker> markers) {
  SmallPtrSet<BasicBlock *, 16> found;
  SmallVector<BasicBlock *, 8> todo;
  for (const Marker &marker : markers)
    if (isEnd(begin, marker))
      append_range(todo, successors(marker.call->getParent()));
  while (!todo.empty()) {
    BasicBlock *block = todo.pop_back_val();
    if (block != begin.call->getParent() && found.insert(block).second)
      append_range(todo, successors(block));
  }
  return found;
}

/// The code after \p begin on any path up to its end markers, which are added
/// to
/// \p ends. Excludes code that is also reachable around it or after an end,
/// such as the single return that clang makes of all.
static std::shared_ptr<Region> regionAfter(const Marker &begin,
                                           ArrayRef<Marker> markers,
                                           std::vector<Instruction *> &ends) {
  auto region = std::make_shared<Region>();
  BasicBlock *first = begin.call->getParent();
  DominatorTree dominators(*first->getParent());
  auto after = blocksAfterEnds(begin, markers);
  SmallVector<Instruction *, 8> todo = {begin.call->getNextNode()};
  while (!todo.empty()) {
    for (Instruction *at = todo.pop_back_val(); at; at = at->getNextNode()) {
      if (region->contains(at))
        break;
      const Marker *marker =
          find_if(markers, [&](const Marker &m) { return m.call == at; });
      if (marker != markers.end() && isEnd(begin, *marker)) {
        if (!is_contained(ends, at))
          ends.push_back(at);
        break;
      }
      region->insert(at);
      // A loop comes back here; the check at the top ends that.
      if (at->isTerminator())
        for (BasicBlock *next : successors(at->getParent()))
          if (next != first && !after.contains(next) &&
              dominators.dominates(first, next))
            todo.push_back(&next->front());
    }
  }
  return region;
}

/// The variable whose value, as an integer, is the operand of a marker.
static void setRoot(const Marker &marker, HintRequest &request) {
  Value *value = marker.call->getArgOperand(0);
  while (auto *cast = dyn_cast<PtrToIntOperator>(value))
    value = cast->getPointerOperand();
  value = value->stripPointerCastsSameRepresentation();
  if (auto *load = dyn_cast<LoadInst>(value)) {
    request.root = load->getPointerOperand();
    request.target = HintRequest::pointerVariable;
    return;
  }
  // The first element of an array.
  while (auto *gep = dyn_cast<GEPOperator>(value)) {
    if (!gep->hasAllZeroIndices())
      break;
    value = gep->getPointerOperand();
  }
  request.root = value;
  request.target = HintRequest::data;
}

/// Whether \p a and \p b compute one address from one variable.
static bool isSameAddress(const Value *a, const Value *b) {
  if (a == b)
    return true;
  auto *load = dyn_cast<LoadInst>(a), *otherLoad = dyn_cast<LoadInst>(b);
  if (load && otherLoad)
    return isSameAddress(load->getPointerOperand(),
                         otherLoad->getPointerOperand());
  auto *gep = dyn_cast<GetElementPtrInst>(a);
  auto *other = dyn_cast<GetElementPtrInst>(b);
  return gep && other &&
         gep->getSourceElementType() == other->getSourceElementType() &&
         equal(gep->indices(), other->indices()) &&
         isSameAddress(gep->getPointerOperand(), other->getPointerOperand());
}

/// A member of a class, or a variable that a lambda captures, has its address
/// computed at each use.
static void addSameRoots(Function &function, HintRequest &request) {
  if (!isa<GetElementPtrInst, LoadInst>(request.root))
    return;
  for (Instruction &instruction : instructions(function))
    if (&instruction != request.root &&
        isSameAddress(&instruction, request.root))
      request.sameRoots.push_back(&instruction);
}

static void addHint(const Marker &marker, ArrayRef<Marker> markers,
                    HintRequests &requests) {
  HintRequest request;
  request.hint = marker.text.hint;
  request.where = marker.where;
  request.isDirective = true;
  request.regionFunction = marker.call->getFunction();
  setRoot(marker, request);
  addSameRoots(*marker.call->getFunction(), request);
  if (marker.text.kind == HintKind::assign) {
    std::vector<Instruction *> ends;
    request.region = regionAfter(marker, markers, ends);
  }
  requests.hints.push_back(request);
}

static void addWays(const Marker &marker, ArrayRef<Marker> markers,
                    HintRequests &requests) {
  WaysRequest request;
  request.function = marker.call->getFunction();
  request.ways = marker.text.ways;
  request.where = marker.where;
  request.isDirective = true;
  for (const Marker &other : markers)
    if (other.text.kind == HintKind::wayValue &&
        other.text.region == marker.text.region)
      (other.text.isL1 ? request.l1 : request.l2) = other.call;
  // A number that is a parameter is known only after the first instructions.
  if (marker.text.kind == HintKind::ways || request.l1 || request.l2) {
    request.begin = marker.call;
    request.region = regionAfter(marker, markers, request.ends);
  }
  DominatorTree dominators(*request.function);
  for (const Marker &other : markers)
    if (isEnd(marker, other) &&
        dominators.isReachableFromEntry(other.call->getParent()) &&
        !dominators.dominates(marker.call, other.call)) {
      warn(request.function->getContext(), marker.where,
           "no ways are set, and tags there have no effect without ways from "
           "elsewhere: a jump leads around the begin of the region to its end; "
           "let the region be one block");
      return;
    }
  requests.ways.push_back(request);
}

bool mpg::readMarkers(Module &module, HintRequests &requests) {
  bool isChanged = false;
  for (Function &function : module) {
    std::vector<Marker> markers = findMarkers(function);
    isChanged |= !markers.empty();
    for (const Marker &marker : markers) {
      switch (marker.text.kind) {
      case HintKind::assign:
      case HintKind::procedureAssign:
        addHint(marker, markers, requests);
        break;
      case HintKind::ways:
      case HintKind::procedureWays:
        addWays(marker, markers, requests);
        break;
      case HintKind::loop:
        requests.loops.push_back(
            {&function, marker.call, {}, marker.text.loop, marker.where});
        break;
      case HintKind::hint:
      case HintKind::touch:
      case HintKind::wayValue:
      case HintKind::endAssign:
      case HintKind::endWays:
        break;
      }
    }
  }
  return isChanged;
}

void mpg::eraseMarkers(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      if (isMarker(instruction)) {
        // Made for the marker alone: the variable's address as an integer.
        auto *value = dyn_cast<Instruction>(instruction.getOperand(0));
        instruction.replaceAllUsesWith(instruction.getOperand(0));
        instruction.eraseFromParent();
        if (value)
          RecursivelyDeleteTriviallyDeadInstructions(value);
      }
}
