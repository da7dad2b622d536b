// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ArrayVerdict.h.

#include "openmp/ArrayVerdict.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <array>

using namespace llvm;
using namespace mpg;

/// A page of the kind that all this is for.
static constexpr int64_t largePageBytes = 2 << 20;
/// Maximum of different kinds of shares of one array.
static constexpr size_t maxMappings = 16;
/// Writes besides the largest of which it is found out whether they always run.
static constexpr size_t maxSureWrites = 64;

int64_t mpg::getBytes(const MemoryObject &object, unsigned seed,
                      Sampler &sampler) {
  if (auto *global = dyn_cast<GlobalVariable>(object.origin)) {
    const DataLayout &layout = sampler.module.getDataLayout();
    return int64_t(layout.getTypeAllocSize(global->getValueType()));
  }
  EvalContext context;
  context.frame = object.frame;
  context.seed = seed;
  auto allocation = findAllocation(*cast<CallBase>(object.origin));
  int64_t bytes = bounded(sampler.evaluate(allocation->bytes, context));
  if (allocation->count)
    bytes = times(bytes, sampler.evaluate(allocation->count, context));
  return bytes;
}

std::optional<int64_t> mpg::knownBytes(const ArraySource &source,
                                       Sampler &sampler) {
  if (!source.global) {
    const Allocation &allocation = *source.allocation;
    if (!isa<ConstantInt>(allocation.bytes) ||
        (allocation.count && !isa<ConstantInt>(allocation.count)))
      return std::nullopt;
  }
  return getBytes(*source.object, 0, sampler);
}

/// Bytes that writes may leave out of so many: edges, and the last elements.
static int64_t computeSlack(int64_t bytes) { return bytes / 16 + 64; }

bool mpg::isLarge(const SerialWrite &write, Sampler &sampler) {
  return std::abs(write.high[0] - write.low[0]) >=
         std::abs(getBytes(*write.object, 0, sampler)) / 16;
}

namespace {

class Judge {
public:
  Judge(const ArrayStory &story, const ParallelUses &all, Sampler &sampler)
      : story(story), all(all), sampler(sampler) {
    for (unsigned seed = 0; seed < sampleSets; ++seed)
      bytes[seed] = getBytes(*story.source.object, seed, sampler);
    for (const SerialWrite *write : story.writes)
      if (mayBeFirst(*write))
        firstWrites.push_back(write);
  }

  ArrayVerdict judge();

private:
  bool isWhole(const ParallelUse &use);
  bool isStatic(const ParallelUse &use) const;
  int64_t getChunk(const ParallelUse &use);
  bool mayBeFirst(const SerialWrite &write) const;
  bool isSure(const SerialWrite &write, const Instruction &from);
  bool isTouchedInAnyCase(const Instruction &from, const Instruction *init);
  void findInit(ArrayVerdict &verdict);
  size_t laterWrites(const SerialWrite &write);
  bool isBetterInit(const SerialWrite &write, const SerialWrite &known);
  bool isWrittenBefore(const SerialWrite &init);
  bool isPlacedBefore(const Instruction &at, const CallFrame *frame);
  bool isUsedAfter(const SerialWrite &write, const ParallelUse *best);
  bool isMinor(const ParallelUse &use) const;
  void findBest(ArrayVerdict &verdict);
  void findOthers(ArrayVerdict &verdict);
  bool isTooFine(const ParallelUse &use) const;
  bool isLargeShared(const ParallelUse &use) const;
  bool isOnlyRead() const;
  bool isRewrittenAfter(const ParallelUse &use);
  bool hasRows(const WorksharingLoop &sharing) const;
  bool isInitInPart(const SerialWrite &write);
  void findInitInPart(ArrayVerdict &verdict);
  std::string obstacle(const ArrayVerdict &verdict);

  const ArrayStory &story;
  const ParallelUses &all;
  Sampler &sampler;
  std::array<int64_t, sampleSets> bytes;
  std::vector<const SerialWrite *> firstWrites; ///< that may be the first
};

} // namespace

// Uses

