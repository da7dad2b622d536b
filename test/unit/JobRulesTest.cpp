// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules over job scripts, on scripts that are built by hand: the findings
// of each and, equally, the cases without one. The reader has separate tests;
// test/mpgaudit tests both together.

#include "JobRules/JobRules.h"
#include "JobRules/RuleContext.h"
#include "gtest/gtest.h"
#include <elf.h>

using namespace mpg;
using llvm::StringRef;

namespace {
/// A script in the making; lines count by themselves.
class Script {
public:
  JobScript script;
  std::vector<LaunchedProgram> programs;
  JobSettings settings;

  Script() {
    script.path = "run.sh";
    script.scheduler = Scheduler::pjm;
    settings.checks = defaultChecks();
  }

  Script &set(const char *name, const char *value, const char *how = "export",
              bool conditional = false) {
    ++line;
    script.settings.push_back({name, {value, ""}, line, how, conditional});
    if (StringRef(how) == "unset")
      environment.unset(name);
    else if (*how)
      environment.set(name, {value, true, line});
    return *this;
  }
  Script &setUnknown(const char *name, const char *value) {
    ++line;
    script.settings.push_back({name, {value, value}, line, "export", false});
    environment.set(name, {value, false, line});
    return *this;
  }
  Script &directive(const char *option, const char *value) {
    ++line;
    script.directives.push_back({script.scheduler, option, value, line});
    return *this;
  }
  static std::vector<JobWord> words(StringRef text) {
    llvm::SmallVector<StringRef, 8> parts;
    text.split(parts, ' ', -1, /*KeepEmpty=*/false);
    std::vector<JobWord> words;
    for (StringRef part : parts)
      words.push_back({part.str(), ""});
    return words;
  }
  Script &command(const char *text) {
    script.commands.push_back({words(text), ++line, false});
    return *this;
  }
  /// \p launchers with "|" between: "mpiexec -n 4|numactl -l".
  Script &run(const char *program, const char *launchers = "",
              std::optional<unsigned> threads = std::nullopt,
              std::optional<unsigned> ranksPerNode = std::nullopt) {
    JobLaunch launch;
    launch.program = {program, ""};
    launch.line = ++line;
    llvm::SmallVector<StringRef, 4> parts;
    StringRef(launchers).split(parts, '|', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      launch.launchers.push_back({words(part), line, false});
    launch.launch.environment = environment;
    launch.launch.threads = threads;
    launch.launch.ranksPerNode = ranksPerNode;
    launch.launch.stackBytes = stackBytes;
    script.launches.push_back(launch);
    return *this;
  }
  Script &stack(uint64_t bytes) {
    stackBytes = bytes;
    return command(bytes == UINT64_MAX ? "ulimit -s unlimited"
                                       : "ulimit -s 1024");
  }
  std::vector<Finding> audit() {
    bool isForVendor = settings.target == Target::fugaku;
    return auditJob(script, programs, judgeJob(script, programs, isForVendor),
                    settings);
  }
  /// The findings of \p id.
  std::vector<Finding> find(FindingId id) {
    std::vector<Finding> found;
    for (Finding &finding : audit())
      if (finding.id == id)
        found.push_back(std::move(finding));
    return found;
  }
  /// "220:3 222:4": number and line of what is a warning or worse.
  std::string warnings() {
    std::string text;
    for (const Finding &finding : audit())
      if (finding.severity >= Severity::warning)
        text += (text.empty() ? "" : " ") +
                std::to_string(unsigned(finding.id)) + ":" +
                std::to_string(finding.where.line.value_or(0));
    return text;
  }

private:
  unsigned line = 0;
  Environment environment;
  std::optional<uint64_t> stackBytes;
};

constexpr const char *policy = "XOS_MMM_L_PAGING_POLICY";
constexpr const char *demand = "demand:demand:demand";
} // namespace

TEST(EnvVariables, ValuesAreThoseOfTheTable) {
  const struct {
    const char *name, *value;
    bool legal;
  } cases[] = {
      {"XOS_MMM_L_HPAGE_TYPE", "hugetlbfs", true},
      {"XOS_MMM_L_HPAGE_TYPE", "hugetlb", false},
      {"XOS_MMM_L_HPAGE_TYPE", "hugetlbfs|none", false},
      {"XOS_MMM_L_HPAGE_TYPE", "", false},
      {policy, "demand:demand:prepage", true},
      {policy, "demand", false},
      {policy, "demand:demand", false},
      {policy, "demand:demand:demand:demand", false},
      {policy, "demand:demand:", false},
      {policy, "demand:Demand:demand", false},
      {"XOS_MMM_L_MAX_ARENA_NUM", "1", true},
      {"XOS_MMM_L_MAX_ARENA_NUM", "0", false},
      {"XOS_MMM_L_MAX_ARENA_NUM", "2147483647", true},
      {"XOS_MMM_L_MAX_ARENA_NUM", "2147483648", false},
      {"MALLOC_MMAP_THRESHOLD_", "0x32000", true},
      {"MALLOC_MMAP_THRESHOLD_", "0x", false},
      {"MALLOC_MMAP_THRESHOLD_", "200K", false},
      {"MALLOC_MMAP_THRESHOLD_", "-1", false},
      {"MALLOC_MMAP_THRESHOLD_", "+1", false},
      {"MALLOC_MMAP_THRESHOLD_", " 1", false},
      {"MALLOC_MMAP_THRESHOLD_", "18446744073709551615", true},
      {"MALLOC_MMAP_THRESHOLD_", "18446744073709551616", false},
      {"FLIB_L2_SECTOR_NWAYS_INIT", "10,4", true},
      {"FLIB_L2_SECTOR_NWAYS_INIT", "15,0", false},
      {"FLIB_L2_SECTOR_NWAYS_INIT", "10", false},
      {"FLIB_L2_SECTOR_NWAYS_INIT", "10,4,0", false},
      {"MPG_TARGET", "8:0x1f", true},
      {"MPG_TARGET", "8", false},
  };
  for (const auto &test : cases) {
    const EnvVariable *row = findEnvVariable(test.name);
    ASSERT_NE(row, nullptr) << test.name;
    EXPECT_EQ(isLegalValue(*row, test.value), test.legal)
        << test.name << "=" << test.value;
  }
}

TEST(EnvVariables, WhatIsProposedIsLegal) {
  for (const EnvVariable &row : allEnvVariables())
    for (const char *wrong :
         {"", "on", "yes", "1", "demand", "prepage:demand", "a:b:c:d", "200K",
          "99999999999999999999", "TRUE", "64,64"}) {
      std::string better = nearestValue(row, wrong);
      if (row.type != EnvType::file && !row.fallback.empty()) {
        EXPECT_TRUE(isLegalValue(row, better))
            << row.name.str() << "=" << wrong << " -> " << better;
      }
    }
  EXPECT_EQ(nearestValue(*findEnvVariable(policy), "demand"), demand);
  EXPECT_EQ(nearestValue(*findEnvVariable(policy), "demand:prepage"),
            "demand:prepage:prepage");
  EXPECT_EQ(nearestValue(*findEnvVariable("MALLOC_MMAP_THRESHOLD_"), "200K"),
            "204800");
}

TEST(JobRules, CorrectScriptHasNoFinding) {
  EXPECT_EQ(Script()
                .set("OMP_NUM_THREADS", "48")
                .set(policy, demand)
                .set("FLIB_SCCR_CNTL", "TRUE")
                .run("./a.out", "mpiexec -n 1|numactl -C 12-59 -m 4-7", 48, 1)
                .audit()
                .size(),
            0u);
  EXPECT_EQ(Script().audit().size(), 0u); // an empty one neither
}

TEST(JobRules, NamesThatNobodyReads) {
  Script script;
  script.set("XOS_MMM_L_PAGIN_POLICY", demand)
      .set("XOS_MMM_L_ARENA", "1")
      .set("XOS_MM_L_PAGING_POLICY", demand)
      .set("xos_mmm_l_paging_policy", demand)
      .set("FLIB_SCCR_CNTRL", "TRUE")
      .set("MALLOC_TRIM_THRESHOLD", "0")
      .run("./a.out");
  EXPECT_EQ(script.warnings(), "220:1 220:2 220:3 220:4 220:5 220:6");
  std::vector<Finding> found = script.find(FindingId::mpg220);
  ASSERT_EQ(found.size(), 6u);
  EXPECT_EQ(found[0].title, "XOS_MMM_L_PAGIN_POLICY is unknown and has no "
                            "effect; did you mean XOS_MMM_L_PAGING_POLICY?");
  EXPECT_EQ(found[0].where.symbol, "XOS_MMM_L_PAGIN_POLICY");
  EXPECT_EQ(found[0].fixWords, "Write instead:\n  export "
                               "XOS_MMM_L_PAGING_POLICY=demand:demand:demand");
  EXPECT_TRUE(StringRef(found[5].title).contains("MALLOC_TRIM_THRESHOLD_?"));
}

TEST(JobRules, NamesOfOthersAreLeftAlone) {
  Script script;
  for (const char *name :
       {"FLIB_FASTOMP", "FLIB_BARRIER", "FLIB_CNTL_BARRIER_ERR",
        "FLIB_CPU_AFFINITY", "FLIB_HPCFUNC", "FLIB_L2_SCCR_CNTL_EX",
        "FLIB_TRACEBACK_MEM_SIZE", "MALLOC_ARENA_MAX", "MPG_PASS_OPTIONS",
        "MPG_ROOT", "OMP_STACKSIZE", "FORT90L", "fu08bf",
        "PLE_MPI_STD_EMPTYFILE"})
    script.set(name, "12");
  EXPECT_EQ(script.run("./a.out").audit().size(), 0u);
  // A name that does something or not is worth a note.
  Script undocumented;
  undocumented.set("XOS_MMM_L_HUGE_MALLOC", "1").run("./a.out");
  auto found = undocumented.find(FindingId::mpg220);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::note);
}

