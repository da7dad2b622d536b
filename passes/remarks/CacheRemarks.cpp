// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two remarks about caches: threads that write to one line in turn, and
// streams of a loop that meet in one set of the L1 cache. See LoopWork.h.

#include "base/Diagnostics.h"
#include "base/OmpRegions.h"
#include "remarks/LoopWork.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include <array>

using namespace llvm;
using namespace mpg;

/// Fewer writes than these by a thread cost less than the start of its region.
static constexpr unsigned manyWrites = 64;

/// The address that \p instruction writes to, if it is a store or an atomic.
static Value *writtenAddress(Instruction &instruction) {
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->getPointerOperand();
  if (auto *atomic = dyn_cast<AtomicRMWInst>(&instruction))
    return atomic->getPointerOperand();
  return nullptr;
}

/// Whether only the thread that runs this function has the memory.
static bool isOwnMemory(const Value &address) {
  const Value *object = getUnderlyingObject(&address);
  auto *global = dyn_cast<GlobalVariable>(object);
  return isa<AllocaInst>(object) || isNoAliasCall(object) ||
         (global && global->isThreadLocal());
}

/// Calls that wait for other threads, or ask libomp for work, take longer than
/// to fetch a line; of other calls we do not know.
static bool callsFunction(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block)
      if (isa<CallBase>(instruction) && !isa<IntrinsicInst>(instruction))
        return true;
  return false;
}

static bool waitsForThreads(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && (callee->getName().starts_with("__kmpc_barrier") ||
                     callee->getName().starts_with("__kmpc_fork_call")))
        return true;
    }
  return false;
}

namespace {
/// The writes of one function.
class Search {
public:
  Search(Function &function, FunctionAnalysisManager &analyses,
         RemarkPlaces &places)
      : places(places), shape(cacheShapeFor(function)),
        loops(analyses.getResult<LoopAnalysis>(function)),
        evolution(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        sharings(findWorksharingLoops(function, loops, dominators)) {}

  void inspect(Instruction &instruction);

private:
  bool isRepeated(const Instruction &write, const Loop *within) const;
  std::optional<uint64_t> bytesBetweenTurns(const Instruction &write,
                                            const SCEV &address) const;
  void remark(Instruction &write, const Value &address, const char *whose,
              uint64_t bytes, const char *fix);

  RemarkPlaces &places;
  CacheShape shape;
  LoopInfo &loops;
  ScalarEvolution &evolution;
  DominatorTree &dominators;
  SmallVector<WorksharingLoop, 4> sharings;
};
} // namespace

/// Whether a thread executes \p write many times in loops inside of \p within
/// (null: in the function), without waiting in between.
bool Search::isRepeated(const Instruction &write, const Loop *within) const {
  uint64_t times = 1;
  for (const Loop *loop = loops.getLoopFor(write.getParent());
       loop && loop != within && !waitsForThreads(*loop);
       loop = loop->getParentLoop()) {
    unsigned trips = evolution.getSmallConstantTripCount(loop);
    if (!trips)
      return true; // usually many
    times *= trips;
    if (times >= manyWrites)
      return true;
  }
  return false;
}

static bool dealsOutTurns(const WorksharingLoop &sharing) {
  return sharing.schedule == LoopSchedule::chunk ||
         StringRef(sharing.name()) == "dynamic";
}

/// Iterations in a thread's chunk, if known.
static std::optional<uint64_t>
iterationsOfTurn(const WorksharingLoop &sharing) {
  const Value *chunk = sharing.chunk;
  // __kmpc_dispatch_init_*(loc, thread, schedule, lower, upper, stride, chunk)
  if (!chunk && sharing.init->arg_size() == 7)
    chunk = sharing.init->getArgOperand(6);
  auto *number = dyn_cast_or_null<ConstantInt>(chunk);
  if (!number || number->getValue().getActiveBits() > 32)
    return std::nullopt;
  return number->getZExtValue();
}

/// The bytes that \p write, at \p address, moves on from the iterations of one
/// thread to those of the next in a worksharing loop with short turns.
std::optional<uint64_t> Search::bytesBetweenTurns(const Instruction &write,
                                                  const SCEV &address) const {
  const WorksharingLoop *sharing =
      findWorksharingLoop(write, sharings, dominators);
  if (!sharing || !dealsOutTurns(*sharing) || sharing->loops.size() != 2)
    return std::nullopt;
  const Loop *iterations = sharing->loops.back();
  std::optional<uint64_t> turn = iterationsOfTurn(*sharing);
  if (!turn || !iterations->contains(&write))
    return std::nullopt;
  // One write at the end of a long iteration does no harm; in a loop with
  // nothing else it does, unless each turn costs more.
  bool isShort = sharing->schedule == LoopSchedule::chunk &&
                 iterations->isInnermost() && !callsFunction(*iterations);
  if (!isShort && !isRepeated(write, iterations))
    return std::nullopt;
  std::optional<int64_t> step = growthPerIteration(&address, *iterations);
  if (!step)
    return std::nullopt;
  return std::abs(*step) * *turn;
}

void Search::remark(Instruction &write, const Value &address, const char *whose,
                    uint64_t bytes, const char *fix) {
  places.missed("FalseSharing", write, [&](auto &text) {
    std::string name = getVariableName(address);
    text << "threads write elements of "
         << ore::NV("Array", name.empty() ? "an array" : name) << " that are "
         << ore::NV("Bytes", bytes) << " bytes apart " << whose
         << ", in one cache line of " << ore::NV("LineBytes", shape.lineBytes)
         << " bytes that they take from each other at every write: " << fix;
  });
}

void Search::inspect(Instruction &instruction) {
  Value *address = writtenAddress(instruction);
  if (!address || isOwnMemory(*address) ||
      !evolution.isSCEVable(address->getType()))
    return;
  const SCEV *at = evolution.getSCEV(address);
  uint64_t growth = std::abs(growthPerThread(at).value_or(0));
  if (growth && growth < shape.lineBytes && isRepeated(instruction, nullptr))
    remark(instruction, *address, "from thread to thread", growth,
           "sum up in a private variable or by reduction, or let each "
           "thread's part begin in a separate line");
  uint64_t turn = bytesBetweenTurns(instruction, *at).value_or(0);
  if (turn && turn < shape.lineBytes)
    remark(instruction, *address, "from one thread's iterations to the next's",
           turn,
           "use schedule(static), larger chunks, or a private variable in the "
           "inner loop");
}

void mpg::remarkFalseSharing(Function &function,
                             FunctionAnalysisManager &analyses,
                             RemarkPlaces &places) {
  // A single write takes no line from another thread.
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty())
    return;
  Search search(function, analyses, places);
  for (BasicBlock &block : function)
    if (loops.getLoopFor(&block))
      for (Instruction &instruction : block)
        search.inspect(instruction);
}

