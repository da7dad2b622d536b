// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What likwid-perfctr -O writes: tables of a group of events each, a column for
// each hardware thread, with what the program itself prints around them. Read
// are the raw counts; sums, averages and derived metrics are made from them.
// Groups that took turns are not added up: each has counted all of its own.

#include "Import/Measurement.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mpg;

/// "Group 1" of the line that begins a table of raw counts; "": it does not.
static StringRef groupOf(StringRef line) {
  if (!line.consume_front("TABLE,"))
    return "";
  SmallVector<StringRef, 8> fields;
  line.split(fields, ',');
  for (StringRef field : fields)
    if (field.starts_with("Group ") && field.consume_back(" Raw"))
      return field;
  return "";
}

bool mpg::isLikwid(StringRef text) {
  return anyLine(
      text, [](StringRef line, unsigned) { return !groupOf(line).empty(); });
}

/// A row: the event, the counter, then a count for each thread.
static void readRow(StringRef line, unsigned number, StringRef group,
                    Measurement &into) {
  SmallVector<StringRef, 64> fields;
  line.split(fields, ',');
  if (fields.size() < 3 || !Measurement::isKnownEvent(fields[0]))
    return;
  uint64_t sum = 0;
  bool hasCount = false;
  for (StringRef field : ArrayRef(fields).drop_front(2)) {
    if (field.empty())
      continue; // rows are filled up to the longest one
    std::optional<uint64_t> count = parseCount(field);
    if (!count)
      into.addProblem(number, fields[0].str() + ": " + field.str() +
                                  ": this is no count; count again, with "
                                  "fewer events in the group");
    hasCount |= count.has_value();
    sum += count.value_or(0);
  }
  if (hasCount)
    into.add(fields[0], sum, number, group);
}

Error mpg::readLikwid(StringRef text, Measurement &into) {
  into.tool = "likwid-perfctr";
  StringRef group;
  forEachLine(text, [&](StringRef line, unsigned number) {
    if (line.starts_with("TABLE,") || line.starts_with("STRUCT,"))
      group = groupOf(line);
    else if (!group.empty())
      readRow(line, number, group, into);
  });
  if (!into.hasCounts() && into.problems.empty())
    return importError(into, 0,
                       "none of the events in it is one that the rules ask "
                       "for; count with likwid-perfctr -O -g TLB_DATA (or "
                       "TLB, NUMA; -a lists the groups)");
  return Error::success();
}