TEST(JobRules, ValuesInTheWordsOfTheLibrary) {
  Script script;
  script.set(policy, "demand:demand").set("XOS_MMM_L_ARENA_FREE", "3");
  script.set("XOS_MMM_L_HUGETLB_FALLBACK", "yes").run("./a.out");
  EXPECT_EQ(script.warnings(), "221:1 221:2 221:3");
  auto found = script.find(FindingId::mpg221);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].sub, "fields");
  EXPECT_EQ(found[0].title,
            "XOS_MMM_L_PAGING_POLICY='demand:demand' is not valid "
            "(demand|prepage for .bss, stacks and mmap, such as "
            "prepage:demand:prepage); the default, prepage:demand:prepage, is "
            "used");
  EXPECT_TRUE(StringRef(found[0].evidence)
                  .ends_with("it has 2 fields instead "
                             "of 3"));
  EXPECT_TRUE(StringRef(found[1].title).contains("(1|2); the default, 1, is"));
  // Fujitsu's library falls back only on request.
  EXPECT_TRUE(StringRef(found[2].title).ends_with("the default, 0, is used"));
  EXPECT_EQ(Script().setUnknown(policy, "$POLICY").run("./a.out").warnings(),
            "");
}

TEST(JobRules, ConditionalSettingsWeighLess) {
  Script script;
  script.set("XOS_MMM_L_ARENA_FREE", "3", "export", true).run("./a.out");
  auto found = script.find(FindingId::mpg221);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::note);
  EXPECT_TRUE(StringRef(found[0].title).ends_with("if this branch is taken"));
}

