// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of ld.mpg: what it is understood to ask for.

#include "Link/DriverArgs.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpg;

static LinkRequest parsed(std::vector<const char *> args) {
  args.insert(args.begin(), "/opt/bin/ld.mpg");
  Expected<LinkRequest> request = parseLinkArgs(args);
  if (request)
    return std::move(*request);
  ADD_FAILURE() << toString(request.takeError());
  return LinkRequest();
}

static std::string argumentError(std::vector<const char *> args) {
  args.insert(args.begin(), "ld.mpg");
  Expected<LinkRequest> request = parseLinkArgs(args);
  if (!request)
    return toString(request.takeError());
  return "no error";
}

static std::vector<std::string> joinNames(const LinkRequest &request) {
  std::vector<std::string> names;
  for (const LinkInput &input : request.inputs)
    names.push_back((input.isLibrary ? "-l" : "") + input.name);
  return names;
}

using Strings = std::vector<std::string>;

TEST(DriverArgs, DefaultsAreTheLayoutOf2MiBAndStrict) {
  LinkRequest request = parsed({"a.o"});
  EXPECT_TRUE(request.layout);
  EXPECT_EQ(request.hugeBytes, 2u << 20);
  EXPECT_EQ(request.minBytes, 2u << 20);
  EXPECT_EQ(request.promise, LayoutPromise::strict);
  EXPECT_EQ(request.runtime, RuntimeChoice::automatic);
  EXPECT_EQ(request.output, OutputKind::program);
  EXPECT_EQ(request.outputPath, "a.out");
}

TEST(DriverArgs, OwnOptionsAreTakenOutOfLldsCommandLine) {
  LinkRequest request =
      parsed({"--mpg-huge=512M", "a.o", "--mpg-min=64k", "-o", "out",
              "--mpg-layout=best-effort", "--mpg-runtime=no"});
  EXPECT_EQ(request.hugeBytes, 512u << 20);
  EXPECT_EQ(request.minBytes, 64u << 10);
  EXPECT_EQ(request.promise, LayoutPromise::bestEffort);
  EXPECT_EQ(request.runtime, RuntimeChoice::no);
  // lld finds out from the first word which linker it is to be, and names
  // itself by it in messages.
  EXPECT_EQ(request.lldArgs, (Strings{"ld.lld", "a.o", "-o", "out"}));
}

TEST(DriverArgs, AnOwnOptionAsTheValueOfAnotherIsAValue) {
  LinkRequest request = parsed({"a.o", "-soname", "--mpg-huge=3M"});
  EXPECT_EQ(request.lldArgs,
            (Strings{"ld.lld", "a.o", "-soname", "--mpg-huge=3M"}));
}

TEST(DriverArgs, SizesOfLargePages) {
  const std::pair<const char *, uint64_t> good[] = {
      {"--mpg-huge=2M", 2 << 20},       {"--mpg-huge=32m", 32 << 20},
      {"--mpg-huge=0x200000", 2 << 20}, {"--mpg-huge=2048K", 2 << 20},
      {"--mpg-huge=1G", 1 << 30},       {"--mpg-huge=1073741824", 1 << 30}};
  for (auto [option, bytes] : good)
    EXPECT_EQ(parsed({option, "a.o"}).hugeBytes, bytes) << option;
  for (const char *option :
       {"--mpg-huge=3M", "--mpg-huge=4M", "--mpg-huge=2097153", "--mpg-huge=0",
        "--mpg-huge=4096", "--mpg-huge=2G"})
    EXPECT_NE(argumentError({option}).find("power of two"), std::string::npos)
        << option;
  for (const char *option :
       {"--mpg-huge=", "--mpg-huge=M", "--mpg-huge=2X", "--mpg-huge=-2M",
        "--mpg-huge=99999999999999999G", "--mpg-min=1.5M", "--mpg-min=many"})
    EXPECT_NE(argumentError({option}).find("not a number of bytes"),
              std::string::npos)
        << option;
}

TEST(DriverArgs, UnknownOptionsNameTheNearest) {
  EXPECT_EQ(argumentError({"--mpg-hugh=2M"}),
            "unknown option '--mpg-hugh=2M', did you mean '--mpg-huge='?");
  EXPECT_EQ(argumentError({"-mpg-min=3"}),
            "unknown option '-mpg-min=3', did you mean '--mpg-min='?");
  EXPECT_EQ(argumentError({"--no-mpg-layuot"}),
            "unknown option '--no-mpg-layuot', did you mean "
            "'--no-mpg-layout'?");
  EXPECT_EQ(argumentError({"--mpg-completely-different"}),
            "unknown option '--mpg-completely-different'; ld.mpg's own "
            "options are in --help");
  EXPECT_NE(argumentError({"--mpg-layout=lax"}).find("strict or best-effort"),
            std::string::npos);
  EXPECT_NE(argumentError({"--mpg-runtime=maybe"}).find("auto, yes or no"),
            std::string::npos);
}

