// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values for made-up inputs. The results must be those that the program would
// compute from the same inputs, on every path of a value through it.

#include "openmp/Sampler.h"
#include "PassModule.h"

using namespace llvm;
using namespace mpg;

// Arithmetic

static std::string function(const std::string &lines) {
  return "define void @f(i64 %n, i64 %m, i32 %k, ptr %p) {\nentry:\n" + lines +
         "\n  ret void\n}\n";
}

TEST(Sampler, Arithmetic) {
  struct {
    const char *lines;
    int64_t (*expected)(int64_t n, int64_t m);
  } cases[] = {
      {"%v = add i64 %n, %m", [](int64_t n, int64_t m) { return n + m; }},
      {"%v = sub i64 %n, %m", [](int64_t n, int64_t m) { return n - m; }},
      {"%v = mul i64 %n, %m", [](int64_t n, int64_t m) { return n * m; }},
      {"%v = shl i64 %n, 3", [](int64_t n, int64_t) { return n * 8; }},
      {"%v = lshr i64 %n, 3", [](int64_t n, int64_t) { return n / 8; }},
      {"%v = ashr i64 %n, 3", [](int64_t n, int64_t) { return n / 8; }},
      {"%v = sdiv i64 %n, 7", [](int64_t n, int64_t) { return n / 7; }},
      {"%v = udiv i64 %n, %m", [](int64_t n, int64_t m) { return n / m; }},
      {"%v = srem i64 %n, %m", [](int64_t n, int64_t m) { return n % m; }},
      {"%v = urem i64 %n, 7", [](int64_t n, int64_t) { return n % 7; }},
      {"%v = and i64 %n, 255", [](int64_t n, int64_t) { return n & 255; }},
      {"%v = and i64 %n, -256", [](int64_t n, int64_t) { return n & -256; }},
      {"%v = and i64 %n, %m", [](int64_t n, int64_t m) { return n & m; }},
      {"%v = or i64 %n, 7", [](int64_t n, int64_t) { return n | 7; }},
      {"%v = xor i64 %n, -1", [](int64_t n, int64_t) { return ~n; }},
      {"%v = freeze i64 %n", [](int64_t n, int64_t) { return n; }},
      // As a C program computes with int.
      {"%t = trunc i64 %n to i32\n %v = sext i32 %t to i64",
       [](int64_t n, int64_t) { return n; }},
      {"%t = trunc i64 %n to i32\n %d = add nsw i32 %t, -1\n"
       "%v = zext i32 %d to i64",
       [](int64_t n, int64_t) { return n - 1; }},
      {"%s = shl i64 %n, 32\n %v = ashr exact i64 %s, 32",
       [](int64_t n, int64_t) { return n; }},
      {"%s = shl i64 %n, 32\n %v = ashr exact i64 %s, 29",
       [](int64_t n, int64_t) { return n * 8; }},
      {"%v = call i64 @llvm.smin.i64(i64 %n, i64 %m)",
       [](int64_t n, int64_t m) { return std::min(n, m); }},
      {"%v = call i64 @llvm.smax.i64(i64 %n, i64 %m)",
       [](int64_t n, int64_t m) { return std::max(n, m); }},
      {"%v = call i64 @llvm.umin.i64(i64 %n, i64 %m)",
       [](int64_t n, int64_t m) { return std::min(n, m); }},
      {"%v = call i64 @llvm.umax.i64(i64 %n, i64 %m)",
       [](int64_t n, int64_t m) { return std::max(n, m); }},
      {"%x = call i64 @llvm.smax.i64(i64 %n, i64 0)\n%v = sub i64 %x, %m",
       [](int64_t n, int64_t m) { return n - m; }},
      // Row and column of a collapsed loop, and its iteration again.
      {"%row = sdiv i64 %n, %m\n %skip = mul i64 %row, %m\n"
       "%column = sub i64 %n, %skip\n %back = mul i64 %row, %m\n"
       "%v = add i64 %column, %back",
       [](int64_t n, int64_t) { return n; }},
      {"%row = udiv i64 %n, 10\n %skip = mul i64 %row, 10\n"
       "%v = sub i64 %n, %skip",
       [](int64_t n, int64_t) { return n % 10; }},
      // Nothing traps here.
      {"%v = sdiv i64 %n, 0", [](int64_t, int64_t) { return int64_t(0); }},
      {"%v = shl i64 1, %n", [](int64_t, int64_t) { return int64_t(0); }},
  };
  for (const auto &one : cases) {
    PassCore code(function(one.lines));
    for (unsigned seed : {0u, 1u}) {
      int64_t n = code.evaluate("f/n", seed), m = code.evaluate("f/m", seed);
      EXPECT_EQ(code.evaluate("f/v", seed), one.expected(n, m))
          << one.lines << " n " << n << " m " << m;
    }
  }
}

