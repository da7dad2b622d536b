// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The request that a command line makes to ld.mpg. A pure function over
// strings: it opens, looks up and prints nothing.
//
// ld.mpg takes every option of ld.lld and its own, which all begin with --mpg-
// (and --no-mpg-layout).

#pragma once

#include "Elf/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// The kind of file that lld will write.
enum class OutputKind : uint8_t {
  program, ///< with or without PIE, static or not
  library, ///< -shared
  /// Something without segments to lay out (-r, --oformat=binary, LTO
  /// intermediate files), or nothing at all (--version, no input, a missing
  /// value).
  other,
};

/// What to do if the output breaks the promise.
enum class LayoutPromise : uint8_t { strict, bestEffort };

enum class RuntimeChoice : uint8_t { automatic, yes, no };

/// An object, archive, library or script, in the order of the command line.
struct LinkInput {
  std::string name;
  bool isLibrary;  ///< -lNAME: to be searched for
  bool staticOnly; ///< under -Bstatic
};

struct LinkRequest {
  // ld.mpg's own options.
  bool layout = true; ///< false: --no-mpg-layout
  LayoutPromise promise = LayoutPromise::strict;
  bool promiseGiven = false; ///< --mpg-layout= stands on the command line
  uint64_t hugeBytes = 2 << 20;
  uint64_t minBytes = 2 << 20;
  bool text = false; ///< --mpg-text: code and constants, too
  RuntimeChoice runtime = RuntimeChoice::automatic;
  bool help = false;
  bool version = false;
  bool verbose = false; ///< -v, --verbose: of lld as well

  // The meaning of lld's options.
  OutputKind output = OutputKind::program;
  bool isStatic = false;   ///< nothing shared can be loaded by the output
  bool isForMusl = false;  ///< its loader is musl's
  bool ordersText = false; ///< a file of the user orders functions
  std::string outputPath = "a.out";
  std::string emulation;      ///< -m, empty if not given
  std::string userScript;     ///< the option that fixes the layout, if any
  uint64_t maxPageBytes = 0;  ///< -z max-page-size, 0 if not given
  std::string dependencyFile; ///< --dependency-file
  std::string sysroot;
  bool hasFormat = false;  ///< --format: the last one holds to the end
  bool hasRuntime = false; ///< a libmpg is there already
  std::string runtimeName; ///< of -l: "mpgrt", or "mpg"; "" for a file
  bool fatLto = false;     ///< --fat-lto-objects: objects may hold bitcode
  bool execStack = false;  ///< -z execstack
  std::vector<std::string> passPlugins; ///< --load-pass-plugin
  std::vector<std::string> searchPaths; ///< -L, in order
  std::vector<LinkInput> inputs;

  /// The command line without ld.mpg's own options, args[0] included: what
  /// ld.lld would have been given, and what GNU ld does without being told:
  /// --undefined-version for version scripts, no loader for static programs.
  std::vector<std::string> lldArgs;
};

/// pre: response files are expanded; \p args holds the program's name first.
/// The error is a sentence without "ld.mpg: error:".
llvm::Expected<LinkRequest> parseLinkArgs(llvm::ArrayRef<const char *> args);

/// Machine of a -m emulation; nothing for those that have no layout.
std::optional<Machine> machineOfEmulation(llvm::StringRef emulation);

/// Whether one of \p plugins is mpgtools' own, from whatever folder. Loaded a
/// second time it would run a second time.
bool hasOwnPassPlugin(llvm::ArrayRef<std::string> plugins);

/// File name of mpgtools' plugin for clang, opt and lld.
constexpr llvm::StringLiteral passPluginFile = "MpgPasses.so";

/// ld.mpg's own options, for --help.
llvm::StringRef ownHelp();

/// Our options that \p typed may become, one a line, for the shell's
/// completion.
std::string completeOwnOption(llvm::StringRef typed);

} // namespace mpg