/// Whether the iterations share out all of the array, but for its edges.
bool Judge::isWhole(const ParallelUse &use) {
  for (unsigned seed = 0; seed < sampleSets; ++seed) {
    const UseFigures &figures = use.figures[seed];
    int64_t whole = getBytes(*use.object, seed, sampler);
    int64_t slack = std::abs(whole) / 16;
    int64_t covered = times(figures.step, figures.iterations);
    if (figures.iterations &&
        (std::abs(figures.first) > slack + times(figures.step, 2) ||
         std::abs(covered - whole) > slack + times(figures.step, 4)))
      return false;
  }
  return true;
}

bool Judge::isStatic(const ParallelUse &use) const {
  return use.sharing->schedule != LoopSchedule::other;
}

/// The value of the clause schedule(static, chunk).
int64_t Judge::getChunk(const ParallelUse &use) {
  if (use.sharing->schedule == LoopSchedule::block)
    return 0;
  EvalContext context;
  context.frame = findFrame(*use.sharing->init->getFunction(), use.frame);
  return sampler.evaluate(use.sharing->chunk, context);
}

/// Which of four threads works on each of so many parts of the array.
static constexpr size_t probes = 64;
using Owners = std::array<int8_t, probes>;

static Owners findOwners(const UseFigures &figures, int64_t chunk,
                         int64_t bytes) {
  constexpr int64_t threads = 4;
  Owners owners;
  int64_t count = figures.iterations ? std::abs(figures.iterations) : 1024;
  bytes = std::abs(bytes);
  for (size_t i = 0; i < probes; ++i) {
    int64_t offset = bytes / probes * int64_t(i) + bytes / probes / 2;
    int64_t iteration = std::clamp<int64_t>(
        (offset - figures.first) / figures.step, 0, count - 1);
    owners[i] = int8_t(chunk > 0 ? iteration / chunk % threads
                                 : iteration * threads / count);
  }
  return owners;
}

static bool areSame(const Owners &one, const Owners &other) {
  size_t same = 0;
  for (size_t i = 0; i < probes; ++i)
    same += one[i] == other[i];
  return same * 5 >= probes * 4;
}

namespace {
/// Uses of one array that share it out alike.
struct Mapping {
  const MemoryObject *object; ///< on other call paths arrays have other sizes
  Owners owners;
  const ParallelUse *first; ///< of the first loop that with the most weight
  uint64_t weight;
};
} // namespace

/// Whether most of the same loop's work on the array is scattered, as where
/// each iteration works on a column and on one element of the diagonal.
bool Judge::isMinor(const ParallelUse &use) const {
  uint64_t parts = 0, scattered = 0;
  for (const ParallelUse *other : story.uses) {
    if (other->sharing != use.sharing || other->object != use.object)
      continue;
    if (other->shape == UseShape::scattered)
      scattered += other->weight;
    else if (other->shape == UseShape::parts)
      parts += other->weight;
  }
  return scattered > parts;
}

/// The mapping of iterations that most of the work has, and one that differs.
void Judge::findBest(ArrayVerdict &verdict) {
  std::vector<Mapping> mappings;
  for (const ParallelUse *use : story.uses) {
    if (use->shape != UseShape::parts || !isStatic(*use) || !isWhole(*use) ||
        (!story.isWanted && isMinor(*use)))
      continue;
    Owners owners = findOwners(use->figures[0], getChunk(*use),
                               getBytes(*use->object, 0, sampler));
    auto known = find_if(mappings, [&](const Mapping &mapping) {
      return mapping.object == use->object && areSame(mapping.owners, owners);
    });
    if (known != mappings.end()) {
      known->weight += use->weight;
      if (use->sharing == known->first->sharing &&
          use->weight > known->first->weight)
        known->first = use;
    } else if (mappings.size() < maxMappings)
      mappings.push_back({use->object, owners, use, use->weight});
  }
  const Mapping *best = nullptr;
  for (const Mapping &mapping : mappings)
    if (!best || mapping.weight > best->weight)
      best = &mapping;
  if (!best)
    return;
  verdict.best = best->first;
  for (const Mapping &mapping : mappings)
    if (mapping.object == best->object && &mapping != best && !verdict.mismatch)
      verdict.mismatch = mapping.first;
  for (const ParallelUse *use : story.uses)
    if (!verdict.mismatch && isStatic(*use) &&
        use->sharing != verdict.best->sharing &&
        (use->shape == UseShape::scattered || use->shape == UseShape::backward))
      verdict.mismatch = use;
  if (verdict.mismatch && verdict.mismatch->sharing == verdict.best->sharing)
    verdict.mismatch = nullptr;
}

