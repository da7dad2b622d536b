// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a function is reached. A call path that is forgotten is a size that is
// taken for another one's; one too many costs the compiler's time.

#include "openmp/CallFrames.h"
#include "PassModule.h"

using namespace llvm;
using namespace mpg;

namespace {
struct Paths : PassModule {
  explicit Paths(const std::string &text)
      : PassModule(text), regions(findRegions(*module)),
        frames(*module, regions) {}

  /// Each call path as the functions that it goes through, outermost first; "?"
  /// if there may be callers in front of them.
  std::vector<std::string> to(StringRef name) {
    std::vector<std::string> found;
    for (const CallFrame *path : frames.callPathsTo(function(name))) {
      std::string text = name.str();
      for (; path; path = path->outer)
        text = path->call->getFunction()->getName().str() + ">" + text;
      found.push_back(text);
    }
    llvm::sort(found);
    return found;
  }

  SmallVector<ParallelRegion, 8> regions;
  CallFrames frames;
};
} // namespace

using Names = std::vector<std::string>;

TEST(CallFrames, ChainsOfCalls) {
  Paths paths(R"(
define internal void @leaf() { ret void }
define internal void @left() {
  call void @leaf()
  ret void
}
define internal void @right() {
  call void @leaf()
  call void @leaf()
  ret void
}
define internal void @nobody() { ret void }
define i32 @main() {
  call void @left()
  call void @right()
  ret i32 0
})");
  EXPECT_EQ(paths.to("leaf"),
            (Names{"main>left>leaf", "main>right>leaf", "main>right>leaf"}));
  EXPECT_EQ(paths.to("left"), Names{"main>left"});
  EXPECT_EQ(paths.to("main"), Names{"main"});
  EXPECT_EQ(paths.to("nobody"), Names{"nobody"});
  // Asked again, the same paths: they are compared as pointers.
  EXPECT_EQ(paths.frames.callPathsTo(paths.function("leaf")),
            paths.frames.callPathsTo(paths.function("leaf")));
}

TEST(CallFrames, WhatMayBeCalledFromElsewhereHasACallPathThatIsNotSeen) {
  Paths paths(R"(
@table = global ptr @listed
define void @open() { ret void }
define internal void @listed() { ret void }
define internal void @hidden() { ret void }
declare void @take(ptr)
define i32 @main() {
  call void @open()
  call void @listed()
  call void @hidden()
  ret i32 0
}
define void @_QQmain() {
  call void @open()
  ret void
})");
  EXPECT_EQ(paths.to("open"), (Names{"_QQmain>open", "main>open", "open"}));
  EXPECT_EQ(paths.to("listed"), (Names{"listed", "main>listed"}));
  EXPECT_EQ(paths.to("hidden"), Names{"main>hidden"});
}

TEST(CallFrames, RecursionEnds) {
  Paths paths(R"(
define internal void @self(i64 %n) {
  call void @self(i64 1)
  ret void
}
define internal void @ping() {
  call void @pong()
  ret void
}
define internal void @pong() {
  call void @ping()
  ret void
}
define i32 @main() {
  call void @self(i64 2)
  call void @ping()
  ret i32 0
})");
  EXPECT_EQ(paths.to("self"), (Names{"main>self", "self>self"}));
  EXPECT_EQ(paths.to("ping"), (Names{"main>ping", "ping>pong>ping"}));
}

