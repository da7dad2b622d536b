// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One link: what is asked for, what is known of its inputs before it and of its
// output after it, and ld.mpg's own messages, on standard error beside lld's.

#pragma once

#include "Child.h"
#include "Link/InputScan.h"
#include "Link/LldCommand.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

struct LinkContext {
  LinkRequest request;
  /// Where this installation keeps its libraries, in order.
  std::vector<std::string> libraryFolders;
  ScanResult scan;            ///< of the inputs that have been looked at
  std::string runtimeLibrary; ///< libmpg, where the user names none
  std::string passPlugin;     ///< for LTO; empty if there is none that fits
  bool passPluginChecked = false;
};

/// Each writes the beginning of a line; the caller ends it.
llvm::raw_ostream &error();
llvm::raw_ostream &warning();
llvm::raw_ostream &note();

/// Whether someone reads a note: on a terminal, or asked for (-v). Build
/// systems and configure scripts take words on standard error for trouble, and
/// keep them away from terminals. MPG_QUIET=1 silences it.
bool isForReader(const LinkRequest &request);

/// Says \p reason as an error; returns the exit status.
int failed(llvm::Error reason);

// Inputs. When which inputs are scanned (lib/Link/InputScan.h), and the
// messages about them. Objects are scanned first. When they hold little, lld
// starts while the archives are still being scanned, as if these held little
// too.

class ScanChild {
public:
  /// Starts scanFiles() with these arguments.
  /// pre: this process has one thread, and its streams are flushed.
  static llvm::Expected<ScanChild> start(const LinkRequest &request,
                                         llvm::ArrayRef<LinkInput> inputs,
                                         uint64_t enoughBytes);
  /// Waits for the result; an empty one if the scan did not come to its end.
  ScanResult finish();

private:
  Child child;
  MemoryFile answer;
};

/// Scans as much as is quick or must be known before lld starts. Returns the
/// archives that may still change the plan.
std::vector<LinkInput> scanFirst(LinkContext &link);

/// Scans \p inputs and waits for it.
void scanNow(LinkContext &link, llvm::ArrayRef<LinkInput> inputs);

/// Scans all inputs to their end. Takes long with many archives.
ScanResult scanAll(const LinkContext &link);

/// False if there are objects that lld cannot read, which has been said then.
bool checkSlimObjects(const ScanResult &scan);

/// After lld has failed: says what it could not know.
void explainFailure(const LinkContext &link);

// The output

/// True if the output is not a file but a device, a pipe or standard output: it
/// cannot be read back, or written again.
bool isSpecialOutput(const std::string &path);

/// lld and the kernel decide for themselves; this only tells early, and in
/// plain words, that the output cannot be written.
bool isOutputWritable(const std::string &path);

/// Identifies an output, to see whether a link has written it again.
llvm::sys::fs::UniqueID outputId(const std::string &path);

/// The finished output, judged for large pages of \p hugeBytes.
OutputFacts readOutput(const std::string &path, uint64_t hugeBytes);

void removeOutput(const std::string &path);

// The link (LayoutLink.cpp). A link with the layout, if the data is large
// enough for it. The size is guessed from the inputs, the link runs
// accordingly, and the output is measured; only when the guess was wrong a
// second link follows (lib/Link/InputScan.h). The result depends on the inputs
// only, never on which process is quicker.
//
// lld's messages and exit status pass through untouched. It writes its output
// in one step; an output that fails the check afterwards is removed.

/// Links; \p unscanned may still change the plan and is scanned meanwhile.
/// Returns the exit status. pre: the machine is known.
int linkWithLayout(LinkContext &link, llvm::ArrayRef<LinkInput> unscanned);

/// Links as ld.lld does. Returns only if that cannot be begun.
int linkAsIs(LinkContext &link);

/// A script of the user decides the layout; ld.mpg only looks at the result.
int linkUnderScript(LinkContext &link);

// ld.mpg's additions to a link: libmpg, of the machine that is linked for, and
// for LTO code mpgtools' pass plugin if it lies beside this program.

// libmpg

/// Looks for the libmpg that the link is to have, and of the machine that is
/// linked for as far as that is known. False if it is asked for and missing;
/// that has been said then.
bool findRuntime(LinkContext &link);

/// Adds the path of the runtime: the program has to run without further set-up.
void addRuntime(const LinkContext &link, Additions &additions);

/// Says that the program needs the runtime now, and how it can do without or be
/// moved: to a user who reads it.
void noteRuntime(const LinkContext &link);

// The pass plugin. lld is given it in every link, because bitcode can lie in
// any archive and lld loads it only when it compiles some. Whether lld can load
// it is looked at first where there is bitcode, and else when the link has
// failed.

/// The plugin that LTO code is to have, or nothing: not a second time if the
/// user names it.
std::string findPassPlugin(const LinkContext &link);

/// False if lld cannot load the plugin: it is then left out. That is worth a
/// word only where it would have been loaded; with \p isNeeded the caller
/// knows. Looks once.
bool checkPassPlugin(LinkContext &link, bool isNeeded = false);

} // namespace mpg
