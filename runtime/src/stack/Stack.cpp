// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process stack. New memory is built elsewhere, the stack is copied into
// it at the same offsets, and it is moved over the stack in one system call,
// all of that on a small stack of our own.
//
//   whole   the range from the top of the stack up to the next border
//           of large pages is free: old and new lie in [low, border), nothing
//           is left behind
//   parted  that range is in use (the vDSO of many x86 kernels, or the end of
//           the address space), or the kernel could not read the arguments
//           afterwards: the part of the stack above the border below keeps
//           normal pages. The stack is grown to that border, and large pages
//           continue from there. main begins at the border if libmpg calls it
//           (mpg_calls_main)
//   by need the same layout as parted, and main begins where the kernel has it:
//           most programs need little more than that and take no page of the
//           pool. Where no setting asks for more
//
// Below each is what the kernel would have there: a gap without access or, if
// the limit is higher than the large part or unlimited, normal pages that grow
// downwards. A program may change its limit: see StackLimit.cpp.
//
// That is for pages of the pool. For transparent pages the kernel's own stack
// grows to its size at once, and all but what is used first is advised: so a
// program that needs little of its stack has no large page cleared for it.
//
// Not done: running main on another stack. Garbage collectors and sanitizers
// look for the stack where the kernel put it.

#include "stack/Stack.h"
#include "base/Cgroup.h"
#include "base/SelfMaps.h"
#include "base/StackSwitch.h"
#include "heap/Collapse.h"
#include "pages/LargeMemory.h"
#include "pages/Pages.h"
#include "pages/Shortage.h"
#include <errno.h>
#include <string.h>

using namespace mpg;

/// More large pages than this only if a limit asks for them.
static constexpr uint64_t unlimitedPartBytes = 64 << 20;
/// A smaller part is not worth it without a limit.
static constexpr uint64_t minPartBytes = 8 << 20;
/// Room below the frame of the caller that stays on normal pages when the
/// stack is parted: everything that is in use while it happens.
static constexpr size_t callFramesBytes = 64 << 10;
/// The same where large pages come by need: most programs need little more.
static constexpr size_t firstPartBytes = 128 << 10;

/// See mainBegins().
static uintptr_t topOfMain = 0;

namespace {

struct Plan {
  size_t hugePageBytes = 0;
  uint64_t limitBytes = 0; ///< UINT64_MAX: none
  Range old;               ///< the stack as the kernel has made it
  Range above;             ///< taken up to the border; whole stacks only
  bool byNeed = false;
  bool whole = false;
  bool skips = false; ///< main will begin on the large part of a parted stack
  bool readable = false; ///< arguments can be kept readable if it is whole
  Source source = Source::hugetlbFile;
  Range large; ///< where the new memory goes
  Staged staged;

  /// The limit beyond the large part is served by growing on normal pages.
  bool grows() const { return limitBytes > old.end - large.start; }
  size_t belowBytes() const {
    return grows() ? growingStartBytes : guardGapBytes();
  }
  /// Addresses below the stack in use that must be free.
  Range below() const {
    bool starts = whole || old.start < large.end;
    return {large.start - belowBytes(), starts ? old.start : large.end};
  }
};

} // namespace

// Messages

static const char *const cost = "; cost: more TLB misses on the stack";

static void reportLeft(Messages &messages, const Plan &plan,
                       const char *reason) {
  messages.region(MPG_REGION_STACK, plan.old, 0, plan.hugePageBytes, reason);
}

/// Bytes below the top of the stack that are to be large.
static uint64_t wantedBytes(const Plan &plan) {
  if (plan.limitBytes <= unlimitedPartBytes)
    return plan.limitBytes;
  if (plan.limitBytes == UINT64_MAX || plan.source == Source::thp)
    return unlimitedPartBytes;
  uint64_t quarter =
      readPool(plan.hugePageBytes).available() / 4 * plan.hugePageBytes;
  if (quarter < unlimitedPartBytes)
    return unlimitedPartBytes;
  return plan.limitBytes < quarter ? plan.limitBytes : quarter;
}

