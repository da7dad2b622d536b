// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile for people: one screen, the largest objects first.

#include "Profile/Profile.h"
#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr size_t maxRows = 16;
static constexpr size_t nameColumns = 31;

/// A function of C++ without the arguments of templates; \p name if operators
/// make them ambiguous.
static std::string withoutTemplateArguments(StringRef name) {
  std::string text;
  int depth = 0;
  for (char c : name) {
    depth += c == '<';
    if (depth == 0)
      text += c;
    depth -= c == '>';
  }
  bool isPlain = depth == 0 && !name.contains("operator") &&
                 !StringRef(text).starts_with("::");
  return isPlain ? text : name.str();
}

/// Keeps the part that distinguishes rows: the line, the place within a
/// function or file, the name of a file.
static std::string cut(StringRef text, size_t columns) {
  if (labelColumns(text) <= columns)
    return text.str();
  if (text.contains('<') && !text.starts_with("/"))
    if (std::string shorter = withoutTemplateArguments(text);
        shorter.size() < text.size())
      return cut(shorter, columns);
  if (text.starts_with("/")) {
    while (labelColumns(text) > columns - 3)
      text = text.drop_front().drop_while(
          [](char c) { return (c & 0xc0) == 0x80; }); // a letter's other bytes
    return "..." + text.str();
  }
  size_t place = text.ends_with(")") ? text.rfind(" (") : text.rfind("+0x");
  StringRef tail = place == StringRef::npos ? "" : text.drop_front(place);
  if (tail.size() + 8 > columns)
    tail = "";
  return shortLabel(text.drop_back(tail.size()), columns - tail.size()) +
         tail.str();
}

static std::string describeObject(const ProfileObject &object) {
  bool hasFile = !object.file.empty() && !object.blocks;
  return cut(cut(object.name, nameColumns) +
                 (hasFile ? " (" + object.file + ")" : ""),
             nameColumns);
}

/// The whole name, and its file if it is not its beginning.
static std::string nameMarkup(const ProfileObject &object) {
  bool hasFile =
      !object.file.empty() && !StringRef(object.name).starts_with(object.file);
  return htmlCode(object.name) +
         (hasFile
              ? " <span class=\"muted\">" + escapeHtml(object.file) + "</span>"
              : "");
}

/// Whether the row has another name than its innermost function, which passes
/// on what it allocates.
static bool isPassedOn(const ProfileObject &object) {
  auto [function, place] = StringRef(object.callers.front()).rsplit(" (");
  return place.consume_back(")") && !StringRef(object.name).contains(place);
}

/// The terminal has the nearest callers, a page all of them.
static void addCallers(Table &table, const ProfileObject &object) {
  constexpr size_t maxShown = 3;
  ArrayRef<std::string> callers = object.callers;
  if (callers.size() < 2)
    return;
  std::string text, markup;
  if (isPassedOn(object)) {
    text = "in " + cut(callers[0], nameColumns) + ", ";
    markup = "in " + htmlCode(callers[0]) + ", ";
  }
  for (size_t i = 1; i < callers.size(); ++i) {
    StringRef word = i == 1 ? "from " : ", ";
    markup += word.str() + htmlCode(callers[i]);
    if (i <= maxShown)
      text += word.str() + cut(callers[i], nameColumns);
  }
  table.addNote(cut(text, 110), markup);
}

/// "2 MiB of the pool", "2 MiB, transparent", "4 KiB".
static std::string describePage(const PageUse &pages, bool isFreed) {
  if (pages.unknownBytes && !pages.hugeBytes)
    return "not known";
  if (!pages.hugeBytes || isFreed)
    return pages.pageBytes ? formatBytes(pages.pageBytes) : "";
  bool isMixed = pages.poolBytes && pages.poolBytes < pages.hugeBytes;
  return formatBytes(pages.pageBytes) + (isMixed           ? ", both kinds"
                                         : pages.poolBytes ? " of the pool"
                                                           : ", transparent");
}

/// "node 0: 50 %, node 1: 50 %".
static std::string describeNodes(const PageUse &pages) {
  uint64_t all = 0;
  for (auto [node, count] : pages.nodes)
    all += count;
  std::string text;
  for (auto [node, count] : pages.nodes)
    text += (text.empty() ? "node " : ", node ") + std::to_string(node) + ": " +
            percentText(count, all);
  return text;
}

