// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules that turn measurements into decisions: the guide's decision tree (part
// XII), whose first question is whether the TLB is the bottleneck, with the
// bounds of docs/howto-profile.md. A rule without data prints nothing.
// Otherwise it prints a sentence with the figure and the file. Settings follow
// from it in the same run of decisions as without a measurement.

#include "Advice/RecommendRules.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mpg;

/// Shares of the time for page walks: from the first on they are worth large
/// pages, below the second large pages can gain nothing that one would notice.
static constexpr double manyWalks = 0.05, fewWalks = 0.01;
/// Where only their number is known: cycles or instructions for one. At 50
/// cycles a walk the first is 5 % of the time, at 100 the second is 1 %.
static constexpr double oftenEach = 1000, seldomEach = 10000;
/// HW:a64fx-walk
static constexpr double minWalkNs = 206, maxWalkNs = 287;
static constexpr double enoughLocal = 0.9;
static constexpr double busyInMalloc = 0.05;
/// Fujitsu's guide, 7.5: 0.26 and 51.5 % where arrays meet, 0.13 and 9.5 %
/// where they do not.
static constexpr double manyL1Misses = 0.2, muchDemand = 0.3;
/// A fault of a base page, with the clearing of its page: the first on a
/// machine by itself, the second in a virtual one (AMD EPYC, Linux 6.18,
/// 2026-11-26).
static constexpr double minFaultNs = 500, maxFaultNs = 2000;
static constexpr uint64_t minObjectBytes = 4 << 20; ///< two large pages

static std::string percent(double share) {
  return formatv("{0:F1} %", 100 * share);
}

static void addVerdict(Advice &advice, StringRef rule, const Measurement &from,
                       const std::string &text) {
  advice.verdicts.push_back({rule.str(), from.path, from.tool, text});
}

static uint64_t countOr0(const Measurement &from, Quantity quantity) {
  return from.count(quantity).value_or(0);
}

// Step 1: is the TLB a bottleneck?

namespace {

enum class WalkCost : uint8_t { unknown, little, some, much };

struct WalkFinding {
  WalkCost cost = WalkCost::unknown;
  std::string text; ///< "page walks take 7.1 % of the cycles"
};

} // namespace

static WalkCost judgeShare(double min, double max) {
  if (min >= manyWalks)
    return WalkCost::much;
  return max < fewWalks ? WalkCost::little : WalkCost::some;
}

/// From the number alone; \p isUpperBound: not all of them take a walk.
static WalkFinding judgeNumber(const Measurement &from, uint64_t number,
                               bool isUpperBound) {
  uint64_t cycles = countOr0(from, Quantity::cycles);
  uint64_t of = cycles ? cycles : countOr0(from, Quantity::instructions);
  if (!of)
    return {};
  double each = double(of) / double(number);
  WalkFinding found;
  found.cost = each >= seldomEach                   ? WalkCost::little
               : each <= oftenEach && !isUpperBound ? WalkCost::much
                                                    : WalkCost::some;
  StringRef unit = cycles ? "cycles" : "instructions";
  StringRef what = isUpperBound ? "miss of a data TLB" : "page walk";
  found.text = formatv("one {0} in {1:N} {2}", what, uint64_t(each), unit);
  if (isUpperBound && found.cost == WalkCost::some)
    found.text += ", and it is not counted how many of them take a walk";
  return found;
}

static WalkFinding judgeWalks(const AdviceContext &context,
                              const Measurement &from) {
  std::optional<uint64_t> walks = from.count(Quantity::tlbWalks),
                          walkCycles = from.count(Quantity::walkCycles);
  double cycles = double(countOr0(from, Quantity::cycles));
  double cpuNs = double(countOr0(from, Quantity::cpuNs));
  if (walkCycles && cycles > 0) {
    double share = double(*walkCycles) / cycles;
    return {judgeShare(share, share),
            "page walks take " + percent(share) + " of the cycles"};
  }
  if (walks && cpuNs > 0 && context.coreGroups) {
    double min = double(*walks) * minWalkNs / cpuNs,
           max = double(*walks) * maxWalkNs / cpuNs;
    return {judgeShare(min, max),
            "page walks take " + percent(min) + " to " + percent(max) +
                " of the CPU time, at 206 to 287 ns for one"};
  }
  if (walks)
    return judgeNumber(from, *walks, /*isUpperBound=*/false);
  if (std::optional<uint64_t> misses = from.count(Quantity::tlbMisses))
    return judgeNumber(from, *misses, /*isUpperBound=*/true);
  return {};
}

