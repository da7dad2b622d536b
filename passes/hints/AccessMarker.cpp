// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints/AccessMarker.h"
#include "base/Access.h"
#include "base/Hint.h"
#include "hints/RandomHints.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// An entry that is not set up turns prefetching off without a word.
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
      if (address && isMeant &&
          !isa<AllocaInst>(getUnderlyingObject(address->get())))
        decide(instruction, request);
    }
  }
}

void AccessMarker::explainUnused(const HintRequest &request,
                                 const PointerFlow &flow) {
  auto *first = dyn_cast<Instruction>(request.root);
  Function *function = first ? const_cast<Function *>(first->getFunction())
                             : request.regionFunction;
  if (!flow.missed.empty())
    function = flow.missed.front().first->getFunction();
  if (!function)
    return; // a global variable that this file does not use
  OptimizationRemarkEmitter emitter(function);
  Untaggable reason = flow.missed.empty() ? Untaggable::notAnAccess
                                          : flow.missed.front().second;
  emitter.emit([&] {
    Instruction *at = flow.missed.empty()
                          ? &*function->getEntryBlock().getFirstNonPHIIt()
                          : flow.missed.front().first;
    DebugLoc location = at->getDebugLoc();
    DISubprogram *program = function->getSubprogram();
    // Without an instruction the place of the hint, if it is in this source.
    if (!location && program)
      location = DILocation::get(function->getContext(),
                                 program->getFilename() == request.where.file
                                     ? request.where.line
                                     : program->getLine(),
                                 0, program);
    OptimizationRemarkMissed remark(remarkPass, "HintUnused",
                                    userLocation(location), at->getParent());
    return remark << "the hint of " << request.where.file << ":"
                  << ore::NV("Line", request.where.line) << " changes nothing: "
                  << ore::NV("Reason", flow.missed.empty() && request.region
                                           ? "no access lies in its lines"
                                           : describe(reason));
  });
}

void AccessMarker::addVariable(const HintRequest &request) {
  PointerFlow flow(roots);
  if (request.target == HintRequest::pointerVariable)
    flow.addPlace(request.root);
  else
    flow.addData(request.root);
  flow.run();
  bool isUsed = false;
  for (Instruction *access : flow.accesses) {
    if (request.region) {
      const Instruction *seen = flow.seenFrom(*request.regionFunction, *access);
      if (!seen || !request.region->contains(seen))
        continue;
    } else if (request.regionFunction &&
               !flow.seenFrom(*request.regionFunction, *access)) {
      continue;
    }
    decide(*access, request);
    isUsed = true;
  }
  if (!isUsed || !flow.missed.empty())
    explainUnused(request, flow);
}

void AccessMarker::add(const HintRequests &requests) {
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
