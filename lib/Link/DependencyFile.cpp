// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DependencyFile.h.

#include "Link/DependencyFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <vector>

using namespace llvm;
using namespace mpg;

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
    // Every "path:" line has an empty line behind it, which stays.
  }
  return join(kept, "\n");
}
