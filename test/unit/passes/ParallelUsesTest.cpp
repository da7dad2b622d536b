// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an array is shared out. A shape that is taken for another one puts every
// page on the wrong thread's node.

#include "openmp/ParallelUses.h"
#include "PassModule.h"

using namespace llvm;
using namespace mpg;

namespace {
struct Uses : PassCore {
  explicit Uses(const std::string &text)
      : PassCore(text), parallel(regions, sampler) {}

  /// The only use at body/p's user of the array that main/\p array allocates.
  const ParallelUse *use(StringRef array = "a") {
    const ParallelUse *found = nullptr;
    for (const ParallelUse &use : parallel.uses)
      if (use.object->origin == &value(("main/" + array).str())) {
        EXPECT_EQ(found, nullptr) << "several uses of " << array.str();
        found = &use;
      }
    return found;
  }

  ParallelUses parallel;
};
} // namespace

static const char *getName(UseShape shape) {
  static const char *const names[] = {"parts",     "backward", "rows",
                                      "scattered", "shared",   "irregular"};
  return names[unsigned(shape)];
}

static std::string describeShape(const ParallelUse *use) {
  return use ? getName(use->shape) : "none";
}

/// A program with an array %a of %n (in main: %bytes) and the region \p loop.
static std::string program(const TeamLoopText &loop,
                           const std::string &bytes = "shl i64 %n, 3",
                           const std::string &others = "") {
  return text(loop) + others + R"(
@index = global [1000 x i64] zeroinitializer
define i32 @main() {
entry:
  %n = call i64 @number()
  %m = call i64 @number()
  %bytes = )" +
         bytes + R"(
  %a = call ptr @malloc(i64 %bytes)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 3, ptr @body, ptr %a, i64 %n, i64 %m)
  ret i32 0
}
)";
}

static TeamLoopText loop(const std::string &inside,
                         const std::string &latch = "loop") {
  return {"body",
          "ptr %a, i64 %n, i64 %m",
          "  %last = add i64 %n, -1",
          inside,
          34,
          "1",
          latch};
}

static constexpr char storeP[] = "\n  store double 1.0, ptr %p\n";

TEST(ParallelUses, ShapesOfOneAccess) {
  struct {
    const char *name, *address, *shape;
  } cases[] = {
      {"a[i]", "%p = getelementptr double, ptr %a, i64 %i", "parts"},
      {"a[i + 1]",
       "%x = add i64 %i, 1\n %p = getelementptr double, ptr %a, i64 %x",
       "parts"},
      {"a[2 * i]",
       "%x = shl i64 %i, 1\n %p = getelementptr double, ptr %a, i64 %x",
       "parts"},
      {"a[n - 1 - i]",
       "%y = add i64 %n, -1\n %x = sub i64 %y, %i\n"
       "%p = getelementptr double, ptr %a, i64 %x",
       "backward"},
      {"a[0]", "%p = getelementptr double, ptr %a, i64 0", "shared"},
      {"a[m]", "%p = getelementptr double, ptr %a, i64 %m", "shared"},
      {"a[index[i]]",
       "%at = getelementptr i64, ptr @index, i64 %i\n %x = load i64, ptr %at\n"
       "%p = getelementptr double, ptr %a, i64 %x",
       "irregular"},
      {"a[i * i]",
       "%x = mul i64 %i, %i\n %p = getelementptr double, ptr %a, i64 %x",
       "irregular"},
      {"a[i % 64]",
       "%x = and i64 %i, 63\n %p = getelementptr double, ptr %a, i64 %x",
       "irregular"},
      {"a[hash of i]",
       "%d = sitofp i64 %i to double\n %x = fptosi double %d to i64\n"
       "%p = getelementptr double, ptr %a, i64 %x",
       "irregular"},
  };
  for (const auto &one : cases) {
    Uses code(program(loop(one.address + std::string(storeP))));
    ASSERT_TRUE(code.use()) << one.name;
    EXPECT_EQ(describeShape(code.use()), one.shape) << one.name;
    EXPECT_TRUE(code.use()->isWrite);
  }
}

TEST(ParallelUses, FiguresOfAPart) {
  Uses code(program(loop("%x = add i64 %i, 2\n"
                         "%p = getelementptr double, ptr %a, i64 %x" +
                         std::string(storeP))));
  const ParallelUse *use = code.use();
  ASSERT_TRUE(use);
  for (unsigned seed : {0u, 1u}) {
    EXPECT_EQ(use->figures[seed].first, 16);
    EXPECT_EQ(use->figures[seed].step, 8);
    EXPECT_EQ(use->figures[seed].extent, 0);
    EXPECT_EQ(use->figures[seed].iterations, code.evaluate("main/n", seed));
    EXPECT_EQ(use->figures[seed].rowStep, 0);
  }
  EXPECT_NE(use->figures[0].iterations, use->figures[1].iterations);
  EXPECT_EQ(use->region->fork, &code.call("main", "__kmpc_fork_call"));
  EXPECT_EQ(use->at->getOpcode(), Instruction::Store);
}

