// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AccessMarker.h.

#include "hints/AccessMarker.h"
#include "base/Access.h"
#include "hints/HintSource.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <map>
#include <string>
#include <tuple>

using namespace llvm;
using namespace mpg;

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
void AccessMarker::addMergedAccesses(ArrayRef<Outcome *> alike) {
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
      addMergedAccesses(several);
}

/// Directives that mark accesses, one remark for each line of the source.
void AccessMarker::remarkDirectives() {
  struct Honoured {
    unsigned accesses = 0;
    Function *function = nullptr;
  };
  std::map<std::pair<std::string, unsigned>, Honoured> honoured;
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
               << "not tagged: different hints lead here";
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
