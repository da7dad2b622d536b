// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a job's environment speaks against the advice. Whether a line is
// wrong by itself is for the rules of JobRules.h to say.

#include "Advice/RecommendRules.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace llvm;
using namespace mpg;

static bool isConditional(const Situation &situation, StringRef name,
                          unsigned line) {
  return situation.script &&
         any_of(situation.script->settings, [&](const JobSetting &setting) {
           return setting.line == line && setting.name == name &&
                  setting.conditional;
         });
}

/// \p why what is there is wrong, and what to do about it.
static void contradict(const Situation &situation, StringRef name,
                       const std::string &why, Advice &advice) {
  const Variable *variable = situation.environment.find(name);
  std::string text = name.str() + "=" + variable->value;
  if (isConditional(situation, name, variable->line))
    text += ", if this branch is taken";
  advice.contradictions.push_back({variable->line, text + ": " + why});
}

static void findOtherValues(const Situation &situation, Advice &advice) {
  for (const Recommendation &setting : advice.settings) {
    const Variable *variable = situation.environment.find(setting.name);
    // Values that are added to what is there are no contradiction.
    if (!variable || setting.name == "GLIBC_TUNABLES" ||
        situation.isSet(setting.name, setting.value))
      continue;
    contradict(situation, setting.name,
               (variable->known ? "write " : "not known here; write ") +
                   setting.name + "=" + setting.value + " instead",
               advice);
  }
}

static void findPagesOff(const Situation &situation, Advice &advice) {
  if (situation.isSet("XOS_MMM_L_HPAGE_TYPE", "none"))
    contradict(situation, "XOS_MMM_L_HPAGE_TYPE",
               "switches large pages off, and all other XOS_MMM_L_ variables "
               "with them; take it out",
               advice);
  if (situation.target == Target::mpg && situation.isSet("MPG_MODE", "none"))
    contradict(situation, "MPG_MODE", "switches large pages off; take it out",
               advice);
}

static void findForeignMalloc(const Situation &situation, Advice &advice) {
  if (StringRef(situation.foreignMalloc()).starts_with("LD_PRELOAD"))
    contradict(situation, "LD_PRELOAD",
               "another malloc comes before that of the large page library; "
               "take it out, or write XOS_MMM_L_HPAGE_TYPE=none to leave the "
               "memory to it",
               advice);
}

/// ARENA_FREE=2 decides over the lock type and both thresholds.
static void findPooling(const Situation &situation, Advice &advice) {
  if (!situation.isSet("XOS_MMM_L_ARENA_FREE", "2"))
    return;
  if (situation.has(FindingId::mpg210) || situation.has(FindingId::mpg211))
    contradict(situation, "XOS_MMM_L_ARENA_FREE",
               "no block is mapped by itself, so MALLOC_MMAP_THRESHOLD_ "
               "cannot part the program's many arrays of equal size; pad "
               "them, or take it out",
               advice);
  if (situation.isSet("XOS_MMM_L_ARENA_LOCK_TYPE", "0"))
    contradict(situation, "XOS_MMM_L_ARENA_FREE",
               "XOS_MMM_L_ARENA_LOCK_TYPE=0 has no effect beside it; keep one "
               "of the two",
               advice);
}

static void findFallback(const Situation &situation, Advice &advice) {
  if (!situation.isSet("XOS_MMM_L_HUGETLB_FALLBACK", "1") ||
      situation.target != Target::fugaku)
    return;
  StringRef policy = valueIn(advice, "XOS_MMM_L_PAGING_POLICY");
  if (!policy.empty() && !policy.ends_with(":prepage"))
    contradict(situation, "XOS_MMM_L_HUGETLB_FALLBACK",
               "needs prepage for mmap, which this program should not have; "
               "take it out",
               advice);
}

static void findStackPrepage(const Situation &situation, Advice &advice) {
  const StringRef name = "XOS_MMM_L_PAGING_POLICY";
  if (valueIn(advice, name).empty() &&
      situation.isSet(name, "prepage:prepage:prepage"))
    contradict(situation, name,
               "takes each thread's whole stack at once, on one node; the "
               "default is prepage:demand:prepage",
               advice);
}

/// What acts on large pages, where they are not left to another malloc.
static void findAgainstLargePages(const Situation &situation, Advice &advice) {
  bool libmpg =
      situation.target == Target::fugaku || situation.target == Target::mpg;
  if (!libmpg || situation.pagesOffByChoice())
    return;
  findPagesOff(situation, advice);
  findForeignMalloc(situation, advice);
  findPooling(situation, advice);
  findFallback(situation, advice);
  findStackPrepage(situation, advice);
}

void mpg::findContradictions(const Situation &situation, Advice &advice) {
  findOtherValues(situation, advice);
  findAgainstLargePages(situation, advice);
  sort(advice.contradictions, [](const Contradiction &left,
                                 const Contradiction &right) {
    return std::tie(left.line, left.text) < std::tie(right.line, right.text);
  });
}
