// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HintSource.h.

#include "hints/HintSource.h"
#include "base/Access.h"
#include "base/PassOptions.h"
#include "base/WeakCalls.h"
#include "hints/FirstTouchChoice.h"
#include "hints/PointerUses.h"
#include "mpg/hints.h"
#include "mpg/note.h"
#include "tags/TagForm.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"
#include <map>

using namespace llvm;
using namespace mpg;

namespace {
/// Decides which hint each access of a module gets, and marks it. If several
/// hints apply to one access, that of a region wins over that of a variable,
/// and that over the function's.
class AccessMarker {
public:
  AccessMarker(Module &module, const PassOptions &options)
      : module(module), options(options) {}

  /// Finds the accesses that \p requests mean. Says which requests mean none.
  void add(const HintRequests &requests);

  /// A random hint for each access that has none.
  void addRandom(uint64_t seed);

  /// Puts the marks on. Says where two hints contradict each other.
  void write();

private:
  /// How to mark an access.
  struct Decision {
    int strength = -1;
    uint8_t tag = 0;
    bool off = false;
    bool isConflict = false;
  };

  void addFunction(const HintRequest &request);
  void addVariable(const HintRequest &request);
  void addMerged();
  void decide(Instruction &access, const HintRequest &request);
  bool isAllowed(const HintRequest &request) const;

  /// The result of the hint for one variable.
  struct Outcome {
    const HintRequest *request;
    unsigned taggable = 0;
    bool isOnStack = false; ///< an access is
    SmallVector<std::pair<Instruction *, Untaggable>, 4> missed;
  };
  void addMerged(ArrayRef<Outcome *> alike);
  bool isUsed(const Outcome &outcome) const;
  void explain(const Outcome &outcome);
  void remarkDirectives();

  /// The effect of a line of the source.
  struct Honoured {
    unsigned accesses = 0;
    Function *function = nullptr;
  };

  Module &module;
  const PassOptions &options;
  MapVector<Instruction *, Decision> decisions;
  std::vector<Outcome> outcomes;
  DenseSet<const Value *> roots;
  DenseSet<const Function *> offFunctions;
  std::map<std::pair<std::string, unsigned>, Honoured> honoured;
};
} // namespace

/// An entry that is not configured silently turns prefetching off.
/// HW:pf-injection
bool AccessMarker::isAllowed(const HintRequest &request) const {
  if (!request.hint.injection || options.extended)
    return true;
  warn(module.getContext(), request.where,
       "the hint is ignored: inject= needs the option extended=on "
       "(mpg-clang --mpg-extended=on), and entry " +
           Twine(*request.hint.injection) +
           " set up with mpg_prefetch_set: otherwise it would turn hardware "
           "prefetching off");
  return false;
}

void AccessMarker::decide(Instruction &access, const HintRequest &request) {
  Decision &decision = decisions[&access];
  uint8_t tag = request.hint.tagByte();
  int strength = request.strength();
  // A hint of a region overrides that of its variable. Of two equally strong
  // ones neither applies, and write() reports it.
  if (strength > decision.strength) {
    decision = {strength, tag, request.hint.off, false};
  } else if (strength == decision.strength &&
             (tag != decision.tag || request.hint.off != decision.off)) {
    decision.isConflict = true;
  }
}

void AccessMarker::addFunction(const HintRequest &request) {
  for (Function *function :
       functionWithRegions(*cast<Function>(request.root))) {
    if (request.hint.off && !request.region)
      offFunctions.insert(function);
    for (Instruction &instruction : instructions(*function)) {
      Use *address = taggableAddress(instruction);
      bool isMeant = !request.region || request.region->contains(&instruction);
      // A hint for a function does not cover memory on the stack.
      if (address && isMeant &&
          !isa<AllocaInst>(getUnderlyingObject(address->get())))
        decide(instruction, request);
    }
  }
}

/// Where \p where is, if \p function is in its file.
static DebugLoc getLocation(const SourceLine &where, Function &function) {
  DISubprogram *program = function.getSubprogram();
  if (!program)
    return {};
  bool isThere = sys::path::filename(program->getFilename()) ==
                 sys::path::filename(where.file);
  return DILocation::get(function.getContext(),
                         isThere ? where.line : program->getLine(), 0, program);
}

