// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which variables to set, and which of a job's variables contradict
// them. Where Fujitsu's guide contradicts itself, docs/environment.md, "What to
// set, and why", has the decision and its reason. Its figures are quoted as its
// own: no A64FX was measured here. The rules of JobRules.h judge whether a line
// is wrong by itself.

#include "Advice/RecommendRules.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace llvm;
using namespace mpg;

/// The large page malloc is in use, so that its variables count.
static bool usesHeap(const AdviceContext &context) {
  return context.isLibmpg() && context.foreignMalloc().empty();
}

static void add(Advice &advice, StringRef name, StringRef value,
                std::string reason, StringRef rule = "") {
  advice.settings.push_back(
      {name.str(), value.str(), std::move(reason), rule.str()});
}

void mpg::advisePagingPolicy(const AdviceContext &context, Advice &advice) {
  if (!context.isLibmpg() || context.pagesOffByChoice())
    return;
  const StringRef name = "XOS_MMM_L_PAGING_POLICY";
  // Where it is not set, ours takes first touch by itself.
  bool isDefault =
      context.target == Target::mpg && !context.environment.find(name);
  // HW:prepage-one-node
  if (context.reach == ThreadReach::severalNodes && isDefault)
    return;
  if (context.reach == ThreadReach::severalNodes)
    return add(advice, name, "demand:demand:demand",
               "Each page lies on the node of the thread that touches it "
               "first; prepage puts all on one node. Fujitsu's guide, 7.2: 804 "
               "against 93 GB/s with 48 threads that each stream their own "
               "part. For tables that all threads only read there is no gain "
               "(14.4: 69.8 against 77.7 GB/s).",
               context.isLocal() == false ? "local-share" : "");
  if (context.program.has(FindingId::mpg200))
    return add(advice, name, "demand:demand:demand",
               "The program sets timers and starts processes: with prepage, "
               "fork and clone may be interrupted for ever (Fujitsu's guide, "
               "9.3).");
  // Ours copies piece by piece: demand would save nothing.
  if (context.target == Target::fugaku && context.startupTooLarge())
    add(advice, name, "demand:demand:prepage",
        "Start-up needs " + formatBytes(context.startupBytes()) +
            " on a node, twice .data and .bss of " +
            countWord(context.ranks(), "process") +
            "; with demand .bss is not copied (Fujitsu's guide, 9.1). Memory "
            "of malloc stays prepaged: the threads are on one CMG.");
}

/// For memory that malloc does not serve: the setting that the report names.
void mpg::adviseMemoryOwner(const AdviceContext &context, Advice &advice) {
  const MemoryUse &memory = context.program.memory;
  // Where the job sets it already, it stays in the advice.
  MemoryUse asked = memory;
  asked.isHelped = false;
  StringRef setting = asked.setting();
  std::string what = memory.what();
  what[0] = toUpper(what[0]);
  if (context.target != Target::mpg || context.pagesOffByChoice())
    return;
  bool hasRemark = memory.owner && !memory.owner->remark.empty();
  if (setting.empty() && asked.option().empty() && hasRemark)
    advice.steps.push_back(
        what + " stay on normal pages: " + memory.owner->remark.str() + ".");
  if (setting.empty())
    return;
  auto [name, value] = setting.split('=');
  std::string reason = what + " would stay on normal pages";
  if (hasRemark)
    reason += " (" + memory.owner->remark.str() + ")";
  add(advice, name, value, reason + ".");
}