/// Whether anything lies on another node than the first.
static bool liesOnSeveralNodes(const Profile &profile) {
  for (const ProfileObject &object : profile.objects)
    if (object.pages && (object.pages->nodes.size() > 1 ||
                         (object.pages->nodes.size() == 1 &&
                          object.pages->nodes.begin()->first != 0)))
      return true;
  return false;
}

/// "1.2 ms".
static std::string describeSeconds(std::optional<double> seconds) {
  if (!seconds)
    return "?";
  if (*seconds == 0)
    return "-";
  return *seconds < 10 ? formatv("{0:F1} ms", *seconds * 1000).str()
                       : formatv("{0:F1} s", *seconds).str();
}

Table mpg::makeObjectTable(const Profile &profile, size_t max) {
  Table table({"region", "row|object", "size|peak", "size|at end",
               "size|in use", "size|large", "size|faults", "size|cost", "pages",
               "touched first by"});
  table.addPicture("parts; length: the peak");
  bool hasSeveralNodes = liesOnSeveralNodes(profile);
  for (const ProfileObject &object :
       ArrayRef(profile.objects).take_front(max)) {
    std::string used = "?", huge = "?", page, faults = "?", cost = "?", threads;
    if (object.pages) {
      const PageUse &pages = *object.pages;
      used = percentText(pages.usedBytes, object.lookedBytes);
      if (isHugeKnown(object))
        huge = percentText(pages.hugeBytes, pages.usedBytes);
      page = describePage(pages, object.bytes == 0);
      if (hasSeveralNodes)
        page += "; " + describeNodes(pages);
    }
    if (profile.faultsMissing.empty()) {
      faults = std::to_string(object.faults.faults);
      cost = describeSeconds(faultSeconds(object, profile.faultCosts));
    }
    if (object.faults.faults)
      threads = describeThreads(object.faults, profile.firstThread);
    table.addRow({regionName(object.region).str(), describeObject(object),
                  formatBytes(object.peakBytes),
                  object.bytes ? formatBytes(object.bytes) : "-", used, huge,
                  faults, cost, page, threads, ""});
    table.setMarkup(1, nameMarkup(object));
    table.setMarkup(9, drawThreads(object.faults, profile.firstThread) +
                           escapeHtml(threads));
    table.setMarkup(10, drawPages(object, profile.objects.front().peakBytes));
    addCallers(table, object);
  }
  return table;
}

static void writeObjects(raw_ostream &out, const Profile &profile) {
  if (profile.objects.empty()) {
    out << (profile.isMeasured ? "  no object is that large\n"
                               : "  none of its objects could be seen\n");
    return;
  }
  makeObjectTable(profile, maxRows).write(out, 2);
  size_t shown = std::min(maxRows, profile.objects.size());
  uint64_t rest = 0;
  for (const ProfileObject &object :
       ArrayRef(profile.objects).drop_front(shown))
    rest += object.peakBytes;
  if (rest)
    out << "  " << profile.objects.size() - shown << " more of "
        << formatBytes(rest) << " together, not at one time\n";
}

Table mpg::makeAccessTable(const Profile &profile, size_t max) {
  Table table({"region", "row|object", "size|in use", "size|accessed",
               "size|hot frames", "size|skew", ""});
  table.addPicture("frames");
  size_t rows = 0;
  for (const ProfileObject &object : profile.objects) {
    const AccessCount &count = object.accesses;
    if (!count.presentBytes || rows++ >= max)
      continue;
    table.addRow({regionName(object.region).str(), describeObject(object),
                  formatBytes(count.presentBytes / count.intervals),
                  percentText(count.accessedBytes, count.presentBytes),
                  percentText(count.hotFramePercent()),
                  percentText(count.skewPercent()), describeAccesses(count),
                  ""});
    table.setMarkup(1, nameMarkup(object));
    table.setMarkup(7, drawFrames(count));
  }
  return table;
}

static void writeWorkingSet(raw_ostream &out, const Profile &profile) {
  if (!profile.workingSet)
    return;
  writeFilled(out, "  ", describeWorkingSet(profile));
  if (hasAccesses(profile))
    makeAccessTable(profile, maxRows).write(out, 2);
}

static void writeStallsText(raw_ostream &out, const Profile &profile) {
  if (!profile.stalls)
    return;
  std::string text =
      "stalls of the whole machine meanwhile: " + profile.stalls->describe();
  StringRef meaning = describeDefrag(profile.defrag);
  bool isAboutLargePages =
      profile.stalls->compactions || profile.stalls->refusedFaults;
  if (isAboutLargePages && !meaning.empty())
    text += "; defrag is " + profile.defrag + ": " + meaning.str();
  writeFilled(out, "  ", text);
}