/// A known row of which each thread has more than a page is not too fine.
bool Judge::isTooFine(const ParallelUse &use) const {
  if (use.shape != UseShape::rows || !isStatic(use))
    return false;
  std::optional<int64_t> row = use.constantRow();
  auto *threads = dyn_cast_or_null<ConstantInt>(use.region->threads);
  int64_t count = threads ? std::max<int64_t>(threads->getSExtValue(), 1) : 4;
  return !row || *row / count < largePageBytes;
}

bool Judge::isOnlyRead() const {
  return none_of(story.uses,
                 [](const ParallelUse *use) { return use->isWrite; });
}

/// Whether all threads read so much of it that a vector beside a matrix is not
/// meant.
bool Judge::isLargeShared(const ParallelUse &use) const {
  if (use.shape == UseShape::irregular)
    return use.isGather;
  if (use.shape != UseShape::shared)
    return false;
  for (unsigned seed = 0; seed < sampleSets; ++seed) {
    int64_t beside = all.bytesInParts(*use.sharing, seed);
    if (use.figures[seed].extent < bytes[seed] / 8 || bytes[seed] < beside / 4)
      return false;
  }
  return true;
}

/// Whether the array that \p use reads may change after it.
bool Judge::isRewrittenAfter(const ParallelUse &use) {
  return !story.isRecycled && any_of(story.writes, [&](const SerialWrite *one) {
    return one->object == use.object &&
           findOrder(*use.at, use.frame, *one->at, one->frame,
                     sampler.analyses) != Order::never;
  });
}

/// Whether each iteration of \p sharing has its own row of the array, with
/// bounds that numbers in memory give. The optimiser may handle the first
/// element of each in front of the loop, where it looks chosen.
bool Judge::hasRows(const WorksharingLoop &sharing) const {
  return any_of(story.uses, [&](const ParallelUse *use) {
    return use->isRow && use->sharing == &sharing;
  });
}

void Judge::findOthers(ArrayVerdict &verdict) {
  bool onlyRead = isOnlyRead();
  const ParallelUse *elsewhere = nullptr;
  for (const ParallelUse *use : story.uses) {
    bool isRow = use->shape == UseShape::irregular && hasRows(*use->sharing);
    bool isMovedOn = use->shape == UseShape::parts || isRow ||
                     use->shape == UseShape::backward;
    if (isRow && isStatic(*use) && !verdict.rows)
      verdict.rows = use;
    if (isMovedOn && !isStatic(*use) && !verdict.nonStatic)
      verdict.nonStatic = use;
    if (isTooFine(*use) && !verdict.tooFine)
      verdict.tooFine = use;
    if (onlyRead && !verdict.sharedRead && !isRow && isLargeShared(*use))
      verdict.sharedRead = use;
    bool isElse = use->shape == UseShape::scattered ||
                  use->shape == UseShape::backward ||
                  (use->shape == UseShape::irregular && !isRow &&
                   !(onlyRead && use->isGather));
    if (isElse && isStatic(*use) && !verdict.notBlock)
      verdict.notBlock = use;
    if (isElse && onlyRead && use->shape == UseShape::irregular && !elsewhere)
      elsewhere = use;
  }
  verdict.isRewritten =
      verdict.sharedRead && isRewrittenAfter(*verdict.sharedRead);
  // With another schedule no part of it belongs to a thread either.
  if (!verdict.notBlock && !verdict.nonStatic && !verdict.sharedRead)
    verdict.notBlock = elsewhere;
}

// Initialisation

/// Whether threads of a team wrote the array before \p at.
bool Judge::isPlacedBefore(const Instruction &at, const CallFrame *frame) {
  return any_of(story.uses,
                [&](const ParallelUse *use) {
                  return use->isWrite &&
                         findOrder(*use->at, use->frame, at, frame,
                                   sampler.analyses) == Order::always;
                }) ||
         all.isWrittenByTeamsBefore(*story.source.object, at, frame);
}

/// A program reads only what was written before, unless memory begins as zero.
bool Judge::mayBeFirst(const SerialWrite &write) const {
  const std::optional<Allocation> &allocation = story.source.allocation;
  return !write.isUpdate || !allocation || allocation->isZeroed;
}

