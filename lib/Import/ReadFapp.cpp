// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Fujitsu's fapp and fapppx write: for each region, process and thread the
// counts of events, by their number. With -txml it is XML: information,
// region[name], spawn, process, thread, cpupa, event[name], and PMCCNTR
// (cycles) or CNTVCT (ticks); environment/spawn/process/cntfrq are the ticks of
// a second. Only the tags and attributes are relied on that public readers use,
// and nothing on their order; no file of the vendor's was seen (inferred; R-CCS
// Fugaku user's guide, 3.1.11.2). With -tcsv it is a row of names that begins
// with LABEL-FAPP-cpupa, then rows that begin with FAPP-cpupa, one file for
// each run of pa1 to pa17; newer versions write `FAPP-info,Timer clock
// frequency` (16 reports in RIKEN-RCCS/A64FX_Tuning_Documents: read). The
// vendor's Excel report holds the rows of all runs side by side in its sheet
// "data"; saved as CSV, that sheet is read like the files.

#include "Import/Measurement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;
using namespace mpg;

/// CNTVCT of A64FX, by the reports of RIKEN-RCCS (read); fapp of version 4.2.1
/// does not write it to its CSV.
static constexpr double usualTicksPerSecond = 100e6;

namespace {

struct FappEvent {
  StringRef level, region, name, value;
  unsigned line;
  std::string run; ///< counts of several runs are not added up
  bool isWhole;    ///< false: the file ends within it
};

struct FappFile {
  std::vector<FappEvent> events;
  double ticksPerSecond = 0; ///< of CNTVCT
};

} // namespace

// XML

/// The value of name="..." in \p tag.
static StringRef nameIn(StringRef tag) {
  size_t at = tag.find(" name=");
  if (at == StringRef::npos)
    return "";
  tag = tag.drop_front(at + 6);
  return tag.empty() ? "" : tag.drop_front().split(tag.front()).first;
}

static FappFile scanXml(StringRef text) {
  FappFile file;
  StringRef region;
  unsigned line = 1;
  while (!text.empty()) {
    auto [before, rest] = text.split('<');
    auto [tag, after] = rest.split('>');
    line += unsigned(before.count('\n'));
    auto [inside, next] = after.split('<');
    StringRef value = inside.trim();
    if (tag.starts_with("region "))
      region = nameIn(tag);
    else if (tag == "/region")
      region = "";
    else if (tag == "cntfrq")
      value.getAsDouble(file.ticksPerSecond);
    else if (tag.starts_with("event "))
      file.events.push_back({"", region, nameIn(tag), value, line, "",
                             next.starts_with("/event>")});
    line += unsigned(tag.count('\n'));
    text = after;
  }
  return file;
}

// CSV

static constexpr char labelCell[] = "LABEL-FAPP-cpupa",
                      rowCell[] = "FAPP-cpupa";

namespace {

/// The cells of a row that belong to one run: from its label to the next one.
struct FappColumns {
  size_t begin = 0;
  std::vector<StringRef> names;
};

} // namespace

static SmallVector<StringRef> splitCells(StringRef line) {
  SmallVector<StringRef> cells;
  line.split(cells, ',');
  for (StringRef &cell : cells)
    cell = cell.trim(" \t\"");
  return cells;
}

static std::vector<FappColumns> parseColumns(ArrayRef<StringRef> cells) {
  std::vector<FappColumns> columns;
  for (auto [index, cell] : enumerate(cells)) {
    if (cell == labelCell)
      columns.push_back({index, {}});
    if (!columns.empty())
      columns.back().names.push_back(cell);
  }
  return columns;
}

/// The events of one run in a row; nothing if the row has none of that run.
static void readRow(ArrayRef<StringRef> cells, const FappColumns &columns,
                    StringRef run, unsigned line, FappFile &file) {
  if (columns.begin >= cells.size() || cells[columns.begin] != rowCell)
    return;
  ArrayRef<StringRef> row = cells.drop_front(columns.begin);
  auto getCell = [&](StringRef name) -> StringRef {
    size_t at = size_t(find(columns.names, name) - columns.names.begin());
    return at < row.size() ? row[at] : "";
  };
  for (auto [index, name] : enumerate(columns.names))
    if (name.starts_with_insensitive("0x") || name == "CNTVCT" ||
        name == "PMCCNTR")
      file.events.push_back({getCell("Level"), getCell("Region_name"), name,
                             index < row.size() ? row[index] : "", line,
                             run.str(), index < row.size()});
}