namespace {

/// The memory that a profile covers, without stacks.
struct PagesInUse {
  uint64_t used = 0, large = 0;
  /// Nothing: too little for an answer.
  std::optional<double> largeShare() const {
    if (used < minObjectBytes)
      return std::nullopt;
    return double(large) / double(used);
  }
};

} // namespace

static PagesInUse readPages(const Measurement &from) {
  PagesInUse pages;
  for (const MeasuredObject &object : from.objects)
    if (object.isHugeKnown && !object.isStack) {
      pages.used += object.usedBytes;
      pages.large += std::min(object.hugeBytes, object.usedBytes);
    }
  return pages;
}

static std::string whatFollows(WalkCost cost, std::optional<double> large) {
  if (cost == WalkCost::much)
    return !large || *large < 0.5
               ? "large pages are worth it"
               : "and " + percent(*large) +
                     " of the memory is on large pages already: look for what "
                     "is not, or take pages of 1 GiB";
  if (cost == WalkCost::some)
    return "mpgrun --compare tells what large pages gain";
  if (!large)
    return "if that was with large pages, they do their work; if it was "
           "without, they can gain little";
  return *large < 0.5 ? "large pages can gain little, so what brings the "
                        "program onto them is left out below"
                      : "large pages do their work";
}

static std::string milliseconds(uint64_t ns) {
  return formatv("{0:N}", ns / 1000000);
}

/// For the base pages that the target's kernel usually has.
static const ModelledGain *findGain(const AdviceContext &context,
                                    const Measurement &from) {
  for (const ModelledGain &gain : from.gains)
    if (gain.basePageBytes == usualPageBytes(context.target))
      return &gain;
  return from.gains.empty() ? nullptr : &from.gains.front();
}

/// "; 60.0 % of them are in a (x.c:1), 20.0 % in b (x.c:2)"
static std::string nameWalked(const Measurement &from, uint64_t pageBytes) {
  static constexpr double minShare = 0.1;
  uint64_t sum = 0;
  std::vector<const ModelledArray *> arrays;
  for (const ModelledArray &array : from.arrays)
    if (array.pageBytes == pageBytes) {
      arrays.push_back(&array);
      sum += array.walks;
    }
  sortByMost(arrays, &ModelledArray::walks);
  std::string text;
  for (const ModelledArray *array : arrays)
    if (double share = double(array->walks) / double(sum);
        sum && share >= minShare)
      text += (text.empty() ? "; " : ", ") + percent(share) +
              (text.empty() ? " of them are in " : " in ") +
              printable(array->name);
  return text;
}

static void judgeModel(const AdviceContext &context, const Measurement &from,
                       Advice &advice) {
  const ModelledGain *gain = findGain(context, from);
  if (!gain)
    return;
  std::string text = "on base pages of " + formatBytes(gain->basePageBytes);
  if (gain->decidedBy == "walks")
    text += ", pages of " + formatBytes(gain->pageBytes) + " save " +
            milliseconds(gain->minNs) + " to " + milliseconds(gain->maxNs) +
            " ms of page walks: large pages are worth it" +
            nameWalked(from, gain->basePageBytes);
  else
    text += (gain->decidedBy == "bandwidth"
                 ? " the traffic to memory decides over the time"
                 : " there are next to no page walks to save") +
            std::string(": large pages can gain little, so what brings the "
                        "program onto them is left out below");
  addVerdict(advice, "tlb", from, text);
}

void mpg::judgeTlb(const AdviceContext &context, Advice &advice) {
  for (const Measurement *from : context.measured) {
    judgeModel(context, *from, advice);
    WalkFinding found = judgeWalks(context, *from);
    PagesInUse pages = readPages(*from);
    if (found.cost == WalkCost::unknown && pages.largeShare())
      addVerdict(advice, "tlb", *from,
                 formatBytes(pages.large) + " of " + formatBytes(pages.used) +
                     " in large objects are on large pages, and no misses of "
                     "the TLB were counted: mpgrun --compare tells what large "
                     "pages gain");
    else if (found.cost != WalkCost::unknown)
      addVerdict(advice, "tlb", *from,
                 found.text + ": " +
                     whatFollows(found.cost, pages.largeShare()));
  }
}

