// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LldCommand.h.

#include "Link/LldCommand.h"
#include "Link/LayoutObject.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <vector>

using namespace llvm;
using namespace mpg;

bool mpg::isLoaderFolder(StringRef folder) {
  folder.consume_front("/usr");
  // "/lib", "/lib64", and Debian's "/lib/x86_64-linux-gnu".
  return folder == "/lib" || folder == "/lib64" ||
         (folder.consume_front("/lib/") && folder.ends_with("-linux-gnu") &&
          !folder.contains('/'));
}

/// A program that calls nothing of the runtime needs it all the same. It is
/// named by path and not by -l: the user's -L must not find another one.
static void addRuntime(const Additions &additions,
                       std::vector<std::string> &command) {
  StringRef library = additions.runtimeLibrary;
  if (library.empty())
    return;
  // Of an archive nothing is taken in unless it is asked for, and a
  // malloc of its own would be the second one of the program. --wrap
  // alone does not ask for it: the C library's is weak, lld then takes the name
  // in its place for weak too, and calls address 0.
  if (library.ends_with(".a")) {
    command.push_back("--undefined=mpg_start");
    static constexpr StringRef names[] = {
#define MPG_WRAP(name) #name,
#include "mpg/wrap.def"
    };
    for (StringRef name : names) {
      command.push_back(("--wrap=" + name).str());
      command.push_back(("--undefined=__wrap_" + name).str());
    }
  }
  command.insert(command.end(), {"--push-state", "--no-as-needed",
                                 library.str(), "--pop-state"});
}

std::vector<std::string> mpg::lldCommand(const LinkRequest &request,
                                         const Additions &additions) {
  std::vector<std::string> command = {request.lldArgs.front()};
  // In front of the user's own choice, which wins.
  if (additions.color)
    command.push_back("--color-diagnostics=always");
  if (!additions.passPlugin.empty())
    command.push_back("--load-pass-plugin=" + additions.passPlugin);
  if (!additions.firstObject.empty())
    command.push_back(additions.firstObject);
  if (!additions.runtimeFolder.empty())
    command.push_back("--rpath=" + additions.runtimeFolder);
  addRuntime(additions, command);
  command.insert(command.end(), request.lldArgs.begin() + 1,
                 request.lldArgs.end());
  if (additions.alignSegments) {
    // Each segment on large pages of its own: RELRO must not share one with
    // the code in front of it. Costs address space, nothing in the file.
    uint64_t pageBytes = request.hugeBytes <= separateSegmentsBytes
                             ? request.hugeBytes
                             : uint64_t(2) << 20;
    if (request.maxPageBytes < pageBytes)
      command.insert(command.end(),
                     {"-z", "max-page-size=" + std::to_string(pageBytes)});
    for (std::string &definition : layoutDefinitions())
      command.push_back(std::move(definition));
  }
  if (!additions.lastObject.empty()) {
    if (request.hasFormat)
      command.push_back("--format=elf");
    command.push_back(additions.lastObject);
  }
  return command;
}

std::string mpg::withoutDependencies(StringRef text,
                                     ArrayRef<std::string> paths) {
  std::vector<std::string> kept;
  SmallVector<StringRef, 0> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef path = line.trim();
    bool continues = path.consume_back("\\");
    path = path.trim();
    path.consume_back(":");
    if (!is_contained(paths, path)) {
      kept.push_back(line.str());
      continue;
    }
    // The last dependency has no backslash: now the one before it is the last.
    if (!continues && line.starts_with(" ") && !kept.empty())
      kept.back() = StringRef(kept.back()).rtrim("\\ ").str();
    // Every "path:" line has an empty line after it, which stays.
  }
  return join(kept, "\n");
}