TEST(Sampler, Conditions) {
  struct {
    const char *lines;
    bool isTrue;
  } cases[] = {
      {"%c = icmp sgt i64 %n, 0", true},
      {"%c = icmp sge i64 %n, 1", true},
      {"%c = icmp slt i64 %n, 0", false},
      {"%c = icmp sle i64 %n, 0", false},
      {"%c = icmp ugt i64 %n, 0", true},
      {"%c = icmp uge i64 %n, %n", true},
      {"%c = icmp ult i64 %n, 3", false},
      {"%c = icmp ule i64 %n, %n", true},
      {"%c = icmp eq i64 %n, 0", false},
      {"%c = icmp ne i64 %n, 0", true},
      {"%a = icmp eq i64 %n, 0\n%c = xor i1 %a, true", true},
      {"%a = icmp ne i64 %n, 0\n%c = xor i1 %a, true", false},
      {"%a = icmp ne i64 %n, 0\n%b = icmp eq i64 %m, 0\n%c = and i1 %a, %b",
       false},
      {"%a = icmp ne i64 %n, 0\n%b = icmp ne i64 %m, 0\n%c = and i1 %a, %b",
       true},
      {"%a = icmp ne i64 %n, 0\n%b = icmp eq i64 %m, 0\n%c = or i1 %a, %b",
       true},
      {"%a = icmp eq i64 %n, 0\n%b = icmp eq i64 %m, 0\n%c = or i1 %a, %b",
       false},
      // && and || of C.
      {"%a = icmp ne i64 %n, 0\n%b = icmp ne i64 %m, 0\n"
       "%c = select i1 %a, i1 %b, i1 false",
       true},
      {"%a = icmp ne i64 %n, 0\n%b = icmp eq i64 %m, 0\n"
       "%c = select i1 %a, i1 %b, i1 false",
       false},
      {"%a = icmp eq i64 %n, 0\n%b = icmp ne i64 %m, 0\n"
       "%c = select i1 %a, i1 true, i1 %b",
       true},
      {"%a = icmp eq i64 %n, 0\n%b = icmp eq i64 %m, 0\n"
       "%c = select i1 %a, i1 true, i1 %b",
       false},
      {"%a = icmp ne i64 %n, 0\n%c = icmp eq i1 %a, true", true},
      {"%c = freeze i1 true", true},
  };
  for (const auto &one : cases) {
    PassCore code(function(std::string(one.lines) +
                           "\n%v = select i1 %c, i64 %n, i64 %m"));
    EXPECT_EQ(code.evaluate("f/v"), code.evaluate(one.isTrue ? "f/n" : "f/m"))
        << one.lines;
  }
}

TEST(Sampler, InputsHaveSamplesOfTheirOwn) {
  PassCore code(R"(
define void @f(i64 %n, i64 %m) {
  %x = call i64 @number()
  %y = call i64 @number()
  ret void
}
define void @g(i64 %n) { ret void }
)");
  std::vector<int64_t> seen;
  for (const char *path : {"f/n", "f/m", "f/x", "f/y"})
    for (unsigned seed : {0u, 1u}) {
      int64_t value = code.evaluate(path, seed);
      EXPECT_GT(value, 0);
      EXPECT_LT(value, 1 << 20); // three of them do not overflow
      EXPECT_EQ(value % 64, 0);
      EXPECT_EQ(value, code.evaluate(path, seed));
      seen.push_back(value);
    }
  llvm::sort(seen);
  EXPECT_GE(std::unique(seen.begin(), seen.end()) - seen.begin(), 6);
}