TEST(JobRules, PoolDecidesWhatElseIsSet) {
  auto with = [](const char *name, const char *value) {
    return Script()
        .set("XOS_MMM_L_ARENA_FREE", "2")
        .set(name, value)
        .run("./a.out")
        .warnings();
  };
  EXPECT_EQ(with("XOS_MMM_L_ARENA_LOCK_TYPE", "0"), "222:2");
  EXPECT_EQ(with("XOS_MMM_L_ARENA_LOCK_TYPE", "1"), "");
  EXPECT_EQ(with("XOS_MMM_L_MAX_ARENA_NUM", "4"), "222:2");
  EXPECT_EQ(with("MALLOC_MMAP_THRESHOLD_", "204800"), "222:2");
  EXPECT_EQ(with("MALLOC_TRIM_THRESHOLD_", "0"), "222:2");
  EXPECT_EQ(with("MALLOC_TOP_PAD_", "0"), "");
  EXPECT_EQ(with(policy, demand), "");
}

TEST(JobRules, SettingThatActsSomewhereIsNoMistake) {
  Script script;
  script.set(policy, demand)
      .run("./a.out")
      .set("XOS_MMM_L_HPAGE_TYPE", "none")
      .run("./b.out");
  EXPECT_EQ(script.warnings(), "");
  Script never;
  never.set("XOS_MMM_L_HPAGE_TYPE", "none")
      .set(policy, demand)
      .set("XOS_MMM_L_ARENA_FREE", "2")
      .set("XOS_MMM_L_PRINT_ENV", "on")
      .run("./a.out");
  auto found = never.find(FindingId::mpg222);
  ASSERT_EQ(found.size(), 1u); // one cause, one finding
  EXPECT_EQ(found[0].sub, "hpage-none");
  EXPECT_EQ(found[0].where.line, 2u);
  EXPECT_TRUE(StringRef(found[0].title)
                  .starts_with("XOS_MMM_L_PAGING_POLICY and "
                               "XOS_MMM_L_ARENA_FREE have no effect"));
}

