// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedSites.h.

#include "openmp/SharedSites.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Constants.h"

using namespace llvm;
using namespace mpg;

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

/// Whether \p way leads through \p call, or begins behind it.
static bool passes(const CallFrame *way, const CallBase &call,
                   const Value *origin) {
  while (way && way->call != &call)
    way = way->outer;
  return way || origin == &call;
}

/// Whether the call's memory becomes, on all ways to it, an array that is
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
  auto ways = frames.waysTo(*source.allocation->call->getFunction());
  return ways.size() < CallFrames::maxWays &&
         all_of(
             ways,
             [&](const CallFrame *way) {
               return known.count(way) ||
                      !passes(way, *source.fresh, source.allocation->call);
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