/// Bytes of \p object that \p writes omit, for a set of samples. Nothing if
/// they reach far beyond it: the lengths are then unrelated.
static std::optional<int64_t> bytesLeftOut(ArrayRef<const SerialWrite *> writes,
                                           const MemoryObject &object,
                                           unsigned seed, Sampler &sampler) {
  // A length that is a difference may be negative for samples: it is the same
  // identity, mirrored.
  int64_t bytes = mpg::getBytes(object, seed, sampler);
  int64_t sign = bytes < 0 ? -1 : 1, whole = std::abs(bytes);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const SerialWrite *write : writes)
    if (write->object == &object && write->isDense)
      ranges.push_back({sign * write->low[seed], sign * write->high[seed]});
  llvm::sort(ranges);
  int64_t end = 0, left = 0;
  for (auto [low, high] : ranges) {
    if (low > end + computeSlack(whole)) // one element somewhere
      break;
    left += std::max<int64_t>(low - end, 0);
    end = std::max(end, high);
  }
  if (end - whole > computeSlack(whole))
    return std::nullopt;
  return left + std::max<int64_t>(whole - end, 0);
}

bool mpg::coverAll(ArrayRef<const SerialWrite *> writes,
                   const MemoryObject &object, Sampler &sampler) {
  for (unsigned seed = 0; seed < sampleSets; ++seed) {
    std::optional<int64_t> left = bytesLeftOut(writes, object, seed, sampler);
    if (!left ||
        *left > computeSlack(std::abs(mpg::getBytes(object, seed, sampler))))
      return false;
  }
  return true;
}

/// Whether \p writes omit so little of \p object that a call for all of it
/// takes hardly more memory: its edges, or two large pages.
static bool coverPages(ArrayRef<const SerialWrite *> writes,
                       const MemoryObject &object, Sampler &sampler) {
  int64_t lefts[sampleSets];
  bool isLittle = true;
  for (unsigned seed = 0; seed < sampleSets; ++seed) {
    std::optional<int64_t> left = bytesLeftOut(writes, object, seed, sampler);
    if (!left)
      return false;
    lefts[seed] = *left;
    isLittle &= *left <= std::abs(mpg::getBytes(object, seed, sampler)) / 64;
  }
  return all_equal(lefts) ? lefts[0] <= 2 * largePageBytes : isLittle;
}

/// Whether \p write runs once the program has reached \p from. A file may hold
/// less than fread asks for.
bool Judge::isSure(const SerialWrite &write, const Instruction &from) {
  // Each caller has another array.
  const CallFrame *frame = findFrame(*from.getFunction(), write.object->frame);
  return write.isDense && isa<StoreInst, MemIntrinsic>(write.at) &&
         followsInAnyCase(write, from, frame, sampler);
}

/// Whether one thread of the program touches all of the array once it has
/// reached \p from: by \p init, or together with other writes.
bool Judge::isTouchedInAnyCase(const Instruction &from,
                               const Instruction *init) {
  SmallSetVector<const MemoryObject *, 4> objects;
  for (const SerialWrite *write : firstWrites)
    objects.insert(write->object);
  std::vector<const SerialWrite *> sure;
  auto isCovered = [&] {
    return all_of(objects, [&](const MemoryObject *object) {
      return coverPages(sure, *object, sampler);
    });
  };
  for (const SerialWrite *write : firstWrites)
    if (write->at == init && isSure(*write, from))
      sure.push_back(write);
  if (isCovered())
    return true;
  size_t asked = 0;
  for (const SerialWrite *write : firstWrites)
    if (write->at != init && ++asked <= maxSureWrites && isSure(*write, from))
      sure.push_back(write);
  return isCovered();
}

/// Whether a call path leads from \p write to what the array should be placed
/// for.
bool Judge::isUsedAfter(const SerialWrite &write, const ParallelUse *best) {
  return any_of(story.uses, [&](const ParallelUse *use) {
    return use->object == write.object &&
           (!best || use->sharing == best->sharing) &&
           findOrder(*write.at, write.frame, *use->at, use->frame,
                     sampler.analyses) != Order::never;
  });
}

/// The number of other writes that \p write precedes.
size_t Judge::laterWrites(const SerialWrite &write) {
  return size_t(count_if(story.writes, [&](const SerialWrite *other) {
    return findOrder(*write.at, write.frame, *other->at, other->frame,
                     sampler.analyses) == Order::always;
  }));
}