TEST(JobRules, NeedsAndLeastValues) {
  EXPECT_EQ(Script()
                .set("XOS_MMM_L_ARENA_LOCK_TYPE", "0")
                .set("XOS_MMM_L_MAX_ARENA_NUM", "8")
                .run("./a.out")
                .warnings(),
            "222:2");
  auto heap = [](const char *mebibytes, const char *threshold) {
    return Script()
        .set("MALLOC_MMAP_THRESHOLD_", threshold)
        .set("XOS_MMM_L_HEAP_SIZE_MB", mebibytes)
        .run("./a.out")
        .warnings();
  };
  EXPECT_EQ(heap("64", "134217728"), "222:2");
  EXPECT_EQ(heap("255", "134217728"), "222:2");
  EXPECT_EQ(heap("257", "134217728"), "");
  EXPECT_EQ(heap("64", "33554432"), "");
}

TEST(JobRules, LastValueBeforeTheStartCounts) {
  Script script;
  script.set("XOS_MMM_L_ARENA_FREE", "2")
      .set("XOS_MMM_L_ARENA_FREE", "1")
      .set("XOS_MMM_L_ARENA_LOCK_TYPE", "0")
      .run("./a.out");
  EXPECT_EQ(script.warnings(), "");
  Script unset;
  unset.set("XOS_MMM_L_HPAGE_TYPE", "none")
      .set(policy, demand)
      .set("XOS_MMM_L_HPAGE_TYPE", "", "unset")
      .run("./a.out");
  EXPECT_EQ(unset.warnings(), "");
}

TEST(JobRules, FallbackNamesWhatFails) {
  Script script;
  script.set("XOS_MMM_L_HUGETLB_FALLBACK", "1")
      .set(policy, demand)
      .set("XOS_MMM_L_ARENA_LOCK_TYPE", "0")
      .run("./a.out");
  auto found = script.find(FindingId::mpg223);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "XOS_MMM_L_HUGETLB_FALLBACK=1 has no effect: "
            "XOS_MMM_L_PAGING_POLICY is demand:demand:demand, not "
            "*:*:prepage; XOS_MMM_L_ARENA_LOCK_TYPE is 0, not 1");
  EXPECT_TRUE(StringRef(*found[0].fixWords)
                  .contains("XOS_MMM_L_PAGING_POLICY=demand:demand:prepage"));
  auto with = [](const char *name, const char *value) {
    return Script()
        .set("XOS_MMM_L_HUGETLB_FALLBACK", "1")
        .set(name, value)
        .run("./a.out")
        .warnings();
  };
  EXPECT_EQ(with(policy, "demand:demand:prepage"), "");
  EXPECT_EQ(with("XOS_MMM_L_MAX_ARENA_NUM", "2"), "223:1");
  EXPECT_EQ(with("XOS_MMM_L_ARENA_FREE", "2"), "");
  // Our own library falls back under every setting.
  Script ours;
  ours.settings.target = Target::mpg;
  ours.set("XOS_MMM_L_HUGETLB_FALLBACK", "1").set(policy, demand);
  EXPECT_EQ(ours.run("./a.out").warnings(), "");
}

