// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that one thread writes. If a part is taken for the whole, pages
// are touched that the program never would; if the whole is missed, nothing is
// repaired.

#include "openmp/SerialInit.h"
#include "PassModule.h"

using namespace llvm;
using namespace mpg;

namespace {
/// The serial writes to the array main/a.
struct Writes : PassCore {
  explicit Writes(const std::string &text) : PassCore(text) {
    found = findSerialWrites({&value("main/a")}, sampler);
  }

  /// "none", "whole", or "low:high" in 64ths of the array's bytes, in the order
  /// of the code; "?" behind it: with gaps.
  std::string what() {
    std::string text;
    int64_t size = evaluate("main/bytes");
    for (const SerialWrite &write : found) {
      int64_t low = write.low[0] * 64 / size;
      int64_t high = (write.high[0] * 64 + size - 1) / size;
      text += text.empty() ? "" : " ";
      text += low == 0 && high == 64
                  ? "whole"
                  : std::to_string(low) + ":" + std::to_string(high);
      text += write.isDense ? "" : "?";
    }
    return text.empty() ? "none" : text;
  }

  std::vector<SerialWrite> found;
};
} // namespace

/// An array %a of %n numbers, %n being a multiple of 192.
static std::string program(const std::string &lines,
                           const std::string &others = "") {
  return others + R"(
define i32 @main() {
entry:
  %n = call i64 @number()
  %bytes = shl i64 %n, 3
  %a = call ptr @malloc(i64 %bytes)
)" + lines +
         "\n  ret i32 0\n}\n";
}

static std::string store(const std::string &index) {
  return "%p = getelementptr double, ptr %a, i64 " + index +
         "\n  store double 1.0, ptr %p";
}

TEST(SerialInit, Loops) {
  struct {
    const char *name;
    std::string lines, what;
  } cases[] = {
      {"a[i]", loopText("i", "entry", "%n", store("%i")), "whole"},
      {"a[n - 1 - i]",
       loopText("i", "entry", "%n",
                "%e = add i64 %n, -1\n%x = sub i64 %e, %i\n" + store("%x")),
       "whole"},
      {"every 16th",
       "%c = lshr i64 %n, 4\n" +
           loopText("i", "entry", "%c", "%x = shl i64 %i, 4\n" + store("%x")),
       "whole"},
      {"the first half",
       "%c = lshr i64 %n, 1\n" + loopText("i", "entry", "%c", store("%i")),
       "0:32"},
      {"the second half",
       "%c = lshr i64 %n, 1\n" +
           loopText("i", "entry", "%c", "%x = add i64 %i, %c\n" + store("%x")),
       "32:64"},
      {"nothing", "", "none"},
      {"one element", store("5"), "none"},
      {"while (perhaps())",
       "br label %w\nw:\n %i = phi i64 [0, %entry], [%j, %w]\n" + store("%i") +
           "\n%j = add i64 %i, 1\n%c = call i1 @perhaps()\n"
           "br i1 %c, label %w, label %e\ne:",
       "0:1?"},
  };
  for (const auto &one : cases) {
    Writes code(program(one.lines));
    EXPECT_EQ(code.what(), one.what) << one.name;
  }
}

TEST(SerialInit, AnIndexThatIsNotUnderstoodLeavesGaps) {
  Writes code(program(
      loopText("i", "entry", "%n", "%x = call i64 @number()\n" + store("%x"))));
  ASSERT_EQ(code.found.size(), 1u);
  EXPECT_FALSE(code.found[0].isDense);
}

/// A table that is filled at random, or only where something holds.
TEST(SerialInit, ConditionsOnData) {
  auto guarded = [](const std::string &condition) {
    return "br label %h\nh:\n %i = phi i64 [0, %entry], [%j, %l]\n" +
           condition + "\nbr i1 %c, label %s, label %l\ns:\n" + store("%i") +
           "\nbr label %l\nl:\n %j = add nuw nsw i64 %i, 1\n"
           "%e = icmp eq i64 %j, %n\n br i1 %e, label %out, label %h\nout:";
  };
  EXPECT_EQ(Writes(program(guarded("%c = call i1 @perhaps()"))).what(),
            "whole?");
  EXPECT_EQ(Writes(program(guarded("%q = getelementptr double, ptr %a, i64 %i\n"
                                   "%old = load i64, ptr %q\n"
                                   "%c = icmp eq i64 %old, 0")))
                .what(),
            "whole?");
  // Bounds do not leave out pages.
  EXPECT_EQ(Writes(program(guarded("%c = icmp sgt i64 %n, 0"))).what(),
            "whole");
  EXPECT_EQ(Writes(program(guarded("%c = icmp sge i64 %i, 0"))).what(),
            "whole");
}

