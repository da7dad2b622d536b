// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProcessLimits.h.

#include "Node/ProcessLimits.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mpg;

/// "Max stack size             8388608              unlimited            bytes"
static Fact<uint64_t> findLimit(const Fact<std::string> &limits,
                                StringRef name) {
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
  return Fact<uint64_t>::missing(
      ("/proc/self/limits: no '" + name + "' in it").str());
}

ProcessLimits mpg::readProcessLimits(const SysTree &tree) {
  Fact<std::string> limits = tree.text("/proc/self/limits");
  return {findLimit(limits, "Max locked memory"),
          findLimit(limits, "Max stack size"),
          findLimit(limits, "Max address space")};
}
