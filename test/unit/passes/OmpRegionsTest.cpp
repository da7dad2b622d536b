// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenMP in a compiled program: what is missed or attributed to the wrong loop
// here, is placed for the wrong threads.

#include "base/OmpRegions.h"
#include "PassModule.h"

using namespace llvm;
using namespace mpg;

namespace {
/// The worksharing loops of function body.
struct Loops : PassModule {
  explicit Loops(const std::string &text) : PassModule(text) {
    Function &body = function("body");
    dominators = &ofFunctions.getResult<DominatorTreeAnalysis>(body);
    found = findWorksharingLoops(
        body, ofFunctions.getResult<LoopAnalysis>(body), *dominators);
  }

  /// The number of the loop that contains the instruction; -1: none.
  int owner(StringRef path) {
    const WorksharingLoop *loop =
        findWorksharingLoop(instruction(path), found, *dominators);
    return loop ? int(loop - found.data()) : -1;
  }

  std::vector<std::string> listLoops(unsigned number) const {
    std::vector<std::string> names;
    for (const Loop *loop : found[number].loops)
      names.push_back(loop->getHeader()->getName().str());
    return names;
  }

  DominatorTree *dominators;
  SmallVector<WorksharingLoop, 4> found;
};
} // namespace

using Names = std::vector<std::string>;

static std::string body(const std::string &inside, int schedule = 34,
                        const std::string &chunk = "1") {
  return text({"body", "ptr %a, i64 %last", "", inside, schedule, chunk});
}

static constexpr char storeOne[] = R"(
  %p = getelementptr double, ptr %a, i64 %i
  store double 1.0, ptr %p
)";

// Regions

static std::string forks(const std::string &lines) {
  return body(storeOne) +
         "declare void @elsewhere(ptr, ptr, ptr, i64)\n"
         "define void @caller(ptr %a, i64 %n, i32 %t, ptr %f) {\n" +
         lines + "\n  ret void\n}\n";
}

static const std::string regionLine =
    "call void (ptr, i32, ptr, ...) "
    "@__kmpc_fork_call(ptr null, i32 2, ptr @body, "
    "ptr %a, i64 %n)\n";

TEST(OmpRegions, ARegionBindsItsBodysParameters) {
  PassModule code(forks(regionLine));
  auto regions = findRegions(*code.module);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].fork, &code.call("caller", "__kmpc_fork_call"));
  EXPECT_EQ(regions[0].body, &code.function("body"));
  EXPECT_EQ(regions[0].threads, nullptr);
  EXPECT_FALSE(regions[0].hasIf);
  EXPECT_EQ(regions[0].operandFor(0), nullptr);
  EXPECT_EQ(regions[0].operandFor(1), nullptr);
  EXPECT_EQ(regions[0].operandFor(2), &code.value("caller/a"));
  EXPECT_EQ(regions[0].operandFor(3), &code.value("caller/n"));
  EXPECT_EQ(regions[0].operandFor(4), nullptr);
  EXPECT_TRUE(usesOpenMp(*code.module));
}

TEST(OmpRegions, BodiesThatAreNotSeenAreNone) {
  for (const char *body : {"ptr @elsewhere", "ptr %f", "ptr null"}) {
    PassModule code(forks("call void (ptr, i32, ptr, ...) "
                          "@__kmpc_fork_call(ptr null, i32 2, " +
                          std::string(body) + ", ptr %a, i64 %n)\n"));
    EXPECT_TRUE(findRegions(*code.module).empty()) << body;
  }
}

TEST(OmpRegions, AModuleWithout) {
  LLVMContext context;
  Module module("m", context);
  EXPECT_FALSE(usesOpenMp(module));
  EXPECT_TRUE(findRegions(module).empty());
}

TEST(OmpRegions, NumThreadsIsOfTheNextRegionOnly) {
  std::string push =
      "call void @__kmpc_push_num_threads(ptr null, i32 0, i32 %t)\n";
  PassModule code(forks(regionLine + push + regionLine + regionLine + push));
  auto regions = findRegions(*code.module);
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions[0].threads, nullptr);
  EXPECT_EQ(regions[1].threads, &code.value("caller/t"));
  EXPECT_EQ(regions[2].threads, nullptr);
}

