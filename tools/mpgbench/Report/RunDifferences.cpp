// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RunDifferences.h.

#include "mpgbench/Report/RunDifferences.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

void mpg::writeDifference(raw_ostream &out, StringRef what, StringRef before,
                          StringRef after) {
  auto word = [](StringRef text) {
    return text.empty() ? std::string("not said") : printable(text);
  };
  out << "  "
      << fillText((what + ": " + word(before) + "; then " + word(after)).str(),
                  4)
      << "\n";
}

/// Free pages change by the minute; what points really got is in their table.
static bool isPassing(StringRef name) { return name == "pools"; }

static void writeMachineDifferences(raw_ostream &out, const BenchRun &before,
                                    const BenchRun &after) {
  std::vector<std::string> names;
  for (const Parameters *machine : {&before.machine, &after.machine})
    for (const auto &pair : *machine)
      if (!is_contained(names, pair.first) && !isPassing(pair.first))
        names.push_back(pair.first);
  bool isFirst = true;
  for (const std::string &name : names) {
    StringRef first = parameter(before.machine, name),
              second = parameter(after.machine, name);
    if (first == second)
      continue;
    if (isFirst)
      out << "The machines differ:\n";
    isFirst = false;
    writeDifference(out, printable(name), first, second);
  }
}

void mpg::writeRunDifferences(raw_ostream &out, const BenchRun &before,
                              const BenchRun &after) {
  writeMachineDifferences(out, before, after);
  auto sizes = [](const BenchRun &run) {
    return run.quick ? "--quick, small arrays" : "whole arrays";
  };
  if (before.quick != after.quick || before.version != after.version)
    out << "The runs differ:\n";
  if (before.quick != after.quick)
    writeDifference(out, "sizes", sizes(before), sizes(after));
  if (before.version != after.version)
    writeDifference(out, "mpgbench", before.version, after.version);
}