TEST(JobRules, PageSizeOfMcKernel) {
  auto size = [](const char *value) {
    return Script().set("XOS_MMM_L_HUGETLB_SZ", value).run("./a.out");
  };
  EXPECT_EQ(size("32M").warnings(), "224:1");
  EXPECT_EQ(size("2M").warnings(), "");
  EXPECT_EQ(size("2M").find(FindingId::mpg224).size(), 1u);
  Script mckernel;
  mckernel.directive("-L", "jobenv=mck1")
      .set("XOS_MMM_L_HUGETLB_SZ", "32M")
      .run("./a.out");
  EXPECT_EQ(mckernel.audit().size(), 0u);
  Script byHand;
  byHand.command("/opt/ppos/bin/mcexec ./a.out")
      .set("XOS_MMM_L_HUGETLB_SZ", "32M")
      .run("./a.out");
  EXPECT_EQ(byHand.audit().size(), 0u);
}

TEST(JobRules, PrepageWithThreadsOnSeveralGroups) {
  auto threads = [](unsigned count, const char *value) {
    Script script;
    if (value)
      script.set(policy, value);
    return script.run("./a.out", "", count).warnings();
  };
  EXPECT_EQ(threads(48, nullptr), "225:1"); // the default is prepage
  EXPECT_EQ(threads(13, nullptr), "225:1");
  EXPECT_EQ(threads(12, nullptr), "");
  EXPECT_EQ(threads(48, "demand:demand:prepage"), "225:1");
  EXPECT_EQ(threads(48, "prepage:demand:demand"), "");
  EXPECT_EQ(threads(1, "prepage:prepage:prepage"), "225:1");
  EXPECT_EQ(Script().run("./a.out").warnings(), ""); // threads not known
  EXPECT_EQ(Script().run("./a.out", "numactl -i all", 48).warnings(), "");
  EXPECT_EQ(Script()
                .set("XOS_MMM_L_HPAGE_TYPE", "none")
                .run("./a.out", "", 48)
                .warnings(),
            "");
  EXPECT_EQ(
      Script()
          .set("OMPI_MCA_plm_ple_memory_allocation_policy", "interleave_all")
          .run("./a.out", "mpiexec", 48)
          .warnings(),
      "");
  EXPECT_EQ(Script().run("/bin/date", "mpiexec", 48).warnings(), "");
  auto found = Script().run("./a.out", "", 48).find(FindingId::mpg225);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(StringRef(found[0].cost).contains("8.6"));
  EXPECT_TRUE(StringRef(found[0].cost).contains("0.90"));
}

static FileReport makeReport(uint64_t dataBytes, uint64_t bssBytes) {
  FileReport report = {};
  report.path = "a.out";
  report.kind = ElfKind::exec;
  report.target = Target::fugaku;
  report.facts.layout.emplace();
  report.facts.layout->hugeBytes = dataBytes + bssBytes;
  Segment load = {};
  load.flags = PF_R | PF_W;
  load.fileBytes = dataBytes;
  load.memoryBytes = dataBytes + bssBytes;
  report.facts.layout->loads.push_back(load);
  report.facts.dataBytes = dataBytes;
  report.facts.bssBytes = bssBytes;
  return report;
}

TEST(JobRules, MemoryOfAllProcessesOfANode) {
  constexpr uint64_t gibibyte = uint64_t(1) << 30;
  auto start = [&](const FileReport &report, const char *value,
                   std::optional<unsigned> ranks,
                   std::optional<uint64_t> memory = std::nullopt) {
    Script script;
    if (value)
      script.set(policy, value);
    script.run("./a.out", "mpiexec", std::nullopt, ranks);
    script.settings.memoryBytes = memory;
    script.programs.push_back({&script.script.launches[0], &report});
    return script.warnings();
  };
  FileReport large = makeReport(gibibyte / 2, 3 * gibibyte);
  EXPECT_EQ(start(large, nullptr, 4), ""); // 4 x 7 GiB fit into 28
  EXPECT_EQ(start(large, nullptr, 5), "226:1");
  EXPECT_EQ(start(large, nullptr, std::nullopt), "");
  EXPECT_EQ(start(large, "demand:demand:prepage", 5), ""); // 5 x 1 GiB
  EXPECT_EQ(start(large, nullptr, 4, 27 * gibibyte), "226:1");
  EXPECT_EQ(start(large, nullptr, 5, 35 * gibibyte), "");
  EXPECT_EQ(start(makeReport(UINT64_MAX / 4, UINT64_MAX / 4), nullptr, 48),
            "226:1"); // no overflow
}