/// As clang writes num_threads(t) with if(n > 1000), and a region behind it.
static constexpr char conditional[] = R"(
  call void @__kmpc_push_num_threads(ptr null, i32 0, i32 %t)
  %isMany = icmp sgt i64 %n, 1000
  br i1 %isMany, label %many, label %few
many:
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @body, ptr %a, i64 %n)
  br label %both
few:
  call void @body(ptr null, ptr null, ptr %a, i64 %n)
  br label %both
both:
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @body, ptr %a, i64 %n)
)";

TEST(OmpRegions, NumThreadsInFrontOfAnIf) {
  PassModule code(forks(conditional));
  auto regions = findRegions(*code.module);
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_TRUE(regions[0].hasIf);
  EXPECT_EQ(regions[0].threads, &code.value("caller/t"));
  EXPECT_EQ(regions[1].threads, nullptr);
}

TEST(OmpRegions, FlangsIfIsAnOperand) {
  PassModule code(forks("call void @__kmpc_fork_call_if(ptr null, i32 1, "
                        "ptr @body, i32 1, ptr %a)\n"));
  auto regions = findRegions(*code.module);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_TRUE(regions[0].hasIf);
  EXPECT_EQ(regions[0].operandFor(2), &code.value("caller/a"));
  EXPECT_EQ(regions[0].operandFor(3), nullptr);
}

// Worksharing loops

TEST(OmpRegions, SchedulesOfStaticLoops) {
  struct {
    int number;
    LoopSchedule schedule;
    const char *name;
  } cases[] = {
      {34, LoopSchedule::block, "static"},
      {33, LoopSchedule::chunk, "static, chunk"},
      {34 | 1 << 29, LoopSchedule::block, "static"}, // monotonic
      {33 | 1 << 30, LoopSchedule::chunk, "static, chunk"},
      {65, LoopSchedule::other, "ordered or other"},
  };
  for (const auto &one : cases) {
    Loops loops(body(storeOne, one.number, "%last"));
    ASSERT_EQ(loops.found.size(), 1u);
    const WorksharingLoop &loop = loops.found[0];
    EXPECT_EQ(loop.schedule, one.schedule) << one.number;
    EXPECT_STREQ(loop.name(), one.name);
    bool isChunk = one.schedule == LoopSchedule::chunk;
    EXPECT_EQ(loop.chunk, isChunk ? &loops.value("body/last") : nullptr);
    EXPECT_EQ(loop.last, &loops.value("body/last"));
    EXPECT_EQ(loop.begin, nullptr);
    EXPECT_EQ(loop.lower, &loops.value("body/lower"));
    EXPECT_EQ(loop.upper, &loops.value("body/upper"));
    EXPECT_EQ(loops.listLoops(0), Names{"loop"});
  }
}

/// Two loops that ask for chunks again and again, with \p schedule.
static std::string dispatched(int schedule) {
  std::string all = "define void @body(ptr %a, i64 %first, i64 %last) {\n"
                    "entry:\n  %isLast = alloca i32\n  %stride = alloca i64\n";
  for (std::string n : {"1", "2"})
    all += "  %lower" + n + " = alloca i64\n  %upper" + n + " = alloca i64\n";
  std::string from = "entry";
  for (std::string n : {"1", "2"}) {
    all += "  call void @__kmpc_dispatch_init_8(ptr null, i32 0, i32 " +
           std::to_string(schedule) +
           ", i64 %first, i64 %last, i64 1, i64 4)\n  br label %ask" + n +
           "\nask" + n + ":\n  %got" + n +
           " = call i32 @__kmpc_dispatch_next_8(ptr null, i32 0, ptr %isLast, "
           "ptr %lower" +
           n + ", ptr %upper" + n + ", ptr %stride)\n  %none" + n +
           " = icmp eq i32 %got" + n + ", 0\n  br i1 %none" + n +
           ", label %out" + n + ", label %pre" + n + "\npre" + n +
           ":\n  %from" + n + " = load i64, ptr %lower" + n + "\n  %to" + n +
           " = load i64, ptr %upper" + n + "\n  br label %loop" + n + "\nloop" +
           n + ":\n  %i" + n + " = phi i64 [%from" + n + ", %pre" + n +
           "], [%next" + n + ", %loop" + n + "]\n  %p" + n +
           " = getelementptr double, ptr %a, i64 %i" + n +
           "\n  store double 1.0, ptr %p" + n + "\n  %next" + n +
           " = add i64 %i" + n + ", 1\n  %more" + n + " = icmp slt i64 %i" + n +
           ", %to" + n + "\n  br i1 %more" + n + ", label %loop" + n +
           ", label %ask" + n + "\nout" + n + ":\n";
    from = "out" + n;
  }
  return all + "  ret void\n}\n";
}