TEST(SerialInit, SwitchesAreNoBounds) {
  EXPECT_EQ(Writes(program("br label %h\nh:\n"
                           "%i = phi i64 [0, %entry], [%j, %l]\n"
                           "%x = call i64 @number()\n"
                           "switch i64 %x, label %l [ i64 1, label %s ]\ns:\n" +
                           store("%i") +
                           "\nbr label %l\nl:\n %j = add nuw nsw i64 %i, 1\n"
                           "%e = icmp eq i64 %j, %n\n"
                           "br i1 %e, label %out, label %h\nout:"))
                .what(),
            "whole?");
}

/// A matrix of %m rows with %k numbers each; its size is their product.
static std::string matrix(const std::string &inner, const std::string &count) {
  return R"(
define i32 @main() {
entry:
  %m = call i64 @number()
  %k = call i64 @number()
  %n = mul i64 %m, %k
  %bytes = shl i64 %n, 3
  %a = call ptr @malloc(i64 %bytes)
)" +
         loopText("i", "entry", "%m",
                  "%row = mul i64 %i, %k\n" +
                      loopText("j", "i.head", count, inner),
                  "j.out") +
         "  ret i32 0\n}\n";
}

TEST(SerialInit, Matrices) {
  EXPECT_EQ(
      Writes(matrix("%x = add i64 %row, %j\n" + store("%x"), "%k")).what(),
      "whole");
  // Column by column.
  EXPECT_EQ(
      Writes(matrix("%c = mul i64 %j, %m\n%x = add i64 %c, %i\n" + store("%x"),
                    "%k"))
          .what(),
      "whole");
  // The first 8 of each row only: rows have many pages.
  Writes few(matrix("%x = add i64 %row, %j\n" + store("%x"), "8"));
  ASSERT_EQ(few.found.size(), 1u);
  EXPECT_GT(few.found[0].high[0], few.evaluate("main/bytes") * 9 / 10);
  EXPECT_FALSE(few.found[0].isDense);
}

/// Row i has i + 1 numbers.
TEST(SerialInit, Triangles) {
  Writes code(
      R"(
define i32 @main() {
entry:
  %m = call i64 @number()
  %n = mul i64 %m, %m
  %bytes = shl i64 %n, 3
  %a = call ptr @malloc(i64 %bytes)
)" +
      loopText("i", "entry", "%m",
               "%row = mul i64 %i, %m\n%length = add nuw nsw i64 %i, 1\n" +
                   loopText("j", "i.head", "%length",
                            "%x = add i64 %row, %j\n" + store("%x")),
               "j.out") +
      "  ret i32 0\n}\n");
  ASSERT_EQ(code.found.size(), 1u);
  EXPECT_EQ(code.found[0].low[0], 0);
  EXPECT_GT(code.found[0].high[0], code.evaluate("main/bytes") * 63 / 64);
}

TEST(SerialInit, LibraryCalls) {
  struct {
    const char *line, *what;
  } cases[] = {
      {"call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 %bytes, i1 false)",
       "whole"},
      {"call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 %n, i1 false)", "0:8"},
      {"call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %other, i64 %bytes, "
       "i1 false)",
       "whole"},
      {"call void @llvm.memcpy.p0.p0.i64(ptr %other, ptr %a, i64 %bytes, "
       "i1 false)",
       "none"},
      {"call i64 @fread(ptr %a, i64 8, i64 %n, ptr null)", "whole"},
      {"call i64 @fread(ptr %a, i64 %bytes, i64 1, ptr null)", "whole"},
      {"call i64 @fread(ptr %a, i64 1, i64 %n, ptr null)", "0:8"},
      {"call i64 @fread(ptr %other, i64 8, i64 %n, ptr %a)", "none"},
  };
  for (const auto &one : cases) {
    Writes code(program("%other = call ptr @malloc(i64 %bytes)\n" +
                        std::string(one.line)));
    EXPECT_EQ(code.what(), one.what) << one.line;
  }
}

/// Two numbers of a pair by two stores, each of which leaves gaps.
TEST(SerialInit, PairsTouchEveryPage) {
  Writes code(
      program("%c = lshr i64 %n, 1\n" +
              loopText("i", "entry", "%c",
                       "%x = shl i64 %i, 1\n%y = or disjoint i64 %x, 1\n"
                       "%q = getelementptr double, ptr %a, i64 %y\n"
                       "store double 2.0, ptr %q\n" +
                           store("%x"))));
  EXPECT_EQ(code.what(), "whole whole");
}

TEST(SerialInit, SparseWritesLeaveOutPages) {
  auto every = [](unsigned shift) {
    std::string by = std::to_string(shift);
    Writes code(
        program("%c = lshr i64 %n, " + by + "\n" +
                loopText("i", "entry", "%c",
                         "%x = shl i64 %i, " + by + "\n" + store("%x"))));
    return code.found.size() == 1 && code.found[0].isDense;
  };
  EXPECT_TRUE(every(4));
  EXPECT_TRUE(every(9)); // one number in each page
  EXPECT_FALSE(every(10));
}