static void reportShortage(Messages &messages, const Plan &plan, int error) {
  LineBuffer line, cause;
  explainShortage(cause, plan.source, plan.hugePageBytes,
                  plan.large.empty() ? wantedBytes(plan) : plan.large.bytes(),
                  error);
  line.addAll("the process stack stays on normal pages", cost,
              "; cause: ", cause.text());
  messages.report(MPG_MSG_SHORTAGE, line);
  reportLeft(messages, plan, cause.text());
}

static void reportThreads(Messages &messages, const Plan &plan,
                          unsigned count) {
  messages.report(MPG_LPG_THREADS,
                  "the process stack stays on normal pages: ", count,
                  " threads run before main", cost,
                  "; fix: start threads in main and not in constructors");
  reportLeft(messages, plan, "several threads before main");
}

static void reportExecutable(Messages &messages, const Plan &plan) {
  messages.report(
      MPG_MSG_CONFLICT,
      "the process stack stays on normal pages: the program asks for an "
      "executable stack",
      cost, "; fix: mpgaudit --explain=MPG160");
  reportLeft(messages, plan, "executable stack");
}

/// \p place is not free; adds by what.
static void addObstacle(LineBuffer &line, Range place) {
  SelfMaps maps;
  Mapping mapping;
  while (maps.next(mapping)) {
    if (!mapping.range.overlaps(place))
      continue;
    line.addAll(mapping.name[0] ? mapping.name : "other memory",
                " lies there, at ", Hex(mapping.range.start));
    return;
  }
  line.add("the address space ends there");
}

/// The bytes that stay on normal pages, and why.
static void reportParted(Messages &messages, const Plan &plan) {
  Range wanted{plan.old.end, roundUp(plan.old.end, plan.hugePageBytes)};
  LineBuffer line;
  if (plan.readable) {
    line.addAll("no room above the process stack at ", Hex(plan.old.end), ": ");
    addObstacle(line, wanted);
  } else {
    line.add("the kernel does not let the arguments leave the process stack");
  }
  line.addAll(
      "; cost: its first ", Bytes(plan.old.end - plan.large.end),
      " stay on normal pages, ", Bytes(plan.large.bytes()),
      " below are large; fix: ",
      plan.readable
          ? "address space randomisation on (not setarch -R, not under a "
            "debugger), or a kernel that keeps the vDSO away from the "
            "stack"
          : "a kernel with CONFIG_CHECKPOINT_RESTORE");
  messages.report(plan.readable ? MPG_LPG_STACK_BOTTOM : MPG_MSG_KERNEL, line);
}

static void reportNoRoomBelow(Messages &messages, const Plan &plan) {
  LineBuffer line("no room below the process stack at ", Hex(plan.old.start),
                  " for ", Bytes(plan.below().bytes()), ": ");
  addObstacle(line, plan.below());
  line.add("; cost: the stack stays on normal pages; fix: a lower limit "
           "(ulimit -s), or keep mappings away from the stack");
  messages.report(MPG_LPG_STACK_TOP, line);
  reportLeft(messages, plan, "no room below the stack");
}

// The plan

/// Fills in the present state. False if this is not a stack that may be moved;
/// that has been printed.
static bool findStack(Plan &plan, Messages &messages, unsigned threads) {
  Mapping mapping;
  auto here = uintptr_t(__builtin_frame_address(0));
  if (!findMapping(here, mapping))
    return false;
  if (mapping.executable)
    allowCodeOnStacks();
  plan.old = mapping.range;
  plan.limitBytes = stackLimitBytes();
  if (plan.limitBytes == 0) {
    reportLeft(messages, plan, "the stack limit is 0 or cannot be read");
    return false;
  }
  // An emulator or a tool has made its own stack. If the map calls it
  // "[stack]", it has its full size from the start, unlike the kernel's.
  // The kernel's starts with its arguments, at most 6 MiB, and about 128 KiB
  // (fs/binfmt_elf.c; inferred, 132 KiB measured on 6.18).
  constexpr uint64_t kernelStartMaxBytes = 8 << 20;
  uint64_t fullBytes = plan.limitBytes < kernelStartMaxBytes
                           ? plan.limitBytes
                           : kernelStartMaxBytes;
  if (strcmp(mapping.name, "[stack]") || plan.old.bytes() >= fullBytes) {
    reportLeft(messages, plan, "not a stack of the kernel's");
    return false;
  }
  if (mapping.executable) {
    reportExecutable(messages, plan);
    return false;
  }
  if (threads > 1) {
    reportThreads(messages, plan, threads);
    return false;
  }
  return true;
}