// Through the program

static const std::string program(const std::string &main,
                                 const std::string &others = "") {
  return others + "define i32 @main() {\nentry:\n" + main +
         "\n  ret i32 0\n}\n";
}

TEST(Sampler, WhatFunctionsReturnAndTake) {
  PassCore code(program(R"(
  %n = call i64 @number()
  %square = call i64 @twice(i64 %n)
  %same = call ptr @first(ptr @given, i64 1)
  %six = call i64 @twice(i64 3)
  call void @leaf(i64 %n, i64 %square)
)",
                        R"(
@given = global i64 0
declare ptr @first(ptr returned, i64)
define internal i64 @twice(i64 %x) {
  %y = add i64 %x, %x
  ret i64 %y
}
define internal void @leaf(i64 %a, i64 %b) {
  %v = sub i64 %b, %a
  ret void
}
)"));
  EXPECT_EQ(code.evaluate("main/square"), 2 * code.evaluate("main/n"));
  EXPECT_EQ(code.evaluate("main/six"), 6);
  EXPECT_EQ(code.evaluate("leaf/v"), code.evaluate("main/n"));
  Sampler::Place place = code.sampler.getPlace(code.evaluate("main/same"));
  ASSERT_TRUE(place.object);
  EXPECT_EQ(place.object->origin, code.module->getNamedGlobal("given"));
}

/// A variable that a region sees by reference, as clang captures it.
TEST(Sampler, CapturedByReference) {
  PassCore code(
      program(R"(
  %a.addr = alloca ptr
  %n.addr = alloca i64
  %n = call i64 @number()
  %bytes = shl i64 %n, 3
  %a = call ptr @malloc(i64 %bytes)
  store ptr %a, ptr %a.addr
  store i64 %n, ptr %n.addr
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @body, ptr %a.addr, ptr %n.addr)
)",
              text({"body", "ptr %x, ptr %y", R"(
  %count = load i64, ptr %y
  %base = load ptr, ptr %x
  %last = add i64 %count, -1
)",
                    "%p = getelementptr double, ptr %base, i64 %i"})));
  EXPECT_EQ(code.evaluate("body/count"), code.evaluate("main/n"));
  EXPECT_EQ(code.evaluate("body/base"), code.evaluate("main/a"));
  // The part of iteration 1000, as the thread has it that runs it.
  auto loops = findWorksharingLoops(
      code.function("body"),
      code.ofFunctions.getResult<LoopAnalysis>(code.function("body")),
      code.ofFunctions.getResult<DominatorTreeAnalysis>(code.function("body")));
  EvalContext context;
  context.frame = code.callPath("body");
  context.sharing = &loops[0];
  context.iteration = 1000;
  Sampler::Place place = code.sampler.getPlace(
      code.sampler.evaluate(&code.value("body/p"), context));
  ASSERT_TRUE(place.object);
  EXPECT_EQ(place.object->origin, &code.value("main/a"));
  EXPECT_EQ(place.offset, 8000);
}

static constexpr char fields[] = R"(
%grid = type { ptr, i64, ptr }
define internal void @build(ptr %g, i64 %n) {
  %data.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 0
  %n.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 1
  %bytes = shl i64 %n, 3
  %data = call ptr @malloc(i64 %bytes)
  store ptr %data, ptr %data.at
  store i64 %n, ptr %n.at
  ret void
}
define internal void @use(ptr %g) {
  %data = load ptr, ptr %g
  %at = getelementptr inbounds %grid, ptr %g, i64 0, i32 1
  %count = load i64, ptr %at
  %none.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 2
  %none = load ptr, ptr %none.at
  ret void
}
)";

