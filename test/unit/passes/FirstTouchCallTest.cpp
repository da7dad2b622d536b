// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the call can be inserted and with which numbers. A number that is not
// known there must be an obstacle, not a guess.

#include "openmp/FirstTouchCall.h"
#include "PassModule.h"

using namespace llvm;
using namespace mpg;

namespace {
/// A program whose array %a or @a is used in one region.
struct Calls : PassCore {
  explicit Calls(const std::string &text)
      : PassCore(text), parallel(regions, sampler) {
    for (const ParallelUse &one : parallel.uses)
      if (!use)
        use = &one;
    if (!use) {
      ADD_FAILURE() << "no use";
      return;
    }
    writes = findSerialWrites({use->object->origin}, sampler);
    source = findSource(*use->object);
  }

  FirstTouchCall call() {
    return {*source, *use, writes.empty() ? nullptr : &writes[0], {}, sampler};
  }

  std::string obstacle() {
    return use && source ? call().obstacle() : "no source";
  }

  /// The inserted call; null if there is none.
  CallBase *insert() {
    if (!call().insert())
      return nullptr;
    EXPECT_FALSE(verifyModule(*module, &errs()));
    for (Function &function : *module)
      for (Instruction &one : instructions(function))
        if (auto *found = dyn_cast<CallBase>(&one))
          if (found->getCalledFunction() && found->arg_size() == 6 &&
              function.getName() != found->getCalledFunction()->getName() &&
              found->getCalledFunction()->getName().contains("first_touch") &&
              !function.getName().contains("first_touch"))
            return found;
    return nullptr;
  }

  /// Operands behind the array, as numbers or names.
  std::string operands() {
    CallBase *found = insert();
    std::string text;
    for (unsigned i = 1; found && i < found->arg_size(); ++i) {
      Value *operand = found->getArgOperand(i);
      text += i > 1 ? " " : "";
      if (auto *number = dyn_cast<ConstantInt>(operand))
        text += std::to_string(number->getSExtValue());
      else
        text += operand->hasName() ? operand->getName().str() : "computed";
    }
    return text;
  }

  ParallelUses parallel;
  const ParallelUse *use = nullptr;
  std::vector<SerialWrite> writes;
  std::optional<ArraySource> source;
};
} // namespace

static constexpr char store[] = "%p = getelementptr double, ptr %a, i64 %i\n"
                                "  store double 1.0, ptr %p\n";

/// A region over %n numbers of %a; %m is a parameter for what a test likes.
static std::string region(int schedule = 34, const std::string &chunk = "1",
                          const std::string &inside = store) {
  return text({"body", "ptr %a, i64 %n, i64 %m", "  %last = add i64 %n, -1",
               inside, schedule, chunk});
}

static std::string teamAt(const std::string &array = "%a") {
  return "  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 3, "
         "ptr @body, ptr " +
         array + ", i64 %n, i64 %m)\n";
}

static std::string makeMain(const std::string &lines) {
  return "define i32 @main() {\nentry:\n  %n = call i64 @number()\n"
         "  %bytes = shl i64 %n, 3\n" +
         lines + "  ret i32 0\n}\n";
}

static const std::string allocate = "  %a = call ptr @malloc(i64 %bytes)\n";
static const std::string early = "  %m = call i64 @number()\n";

TEST(FirstTouchCall, Operands) {
  struct {
    const char *name;
    std::string text, operands;
  } cases[] = {
      {"blocks", region() + makeMain(early + allocate + teamAt()),
       "bytes 0 8 0 0"},
      {"constant chunks",
       region(33, "16") + makeMain(early + allocate + teamAt()),
       "bytes 1 8 16 0"},
      {"chunks that are known in time",
       region(33, "%m") + makeMain(early + allocate + teamAt()),
       "bytes 1 8 m 0"},
      {"num_threads",
       region() + makeMain(early + allocate +
                           "  call void @__kmpc_push_num_threads(ptr null, i32 "
                           "0, i32 12)\n" +
                           teamAt()),
       "bytes 0 8 0 12"},
      {"calloc",
       region() + makeMain(early + "  %a = call ptr @calloc(i64 %n, i64 8)\n" +
                           teamAt()),
       "computed 0 8 0 0"},
      {"a step of two numbers",
       region(34, "1",
              "%x = shl i64 %i, 1\n%p = getelementptr double, ptr %a, "
              "i64 %x\nstore double 1.0, ptr %p\n") +
           makeMain(early + allocate + teamAt()),
       "bytes 0 16 0 0"},
      {"rows of m numbers",
       region(34, "1",
              "%x = mul i64 %i, %m\n%p = getelementptr double, ptr %a, "
              "i64 %x\nstore double 1.0, ptr %p\n") +
           makeMain(early + allocate + teamAt()),
       "bytes 0 computed 0 0"},
  };
  for (const auto &one : cases) {
    Calls code(one.text);
    EXPECT_EQ(code.obstacle(), "") << one.name;
    EXPECT_EQ(code.operands(), one.operands) << one.name;
  }
}

