// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LldCommand.h.

#include "Link/LldCommand.h"
#include "Link/LayoutObjects.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
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

/// Links libmpg, also into a program that calls none of its functions. By path
/// and not by -l: a user's -L could find another one.
static void addRuntime(const Additions &additions,
                       std::vector<std::string> &command) {
  StringRef library = additions.runtimeLibrary;
  if (library.empty())
    return;
  // lld extracts a member of an archive only on demand, and a second malloc
  // must not come into the program: --wrap redirects the calls instead. --wrap
  // alone demands no member: the C library's malloc is weak, so lld makes the
  // wrapped name weak, too, and the program would call address 0.
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
  // In front of the user's arguments: lld takes the last choice.
  if (additions.color)
    command.push_back("--color-diagnostics=always");
  if (!additions.passPlugin.empty())
    command.push_back("--load-pass-plugin=" + additions.passPlugin);
  if (!additions.firstObject.empty())
    command.push_back(additions.firstObject);
  if (!additions.runtimeFolder.empty())
    command.push_back("--rpath=" + additions.runtimeFolder);
  addRuntime(additions, command);
  // Hot functions go in front of the others by the names of their sections,
  // unless the user orders all functions.
  if (additions.alignText && !request.ordersText)
    command.insert(command.end(), {"-z", "keep-text-section-prefix"});
  command.insert(command.end(), request.lldArgs.begin() + 1,
                 request.lldArgs.end());
  // Gives each segment separate large pages: RELRO must not share one with the
  // code in front of it. Costs address space, nothing in the file.
  uint64_t pageBytes = segmentPageBytes(request.hugeBytes);
  if ((additions.alignSegments || additions.alignText) &&
      request.maxPageBytes < pageBytes)
    command.insert(command.end(),
                   {"-z", "max-page-size=" + std::to_string(pageBytes)});
  if (additions.alignSegments)
    for (std::string &definition : layoutDefinitions())
      command.push_back(std::move(definition));
  if (!additions.lastObject.empty()) {
    if (request.hasFormat)
      command.push_back("--format=elf");
    command.push_back(additions.lastObject);
  }
  return command;
}

std::string mpg::withoutPaths(StringRef text, ArrayRef<std::string> paths) {
  std::vector<std::string> kept;
  for (StringRef line : split(text, '\n')) {
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
