// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProcessLimits.h.

#include "Node/ProcessLimits.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mpg;

/// "Max stack size             8388608              unlimited            bytes"
static Fact<uint64_t> findLimit(const Fact<std::string> &limits,
                                const std::string &path, StringRef name) {
  if (!limits)
    return Fact<uint64_t>::missing(limits.unknown);
  SmallVector<StringRef, 24> lines;
  StringRef(*limits).split(lines, '\n');
  for (StringRef line : lines) {
    if (!line.consume_front(name) || !line.starts_with(" "))
      continue;
    StringRef word = line.ltrim().split(' ').first;
    if (word == "unlimited")
      return uint64_t(UINT64_MAX);
    if (std::optional<uint64_t> number = parseNumber(word))
      return *number;
  }
  return Fact<uint64_t>::missing(path + ": no '" + name.str() + "' in it");
}

ProcessLimits mpg::readProcessLimits(const SysTree &tree, StringRef process) {
  std::string path = ("/proc/" + process + "/limits").str();
  Fact<std::string> limits = tree.text(path);
  return {findLimit(limits, path, "Max locked memory"),
          findLimit(limits, path, "Max stack size"),
          findLimit(limits, path, "Max address space")};
}