/// One measurement is enough that speaks for them.
bool AdviceContext::pagesGainLittle() const {
  bool little = false;
  for (const Measurement *from : measured) {
    if (const ModelledGain *gain = findGain(*this, *from)) {
      if (gain->decidedBy == "walks")
        return false;
      little = true;
    }
    WalkFinding found = judgeWalks(*this, *from);
    std::optional<double> large = readPages(*from).largeShare();
    if (found.cost == WalkCost::much)
      return false;
    little |= found.cost == WalkCost::little && large && *large < 0.5;
  }
  return little;
}

// Step 2: is the memory where the threads are?

static std::optional<double> localShare(const Measurement &from) {
  uint64_t local = countOr0(from, Quantity::localAccesses);
  std::optional<uint64_t> remote = from.count(Quantity::remoteAccesses);
  if (!remote || local + double(*remote) <= 0)
    return std::nullopt;
  return double(local) / (double(local) + double(*remote));
}

std::optional<bool> AdviceContext::isLocal() const {
  std::optional<bool> all;
  for (const Measurement *from : measured)
    if (std::optional<double> share = localShare(*from))
      all = all.value_or(true) && *share >= enoughLocal;
  return all;
}

bool AdviceContext::hasMeasuredThreads() const {
  return any_of(measured, [](const Measurement *from) {
    return from->placement || (from->sampled && from->sampled->threads > 1) ||
           any_of(from->objects, [](const MeasuredObject &object) {
             return object.touchingThreads > 1 || object.isThreadStack;
           });
  });
}

static void judgePlacementModel(const Measurement &from, Advice &advice) {
  const ModelledPlacement &lines = *from.placement;
  if (!lines.all)
    return;
  auto share = [&](uint64_t local) {
    return double(local) / double(lines.all);
  };
  double touch = share(lines.firstTouch);
  std::string text = percent(touch) +
                     " of the traffic to memory is local under first touch, " +
                     percent(share(lines.prepage)) + " under prepage, " +
                     percent(share(lines.interleave)) + " interleaved: ";
  if (touch >= enoughLocal)
    text += "first touch is right";
  else if (touch > share(lines.interleave))
    text += "first touch is best, and better still where the threads that use "
            "an array initialise it";
  else
    text += "the threads that use the arrays have to initialise them; until "
            "then, interleave: numactl --interleave=all";
  addVerdict(advice, "local-share", from, text);
}

/// The two largest of those that the first thread alone touched.
static std::string joinNames(std::vector<const MeasuredObject *> objects) {
  sortByMost(objects, &MeasuredObject::peakBytes);
  std::string names;
  for (const MeasuredObject *object : ArrayRef(objects).take_front(2))
    names += (names.empty() ? "" : ", ") + object->name;
  return objects.size() > 2 ? names + ", ..." : names;
}

static void judgeFirstTouch(const AdviceContext &context,
                            const Measurement &from, Advice &advice) {
  std::vector<const MeasuredObject *> ofMain;
  uint64_t mainBytes = 0, allBytes = 0;
  for (const MeasuredObject &object : from.objects) {
    if (object.isStack)
      continue;
    allBytes += object.peakBytes;
    if (!object.isTouchedByMain || object.peakBytes < minObjectBytes)
      continue;
    ofMain.push_back(&object);
    mainBytes += object.peakBytes;
  }
  if (!context.hasMeasuredThreads() || mainBytes < allBytes / 2 ||
      ofMain.empty() || context.reach == ThreadReach::oneThread)
    return;
  addVerdict(advice, "first-touch", from,
             formatBytes(mainBytes) + " of " + formatBytes(allBytes) + " (" +
                 joinNames(ofMain) +
                 ") were touched first by the main thread alone, and lie on "
                 "its node whatever the policy: with threads on several "
                 "nodes, the threads that use them have to initialise them");
}