TEST(DriverArgs, ValuesOfOptionsAreNoInputs) {
  EXPECT_EQ(joinNames(parsed({"-m",        "elf_x86_64", "-melf_x86_64",
                              "-o",        "x",          "-ox",
                              "-z",        "now",        "-znow",
                              "-e",        "main",       "-rpath",
                              "/a",        "-soname",    "s",
                              "-h",        "s",          "--dependency-file",
                              "d",         "-mllvm",     "-x",
                              "-plugin",   "p",          "-plugin-opt",
                              "q",         "-y",         "f",
                              "--defsym",  "a=b",        "-Tdata",
                              "0x1",       "--sysroot",  "/s",
                              "--Map",     "m",          "-u",
                              "f",         "-O",         "2",
                              "-O2",       "--threads",  "2",
                              "--shared",  "-Bsymbolic", "-export-dynamic",
                              "--end-lib", "a.o"})),
            (Strings{"a.o"}));
}

TEST(DriverArgs, InputsAreInOrderAndKnowTheirMode) {
  LinkRequest request =
      parsed({"crt1.o", "-L/a", "-L", "/b", "--library-path=/c", "-lfirst",
              "-l", "second", "-Bstatic", "--library=third", "--push-state",
              "-Bdynamic", "-l:libx.a", "--pop-state", "-lfourth", "-"});
  EXPECT_EQ(joinNames(request),
            (Strings{"crt1.o", "-lfirst", "-lsecond", "-lthird", "-l:libx.a",
                     "-lfourth", "-"}));
  EXPECT_EQ(request.searchPaths, (Strings{"/a", "/b", "/c"}));
  std::vector<bool> isStatic;
  for (const LinkInput &input : request.inputs)
    isStatic.push_back(input.staticOnly);
  EXPECT_EQ(isStatic,
            (std::vector<bool>{false, false, false, true, false, true, true}));
}

TEST(DriverArgs, KindOfOutput) {
  auto kind = [](std::vector<const char *> args) {
    args.push_back("a.o");
    return parsed(args).output;
  };
  EXPECT_EQ(kind({}), OutputKind::program);
  EXPECT_EQ(kind({"-pie"}), OutputKind::program);
  EXPECT_EQ(kind({"-static"}), OutputKind::program);
  EXPECT_EQ(kind({"-shared"}), OutputKind::library);
  EXPECT_EQ(kind({"--Bshareable"}), OutputKind::library);
  EXPECT_EQ(kind({"-r"}), OutputKind::other);
  EXPECT_EQ(kind({"--relocatable"}), OutputKind::other);
  EXPECT_EQ(kind({"--oformat=binary"}), OutputKind::other);
  EXPECT_EQ(kind({"--oformat", "binary"}), OutputKind::other);
  EXPECT_EQ(kind({"--oformat=elf"}), OutputKind::program);
  EXPECT_EQ(kind({"--lto-emit-llvm"}), OutputKind::other);
  EXPECT_EQ(kind({"-plugin-opt=emit-asm"}), OutputKind::other);
  EXPECT_EQ(kind({"-plugin-opt=thinlto-index-only=x"}), OutputKind::other);
  EXPECT_EQ(kind({"-plugin-opt=O2"}), OutputKind::program);
  EXPECT_EQ(kind({"-o", "-r"}), OutputKind::program); // a file called -r
  EXPECT_EQ(kind({"--version"}), OutputKind::other);
  EXPECT_EQ(kind({"--chroot", "/x"}), OutputKind::other);
  EXPECT_EQ(kind({"-v"}), OutputKind::program);        // lld links after -v
  EXPECT_EQ(parsed({"-v"}).output, OutputKind::other); // nothing to link
}

// An argument that ld.mpg adds after it would become the value.
TEST(DriverArgs, WithoutAValueAtTheEndNothingIsLaidOut) {
  for (const char *option : {"-o", "-L", "--output", "-Map", "--threads", "-z"})
    EXPECT_EQ(parsed({"a.o", option}).output, OutputKind::other) << option;
  EXPECT_EQ(parsed({"a.o", "-o", ""}).output, OutputKind::program);
}

// As lld takes it.
TEST(DriverArgs, AnEmptyNameOfTheOutputIsTheDefault) {
  EXPECT_EQ(parsed({"a.o", "-o", ""}).outputPath, "a.out");
  EXPECT_EQ(parsed({"a.o", "--output="}).outputPath, "a.out");
}

