// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which calls give fresh memory. One that is taken for such and is not gets its
// data overwritten by zeros.

#include "openmp/Allocations.h"
#include "PassModule.h"

using namespace llvm;
using namespace mpg;

namespace {
/// The first call of function f in a module with \p declaration.
struct Call : PassModule {
  Call(const std::string &declaration, const std::string &line)
      : PassModule(declaration +
                   "\ndefine void @f(i64 %n, i64 %m, ptr %p) {\n" + line +
                   "\n  ret void\n}\n") {
    for (Instruction &one : instructions(function("f")))
      if (auto *found = dyn_cast<CallBase>(&one))
        call = found;
  }
  std::string getName(const Value *value) const {
    return value ? value->getName().str() : "";
  }

  CallBase *call = nullptr;
};
} // namespace

TEST(Allocations, EachAllocator) {
  struct {
    const char *declaration, *line, *bytes, *count, *result;
  } cases[] = {
      {"", "call ptr @malloc(i64 %n)", "n", "", ""},
      {"", "call ptr @calloc(i64 %n, i64 %m)", "m", "n", ""},
      {"declare ptr @aligned_alloc(i64, i64)",
       "call ptr @aligned_alloc(i64 %n, i64 %m)", "m", "", ""},
      {"declare ptr @memalign(i64, i64)", "call ptr @memalign(i64 %n, i64 %m)",
       "m", "", ""},
      {"declare ptr @valloc(i64)", "call ptr @valloc(i64 %n)", "n", "", ""},
      {"declare ptr @pvalloc(i64)", "call ptr @pvalloc(i64 %n)", "n", "", ""},
      {"", "call i32 @posix_memalign(ptr %p, i64 %n, i64 %m)", "m", "", "p"},
      {"declare ptr @_Znwm(i64)", "call ptr @_Znwm(i64 %n)", "n", "", ""},
      {"declare ptr @_Znam(i64)", "call ptr @_Znam(i64 %n)", "n", "", ""},
      {"declare ptr @_ZnwmRKSt9nothrow_t(i64, ptr)",
       "call ptr @_ZnwmRKSt9nothrow_t(i64 %n, ptr %p)", "n", "", ""},
      {"declare ptr @_ZnamRKSt9nothrow_t(i64, ptr)",
       "call ptr @_ZnamRKSt9nothrow_t(i64 %n, ptr %p)", "n", "", ""},
      {"declare ptr @_ZnwmSt11align_val_t(i64, i64)",
       "call ptr @_ZnwmSt11align_val_t(i64 %n, i64 %m)", "n", "", ""},
      {"declare ptr @_ZnamSt11align_val_t(i64, i64)",
       "call ptr @_ZnamSt11align_val_t(i64 %n, i64 %m)", "n", "", ""},
      {"declare ptr @_ZnwmSt11align_val_tRKSt9nothrow_t(i64, i64, ptr)",
       "call ptr @_ZnwmSt11align_val_tRKSt9nothrow_t(i64 %n, i64 %m, ptr %p)",
       "n", "", ""},
      {"declare ptr @_ZnamSt11align_val_tRKSt9nothrow_t(i64, i64, ptr)",
       "call ptr @_ZnamSt11align_val_tRKSt9nothrow_t(i64 %n, i64 %m, ptr %p)",
       "n", "", ""},
  };
  for (const auto &one : cases) {
    Call code(one.declaration, one.line);
    auto allocation = findAllocation(*code.call);
    ASSERT_TRUE(allocation) << one.line;
    EXPECT_EQ(allocation->call, code.call);
    EXPECT_EQ(code.getName(allocation->bytes), one.bytes) << one.line;
    EXPECT_EQ(code.getName(allocation->count), one.count) << one.line;
    EXPECT_EQ(code.getName(allocation->result), one.result) << one.line;
    EXPECT_EQ(allocation->isZeroed, StringRef(one.line).contains("calloc"))
        << one.line;
  }
}

TEST(Allocations, WhatIsNone) {
  struct {
    const char *declaration, *line;
  } cases[] = {
      {"declare ptr @realloc(ptr, i64)", "call ptr @realloc(ptr %p, i64 %n)"},
      {"declare ptr @reallocarray(ptr, i64, i64)",
       "call ptr @reallocarray(ptr %p, i64 %n, i64 %m)"},
      {"declare ptr @mpg_alloc_onnode(i64, i32)",
       "call ptr @mpg_alloc_onnode(i64 %n, i32 0)"},
      {"declare ptr @malloc_special(i64)", "call ptr @malloc_special(i64 %n)"},
      // The program's own.
      {"define ptr @valloc(i64 %n) { ret ptr null }",
       "call ptr @valloc(i64 %n)"},
      {"define ptr @_Znam(i64 %n) { ret ptr null }", "call ptr @_Znam(i64 %n)"},
      // Through a pointer.
      {"", "call ptr %p(i64 %n)"},
  };
  for (const auto &one : cases) {
    Call code(one.declaration, one.line);
    EXPECT_FALSE(findAllocation(*code.call)) << one.line;
  }
}