void mpg::writeProfileText(raw_ostream &out, const Profile &profile) {
  out << "mpgrun: " << printable(profile.program) << ": "
      << describeEnding(profile.waitStatus) << ", "
      << format("%.2f s", profile.seconds) << ", memory by object of "
      << formatBytes(minObjectBytes) << " and more\n";
  for (const std::string &text : {profile.problem, profile.otherProcesses})
    if (!text.empty())
      writeFilled(out, "  ", text);
  writeObjects(out, profile);
  writeWorkingSet(out, profile);
  for (const auto &[names, what] : describeCounters(profile.counters))
    writeFilled(out, "  ", names + ": " + what);
  std::string tlbMisses = describeTlbMisses(profile);
  if (!tlbMisses.empty())
    writeFilled(out, "  ", "misses of the TLB by object: " + tlbMisses);
  std::string code = describeCode(profile);
  if (!code.empty())
    writeFilled(out, "  ", "user time by code: " + code);
  writeFilled(out, "  ", "page faults: " + describeFaults(profile));
  writeStallsText(out, profile);
  if (profile.faultsLost)
    out << "  " << profile.faultsLost
        << " samples of page faults were lost; they count in "
           "proportion\n";
  if (profile.blocksLost)
    out << "  " << profile.blocksLost
        << " blocks are in no row: there is room for " << MPG_PROFILE_SITES
        << " places that allocate and " << MPG_PROFILE_BLOCKS
        << " blocks at a time\n";
}

std::string mpg::percentText(uint64_t part, uint64_t all) {
  return std::to_string(all ? unsigned(100.0 * double(part) / double(all))
                            : 0) +
         " %";
}

std::string mpg::percentText(std::optional<double> percent) {
  return percent ? std::to_string(int(*percent)) + " %" : "?";
}

bool mpg::isHugeKnown(const ProfileObject &object) {
  return object.isHugeKnown &&
         (object.pages->hugeBytes || !object.pages->unknownBytes);
}