TEST(FirstTouchCall, NumbersThatAreNotKnownInTime) {
  struct {
    const char *name;
    std::string text;
    const char *obstacle;
  } cases[] = {
      {"the chunk", region(33, "%m") + makeMain(allocate + early + teamAt()),
       "the size of the chunks is unknown there"},
      {"num_threads",
       region() +
           makeMain(early + allocate +
                    "  %t = call i64 @number()\n  %t32 = trunc i64 %t to "
                    "i32\n  call void @__kmpc_push_num_threads(ptr null, "
                    "i32 0, i32 %t32)\n" +
                    teamAt()),
       "the number of threads is unknown there"},
      // Blocks do without the bytes of an iteration: see the next test.
      {"the step of chunks",
       region(33, "16",
              "%x = mul i64 %i, %m\n%p = getelementptr double, ptr %a, "
              "i64 %x\nstore double 1.0, ptr %p\n") +
           makeMain(allocate + early + teamAt()),
       "the bytes of an iteration are unknown there"},
      {"a chunk that would be divided",
       region(33, "%m") + makeMain("  %u = call i64 @number()\n" + allocate +
                                   "  %m = sdiv i64 64, %u\n" + teamAt()),
       "the size of the chunks is unknown there"},
  };
  for (const auto &one : cases) {
    Calls code(one.text);
    EXPECT_EQ(code.obstacle(), one.obstacle) << one.name;
  }
}

TEST(FirstTouchCall, BlocksOfUnknownIterationsAreEqualParts) {
  Calls code(region(34, "1",
                    "%x = mul i64 %i, %m\n%p = getelementptr double, ptr %a, "
                    "i64 %x\nstore double 1.0, ptr %p\n") +
             makeMain(allocate + early + teamAt()));
  EXPECT_EQ(code.obstacle(), "");
  EXPECT_EQ(code.operands(), "bytes 0 1 0 0");
}

/// Values that are computed only after the allocation, from known ones.
TEST(FirstTouchCall, ComputesAgainWhatIsKnown) {
  Calls code(region(33, "%m") +
             makeMain("  %u = call i64 @number()\n" + allocate +
                      "  %m.addr = alloca i64\n  %half = lshr i64 %u, 1\n"
                      "  store i64 %half, ptr %m.addr\n"
                      "  %m = load i64, ptr %m.addr\n" +
                      teamAt()));
  EXPECT_EQ(code.obstacle(), "");
  EXPECT_EQ(code.operands(), "bytes 1 8 computed 0");
}

TEST(FirstTouchCall, StandsBehindTheAllocation) {
  Calls code(region() + makeMain(early + allocate + teamAt()));
  CallBase *call = code.insert();
  ASSERT_TRUE(call);
  EXPECT_EQ(call->getPrevNode(), &code.value("main/a"));
  EXPECT_EQ(call->getArgOperand(0), &code.value("main/a"));
}

TEST(FirstTouchCall, OnlyIfPosixMemalignSucceeded) {
  Calls code(region() +
             makeMain(early +
                      "  %at = alloca ptr\n  %failed = call i32 "
                      "@posix_memalign(ptr %at, i64 64, i64 %bytes)\n"
                      "  %a = load ptr, ptr %at\n" +
                      teamAt()));
  CallBase *call = code.insert();
  ASSERT_TRUE(call);
  EXPECT_NE(call->getParent(), code.instruction("main/failed").getParent());
  auto *array = dyn_cast<LoadInst>(call->getArgOperand(0));
  ASSERT_TRUE(array);
  EXPECT_EQ(array->getPointerOperand(), &code.value("main/at"));
}

