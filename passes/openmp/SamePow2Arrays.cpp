// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/SamePow2Arrays.h"
#include "base/Diagnostics.h"
#include "openmp/AddressGrowth.h"
#include "openmp/CacheShape.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include <array>

using namespace llvm;
using namespace mpg;

namespace {
/// Addresses that a loop goes through in small steps.
struct Stream {
  const Value *origin;
  const void *area;
  /// Bytes behind the area's beginning, in each of a few situations: streams
  /// whose distance is the same in all of them keep it.
  std::array<int64_t, 3> at;
};
using Streams = SmallVector<Stream, 16>;

class StreamSearch {
public:
  StreamSearch(const CrowdedLoops &crowded, const CallFrame *frame,
               Sampler &sampler, const ArrayPlaces &arrays)
      : crowded(crowded), function(crowded.function), frame(frame),
        sampler(sampler), arrays(arrays), shape(cacheShapeFor(function)),
        evolution(
            sampler.analyses.getResult<ScalarEvolutionAnalysis>(function)),
        sharings(findWorksharingLoops(
            function, sampler.analyses.getResult<LoopAnalysis>(function),
            sampler.analyses.getResult<DominatorTreeAnalysis>(function))) {}

  void look(RemarkPlaces &places);

private:
  Situation situation(const Instruction &access, const Loop &loop,
                      unsigned number) const;
  std::optional<Stream> streamOf(Instruction &access, const Loop &loop);
  Streams streamsOf(const CrowdedLoop &crowd);
  Streams mostInOneSet(const Streams &streams) const;
  void remark(const Loop &loop, const Streams &together,
              RemarkPlaces &places) const;

  const CrowdedLoops &crowded;
  Function &function;
  const CallFrame *frame;
  Sampler &sampler;
  const ArrayPlaces &arrays;
  CacheShape shape;
  ScalarEvolution &evolution;
  SmallVector<WorksharingLoop, 4> sharings;
};
} // namespace

Situation StreamSearch::situation(const Instruction &access, const Loop &loop,
                                  unsigned number) const {
  auto &dominators =
      sampler.analyses.getResult<DominatorTreeAnalysis>(function);
  Situation chosen;
  chosen.frame = frame;
  chosen.sharing = worksharingLoopOf(access, sharings, dominators);
  chosen.iteration = number;
  chosen.seed = number;
  for (const Loop *around = &loop; around; around = around->getParentLoop())
    chosen.turns[around] = number;
  return chosen;
}

/// What \p access goes through in \p loop, if its array is known.
std::optional<Stream> StreamSearch::streamOf(Instruction &access,
                                             const Loop &loop) {
  const SCEV *expression =
      evolution.getSCEV(getLoadStorePointerOperand(&access));
  Stream stream = {};
  for (unsigned i = 0; i < stream.at.size(); ++i) {
    Situation chosen = situation(access, loop, i);
    Sampler::Place place =
        sampler.placeOf(sampler.valueOf(expression, function, chosen));
    if (!place.object || (i && place.object->origin != stream.origin))
      return std::nullopt;
    stream.origin = place.object->origin;
    ArrayPlace array = arrays.placeOf(*stream.origin, shape.wayBytes);
    stream.area = array.area;
    stream.at[i] = int64_t(array.bytes) + place.offset;
  }
  return stream;
}

/// How far \p b is ahead of \p a; nothing if that is not always the same.
static std::optional<int64_t> distance(const Stream &a, const Stream &b) {
  if (a.area != b.area)
    return std::nullopt;
  int64_t first = b.at[0] - a.at[0];
  for (unsigned i = 1; i < a.at.size(); ++i)
    if (b.at[i] - a.at[i] != first)
      return std::nullopt;
  return first;
}

Streams StreamSearch::streamsOf(const CrowdedLoop &crowd) {
  Streams found;
  for (Instruction *access : crowd.accesses) {
    std::optional<Stream> stream = streamOf(*access, *crowd.loop);
    if (!stream)
      continue;
    // Neighbours in one line are one stream.
    bool isKnown = any_of(found, [&](const Stream &other) {
      std::optional<int64_t> bytes = distance(*stream, other);
      return stream->origin == other.origin && bytes &&
             uint64_t(std::abs(*bytes)) < shape.lineBytes;
    });
    if (!isKnown)
      found.push_back(*stream);
  }
  return found;
}

