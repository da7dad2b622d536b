// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment as libmpg reads it: defaults, wrong values, and the rules by
// which one variable decides another.

#include "base/Env.h"
#include "StderrLines.h"
#include "base/Messages.h"
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace mpg;

namespace {

using Environment = std::vector<std::string>;

/// libmpg's reading of an environment.
struct Reading {
  explicit Reading(Environment given) : environment(std::move(given)) {
    for (const std::string &entry : environment)
      pointers.push_back(entry.c_str());
    pointers.push_back(nullptr);
    StderrLines lines;
    readAudience(pointers.data(), config);
    Messages messages;
    readSettings(pointers.data(), config, messages);
    said = lines.drain();
  }

  /// "NAME=VALUE" as XOS_MMM_L_PRINT_ENV shows it.
  std::string shown(Variable variable) const {
    LineBuffer line;
    addSetting(line, variable, config, pointers.data());
    return line.text();
  }

  const Environment environment;
  std::vector<const char *> pointers; // into environment
  Config config;
  std::vector<std::string> said;
};

bool hasPart(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

std::vector<Variable> allVariables() {
  std::vector<Variable> all;
  for (size_t index = 0; index < variableCount; ++index)
    all.push_back(Variable(index));
  return all;
}

/// A valid value of \p variable that is not its default.
std::string otherValue(Variable variable) {
  const Setting &setting = getSetting(variable);
  uint64_t usual = 0;
  parseValue(setting, setting.fallback, usual);
  for (const char *text : {"on", "2", "1", "0", "base", "32M", "thp", "all",
                           "demand:prepage:demand", "none", "777", "FALSE",
                           "4,10", "mbind", "share", "auto"}) {
    uint64_t value;
    if (parseValue(setting, text, value) && value != usual)
      return text;
  }
  return "";
}

} // namespace

TEST(EnvTest, FallbackThatIsNotSetFallsBackAndIsKnownAsNotSet) {
  EXPECT_TRUE(Reading({}).config.fallback);
  EXPECT_FALSE(Reading({}).config.fallbackGiven);
  Reading zero({"XOS_MMM_L_HUGETLB_FALLBACK=0"});
  EXPECT_FALSE(zero.config.fallback);
  EXPECT_TRUE(zero.config.fallbackGiven);
  EXPECT_FALSE(Reading({"XOS_MMM_L_HUGETLB_FALLBACK=no"}).config.fallbackGiven);
}

// A default that is not printed as itself is wrong.
TEST(EnvTest, DefaultsOfTheTableAreInForce) {
  Reading reading({});
  for (Variable variable : allVariables()) {
    const Setting &setting = getSetting(variable);
    if (setting.fallback[0]) {
      EXPECT_EQ(reading.shown(variable),
                std::string(setting.name) + "=" + setting.fallback);
    }
  }
}

TEST(EnvTest, EveryVariableCanBeSet) {
  for (Variable variable : allVariables()) {
    const Setting &setting = getSetting(variable);
    std::string value = otherValue(variable);
    if (!setting.fallback[0] || variable == Variable::XOS_MMM_L_HPAGE_TYPE ||
        variable == Variable::XOS_MMM_L_HEAP_SIZE_MB ||
        variable == Variable::XOS_MMM_L_HUGETLB_SZ)
      continue;
    ASSERT_NE(value, "") << setting.name;
    Reading reading({setting.name + ("=" + value)});
    // A threshold of two bytes is right, but costs.
    size_t lines = variable == Variable::MALLOC_MMAP_THRESHOLD_;
    EXPECT_EQ(reading.said.size(), lines);
    EXPECT_EQ(reading.shown(variable), setting.name + ("=" + value));
  }
}

TEST(EnvTest, WrongValuesLeaveTheDefaultAndOneLineThatNamesIt) {
  const std::string values[] = {"",
                                " ",
                                "Demand",
                                "1 ",
                                " 1",
                                "-1",
                                "+1",
                                "1.0",
                                "0x",
                                "1e3",
                                "1" + std::string(30, '0'),
                                std::string(10000, 'x'),
                                std::string(10000, '9'),
                                "demand:demand",
                                "demand:demand:demand:demand",
                                "demand::demand",
                                "\x01\xff\n",
                                "2m",
                                "HUGETLBFS",
                                "none|none",
                                "|",
                                "1:",
                                ":1",
                                "99999999999:"};
  for (Variable variable : allVariables())
    for (const std::string &value : values) {
      const Setting &setting = getSetting(variable);
      Reading reading({setting.name + ("=" + value)});
      ASSERT_EQ(reading.said.size(), 1u) << setting.name << "=" << value;
      const std::string &line = reading.said[0];
      EXPECT_TRUE(hasPart(line, std::string("mpg: ") + setting.name + "='"));
      EXPECT_TRUE(hasPart(line, setting.domain)) << line;
      EXPECT_TRUE(hasPart(line, setting.fallback[0]
                                    ? std::string("default, ") +
                                          setting.fallback + ", is used"
                                    : std::string("not set")));
      EXPECT_LT(line.size(), 300u);
      for (char c : line)
        EXPECT_TRUE(c >= ' ' && c <= '~');
      if (setting.fallback[0]) {
        EXPECT_EQ(reading.shown(variable),
                  std::string(setting.name) + "=" + setting.fallback);
      }
      EXPECT_TRUE(reading.config.isTarget);
      EXPECT_EQ(reading.config.stateFd, -1);
    }
}

TEST(EnvTest, NumbersOutOfTheirRangeAreWrong) {
  for (const char *entry :
       {"XOS_MMM_L_MAX_ARENA_NUM=0", "XOS_MMM_L_MAX_ARENA_NUM=2147483648",
        "MALLOC_PERTURB_=2147483648", "MALLOC_CHECK_=4",
        "MALLOC_TOP_PAD_=18446744073709551616", "MPG_STATE_FD=65536"})
    EXPECT_EQ(Reading({entry}).said.size(), 1u) << entry;
  Reading max({"MALLOC_TOP_PAD_=18446744073709551615",
               "XOS_MMM_L_MAX_ARENA_NUM=0x7fffffff"});
  EXPECT_TRUE(max.said.empty());
  EXPECT_EQ(max.config.topPadBytes, UINT64_MAX);
  EXPECT_EQ(max.shown(Variable::MALLOC_TOP_PAD_), "MALLOC_TOP_PAD_=ULONG_MAX");
  EXPECT_EQ(max.config.maxArenaNum, 2147483647u);
}

TEST(EnvTest, PolicyThatIsPartlyWrongIsRefusedAsAWhole) {
  Reading reading({"XOS_MMM_L_PAGING_POLICY=demand:demand:demnd"});
  EXPECT_EQ(reading.said.size(), 1u);
  EXPECT_EQ(reading.config.bssPaging, Paging::prepage);
}

TEST(EnvTest, TwoDifferentValuesAreToldAndTheFirstCounts) {
  Reading reading({"XOS_MMM_L_ARENA_FREE=2", "XOS_MMM_L_ARENA_FREE=1"});
  ASSERT_EQ(reading.said.size(), 1u);
  EXPECT_TRUE(hasPart(reading.said[0],
                      "XOS_MMM_L_ARENA_FREE is set twice, to different values; "
                      "the first, '2', counts"));
  EXPECT_EQ(reading.config.arenaFree, 2u);
  EXPECT_TRUE(Reading({"MPG_MODE=thp", "MPG_MODE=thp"}).said.empty());
}

TEST(EnvTest, UnknownNamesAreToldWithTheNearestOne) {
  Reading reading({"XOS_MMM_L_PAGING_POLICE=demand:demand:demand",
                   "XOS_MMM_L_=", "XOS_MMM_L_HUGE_MALLOC=1", "XOS_MMM_=1",
                   "MPG_SOMETHING=1", "XOS_MMM_L_" + std::string(9999, 'x')});
  ASSERT_EQ(reading.said.size(), 4u);
  EXPECT_TRUE(hasPart(reading.said[0], "XOS_MMM_L_PAGING_POLICE is unknown"));
  EXPECT_TRUE(
      hasPart(reading.said[0], "did you mean XOS_MMM_L_PAGING_POLICY?"));
  EXPECT_FALSE(hasPart(reading.said[2], "did you mean"));
  EXPECT_TRUE(Reading({"MPG_FOLDER=1", "MPG_STATE=1"}).said.empty());
}

// Rules between variables

TEST(EnvTest, ArenaFree2DecidesFourOthers) {
  Reading reading({"XOS_MMM_L_ARENA_FREE=2", "XOS_MMM_L_ARENA_LOCK_TYPE=0",
                   "XOS_MMM_L_MAX_ARENA_NUM=7", "MALLOC_MMAP_THRESHOLD_=204800",
                   "MALLOC_TRIM_THRESHOLD_=1"});
  EXPECT_TRUE(reading.said.empty());
  EXPECT_EQ(reading.config.arenaLockType, 1u);
  EXPECT_EQ(reading.config.maxArenaNum, 1u);
  EXPECT_EQ(reading.config.mmapThresholdBytes, UINT64_MAX);
  EXPECT_EQ(reading.config.trimThresholdBytes, UINT64_MAX);
  EXPECT_EQ(reading.config.inForce[size_t(Variable::XOS_MMM_L_HEAP_SIZE_MB)],
            1u); // twice what was asked for
  EXPECT_EQ(reading.shown(Variable::XOS_MMM_L_ARENA_LOCK_TYPE),
            "XOS_MMM_L_ARENA_LOCK_TYPE=1 (asked for 0; XOS_MMM_L_ARENA_FREE=2 "
            "decides)");
  EXPECT_EQ(reading.shown(Variable::MALLOC_MMAP_THRESHOLD_),
            "MALLOC_MMAP_THRESHOLD_=ULONG_MAX (asked for 204800; "
            "XOS_MMM_L_ARENA_FREE=2 decides)");
}

TEST(EnvTest, NumberOfHeapsHasNoEffectOnAHeapForEachThread) {
  Reading reading({"XOS_MMM_L_ARENA_LOCK_TYPE=0", "XOS_MMM_L_MAX_ARENA_NUM=7"});
  EXPECT_EQ(
      reading.shown(Variable::XOS_MMM_L_MAX_ARENA_NUM),
      "XOS_MMM_L_MAX_ARENA_NUM=7 (no effect: XOS_MMM_L_ARENA_LOCK_TYPE=0)");
}

// PRINT_ENV agrees with the two columns of the table.
TEST(EnvTest, WhatTheTableSaysOfOthersIsSo) {
  for (Variable variable : allVariables()) {
    const Setting &setting = getSetting(variable);
    if (variable == Variable::XOS_MMM_L_HPAGE_TYPE)
      continue;
    std::string given = setting.name + ("=" + otherValue(variable));
    if (hasPart(setting.overriddenBy, "XOS_")) {
      Reading reading({given, setting.overriddenBy});
      EXPECT_TRUE(
          hasPart(reading.shown(variable),
                  std::string("; ") + setting.overriddenBy + " decides)"))
          << reading.shown(variable);
    }
    Reading without({given, "XOS_MMM_L_HPAGE_TYPE=none"});
    EXPECT_EQ(hasPart(setting.needs, "XOS_MMM_L_HPAGE_TYPE=hugetlbfs"),
              hasPart(without.shown(variable), "XOS_MMM_L_HPAGE_TYPE=none"))
        << without.shown(variable);
  }
}

TEST(EnvTest, HpageTypeNoneSwitchesTheVendorsVariablesOff) {
  Reading reading({"XOS_MMM_L_HPAGE_TYPE=none", "XOS_MMM_L_ARENA_FREE=2",
                   "XOS_MMM_L_PAGING_POLICY=demand:demand:demand",
                   "XOS_MMM_L_LPG_MODE=base", "MALLOC_TOP_PAD_=4096",
                   "XOS_MMM_L_PRINT_ENV=on"});
  EXPECT_TRUE(reading.said.empty());
  EXPECT_EQ(reading.config.mode, Mode::none);
  EXPECT_EQ(reading.config.arenaFree, 1u);
  EXPECT_EQ(reading.config.mmapThresholdBytes, 134217728u);
  EXPECT_EQ(reading.config.bssPaging, Paging::prepage);
  EXPECT_EQ(reading.config.topPadBytes, 4096u); // the C library's own
  EXPECT_TRUE(reading.config.printEnv);
}

TEST(EnvTest, LargePagesThatAreSwitchedOffAndAskedForAreTold) {
  Reading reading({"XOS_MMM_L_HPAGE_TYPE=none", "MPG_MODE=hugetlb"});
  ASSERT_EQ(reading.said.size(), 1u);
  EXPECT_TRUE(hasPart(reading.said[0], "MPG_MODE=hugetlb has no effect"));
  EXPECT_EQ(reading.config.mode, Mode::none);
}

TEST(EnvTest, PageSizesThatTheKernelLacksAreToldAndAre2M) {
  const std::pair<const char *, uint64_t> sizes[] = {
      {"32M", 32 << 20},
      {"512M", 512 << 20},
      {"1G", 1 << 30},
      {"16G", uint64_t(16) << 30}};
  for (auto [word, bytes] : sizes) {
    std::string folder = "/sys/kernel/mm/hugepages/hugepages-" +
                         std::to_string(bytes >> 10) + "kB";
    bool isThere = access(folder.c_str(), F_OK) == 0 ||
                   access("/sys/kernel/mm/hugepages", F_OK) != 0;
    std::string entry = std::string("XOS_MMM_L_HUGETLB_SZ=") + word;
    Reading reading({entry});
    EXPECT_EQ(reading.config.hugeBytes, isThere ? bytes : 2 << 20) << word;
    EXPECT_EQ(reading.said.size(), isThere ? 0u : 1u) << word;
    EXPECT_EQ(reading.shown(Variable::XOS_MMM_L_HUGETLB_SZ),
              isThere ? entry
                      : std::string("XOS_MMM_L_HUGETLB_SZ=2M (asked for ") +
                            word + "; the kernel decides)");
    EXPECT_TRUE(Reading({entry, "MPG_MODE=none"}).said.empty());
  }
}

TEST(EnvTest, FirstTouchHoldsWhereLargePagesAreOff) {
  const struct {
    const char *entry;
    TouchMode mode;
  } cases[] = {{"MPG_FIRST_TOUCH=touch", TouchMode::touch},
               {"MPG_FIRST_TOUCH=mbind", TouchMode::mbind},
               {"MPG_FIRST_TOUCH=off", TouchMode::off},
               {"MPG_FIRST_TOUCH=start", TouchMode::start},
               {"MPG_FIRST_TOUCH=none", TouchMode::touch},
               {"MPG_FIRST_TOUCH=", TouchMode::touch},
               {"MPG_FIRST=off", TouchMode::touch}};
  for (const auto &one : cases) {
    const char *environment[] = {one.entry, "MPG_MODE=none", nullptr};
    EXPECT_EQ(readTouchMode(environment), one.mode) << one.entry;
    EXPECT_EQ(Reading({one.entry, "MPG_MODE=none"}).config.firstTouch, one.mode)
        << one.entry;
  }
  EXPECT_EQ(readTouchMode(nullptr), TouchMode::touch);
  EXPECT_EQ(Reading({"MPG_FIRST_TOUCH=none"}).said.size(), 1u);
}

TEST(EnvTest, HeapStepIsAtLeastTwiceTheThreshold) {
  auto heap = [](const char *threshold, const char *size) {
    return Reading({std::string("MALLOC_MMAP_THRESHOLD_=") + threshold,
                    std::string("XOS_MMM_L_HEAP_SIZE_MB=") + size})
        .config.inForce[size_t(Variable::XOS_MMM_L_HEAP_SIZE_MB)];
  };
  EXPECT_EQ(heap("1048576", "1"), 2u);
  EXPECT_EQ(heap("1048577", "1"), 3u);
  EXPECT_EQ(heap("1048576", "9"), 9u);
  EXPECT_EQ(heap("0", "1"), 1u);
  EXPECT_EQ(heap("18446744073709551614", "1"), 17592186044415u);
  EXPECT_EQ(heap("18446744073709551615", "1"), 256u); // no threshold
}

TEST(EnvTest, PerturbIsAByte) {
  Reading reading({"MALLOC_PERTURB_=0x1aa"});
  EXPECT_EQ(reading.config.perturb, 0xaau);
  EXPECT_EQ(reading.shown(Variable::MALLOC_PERTURB_),
            "MALLOC_PERTURB_=170 (asked for 0x1aa; its low byte decides)");
}

// Affected programs

TEST(EnvTest, TargetNamesThisProgramInDecimalOrHexadecimal) {
  struct stat self;
  ASSERT_EQ(stat("/proc/self/exe", &self), 0);
  char decimal[99], hexadecimal[99], other[99];
  snprintf(decimal, sizeof decimal, "MPG_TARGET=%llu:%llu",
           (unsigned long long)self.st_dev, (unsigned long long)self.st_ino);
  snprintf(hexadecimal, sizeof hexadecimal, "MPG_TARGET=0x%llx:0x%llX",
           (unsigned long long)self.st_dev, (unsigned long long)self.st_ino);
  snprintf(other, sizeof other, "MPG_TARGET=%llu:%llu",
           (unsigned long long)self.st_dev,
           (unsigned long long)self.st_ino + 1);
  EXPECT_TRUE(Reading({decimal}).config.isTarget);
  EXPECT_TRUE(Reading({hexadecimal}).config.isTarget);
  EXPECT_FALSE(Reading({other}).config.isTarget);
}

TEST(EnvTest, OneRankOfANodeSpeaks) {
  EXPECT_TRUE(Reading({}).config.speaks);
  for (const char *name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID",
        "PMI_LOCAL_RANK", "PMIX_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
        "PLE_RANK_ON_NODE", "FLIB_RANK_ON_NODE"}) {
    EXPECT_TRUE(Reading({name + std::string("=0")}).config.speaks);
    EXPECT_FALSE(Reading({name + std::string("=1")}).config.speaks) << name;
    EXPECT_FALSE(Reading({name + std::string("=10")}).config.speaks) << name;
  }
  // The launcher that is nearest to the program, not the job around it.
  EXPECT_TRUE(Reading({"SLURM_LOCALID=3", "OMPI_COMM_WORLD_LOCAL_RANK=0"})
                  .config.speaks);
}