TEST(JobRules, CpusOfTheMachine) {
  auto binding = [](const char *launchers) {
    return Script().run("./a.out", launchers).warnings();
  };
  EXPECT_EQ(binding("numactl -C 12-59 -m 4-7"), "");
  EXPECT_EQ(binding("numactl -C 0-47"), "227:1");
  EXPECT_EQ(binding("numactl --cpunodebind=0"), "227:1");
  EXPECT_EQ(binding("numactl -N 4 -l"), "");
  EXPECT_EQ(binding("numactl -C +0-11"), ""); // relative to the job's
  EXPECT_EQ(binding("numactl -C 12-23,36,40-47:2"), "");
  EXPECT_EQ(binding("numactl -C 5,12-23,40-47:2"), "227:1");
  for (const char *unread : {"all", "5-4", "5-", "99999999999"})
    EXPECT_EQ(binding(("numactl -C " + std::string(unread)).c_str()), "")
        << unread;
  EXPECT_EQ(binding("numactl -C all"), "");
  EXPECT_EQ(binding("taskset -c 0-11"), "227:1");
  EXPECT_EQ(binding("taskset -c 12-23"), "");
  EXPECT_EQ(Script().set("GOMP_CPU_AFFINITY", "0-11").run("./a.out").warnings(),
            "227:1");
  EXPECT_EQ(Script().set("OMP_PLACES", "{12:12}").run("./a.out").warnings(),
            "");
  EXPECT_EQ(Script().set("OMP_PLACES", "cores").run("./a.out").warnings(), "");
}

TEST(JobRules, CpusOfTwoMachinesInOneScript) {
  Script mixed;
  mixed.script.scheduler = Scheduler::slurm;
  mixed.settings.target = Target::fugaku;
  mixed.set(policy, demand)
      .run("./a.out", "numactl --cpunodebind=4")
      .run("./a.out", "numactl --cpunodebind=0");
  EXPECT_EQ(mixed.warnings(), "227:3");
  Script x86;
  x86.script.scheduler = Scheduler::slurm;
  x86.run("./a.out", "numactl -C 12-59").run("./a.out", "numactl -C 0-11");
  EXPECT_EQ(x86.warnings(), "");
  Script fx700;
  fx700.script.scheduler = Scheduler::slurm;
  fx700.directive("--partition", "fx700")
      .set(policy, demand)
      .run("./a.out", "numactl -C 0-47 -m 0-3");
  EXPECT_EQ(fx700.warnings(), "");
}

TEST(JobRules, BindingThatDoesNotReachTheProgram) {
  EXPECT_EQ(Script().run("./a.out", "numactl -l|mpiexec -n 4").warnings(),
            "237:1");
  EXPECT_EQ(Script().run("./a.out", "mpiexec -n 4|numactl -l").warnings(), "");
  EXPECT_EQ(Script()
                .set(policy, demand)
                .run("./a.out", "numactl -m 4", 48)
                .warnings(),
            "237:2");
  EXPECT_EQ(Script()
                .set(policy, demand)
                .run("./a.out", "numactl -m 4", 12)
                .warnings(),
            "");
  EXPECT_EQ(Script().command("taskset -cp 12-23 $PID").run("./a").warnings(),
            "237:1");
  EXPECT_EQ(Script().command("taskset -cp 12-23 $$").run("./a").warnings(), "");
}

TEST(JobRules, Helgrind) {
  auto valgrind = [](const char *options) {
    return Script().run("./a.out", options).warnings();
  };
  EXPECT_EQ(valgrind("valgrind --tool=helgrind"), "228:1");
  EXPECT_EQ(valgrind("mpiexec|valgrind --tool helgrind"), "228:1");
  EXPECT_EQ(valgrind("valgrind --tool=memcheck"), "");
  EXPECT_EQ(valgrind("valgrind"), "");
  EXPECT_EQ(Script()
                .set("XOS_MMM_L_HPAGE_TYPE", "none")
                .run("./a.out", "valgrind --tool=helgrind")
                .warnings(),
            "");
}

