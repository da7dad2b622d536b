// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the output of likwid-perfctr -O: tables of a group of events each, a
// column for each hardware thread, with the program's own output around them.
// Uses the raw counts; sums, averages and derived metrics follow from them.
// Does not add up groups that took turns: each has its full counts.

#include "Import/Measurement.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace llvm;
using namespace mpg;

namespace {

struct RawTable {
  unsigned line = 0;   ///< of the head
  StringRef group;     ///< "Group 1"; empty: it is another table
  unsigned events = 0; ///< rows that the head promises
  unsigned rows = 0;   ///< as far as it was read
  size_t fields = 0;   ///< of a row; 0: they have not begun
};

} // namespace

static RawTable parseTable(StringRef line, unsigned number) {
  RawTable table;
  table.line = number;
  SmallVector<StringRef, 8> fields;
  line.split(fields, ',');
  for (size_t i = 1; i < fields.size(); ++i)
    if (fields[i].starts_with("Group ") && fields[i].consume_back(" Raw")) {
      table.group = fields[i];
      if (i + 2 < fields.size())
        (void)!fields[i + 2].getAsInteger(10, table.events);
    }
  return table;
}

bool mpg::isLikwid(StringRef text) {
  return anyLine(text, [](StringRef line, unsigned number) {
    return line.starts_with("TABLE,") &&
           !parseTable(line, number).group.empty();
  });
}

/// A row: the event, the counter, then a count for each thread.
static void readRow(StringRef line, unsigned number, RawTable &table,
                    Measurement &into) {
  SmallVector<StringRef, 64> fields;
  line.split(fields, ',');
  if (fields[0] == "Event")
    table.fields = fields.size();
  bool isAfter = table.events && table.rows == table.events;
  if (!table.fields || fields[0] == "Event" || isAfter)
    return;
  ++table.rows;
  if (!Measurement::isKnownEvent(fields[0]))
    return;
  if (fields.size() < std::max<size_t>(table.fields, 3))
    return into.addProblem(number, fields[0].str() + ": the line was cut off; "
                                                     "write the file again");
  uint64_t sum = 0;
  bool hasCount = false;
  for (StringRef field : ArrayRef(fields).drop_front(2)) {
    if (field.empty())
      continue; // rows are filled up to the longest one
    std::optional<uint64_t> count = parseCount(field);
    if (!count)
      into.addProblem(number, fields[0].str() + ": " + field.str() +
                                  ": this is not a count; count again, with "
                                  "fewer events in the group");
    hasCount |= count.has_value();
    sum = SaturatingAdd(sum, count.value_or(0));
  }
  if (hasCount)
    into.add(fields[0], sum, number, table.group);
}

/// At the end of \p table.
static void checkRows(const RawTable &table, Measurement &into) {
  if (!table.group.empty() && table.rows < table.events)
    into.addProblem(table.line,
                    table.group.str() + " has " + std::to_string(table.rows) +
                        " of " + std::to_string(table.events) +
                        " rows: the file was cut off, so there may be others "
                        "that count; write it again");
}

Error mpg::readLikwid(StringRef text, Measurement &into) {
  into.tool = "likwid-perfctr";
  RawTable table;
  std::set<StringRef> heads;
  forEachLine(text, [&](StringRef line, unsigned number) {
    if (!line.starts_with("TABLE,") && !line.starts_with("STRUCT,")) {
      if (!table.group.empty())
        readRow(line, number, table, into);
      return;
    }
    checkRows(table, into);
    table = line.starts_with("TABLE,") ? parseTable(line, number) : RawTable();
    if (!table.group.empty() && !heads.insert(line).second)
      into.addProblem(number, otherRun);
  });
  checkRows(table, into);
  if (!into.hasCounts() && into.problems.empty())
    return importError(into, 0,
                       "none of the events in it is one that the rules ask "
                       "for; count with likwid-perfctr -O -g TLB_DATA (or "
                       "TLB, NUMA; -a lists the groups)");
  return Error::success();
}