Streams StreamSearch::mostInOneSet(const Streams &streams) const {
  Streams most;
  for (const Stream &first : streams) {
    Streams together;
    for (const Stream &other : streams) {
      std::optional<int64_t> bytes = distance(first, other);
      if (bytes && uint64_t(*bytes) % shape.wayBytes < shape.lineBytes)
        together.push_back(other);
    }
    if (together.size() > most.size())
      most = together;
  }
  return most;
}

static std::string namesOf(const Streams &streams) {
  SmallVector<std::string, 8> names;
  for (const Stream &stream : streams) {
    std::string name = variableNameOf(*stream.origin);
    if (!name.empty() && !is_contained(names, name))
      names.push_back(name);
  }
  return join(names, ", ");
}

void StreamSearch::remark(const Loop &loop, const Streams &together,
                          RemarkPlaces &places) const {
  bool isOneArray = all_of(together, [&](const Stream &stream) {
    return stream.origin == together.front().origin;
  });
  bool isOfMalloc = any_of(together, [](const Stream &stream) {
    return isa<CallBase>(stream.origin);
  });
  std::string names = namesOf(together);
  places.missed(
      "SamePow2Arrays", loop.getStartLoc(), *loop.getHeader(),
      [&](OptimizationRemarkMissed &text) {
        text << "this loop goes through " << ore::NV("Streams", together.size())
             << " places at once";
        if (!names.empty())
          text << ", in " << ore::NV("Arrays", names) << ",";
        text << " that are equal modulo " << ore::NV("WayBytes", shape.wayBytes)
             << " bytes, where the L1 cache holds only "
             << ore::NV("Ways", shape.ways) << " lines: "
             << (isOneArray ? "pad its rows, or the arrays in it, by "
                            : "pad each array so that the next begins ")
             << ore::NV("LineBytes", shape.lineBytes)
             << (isOneArray ? " bytes" : " bytes further on");
        if (isOfMalloc)
          text << ", or link libmpg, whose malloc lets arrays begin at "
                  "different "
                  "places (Fujitsu's: with MALLOC_MMAP_THRESHOLD_=204800)";
      });
}

void StreamSearch::look(RemarkPlaces &places) {
  for (const CrowdedLoop &crowd : crowded.loops) {
    Streams together = mostInOneSet(streamsOf(crowd));
    if (together.size() > shape.ways)
      remark(*crowd.loop, together, places);
  }
}

/// Accesses of \p loop that use each line several times.
static SmallVector<Instruction *, 16> slowAccesses(const Loop &loop,
                                                   ScalarEvolution &evolution,
                                                   const CacheShape &shape) {
  SmallVector<Instruction *, 16> found;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      Value *address = getLoadStorePointerOperand(&instruction);
      if (!address)
        continue;
      int64_t step =
          growthPerIteration(evolution.getSCEV(address), loop).value_or(0);
      if (step && uint64_t(std::abs(step)) < shape.lineBytes)
        found.push_back(&instruction);
    }
  return found;
}

CrowdedLoops mpg::findCrowdedLoops(Function &function,
                                   FunctionAnalysisManager &analyses) {
  CrowdedLoops found{function, {}};
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty())
    return found;
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  CacheShape shape = cacheShapeFor(function);
  for (const Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    auto accesses = slowAccesses(*loop, evolution, shape);
    if (accesses.size() > shape.ways)
      found.loops.push_back({loop, std::move(accesses)});
  }
  return found;
}

void mpg::remarkSamePow2Arrays(const CrowdedLoops &crowded, Sampler &sampler,
                               const ArrayPlaces &arrays,
                               RemarkPlaces &places) {
  for (const CallFrame *way : sampler.frames.waysTo(crowded.function))
    StreamSearch(crowded, way, sampler, arrays).look(places);
}
