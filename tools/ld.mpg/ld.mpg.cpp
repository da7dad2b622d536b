// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld.mpg: lld with .data and .bss on large pages of their own. Here it is
// decided what kind of link there is; how the parts of one go is in the headers
// that are included below, what is decided without a look at a file in
// lib/Link:
// - arguments: lib/Link/DriverArgs.h, LldCommand.h
// - inputs: LinkContext.h, lib/Link/InputScan.h
// - the link: LayoutLink.cpp; lib/Link/InputScan.h, LayoutObjects.h
// - what is added: LinkAdditions.cpp
// - the output: LinkContext.h

#include "Child.h"
#include "LinkContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace mpg;

static Expected<LinkRequest> readArguments(int argc, char **argv) {
  BumpPtrAllocator allocator;
  SmallVector<const char *, 256> args(argv, argv + argc);
  bool windows = any_of(
      args, [](StringRef arg) { return arg == "--rsp-quoting=windows"; });
  auto tokenize =
      windows ? cl::TokenizeWindowsCommandLine : cl::TokenizeGNUCommandLine;
  cl::ExpansionContext expansion(allocator, tokenize);
  if (Error error = expansion.expandResponseFiles(args))
    return error;
  return parseLinkArgs(args);
}

/// Where the libraries of this installation lie: installed, or in the build
/// tree.
static std::vector<std::string> sisterFolders(const char *argv0) {
  std::string program = sys::fs::getMainExecutable(
      argv0, reinterpret_cast<void *>(&sisterFolders));
  std::vector<std::string> folders;
  for (const char *folder : {MPG_LIBRARY_FOLDER, "../lib"}) {
    SmallString<256> path = sys::path::parent_path(program);
    sys::path::append(path, folder);
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    folders.push_back(path.str().str());
  }
  return folders;
}

/// Links as ld.lld; \p reason says why --mpg-text has no effect then.
static int linkWithoutText(LinkContext &link, StringRef reason) {
  const LinkRequest &request = link.request;
  if (request.text && !request.inputs.empty() && isForReader(request))
    note() << "--mpg-text has no effect: " << reason << "\n";
  return linkAsIs(link);
}

static int linkAsAsked(LinkContext &link) {
  const LinkRequest &request = link.request;
  link.passPlugin = findPassPlugin(link);
  if (!request.layout)
    return linkWithoutText(link, "--no-mpg-layout links as ld.lld");
  if (request.output == OutputKind::other)
    return linkWithoutText(link, "this output has no segments");
  if (!isOutputWritable(request.outputPath))
    return 1;
  if (!request.userScript.empty())
    return linkUnderScript(link);
  constexpr StringLiteral otherMachine = "it is for x86-64 and AArch64";
  if (!request.emulation.empty() && !machineOfEmulation(request.emulation))
    return linkWithoutText(link, otherMachine);
  std::vector<LinkInput> unscanned = scanFirst(link);
  if (!link.scan.machine)
    return linkWithoutText(link, otherMachine);
  if (!checkSlimObjects(link.scan) || !findRuntime(link))
    return 1;
  return linkWithLayout(link, unscanned);
}

int main(int argc, char **argv) {
  endWithChildWhenInterrupted();
  InitLLVM init(argc, argv);
  // Without them the next files that are opened would take their place.
  if (std::error_code code = sys::Process::FixupStandardFileDescriptors())
    return failed(errorCodeToError(code));
  sys::Process::UseANSIEscapeCodes(true);
  StringRef first = argc == 2 ? argv[1] : "";
  if (first.consume_front("--autocomplete=")) {
    outs() << completeOwnOption(first);
    return 0;
  }
  LinkContext context;
  Expected<LinkRequest> request = readArguments(argc, argv);
  if (!request)
    return failed(request.takeError());
  context.request = std::move(*request);
  context.libraryFolders = sisterFolders(argv[0]);
  if (context.request.help)
    outs() << ownHelp();
  return linkAsAsked(context);
}