/// Whether the large part, present from the start, would take a part of a
/// memory limit that the program may want for other things. The kernel's commit
/// limit also counts for pool pages, because a fork moves them to normal pages.
static bool isTooMuch(const Plan &plan, Messages &messages) {
  uint64_t limited = readMemoryLimit().leftBytes, left = readPromisesLeft();
  bool isPromise = left < limited;
  left = isPromise ? left : limited;
  uint64_t wanted = wantedBytes(plan);
  if (wanted <= left / stackShareOfLimit)
    return false;
  messages.report(MPG_MSG_SHORTAGE, "the process stack stays on normal pages",
                  cost, "; cause: ",
                  isPromise ? "vm.overcommit_memory is 2, CommitLimit leaves "
                            : "a limit on memory (ulimit -v or -d) leaves ",
                  Bytes(left), ", and all ", Bytes(wanted),
                  " of it would count from the start; fix: raise ",
                  isPromise ? "vm.overcommit_ratio" : "the limit",
                  ", or lower that of the stack (ulimit -s)");
  reportLeft(messages, plan, "a limit on memory is near");
  return true;
}

/// Decides where large pages go if they are to reach \p bytes below the top.
static bool layOut(Plan &plan, uint64_t bytes) {
  auto here = uintptr_t(__builtin_frame_address(0));
  size_t hugeBytes = plan.hugePageBytes;
  size_t room = plan.byNeed ? firstPartBytes : callFramesBytes;
  plan.large.end = plan.whole ? roundUp(plan.old.end, hugeBytes)
                              : roundDown(here - room, hugeBytes);
  // The part above main's first frame must not be missing at the low end.
  uintptr_t top = plan.skips ? plan.large.end : plan.old.end;
  if (bytes >= top)
    return false;
  plan.large.start = roundDown(top - bytes, hugeBytes);
  return !plan.large.empty();
}

/// Linux (measured on 6.18) moves hugetlb memory to wrong places if it begins
/// with a stretch that no page table covers and continues with one that a table
/// covers. The kernel skips to the end of the table's range in the old and in
/// the new place alike, which are not equally far away (inferred; 44 of 400
/// starts with a stack of 96 MiB died, with pages made present none). The
/// stack's contents are at the end of untouched memory, so one page is made
/// present before each such border.
static bool makePageTables(Range staged, size_t hugePageBytes) {
  // A table reaches over 1 GiB or, with 64 KiB base pages, 512 MiB.
  constexpr size_t reachBytes = 512 << 20;
  for (uintptr_t border = roundUp(staged.start + 1, reachBytes);
       border < staged.end; border += reachBytes)
    if (populate({border - hugePageBytes, border}, hugePageBytes) == 0)
      return false;
  return true;
}

/// Makes memory present before the move: all of the new memory if prepaging is
/// requested or if reserved memory may fail later.
static bool fill(const Config &config, const Plan &plan) {
  Range staged = plan.staged.range;
  if (config.stackPaging == Paging::prepage ||
      reservationMayFailAtStart(plan.hugePageBytes))
    return populate(staged, plan.hugePageBytes) == staged.bytes();
  return makePageTables(staged, plan.hugePageBytes);
}

/// Builds the new memory in the pool; less than wanted only where normal pages
/// continue below.
static int build(const Config &config, Plan &plan) {
  uint64_t bytes = wantedBytes(plan);
  for (;;) {
    if (!layOut(plan, bytes))
      return ENOMEM;
    // The leading space makes it "/memfd: [stack] by libmpg" in the maps, which
    // users of Fujitsu's library search for.
    int error = buildStaged(plan.source, plan.large.bytes(), plan.hugePageBytes,
                            " [stack] by libmpg", plan.staged);
    if (!error) {
      if (fill(config, plan))
        return 0;
      discard(plan.staged);
      error = ENOMEM;
    }
    bool mayBeLess = plan.limitBytes > unlimitedPartBytes;
    if (!mayBeLess || bytes / 2 < minPartBytes)
      return error;
    bytes /= 2;
  }
}

