// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FindParts.h"
#include "llvm/ADT/Twine.h"
#include <climits>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

InstalledParts mpg::findParts() {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0 || size_t(length) == sizeof self)
    return {};
  StringRef folder = StringRef(self, size_t(length)).rsplit('/').first;
  auto find = [](StringRef folder, StringRef name) {
    std::string path = (folder + "/" + name).str();
    return access(path.c_str(), R_OK) == 0 ? path : "";
  };
  InstalledParts parts;
  parts.linker = find(folder, "ld.mpg");
  std::string shared = folder.rsplit('/').first.str() + "/share/mpgtools";
  if (!find(shared, "ld/ld").empty())
    parts.gccFolder = shared + "/ld";
  parts.lldScript = find(shared, "mpg-2mb.lld.ld");
  parts.bfdScript = find(shared, "mpg-2mb.bfd.ld");
  std::string libraries = folder.rsplit('/').first.str() + "/lib";
  if (!find(libraries, "libmpgrt.so").empty())
    parts.libraries = libraries;
  return parts;
}