TEST(Sampler, FieldsOfStructuresThroughArguments) {
  PassCore code(program(R"(
  %g = alloca %grid
  %h = alloca %grid
  %n = call i64 @number()
  call void @build(ptr %g, i64 %n)
  call void @build(ptr %h, i64 1000)
  call void @use(ptr %g)
)",
                        fields));
  EXPECT_EQ(code.evaluate("use/count"), code.evaluate("main/n"));
  Sampler::Place place = code.sampler.getPlace(code.evaluate("use/data"));
  ASSERT_TRUE(place.object);
  EXPECT_EQ(place.object->origin, &code.value("build/data"));
  EXPECT_EQ(place.object->frame->call, &code.call("main", "build"));
  EXPECT_EQ(place.offset, 0);
  // A field that is never set is not a known array.
  EXPECT_NE(code.sampler.getPlace(code.evaluate("use/none")).object,
            place.object);
}

/// The structure itself is in allocated memory, behind a global pointer.
TEST(Sampler, FieldsBehindAPointerInAVariable) {
  PassCore code(
      program(R"(
  %g = call ptr @malloc(i64 24)
  store ptr %g, ptr @grid
  %n = call i64 @number()
  %from = load ptr, ptr @grid
  call void @build(ptr %from, i64 %n)
  %again = load ptr, ptr @grid
  call void @use(ptr %again)
)",
              std::string("@grid = internal global ptr null\n") + fields));
  EXPECT_EQ(code.evaluate("use/count"), code.evaluate("main/n"));
  const MemoryObject *object =
      code.sampler.getPlace(code.evaluate("use/data")).object;
  ASSERT_TRUE(object);
  EXPECT_EQ(object->origin, &code.value("build/data"));
}