// The move

/// Makes the stack reach down to the border where large pages begin.
static bool reachBorder(const Plan &plan, Messages &messages) {
  if (plan.old.start <= plan.large.end)
    return true;
  if (plan.old.end - plan.large.end > plan.limitBytes) {
    reportLeft(messages, plan,
               "the stack limit ends above the first whole large page");
    return false;
  }
  if (!mayMapMore(plan.old.start - plan.large.end)) {
    reportShortage(messages, plan, ENOMEM);
    return false;
  }
  stretchStackTo(plan.large.end);
  return true;
}

/// After a failed move: frees the addresses held below, unless they are normal
/// pages of the stack by now (then it no longer grows and needs them).
static void releaseBelow(Range below) {
  Mapping mapping;
  if (!findMapping(below.end, mapping) || mapping.range.start == below.end)
    releasePlace(below);
}

/// Holds the space below and puts the new memory in its place.
static bool applyPlan(Plan &plan, Messages &messages) {
  Range below = plan.below();
  // Of a stack that is moved as a whole holdPlace() finds that out.
  if (!plan.whole && tryPlace({below.start, plan.old.start}) == EEXIST) {
    reportNoRoomBelow(messages, plan);
    return false;
  }
  if (!plan.whole && !reachBorder(plan, messages))
    return false;
  if (!holdPlace(below)) {
    reportNoRoomBelow(messages, plan);
    return false;
  }
  if (plan.whole && !moveArguments()) {
    releasePlace(below);
    reportShortage(messages, plan, ENOMEM);
    return false;
  }
  StackMove move{plan.staged, plan.whole ? plan.old : Range{}, plan.large.start,
                 plan.hugePageBytes};
  int error = moveStack(move);
  plan.staged = move.staged;
  if (error) {
    releaseBelow(below);
    reportShortage(messages, plan, error);
    return false;
  }
  return true;
}

static void reportMoved(Messages &messages, const Plan &plan) {
  bool isParted = !plan.whole && !plan.skips;
  if (isParted && !plan.byNeed)
    reportParted(messages, plan);
  uintptr_t end = isParted ? plan.old.end : plan.large.end;
  const char *reason = "";
  if (plan.byNeed)
    reason = "its first part is on normal pages, and large ones come below "
             "that when touched";
  else if (isParted)
    reason = plan.readable
                 ? "no room above the stack: its first part is on normal pages"
                 : "the arguments have to stay on normal pages";
  else if (plan.grows())
    reason = "below that it grows on normal pages";
  messages.region(MPG_REGION_STACK, {plan.large.start, end}, plan.large.bytes(),
                  plan.hugePageBytes, reason);
}

// Transparent pages

/// Lays out the large part in the kernel's own stack. Returns the address to
/// which that must reach down; 0: no whole frame fits.
static uintptr_t layOutInPlace(Plan &plan) {
  auto here = uintptr_t(__builtin_frame_address(0));
  uintptr_t low = roundUp(plan.old.end - wantedBytes(plan), basePageBytes());
  plan.large = {roundUp(low, plan.hugePageBytes),
                roundDown(here - firstPartBytes, plan.hugePageBytes)};
  return low < plan.old.start && !plan.large.empty() ? low : 0;
}