/// The place of a call for a global array is found by the write: it has to be
/// the first.
bool Judge::isBetterInit(const SerialWrite &write, const SerialWrite &known) {
  if (story.source.global) {
    size_t later = laterWrites(write), knownLater = laterWrites(known);
    if (later != knownLater)
      return later > knownLater;
  }
  return write.high[0] - write.low[0] > known.high[0] - known.low[0];
}

/// Whether other serial writes precede that of \p init on a call path to it:
/// the pages are then present when a call in front of it runs.
bool Judge::isWrittenBefore(const SerialWrite &init) {
  auto isBefore = [&](const SerialWrite *other, const SerialWrite *write) {
    return write->at == init.at && other->at != init.at &&
           isLarge(*other, sampler) &&
           findOrder(*other->at, other->frame, *write->at, write->frame,
                     sampler.analyses) == Order::always;
  };
  return any_of(story.writes, [&](const SerialWrite *write) {
    return any_of(story.writes, [&](const SerialWrite *other) {
      return isBefore(other, write);
    });
  });
}

void Judge::findInit(ArrayVerdict &verdict) {
  // On every call path to it: a function may be called with other sizes.
  SmallSetVector<const MemoryObject *, 4> objects;
  for (const SerialWrite *write : firstWrites)
    objects.insert(write->object);
  bool isAll = all_of(objects, [&](const MemoryObject *object) {
    return coverAll(firstWrites, *object, sampler);
  });
  for (const SerialWrite *write : firstWrites)
    if (isAll && write->isDense && isUsedAfter(*write, verdict.best) &&
        (!verdict.init || isBetterInit(*write, *verdict.init)))
      verdict.init = write;
  if (verdict.init && isPlacedBefore(*verdict.init->at, verdict.init->frame))
    verdict.init = nullptr;
}

/// Whether \p write moves on over more than a few elements.
static bool isOverMany(const SerialWrite &write, Sampler &sampler) {
  if (auto *whole = dyn_cast<MemIntrinsic>(write.at))
    return !isa<ConstantInt>(whole->getLength());
  int64_t bytes = write.high[0] - write.low[0];
  bool isKnown = true;
  for (unsigned seed = 1; seed < sampleSets; ++seed)
    isKnown &= write.high[seed] - write.low[seed] == bytes;
  return (!isKnown || bytes >= minPlacedBytes) && writingLoop(write, sampler);
}

/// Whether \p write gives pages of its array their place, and what it leaves
/// out is not known; and no team that is not seen has the array before.
bool Judge::isInitInPart(const SerialWrite &write) {
  return !write.isDense && isOverMany(write, sampler) &&
         isUsedAfter(write, nullptr) && !isHandedOver(write, sampler.analyses);
}

/// Teams only read it, and one thread writes to it, by an index or under a
/// condition. The written pages are on that thread's node.
void Judge::findInitInPart(ArrayVerdict &verdict) {
  const Instruction *site = story.source.site;
  // Arrays that containers allocate for others are reported at their callers.
  if (story.isWanted || story.isResized || !site ||
      site->getFunction()->getName().starts_with("_ZNSt") || !isOnlyRead() ||
      all.isWrittenByTeams(*story.source.object))
    return;
  DenseSet<const MemoryObject *> written;
  const SerialWrite *init = nullptr;
  for (const SerialWrite *write : story.writes)
    if (isInitInPart(*write)) {
      written.insert(write->object);
      if (!init || isBetterInit(*write, *init))
        init = write;
    }
  // Of the function's callers each has its own.
  if (all_of(story.uses, [&](const ParallelUse *use) {
        return written.count(use->object);
      }))
    verdict.init = init;
  verdict.isInPart = verdict.init;
}

std::string Judge::obstacle(const ArrayVerdict &verdict) {
  if (story.isResized)
    return "realloc changes its size";
  if (verdict.isInPart)
    return "it is not seen that all of it is written";
  if (story.isRecycled)
    return "it is allocated again and again, and recycled memory stays where "
           "it was";
  if (story.source.global && verdict.init && isWrittenBefore(*verdict.init))
    return "other code writes to it earlier, from another place";
  FirstTouchCall call(story.source, *verdict.best, verdict.init, story.writes,
                      sampler);
  if (!call.obstacle().empty() || story.isWanted)
    return call.obstacle();
  return isTouchedInAnyCase(*call.place(), verdict.init->at)
             ? ""
             : "the program may leave some of it untouched";
}