/// A wrapper that returns fresh memory: each caller's array is its own.
TEST(FirstTouchCall, Wrappers) {
  std::string wrapper = "define internal ptr @get(i64 %bytes) {\n"
                        "  %fresh = call ptr @malloc(i64 %bytes)\n"
                        "  ret ptr %fresh\n}\n";
  Calls code(region() + wrapper +
             makeMain(early + "  %a = call ptr @get(i64 %bytes)\n" + teamAt()));
  ASSERT_TRUE(code.source);
  EXPECT_EQ(code.source->site, &code.value("main/a"));
  EXPECT_EQ(code.obstacle(), "");
  EXPECT_EQ(code.operands(), "bytes 0 8 0 0");
  // One that keeps what it returns may return it again.
  std::string keeper = "@kept = internal global ptr null\n"
                       "define internal ptr @get(i64 %bytes) {\n"
                       "  %fresh = call ptr @malloc(i64 %bytes)\n"
                       "  store ptr %fresh, ptr @kept\n"
                       "  %old = load ptr, ptr @kept\n"
                       "  ret ptr %old\n}\n";
  Calls kept(region() + keeper +
             makeMain(early + "  %a = call ptr @get(i64 %bytes)\n" + teamAt()));
  ASSERT_TRUE(kept.source);
  EXPECT_EQ(kept.source->site, &kept.value("get/fresh"));
}

/// No code is possible between a musttail call and the return. More wrappers
/// than the pass follows.
TEST(FirstTouchCall, NothingBehindATailCallThatMustBeOne) {
  std::string wrappers = "define internal ptr @get0(i64 %bytes) {\n"
                         "  %fresh = musttail call ptr @malloc(i64 %bytes)\n"
                         "  ret ptr %fresh\n}\n";
  for (std::string n : {"1", "2", "3"})
    wrappers += "define internal ptr @get" + n +
                "(i64 %bytes) {\n  %fresh = musttail call ptr @get" +
                std::to_string(std::stoi(n) - 1) +
                "(i64 %bytes)\n  ret ptr %fresh\n}\n";
  Calls code(
      region() + wrappers +
      makeMain(early + "  %a = call ptr @get3(i64 %bytes)\n" + teamAt()));
  EXPECT_EQ(code.obstacle(), "a tail call returns it at once");
  Calls fewer(
      region() + wrappers +
      makeMain(early + "  %a = call ptr @get1(i64 %bytes)\n" + teamAt()));
  EXPECT_EQ(fewer.obstacle(), "");
  EXPECT_EQ(fewer.operands(), "bytes 0 8 0 0");
}

static const std::string global =
    "@a = global [1048576 x double] zeroinitializer\n";

static std::string init(const std::string &from = "entry") {
  return loopText("k", from, "1048576",
                  "%q = getelementptr double, ptr @a, i64 %k\n"
                  "store double 0.0, ptr %q");
}

/// A global array is touched in front of the loop that would; and of the loop
/// around it.
TEST(FirstTouchCall, GlobalArrays) {
  Calls code(global + region() + makeMain(early + init() + teamAt("@a")));
  EXPECT_EQ(code.obstacle(), "");
  CallBase *call = code.insert();
  ASSERT_TRUE(call);
  EXPECT_EQ(call->getParent(), code.instruction("main/entry:").getParent());
  EXPECT_EQ(call->getArgOperand(0), code.module->getNamedGlobal("a"));
  EXPECT_EQ(cast<ConstantInt>(call->getArgOperand(1))->getZExtValue(),
            8u << 20);
}

/// A call that could run again checks whether it did.
TEST(FirstTouchCall, GlobalArraysAreTouchedOnce) {
  Calls code(global + region() +
             "define void @work(i64 %n, i64 %m) {\nentry:\n" + init() +
             teamAt("@a") + "  ret void\n}\n");
  CallBase *call = code.insert();
  ASSERT_TRUE(call);
  auto *branch = dyn_cast<BranchInst>(
      call->getParent()->getSinglePredecessor()->getTerminator());
  ASSERT_TRUE(branch);
  EXPECT_TRUE(branch->isConditional());
}

TEST(FirstTouchCall, GlobalArraysThatNobodyInitialises) {
  Calls code(global + region() + makeMain(early + teamAt("@a")));
  EXPECT_EQ(code.obstacle(),
            "there is no place for it in front of the initialisation");
}

TEST(FirstTouchCall, AProgramThatHasTheNameItself) {
  Calls defined(region() +
                "define void @mpg_first_touch(i32 %x) {\n"
                "  ret void\n}\n" +
                makeMain(early + allocate + teamAt()));
  // A function of that name with other operands is not ours.
  EXPECT_EQ(defined.insert(), nullptr);
  Calls data(region() + "@mpg_first_touch = global i64 7\n" +
             makeMain(early + allocate + teamAt()));
  EXPECT_EQ(data.insert(), nullptr);
}

TEST(FirstTouchCall, TwiceIsTwoCallsOfOneFunction) {
  Calls code(region() + makeMain(early + allocate + teamAt()));
  ASSERT_TRUE(code.insert());
  ASSERT_TRUE(code.insert());
  unsigned functions = 0;
  for (Function &one : *code.module)
    functions += one.getName().contains("first_touch");
  EXPECT_EQ(functions, 2u); // the library's, and the one that tests for it
}