/// %k runs over a row of %m elements within one iteration.
static TeamLoopText nested(const std::string &address) {
  return loop(loopText("k", "loop", "%m", address + storeP), "k.out");
}

TEST(ParallelUses, ShapesOfIterationsWithALoop) {
  struct {
    const char *name, *address, *shape;
  } cases[] = {
      {"a[i][k]",
       "%r = mul i64 %i, %m\n %x = add i64 %r, %k\n"
       "%p = getelementptr double, ptr %a, i64 %x",
       "parts"},
      {"a[k][i]",
       "%r = mul i64 %k, %n\n %x = add i64 %r, %i\n"
       "%p = getelementptr double, ptr %a, i64 %x",
       "scattered"},
      {"a[i][m - 1 - k]",
       "%r = mul i64 %i, %m\n %e = add i64 %m, -1\n %c = sub i64 %e, %k\n"
       "%x = add i64 %r, %c\n %p = getelementptr double, ptr %a, i64 %x",
       "parts"},
      {"a[k]", "%p = getelementptr double, ptr %a, i64 %k", "shared"},
      {"a[i]", "%p = getelementptr double, ptr %a, i64 %i", "parts"},
      // A stencil's halo: rows i and i + 1.
      {"a[i + 1][k]",
       "%j = add i64 %i, 1\n %r = mul i64 %j, %m\n %x = add i64 %r, %k\n"
       "%p = getelementptr double, ptr %a, i64 %x",
       "parts"},
      {"a[n - 1 - i][k]",
       "%e = add i64 %n, -1\n %j = sub i64 %e, %i\n %r = mul i64 %j, %m\n"
       "%x = add i64 %r, %k\n %p = getelementptr double, ptr %a, i64 %x",
       "backward"},
  };
  for (const auto &one : cases) {
    Uses code(program(nested(one.address), "mul i64 %n, %m"));
    ASSERT_TRUE(code.use()) << one.name;
    EXPECT_EQ(describeShape(code.use()), one.shape) << one.name;
    EXPECT_EQ(code.use()->weight, 100u) << one.name;
  }
}

TEST(ParallelUses, FiguresOfARowForEachIteration) {
  Uses code(program(nested("%r = mul i64 %i, %m\n %x = add i64 %r, %k\n"
                           "%p = getelementptr double, ptr %a, i64 %x")));
  const ParallelUse *use = code.use();
  ASSERT_TRUE(use);
  for (unsigned seed : {0u, 1u}) {
    int64_t m = code.evaluate("main/m", seed);
    EXPECT_EQ(use->figures[seed].step, 8 * m);
    EXPECT_EQ(use->figures[seed].extent, 8 * (m - 1));
  }
}

/// A region in a serial loop over %r: each time another row is shared out.
TEST(ParallelUses, RowsOfARepeatedRegion) {
  std::string body = text(loop("%x = add i64 %m, %i\n"
                               "%p = getelementptr double, ptr %a, i64 %x" +
                               std::string(storeP)));
  auto main = [](const std::string &row) {
    return R"(
define i32 @main() {
entry:
  %n = call i64 @number()
  %rows = call i64 @number()
  %elements = mul i64 %n, %rows
  %bytes = shl i64 %elements, 3
  %a = call ptr @malloc(i64 %bytes)
)" +
           loopText(
               "r", "entry", "%rows",
               row +
                   "call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, "
                   "i32 3, ptr @body, ptr %a, i64 %n, i64 %at)") +
           "  ret i32 0\n}\n";
  };
  Uses rows(body + main("%at = mul i64 %r, %n\n"));
  ASSERT_TRUE(rows.use());
  EXPECT_EQ(describeShape(rows.use()), "rows");
  EXPECT_EQ(rows.use()->figures[0].rowStep, 8 * rows.evaluate("main/n"));
  // The same part each time is a time step.
  Uses steps(body + main("%at = mul i64 %n, 0\n"));
  EXPECT_EQ(describeShape(steps.use()), "parts");
  // One element on is a window that slides.
  Uses window(body + main("%at = mul i64 %r, 1\n"));
  EXPECT_EQ(describeShape(window.use()), "irregular");
}

TEST(ParallelUses, TheArraysOfAStepAreBoth) {
  Uses code(text(loop("%p = getelementptr double, ptr %a, i64 %i" +
                      std::string(storeP))) +
            R"(
define i32 @main() {
entry:
  %n = call i64 @number()
  %bytes = shl i64 %n, 3
  %a = call ptr @malloc(i64 %bytes)
  %b = call ptr @malloc(i64 %bytes)
  br label %step
step:
  %new = phi ptr [%a, %entry], [%old, %step]
  %old = phi ptr [%b, %entry], [%new, %step]
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 3, ptr @body, ptr %new, i64 %n, i64 0)
  %more = call i1 @perhaps()
  br i1 %more, label %step, label %out
out:
  ret i32 0
}
)");
  EXPECT_EQ(describeShape(code.use("a")), "parts");
  EXPECT_EQ(describeShape(code.use("b")), "parts");
}

