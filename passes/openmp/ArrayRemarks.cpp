// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sentences about arrays: each verdict of ArrayVerdict.h as one remark,
// with the name that the source has for the array, where that can be found
// out.

#include "base/Diagnostics.h"
#include "openmp/ArrayVerdict.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// "a.c:12", or the function if lines are not known.
static std::string describePlace(const Instruction &at) {
  if (DebugLoc where = userLocation(at.getDebugLoc()))
    return (sys::path::filename(where->getFilename()) + ":" +
            Twine(where.getLine()))
        .str();
  return at.getFunction()->getName().str();
}

/// The loop that \p use is part of.
static const Instruction &sharingCall(const ParallelUse &use) {
  return *use.sharing->init;
}

static std::string getName(const ArrayStory &story) {
  const ArraySource &source = story.source;
  const Value *origin = source.global ? static_cast<Value *>(source.global)
                                      : static_cast<Value *>(source.site);
  std::string name = getVariableName(*origin);
  if (name.empty() && source.site) {
    // The pointer is kept in a variable.
    for (const User *user : source.site->users())
      if (auto *store = dyn_cast<StoreInst>(user))
        if (store->getValueOperand() == source.site && name.empty())
          name = getMemberName(*store->getPointerOperand());
  }
  if (!name.empty())
    return "'" + name + "'";
  return "the array of " + (source.site ? describePlace(*source.site) : "");
}

template <typename Remark, typename Add>
void ArrayRemarks::emit(StringRef name, const Instruction &at, Add add) {
  DebugLoc where = userLocation(at.getDebugLoc());
  if (!places.isNew(name, where, *at.getParent(), array))
    return;
  Remark remark(remarkPass, name, where, at.getParent());
  remark << ore::NV("Array", array);
  add(remark);
  OptimizationRemarkEmitter(const_cast<Function *>(at.getFunction()))
      .emit(remark);
}

/// The text for where an array's memory is.
static StringRef describeWritten(const ArrayVerdict &verdict) {
  return verdict.isInPart ? " is written by one thread, wholly or in part, so "
                            "what is written of it is on one NUMA node"
                          : " is initialised by one thread, so all of it is on "
                            "one NUMA node";
}

/// The arguments of a remark go by the names in quotes.
void ArrayRemarks::reportSerial(const ArrayStory &story,
                                const ArrayVerdict &verdict, Repair repair,
                                bool isAsked) {
  emit("SerialFirstTouch", *verdict.init->at, [&](auto &text) {
    text << describeWritten(verdict)
         << ", but all threads work on it in the parallel loop at "
         << ore::NV("Use", describePlace(sharingCall(*verdict.best)))
         << " (schedule(" << ore::NV("Schedule", verdict.best->sharing->name())
         << "))";
    if (repair == Repair::call)
      text << "; the call inserted "
           << (story.source.global ? "in front of it" : "after its allocation")
           << " fixes that";
    else if (repair == Repair::parallelInit)
      text << "; the initialisation is made parallel";
    else
      text << "; fix: initialise it in a parallel loop with the same "
              "schedule";
    if (repair != Repair::parallelInit && !verdict.serialReason.empty())
      text << " (its loop stays serial: "
           << ore::NV("SerialReason", verdict.serialReason) << ")";
    if (repair == Repair::none && isAsked && !verdict.obstacle.empty())
      text << " (no call is inserted: " << ore::NV("Obstacle", verdict.obstacle)
           << ")";
  });
}

/// Where the call stands, or would.
static const Instruction &repairedAt(const ArrayStory &story,
                                     const ArrayVerdict &verdict) {
  if (story.source.site)
    return *story.source.site;
  return verdict.init ? *verdict.init->at : *verdict.best->at;
}

/// MPG_FIRST_TOUCH asks for a call, whichever code writes the array first.
void ArrayRemarks::reportRefused(const ArrayStory &story,
                                 const ArrayVerdict &verdict) {
  emit("SerialFirstTouch", repairedAt(story, verdict), [&](auto &text) {
    text << " gets no call, although MPG_FIRST_TOUCH asks for one: "
         << ore::NV("Obstacle", verdict.obstacle)
         << "; fix: initialise it in the parallel loop's threads";
  });
}