TEST(JobRules, AllocatorsThatArePreloaded) {
  auto preload = [](const char *value, const char *type) {
    return Script()
        .set("LD_PRELOAD", value)
        .set("XOS_MMM_L_HPAGE_TYPE", type)
        .run("./a.out")
        .warnings();
  };
  EXPECT_EQ(preload("/opt/lib/libtcmalloc.so.4", "hugetlbfs"), "229:1");
  EXPECT_EQ(preload("/a/liba.so:/b/libjemalloc.so.2", "hugetlbfs"), "229:1");
  for (const char *file : {"libhoard.so", "librpmalloc.so", "libsnmalloc.so"})
    EXPECT_EQ(preload(file, "hugetlbfs"), "229:1") << file;
  EXPECT_EQ(preload("/opt/lib/libtcmalloc.so.4", "none"), "");
  EXPECT_EQ(preload("/opt/lib/libmpg.so.1", "hugetlbfs"), "");
  // The program's own report has said it.
  FileReport report = makeReport(0, 0);
  report.findings.emplace_back();
  report.findings.back().id = FindingId::mpg113;
  report.findings.back().severity = Severity::warning;
  Script said;
  said.set("LD_PRELOAD", "libtcmalloc.so").run("./a.out");
  said.programs.push_back({&said.script.launches[0], &report});
  EXPECT_EQ(said.warnings(), "");
}

TEST(JobRules, TagsAndTheirSwitch) {
  constexpr const char *off = "mpiexec /opt/FJSVxos/fhehpc/bin/fhetbo disable";
  constexpr const char *on = "/opt/FJSVxos/fhehpc/bin/fhetbo enable";
  EXPECT_EQ(Script()
                .set("FLIB_SCCR_CNTL", "TRUE")
                .command(off)
                .run("./a.out")
                .warnings(),
            "231:3");
  EXPECT_EQ(Script()
                .set("FLIB_SCCR_CNTL", "TRUE")
                .command(off)
                .command(on)
                .run("./a.out")
                .warnings(),
            "");
  // It is off for a program that has no tags: that is what the command is for.
  EXPECT_EQ(Script().command(off).run("./a.out").warnings(), "");
  EXPECT_EQ(Script()
                .set("FLIB_SCCR_CNTL", "TRUE")
                .run("./a.out")
                .command(off)
                .warnings(),
            "");
}

TEST(JobRules, WaysOfTheSectors) {
  auto ways = [](const char *value, unsigned ranks) {
    return Script()
        .set("FLIB_L2_SECTOR_NWAYS_INIT", value)
        .run("./a.out", "mpiexec", std::nullopt, ranks);
  };
  EXPECT_EQ(ways("10,4", 4).audit().size(), 0u);
  EXPECT_EQ(ways("12,4", 4).warnings(), "232:1");
  EXPECT_EQ(ways("14,14", 1).warnings(), "232:1");
  EXPECT_EQ(ways("8,4", 4).warnings(), "");
  EXPECT_EQ(ways("8,4", 4).find(FindingId::mpg232).size(), 1u);
  EXPECT_EQ(ways("10,4", 5).warnings(), "232:1");
  EXPECT_EQ(ways("15,0", 4).warnings(), "221:1");
  auto found = ways("12,4", 4).find(FindingId::mpg232);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fixWords,
            "Write instead:\n  export FLIB_L2_SECTOR_NWAYS_INIT=10,4");
}

TEST(JobRules, LeftoversAreOneNote) {
  Script script;
  script.directive("--stgin", "rank=* ./a.out %r:./")
      .command("source /work/system/Env_base")
      .command("mpiexec lpgparm -t 4MB -s 4MB ./a.out");
  auto found = script.find(FindingId::mpg233);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::note);
  EXPECT_TRUE(StringRef(found[0].evidence).contains("line 3: lpgparm"));
  EXPECT_EQ(Script().command("module load lang/tcsds").audit().size(), 0u);
}

TEST(JobRules, StackLimits) {
  auto limit = [](uint64_t bytes, const char *mode) {
    return Script()
        .set("XOS_MMM_L_LPG_MODE", mode)
        .stack(bytes)
        .run("./a.out")
        .find(FindingId::mpg234);
  };
  auto found = limit(UINT64_MAX, "base+stack");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::note); // half of all scripts have it
  EXPECT_EQ(found[0].where.line, 2u);
  EXPECT_EQ(limit(1 << 20, "base+stack").size(), 1u);
  EXPECT_EQ(limit(2 << 20, "base+stack").size(), 0u);
  EXPECT_EQ(limit(UINT64_MAX, "base").size(), 0u);
}