static FappFile scanCsv(StringRef text) {
  FappFile file;
  file.ticksPerSecond = usualTicksPerSecond;
  std::vector<FappColumns> columns;
  forEachLine(text, [&](StringRef line, unsigned number) {
    SmallVector<StringRef> cells = splitCells(line);
    if (std::vector<FappColumns> found = parseColumns(cells); !found.empty())
      columns = std::move(found);
    for (auto [run, each] : enumerate(columns))
      readRow(cells, each,
              columns.size() > 1 ? "/pa" + std::to_string(run + 1) : "", number,
              file);
    if (cells.size() > 2 && cells[1] == "Timer clock frequency")
      cells[2].getAsDouble(file.ticksPerSecond);
  });
  // A process's row is the sum of its threads' rows.
  bool hasThreads = any_of(file.events, [](const FappEvent &event) {
    return event.level == "Thread";
  });
  if (hasThreads)
    erase_if(file.events,
             [](const FappEvent &event) { return event.level != "Thread"; });
  return file;
}

// Both

static bool isCsv(StringRef text) { return text.contains(labelCell); }

bool mpg::isFapp(StringRef text) {
  return text.contains("<cpupa>") || isCsv(text);
}

/// "0x2d" and "0x002D": 0x002d.
static std::string eventName(StringRef name) {
  unsigned number;
  if (name.starts_with_insensitive("0x") && !name.getAsInteger(0, number))
    return formatv("0x{0:x-4}", number);
  return name.lower();
}

static void addEvent(const FappEvent &event, const FappFile &file,
                     Measurement &into) {
  std::string name = eventName(event.name);
  bool isTime = name == "cntvct" && file.ticksPerSecond >= 1;
  if (!isTime && !Measurement::isKnownEvent(name))
    return;
  std::optional<uint64_t> count = parseCount(event.value);
  double ns = 1e9 * double(count.value_or(0)) / file.ticksPerSecond;
  if (!event.isWhole)
    into.addProblem(event.line, event.name.str() + ": " + event.value.str() +
                                    ": the file ends here; was the disk "
                                    "full? Write it again");
  else if (!count || (isTime && ns >= 0x1p63))
    into.addProblem(event.line, event.name.str() + ": " + event.value.str() +
                                    ": this is not a count; write the file "
                                    "again");
  else if (isTime)
    into.add("task-clock", uint64_t(ns), event.line, event.run);
  else
    into.add(name, *count, event.line, event.run);
}

Error mpg::readFapp(StringRef text, Measurement &into) {
  into.tool = "fapp";
  FappFile file = isCsv(text) ? scanCsv(text) : scanXml(text);
  // Regions lie in "all", if there is one, and would be counted twice.
  bool hasAll = any_of(file.events, [](const FappEvent &event) {
    return event.region == "all";
  });
  // A thread may have no page walk at all beside others that have some.
  std::set<StringRef> seen;
  for (const FappEvent &event : file.events)
    if (parseCount(event.value).value_or(0))
      seen.insert(event.name);
  erase_if(file.events, [&](const FappEvent &event) {
    return seen.count(event.name) && event.isWhole && event.value == "0";
  });
  for (const FappEvent &event : file.events)
    if (!hasAll || event.region == "all")
      addEvent(event, file, into);
  if (!into.hasCounts() && into.problems.empty())
    return importError(into, 0,
                       "none of the events in it is one that the rules ask "
                       "for; count: fapp -C -d DIR -Icpupa -Hevent_raw=0x0008,"
                       "0x0011,0x0005,0x002d,0x0003,0x0004,0x0200 ./program");
  return Error::success();
}