TEST(OmpRegions, LoopsThatAskForTheirIterations) {
  struct {
    int number;
    const char *name;
  } cases[] = {
      {35, "dynamic"},           {36, "guided"}, {37, "runtime"}, {38, "auto"},
      {35 | 1 << 30, "dynamic"}, // nonmonotonic, which is the default
  };
  for (const auto &one : cases) {
    Loops loops(dispatched(one.number));
    ASSERT_EQ(loops.found.size(), 2u);
    for (unsigned n : {0u, 1u}) {
      const WorksharingLoop &loop = loops.found[n];
      std::string number = std::to_string(n + 1);
      EXPECT_EQ(loop.schedule, LoopSchedule::other);
      EXPECT_STREQ(loop.name(), one.name);
      EXPECT_EQ(loop.chunk, nullptr);
      EXPECT_EQ(loop.begin, &loops.value("body/first"));
      EXPECT_EQ(loop.last, &loops.value("body/last"));
      EXPECT_EQ(loop.lower, &loops.value("body/lower" + number));
      EXPECT_EQ(loop.upper, &loops.value("body/upper" + number));
      EXPECT_EQ(loops.listLoops(n), (Names{"ask" + number, "loop" + number}));
      EXPECT_EQ(loops.owner("body/p" + number), int(n));
    }
  }
}

TEST(OmpRegions, WhatIsPartOfALoop) {
  Loops loops(body(storeOne));
  EXPECT_EQ(loops.owner("body/p"), 0);
  EXPECT_EQ(loops.owner("body/begin"), 0);
  EXPECT_EQ(loops.owner("body/lower"), -1);
  EXPECT_EQ(loops.instruction("body/done:").getNextNode()->getOpcode(),
            Instruction::Ret);
  EXPECT_EQ(findWorksharingLoop(*loops.instruction("body/done:").getNextNode(),
                                loops.found, *loops.dominators),
            nullptr);
}

TEST(OmpRegions, ALoopInsideOfAnIterationIsNotShared) {
  Loops loops(
      text({"body", "ptr %a, i64 %last", "",
            loopText("k", "loop", "%last", storeOne), 34, "1", "k.out"}));
  ASSERT_EQ(loops.found.size(), 1u);
  EXPECT_EQ(loops.listLoops(0), Names{"loop"});
  EXPECT_EQ(loops.owner("body/p"), 0);
}

/// A body whose loop became a memset: no loop is left.
TEST(OmpRegions, ALoopThatBecameAMemset) {
  Loops loops(R"(
define void @body(ptr %a, i64 %last) {
  %lower = alloca i64
  %upper = alloca i64
  store i64 %last, ptr %upper
  call void @__kmpc_for_static_init_8(ptr null, i32 0, i32 34, ptr null, ptr %lower, ptr %upper, ptr null, i64 1, i64 1)
  %begin = load i64, ptr %lower
  %p = getelementptr double, ptr %a, i64 %begin
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %last, i1 false)
  call void @__kmpc_for_static_fini(ptr null, i32 0)
  %behind = load i64, ptr %a
  ret void
})");
  ASSERT_EQ(loops.found.size(), 1u);
  EXPECT_TRUE(loops.found[0].loops.empty());
  EXPECT_EQ(loops.owner("body/p"), 0);
  EXPECT_EQ(loops.owner("body/behind"), -1);
}