void mpg::judgeLocality(const AdviceContext &context, Advice &advice) {
  for (const Measurement *from : context.measured) {
    if (from->placement)
      judgePlacementModel(*from, advice);
    judgeFirstTouch(context, *from, advice);
    std::optional<double> share = localShare(*from);
    if (!share)
      continue;
    addVerdict(advice, "local-share", *from,
               percent(*share) +
                   " of the counted accesses to memory stay on "
                   "the node: " +
                   (*share >= enoughLocal
                        ? "nothing is to be gained by placing data"
                        : "the threads that use an array have to initialise "
                          "it, or each node needs a copy"));
  }
}

// Step 3: malloc and free

/// Blocks that are given back to the system and come again, empty, each time.
static bool isRefilled(const MeasuredObject &object) {
  constexpr uint64_t minFilled = 256 << 20;
  // By pages of the size that it has: those that were filled more than thrice.
  double filled = double(object.faults) * double(object.pageBytes);
  return object.blocks >= 10 && filled >= 3 * double(object.peakBytes) &&
         filled >= double(minFilled);
}

/// Ours keeps what is smaller than MALLOC_MMAP_THRESHOLD_ by itself: 12 blocks
/// of 160 MiB had 962 page faults without the setting and 78 with it, of 40 MiB
/// none but the first each way (AMD EPYC, Linux 6.18, 2026-11-23).
static bool wantsPool(const AdviceContext &context,
                      const MeasuredObject &object) {
  constexpr uint64_t thresholdBytes = 128 << 20;
  return context.isLibmpg() && context.foreignMalloc().empty() &&
         !context.memoryIsTight() &&
         (context.target == Target::fugaku ||
          object.peakBytes >= thresholdBytes);
}

void mpg::adviseRefills(const AdviceContext &context, Advice &advice) {
  for (const Measurement *from : context.measured)
    for (const MeasuredObject &object : from->objects) {
      if (!isRefilled(object))
        continue;
      bool wants = wantsPool(context, object);
      addVerdict(advice, "refilled-blocks", *from,
                 object.name + " allocates " + std::to_string(object.blocks) +
                     " blocks and frees them again, with " +
                     std::to_string(object.faults) + " page faults: " +
                     (wants || context.target != Target::mpg
                          ? "allocate once, or have malloc keep the memory"
                          : "allocate once; libmpg's malloc keeps the memory"));
      if (!wants || poolsBlocks(context, advice))
        continue;
      advice.settings.push_back(
          {"XOS_MMM_L_ARENA_FREE", "2",
           "Freed blocks stay on their pages for the next one. Fujitsu's "
           "guide, 7.3: the second malloc 1,033 times as fast. Memory is "
           "never given back, and XOS_MMM_L_ARENA_LOCK_TYPE=0 has no effect "
           "beside it.",
           "refilled-blocks"});
    }
}

/// Warns of few samples: with a hundred a share of 5 % is right within 4 %.
static std::string describeFew(const SampledTime &time) {
  constexpr size_t enough = 100;
  return time.samples >= enough ? ""
                                : " (by " + countWord(time.samples, "sample") +
                                      " only: record for longer)";
}

static double mallocShare(const Measurement &from) {
  return from.sampled ? double(from.sampled->inMalloc) /
                            double(std::max<uint64_t>(from.sampled->all, 1))
                      : 0;
}

bool AdviceContext::isBusyInMalloc() const {
  return any_of(measured, [](const Measurement *from) {
    return from->sampled && from->sampled->threads > 1 &&
           mallocShare(*from) >= busyInMalloc;
  });
}

void mpg::judgeMalloc(const AdviceContext &context, Advice &advice) {
  for (const Measurement *from : context.measured) {
    if (!from->sampled)
      continue;
    size_t threads = from->sampled->threads;
    addVerdict(advice, "malloc-threads", *from,
               percent(mallocShare(*from)) + " of the time of " +
                   countWord(threads, "thread") +
                   " is spent in malloc and free" +
                   describeFew(*from->sampled) + ": " +
                   (mallocShare(*from) < busyInMalloc
                        ? "nothing is to be gained there"
                        : "allocate less often, outside of loops"));
  }
}

// Page faults, of which large pages take fewer

/// The share of the time that samples show in page faults.
static std::optional<double> sampledFaultShare(const Measurement &from) {
  if (!from.sampled || !from.sampled->all)
    return std::nullopt;
  return double(from.sampled->inFaults) / double(from.sampled->all);
}