/// Remarks that the hint of a line of \p function is applied.
static void remarkHonoured(const SourceLine &where, Function &function,
                           const Twine &what) {
  OptimizationRemark remark(remarkPass, "HintHonoured",
                            getLocation(where, function),
                            &function.getEntryBlock());
  remark << "the hint of " << where.file << ":" << ore::NV("Line", where.line)
         << " is honoured: " << what.str();
  OptimizationRemarkEmitter(&function).emit(remark);
}

/// Whether \p outcome's hint, or another one of the same line, means an access.
bool AccessMarker::isUsed(const Outcome &outcome) const {
  unsigned entry = outcome.request->entry;
  return outcome.taggable ||
         (entry && any_of(outcomes, [&](const Outcome &one) {
            return one.taggable && one.request->entry == entry;
          }));
}

/// Says that the hint is not applied somewhere, or nowhere.
void AccessMarker::explain(const Outcome &outcome) {
  const HintRequest &request = *outcome.request;
  bool used = isUsed(outcome);
  auto *at = dyn_cast<Instruction>(request.root);
  Function *function =
      at ? const_cast<Function *>(at->getFunction()) : request.regionFunction;
  Untaggable reason = Untaggable::notAnAccess;
  if (!outcome.missed.empty()) {
    std::tie(at, reason) = outcome.missed.front();
    function = at->getFunction();
  } else if (used || !function) {
    return; // or a global variable that this file does not use
  } else {
    at = &*function->getEntryBlock().getFirstNonPHIIt();
  }
  // Without an instruction the place of the hint, if it is in this source.
  DebugLoc location = at->getDebugLoc();
  if (!location || request.isDirective)
    location = getLocation(request.where, *function);
  std::string name = request.isDirective ? getVariableName(*request.root) : "";
  std::string why =
      outcome.isOnStack && !outcome.taggable     ? "it is on the stack"
      : outcome.missed.empty() && request.region ? "its lines have no access"
                                                 : describe(reason);
  OptimizationRemarkMissed remark(remarkPass,
                                  used ? "TagSkipped" : "HintUnused",
                                  userLocation(location), at->getParent());
  remark << "the hint of " << request.where.file << ":"
         << ore::NV("Line", request.where.line)
         << (used ? " is not applied here" : " changes nothing")
         << (name.empty() ? ": " : " for '" + name + "': ")
         << ore::NV("Reason", why);
  OptimizationRemarkEmitter(function).emit(remark);
}

/// Whether \p instruction, which \p flow has found, lies where \p request
/// counts.
static bool isMeant(const HintRequest &request, const PointerUses &flow,
                    const Instruction &instruction) {
  if (!request.regionFunction)
    return true;
  const Instruction *seen = flow.seenFrom(*request.regionFunction, instruction);
  return seen && (!request.region || request.region->contains(seen));
}

static void addRoots(const HintRequest &request, PointerUses &flow) {
  auto add = [&](Value *root) {
    if (request.target == HintRequest::pointerVariable)
      flow.addPlace(root);
    else
      flow.addData(root);
  };
  add(request.root);
  for (Value *root : request.sameRoots)
    add(root);
}

void AccessMarker::addVariable(const HintRequest &request) {
  PointerUses flow(roots);
  addRoots(request, flow);
  flow.run();
  Outcome outcome;
  outcome.request = &request;
  for (Instruction *access : flow.accesses) {
    if (!isMeant(request, flow, *access))
      continue;
    decide(*access, request);
    if (isa<AllocaInst>(getUnderlyingObject(taggableAddress(*access)->get())))
      outcome.isOnStack = true;
    else
      ++outcome.taggable;
  }
  for (const auto &use : flow.missed)
    if (!request.region || isMeant(request, flow, *use.first))
      outcome.missed.push_back(use);
  outcomes.push_back(outcome);
}

/// Pointers with the same hint may come together: whichever an access goes
/// through, the hint is right.
void AccessMarker::addMerged(ArrayRef<Outcome *> alike) {
  PointerUses flow(roots);
  for (const Outcome *outcome : alike)
    addRoots(*outcome->request, flow);
  flow.run();
  for (Outcome *outcome : alike)
    erase_if(outcome->missed, [&](const auto &use) {
      if (use.second != Untaggable::merges ||
          !is_contained(flow.accesses, use.first))
        return false;
      decide(*use.first, *outcome->request);
      ++outcome->taggable;
      return true;
    });
}

