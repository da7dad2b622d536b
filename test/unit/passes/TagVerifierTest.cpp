// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier is the last guard of "no program computes anything else": each
// way in which a tagged pointer can get into something else than an access has
// to be found.

#include "PassModule.h"
#include "tags/TagForm.h"

using namespace llvm;
using namespace mpg;

/// The first escape when %t is tagged in a function with the body \p body; ""
/// if nothing escapes.
static std::string escapeIn(const std::string &body) {
  PassModule code("declare void @take(ptr)\n"
                  "declare <2 x i64> @llvm.masked.load.v2i64.p0("
                  "ptr, i32, <2 x i1>, <2 x i64>)\n"
                  "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
                  "define void @f(ptr %p, ptr %q, i64 %n, i1 %c) {\n"
                  "  %t = getelementptr i8, ptr %p, i64 1\n" +
                  body + "\n  ret void\n}\n");
  const Instruction *escape = findEscape(code.instruction("f/t"));
  return escape ? escape->getOpcodeName() : "";
}

TEST(TagVerifier, AccessesMayHaveATag) {
  for (const char *body : {
           "",
           "load i64, ptr %t",
           "store i64 1, ptr %t",
           "store ptr %q, ptr %t",
           "call void @llvm.prefetch.p0(ptr %t, i32 0, i32 3, i32 1)",
           "call <2 x i64> @llvm.masked.load.v2i64.p0(ptr %t, i32 8, "
           "<2 x i1> zeroinitializer, <2 x i64> zeroinitializer)",
           "%g = getelementptr i64, ptr %t, i64 %n\n load i64, ptr %g",
           "%s = select i1 %c, ptr %t, ptr %t\n load i64, ptr %s",
           "br label %l\nl:\n %x = phi ptr [%t, %0], [%y, %l]\n"
           " store i64 1, ptr %x\n %y = getelementptr i64, ptr %x, i64 1\n"
           " br i1 %c, label %l, label %e\ne:",
       })
    EXPECT_EQ(escapeIn(body), "") << body;
}

TEST(TagVerifier, NothingElseMay) {
  struct {
    const char *body, *escape;
  } cases[] = {
      {"store ptr %t, ptr %q", "store"},
      {"store ptr %t, ptr %t", "store"},
      {"load volatile i64, ptr %t", "load"},
      {"store volatile i64 1, ptr %t", "store"},
      {"load atomic i64, ptr %t monotonic, align 8", "load"},
      {"store atomic i64 1, ptr %t release, align 8", "store"},
      {"atomicrmw add ptr %t, i64 1 seq_cst", "atomicrmw"},
      {"cmpxchg ptr %t, i64 1, i64 2 seq_cst seq_cst", "cmpxchg"},
      {"icmp eq ptr %t, %q", "icmp"},
      {"icmp ult ptr %q, %t", "icmp"},
      {"ptrtoint ptr %t to i64", "ptrtoint"},
      {"call void @take(ptr %t)", "call"},
      {"call void %t()", "call"},
      {"call void @llvm.memset.p0.i64(ptr %t, i8 0, i64 8, i1 false)", "call"},
      {"call void asm sideeffect \"\", \"r\"(ptr %t)", "call"},
      {"addrspacecast ptr %t to ptr addrspace(1)", "addrspacecast"},
      {"insertvalue { ptr, i64 } poison, ptr %t, 0", "insertvalue"},
      {"insertelement <2 x ptr> poison, ptr %t, i64 0", "insertelement"},
      {"freeze ptr %t", "freeze"},
      {"indirectbr ptr %t, [label %l]\nl:", "indirectbr"},
      // Behind a step, a phi or a select.
      {"%g = getelementptr i64, ptr %t, i64 %n\n call void @take(ptr %g)",
       "call"},
      {"%s = select i1 %c, ptr %t, ptr %q\n icmp eq ptr %s, %q", "icmp"},
      {"br label %l\nl:\n %x = phi ptr [%t, %0], [%y, %l]\n"
       " %y = getelementptr i64, ptr %x, i64 1\n %d = icmp eq ptr %y, %q\n"
       " br i1 %d, label %l, label %e\ne:",
       "icmp"},
      // A use that is fine does not hide one that is not.
      {"load i64, ptr %t\n call void @take(ptr %t)", "call"},
  };
  for (const auto &one : cases)
    EXPECT_EQ(escapeIn(one.body), one.escape) << one.body;
}
