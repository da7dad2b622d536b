// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HintSource.h.

#include "hints/HintSource.h"
#include "base/Access.h"
#include "base/PassOptions.h"
#include "hints/FirstTouchChoice.h"
#include "hints/PointerUses.h"
#include "mpg/hints.h"
#include "tags/TagForm.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
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
  void leaveUntagged(Instruction &access) const;

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

/// An entry that is not configured (V = 0) silently turns prefetching off.
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
DebugLoc mpg::getLocation(const SourceLine &where, Function &function) {
  DISubprogram *program = function.getSubprogram();
  if (!program)
    return {};
  bool isThere = sys::path::filename(program->getFilename()) ==
                 sys::path::filename(where.file);
  return DILocation::get(function.getContext(),
                         isThere ? where.line : program->getLine(), 0, program);
}

void mpg::remarkHonoured(const SourceLine &where, Function &function,
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

/// Keeps SectorAutoPass from tagging \p access; it erases the mark.
void AccessMarker::leaveUntagged(Instruction &access) const {
  if (options.autoSectors)
    writeMark(access, 0);
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
      leaveUntagged(*access);
    } else if (const char *reason = whyUntagged(*function)) {
      if (untagged.insert(function).second)
        remarkUntagged(*function, reason);
    } else if (!decision.off && decision.tag &&
               !offFunctions.contains(function)) {
      writeMark(*access, decision.tag);
      noteThatThereAreMarks(module);
    } else {
      leaveUntagged(*access);
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
  const char *reason = whyNoHints(module);
  isChanged |= removeTags(module);
  for (const std::string &file : options->hintFiles)
    readSideFile(module, file, requests);
  isChanged |= markTouches(module, requests);
  if (targetHasTags(module) && optimised)
    isChanged |= markLoops(module, requests, *options);
  bool isAsked = !requests.hints.empty() || !requests.ways.empty();
  if (isAsked && options->userHints && reason)
    remarkUntagged(module, reason);
  else if (isAsked && options->userHints && tagsGlobals(module))
    remarkUntagged(module, "-fsanitize=memtag-globals uses the byte itself");
  else if (isAsked && options->userHints && !optimised)
    remarkUntagged(module, "this is -O0; compile with -O1 or more");
  else if (options->userHints && !reason && optimised)
    isChanged |= applyHints(module, *options, requests);
  eraseMarkers(module);
  if (options->stripDebug && !optimised)
    isChanged |= StripDebugInfo(module);
  else if (options->stripDebug || options->autoSectors ||
           options->firstTouch != FirstTouch::on)
    storePassOptions(module, *options); // for the later stages
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
