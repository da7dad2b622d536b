// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line that lld gets in place of the user's.

#include "Link/LldCommand.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpg;

using Strings = std::vector<std::string>;

static LinkRequest parsedCommand(std::vector<const char *> args) {
  args.insert(args.begin(), "ld.mpg");
  return cantFail(parseLinkArgs(args));
}

TEST(LldCommand, AdditionsStandWhereTheyWork) {
  LinkRequest request =
      parsedCommand({"-pie", "crt1.o", "a.o", "-lc", "-b", "elf"});
  Additions additions;
  additions.firstObject = "first.o";
  additions.lastObject = "last.o";
  additions.runtimeLibrary = "/p/libmpgrt.so";
  additions.alignSegments = true;
  std::vector<std::string> command = lldCommand(request, additions);
  Strings head(command.begin(), command.begin() + 12);
  EXPECT_EQ(head, (Strings{"ld.lld", "first.o", "--push-state",
                           "--no-as-needed", "/p/libmpgrt.so", "--pop-state",
                           "-pie", "crt1.o", "a.o", "-lc", "-b", "elf"}));
  EXPECT_EQ(command[12], "-z");
  EXPECT_EQ(command[13], "max-page-size=2097152");
  EXPECT_EQ(command[command.size() - 2], "--format=elf");
  EXPECT_EQ(command.back(), "last.o");
}

TEST(LldCommand, AnArchiveOfTheRuntimeIsTakenInAndWrapsWhatItReplaces) {
  Additions additions;
  additions.runtimeLibrary = "/p/libmpgrt.a";
  Strings command = lldCommand(parsedCommand({"-static", "a.o"}), additions);
  EXPECT_EQ(command[1], "--undefined=mpg_start");
  for (std::string name : {"pthread_create", "malloc", "free", "mallopt"}) {
    EXPECT_EQ(llvm::count(command, "--wrap=" + name), 1) << name;
    EXPECT_EQ(llvm::count(command, "--undefined=__wrap_" + name), 1) << name;
  }
  EXPECT_EQ(Strings(command.end() - 6, command.end()),
            (Strings{"--push-state", "--no-as-needed", "/p/libmpgrt.a",
                     "--pop-state", "-static", "a.o"}));
}

TEST(LldCommand, TheFolderOfTheRuntimeComesFirst) {
  Additions additions;
  additions.runtimeLibrary = "/p/libmpgrt.so";
  additions.runtimeFolder = "/p";
  EXPECT_EQ(
      lldCommand(parsedCommand({"a.o", "-rpath", "/own"}), additions),
      (Strings{"ld.lld", "--rpath=/p", "--push-state", "--no-as-needed",
               "/p/libmpgrt.so", "--pop-state", "a.o", "-rpath", "/own"}));
}

TEST(LldCommand, FoldersOfTheLoader) {
  for (const char *folder : {"/lib", "/usr/lib", "/usr/lib64", "/lib64",
                             "/usr/lib/x86_64-linux-gnu"})
    EXPECT_TRUE(isLoaderFolder(folder)) << folder;
  for (const char *folder :
       {"/usr/local/lib", "/usr/lib/mpgtools", "/opt/lib", "", "/usr",
        "/usr/lib/x/x86_64-linux-gnu", "/usr/libexec"})
    EXPECT_FALSE(isLoaderFolder(folder)) << folder;
}

TEST(LldCommand, NothingToAddChangesNothing) {
  EXPECT_EQ(lldCommand(parsedCommand({"-pie", "a.o", "--no-mpg-layout", "-lc"}),
                       Additions()),
            (Strings{"ld.lld", "-pie", "a.o", "-lc"}));
}

TEST(LldCommand, MaxPageSizeIsRaisedAndNeverLowered) {
  auto added = [](const char *page) {
    Additions additions;
    additions.alignSegments = true;
    std::vector<std::string> command =
        lldCommand(parsedCommand({"-z", page, "a.o"}), additions);
    return std::count(command.begin(), command.end(), "max-page-size=2097152");
  };
  EXPECT_EQ(added("max-page-size=65536"), 1);
  EXPECT_EQ(added("max-page-size=0x1fffff"), 1);
  EXPECT_EQ(added("max-page-size=2097152"), 1); // the user's own
  EXPECT_EQ(added("max-page-size=0x200000"), 0);
  EXPECT_EQ(added("max-page-size=4194304"), 0);
}

TEST(LldCommand, VeryLargePagesAreForDataOnly) {
  auto added = [](const char *option) {
    Additions additions;
    additions.alignSegments = true;
    std::vector<std::string> command =
        lldCommand(parsedCommand({option, "a.o"}), additions);
    return command[3]; // ld.lld a.o -z max-page-size=...
  };
  EXPECT_EQ(added("--mpg-huge=32M"), "max-page-size=33554432");
  EXPECT_EQ(added("--mpg-huge=512M"), "max-page-size=2097152");
  EXPECT_EQ(added("--mpg-huge=1G"), "max-page-size=2097152");
}

TEST(LldCommand, ThePassPluginIsAddedWithAndWithoutTheLayout) {
  LinkRequest request = parsedCommand({"a.o", "--load-pass-plugin=/a/b.so"});
  Additions additions;
  additions.passPlugin = "/m/MpgPasses.so";
  EXPECT_EQ(lldCommand(request, additions),
            (Strings{"ld.lld", "--load-pass-plugin=/m/MpgPasses.so", "a.o",
                     "--load-pass-plugin=/a/b.so"}));
  additions.firstObject = "/first";
  additions.alignSegments = true;
  Strings command = lldCommand(request, additions);
  EXPECT_EQ(command[1], "--load-pass-plugin=/m/MpgPasses.so");
}