/// Only where all four of its preconditions hold: large pages on, prepage for
/// mmap, shared arenas, one of them. The last two are the defaults.
void mpg::adviseFallback(const AdviceContext &context, Advice &advice) {
  if (context.target != Target::fugaku || !usesHeap(context) ||
      !context.memoryIsTight())
    return;
  StringRef policy = valueIn(advice, "XOS_MMM_L_PAGING_POLICY");
  bool hasPrepage = policy.empty() || policy.ends_with(":prepage");
  auto isDefault = [&](StringRef name, StringRef value) {
    return !context.environment.find(name) || context.isSet(name, value);
  };
  if (!hasPrepage || !isDefault("XOS_MMM_L_ARENA_LOCK_TYPE", "1") ||
      !isDefault("XOS_MMM_L_MAX_ARENA_NUM", "1"))
    return;
  // The script's own demand policy is kept, and with it the variable has no
  // effect.
  StringRef own = context.environment.getValue("XOS_MMM_L_PAGING_POLICY");
  if (policy.empty() && !own.empty() && !own.ends_with(":prepage"))
    return;
  add(advice, "XOS_MMM_L_HUGETLB_FALLBACK", "1",
      "Static data alone takes " + formatBytes(context.staticBytes()) + " of " +
          formatBytes(*context.memoryBytes) +
          " of a node: where large pages run out, malloc takes normal ones "
          "instead of the job being killed. Needs prepage for mmap, "
          "ARENA_LOCK_TYPE=1 and MAX_ARENA_NUM=1 (Fujitsu's guide, 6.1), "
          "which hold here.");
}

/// C++ programs allocate wherever they run; of others only a profile says so.
static bool allocatesInThreads(const AdviceContext &context) {
  return context.reach != ThreadReach::oneThread &&
         (context.isBusyInMalloc() || context.needs("libstdc++.so") ||
          context.needs("libc++.so"));
}

void mpg::adviseParallelMalloc(const AdviceContext &context, Advice &advice) {
  if (!usesHeap(context) || !allocatesInThreads(context) ||
      poolsBlocks(context, advice) ||
      context.isSet("XOS_MMM_L_HUGETLB_FALLBACK", "1") ||
      !valueIn(advice, "XOS_MMM_L_HUGETLB_FALLBACK").empty() ||
      context.memoryIsTight())
    return;
  bool isMeasured = context.isBusyInMalloc();
  std::string reason =
      std::string(isMeasured ? "Its threads allocate"
                             : "The program is C++ and has several threads") +
      ", and each "
      "gets a heap of its own instead of waiting for the "
      "others. Fujitsu's guide, 7.4: 1.60 times as fast, 16 "
      "threads, blocks of 64 KiB.";
  if (context.target == Target::fugaku) {
    // A heap of a thread grows by 2 x MALLOC_MMAP_THRESHOLD_.
    uint64_t heaps = SaturatingMultiply<uint64_t>(
        SaturatingMultiply<uint64_t>(context.threadsOrMax(), context.ranks()),
        uint64_t(256) << 20);
    if (context.memoryBytes && heaps > *context.memoryBytes / 2)
      return;
    reason += " Costs up to 256 MiB a thread, " + formatBytes(heaps) +
              " on a node. Not together with ARENA_FREE=2, which switches it "
              "off again.";
  }
  add(advice, "XOS_MMM_L_ARENA_LOCK_TYPE", "0", reason,
      isMeasured ? "malloc-threads" : "");
}

/// Blocks of this size are mapped by themselves with the guide's threshold.
static bool isAboveThreshold(const AdviceContext &context) {
  return any_of(context.program.findings, [](const Finding &finding) {
    return finding.id == FindingId::mpg211 &&
           finding.where.bytes.value_or(UINT64_MAX) > equalBlocksThreshold;
  });
}

