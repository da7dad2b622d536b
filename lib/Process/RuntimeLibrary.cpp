// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RuntimeLibrary.h.

#include "Process/RuntimeLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace llvm;

std::string mpg::findRuntimeLibrary(StringRef self, StringRef installed) {
  for (StringRef folder : {installed, StringRef("../lib")}) {
    SmallString<256> path = sys::path::parent_path(self);
    sys::path::append(path, folder, "libmpgrt.so.1");
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return {};
}

bool mpg::canBePreloaded(StringRef path) {
  return path.find_first_of(":;\n") == StringRef::npos;
}

std::vector<std::pair<std::string, std::string>>
mpg::preloadSettings(StringRef path) {
  if (path.find_first_of(" \t") == StringRef::npos)
    return {{"LD_PRELOAD", path.str()}};
  std::string folders = sys::path::parent_path(path).str();
  const char *old = getenv("LD_LIBRARY_PATH");
  if (old && *old)
    folders += std::string(":") + old;
  return {{"LD_PRELOAD", sys::path::filename(path).str()},
          {"LD_LIBRARY_PATH", folders}};
}
