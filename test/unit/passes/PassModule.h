// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small programs in LLVM's text form for tests of the passes' parts: parsed,
// checked, with the analyses that the parts ask for. OpenMP is written as clang
// writes it for libomp; teamLoop() saves the lines that are always the same.

#pragma once

#include "openmp/CallFrames.h"
#include "openmp/Sampler.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueSymbolTable.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace mpg {

/// Functions that every program may call: libomp, allocators, and number(),
/// whose result the module does not determine.
inline constexpr char declarations[] = R"(
target datalayout = "e-m:e-i64:64-i128:128-n8:16:32:64-S128"
declare !callback !0 void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_fork_call_if(ptr, i32, ptr, i32, ptr)
declare void @__kmpc_push_num_threads(ptr, i32, i32)
declare void @__kmpc_for_static_init_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare void @__kmpc_for_static_fini(ptr, i32)
declare void @__kmpc_dispatch_init_8(ptr, i32, i32, i64, i64, i64, i64)
declare i32 @__kmpc_dispatch_next_8(ptr, i32, ptr, ptr, ptr, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare i32 @posix_memalign(ptr, i64, i64)
declare i64 @fread(ptr, i64, i64, ptr)
declare i64 @number()
declare i1 @perhaps()
!0 = !{!1}
!1 = !{i64 2, i64 -1, i64 -1, i1 true}
)";

/// The body of a region with one worksharing loop.
struct TeamLoopText {
  std::string name;
  std::string parameters; ///< after the two thread numbers
  std::string before;     ///< computes %last, the number of the last iteration
  std::string inside;     ///< one iteration, the %i-th; ends in block latch
  int schedule = 34;      ///< libomp's number: 34 blocks, 33 chunks
  std::string chunk = "1";
  std::string latch = "loop"; ///< the block that inside ends in
};

inline std::string text(const TeamLoopText &loop) {
  return "define internal void @" + loop.name + "(ptr %gtid, ptr %btid, " +
         loop.parameters + R"() {
entry:
  %lower = alloca i64
  %upper = alloca i64
  %stride = alloca i64
  %isLast = alloca i32
)" + loop.before +
         R"(
  store i64 0, ptr %lower
  store i64 %last, ptr %upper
  store i64 1, ptr %stride
  store i32 0, ptr %isLast
  call void @__kmpc_for_static_init_8(ptr null, i32 0, i32 )" +
         std::to_string(loop.schedule) +
         R"(, ptr %isLast, ptr %lower, ptr %upper, ptr %stride, i64 1, i64 )" +
         loop.chunk + R"()
  %mine = load i64, ptr %upper
  %end = call i64 @llvm.smin.i64(i64 %mine, i64 %last)
  %begin = load i64, ptr %lower
  br label %loop
loop:
  %i = phi i64 [%begin, %entry], [%next, %)" +
         loop.latch + "]\n" + loop.inside + R"(
  %next = add i64 %i, 1
  %more = icmp slt i64 %i, %end
  br i1 %more, label %loop, label %done
done:
  call void @__kmpc_for_static_fini(ptr null, i32 0)
  ret void
}
)";
}

/// A loop %NAME that runs %NAME.n times, %NAME.n being at least 1, with \p
/// inside in each turn; falls through to block NAME.out. \p from is the block
/// in front of it.
inline std::string loopText(const std::string &name, const std::string &from,
                            const std::string &count, const std::string &inside,
                            const std::string &latch = "") {
  std::string last = latch.empty() ? name + ".head" : latch;
  return "  br label %" + name + ".head\n" + name + ".head:\n  %" + name +
         " = phi i64 [0, %" + from + "], [%" + name + ".next, %" + last +
         "]\n" + inside + "\n  %" + name + ".next = add nuw nsw i64 %" + name +
         ", 1\n  %" + name + ".end = icmp eq i64 %" + name + ".next, " + count +
         "\n  br i1 %" + name + ".end, label %" + name + ".out, label %" +
         name + ".head\n" + name + ".out:\n";
}

/// One parsed program.
struct PassModule {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  llvm::LoopAnalysisManager ofLoops;
  llvm::FunctionAnalysisManager ofFunctions;
  llvm::CGSCCAnalysisManager ofComponents;
  llvm::ModuleAnalysisManager ofModules;

  explicit PassModule(const std::string &text) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(declarations + text, error, context);
    if (!module) {
      std::string message;
      llvm::raw_string_ostream stream(message);
      error.print("test", stream, false);
      ADD_FAILURE() << message;
      module = std::make_unique<llvm::Module>("empty", context);
    }
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    llvm::PassBuilder builder;
    builder.registerModuleAnalyses(ofModules);
    builder.registerCGSCCAnalyses(ofComponents);
    builder.registerFunctionAnalyses(ofFunctions);
    builder.registerLoopAnalyses(ofLoops);
    builder.crossRegisterProxies(ofLoops, ofFunctions, ofComponents, ofModules);
  }

  llvm::Function &function(llvm::StringRef name) {
    llvm::Function *found = module->getFunction(name);
    if (!found)
      llvm::report_fatal_error("no function " + name);
    return *found;
  }

  /// "f/x" is %x of @f, a parameter or the result of an instruction; "f/b:" the
  /// first instruction of block b.
  llvm::Value &value(llvm::StringRef path) {
    auto [where, name] = path.split('/');
    llvm::Function &inside = function(where);
    for (llvm::BasicBlock &block : inside)
      if (name == (block.getName() + ":").str())
        return block.front();
    if (llvm::Value *found = inside.getValueSymbolTable()->lookup(name))
      return *found;
    llvm::report_fatal_error("no value " + path);
  }

  llvm::Instruction &instruction(llvm::StringRef path) {
    return llvm::cast<llvm::Instruction>(value(path));
  }

  /// The \p number-th call of \p callee in \p caller; counted from 0.
  llvm::CallBase &call(llvm::StringRef caller, llvm::StringRef callee,
                       unsigned number = 0) {
    for (llvm::Instruction &one : llvm::instructions(function(caller)))
      if (auto *found = llvm::dyn_cast<llvm::CallBase>(&one))
        if (found->getCalledOperand()->getName() == callee && number-- == 0)
          return *found;
    llvm::report_fatal_error("no such call of " + callee);
  }
};

/// The core of the pass on one program.
struct PassCore : PassModule {
  explicit PassCore(const std::string &text)
      : PassModule(text), regions(findRegions(*module)),
        frames(*module, regions), sampler(*module, ofFunctions, frames) {}

  /// The only call path to \p name that begins at \p from.
  const CallFrame *callPath(llvm::StringRef name,
                            llvm::StringRef from = "main") {
    const CallFrame *found = nullptr;
    for (const CallFrame *path : frames.callPathsTo(function(name))) {
      const CallFrame *outermost = path;
      while (outermost && outermost->outer)
        outermost = outermost->outer;
      if (outermost && outermost->call->getFunction()->getName() == from) {
        EXPECT_EQ(found, nullptr) << "several call paths to " << name.str();
        found = path;
      }
    }
    return found;
  }

  int64_t evaluate(llvm::StringRef path, unsigned seed = 0) {
    EvalContext context;
    context.seed = seed;
    llvm::Value &wanted = value(path);
    if (auto *inside = llvm::dyn_cast<llvm::Instruction>(&wanted))
      context.frame = callPath(inside->getFunction()->getName());
    return sampler.evaluate(&wanted, context);
  }

  llvm::SmallVector<ParallelRegion, 8> regions;
  CallFrames frames;
  Sampler sampler;
};

} // namespace mpg