void ArrayRemarks::reportRepair(const ArrayStory &story,
                                const ArrayVerdict &verdict, Repair repair) {
  const ParallelUse &best = *verdict.best;
  if (repair == Repair::parallelInit) {
    emit<OptimizationRemark>(
        "InitParallelised", *verdict.init->at, [&](auto &text) {
          text << ": the loop that initialises it runs in parallel, with the "
                  "schedule of the loop at "
               << ore::NV("Use", describePlace(sharingCall(best)));
        });
    return;
  }
  emit<OptimizationRemark>(
      "FirstTouchInserted", repairedAt(story, verdict), [&](auto &text) {
        text << ": mpg_first_touch puts each thread's part on its NUMA node "
                "(schedule("
             << ore::NV("Schedule", best.sharing->name()) << ")";
        if (std::optional<int64_t> step = best.constantStep())
          text << ", " << ore::NV("Step", *step) << " bytes per iteration";
        text << "); it acts when libmpg is linked (-lmpgrt) or loaded (mpgrun)";
      });
}

/// The arithmetic of a matrix whose rows all threads share: where the numbers
/// are constants, with them.
void ArrayRemarks::reportTooFine(const ParallelUse &use) {
  std::optional<int64_t> row = use.constantRow();
  auto *threads = dyn_cast_or_null<ConstantInt>(use.region->threads);
  emit("PlacementTooFine", sharingCall(use), [&](auto &text) {
    text << ": the threads share out one row after the other";
    if (row && threads) {
      int64_t count = std::max<int64_t>(threads->getSExtValue(), 1);
      text << ", " << ore::NV("RowBytes", *row) << " bytes by "
           << ore::NV("Threads", count)
           << " threads: " << ore::NV("PartBytes", *row / count)
           << " bytes each, where a page of 2 MiB has "
           << ore::NV("RowsPerPage", *row ? (2 << 20) / *row : 0)
           << " rows of all threads in it";
    } else if (row) {
      text << " of " << ore::NV("RowBytes", *row)
           << " bytes: a page of 2 MiB has parts of all threads in it "
              "unless a row has 2 MiB for each thread";
    } else {
      text << ": a page of 2 MiB has parts of all threads in it unless a "
              "row has 2 MiB for each thread";
    }
    text << "; no placement can be local; fix: make the loop over rows "
            "parallel, or spread the pages with mpg_interleave";
  });
}

void ArrayRemarks::reportRows(const ArrayVerdict &verdict) {
  const ParallelUse &use = *verdict.rows;
  emit("SerialRows", verdict.init ? *verdict.init->at : *use.at,
       [&](auto &text) {
         text << describeWritten(verdict)
              << ", but all threads work on rows of it in the parallel loop at "
              << ore::NV("Use", describePlace(sharingCall(use)))
              << " (schedule(" << ore::NV("Schedule", use.sharing->name())
              << ")); no call is inserted: "
              << ore::NV("Obstacle", "only numbers in memory tell which part "
                                     "belongs to which iteration")
              << "; fix: initialise the rows in a parallel loop with the same "
                 "schedule";
       });
}

static const char *describeShape(UseShape shape) {
  switch (shape) {
  case UseShape::scattered:
    return "each iteration works on bytes all over it";
  case UseShape::backward:
    return "the first iteration works on its end";
  case UseShape::irregular:
    return "its elements are chosen by an unknown index";
  case UseShape::parts: // NotBlock is not said of these
  case UseShape::rows:
  case UseShape::shared:
    break;
  }
  return "";
}

void ArrayRemarks::reportNotBlock(const ParallelUse &use,
                                  const Instruction &at) {
  emit("NotBlock", at, [&](auto &text) {
    text << " is initialised by one thread, and ";
    ore::NV place("Use", describePlace(sharingCall(use)));
    if (use.shape == UseShape::irregular && !use.isGather)
      text << "it is not understood which part of it an iteration of the "
              "parallel loop at "
           << place << " works on";
    else
      text << "the parallel loop at " << place
           << " does not share it out in blocks: "
           << ore::NV("Reason", describeShape(use.shape))
           << "; no first touch fits";
    text << "; fix: change the order of the loops or of its elements, or "
            "spread the pages with mpg_interleave";
  });
}

/// The change after which the loop of \p use follows the other loop's parts.
static const char *describeRemedy(const ParallelUse &use) {
  switch (use.shape) {
  case UseShape::scattered:
    return "let both loops share out the same dimension of it";
  case UseShape::backward:
    return "let both loops go through it in the same direction";
  case UseShape::parts:
  case UseShape::rows:
  case UseShape::shared:
  case UseShape::irregular:
    break;
  }
  return "give both the same schedule(static) and length";
}