/// A worksharing loop with names that end in \p n, in front of block out$n.
static std::string part(const std::string &n, const std::string &from) {
  return "  store i64 %last" + n + ", ptr %upper" + n +
         "\n  call void @__kmpc_for_static_init_8(ptr null, i32 0, i32 34, "
         "ptr null, ptr %lower" +
         n + ", ptr %upper" + n +
         ", ptr null, i64 1, i64 1)\n"
         "  %begin" +
         n + " = load i64, ptr %lower" + n + "\n  br label %loop" + n +
         "\nloop" + n + ":\n  %i" + n + " = phi i64 [%begin" + n + ", %" +
         from + "], [%next" + n + ", %loop" + n + "]\n  %p" + n +
         " = getelementptr double, ptr %a, i64 %i" + n +
         "\n  store double 1.0, ptr %p" + n + "\n  %next" + n +
         " = add i64 %i" + n + ", 1\n  %more" + n + " = icmp slt i64 %i" + n +
         ", %last" + n + "\n  br i1 %more" + n + ", label %loop" + n +
         ", label %out" + n + "\nout" + n +
         ":\n  call void @__kmpc_for_static_fini(ptr null, i32 0)\n";
}

static const std::string variables = R"(
define void @body(ptr %a, i64 %last1, i64 %last2, i64 %steps) {
entry:
  %lower1 = alloca i64
  %upper1 = alloca i64
  %lower2 = alloca i64
  %upper2 = alloca i64
)";

TEST(OmpRegions, TwoLoopsOfOneRegion) {
  Loops loops(variables + part("1", "entry") + "%between = load i64, ptr %a\n" +
              part("2", "out1") + "  ret void\n}\n");
  ASSERT_EQ(loops.found.size(), 2u);
  EXPECT_EQ(loops.found[0].last, &loops.value("body/last1"));
  EXPECT_EQ(loops.found[1].last, &loops.value("body/last2"));
  EXPECT_EQ(loops.listLoops(0), Names{"loop1"});
  EXPECT_EQ(loops.listLoops(1), Names{"loop2"});
  EXPECT_EQ(loops.owner("body/p1"), 0);
  EXPECT_EQ(loops.owner("body/between"), -1);
  EXPECT_EQ(loops.owner("body/p2"), 1);
}

/// Time steps around two shared loops: the loop over steps belongs to neither.
TEST(OmpRegions, LoopsInsideOfASerialLoop) {
  std::string inside =
      part("1", "t.head") + "%between = load i64, ptr %a\n" + part("2", "out1");
  Loops loops(variables + loopText("t", "entry", "%steps", inside, "out2") +
              "  %behind = load i64, ptr %a\n  ret void\n}\n");
  ASSERT_EQ(loops.found.size(), 2u);
  EXPECT_EQ(loops.listLoops(0), Names{"loop1"});
  EXPECT_EQ(loops.listLoops(1), Names{"loop2"});
  EXPECT_EQ(loops.owner("body/p1"), 0);
  EXPECT_EQ(loops.owner("body/between"), -1);
  EXPECT_EQ(loops.owner("body/p2"), 1);
  EXPECT_EQ(loops.owner("body/behind"), -1);
}

/// A loop that some threads do not enter has its end in another block.
TEST(OmpRegions, BoundsOfALoopUnderACondition) {
  Loops loops(variables + R"(
  store i64 %last1, ptr %upper1
  %any = icmp sgt i64 %last1, 0
  br i1 %any, label %some, label %none
some:
  call void @__kmpc_for_static_init_8(ptr null, i32 0, i32 34, ptr null, ptr %lower1, ptr %upper1, ptr null, i64 1, i64 1)
  %p = load i64, ptr %a
  call void @__kmpc_for_static_fini(ptr null, i32 0)
  br label %none
none:
  %behind = load i64, ptr %a
  ret void
})");
  ASSERT_EQ(loops.found.size(), 1u);
  EXPECT_EQ(loops.found[0].last, &loops.value("body/last1"));
  EXPECT_EQ(loops.owner("body/p"), 0);
  EXPECT_EQ(loops.owner("body/behind"), -1);
}

/// Unreachable code may be its own predecessor.
TEST(OmpRegions, ALoopThatIsNeverReached) {
  Loops loops(variables + R"(
  ret void
never:
  call void @__kmpc_for_static_init_8(ptr null, i32 0, i32 34, ptr null, ptr %lower1, ptr %upper1, ptr null, i64 1, i64 1)
  br label %never
})");
  ASSERT_EQ(loops.found.size(), 1u);
  EXPECT_EQ(loops.found[0].last, nullptr);
}