/// MPG211: the job itself sees to it that equal blocks meet in the cache.
/// Equal arrays in .bss alone (MPG210) are a step: a variable does not move
/// them.
void mpg::adviseColouring(const AdviceContext &context, Advice &advice) {
  if (!usesHeap(context) || !context.program.has(FindingId::mpg211))
    return;
  if (context.isSet("XOS_MMM_L_COLORING", "0"))
    add(advice, "XOS_MMM_L_COLORING", "1",
        "The program has many arrays of equal size: with 0 those on the heap "
        "begin in the same sets of the L1 cache.");
  // Ours colours blocks from 16 KiB on, and large blocks take whole pages.
  if (context.target != Target::fugaku || !isAboveThreshold(context) ||
      poolsBlocks(context, advice))
    return;
  add(advice, "MALLOC_MMAP_THRESHOLD_", std::to_string(equalBlocksThreshold),
      "The program has many arrays of equal size: blocks from this size on "
      "are mapped one by one and coloured, each on large pages of its own. "
      "Fujitsu's guide, 7.5, 8 arrays of 512 KiB on 12 threads: L1 misses 0.13 "
      "instead of 0.26 of the loads. ARENA_FREE=2 would cancel it.");
}

void mpg::adviseLibraryData(const AdviceContext &context, Advice &advice) {
  if (context.target != Target::mpg ||
      !context.program.has(FindingId::mpg143, Severity::warning))
    return;
  add(advice, "MPG_REMAP", "all",
      "A library keeps large data (MPG143): with exe only the program's own "
      "is moved.");
}

/// libhugetlbfs moves segments only when it is asked; glibc uses transparent
/// huge pages only when it is asked.
void mpg::adviseOtherTargets(const AdviceContext &context, Advice &advice) {
  if (context.isLibmpg())
    return;
  if (context.target == Target::libhugetlbfs &&
      !context.environment.find("HUGETLB_ELFMAP"))
    add(advice, "HUGETLB_ELFMAP", "W",
        "Moves .data and .bss onto large pages; libhugetlbfs does nothing "
        "without it.");
  StringRef tunables = context.environment.getValue("GLIBC_TUNABLES");
  bool unknown = context.environment.find("GLIBC_TUNABLES") && tunables.empty();
  if (unknown || tunables.contains("glibc.malloc.hugetlb=") ||
      !context.foreignMalloc().empty())
    return;
  // HW:static-heap-thp
  add(advice, "GLIBC_TUNABLES",
      (tunables.empty() ? "" : tunables.str() + ":") + "glibc.malloc.hugetlb=1",
      "The heap on transparent huge pages: 97 % of a heap of 77 MiB, measured "
      "with glibc 2.36 on Linux 6.18. Needs glibc 2.35 or later.");
}