TEST(Sampler, PosixMemalignGivesThroughItsOperand) {
  PassCore code(program(R"(
  %a.addr = alloca ptr
  %failed = call i32 @posix_memalign(ptr %a.addr, i64 64, i64 8000)
  %a = load ptr, ptr %a.addr
)"));
  const MemoryObject *object =
      code.sampler.getPlace(code.evaluate("main/a")).object;
  ASSERT_TRUE(object);
  EXPECT_EQ(object->origin, &code.value("main/failed"));
}

/// Two arrays that are swapped after each step: a pointer may be either.
TEST(Sampler, SwappedPointersAreBoth) {
  PassCore code(program(R"(
  %a = call ptr @malloc(i64 80000000)
  %b = call ptr @malloc(i64 80000000)
  br label %step
step:
  %new = phi ptr [%a, %entry], [%old, %step]
  %old = phi ptr [%b, %entry], [%new, %step]
  %more = call i1 @perhaps()
  br i1 %more, label %step, label %out
out:
)"));
  for (const char *path : {"main/new", "main/old"}) {
    std::set<const Value *> seen;
    for (unsigned alternative = 0; alternative < 4; ++alternative) {
      EvalContext context;
      context.alternative = alternative;
      const MemoryObject *object =
          code.sampler
              .getPlace(code.sampler.evaluate(&code.value(path), context))
              .object;
      ASSERT_TRUE(object) << path;
      seen.insert(object->origin);
    }
    EXPECT_EQ(seen, (std::set<const Value *>{&code.value("main/a"),
                                             &code.value("main/b")}))
        << path;
  }
}

TEST(Sampler, StoresThatAreNeverSeen) {
  struct {
    const char *name, *lines, *expected;
  } cases[] = {
      {"one that is replaced",
       "store i64 1, ptr %x\n store i64 2, ptr %x\n %v = load i64, ptr %x",
       "2"},
      {"one behind the load",
       "store i64 1, ptr %x\n %v = load i64, ptr %x\n store i64 2, ptr %x",
       "1"},
      {"one on another branch",
       "%c = call i1 @perhaps()\n br i1 %c, label %l, label %r\n"
       "l:\n store i64 1, ptr %x\n br label %e\n"
       "r:\n store i64 2, ptr %x\n %v = load i64, ptr %x\n br label %e\ne:",
       "2"},
      {"the same twice",
       "%c = call i1 @perhaps()\n store i64 3, ptr %x\n"
       "br i1 %c, label %l, label %e\n"
       "l:\n store i64 3, ptr %x\n br label %e\n"
       "e:\n %v = load i64, ptr %x",
       "3"},
      {"either of two",
       "%c = call i1 @perhaps()\n store i64 1, ptr %x\n"
       "br i1 %c, label %l, label %e\n"
       "l:\n store i64 2, ptr %x\n br label %e\n"
       "e:\n %v = load i64, ptr %x",
       "unknown"},
      {"one behind the load, but in a loop",
       "br label %l\nl:\n %v = load i64, ptr %x\n store i64 2, ptr %x\n"
       "%c = call i1 @perhaps()\n br i1 %c, label %l, label %e\ne:",
       "2"},
      {"one that is behind the load, in a loop, with one in front",
       "store i64 1, ptr %x\n br label %l\n"
       "l:\n %v = load i64, ptr %x\n store i64 2, ptr %x\n"
       "%c = call i1 @perhaps()\n br i1 %c, label %l, label %e\ne:",
       "unknown"},
      // The path of a descriptor: nothing, an array, nothing.
      {"flang's descriptor",
       "store i64 0, ptr %x\n store i64 7, ptr %x\n %v = load i64, ptr %x\n"
       "store i64 0, ptr %x",
       "7"},
  };
  for (const auto &one : cases) {
    PassCore code(program(std::string("%x = alloca i64\n") + one.lines));
    int64_t value = code.evaluate("main/v");
    if (StringRef(one.expected) == "unknown")
      EXPECT_GE(value, 192) << one.name;
    else
      EXPECT_EQ(std::to_string(value), one.expected) << one.name;
  }
}

TEST(Sampler, GlobalVariables) {
  PassCore code(program(R"(
  %constant = load i64, ptr @size
  %initial = load i64, ptr @local
  %open = load i64, ptr @open
  %set = load i64, ptr @set
)",
                        R"(
@size = constant i64 1000
@local = internal global i64 7
@open = global i64 7
@set = internal global i64 7
define void @change() {
  store i64 9, ptr @set
  ret void
}
)"));
  EXPECT_EQ(code.evaluate("main/constant"), 1000);
  EXPECT_EQ(code.evaluate("main/initial"), 7);
  EXPECT_GE(code.evaluate("main/open"), 192); // another module may set it
  EXPECT_EQ(code.evaluate("main/set"), 9);
}

/// Addresses as the linker would compute them.
TEST(Sampler, ConstantAddresses) {
  PassCore code(R"(
@array = global [1000 x double] zeroinitializer
define void @f() {
  %v = freeze ptr getelementptr ([1000 x double], ptr @array, i64 0, i64 10)
  %n = ptrtoint ptr @array to i64
  ret void
}
)");
  Sampler::Place place = code.sampler.getPlace(code.evaluate("f/v"));
  ASSERT_TRUE(place.object);
  EXPECT_EQ(place.object->origin, code.module->getNamedGlobal("array"));
  EXPECT_EQ(place.offset, 80);
  EXPECT_EQ(code.evaluate("f/n") + 80, code.evaluate("f/v"));
}

TEST(Sampler, NoAddress) {
  PassCore code(function("%v = add i64 %n, 1"));
  for (int64_t address :
       {int64_t(0), int64_t(-1), code.evaluate("f/v"), INT64_MIN, INT64_MAX})
    EXPECT_EQ(code.sampler.getPlace(address).object, nullptr) << address;
}

// Loops

TEST(Sampler, TripCounts) {
  PassCore code(
      program("%n = call i64 @number()\n" +
              loopText("i", "entry", "%n",
                       loopText("j", "i.head", "100",
                                "%at = mul i64 %i, 100\n%v = add i64 %at, %j"),
                       "j.out") +
              R"(
  br label %w
w:
  %c = call i1 @perhaps()
  br i1 %c, label %w, label %e
e:
)"));
  Function &main = code.function("main");
  LoopInfo &loops = code.ofFunctions.getResult<LoopAnalysis>(main);
  auto loopAt = [&](StringRef path) {
    return loops.getLoopFor(code.instruction(path).getParent());
  };
  const Loop *outer = loopAt("main/i"), *inner = loopAt("main/j");
  EvalContext context;
  EXPECT_EQ(code.sampler.tripCount(*inner, context), 100);
  EXPECT_EQ(code.sampler.tripCount(*outer, context), code.evaluate("main/n"));
  EXPECT_EQ(code.sampler.tripCount(*loopAt("main/w:"), context), std::nullopt);
  context.turns[outer] = 7;
  context.turns[inner] = 3;
  EXPECT_EQ(code.sampler.evaluate(&code.value("main/v"), context), 703);
}

/// The loop is in a function that called the one that is looked at: the same
/// parameter means the caller's there.
TEST(Sampler, TripCountOfALoopAroundACall) {
  PassCore code(
      program("call void @fill(i64 123)",
              "define internal void @row(i64 %n) { ret void }\n"
              "define internal void @fill(i64 %n) {\nentry:\n" +
                  loopText("i", "entry", "%n", "call void @row(i64 %i)") +
                  "  ret void\n}\n"));
  Function &fill = code.function("fill");
  LoopInfo &loops = code.ofFunctions.getResult<LoopAnalysis>(fill);
  EvalContext context;
  context.frame = code.callPath("row");
  ASSERT_TRUE(context.frame);
  EXPECT_EQ(code.sampler.tripCount(**loops.begin(), context), 123);
}

// Bounds

/// Pointers that are found in the memory that they point to.
TEST(Sampler, CyclesEnd) {
  PassCore code(program(R"(
  %x = alloca ptr
  %y = alloca ptr
  store ptr %x, ptr %x
  %self = load ptr, ptr %x
  %fromY = load ptr, ptr %y
  store ptr %fromY, ptr %y
  br label %l
l:
  %p = phi ptr [%self, %entry], [%q, %l]
  %q = phi ptr [%fromY, %entry], [%p, %l]
  %n = phi i64 [0, %entry], [%m, %l]
  %next = load ptr, ptr %p
  %m = sdiv i64 %n, 3
  %c = icmp eq ptr %next, %q
  br i1 %c, label %l, label %e
e:
)"));
  for (const char *path : {"main/self", "main/fromY", "main/p", "main/q",
                           "main/next", "main/n", "main/m"})
    EXPECT_EQ(code.evaluate(path), code.evaluate(path)) << path;
}

/// Values that are used twice each: 2 to the power of 60 paths, or 20000 steps
/// in a row.
TEST(Sampler, DeepExpressionsStayBounded) {
  for (unsigned depth : {60u, 20000u}) {
    std::string lines = "%v0 = sdiv i64 %n, 3\n";
    for (unsigned i = 1; i <= depth; ++i) {
      std::string before = "%v" + std::to_string(i - 1);
      lines += "%v" + std::to_string(i) + " = xor i64 " + before + ", " +
               before + "\n";
    }
    PassCore code(function(lines));
    EXPECT_EQ(code.evaluate("f/v" + std::to_string(depth)), 0);
  }
}

/// Numbers that are wider than ours.
TEST(Sampler, WideNumbers) {
  PassCore code(function(R"(
  %wide = sext i64 %n to i128
  %large = add i128 %wide, 170141183460469231731687303715884105720
  %odd = mul i128 %wide, 36893488147419103233
  %v = trunc i128 %wide to i64
)"));
  EXPECT_EQ(code.evaluate("f/v"), code.evaluate("f/n"));
  EXPECT_EQ(code.evaluate("f/large"), code.evaluate("f/large"));
  EXPECT_EQ(code.evaluate("f/odd"), code.evaluate("f/odd"));
}
