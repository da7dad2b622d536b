// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets the ways of the sector cache: calls of mpg_sector_begin and
// mpg_sector_end around functions, regions and the parallel regions in them.
// See HintSource.h.

#include "base/PassOptions.h"
#include "base/WeakCalls.h"
#include "hints/HintSource.h"
#include "hints/PointerUses.h"
#include "mpg/note.h"
#include "mpg/pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"

using namespace llvm;
using namespace mpg;

GlobalVariable *mpg::waysConstant(Module &module, const Ways &ways,
                                  bool areShared) {
  uint8_t bytes[6];
  std::fill_n(bytes, 6, MPG_WAYS_NOT_ASKED);
  // Sector 1 gets the requested ways and sector 0 the rest, or all: [0] and [1]
  // of each.
  if (ways.l1) {
    bytes[0] = l1Ways - *ways.l1;
    bytes[1] = *ways.l1;
  }
  if (ways.l2) {
    bytes[4] = areShared ? MPG_WAYS_ALL : l2Ways - *ways.l2;
    bytes[5] = *ways.l2;
  }
  Constant *value = ConstantDataArray::get(module.getContext(), bytes);
  auto *global =
      new GlobalVariable(module, value->getType(), true,
                         GlobalValue::PrivateLinkage, value, "mpg.ways");
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return global;
}

namespace {
class Bracketer {
public:
  explicit Bracketer(const SectorCalls &calls)
      : begin(calls.begin), end(calls.end) {}
  void bracketFunction(Function &function, GlobalVariable *ways);
  void bracketRegion(WaysRequest request, GlobalVariable *constant,
                     ArrayRef<Function *> teams);

private:
  void bracketLines(const WaysRequest &request, Value *ways);
  void shareWays(AllocaInst *ways, Instruction *at, ArrayRef<Function *> teams);
  void cutExits(const WaysRequest &request, Value *token);
  void callEnd(Instruction *before, Value *token);

  Function *begin, *end;
};
} // namespace

SectorCalls mpg::findSectorCalls(Module &module) {
  Type *integer = Type::getInt32Ty(module.getContext());
  Type *pointer = PointerType::get(module.getContext(), 0);
  Type *nothing = Type::getVoidTy(module.getContext());
  return {callIfThere(module, "mpg_sector_begin",
                      FunctionType::get(integer, pointer, false),
                      ConstantInt::getSigned(integer, -1)),
          callIfThere(module, "mpg_sector_end",
                      FunctionType::get(nothing, integer, false), nullptr)};
}

void Bracketer::callEnd(Instruction *before, Value *token) {
  // A musttail call has to stay right before the return.
  if (CallInst *tail = before->getParent()->getTerminatingMustTailCall())
    before = tail;
  IRBuilder<> builder(before);
  builder.CreateCall(end, token);
}

void Bracketer::bracketFunction(Function &function, GlobalVariable *ways) {
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Value *token = builder.CreateCall(begin, ways);
  // Returns and exceptions: calls without a handler get one that resumes.
  EscapeEnumerator exits(function, "mpg.ways.cleanup");
  while (IRBuilder<> *exit = exits.Next())
    exit->CreateCall(end, token);
}

/// The number of ways of sector 0 and of sector 1, as bytes of struct mpg_ways,
/// if sector 1 asks for \p value of \p limit. A negative value asks for
/// nothing.
static std::pair<Value *, Value *> wayBytes(IRBuilder<> &builder, Value *value,
                                            unsigned limit) {
  Type *byte = builder.getInt8Ty();
  Value *all = ConstantInt::get(value->getType(), limit);
  Value *isAsked =
      builder.CreateICmpSGE(value, ConstantInt::get(value->getType(), 0));
  Value *sector1 =
      builder.CreateSelect(builder.CreateICmpSLT(value, all), value, all);
  Value *sector0 = builder.CreateSub(all, sector1);
  Value *none = builder.getInt8(MPG_WAYS_NOT_ASKED);
  return {
      builder.CreateSelect(isAsked, builder.CreateTrunc(sector0, byte), none),
      builder.CreateSelect(isAsked, builder.CreateTrunc(sector1, byte), none)};
}

void mpg::coverFunction(WaysRequest &request) {
  request.begin =
      &*request.function->getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  request.region = std::make_shared<Region>();
  for (Instruction &instruction : instructions(*request.function))
    request.region->insert(&instruction);
}