TEST(DriverArgs, AScriptAndAForcedLayoutExcludeEachOther) {
  EXPECT_EQ(parsed({"-Tx.ld", "a.o"}).userScript, "-T x.ld");
  EXPECT_EQ(parsed({"--script=x.ld", "a.o"}).userScript, "-T x.ld");
  EXPECT_EQ(parsed({"-Tdata=0x1", "-Ttext", "2", "a.o"}).userScript, "");
  EXPECT_NE(argumentError({"-T", "x.ld", "a.o", "--mpg-layout=strict"})
                .find("'-T x.ld' decides the layout"),
            std::string::npos);
  parsed({"-T", "x.ld", "a.o", "--mpg-layout=best-effort"});
  parsed({"-r", "-T", "x.ld", "a.o", "--mpg-layout=strict"});
  parsed({"-T", "x.ld", "a.o", "--mpg-layout=strict", "--no-mpg-layout"});
}

TEST(DriverArgs, Emulations) {
  EXPECT_EQ(machineOfEmulation("elf_x86_64"), Machine::x86_64);
  EXPECT_EQ(machineOfEmulation("elf_x86_64_fbsd"), Machine::x86_64);
  EXPECT_EQ(machineOfEmulation("aarch64linux"), Machine::aarch64);
  for (const char *other : {"elf_i386", "elf32_x86_64", "aarch64linuxb", ""})
    EXPECT_EQ(machineOfEmulation(other), std::nullopt) << other;
}

// Where CMake expects what a linker adds.
TEST(DriverArgs, TheRuntimeIsNotAddedTwice) {
  EXPECT_FALSE(parsed({"a.o", "-lm"}).hasRuntime);
  EXPECT_TRUE(parsed({"a.o", "-lmpg"}).hasRuntime);
  EXPECT_TRUE(parsed({"a.o", "-l", "mpg"}).hasRuntime);
  EXPECT_TRUE(parsed({"a.o", "/opt/lib/libmpg.so.1"}).hasRuntime);
  EXPECT_TRUE(parsed({"a.o", "libmpg.a"}).hasRuntime);
  EXPECT_TRUE(parsed({"a.o", "-lmpgrt"}).hasRuntime);
  EXPECT_TRUE(parsed({"a.o", "/opt/lib/libmpgrt.so.1"}).hasRuntime);
  EXPECT_FALSE(parsed({"a.o", "libmpg.o"}).hasRuntime);
  EXPECT_FALSE(parsed({"a.o", "-lmpgx", "libmpgrt2.so"}).hasRuntime);
}

// mpg.specs of gcc.
TEST(DriverArgs, AWordForOtherLinkersIsLeftOut) {
  LinkRequest request = parsed({"--mpg-linker=wanted:this-one", "a.o"});
  EXPECT_EQ(request.lldArgs, (Strings{"ld.lld", "a.o"}));
}

TEST(DriverArgs, PassPluginsOfTheUserAreKnown) {
  LinkRequest request = parsed({"--load-pass-plugin=/a/b.so", "a.o",
                                "--load-pass-plugin", "MpgPasses.so"});
  EXPECT_EQ(request.passPlugins, (Strings{"/a/b.so", "MpgPasses.so"}));
  EXPECT_EQ(joinNames(request), (Strings{"a.o"}));
  // With one dash it is -l with a strange name.
  EXPECT_TRUE(parsed({"-load-pass-plugin=x", "a.o"}).passPlugins.empty());
}

TEST(DriverArgs, OwnPassPluginIsKnownByItsName) {
  for (const char *path :
       {"MpgPasses.so", "./MpgPasses.so", "/opt/mpgtools/lib/MpgPasses.so"})
    EXPECT_TRUE(hasOwnPassPlugin(Strings{"/a/b.so", path})) << path;
  for (const char *path : {"", "NotMpgPasses.so", "/lib/MpgPasses.so/b.so",
                           "MpgPasses.so.1", "MpgPragmas.so"})
    EXPECT_FALSE(hasOwnPassPlugin(Strings{path})) << path;
  EXPECT_FALSE(hasOwnPassPlugin({}));
}

TEST(DriverArgs, OnlyTheLastOptionSaysWhetherObjectsMayHoldBitcode) {
  EXPECT_FALSE(parsed({"a.o"}).fatLto);
  EXPECT_TRUE(parsed({"--fat-lto-objects", "a.o"}).fatLto);
  EXPECT_FALSE(
      parsed({"--fat-lto-objects", "--no-fat-lto-objects", "a.o"}).fatLto);
}
