// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Fujitsu's fapp and fapppx write with -txml (HW:fapp-xml): for each
// region, process and thread the counts of events, by their number. No file of
// the vendor's is public, so only tags and attributes are relied on that public
// readers use, and nothing on their order. The CSV of the same tool is laid out
// for a spreadsheet of the vendor's, which is described nowhere.

#include "Import/Measurement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mpg;

namespace {

struct FappEvent {
  StringRef region, name, value;
  unsigned line;
  bool isWhole; ///< false: the file ends within it
};

struct FappFile {
  std::vector<FappEvent> events;
  double ticksPerSecond = 0; ///< of CNTVCT
};

} // namespace

bool mpg::isFapp(StringRef text) { return text.contains("<cpupa>"); }

/// The value of name="..." in \p tag.
static StringRef nameIn(StringRef tag) {
  size_t at = tag.find(" name=");
  if (at == StringRef::npos)
    return "";
  tag = tag.drop_front(at + 6);
  return tag.empty() ? "" : tag.drop_front().split(tag.front()).first;
}

static FappFile scan(StringRef text) {
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
      file.events.push_back(
          {region, nameIn(tag), value, line, next.starts_with("/event>")});
    line += unsigned(tag.count('\n'));
    text = after;
  }
  return file;
}

/// "0x2d" and "0x002D": 0x002d.
static std::string eventName(StringRef name) {
  unsigned number;
  if (name.starts_with_insensitive("0x") && !name.getAsInteger(0, number))
    return formatv("0x{0:x-4}", number);
  return name.lower();
}

Error mpg::readFapp(StringRef text, Measurement &into) {
  into.tool = "fapp";
  FappFile file = scan(text);
  // Regions lie in "all", if there is one, and would be counted twice.
  bool hasAll = any_of(file.events, [](const FappEvent &event) {
    return event.region == "all";
  });
  for (const FappEvent &event : file.events) {
    std::string name = eventName(event.name);
    bool isTime = name == "cntvct" && file.ticksPerSecond >= 1;
    if ((hasAll && event.region != "all") ||
        (!isTime && !Measurement::isKnownEvent(name)))
      continue;
    std::optional<uint64_t> count = parseCount(event.value);
    double ns = 1e9 * double(count.value_or(0)) / file.ticksPerSecond;
    if (!event.isWhole)
      into.addProblem(event.line, event.name.str() + ": " + event.value.str() +
                                      ": the file ends here; was the disk "
                                      "full? Write it again");
    else if (!count || (isTime && ns >= 0x1p63))
      into.addProblem(event.line, event.name.str() + ": " + event.value.str() +
                                      ": this is no count; write the file "
                                      "again");
    else if (isTime)
      into.add("task-clock", uint64_t(ns), event.line);
    else
      into.add(name, *count, event.line);
  }
  if (!into.hasCounts() && into.problems.empty())
    return importError(into, 0,
                       "none of the events in it is one that the rules ask "
                       "for; count: fapp -C -d DIR -Icpupa -Hevent_raw=0x0008,"
                       "0x0011,0x0005,0x002d,0x0003,0x0004,0x0200 ./program");
  return Error::success();
}
