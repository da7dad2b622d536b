// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of MPG_PASS_OPTIONS, and what of it reaches a link with LTO.

#include "base/PassOptions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

static std::string optionError(StringRef text) {
  PassOptions options;
  return toString(parsePassOptions(text, options));
}

TEST(PassOptions, AllOfThem) {
  PassOptions options;
  EXPECT_EQ(toString(parsePassOptions(
                "sector=off,verify=on, extended=on ,strip-debug=on,"
                "random-hints=0x2a,hints=a.yaml,hints=b c.yaml,"
                "test-place=early,test-place=gep,first-touch=parallel-init",
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
  EXPECT_EQ(options.firstTouch, FirstTouch::parallelInit);
}

TEST(PassOptions, WordsOfFirstTouch) {
  PassOptions options;
  EXPECT_EQ(options.firstTouch, FirstTouch::on);
  EXPECT_EQ(toString(parsePassOptions("first-touch=off", options)), "");
  EXPECT_EQ(options.firstTouch, FirstTouch::off);
  EXPECT_EQ(toString(parsePassOptions("first-touch=remark", options)), "");
  EXPECT_EQ(options.firstTouch, FirstTouch::remark);
  EXPECT_EQ(toString(parsePassOptions("first-touch=on", options)), "");
  EXPECT_EQ(options.firstTouch, FirstTouch::on);
  EXPECT_EQ(optionError("first-touch=parallel"),
            "option first-touch=parallel of mpgtools' passes: the value must "
            "be off, remark, on or parallel-init");
}

TEST(PassOptions, DistancesOfPrefetches) {
  PassOptions options;
  EXPECT_EQ(options.prefetch, Prefetch::off);
  EXPECT_EQ(toString(parsePassOptions("prefetch=far,prefetch-line=0,"
                                      "prefetch-line-l2=500",
                                      options)),
            "");
  EXPECT_EQ(options.prefetch, Prefetch::far);
  EXPECT_EQ(toString(parsePassOptions("prefetch=user", options)), "");
  EXPECT_EQ(options.prefetch, Prefetch::user);
  EXPECT_EQ(options.prefetchLines.l1, 0u);
  EXPECT_EQ(options.prefetchLines.l2, 500u);
  EXPECT_EQ(options.prefetchIndirect, 0u);
  EXPECT_EQ(toString(parsePassOptions("prefetch-indirect=1000", options)), "");
  EXPECT_EQ(options.prefetchIndirect, 1000u);
  for (const char *wrong : {"prefetch=on", "prefetch-line=101",
                            "prefetch-line-l2=501", "prefetch-line=-1",
                            "prefetch-indirect=1001", "prefetch-indirect=on"})
    EXPECT_NE(toString(parsePassOptions(wrong, options)), "");
}

TEST(PassOptions, WordsOfZfill) {
  PassOptions options;
  EXPECT_EQ(toString(parsePassOptions("stream-stores=on", options)), "");
  EXPECT_TRUE(options.streamStores);
  EXPECT_EQ(options.zfill, 0u);
  EXPECT_EQ(toString(parsePassOptions("zfill=7", options)), "");
  EXPECT_EQ(options.zfill, 7u);
  EXPECT_EQ(toString(parsePassOptions("zfill=auto", options)), "");
  EXPECT_EQ(options.zfill, zfillAuto);
  EXPECT_EQ(toString(parsePassOptions("zfill=off", options)), "");
  EXPECT_EQ(options.zfill, 0u);
  for (const char *wrong : {"zfill=0", "zfill=101", "zfill=on", "zfill="})
    EXPECT_EQ(optionError(wrong),
              "option " + std::string(wrong) +
                  " of mpgtools' passes: the value must be off, auto or a "
                  "number of lines from 1 to 100");
  EXPECT_EQ(toString(parsePassOptions("test-zfill=always", options)), "");
  EXPECT_TRUE(options.zfillAlways);
  EXPECT_EQ(toString(parsePassOptions("test-zfill=volatiles", options)), "");
  EXPECT_EQ(options.zfillBreaks, ZfillRule::volatiles);
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
  EXPECT_EQ(optionError("sector=on"),
            "option sector=on of mpgtools' passes: the "
            "value must be off, user or auto");
  EXPECT_NE(optionError("sector").find("sector="), std::string::npos);
  EXPECT_NE(optionError("random-hints=-1").find("a number"), std::string::npos);
  EXPECT_NE(optionError("random-hints=99999999999999999999").find("a number"),
            std::string::npos);
  EXPECT_NE(optionError("hints=").find("the path"), std::string::npos);
  EXPECT_NE(optionError("test-place=late").find("early or gep"),
            std::string::npos);
  std::string unknown = optionError("verify=on,sectors=off");
  EXPECT_NE(unknown.find("unknown option 'sectors'"), std::string::npos);
  EXPECT_NE(unknown.find("sector, verify,"), std::string::npos);
  EXPECT_NE(optionError("=on").find("unknown option ''"), std::string::npos);
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

static void addNode(Module &module, StringRef text) {
  LLVMContext &context = module.getContext();
  module.getOrInsertNamedMetadata("mpg.options")
      ->addOperand(MDNode::get(context, MDString::get(context, text)));
}

TEST(PassOptions, FirstTouchInTheModule) {
  LLVMContext context;
  Module module("m", context);
  for (FirstTouch mode : {FirstTouch::off, FirstTouch::remark, FirstTouch::on,
                          FirstTouch::parallelInit}) {
    PassOptions options;
    options.firstTouch = mode;
    storePassOptions(module, options);
    EXPECT_EQ(loadPassOptions(module).firstTouch, mode);
  }
}

TEST(PassOptions, TheModuleIsStrongerThanTheEnvironment) {
  LLVMContext context;
  Module said("said", context), silent("silent", context);
  PassOptions options;
  options.firstTouch = FirstTouch::remark;
  storePassOptions(said, options);
  setenv("MPG_PASS_OPTIONS", "first-touch=off,sector=off", 1);
  EXPECT_EQ(loadPassOptions(said).firstTouch, FirstTouch::remark);
  EXPECT_EQ(loadPassOptions(silent).firstTouch, FirstTouch::off);
  EXPECT_TRUE(loadPassOptions(silent).userHints);
  setenv("MPG_PASS_OPTIONS", "first-touch=nonsense", 1);
  EXPECT_EQ(loadPassOptions(silent).firstTouch, FirstTouch::on);
  unsetenv("MPG_PASS_OPTIONS");
}

TEST(PassOptions, OfLinkedModulesTheFirstThatSaysSomethingCounts) {
  LLVMContext context;
  Module module("m", context);
  addNode(module, "sector=user");
  addNode(module, "sector=off,first-touch=remark");
  addNode(module, "sector=user,first-touch=off");
  EXPECT_EQ(loadPassOptions(module).firstTouch, FirstTouch::remark);
  EXPECT_TRUE(loadPassOptions(module).userHints);
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
