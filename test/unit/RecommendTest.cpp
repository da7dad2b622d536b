// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decision tree of docs/environment.md: the recommendations for each
// program in each job, that libmpg accepts each value, and that a job script
// with the recommended lines has no findings.

#include "Advice/Recommend.h"
#include "JobRules/JobRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpg;

namespace {

constexpr uint64_t gib = uint64_t(1) << 30;

/// A program as its report has it, with what the decisions ask.
FileReport program(Target target, std::vector<std::string> needed = {},
                   std::vector<FindingId> findings = {}) {
  FileReport report = {};
  report.path = "./app";
  report.kind = target == Target::fugaku ? ElfKind::exec : ElfKind::pie;
  report.target = target;
  report.facts.dynamic = DynamicFacts();
  needed.push_back(target == Target::fugaku ? "libmpg.so.1" : "libmpgrt.so.1");
  report.facts.dynamic->needed = std::move(needed);
  for (FindingId id : findings) {
    Finding finding = {};
    finding.id = id;
    finding.severity = Severity::warning;
    finding.title = "title";
    report.findings.push_back(finding);
  }
  return report;
}

void setStaticBytes(FileReport &report, uint64_t data, uint64_t bss) {
  report.facts.layout = LayoutFacts();
  report.facts.layout->hugeBytes = data + bss;
  report.facts.layout->startupPeakBytes =
      startupPeakBytes(report.target, data + bss);
  report.facts.dataBytes = data;
  report.facts.bssBytes = bss;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

JobLaunch launch(std::optional<unsigned> threads, std::optional<unsigned> ranks,
                 const Variables &variables = {}) {
  JobLaunch launch = {};
  launch.program.text = "./app";
  launch.launch.threads = threads;
  launch.launch.ranksPerNode = ranks;
  if (threads)
    launch.launch.environment.set("OMP_NUM_THREADS",
                                  {std::to_string(*threads), true, 2});
  unsigned line = 10;
  for (const auto &[name, value] : variables)
    launch.launch.environment.set(
        name, {value, !StringRef(value).contains('$'), line++});
  return launch;
}

/// "NAME=value NAME=value", without the lines that bind threads.
std::string settings(const Advice &advice) {
  std::string text;
  for (const Recommendation &setting : advice.settings)
    if (!StringRef(setting.name).starts_with("OMP_"))
      text += (text.empty() ? "" : " ") + setting.name + "=" + setting.value;
  return text;
}

std::string settings(const FileReport &report, const JobLaunch &launch) {
  return settings(recommend(report, nullptr, &launch));
}

std::string written(const Advice &advice, StringRef path = "./app") {
  std::string text;
  raw_string_ostream out(text);
  writeAdvice(out, advice, path);
  return out.str();
}

bool contradicts(const Advice &advice, unsigned line, StringRef text) {
  return any_of(advice.contradictions, [&](const Contradiction &one) {
    return one.line == line && StringRef(one.text).contains(text);
  });
}

bool hasStep(const Advice &advice, StringRef text) {
  return any_of(advice.steps, [&](const std::string &step) {
    return StringRef(step).contains(text);
  });
}

const char *const allDemand = "XOS_MMM_L_PAGING_POLICY=demand:demand:demand";

} // namespace

TEST(Recommend, PolicyFollowsTheReachOfTheThreads) {
  FileReport app = program(Target::fugaku, {"libfjomp.so"});
  const struct {
    std::optional<unsigned> threads, ranks;
    const char *expected;
  } cases[] = {
      {48, 1, allDemand},
      {13, 1, allDemand},
      {13, 4, allDemand}, // more than a CMG has cores
      {24, 2, allDemand},
      {std::nullopt, 1, allDemand},
      {std::nullopt, std::nullopt, allDemand},
      {12, 4, ""},
      {12, 1, ""},
      {1, 48, ""},
      {1, std::nullopt, ""},
      {std::nullopt, 4, ""},
      {std::nullopt, 48, ""},
  };
  for (const auto &test : cases)
    EXPECT_EQ(settings(app, launch(test.threads, test.ranks)), test.expected)
        << test.threads.value_or(0) << " x " << test.ranks.value_or(0);
  // Spread threads are on all groups, however few there are.
  EXPECT_EQ(settings(app, launch(4, 1, {{"OMP_PROC_BIND", "spread"}})),
            allDemand);
  EXPECT_EQ(settings(app, launch(4, 4, {{"OMP_PROC_BIND", "spread"}})), "");
}

TEST(Recommend, ElsewhereOnlyOneThreadOrOneNodeIsNear) {
  FileReport app = program(Target::mpg, {"libgomp.so.1"});
  const Variables prepaged = {
      {"XOS_MMM_L_PAGING_POLICY", "prepage:demand:prepage"}};
  EXPECT_EQ(settings(app, launch(8, 1, prepaged)), allDemand);
  EXPECT_EQ(settings(app, launch(8, 4, prepaged)), allDemand);
  EXPECT_EQ(settings(app, launch(1, 8, prepaged)), "");
  // If it is unset, libmpg does it by itself.
  EXPECT_EQ(settings(app, launch(8, 1)), "");
  for (std::vector<std::string> words :
       {std::vector<std::string>{"numactl", "--cpunodebind=1"},
        {"numactl", "-N1"},
        {"/usr/bin/numactl", "-m", "1", "-N", "1"}}) {
    JobLaunch bound = launch(8, 1, prepaged);
    bound.launchers.push_back({{}, 3});
    for (const std::string &word : words)
      bound.launchers[0].words.push_back({word, ""});
    EXPECT_EQ(settings(app, bound), "") << words[1];
  }
  JobLaunch both = launch(8, 1, prepaged);
  both.launchers.push_back({{{"numactl", ""}, {"-N0,1", ""}}, 3});
  EXPECT_EQ(settings(app, both), allDemand);
}

TEST(Recommend, WhatIsNotKnownIsNamed) {
  FileReport app = program(Target::fugaku, {"libfjomp.so"});
  JobLaunch unknown = launch(std::nullopt, 1, {{"OMP_NUM_THREADS", "$N"}});
  Advice advice = recommend(app, nullptr, &unknown);
  ASSERT_EQ(advice.unknown.size(), 1u);
  EXPECT_EQ(advice.unknown[0], "threads unknown: OMP_NUM_THREADS is $N; taken "
                               "as more than one core memory group");
  EXPECT_EQ(settings(advice), allDemand);
  // Nothing is known at all, but there is no OpenMP either.
  advice = recommend(program(Target::fugaku), nullptr, nullptr);
  ASSERT_EQ(advice.unknown.size(), 1u);
  EXPECT_TRUE(StringRef(advice.unknown[0]).contains("taken as one thread"));
  EXPECT_EQ(settings(advice), "");
  // Known values are not named.
  JobLaunch known = launch(48, 1);
  EXPECT_TRUE(recommend(app, nullptr, &known).unknown.empty());
}

TEST(Recommend, TimersAndStartUpAskForDemand) {
  FileReport timer = program(Target::fugaku, {}, {FindingId::mpg200});
  EXPECT_EQ(settings(timer, launch(1, 1)), allDemand);
  // 20 GiB of .bss: 40 GiB at start-up, of which a node has 28.
  FileReport large = program(Target::fugaku);
  setStaticBytes(large, gib / 16, 20 * gib);
  EXPECT_TRUE(
      StringRef(settings(large, launch(1, 1)))
          .starts_with("XOS_MMM_L_PAGING_POLICY=demand:demand:prepage"));
  EXPECT_EQ(settings(large, launch(48, 1)), allDemand);
  // The same for four processes of 4 GiB, not for one.
  FileReport four = program(Target::fugaku);
  setStaticBytes(four, gib / 16, 4 * gib);
  EXPECT_EQ(settings(four, launch(12, 1)), "");
  EXPECT_TRUE(
      StringRef(settings(four, launch(12, 4)))
          .starts_with("XOS_MMM_L_PAGING_POLICY=demand:demand:prepage"));
  // More memory than Fugaku has, said by the user.
  JobLaunch one = launch(1, 1);
  EXPECT_EQ(settings(recommend(large, nullptr, &one, 64 * gib)), "");
  // Ours copies piece by piece.
  FileReport ours = program(Target::mpg);
  setStaticBytes(ours, gib / 16, 20 * gib);
  EXPECT_EQ(settings(recommend(ours, nullptr, &one, 28 * gib)), "");
}

TEST(Recommend, NoPolicyHelpsDataThatDoesNotFit) {
  FileReport large = program(Target::fugaku);
  setStaticBytes(large, 20 * gib, gib);
  large.largestSymbols = {{"field", ".data", 18 * gib}};
  JobLaunch one = launch(1, 1);
  Advice advice = recommend(large, nullptr, &one);
  EXPECT_TRUE(hasStep(advice, "Start-up needs 41 GiB at least, a node has 28 "
                              "GiB: start fewer processes on a node"));
  EXPECT_TRUE(hasStep(advice, "field, 18 GiB"));
}

TEST(Recommend, FallbackOnlyWithItsPreconditions) {
  FileReport tight = program(Target::fugaku, {"libfjomp.so"});
  setStaticBytes(tight, gib / 16, 20 * gib);
  auto has = [&](const JobLaunch &job) {
    return StringRef(settings(tight, job))
        .contains("XOS_MMM_L_HUGETLB_FALLBACK=1");
  };
  EXPECT_TRUE(has(launch(12, 1)));
  EXPECT_TRUE(has(launch(12, 1, {{"XOS_MMM_L_MAX_ARENA_NUM", "1"}})));
  EXPECT_FALSE(has(launch(48, 1))) << "demand for mmap";
  EXPECT_FALSE(has(launch(12, 1, {{"XOS_MMM_L_ARENA_LOCK_TYPE", "0"}})));
  EXPECT_FALSE(has(launch(12, 1, {{"XOS_MMM_L_MAX_ARENA_NUM", "4"}})));
  EXPECT_FALSE(has(launch(12, 1, {{"XOS_MMM_L_MAX_ARENA_NUM", "$N"}})));
  setStaticBytes(tight, gib / 16, gib);
  EXPECT_FALSE(has(launch(12, 1))) << "there is room";
}

TEST(Recommend, HeapsOfThreads) {
  FileReport cxx = program(Target::fugaku, {"libstdc++.so.6", "libfjomp.so"});
  const std::string lock = "XOS_MMM_L_ARENA_LOCK_TYPE=0";
  EXPECT_EQ(settings(cxx, launch(12, 1)), lock);
  EXPECT_EQ(settings(cxx, launch(48, 1)), std::string(allDemand) + " " + lock);
  EXPECT_EQ(settings(cxx, launch(1, 48)), "") << "one thread";
  // 57 heaps of 256 MiB are more than half of 28 GiB.
  EXPECT_EQ(settings(cxx, launch(57, 1)), allDemand);
  // ARENA_FREE=2 would switch it off.
  EXPECT_EQ(settings(cxx, launch(12, 1, {{"XOS_MMM_L_ARENA_FREE", "2"}})), "");
  FileReport c = program(Target::fugaku, {"libfjomp.so"});
  JobLaunch twelve = launch(12, 1);
  Advice advice = recommend(c, nullptr, &twelve);
  EXPECT_EQ(settings(advice), "");
  EXPECT_TRUE(hasStep(advice, "If a profile shows"));
  // All is well: one line is enough.
  JobLaunch bound = launch(12, 1, {{"OMP_PROC_BIND", "close"}});
  EXPECT_TRUE(recommend(c, nullptr, &bound).steps.empty());
}

TEST(Recommend, EqualArrays) {
  FileReport equal = program(Target::fugaku, {}, {FindingId::mpg211});
  EXPECT_EQ(settings(equal, launch(1, 1)), "MALLOC_MMAP_THRESHOLD_=204800");
  JobLaunch pooled = launch(1, 1, {{"XOS_MMM_L_ARENA_FREE", "2"}});
  Advice advice = recommend(equal, nullptr, &pooled);
  EXPECT_EQ(settings(advice), "") << "ARENA_FREE=2 cancels it";
  EXPECT_TRUE(contradicts(advice, 10, "pad them"));
  EXPECT_EQ(settings(equal, launch(1, 1, {{"XOS_MMM_L_COLORING", "0"}})),
            "XOS_MMM_L_COLORING=1 MALLOC_MMAP_THRESHOLD_=204800");
  // Blocks below the threshold would not get separate mappings.
  equal.findings[0].where.bytes = 16384;
  EXPECT_EQ(settings(equal, launch(1, 1)), "");
  // No variable moves arrays of .bss.
  FileReport fixed = program(Target::fugaku, {}, {FindingId::mpg210});
  JobLaunch one = launch(1, 1);
  EXPECT_EQ(settings(fixed, one), "");
  EXPECT_TRUE(hasStep(recommend(fixed, nullptr, &one), "MPG210"));
  equal = program(Target::mpg, {}, {FindingId::mpg211});
  EXPECT_EQ(settings(equal, launch(1, 1)), "") << "coloured from 16 KiB on";
}

TEST(Recommend, OtherTargets) {
  FileReport thp = program(Target::thp);
  EXPECT_EQ(settings(thp, launch(1, 1)),
            "GLIBC_TUNABLES=glibc.malloc.hugetlb=1");
  EXPECT_EQ(settings(thp, launch(1, 1, {{"GLIBC_TUNABLES", "a.b=1"}})),
            "GLIBC_TUNABLES=a.b=1:glibc.malloc.hugetlb=1");
  EXPECT_EQ(
      settings(thp,
               launch(1, 1, {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=2"}})),
      "");
  EXPECT_EQ(settings(thp, launch(1, 1, {{"GLIBC_TUNABLES", "$T"}})), "");
  EXPECT_EQ(settings(program(Target::libhugetlbfs), launch(1, 1)),
            "HUGETLB_ELFMAP=W GLIBC_TUNABLES=glibc.malloc.hugetlb=1");
  EXPECT_EQ(
      settings(program(Target::mpg, {}, {FindingId::mpg143}), launch(1, 1)),
      "MPG_REMAP=all");
}

TEST(Recommend, ThreadsAreBoundOnce) {
  FileReport app = program(Target::fugaku);
  auto binds = [&](const JobLaunch &job) {
    std::string names;
    for (const Recommendation &setting : recommend(app, nullptr, &job).settings)
      if (StringRef(setting.name).starts_with("OMP_"))
        names += setting.name + "=" + setting.value + " ";
    return names;
  };
  const std::string both = "OMP_PROC_BIND=close OMP_PLACES=cores ";
  EXPECT_EQ(binds(launch(12, 1)), both);
  EXPECT_EQ(binds(launch(1, 1)), "");
  EXPECT_EQ(binds(launch(12, 1, {{"OMP_PROC_BIND", "false"}})), both);
  EXPECT_EQ(binds(launch(12, 1, {{"OMP_PROC_BIND", "true"}})), "");
  EXPECT_EQ(binds(launch(12, 1, {{"OMP_PLACES", "threads"}})),
            "OMP_PROC_BIND=close ");
  EXPECT_EQ(binds(launch(12, 1, {{"FLIB_CPU_AFFINITY", "12-23"}})), "");
}

TEST(Recommend, NamesWhatSpeaksAgainstIt) {
  FileReport app = program(Target::fugaku, {"libfjomp.so"});
  JobLaunch job =
      launch(48, 1,
             {{"XOS_MMM_L_PAGING_POLICY", "demand:demand:prepage"}, // line 10
              {"XOS_MMM_L_HUGETLB_FALLBACK", "1"},                  // 11
              {"XOS_MMM_L_HPAGE_TYPE", "none"},                     // 12
              {"XOS_MMM_L_ARENA_FREE", "2"},                        // 13
              {"XOS_MMM_L_ARENA_LOCK_TYPE", "0"}});                 // 14
  Advice advice = recommend(app, nullptr, &job);
  EXPECT_TRUE(contradicts(advice, 10,
                          "write XOS_MMM_L_PAGING_POLICY="
                          "demand:demand:demand instead"));
  EXPECT_TRUE(contradicts(advice, 11, "needs prepage for mmap"));
  EXPECT_TRUE(contradicts(advice, 12, "switches large pages off"));
  EXPECT_TRUE(contradicts(advice, 13, "keep one of the two"));
  EXPECT_EQ(advice.contradictions.size(), 4u);
  // Settings that are right already cause no conflict.
  JobLaunch right =
      launch(48, 1, {{"XOS_MMM_L_PAGING_POLICY", "demand:demand:demand"}});
  advice = recommend(app, nullptr, &right);
  EXPECT_TRUE(advice.contradictions.empty());
  EXPECT_TRUE(advice.settings[0].alreadySet);
}

TEST(Recommend, AnotherMallocOrLargePagesButNotBoth) {
  FileReport app = program(Target::fugaku);
  JobLaunch both = launch(48, 1, {{"LD_PRELOAD", "/opt/libtcmalloc.so.4"}});
  EXPECT_TRUE(contradicts(recommend(app, nullptr, &both), 10,
                          "another malloc comes before"));
  JobLaunch off = launch(48, 1,
                         {{"LD_PRELOAD", "/opt/libtcmalloc.so.4"},
                          {"XOS_MMM_L_HPAGE_TYPE", "none"}});
  Advice advice = recommend(app, nullptr, &off);
  EXPECT_EQ(settings(advice), "");
  EXPECT_TRUE(advice.contradictions.empty());
  JobLaunch bare = launch(48, 1, {{"XOS_MMM_L_HPAGE_TYPE", "none"}});
  EXPECT_FALSE(recommend(app, nullptr, &bare).contradictions.empty());
  bare.launchers.push_back({{{"valgrind", ""}}, 3});
  EXPECT_TRUE(recommend(app, nullptr, &bare).contradictions.empty());
}

TEST(Recommend, TextIsShellScript) {
  FileReport app = program(Target::fugaku, {"libfjomp.so"},
                           {FindingId::mpg103, FindingId::mpg210});
  app.findings[0].title = "evil\nexport PATH=/evil";
  JobLaunch job = launch(
      48, 1,
      {{"OMP_PROC_BIND", "false"}, {"LD_PRELOAD", "libtcmalloc.so\nrm -r x"}});
  std::string text =
      written(recommend(app, nullptr, &job), "./a\nexport PATH=/evil");
  SmallVector<StringRef, 64> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  unsigned exports = 0;
  for (StringRef line : lines) {
    EXPECT_TRUE(line.starts_with("# ") || line.starts_with("export "))
        << line.str();
    EXPECT_FALSE(line.contains("=/evil") && line.starts_with("export"));
    exports += line.starts_with("export ");
  }
  EXPECT_EQ(exports, 3u);
}

TEST(Recommend, OneLineWhereNothingIsNeeded) {
  JobLaunch job = launch(1, 48);
  std::string text = written(recommend(program(Target::fugaku), nullptr, &job));
  EXPECT_EQ(text, "# ./app: nothing to set (target fugaku, 1 thread a process, "
                  "48 processes a node)\n");
}

// Nobody objects

namespace {

constexpr const char *tableRows[][3] = {
#define MPG_ENV(name, type, domain, ...) {#name, #type, domain},
#include "mpg/env.def"
};

bool isInDomain(StringRef value, StringRef type, StringRef domain) {
  if (type == "choice")
    return is_contained(split(domain, '|'), value);
  if (type == "policy3") {
    SmallVector<StringRef, 3> words;
    value.split(words, ':');
    return words.size() == 3 && all_of(words, [&](StringRef word) {
             return is_contained(split(domain, '|'), word);
           });
  }
  uint64_t number;
  return type == "uint" && !value.getAsInteger(10, number);
}

/// libmpg and Fujitsu's library take this value.
bool isTaken(const Recommendation &setting) {
  for (const auto &row : tableRows)
    if (setting.name == row[0])
      return isInDomain(setting.value, row[1], row[2]);
  return StringRef(setting.name).starts_with("OMP_");
}

struct NamedJob {
  const char *head;      ///< directives and settings of the script
  const char *launchers; ///< in front of ./app
};

const NamedJob fugakuJobs[] = {
    {"#PJM -L \"node=1\"\n#PJM -L \"rscgrp=small\"\n"
     "export OMP_NUM_THREADS=48\n",
     ""},
    {"#PJM -L \"node=4\"\n#PJM --mpi \"proc=16\"\n"
     "export OMP_NUM_THREADS=12\n",
     "mpiexec -n 16 "},
    {"#PJM -L \"node=1\"\n#PJM --mpi \"proc=48\"\n"
     "export OMP_NUM_THREADS=1\n",
     "mpiexec "},
    {"#PJM -L \"node=1\"\nexport OMP_NUM_THREADS=$N\n", ""},
    {"#PJM -L \"node=2\"\n#PJM --mpi \"proc=4\"\n"
     "export OMP_NUM_THREADS=24\nexport OMP_PROC_BIND=close\n",
     "mpiexec "},
    {"#PJM -L \"node=1\"\nexport OMP_NUM_THREADS=12\n", ""},
};

const NamedJob slurmJobs[] = {
    {"#SBATCH --nodes=1\n#SBATCH --cpus-per-task=16\n"
     "export OMP_NUM_THREADS=16\n",
     "srun "},
    {"#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=8\n"
     "export OMP_NUM_THREADS=1\n",
     "srun "},
    {"#SBATCH --nodes=1\nexport OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK\n",
     "srun "},
};

std::vector<FileReport> programsFor(Target target) {
  std::vector<FileReport> programs = {
      program(target),
      program(target, {"libgomp.so.1"}),
      program(target, {"libgomp.so.1", "libstdc++.so.6"}),
      program(target, {"libmpi.so.40"}, {FindingId::mpg200}),
      program(target, {"libgomp.so.1"}, {FindingId::mpg211}),
      program(target, {}, {FindingId::mpg210, FindingId::mpg143}),
      program(target, {"libgomp.so.1"}),
  };
  setStaticBytes(programs.back(), gib / 16,
                 target == Target::fugaku ? 6 * gib : gib);
  return programs;
}

std::vector<std::string> complaints(const std::string &text,
                                    const FileReport &report) {
  JobScript script = readJobScript(text, "job.sh");
  std::vector<LaunchedProgram> programs;
  for (const JobLaunch &start : script.launches)
    programs.push_back({&start, &report});
  JobSettings settings;
  settings.target = report.target;
  settings.checks = defaultChecks();
  std::vector<std::string> texts;
  JobVerdict verdict =
      judgeJob(script, programs, report.target == Target::fugaku);
  for (const Finding &finding : auditJob(script, programs, verdict, settings))
    if (finding.severity >= Severity::warning)
      texts.push_back(idText(finding.id) + ": " + finding.title);
  return texts;
}

/// The script with the advice for its program in front of the start.
std::string advised(const NamedJob &job, const FileReport &report,
                    std::vector<Recommendation> &taken) {
  std::string head = std::string("#!/bin/bash\n") + job.head;
  std::string start = std::string(job.launchers) + "./app\n";
  JobScript script = readJobScript(head + start, "job.sh");
  if (script.launches.empty()) {
    ADD_FAILURE() << "no program in " << head << start;
    return "";
  }
  Advice advice = recommend(report, &script, &script.launches.front());
  EXPECT_TRUE(advice.contradictions.empty());
  taken.insert(taken.end(), advice.settings.begin(), advice.settings.end());
  return head + written(advice) + start;
}

} // namespace

TEST(Recommend, NobodyObjectsToTheRecommendedLines) {
  unsigned combinations = 0;
  std::vector<Recommendation> taken;
  auto check = [&](Target target, ArrayRef<NamedJob> jobs) {
    for (const FileReport &report : programsFor(target))
      for (const NamedJob &job : jobs) {
        std::string text = advised(job, report, taken);
        EXPECT_EQ(complaints(text, report), std::vector<std::string>()) << text;
        ++combinations;
      }
  };
  check(Target::fugaku, fugakuJobs);
  check(Target::mpg, slurmJobs);
  EXPECT_EQ(combinations, 63u);
  for (const Recommendation &setting : taken)
    EXPECT_TRUE(isTaken(setting)) << setting.name << "=" << setting.value;
  EXPECT_GT(taken.size(), 60u);
  // The test must be able to fail: without the advice there are complaints.
  FileReport app = program(Target::fugaku, {"libgomp.so.1"});
  EXPECT_FALSE(
      complaints(std::string(fugakuJobs[0].head) + "./app\n", app).empty());
}

TEST(Recommend, AFollowedAdviceIsFinal) {
  for (const FileReport &report : programsFor(Target::fugaku)) {
    std::vector<Recommendation> taken;
    std::string text = advised(fugakuJobs[0], report, taken);
    JobScript script = readJobScript(text, "job.sh");
    ASSERT_EQ(script.launches.size(), 1u);
    Advice again = recommend(report, &script, &script.launches.front());
    EXPECT_TRUE(again.contradictions.empty());
    for (const Recommendation &setting : again.settings)
      EXPECT_TRUE(setting.alreadySet) << setting.name;
  }
}