/// Reads \p variable just before \p before; null if it does not exist.
static Value *readVariable(const NumberVariable &variable,
                           Instruction *before) {
  Value *address = variable.address;
  if (!address)
    return nullptr;
  IRBuilder<> builder(before);
  if (!isa<AllocaInst, Constant>(address)) {
    // An optional argument that is absent asks for nothing.
    BasicBlock &entry = before->getFunction()->getEntryBlock();
    IRBuilder<> top(&entry, entry.getFirstInsertionPt());
    Value *absent = top.CreateAlloca(variable.type, nullptr, "mpg.absent");
    builder.CreateStore(ConstantInt::getSigned(variable.type, -1), absent);
    address =
        builder.CreateSelect(builder.CreateIsNull(address), absent, address);
  }
  return builder.CreateAlignedLoad(variable.type, address, Align(1));
}

/// Room for a struct mpg_ways in \p function, as one integer.
static AllocaInst *waysRoom(Function &function) {
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  return builder.CreateAlloca(builder.getInt64Ty(), nullptr, "mpg.ways");
}

/// Builds struct mpg_ways for \p request where it begins, because some of its
/// numbers are known only there.
static AllocaInst *waysVariable(const WaysRequest &request,
                                GlobalVariable *constant) {
  Type *type = constant->getValueType();
  AllocaInst *ways = waysRoom(*request.function);
  IRBuilder<> builder(request.begin);
  builder.CreateStore(builder.getInt64(0), ways);
  builder.CreateStore(constant->getInitializer(), ways);
  auto set = [&](unsigned first, Value *value, unsigned limit) {
    if (!value)
      return;
    auto [sector0, sector1] = wayBytes(builder, value, limit);
    builder.CreateStore(sector0,
                        builder.CreateConstGEP2_32(type, ways, 0, first));
    builder.CreateStore(sector1,
                        builder.CreateConstGEP2_32(type, ways, 0, first + 1));
  };
  set(0, request.l1, l1Ways);
  set(4, request.l2, l2Ways);
  return ways;
}

/// Calls the end on every path out of \p request: at a goto or break, or at the
/// single return that clang makes of all. Not for exceptions.
void Bracketer::cutExits(const WaysRequest &request, Value *token) {
  std::vector<std::pair<Instruction *, unsigned>> exits;
  for (BasicBlock &block : *request.function) {
    Instruction *last = block.getTerminator();
    if (!request.region->contains(last))
      continue;
    for (unsigned i = 0; i != last->getNumSuccessors(); ++i) {
      BasicBlock *next = last->getSuccessor(i);
      if (!next->isEHPad() && !request.region->contains(&next->front()) &&
          !is_contained(request.ends, &next->front()))
        exits.push_back({last, i});
    }
  }
  for (auto [last, i] : exits) {
    if (last->getNumSuccessors() == 1)
      callEnd(last, token);
    else if (BasicBlock *between = SplitCriticalEdge(last, i))
      callEnd(between->getTerminator(), token);
  }
}

void Bracketer::bracketLines(const WaysRequest &request, Value *ways) {
  IRBuilder<> builder(request.begin);
  Value *token = builder.CreateCall(begin, ways);
  // First: the others put code in front of where blocks begin.
  cutExits(request, token);
  for (Instruction *oneEnd : request.ends)
    callEnd(oneEnd, token);
  // A return inside of the region leaves it, too.
  std::vector<Instruction *> returns;
  for (BasicBlock &block : *request.function)
    if (isa<ReturnInst, ResumeInst>(block.getTerminator()) &&
        request.region->contains(block.getTerminator()))
      returns.push_back(block.getTerminator());
  for (Instruction *one : returns)
    callEnd(one, token);
}

/// \p teams: the parallel regions in \p request, whose threads set its ways as
/// well.
void Bracketer::bracketRegion(WaysRequest request, GlobalVariable *constant,
                              ArrayRef<Function *> teams) {
  if (request.hasVariables()) {
    request.l1 = readVariable(request.l1Variable, request.begin);
    request.l2 = readVariable(request.l2Variable, request.begin);
  }
  if (!request.l1 && !request.l2) {
    bracketLines(request, constant);
    for (Function *team : teams)
      bracketFunction(*team, constant);
    return;
  }
  AllocaInst *ways = waysVariable(request, constant);
  shareWays(ways, request.begin, teams);
  bracketLines(request, ways);
}