ArrayVerdict Judge::judge() {
  ArrayVerdict verdict;
  findBest(verdict);
  findOthers(verdict);
  findInit(verdict);
  if (!verdict.init)
    findInitInPart(verdict);
  if (verdict.best)
    verdict.tooFine = verdict.notBlock = verdict.sharedRead = verdict.rows =
        nullptr;
  if (!verdict.init)
    verdict.nonStatic = verdict.notBlock = verdict.sharedRead = verdict.rows =
        nullptr;
  verdict.isSerial = verdict.best && (verdict.init || story.isWanted);
  if (verdict.isSerial)
    verdict.obstacle = obstacle(verdict);
  return verdict;
}

ArrayVerdict mpg::judge(const ArrayStory &story, const ParallelUses &all,
                        Sampler &sampler) {
  return Judge(story, all, sampler).judge();
}

using Group = SmallVector<JudgedArray *, 2>;

/// Whether both are null, or the same number wherever they are read.
static bool areEqual(const Value *one, const Value *other) {
  return one == other && (!one || isa<ConstantInt>(one));
}

/// Whether pages are placed alike for both.
static bool areAlike(const ParallelUse &one, const ParallelUse &other) {
  if (one.at == other.at)
    return true;
  return one.sharing->schedule == other.sharing->schedule &&
         areEqual(one.sharing->chunk, other.sharing->chunk) &&
         areEqual(one.region->threads, other.region->threads) &&
         one.constantStep() && one.constantStep() == other.constantStep();
}

/// Whether \p path leads through \p call, or begins after it.
static bool passes(const CallFrame *path, const CallBase &call,
                   const Value *origin) {
  while (path && path->call != &call)
    path = path->outer;
  return path || origin == &call;
}

/// Whether the call's memory becomes, on all call paths to it, an array that is
/// placed like the first of \p group.
static bool isForAll(const Group &group, CallFrames &frames) {
  DenseSet<const CallFrame *> known;
  for (const JudgedArray *array : group) {
    if (!array->verdict.isSerial ||
        !areAlike(*array->verdict.best, *group.front()->verdict.best))
      return false;
    for (const ParallelUse *use : array->story->uses)
      known.insert(use->object->frame);
  }
  const ArraySource &source = group.front()->story->source;
  auto paths = frames.callPathsTo(*source.allocation->call->getFunction());
  return paths.size() < CallFrames::maxPaths &&
         all_of(
             paths,
             [&](const CallFrame *path) {
               return known.count(path) ||
                      !passes(path, *source.fresh, source.allocation->call);
             });
}

/// Whether \p array is what \p inner is, seen from outside of the function.
static bool isAgain(const JudgedArray &array, const JudgedArray &inner) {
  const ArrayVerdict &one = array.verdict, &other = inner.verdict;
  return array.story->source.site != array.story->source.fresh &&
         inner.story->source.site == inner.story->source.fresh &&
         one.isSerial && other.isSerial && one.init && other.init &&
         one.init->at == other.init->at && one.best->at == other.best->at;
}

static void settle(const Group &group, CallFrames &frames) {
  bool isWithin = any_of(group, [](const JudgedArray *array) {
    return array->story->source.site != array->story->source.fresh;
  });
  if (!isWithin)
    return;
  bool forAll = isForAll(group, frames);
  for (JudgedArray *array : group) {
    if (!forAll && array->verdict.obstacle.empty())
      array->verdict.obstacle =
          "the function that allocates it fills it too, and may do so for "
          "arrays that are used otherwise";
    array->verdict.isAgain = any_of(group, [&](const JudgedArray *inner) {
      return isAgain(*array, *inner);
    });
  }
}

void mpg::settleSharedSites(MutableArrayRef<JudgedArray> arrays,
                            CallFrames &frames) {
  MapVector<const CallBase *, Group> groups;
  for (JudgedArray &array : arrays)
    if (const CallBase *fresh = array.story->source.fresh)
      groups[fresh].push_back(&array);
  for (auto &[fresh, group] : groups)
    settle(group, frames);
}
