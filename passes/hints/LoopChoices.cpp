// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines to zero or prefetch ahead that the source asks for in single loops: as
// metadata of these loops, which the optimiser hands on, until ZfillPass and
// PrefetchPass read it.

#include "base/OmpRegions.h"
#include "base/PassOptions.h"
#include "hints/HintSource.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <map>

using namespace llvm;
using namespace mpg;

namespace {
class LoopMarker {
public:
  LoopMarker(Module &module, HintRequests &requests, const PassOptions &options)
      : module(module), requests(requests), options(options) {}
  bool run();

private:
  /// All requests of one place: of a procedure and its parallel regions.
  struct Answer {
    const LoopRequest *request;
    unsigned loops = 0;
    bool isConflict = false;
  };
  unsigned mark(const LoopRequest &request);
  unsigned markAfter(const LoopRequest &request, const LoopInfo &loops);
  unsigned markAll(const LoopRequest &request, ArrayRef<Loop *> roots);

  Module &module;
  HintRequests &requests;
  const PassOptions &options;
  bool hasConflict = false; ///< the request at hand, with an earlier one
  /// Of loops that a request names itself, by header and mark.
  DenseMap<std::pair<const BasicBlock *, const char *>, const LoopRequest *>
      named;
};
} // namespace

/// \p request as a side file has it.
static StringRef getWord(const LoopRequest &request) {
  StringRef mark = request.choice.mark;
  return mark == zfillMark ? "zfill" : "prefetch";
}

/// Says that of two requests for one loop the first counts.
static void remarkConflict(const LoopRequest &request,
                           const LoopRequest &earlier, const Loop &loop) {
  OptimizationRemarkEmitter(request.function)
      .emit(OptimizationRemarkMissed(remarkPass, "HintConflict",
                                     userLocation(loop.getStartLoc()),
                                     loop.getHeader())
            << getWord(request) << " in line "
            << ore::NV("Line", request.where.line)
            << " contradicts that in line "
            << ore::NV("Earlier", earlier.where.line) << ", which counts");
}

static void remarkOff(const LoopRequest &request) {
  OptimizationRemarkEmitter(request.function)
      .emit(OptimizationRemarkMissed(
                remarkPass, "PrefetchSkipped",
                getLocation(request.where, *request.function),
                &request.function->getEntryBlock())
            << "the hint of " << request.where.file << ":"
            << ore::NV("Line", request.where.line) << " changes nothing: "
            << ore::NV("Reason", "--mpg-prefetch=user or far is not given"));
}

/// Marks \p roots and the loops in them. \returns how many.
unsigned LoopMarker::markAll(const LoopRequest &request,
                             ArrayRef<Loop *> roots) {
  unsigned count = 0;
  for (Loop *root : roots) {
    auto [known, isNew] =
        named.try_emplace({root->getHeader(), request.choice.mark}, &request);
    if (!isNew && known->second->choice.value != request.choice.value) {
      remarkConflict(request, *known->second, *root);
      hasConflict = true;
      continue;
    }
    for (Loop *loop : root->getLoopsInPreorder()) {
      addStringMetadataToLoop(loop, request.choice.mark, request.choice.value);
      ++count;
    }
  }
  return count;
}

/// The first loop, or parallel region, on the way from the request's place.
unsigned LoopMarker::markAfter(const LoopRequest &request,
                               const LoopInfo &loops) {
  BasicBlock *start = request.before->getParent();
  const Loop *around = loops.getLoopFor(start);
  SmallVector<BasicBlock *, 8> todo = {start};
  SmallPtrSet<BasicBlock *, 16> seen = {start};
  for (size_t at = 0; at < todo.size(); ++at) {
    Loop *loop = loops.getLoopFor(todo[at]);
    if (loop && loop != around && todo[at] != start)
      return markAll(request, loop);
    auto begin = at ? todo[at]->begin() : request.before->getIterator();
    for (Instruction &instruction : make_range(begin, todo[at]->end()))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (auto region = findStart(*call);
            region && !region->body->isDeclaration()) {
          DominatorTree dominators(*region->body);
          LoopInfo inside(dominators);
          return markAll(request, inside.getTopLevelLoopsVector());
        }
    for (BasicBlock *next : successors(todo[at]))
      if ((!around ||
           (around->contains(next) && next != around->getHeader())) &&
          seen.insert(next).second)
        todo.push_back(next);
  }
  return 0;
}

unsigned LoopMarker::mark(const LoopRequest &request) {
  DominatorTree dominators(*request.function);
  LoopInfo loops(dominators);
  if (request.before)
    return markAfter(request, loops);
  // Loops inside of these come along.
  SmallVector<Loop *, 4> roots;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (request.region->contains(loop->getHeader()->getTerminator()) &&
        none_of(roots, [&](Loop *root) { return root->contains(loop); }))
      roots.push_back(loop);
  return markAll(request, roots);
}

bool LoopMarker::run() {
  std::map<std::pair<std::string, unsigned>, Answer> answers;
  bool isChanged = false;
  for (const LoopRequest &request : requests.loops) {
    bool isZfill = StringRef(request.choice.mark) == zfillMark;
    if (!isZfill && options.prefetch == Prefetch::off) {
      remarkOff(request);
      continue;
    }
    Answer &answer = answers
                         .try_emplace({request.where.file, request.where.line},
                                      Answer{&request})
                         .first->second;
    hasConflict = false;
    unsigned loops = mark(request);
    answer.isConflict |= hasConflict;
    if (loops) {
      if (!answer.loops)
        answer.request = &request;
      answer.loops += loops;
      isChanged = true;
      if (isZfill || StringRef(request.choice.mark) == indirectMark)
        module.getOrInsertNamedMetadata(request.choice.mark);
    }
  }
  for (const auto &[place, answer] : answers) {
    const SourceLine &where = answer.request->where;
    if (answer.loops)
      remarkHonoured(where, *answer.request->function,
                     answer.loops == 1
                         ? "1 loop is marked"
                         : Twine(answer.loops) + " loops are marked");
    else if (!answer.isConflict)
      warn(module.getContext(), where,
           getWord(*answer.request) +
               " has no effect: no loop follows, or the lines have none");
  }
  return isChanged;
}

bool mpg::markLoops(Module &module, HintRequests &requests,
                    const PassOptions &options) {
  return LoopMarker(module, requests, options).run();
}