/// Functions that only have the name; the call that is inserted behind them
/// would not be valid code.
TEST(Allocations, WrongPrototypes) {
  struct {
    const char *declaration, *line;
  } cases[] = {
      {"declare i64 @valloc(i64)", "call i64 @valloc(i64 %n)"},
      {"declare void @valloc(i64)", "call void @valloc(i64 %n)"},
      {"declare ptr @valloc(ptr)", "call ptr @valloc(ptr %p)"},
      {"declare ptr @valloc(double)", "call ptr @valloc(double 1.0)"},
      {"declare ptr @valloc()", "call ptr @valloc()"},
      {"declare ptr @valloc(i64, i64)", "call ptr @valloc(i64 %n, i64 %m)"},
      {"declare ptr addrspace(1) @valloc(i64)",
       "call ptr addrspace(1) @valloc(i64 %n)"},
      {"declare ptr @valloc(i128)", "call ptr @valloc(i128 1)"},
  };
  for (const auto &one : cases) {
    Call code(one.declaration, one.line);
    EXPECT_FALSE(findAllocation(*code.call)) << one.line;
  }
}

TEST(Allocations, WrongPrototypesOfThoseWithTwoNumbers) {
  SMDiagnostic error;
  for (const char *text : {
           "declare ptr @calloc(i64, ptr)\n"
           "define void @f(ptr %p) {\n"
           "  call ptr @calloc(i64 1, ptr %p)\n  ret void\n}",
           "declare void @posix_memalign(ptr, i64, i64)\n"
           "define void @f(ptr %p) {\n"
           "  call void @posix_memalign(ptr %p, i64 64, i64 1)\n  ret void\n}",
           "declare i32 @posix_memalign(i64, i64, i64)\n"
           "define void @f(ptr %p) {\n"
           "  call i32 @posix_memalign(i64 8, i64 64, i64 1)\n  ret void\n}",
           "declare ptr @calloc(...)\n"
           "define void @f(ptr %p) {\n"
           "  call ptr (...) @calloc(ptr %p, i64 1)\n  ret void\n}",
       }) {
    LLVMContext context;
    auto module = parseAssemblyString(text, error, context);
    ASSERT_TRUE(module) << error.getMessage().str();
    for (Instruction &one : instructions(*module->getFunction("f")))
      if (auto *call = dyn_cast<CallBase>(&one)) {
        EXPECT_FALSE(findAllocation(*call)) << text;
      }
  }
}

TEST(Allocations, WhatEndsTheirLife) {
  struct {
    const char *declaration, *line;
    bool frees, resizes;
  } cases[] = {
      {"declare void @free(ptr)", "call void @free(ptr %p)", true, false},
      {"declare void @_ZdlPv(ptr)", "call void @_ZdlPv(ptr %p)", true, false},
      {"declare void @_ZdaPv(ptr)", "call void @_ZdaPv(ptr %p)", true, false},
      {"declare void @_ZdlPvm(ptr, i64)", "call void @_ZdlPvm(ptr %p, i64 %n)",
       true, false},
      {"declare void @_ZdaPvSt11align_val_t(ptr, i64)",
       "call void @_ZdaPvSt11align_val_t(ptr %p, i64 64)", true, false},
      {"declare ptr @realloc(ptr, i64)", "call ptr @realloc(ptr %p, i64 %n)",
       false, true},
      {"declare ptr @reallocarray(ptr, i64, i64)",
       "call ptr @reallocarray(ptr %p, i64 %n, i64 %m)", false, true},
      {"declare ptr @freopen(ptr, ptr, ptr)",
       "call ptr @freopen(ptr %p, ptr %p, ptr %p)", false, false},
      {"", "call ptr @malloc(i64 %n)", false, false},
      {"", "call void %p(ptr %p)", false, false},
  };
  for (const auto &one : cases) {
    Call code(one.declaration, one.line);
    Value *pointer = &code.value("f/p");
    EXPECT_EQ(freedBy(*code.call), one.frees ? pointer : nullptr) << one.line;
    EXPECT_EQ(reallocatedBy(*code.call), one.resizes ? pointer : nullptr)
        << one.line;
  }
}