void mpg::adviseBinding(const AdviceContext &context, Advice &advice) {
  if (context.reach == ThreadReach::oneThread)
    return;
  for (StringRef name :
       {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", "FLIB_CPU_AFFINITY"})
    if (context.environment.find(name))
      return;
  const Variable *bind = context.environment.find("OMP_PROC_BIND");
  if (bind &&
      !(bind->known && StringRef(bind->value).equals_insensitive("false")))
    return;
  add(advice, "OMP_PROC_BIND", "close",
      "A thread that moves to another node leaves its memory behind. "
      "Fujitsu's guide, 15.7, sets both lines.");
  if (!context.environment.find("OMP_PLACES"))
    add(advice, "OMP_PLACES", "cores", "One thread a core.");
}

static bool isConditional(const AdviceContext &context, StringRef name,
                          unsigned line) {
  return context.script &&
         any_of(context.script->settings, [&](const JobSetting &setting) {
           return setting.line == line && setting.name == name &&
                  setting.conditional;
         });
}

/// Adds a contradiction: the value of \p name is wrong. \p why says so, and
/// what to do about it.
static void contradict(const AdviceContext &context, StringRef name,
                       const std::string &why, Advice &advice) {
  const Variable *variable = context.environment.find(name);
  std::string text = name.str() + "=" + variable->value;
  if (isConditional(context, name, variable->line))
    text += ", if this branch is taken";
  advice.contradictions.push_back({variable->line, text + ": " + why});
}

static void findOtherValues(const AdviceContext &context, Advice &advice) {
  for (const Recommendation &setting : advice.settings) {
    const Variable *variable = context.environment.find(setting.name);
    // Values that are appended to existing ones do not contradict them.
    if (!variable || setting.name == "GLIBC_TUNABLES" ||
        context.isSet(setting.name, setting.value))
      continue;
    contradict(context, setting.name,
               (variable->known ? "write " : "not known here; write ") +
                   setting.name + "=" + setting.value + " instead",
               advice);
  }
}

static void findPagesOff(const AdviceContext &context, Advice &advice) {
  if (context.isSet("XOS_MMM_L_HPAGE_TYPE", "none"))
    contradict(context, "XOS_MMM_L_HPAGE_TYPE",
               "switches large pages off, and all other XOS_MMM_L_ variables "
               "with them; take it out",
               advice);
  if (context.target == Target::mpg && context.isSet("MPG_MODE", "none"))
    contradict(context, "MPG_MODE", "switches large pages off; take it out",
               advice);
}

static void findForeignMalloc(const AdviceContext &context, Advice &advice) {
  if (StringRef(context.foreignMalloc()).starts_with("LD_PRELOAD"))
    contradict(context, "LD_PRELOAD",
               "another malloc comes before that of the large page library; "
               "take it out, or write XOS_MMM_L_HPAGE_TYPE=none to leave the "
               "memory to it",
               advice);
}

/// ARENA_FREE=2 decides over the lock type and both thresholds.
static void findPooling(const AdviceContext &context, Advice &advice) {
  if (!context.isSet("XOS_MMM_L_ARENA_FREE", "2"))
    return;
  if (context.program.has(FindingId::mpg210) ||
      context.program.has(FindingId::mpg211))
    contradict(context, "XOS_MMM_L_ARENA_FREE",
               "no block is mapped by itself, so MALLOC_MMAP_THRESHOLD_ "
               "cannot part the program's many arrays of equal size; pad "
               "them, or take it out",
               advice);
  if (context.isSet("XOS_MMM_L_ARENA_LOCK_TYPE", "0"))
    contradict(context, "XOS_MMM_L_ARENA_FREE",
               "XOS_MMM_L_ARENA_LOCK_TYPE=0 has no effect beside it; keep one "
               "of the two",
               advice);
}

static void findFallback(const AdviceContext &context, Advice &advice) {
  if (!context.isSet("XOS_MMM_L_HUGETLB_FALLBACK", "1") ||
      context.target != Target::fugaku)
    return;
  StringRef policy = valueIn(advice, "XOS_MMM_L_PAGING_POLICY");
  if (!policy.empty() && !policy.ends_with(":prepage"))
    contradict(context, "XOS_MMM_L_HUGETLB_FALLBACK",
               "needs prepage for mmap, which this program should not have; "
               "take it out",
               advice);
}

static void findStackPrepage(const AdviceContext &context, Advice &advice) {
  const StringRef name = "XOS_MMM_L_PAGING_POLICY";
  if (valueIn(advice, name).empty() &&
      context.isSet(name, "prepage:prepage:prepage"))
    contradict(context, name,
               "takes each thread's whole stack at once, on one node; the "
               "default is prepage:demand:prepage",
               advice);
}

/// Finds settings that affect large pages, unless another malloc serves them.
static void findAgainstLargePages(const AdviceContext &context,
                                  Advice &advice) {
  bool libmpg =
      context.target == Target::fugaku || context.target == Target::mpg;
  if (!libmpg || context.pagesOffByChoice())
    return;
  findPagesOff(context, advice);
  findForeignMalloc(context, advice);
  findPooling(context, advice);
  findFallback(context, advice);
  findStackPrepage(context, advice);
}

void mpg::findContradictions(const AdviceContext &context, Advice &advice) {
  findOtherValues(context, advice);
  findAgainstLargePages(context, advice);
  sort(advice.contradictions, [](const Contradiction &left,
                                 const Contradiction &right) {
    return std::tie(left.line, left.text) < std::tie(right.line, right.text);
  });
}
