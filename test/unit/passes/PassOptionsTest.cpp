// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of MPG_PASS_OPTIONS, and what of it reaches a link with LTO.

#include "PassOptions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpg;

static std::string errorOf(StringRef text) {
  PassOptions options;
  return toString(parsePassOptions(text, options));
}

TEST(PassOptions, AllOfThem) {
  PassOptions options;
  EXPECT_EQ(toString(parsePassOptions(
                "sector=off,verify=on, extended=on ,strip-debug=on,"
                "random-hints=0x2a,hints=a.yaml,hints=b c.yaml,"
                "test-place=early,test-place=gep,",
                options)),
            "");
  EXPECT_FALSE(options.userHints);
  EXPECT_TRUE(options.verify);
  EXPECT_TRUE(options.extended);
  EXPECT_TRUE(options.stripDebug);
  EXPECT_EQ(options.randomSeed, 42u);
  EXPECT_EQ(options.hintFiles,
            (std::vector<std::string>{"a.yaml", "b c.yaml"}));
  EXPECT_TRUE(options.placeEarly);
  EXPECT_TRUE(options.formGep);
}

TEST(PassOptions, NothingSaid) {
  PassOptions options;
  EXPECT_EQ(toString(parsePassOptions("", options)), "");
  EXPECT_EQ(toString(parsePassOptions(",,", options)), "");
  EXPECT_TRUE(options.userHints);
  EXPECT_FALSE(options.verify || options.extended || options.stripDebug);
  EXPECT_FALSE(options.randomSeed);
  EXPECT_TRUE(options.hintFiles.empty());
}

TEST(PassOptions, TheLastOneCounts) {
  PassOptions options;
  EXPECT_EQ(toString(parsePassOptions("sector=off,sector=user,verify=on,"
                                      "verify=off,random-hints=1,"
                                      "random-hints=2",
                                      options)),
            "");
  EXPECT_TRUE(options.userHints);
  EXPECT_FALSE(options.verify);
  EXPECT_EQ(options.randomSeed, 2u);
}

TEST(PassOptions, WrongOnesNameWhatCanStandThere) {
  EXPECT_EQ(errorOf("sector=on"), "option sector=on of mpgtools' passes: the "
                                  "value must be off or user");
  EXPECT_NE(errorOf("sector").find("sector="), std::string::npos);
  EXPECT_NE(errorOf("random-hints=-1").find("a number"), std::string::npos);
  EXPECT_NE(errorOf("random-hints=99999999999999999999").find("a number"),
            std::string::npos);
  EXPECT_NE(errorOf("hints=").find("the path"), std::string::npos);
  EXPECT_NE(errorOf("test-place=late").find("early or gep"), std::string::npos);
  std::string unknown = errorOf("verify=on,sectors=off");
  EXPECT_NE(unknown.find("unknown option 'sectors'"), std::string::npos);
  EXPECT_NE(unknown.find("sector, verify,"), std::string::npos);
  EXPECT_NE(errorOf("=on").find("unknown option ''"), std::string::npos);
}

TEST(PassOptions, AreReadAgainFromTheModule) {
  LLVMContext context;
  Module module("m", context);
  EXPECT_TRUE(loadPassOptions(module).userHints);
  PassOptions options;
  options.verify = options.placeEarly = options.formGep = true;
  options.hintFiles = {"a,b.yaml"}; // used up by then
  storePassOptions(module, options);
  PassOptions again = loadPassOptions(module);
  EXPECT_TRUE(again.verify && again.placeEarly && again.formGep);
  EXPECT_TRUE(again.userHints);
  EXPECT_TRUE(again.hintFiles.empty());
  // The second time replaces the first.
  options.userHints = false;
  options.verify = false;
  storePassOptions(module, options);
  EXPECT_FALSE(loadPassOptions(module).userHints);
  EXPECT_FALSE(loadPassOptions(module).verify);
}

TEST(PassOptions, ADamagedModuleHasNone) {
  LLVMContext context;
  Module module("m", context);
  NamedMDNode *node = module.getOrInsertNamedMetadata("mpg.options");
  EXPECT_TRUE(loadPassOptions(module).userHints);
  node->addOperand(MDNode::get(context, {}));
  EXPECT_TRUE(loadPassOptions(module).userHints);
  node->clearOperands();
  node->addOperand(
      MDNode::get(context, MDString::get(context, "no such=thing")));
  EXPECT_TRUE(loadPassOptions(module).userHints);
}