/// Makes the kernel's stack grow to its full size at once, untouched:
/// transparent pages need memory that is mapped in whole frames. False: the
/// stack is unchanged, and the reason has been printed.
static bool useThp(const Config &config, Plan &plan, Messages &messages) {
  plan.source = Source::thp;
  uintptr_t low = layOutInPlace(plan);
  if (!low) {
    reportLeft(messages, plan, "the stack limit leaves no whole large page");
    return false;
  }
  // The group is not asked about pages that come one by one: the kernel takes
  // normal ones where its limit leaves no large one.
  bool comesAtOnce = config.stackPaging == Paging::prepage;
  int error =
      thpIsAllowed() && (!comesAtOnce || hugePagesFitGroup(plan.large.bytes()))
          ? tryPlace({low - guardGapBytes(), plan.old.start})
          : ENOMEM;
  if (error == EEXIST) {
    reportNoRoomBelow(messages, plan);
    return false;
  }
  if (!error) {
    stretchStackTo(low);
    // From the lower end on: so the kernel splits the mapping once.
    error = adviseHuge({low, plan.large.end}, /*collapse=*/false);
  }
  if (error) {
    reportShortage(messages, plan, error);
    return false;
  }
  if (comesAtOnce)
    populate(plan.large, plan.hugePageBytes);
  PlacedStack placed;
  placed.end = plan.old.end;
  placed.large = plan.large;
  placed.hugePageBytes = plan.hugePageBytes;
  placed.grows = true;
  placed.grownTo = low;
  watchStackLimit(placed);
  watchForCollapse(plan.large);
  messages.region(MPG_REGION_STACK, {low, plan.old.end}, plan.large.bytes(),
                  plan.hugePageBytes,
                  "its first part is on normal pages, and transparent huge "
                  "pages come below that when touched");
  return true;
}

/// Whether the first part stays where it is: no setting asks for more, and
/// below any arguments there is a whole large page.
static bool comesByNeed(const Config &config, const Plan &plan) {
  return !config.stacksGiven && config.stackPaging == Paging::demand &&
         plan.hugePageBytes == hugeFrameBytes &&
         plan.limitBytes >= 2 * hugeFrameBytes;
}

/// Pages of the pool; 0, or an errno value and the stack is as it was. \p
/// isSaid: why has been said.
static int usePool(const Config &config, Plan &plan, Messages &messages,
                   bool &isSaid) {
  plan.byNeed = comesByNeed(config, plan);
  plan.above = {plan.old.end, roundUp(plan.old.end, plan.hugePageBytes)};
  plan.readable = !plan.byNeed && canMoveArguments();
  plan.whole = plan.readable && holdPlace(plan.above);
  if (!plan.whole) {
    plan.above = Range{};
    plan.skips = !plan.byNeed && mpg_calls_main && mpg_calls_main();
  }
  int error = build(config, plan);
  if (error) {
    releasePlace(plan.above);
    return error;
  }
  if (!applyPlan(plan, messages)) {
    releasePlace(plan.above);
    discard(plan.staged);
    isSaid = true;
    return ENOMEM;
  }
  if (plan.grows())
    mapGrowingBelow(plan.large.start);
  PlacedStack placed;
  placed.end = plan.skips ? plan.large.end : plan.old.end;
  topOfMain = plan.skips ? plan.large.end : 0;
  placed.large = plan.large;
  placed.hugePageBytes = plan.hugePageBytes;
  placed.isWhole = plan.whole;
  placed.grows = plan.grows();
  watchStackLimit(placed);
  reportMoved(messages, plan);
  return 0;
}

uintptr_t mpg::mainBegins() { return topOfMain; }

void mpg::remapStack(const Config &config, Messages &messages,
                     unsigned threads) {
  Plan plan;
  plan.hugePageBytes = stackHugePageBytes(config.hugeBytes);
  bool isOurs =
      findStack(plan, messages, threads) && !isTooMuch(plan, messages);
  if (config.mode == Mode::thp) {
    if (isOurs)
      useThp(config, plan, messages);
    return;
  }
  bool isSaid = false;
  int error = isOurs ? usePool(config, plan, messages, isSaid) : ENOMEM;
  noteLargeStack(error ? Range{} : plan.large, plan.hugePageBytes, messages);
  if (!error || !isOurs || isSaid)
    return;
  if (config.mode == Mode::automatic && thpIsAllowed())
    useThp(config, plan, messages);
  else
    reportShortage(messages, plan, error);
}

namespace {

struct MainCall {
  Main *function;
  int argc;
  char **argv, **environment;
  int result;
};

} // namespace

static Main *programsMain;

static void *callMain(void *argument) {
  auto *call = static_cast<MainCall *>(argument);
  call->result = call->function(call->argc, call->argv, call->environment);
  return nullptr;
}

static int startMain(int argc, char **argv, char **environment) {
  MainCall call{programsMain, argc, argv, environment, 0};
  callBelow(mainBegins(), callMain, &call);
  return call.result;
}

Main *mpg::mainOnLargePages(Main *main) {
  programsMain = main;
  return startMain;
}