/// The body of the iteration is a function, two calls deep; three are too many.
TEST(ParallelUses, IterationsThatCall) {
  auto calls = [](unsigned depth) {
    std::string functions = "define internal void @f0(ptr %q, i64 %at) {\n"
                            "  %p = getelementptr double, ptr %q, i64 %at\n"
                            "  store double 1.0, ptr %p\n  ret void\n}\n";
    for (unsigned i = 1; i < depth; ++i)
      functions += "define internal void @f" + std::to_string(i) +
                   "(ptr %q, i64 %at) {\n  call void @f" +
                   std::to_string(i - 1) + "(ptr %q, i64 %at)\n  ret void\n}\n";
    return program(
        loop("call void @f" + std::to_string(depth - 1) + "(ptr %a, i64 %i)\n"),
        "shl i64 %n, 3", functions);
  };
  for (unsigned depth : {1u, 2u}) {
    Uses code(calls(depth));
    EXPECT_EQ(describeShape(code.use()), "parts") << depth;
    EXPECT_EQ(code.use()->figures[0].iterations, code.evaluate("main/n"));
  }
  EXPECT_EQ(describeShape(Uses(calls(3)).use()), "none");
}

/// The rows' loop is in the iteration, and what it does in a function.
TEST(ParallelUses, ALoopOfAnIterationAroundACall) {
  std::string function = "define internal void @set(ptr %q, i64 %at) {\n"
                         "  %p = getelementptr double, ptr %q, i64 %at\n"
                         "  store double 1.0, ptr %p\n  ret void\n}\n";
  Uses code(program(loop(loopText("k", "loop", "%m",
                                  "%r = mul i64 %k, %n\n%x = add i64 %r, %i\n"
                                  "call void @set(ptr %a, i64 %x)"),
                         "k.out"),
                    "shl i64 %n, 3", function));
  ASSERT_TRUE(code.use());
  EXPECT_EQ(describeShape(code.use()), "scattered");
  EXPECT_EQ(code.use()->figures[0].extent,
            8 * code.evaluate("main/n") * (code.evaluate("main/m") - 1));
}

TEST(ParallelUses, KindsOfAccess) {
  struct {
    const char *line;
    bool isWrite;
  } cases[] = {
      {"store double 1.0, ptr %p", true},
      {"%x = load double, ptr %p", false},
      {"%x = atomicrmw fadd ptr %p, double 1.0 monotonic", true},
      {"call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8, i1 false)", true},
      {"call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr @index, i64 8, i1 false)",
       true},
      {"call void @llvm.memcpy.p0.p0.i64(ptr @index, ptr %p, i64 8, i1 false)",
       false},
  };
  for (const auto &one : cases) {
    Uses code(program(loop("%p = getelementptr double, ptr %a, i64 %i\n" +
                           std::string(one.line))));
    ASSERT_TRUE(code.use()) << one.line;
    EXPECT_EQ(code.use()->isWrite, one.isWrite) << one.line;
    EXPECT_EQ(describeShape(code.use()), "parts") << one.line;
  }
}

TEST(ParallelUses, ChunksAreTheSchedulesAffair) {
  TeamLoopText chunked =
      loop("%p = getelementptr double, ptr %a, i64 %i" + std::string(storeP));
  chunked.schedule = 33;
  chunked.chunk = "%m";
  Uses code(program(chunked));
  ASSERT_TRUE(code.use());
  EXPECT_EQ(describeShape(code.use()), "parts");
  EXPECT_EQ(code.use()->sharing->schedule, LoopSchedule::chunk);
  EXPECT_EQ(code.use()->sharing->chunk, &code.value("body/m"));
}

TEST(ParallelUses, WhatIsPlaced) {
  Uses code(program(loop("%p = getelementptr double, ptr %a, i64 %i" +
                         std::string(storeP))) +
            R"(
@large = global [524288 x double] zeroinitializer
@small = global [524287 x double] zeroinitializer
@set = global [2 x [262144 x double]] [[262144 x double] zeroinitializer, [262144 x double] undef]
@private = thread_local global [524288 x double] zeroinitializer
@fixed = constant [524288 x double] zeroinitializer
@foreign = external global [524288 x double]
)");
  auto placeable = [&](StringRef name) {
    return isPlaceable({code.module->getNamedGlobal(name), nullptr});
  };
  EXPECT_TRUE(placeable("large"));
  for (const char *name : {"small", "set", "private", "fixed", "foreign"})
    EXPECT_FALSE(placeable(name)) << name;
  EXPECT_TRUE(isPlaceable({&code.value("main/a"), nullptr}));
  EXPECT_FALSE(isPlaceable({&code.value("main/n"), nullptr}));
  EXPECT_FALSE(isPlaceable({&code.value("body/a"), nullptr}));
}

/// Only what worksharing loops do counts, and only in regions.
TEST(ParallelUses, OutsideOfLoops) {
  TeamLoopText outside = loop("");
  outside.before += "\n  store double 1.0, ptr %a";
  EXPECT_EQ(describeShape(Uses(program(outside)).use()), "none");
}