void ArrayRemarks::reportOthers(const ArrayVerdict &verdict) {
  if (const ParallelUse *use = verdict.mismatch)
    emit("MismatchedSchedules", sharingCall(*use), [&](auto &text) {
      text << " is shared out here (schedule("
           << ore::NV("Schedule", use->sharing->name())
           << ")) otherwise than in the parallel loop at "
           << ore::NV("Other", describePlace(sharingCall(*verdict.best)))
           << " (schedule("
           << ore::NV("OtherSchedule", verdict.best->sharing->name())
           << ")): in one of them most of its pages are on other nodes; "
              "fix: "
           << ore::NV("Remedy", describeRemedy(*use));
    });
  if (const ParallelUse *use = verdict.nonStatic)
    emit("NonStaticSchedule", sharingCall(*use), [&](auto &text) {
      text << " is shared out here with schedule("
           << ore::NV("Schedule", use->sharing->name())
           << "): which thread works on which part is unknown beforehand, "
              "and one thread "
           << (verdict.isInPart ? "writes all that is written of it"
                                : "initialises all of it")
           << "; fix: schedule(static), or at least initialise it in a "
              "parallel loop with schedule(static)";
    });
  if (const ParallelUse *use = verdict.sharedRead)
    emit("SharedRead", *use->at, [&](auto &text) {
      text << (use->isGather ? " is read by an index, so a thread may read "
                               "any of it, in the parallel loop at "
                             : " is read by all threads everywhere in the "
                               "parallel loop at ")
           << ore::NV("Use", describePlace(sharingCall(*use)))
           << ", but is on the NUMA node of the one thread that "
              "initialised it; fix: "
           << ore::NV("Remedy",
                      verdict.isRewritten
                          ? "spread the pages with mpg_interleave (copies "
                            "would be stale: other code may write to it later)"
                          : "a copy for each node (mpg_replicate), or "
                            "spread the pages with mpg_interleave");
    });
}

void ArrayRemarks::report(const ArrayStory &story, const ArrayVerdict &verdict,
                          Repair repair, bool isAsked) {
  array = getName(story);
  if (verdict.init && verdict.isSerial)
    reportSerial(story, verdict, repair, isAsked);
  else if (verdict.isSerial && repair == Repair::none && isAsked)
    reportRefused(story, verdict);
  if (repair != Repair::none)
    reportRepair(story, verdict, repair);
  if (verdict.tooFine)
    reportTooFine(*verdict.tooFine);
  if (verdict.rows)
    reportRows(verdict);
  if (verdict.notBlock)
    reportNotBlock(*verdict.notBlock,
                   verdict.init ? *verdict.init->at : *verdict.notBlock->at);
  reportOthers(verdict);
}

/// Its place is the user's line that calls the function.
void ArrayRemarks::report(const SerialMember &member, bool isAsked) {
  std::string name = getMemberName(*member.keeper);
  array = name.empty() ? "the array of " + describePlace(*member.init)
                       : "'" + name + "'";
  if (member.use.isGather)
    return reportNotBlock(member.use, *member.init);
  std::string maker = demangle(member.maker->getName());
  bool isLibrary = StringRef(maker).starts_with("std::");
  emit("SerialFirstTouch", *member.init, [&](auto &text) {
    text << " is initialised by one thread, so all of it is on one NUMA "
            "node, but all threads work on it in the parallel loop at "
         << ore::NV("Use", describePlace(sharingCall(member.use)))
         << " (schedule(" << ore::NV("Schedule", member.use.sharing->name())
         << "))";
    text << (isLibrary ? "; fix: a container with an allocator that places "
                         "its memory (mpg::numa_allocator)"
                       : "; fix: initialise it in a parallel loop with the "
                         "same schedule");
    if (isAsked)
      text << " (no call is inserted: "
           << ore::NV("Obstacle", maker.substr(0, maker.find('(')) +
                                      " allocates and fills it, and does "
                                      "so for others, too")
           << ")";
  });
}

void ArrayRemarks::report(const ArrayStory &story, const SerialRows &rows) {
  array = getName(story);
  emit("SerialRows", *rows.init, [&](auto &text) {
    text << ": the memory behind its pointers is initialised by one thread, "
            "so it is on one NUMA node, but all threads work on it in the "
            "parallel loop at "
         << ore::NV("Use", describePlace(sharingCall(*rows.use)))
         << " (schedule(" << ore::NV("Schedule", rows.use->sharing->name())
         << ")); no call is inserted: "
         << ore::NV("Obstacle",
                    rows.isEach
                        ? "each row is a separate allocation"
                        : "only the pointers tell which part belongs to "
                          "which iteration")
         << "; fix: "
         << (rows.isEach ? "allocate and initialise" : "initialise")
         << " the rows in a parallel loop with the same schedule";
  });
}