namespace {
/// Addresses that a loop goes through in small steps.
struct Stream {
  const Value *origin;
  const void *area;
  /// Bytes after the area's beginning, in each of a few situations: streams
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

  void inspect(RemarkPlaces &places);

private:
  EvalContext context(const Instruction &access, const Loop &loop,
                      unsigned number) const;
  std::optional<Stream> getStream(Instruction &access, const Loop &loop);
  Streams findStreams(const CrowdedLoop &crowd);
  Streams findFullestSet(const Streams &streams) const;
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

EvalContext StreamSearch::context(const Instruction &access, const Loop &loop,
                                  unsigned number) const {
  auto &dominators =
      sampler.analyses.getResult<DominatorTreeAnalysis>(function);
  EvalContext chosen;
  chosen.frame = frame;
  chosen.sharing = findWorksharingLoop(access, sharings, dominators);
  chosen.iteration = number;
  chosen.seed = number;
  for (const Loop *around = &loop; around; around = around->getParentLoop())
    chosen.turns[around] = number;
  return chosen;
}

/// The stream of \p access in \p loop, if its array is known.
std::optional<Stream> StreamSearch::getStream(Instruction &access,
                                              const Loop &loop) {
  const SCEV *expression =
      evolution.getSCEV(getLoadStorePointerOperand(&access));
  Stream stream = {};
  for (unsigned i = 0; i < stream.at.size(); ++i) {
    EvalContext chosen = context(access, loop, i);
    Sampler::Place place =
        sampler.getPlace(sampler.evaluate(expression, function, chosen));
    if (!place.object || (i && place.object->origin != stream.origin))
      return std::nullopt;
    stream.origin = place.object->origin;
    ArrayPlace array = arrays.getPlace(*stream.origin, shape.wayBytes);
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

Streams StreamSearch::findStreams(const CrowdedLoop &crowd) {
  Streams found;
  for (Instruction *access : crowd.accesses) {
    std::optional<Stream> stream = getStream(*access, *crowd.loop);
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

Streams StreamSearch::findFullestSet(const Streams &streams) const {
  Streams max;
  for (const Stream &first : streams) {
    Streams together;
    for (const Stream &other : streams) {
      std::optional<int64_t> bytes = distance(first, other);
      if (bytes && uint64_t(*bytes) % shape.wayBytes < shape.lineBytes)
        together.push_back(other);
    }
    if (together.size() > max.size())
      max = together;
  }
  return max;
}

static std::string joinNames(const Streams &streams) {
  SmallVector<std::string, 8> names;
  for (const Stream &stream : streams) {
    std::string name = getVariableName(*stream.origin);
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
  std::string names = joinNames(together);
  places.missed(
      "SamePow2Arrays", loop.getStartLoc(), *loop.getHeader(), [&](auto &text) {
        text << "this loop traverses " << ore::NV("Streams", together.size())
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

void StreamSearch::inspect(RemarkPlaces &places) {
  for (const CrowdedLoop &crowd : crowded.loops) {
    Streams together = findFullestSet(findStreams(crowd));
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
  for (const CallFrame *path : sampler.frames.callPathsTo(crowded.function))
    StreamSearch(crowded, path, sampler, arrays).inspect(places);
}