/// The loop is in a function, with the array and its size as parameters; or
/// around the call.
TEST(SerialInit, ThroughCalls) {
  std::string fill = "define internal void @fill(ptr %a, i64 %n) {\nentry:\n" +
                     loopText("i", "entry", "%n", store("%i")) +
                     "  ret void\n}\n";
  EXPECT_EQ(Writes(program("call void @fill(ptr %a, i64 %n)", fill)).what(),
            "whole");
  std::string one = "define internal void @set(ptr %a, i64 %n) {\n" +
                    store("%n") + "\n  ret void\n}\n";
  EXPECT_EQ(Writes(program(loopText("i", "entry", "%n",
                                    "call void @set(ptr %a, i64 %i)"),
                           one))
                .what(),
            "whole");
}

/// The function that has the loop got the size as a parameter, and calls
/// another one for each element.
TEST(SerialInit, ThroughTwoCalls) {
  std::string functions =
      "define internal void @set(ptr %a, i64 %n) {\n" + store("%n") +
      "\n  ret void\n}\n"
      "define internal void @fill(ptr %a, i64 %n) {\nentry:\n" +
      loopText("i", "entry", "%n", "call void @set(ptr %a, i64 %i)") +
      "  ret void\n}\n";
  EXPECT_EQ(
      Writes(program("call void @fill(ptr %a, i64 %n)", functions)).what(),
      "whole");
}

TEST(SerialInit, WhatTeamsWriteIsNotSerial) {
  std::string body =
      text({"body", "ptr %a, i64 %n", "  %last = add i64 %n, -1", store("%i")});
  EXPECT_EQ(Writes(program("call void (ptr, i32, ptr, ...) @__kmpc_fork_call("
                           "ptr null, i32 2, ptr @body, ptr %a, i64 %n)",
                           body))
                .what(),
            "none");
}

TEST(SerialInit, OnlyWhatWasAskedFor) {
  PassCore code(program(loopText("i", "entry", "%n", store("%i"))));
  EXPECT_TRUE(findSerialWrites({}, code.sampler).empty());
  EXPECT_TRUE(findSerialWrites({&code.value("main/n")}, code.sampler).empty());
}

TEST(SerialInit, TheLoopThatWrites) {
  Writes code(matrix("%x = add i64 %row, %j\n" + store("%x"), "%k"));
  ASSERT_EQ(code.found.size(), 1u);
  const Loop *loop = writingLoop(code.found[0], code.sampler);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->getHeader()->getName(), "i.head");
  // A loop in which the write stays where it is is not the one.
  Writes again(
      program(loopText("t", "entry", "10",
                       loopText("i", "t.head", "%n", store("%i")), "i.out")));
  ASSERT_EQ(again.found.size(), 1u);
  EXPECT_EQ(again.what(), "whole");
  EXPECT_EQ(writingLoop(again.found[0], again.sampler)->getHeader()->getName(),
            "i.head");
}

TEST(SerialInit, Order) {
  PassCore code(R"(
define internal void @deep() {
  %inDeep = call i64 @number()
  ret void
}
define internal void @one() {
  %inOne = call i64 @number()
  call void @deep()
  ret void
}
define internal void @two() {
  %inTwo = call i64 @number()
  ret void
}
define void @open() {
  %inOpen = call i64 @number()
  ret void
}
define i32 @main() {
entry:
  %first = call i64 @number()
  call void @one()
  %c = call i1 @perhaps()
  br i1 %c, label %l, label %r
l:
  %left = call i64 @number()
  br label %e
r:
  %right = call i64 @number()
  br label %e
e:
  call void @two()
  %last = call i64 @number()
  ret i32 0
}
)");
  auto order = [&](StringRef one, StringRef other) {
    Instruction &first = code.instruction(one);
    Instruction &second = code.instruction(other);
    return findOrder(first, code.callPath(first.getFunction()->getName()),
                     second, code.callPath(second.getFunction()->getName()),
                     code.ofFunctions);
  };
  struct {
    const char *one, *other;
  } cases[] = {
      {"main/first", "main/last"},   {"main/first", "main/left"},
      {"main/first", "one/inOne"},   {"one/inOne", "main/last"},
      {"deep/inDeep", "two/inTwo"},  {"one/inOne", "deep/inDeep"},
      {"deep/inDeep", "main/right"},
  };
  for (const auto &one : cases) {
    EXPECT_EQ(order(one.one, one.other), Order::always) << one.one;
    EXPECT_EQ(order(one.other, one.one), Order::never) << one.other;
  }
  EXPECT_EQ(order("main/left", "main/right"), Order::never);
  EXPECT_EQ(order("main/left", "main/last"), Order::maybe);
  // Nothing is known about a function that is not called here.
  EXPECT_EQ(order("main/first", "open/inOpen"), Order::maybe);
  EXPECT_EQ(order("open/inOpen", "main/last"), Order::maybe);
}