TEST(JobRules, CompileLines) {
  auto line = [](const char *text) {
    return Script().command(text).warnings();
  };
  EXPECT_EQ(line("fcc -Nclang -Kfast,ocl,hpctag a.c"), "235:1");
  EXPECT_EQ(line("mpifccpx -Nclang -Khpctag a.c"), "235:1");
  EXPECT_EQ(line("fcc -Nclang -Ofast a.c"), "");
  EXPECT_EQ(line("fcc -Kfast,ocl,hpctag a.c"), "");
  EXPECT_EQ(line("gcc -static a.o -lmpg"), "235:1");
  EXPECT_EQ(line("gcc a.o -lmpg -lc"), "235:1");
  EXPECT_EQ(line("gcc -no-pie a.o -lmpg -lc"), "");
  EXPECT_EQ(line("gcc -O2 a.c"), "");
  EXPECT_EQ(line("mpifrt a.f90 -lmpg"), "");
  EXPECT_EQ(line("gcc-ar rc a.a"), "");
}

TEST(JobRules, WhatIsNotKnownIsOneNote) {
  Script script;
  script.setUnknown("OMP_NUM_THREADS", "$1")
      .setUnknown(policy, "$(cat policy)")
      .setUnknown("LD_LIBRARY_PATH", "/opt/lib:$LD_LIBRARY_PATH")
      .run("./a.out");
  auto found = script.find(FindingId::mpg238);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::note);
  EXPECT_TRUE(StringRef(found[0].title).starts_with("$1 is not known"));
  EXPECT_TRUE(StringRef(found[0].evidence).contains("$(cat policy)"));
  EXPECT_FALSE(StringRef(found[0].evidence).contains("LD_LIBRARY_PATH"));
}

TEST(JobRules, ProblemsAreReportedAndBounded) {
  Script script;
  for (unsigned i = 1; i <= 1000; ++i)
    script.script.problems.push_back({i, "quote ' is not closed"});
  EXPECT_EQ(script.find(FindingId::mpg239).size(), 21u);
}

TEST(JobRules, SettingsThatReachNoProgram) {
  EXPECT_EQ(Script().run("./a.out").set(policy, demand).warnings(), "240:2");
  EXPECT_EQ(Script().set(policy, demand).run("./a.out").warnings(), "");
  EXPECT_EQ(Script().set(policy, demand).warnings(), ""); // nothing is started
  EXPECT_EQ(Script().command("MPG_REMAP=all").run("./a.out").warnings(),
            "240:1");
  EXPECT_EQ(Script().command("MPG_REMAP=all ./b").run("./a.out").warnings(),
            "");
  EXPECT_EQ(Script()
                .command("MPG_REMAP=all")
                .set("MPG_REMAP", "all")
                .run("./a.out")
                .warnings(),
            "");
}

TEST(JobRules, OneThingIsSaidOnce) {
  Script script;
  script.set("XOS_MMM_L_HUGETLB_FALLBACK", "1").set(policy, demand);
  for (unsigned i = 0; i < 50; ++i)
    script.run("./a.out", "mpiexec", 48, 1);
  EXPECT_EQ(script.warnings(), "223:1");
}

TEST(JobRules, ChecksChoose) {
  Script script;
  script.set("XOS_MMM_L_ARENA_FREE", "3").set("XOS_MMM_L_X", "1").run("./a");
  script.settings.checks.erase(FindingId::mpg221);
  EXPECT_EQ(script.warnings(), "220:2");
}

TEST(JobRules, ScriptsForFujitsusLibrary) {
  EXPECT_TRUE(isFugakuScript(Script().script));
  Script x86;
  x86.script.modules.push_back("intel/2023");
  EXPECT_FALSE(isFugakuScript(x86.script)); // PJM runs those machines as well
  Script slurm;
  slurm.script.scheduler = Scheduler::slurm;
  EXPECT_FALSE(isFugakuScript(slurm.script));
  // Our runtime reads the same variables.
  EXPECT_FALSE(isFugakuScript(slurm.set(policy, demand).script));
  slurm.set("LD_PRELOAD", "/opt/FJSVxos/mmm/lib64/libmpg.so.1");
  EXPECT_TRUE(isFugakuScript(slurm.script));
  EXPECT_FALSE(isFugakuScript(slurm.run("./a.out", "mpgrun").script));
}