std::string mpg::describeThreads(const FaultCount &count,
                                 uint32_t firstThread) {
  auto nameThread = [&](uint32_t thread) {
    return thread == firstThread ? "main" : "thread " + std::to_string(thread);
  };
  auto max = std::max_element(
      count.threads.begin(), count.threads.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  // A thread that touched a page of a million is none of those who fill it.
  if (count.threads.size() == 1 || max->second * 100 >= count.faults * 99)
    return nameThread(max->first);
  std::string text = std::to_string(count.threads.size()) + " threads";
  if (max->second > count.faults / 2)
    text += ", " + nameThread(max->first) + " " +
            percentText(max->second, count.faults);
  return text;
}

std::optional<double> mpg::faultSeconds(const ProfileObject &object,
                                        const FaultCosts &costs) {
  if (!object.faults.faults)
    return 0.0;
  // What was measured zeroes memory; a file's pages are there.
  if (object.region == RunRegion::text)
    return std::nullopt;
  // As many of each kind as there are pages of it.
  double large = 0, base = 1;
  if (object.pages && object.pages->usedBytes) {
    large = double(object.pages->hugeBytes) / hugeFrameBytes;
    base = double(object.pages->usedBytes - object.pages->hugeBytes) /
           double(sysconf(_SC_PAGESIZE));
  }
  if ((large && !costs.large) || (base && !costs.base))
    return std::nullopt;
  return double(object.faults.faults) *
         (large * costs.large + base * costs.base) / (large + base) / 1e9;
}

std::vector<std::pair<std::string, std::string>>
mpg::describeCounters(ArrayRef<CounterValue> counters) {
  std::vector<std::pair<std::string, std::string>> counted, missing;
  for (const CounterValue &counter : counters) {
    if (counter.value) {
      counted.emplace_back(counter.name, std::to_string(*counter.value));
      continue;
    }
    auto known = find_if(missing, [&](const auto &row) {
      return row.second == counter.missing;
    });
    if (known == missing.end())
      missing.emplace_back(counter.name, counter.missing);
    else
      known->first += ", " + counter.name;
  }
  if (counted.empty() && missing.size() == 1)
    missing[0].first = "cycles, misses of the TLB and other counters";
  counted.insert(counted.end(), missing.begin(), missing.end());
  return counted;
}

std::string mpg::describeTlbMisses(const Profile &profile) {
  bool hasCounters = any_of(
      profile.counters, [](const CounterValue &one) { return !!one.value; });
  if (!profile.tlbMissesMissing.empty())
    return hasCounters ? profile.tlbMissesMissing : "";
  std::vector<const ProfileObject *> objects;
  for (const ProfileObject &object : profile.objects)
    if (object.tlbMisses)
      objects.push_back(&object);
  sortByMost(objects, &ProfileObject::tlbMisses);
  std::string text;
  for (const ProfileObject *object : ArrayRef(objects).take_front(8))
    text += (text.empty() ? "" : ", ") + cut(object->name, nameColumns) + " " +
            percentText(object->tlbMisses, profile.tlbMisses);
  return (text.empty() ? "none of an object" : text) + "; of " +
         std::to_string(profile.tlbMisses) + " samples";
}

std::string mpg::describeCode(const Profile &profile) {
  std::vector<const ProfileObject *> objects;
  for (const ProfileObject &object : profile.objects)
    if (object.region == RunRegion::text)
      objects.push_back(&object);
  if (objects.empty() || !profile.codeMissing.empty())
    return objects.empty() ? "" : profile.codeMissing;
  sortByMost(objects, &ProfileObject::codeSamples);
  std::string text;
  uint64_t others = profile.codeSamples;
  for (const ProfileObject *object : ArrayRef(objects).take_front(4)) {
    others -= std::min(object->codeSamples, others);
    text += cut(object->name, nameColumns) + " " +
            percentText(object->codeSamples, profile.codeSamples);
    if (object->pages && !object->pages->unknownBytes)
      text += " (" + formatBytes(object->pages->hugeBytes) + " of " +
              formatBytes(object->peakBytes) + " on large pages)";
    text += ", ";
  }
  return text + "other code " + percentText(others, profile.codeSamples) +
         "; of " + std::to_string(profile.codeSamples) + " samples";
}

std::string mpg::describeFaults(const Profile &profile) {
  if (!profile.faultsMissing.empty())
    return profile.faultsMissing;
  std::string text = std::to_string(profile.faults);
  if (profile.isUserFaults)
    text += ", without those in the kernel (read and the like), as "
            "kernel.perf_event_paranoid asks";
  uint64_t inObjects = 0;
  for (const ProfileObject &object : profile.objects)
    inObjects += object.faults.faults;
  if (!inObjects)
    return text;
  text += ", about " + std::to_string(std::min(inObjects, profile.faults)) +
          " of them in these objects";
  const FaultCosts &costs = profile.faultCosts;
  if (costs.base)
    text += formatv("; cost: CPU time, estimated at {0:F2} us for one of {1}",
                    costs.base / 1000,
                    formatBytes(uint64_t(sysconf(_SC_PAGESIZE))));
  if (costs.base && costs.large)
    text += formatv(" and {0:F0} us for one of 2 MiB", costs.large / 1000);
  return text + (costs.base ? ", as measured here after the run" : "");
}

// Rules of thumb: a page in twenty, and as much in vain as in use.
static constexpr double coldPercent = 5, sparsePercent = 50;

bool mpg::isCold(const AccessCount &count) {
  std::optional<double> hot = count.hotFramePercent();
  return hot && *hot < coldPercent;
}

bool mpg::isSparse(const AccessCount &count) {
  std::optional<double> skew = count.skewPercent();
  return !isCold(count) && skew && *skew >= sparsePercent;
}

std::string mpg::describeAccesses(const AccessCount &count) {
  if (!count.intervals)
    return "";
  if (count.isOfMapping())
    return "of its whole mapping";
  if (isCold(count))
    return "cold: deserves no large pages";
  if (isSparse(count))
    return "sparse: large pages would hold " +
           formatBytes(*count.hotBloatBytes()) + " beside it";
  return count.skewPercent() ? "dense" : "";
}

bool mpg::hasAccesses(const Profile &profile) {
  return profile.workingSet && profile.workingSet->missing.empty() &&
         any_of(profile.objects, [](const ProfileObject &object) {
           return object.accesses.presentBytes != 0;
         });
}

std::string mpg::describeWorkingSet(const Profile &profile) {
  const WorkingSetFacts &facts = *profile.workingSet;
  if (!facts.missing.empty())
    return "working set: " + facts.missing;
  std::string text =
      formatv("accessed within {0:F1} s, {1}", facts.meanSeconds,
              facts.intervals == 1
                  ? std::string("one time")
                  : "mean of " + std::to_string(facts.intervals) + " times");
  if (!hasAccesses(profile))
    text += ": no object had memory then";
  return text;
}
