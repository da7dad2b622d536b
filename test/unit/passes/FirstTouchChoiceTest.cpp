// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of several things that were said counts for an allocation. "off" that
// is overlooked is memory that moves although the user forbade it.

#include "hints/FirstTouchChoice.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpg;

static constexpr char code[] = R"(
@silent = global [8 x double] zeroinitializer
@array = global [8 x double] zeroinitializer #0
@pointer = global ptr null #1
@odd = global ptr null #3
declare ptr @malloc(i64)
declare ptr @shy(i64) #0
define void @plain(ptr %a, ptr "mpg-first-touch"="off" %b) {
  %none = call ptr @malloc(i64 1)
  %own = call ptr @malloc(i64 1) #1
  %callee = call ptr @shy(i64 1)
  %wanted = call ptr @shy(i64 1) #1
  %global = call ptr @malloc(i64 1)
  store ptr %global, ptr @pointer
  %variable = alloca ptr, !mpg.touch !0
  %local = call ptr @malloc(i64 1)
  store ptr %local, ptr %variable
  %into = call ptr @malloc(i64 1)
  store ptr %variable, ptr %into
  %word = call ptr @malloc(i64 1) #3
  ret void
}
define void @careful() #0 {
  %function = call ptr @malloc(i64 1)
  %stronger = call ptr @malloc(i64 1) #1
  ret void
}
attributes #0 = { "mpg-first-touch"="off" }
attributes #1 = { "mpg-first-touch"="on" }
attributes #3 = { "mpg-first-touch"="maybe" }
!0 = !{!"off"}
)";

namespace {
class FirstTouchChoice : public testing::Test {
protected:
  void SetUp() override {
    SMDiagnostic error;
    module = parseAssemblyString(code, error, context);
    ASSERT_TRUE(module) << error.getMessage().str();
  }
  TouchChoice getChoice(StringRef name) {
    for (Function &function : *module)
      for (Instruction &instruction : instructions(function))
        if (instruction.getName() == name)
          return choiceFor(instruction);
    ADD_FAILURE() << name.str() << " is not there";
    return TouchChoice::none;
  }

  LLVMContext context;
  std::unique_ptr<Module> module;
};
} // namespace

TEST_F(FirstTouchChoice, WhatIsNearestToTheAllocationCounts) {
  EXPECT_EQ(getChoice("none"), TouchChoice::none);
  EXPECT_EQ(getChoice("own"), TouchChoice::on);
  EXPECT_EQ(getChoice("callee"), TouchChoice::off);
  EXPECT_EQ(getChoice("wanted"), TouchChoice::on);
  EXPECT_EQ(getChoice("global"), TouchChoice::on);
  EXPECT_EQ(getChoice("local"), TouchChoice::off);
  EXPECT_EQ(getChoice("into"), TouchChoice::none);
  EXPECT_EQ(getChoice("word"), TouchChoice::none);
  EXPECT_EQ(getChoice("function"), TouchChoice::off);
  EXPECT_EQ(getChoice("stronger"), TouchChoice::on);
}

TEST_F(FirstTouchChoice, OfWhatIsNoAllocation) {
  EXPECT_EQ(choiceFor(*module->getNamedGlobal("silent")), TouchChoice::none);
  EXPECT_EQ(choiceFor(*module->getNamedGlobal("array")), TouchChoice::off);
  EXPECT_EQ(choiceFor(*module->getNamedGlobal("pointer")), TouchChoice::on);
  EXPECT_EQ(choiceFor(*module->getNamedGlobal("odd")), TouchChoice::none);
  Function &plain = *module->getFunction("plain");
  EXPECT_EQ(choiceFor(*plain.getArg(0)), TouchChoice::none);
  EXPECT_EQ(choiceFor(*plain.getArg(1)), TouchChoice::off);
  EXPECT_EQ(choiceFor(plain), TouchChoice::none);
  EXPECT_EQ(choiceFor(*module->getFunction("careful")), TouchChoice::off);
}

TEST_F(FirstTouchChoice, TheLastOneThatIsSetCounts) {
  Function &plain = *module->getFunction("plain");
  for (TouchChoice choice : {TouchChoice::on, TouchChoice::off}) {
    setChoice(plain, choice);
    EXPECT_EQ(choiceFor(plain), choice);
    setChoice(*plain.getArg(0), choice);
    EXPECT_EQ(choiceFor(*plain.getArg(0)), choice);
    GlobalVariable &global = *module->getNamedGlobal("silent");
    setChoice(global, choice);
    EXPECT_EQ(choiceFor(global), choice);
    EXPECT_EQ(getChoice("none"), choice);
  }
}