static std::string whatFaultsAsk(double minShare, double maxShare) {
  if (minShare >= manyWalks)
    return ": a large page takes one where base pages take hundreds, and "
           "memory "
           "that is kept takes none";
  if (maxShare < manyWalks)
    return ": nothing is to be gained there";
  return ": perf record -e cpu-clock tells how much time they take, and mpgrun "
         "--compare what large pages save of it";
}

/// A number of faults says nothing about time without the cost of one. Another
/// measurement of the program that has seen the time decides for all.
static void judgeFaultCount(const Measurement &from,
                            std::optional<double> sampledShare,
                            Advice &advice) {
  std::optional<uint64_t> faults = from.count(Quantity::pageFaults);
  double seconds = double(countOr0(from, Quantity::cpuNs)) / 1e9;
  if (!faults || seconds <= 0)
    return;
  double each = double(*faults) / seconds;
  std::string text = formatv("{0:N} page faults in a second of CPU time",
                             uint64_t(std::min(each, 0x1p62)));
  double minShare = std::min(each * minFaultNs / 1e9, 1.0),
         maxShare = std::min(each * maxFaultNs / 1e9, 1.0);
  if (sampledShare)
    minShare = maxShare = *sampledShare;
  else
    text += ", " + percent(minShare) + " to " + percent(maxShare) +
            " of it at 0.5 to 2 us for one";
  addVerdict(advice, "page-faults", from,
             text + whatFaultsAsk(minShare, maxShare));
}

void mpg::judgeFaults(const AdviceContext &context, Advice &advice) {
  std::optional<double> sampledShare;
  for (const Measurement *from : context.measured)
    if (std::optional<double> share = sampledFaultShare(*from))
      sampledShare = std::max(sampledShare.value_or(0), *share);
  for (const Measurement *from : context.measured)
    if (std::optional<double> share = sampledFaultShare(*from))
      addVerdict(advice, "page-faults", *from,
                 percent(*share) + " of the time is spent in page faults" +
                     describeFew(*from->sampled) +
                     whatFaultsAsk(*sampledShare, *sampledShare));
    else
      judgeFaultCount(*from, sampledShare, advice);
}

// Step 4: do arrays of equal size meet in the L1 cache?

/// Only A64FX counts what no prefetch has foreseen, and without that a stream
/// would look the same.
static void judgeThrashingIn(const Measurement &from, Advice &advice) {
  double accesses = double(countOr0(from, Quantity::l1Accesses)),
         misses = double(countOr0(from, Quantity::l1Misses));
  std::optional<uint64_t> demand = from.count(Quantity::l1DemandMisses);
  if (accesses <= 0 || misses <= 0 || !demand)
    return;
  double rate = misses / accesses, share = double(*demand) / misses;
  bool fires = rate >= manyL1Misses && share >= muchDemand;
  addVerdict(advice, "l1-thrashing", from,
             percent(rate) + " of the accesses miss the L1 cache, and " +
                 percent(share) +
                 " of these misses no prefetch has foreseen: " +
                 (fires ? "arrays of equal size meet in its sets, or accesses "
                          "are random. For arrays from malloc try "
                          "MALLOC_MMAP_THRESHOLD_=204800, others want padding "
                          "(Fujitsu's guide, 7.5: 51.5 % became 9.5 %)"
                        : "no arrays meet in its sets"));
}

void mpg::judgeThrashing(const AdviceContext &context, Advice &advice) {
  for (const Measurement *from : context.measured)
    judgeThrashingIn(*from, advice);
}

/// So that no user waits for an answer that a file cannot give.
void mpg::judgeTheRest(const AdviceContext &context, Advice &advice) {
  for (const Measurement *from : context.measured)
    if (none_of(advice.verdicts, [&](const RuleVerdict &verdict) {
          return verdict.file == from->path;
        }))
      addVerdict(advice, "none", *from,
                 "it has neither misses of the TLB with cycles or "
                 "instructions, nor local and remote accesses, nor large "
                 "objects, nor page faults with time: no rule has anything to "
                 "go by" +
                     std::string(from->tool == "fapp"
                                     ? "; fapp counts misses of the TLB in pa9"
                                     : ""));
}

bool mpg::poolsBlocks(const AdviceContext &context, const Advice &advice) {
  return context.isSet("XOS_MMM_L_ARENA_FREE", "2") ||
         valueIn(advice, "XOS_MMM_L_ARENA_FREE") == "2";
}