void AccessMarker::addMerged() {
  MapVector<std::tuple<unsigned, unsigned, int>, SmallVector<Outcome *, 4>>
      alike;
  for (Outcome &outcome : outcomes) {
    const HintRequest &request = *outcome.request;
    if (any_of(outcome.missed, [](const auto &use) {
          return use.second == Untaggable::merges;
        }))
      alike[{request.hint.tagByte(), unsigned(request.hint.off),
             request.strength()}]
          .push_back(&outcome);
  }
  for (auto &[hint, several] : alike)
    if (several.size() > 1)
      addMerged(several);
}

void AccessMarker::remarkDirectives() {
  for (const Outcome &outcome : outcomes) {
    const HintRequest &request = *outcome.request;
    if (!outcome.taggable || !request.isDirective)
      continue;
    Honoured &directive = honoured[{request.where.file, request.where.line}];
    directive.accesses += outcome.taggable;
    directive.function = request.regionFunction;
  }
  for (const auto &[place, directive] : honoured)
    if (directive.function)
      remarkHonoured({place.first, place.second}, *directive.function,
                     directive.accesses == 1
                         ? "1 access is marked"
                         : Twine(directive.accesses) + " accesses are marked");
}

void AccessMarker::add(const HintRequests &requests) {
  // All roots first: a variable with its own hint is not followed from another
  // variable (PointerUses.h).
  for (const HintRequest &request : requests.hints)
    if (request.target != HintRequest::function && !request.region &&
        !request.regionFunction)
      roots.insert(request.root);
  for (const HintRequest &request : requests.hints) {
    if (!isAllowed(request))
      continue;
    if (request.target == HintRequest::function)
      addFunction(request);
    else
      addVariable(request);
  }
  addMerged();
  for (const Outcome &outcome : outcomes)
    explain(outcome);
  remarkDirectives();
}

/// The variable behind \p address: the pointer variable it was loaded from, or
/// the object.
static const Value *findVariable(Value *address) {
  address = withoutSteps(address);
  auto *load = dyn_cast<LoadInst>(address);
  return load ? withoutSteps(load->getPointerOperand()) : address;
}

/// A stream of numbers that is the same on every machine.
static uint64_t mix(uint64_t seed, uint64_t number) {
  uint64_t bytes[] = {seed, number};
  return xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(bytes), sizeof(bytes)));
}

/// Never 0, which would be no tag, nor bits 3 and 2.
static uint8_t tagFrom(uint64_t number, bool extended) {
  unsigned functions = extended ? 16 : 8;
  unsigned choice = 1 + number % (functions * 4 - 1);
  return (choice >> 2) << 4 | (choice & MPG_TAG_SECTOR_MASK);
}

/// For tests: gives every variable a hint, so that any program shows whether
/// tags change its result. Calls \p choose with each access of \p function that
/// can be tagged, and a tag that depends on \p seed, the function and the
/// variable: the same for all accesses through one variable. With \p extended
/// the tags include entries of prefetch injection.
static void
chooseRandomHints(Function &function, uint64_t seed, bool extended,
                  function_ref<void(Instruction &, uint8_t)> choose) {
  uint64_t functionSeed = mix(seed, xxh3_64bits(function.getName()));
  DenseMap<const Value *, unsigned> numbers;
  for (Instruction &instruction : instructions(function)) {
    const Use *address = taggableAddress(instruction);
    if (!address)
      continue;
    const Value *variable = findVariable(address->get());
    unsigned number =
        numbers.try_emplace(variable, numbers.size()).first->second;
    choose(instruction, tagFrom(mix(functionSeed, number), extended));
  }
}

void AccessMarker::addRandom(uint64_t seed) {
  for (Function &function : module)
    if (!function.isDeclaration() && !offFunctions.contains(&function))
      chooseRandomHints(function, seed, options.extended,
                        [&](Instruction &access, uint8_t tag) {
                          Decision &decision = decisions[&access];
                          if (decision.strength < 0)
                            decision = {0, tag, false, false};
                        });
}

void AccessMarker::write() {
  DenseSet<const Function *> untagged;
  for (auto &[access, decision] : decisions) {
    Function *function = access->getFunction();
    if (decision.isConflict) {
      OptimizationRemarkEmitter emitter(function);
      emitter.emit([&, at = access] {
        return OptimizationRemarkMissed(remarkPass, "HintConflict",
                                        userLocation(at->getDebugLoc()),
                                        at->getParent())
               << "not tagged: two variables with different hints lead here";
      });
    } else if (const char *reason = whyUntagged(*function)) {
      if (untagged.insert(function).second)
        remarkUntagged(*function, reason);
    } else if (!decision.off && decision.tag &&
               !offFunctions.contains(function)) {
      writeMark(*access, decision.tag);
      noteThatThereAreMarks(module);
    }
  }
}