/// Hands \p ways, which are complete at \p at, over to the threads of \p teams.
/// They cannot see variables of the function around them, so there is one place
/// for all: callers that disagree at the same time may get each other's
/// numbers.
void Bracketer::shareWays(AllocaInst *ways, Instruction *at,
                          ArrayRef<Function *> teams) {
  if (teams.empty())
    return;
  IRBuilder<> builder(at);
  Type *number = builder.getInt64Ty();
  auto *shared = new GlobalVariable(
      *at->getModule(), number, false, GlobalValue::InternalLinkage,
      ConstantInt::get(number, 0), "mpg.ways.shared");
  auto isRelaxed = [](auto *access) {
    access->setAtomic(AtomicOrdering::Monotonic);
  };
  isRelaxed(builder.CreateAlignedStore(builder.CreateLoad(number, ways), shared,
                                       Align(8)));
  for (Function *team : teams) {
    WaysRequest request;
    request.function = team;
    coverFunction(request);
    AllocaInst *copy = waysRoom(*team);
    builder.SetInsertPoint(request.begin);
    LoadInst *value = builder.CreateAlignedLoad(number, shared, Align(8));
    isRelaxed(value);
    builder.CreateStore(value, copy);
    bracketLines(request, copy);
  }
}

/// Why \p function can set no ways; nullptr if it can.
static const char *whyNoWays(const Function &function) {
  if (function.hasFnAttribute(Attribute::Naked))
    return "a naked function cannot call functions; put them on the function "
           "that calls it";
  if (function.isPresplitCoroutine())
    return "a coroutine suspends, and its caller would continue with its ways; "
           "put them on a function that it calls";
  return nullptr;
}

SmallSetVector<Function *, 4>
mpg::parallelRegionsIn(const WaysRequest &request) {
  SmallSetVector<Function *, 4> regions;
  for (Instruction &instruction : instructions(*request.function)) {
    auto *call = dyn_cast<CallBase>(&instruction);
    Function *region = call ? findParallelRegion(*call) : nullptr;
    if (region && (!request.region || request.region->contains(call)))
      for (Function *inner : functionWithRegions(*region))
        if (!inner->isDeclaration() && !isDebugBody(*inner))
          regions.insert(inner);
  }
  return regions;
}

static std::string describeWays(const WaysRequest &request) {
  std::string text;
  auto add = [&](StringRef cache, std::optional<unsigned> ways,
                 const Value *value, unsigned limit) {
    if (!ways && !value)
      return;
    text += text.empty() ? "sector 1 has " : ", ";
    text += value ? "as many ways of " : utostr(*ways) + " of the ways of ";
    text += cache.str() + (value ? " as the variable says" : "") + " (" +
            utostr(limit) + " in all)";
  };
  auto either = [](const Value *value, const NumberVariable &variable) {
    return value ? value : variable.address;
  };
  add("L2", request.ways.l2, either(request.l2, request.l2Variable), l2Ways);
  add("L1", request.ways.l1, either(request.l1, request.l1Variable), l1Ways);
  return text;
}

bool mpg::bracketWays(Module &module, const HintRequests &requests) {
  if (requests.ways.empty())
    return false;
  SectorCalls calls = findSectorCalls(module);
  if (!calls.areThere()) {
    warn(module.getContext(), {},
         "no ways are set: the program defines its own mpg_sector_begin or "
         "mpg_sector_end; rename it");
    return false;
  }
  Bracketer bracketer(calls);
  for (const WaysRequest &request : requests.ways) {
    if (request.function->isDeclaration())
      continue;
    if (const char *why = whyNoWays(*request.function)) {
      warn(module.getContext(), request.where,
           Twine("no ways are set: ") + why);
      continue;
    }
    GlobalVariable *ways = waysConstant(module, request.ways);
    auto teams = parallelRegionsIn(request);
    if (request.begin) {
      bracketer.bracketRegion(request, ways, teams.getArrayRef());
    } else {
      bracketer.bracketFunction(*request.function, ways);
      for (Function *team : teams)
        bracketer.bracketFunction(*team, ways);
    }
    if (request.isDirective)
      remarkHonoured(request.where, *request.function,
                     "its ways are set: " + describeWays(request));
  }
  return true;
}