TEST(CallFrames, NumberAndLengthOfPathsAreBounded) {
  std::string many = "define internal void @leaf() { ret void }\n"
                     "define i32 @main() {\n";
  for (unsigned i = 0; i < 100; ++i)
    many += "  call void @leaf()\n";
  Paths wide(many + "  ret i32 0\n}\n");
  EXPECT_EQ(wide.to("leaf").size(), CallFrames::maxPaths);

  // Three calls of each function by the one above: 3 to the power of 12 paths.
  std::string deep = "define internal void @f0() { ret void }\n";
  for (unsigned i = 1; i <= 12; ++i) {
    std::string call = "  call void @f" + std::to_string(i - 1) + "()\n";
    deep += "define internal void @f" + std::to_string(i) + "() {\n" + call +
            call + call + "  ret void\n}\n";
  }
  Paths tall(deep);
  Names found = tall.to("f0");
  EXPECT_EQ(found.size(), CallFrames::maxPaths);
  for (const std::string &path : found)
    EXPECT_LE(size_t(llvm::count(path, '>')), size_t(CallFrames::maxDepth));
}

TEST(CallFrames, EnteringGoesOnWhereAPathEnded) {
  Paths paths(R"(
define internal void @leaf(i64 %n) { ret void }
define i32 @main() {
  call void @leaf(i64 7)
  ret i32 0
})");
  Function &leaf = paths.function("leaf");
  CallBase &call = paths.call("main", "leaf");
  const CallFrame *frame = paths.frames.enter(call, leaf, nullptr);
  ASSERT_TRUE(frame);
  EXPECT_EQ(paths.frames.callPathsTo(leaf).front(), frame);
  EXPECT_EQ(frame->operandFor(*leaf.getArg(0)), call.getArgOperand(0));
  unsigned depth = 1;
  while ((frame = paths.frames.enter(call, leaf, frame)))
    ASSERT_LT(++depth, 100u);
  EXPECT_EQ(depth, 2 * CallFrames::maxDepth);
}

/// A body that clang also calls directly, for `if`, is reached by one path.
TEST(CallFrames, PathsThroughRegions) {
  Paths paths(R"(
define internal void @work(ptr %p) { ret void }
define internal void @body(ptr %gtid, ptr %btid, ptr %a, i64 %n) {
  call void @work(ptr %a)
  ret void
}
define internal void @solve(ptr %x) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @body, ptr %x, i64 8)
  call void @body(ptr null, ptr null, ptr %x, i64 8)
  ret void
}
define i32 @main() {
  call void @solve(ptr null)
  ret i32 0
})");
  EXPECT_EQ(paths.to("work"), Names{"main>solve>body>work"});
  const CallFrame *path =
      paths.frames.callPathsTo(paths.function("body")).front();
  Function &body = paths.function("body");
  EXPECT_EQ(path->call, &paths.call("solve", "__kmpc_fork_call"));
  EXPECT_EQ(path->operandFor(*body.getArg(0)), nullptr);
  EXPECT_EQ(path->operandFor(*body.getArg(1)), nullptr);
  EXPECT_EQ(path->operandFor(*body.getArg(2)), &paths.value("solve/x"));
  EXPECT_EQ(path->operandFor(*body.getArg(3)), path->call->getArgOperand(4));
}

TEST(CallFrames, WhatRunsInATeam) {
  Paths paths(R"(
@table = global ptr @listed
define internal void @inner() { ret void }
define internal void @both() { ret void }
define internal void @listed() { ret void }
define internal void @serial() { ret void }
define internal void @nobody() { ret void }
define void @open() { ret void }
define internal void @ping() {
  call void @pong()
  ret void
}
define internal void @pong() {
  call void @ping()
  ret void
}
define internal void @body(ptr %gtid, ptr %btid) {
  call void @inner()
  call void @both()
  call void @listed()
  call void @open()
  ret void
}
define i32 @main() {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @body)
  call void @both()
  call void @serial()
  call void @ping()
  ret i32 0
})");
  auto isParallel = [&](StringRef name) {
    return paths.frames.isParallel(paths.function(name));
  };
  EXPECT_TRUE(isParallel("body"));
  EXPECT_TRUE(isParallel("inner"));
  for (const char *name :
       {"both", "listed", "serial", "nobody", "open", "ping", "pong", "main"})
    EXPECT_FALSE(isParallel(name)) << name;
}