/// Whether the loader tags variables of \p module for memory tagging.
/// Attributes of functions do not show it, and a function that uses none of
/// these variables may still receive their addresses.
static bool tagsGlobals(const Module &module) {
  return any_of(module.globals(), [](const GlobalVariable &global) {
    return global.hasSanitizerMetadata() &&
           global.getSanitizerMetadata().Memtag;
  });
}

/// Marks what the hints of \p module mean. Returns whether it changed.
static bool applyHints(Module &module, const PassOptions &options,
                       const HintRequests &requests) {
  bool isAsked = !requests.hints.empty() || !requests.ways.empty();
  if (!isAsked && !options.randomSeed)
    return false;
  storePassOptions(module, options);
  AccessMarker marker(module, options);
  marker.add(requests);
  if (options.randomSeed)
    marker.addRandom(*options.randomSeed);
  marker.write();
  // Last: regions and random hints are about the code as it was written.
  bracketWays(module, requests);
  return true;
}

PreservedAnalyses HintSourcePass::run(Module &module, ModuleAnalysisManager &) {
  Expected<PassOptions> options = readPassOptions();
  if (!options) {
    fail(module.getContext(), toString(options.takeError()));
    return PreservedAnalyses::all();
  }
  HintRequests requests;
  // Read and erased for any target and at -O0 as well, because leftover
  // annotations keep loops from being vectorised.
  bool isChanged = readAnnotations(module, requests);
  isChanged |= readMarkers(module, requests);
  bool hasTags = targetHasTags(module);
  isChanged |= removeTags(module);
  for (const std::string &file : options->hintFiles)
    readSideFile(module, file, requests);
  isChanged |= markTouches(module, requests);
  bool isAsked = !requests.hints.empty() || !requests.ways.empty();
  if (isAsked && options->userHints && !hasTags)
    remarkUntagged(module, "only AArch64 Linux has tags");
  else if (isAsked && options->userHints && tagsGlobals(module))
    remarkUntagged(module, "-fsanitize=memtag-globals uses the byte itself");
  else if (isAsked && options->userHints && !optimised)
    remarkUntagged(module, "this is -O0; compile with -O1 or more");
  else if (options->userHints && hasTags && optimised)
    isChanged |= applyHints(module, *options, requests);
  eraseMarkers(module);
  if (options->stripDebug && !optimised)
    isChanged |= StripDebugInfo(module);
  else if (options->stripDebug || options->firstTouch != FirstTouch::on)
    storePassOptions(module, *options); // for the later stages
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

//===----------------------------------------------------------------------===//
// Ways of the sector cache
//===----------------------------------------------------------------------===//

/// uint8_t l1[4], l2[2] of struct mpg_ways.
static GlobalVariable *waysConstant(Module &module, const Ways &ways) {
  uint8_t bytes[6];
  std::fill_n(bytes, 6, MPG_WAYS_NOT_ASKED);
  // Sector 1 gets the requested ways and sector 0 the rest: [0] and [1] of
  // each.
  if (ways.l1) {
    bytes[0] = l1Ways - *ways.l1;
    bytes[1] = *ways.l1;
  }
  if (ways.l2) {
    bytes[4] = l2Ways - *ways.l2;
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
  explicit Bracketer(Module &module);
  bool isUsable() const { return begin && end; }
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

Bracketer::Bracketer(Module &module) {
  Type *integer = Type::getInt32Ty(module.getContext());
  Type *pointer = PointerType::get(module.getContext(), 0);
  Type *nothing = Type::getVoidTy(module.getContext());
  begin = callIfThere(module, "mpg_sector_begin",
                      FunctionType::get(integer, pointer, false),
                      ConstantInt::getSigned(integer, -1));
  end = callIfThere(module, "mpg_sector_end",
                    FunctionType::get(nothing, integer, false), nullptr);
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
  Bracketer bracketer(module);
  if (!bracketer.isUsable()) {
    warn(module.getContext(), {},
         "no ways are set: the program defines its own mpg_sector_begin or "
         "mpg_sector_end; rename it");
    return false;
  }
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
