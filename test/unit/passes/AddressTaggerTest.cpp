// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The place of a tag: once for each base, outside of all loops that do not
// change it; and the remains of the old computation.

#include "tags/AddressTagger.h"
#include "PassModule.h"
#include "base/Access.h"
#include "tags/TagForm.h"

using namespace llvm;
using namespace mpg;

namespace {
/// A module with one function, all of whose accesses get the tag 0x01, but for
/// those through %plain.
struct Tagged : PassModule {
  SmallVector<Instruction *, 8> tags;
  std::vector<std::string> reasons;

  explicit Tagged(const std::string &text) : PassModule(text) {
    Function &function = this->function("f");
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    AddressTagger tagger(dominators, loops, /*formGep=*/false);
    for (Instruction &instruction : instructions(function)) {
      Use *address = taggableAddress(instruction);
      if (!address || address->get()->getName().starts_with("plain"))
        continue;
      if (const char *reason = tagger.plan(*address, 0x01))
        reasons.push_back(reason);
    }
    tags = tagger.write();
    EXPECT_FALSE(verifyModule(*module, &errs()));
    for (const Instruction *tag : tags)
      EXPECT_EQ(findEscape(*tag), nullptr);
  }

  /// Names of the blocks that tags are put on in.
  std::vector<std::string> places() const {
    std::vector<std::string> names;
    for (const Instruction *tag : tags)
      names.push_back(tag->getParent()->getName().str());
    return names;
  }
};
} // namespace

using Names = std::vector<std::string>;

/// Function f with \p parameter: a loop over %i, and in it \p row and one over
/// %j.
static std::string nest(const std::string &parameter, const std::string &row,
                        const std::string &inner) {
  return "define void @f(" + parameter + ", i64 %n) {\nentry:\n" +
         loopText("i", "entry", "%n",
                  row + loopText("j", "i.head", "%n", inner), "j.out") +
         "  ret void\n}\n";
}

TEST(AddressTagger, OneTagForABaseInFrontOfTheOutermostLoop) {
  Tagged code(nest("ptr %p", "", R"(
  %a = getelementptr inbounds i64, ptr %p, i64 %j
  %x = load i64, ptr %a
  %b = getelementptr inbounds i8, ptr %a, i64 8
  store i64 %x, ptr %b)"));
  EXPECT_EQ(code.places(), Names{"entry"});
  EXPECT_TRUE(code.reasons.empty());
  // The old steps are gone, the new ones promise nothing.
  unsigned steps = 0;
  for (Instruction &one : instructions(code.function("f")))
    if (auto *gep = dyn_cast<GetElementPtrInst>(&one)) {
      ++steps;
      EXPECT_FALSE(gep->isInBounds());
    }
  EXPECT_EQ(steps, 2u);
}

TEST(AddressTagger, ABaseThatTheOuterLoopChanges) {
  Tagged code(nest("ptr %plain", R"(
  %plainSlot = getelementptr ptr, ptr %plain, i64 %i
  %row = load ptr, ptr %plainSlot
)",
                   R"(
  %a = getelementptr i64, ptr %row, i64 %j
  store i64 1, ptr %a)"));
  EXPECT_EQ(code.places(), Names{"i.head"});
}

TEST(AddressTagger, APointerThatWalks) {
  Tagged code(R"(
define void @f(ptr %p, ptr %end) {
entry:
  br label %loop
loop:
  %q = phi ptr [%p, %entry], [%next, %loop]
  store i64 1, ptr %q
  %next = getelementptr i64, ptr %q, i64 1
  %d = icmp eq ptr %next, %end
  br i1 %d, label %out, label %loop
out:
  ret void
})");
  EXPECT_EQ(code.places(), Names{"entry"});
  // The comparison is still one of the plain pointer.
  for (Instruction &one : instructions(code.function("f"))) {
    if (isa<ICmpInst>(one)) {
      EXPECT_EQ(one.getOperand(0)->getName(), "next");
    }
  }
}

TEST(AddressTagger, WithoutALoopNextToTheAccess) {
  Tagged code(R"(
define void @f(ptr %p, i1 %c) {
entry:
  br i1 %c, label %yes, label %out
yes:
  store i64 1, ptr %p
  br label %out
out:
  ret void
})");
  EXPECT_EQ(code.places(), Names{"yes"});
}

TEST(AddressTagger, TwoBranchesShareOneTagAboveThem) {
  Tagged code(R"(
define void @f(ptr %p, i1 %c) {
entry:
  br i1 %c, label %yes, label %no
yes:
  store i64 1, ptr %p
  br label %out
no:
  store i64 2, ptr %p
  br label %out
out:
  ret void
})");
  EXPECT_EQ(code.places(), Names{"entry"});
}

TEST(AddressTagger, WhatStaysWithoutATag) {
  const char *cases[][2] = {
      {"%s = alloca [4 x i64]\n %a = getelementptr i64, ptr %s, i64 %n\n"
       " store i64 1, ptr %a",
       "it is on the stack"},
      {"%s = alloca i64\n %a = select i1 %c, ptr %s, ptr %p\n"
       " store i64 1, ptr %a",
       "it is on the stack"},
      {"store i64 1, ptr inttoptr (i64 4096 to ptr)",
       "its base is a constant address"},
      {"load i64, ptr @f", "its base is not a variable"},
      {"%v = insertelement <2 x ptr> poison, ptr %p, i64 0\n"
       " call <2 x i64> @llvm.masked.gather.v2i64.v2p0(<2 x ptr> %v, i32 8, "
       "<2 x i1> zeroinitializer, <2 x i64> zeroinitializer)",
       "its addresses are a vector of unrelated pointers"},
      {"br label %l\nl:\n %plainq = getelementptr i64, ptr %p, i64 %n\n"
       " %r = load ptr, ptr %plainq\n store i64 1, ptr %r\n"
       " br i1 %c, label %l, label %e\ne:",
       "its base is loaded or computed in the innermost loop, where a tag "
       "would cost an instruction"},
      {"br label %e\ndead:\n store i64 1, ptr %p\n br label %e\ne:",
       "it is never reached"},
  };
  for (const auto &one : cases) {
    Tagged code("declare <2 x i64> @llvm.masked.gather.v2i64.v2p0("
                "<2 x ptr>, i32, <2 x i1>, <2 x i64>)\n"
                "define void @f(ptr %p, i64 %n, i1 %c) {\n " +
                std::string(one[0]) + "\n ret void\n}\n");
    EXPECT_EQ(code.reasons, Names{one[1]}) << one[0];
    EXPECT_TRUE(code.tags.empty()) << one[0];
  }
}

TEST(AddressTagger, PartsOfAGlobalVariable) {
  Tagged code("@g = global [64 x i64] zeroinitializer\n"
              "define void @f(i64 %n) {\nentry:\n" +
              loopText("i", "entry", "%n", R"(
  store i64 1, ptr getelementptr inbounds ([64 x i64], ptr @g, i64 0, i64 5)
  %a = getelementptr inbounds [64 x i64], ptr @g, i64 0, i64 %i
  store i64 2, ptr %a)") +
              "  ret void\n}\n");
  EXPECT_EQ(code.places(), Names{"entry"});
  EXPECT_TRUE(code.reasons.empty());
}
