// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile for people: one screen, the largest objects first.

#include "Profile/Profile.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static constexpr size_t mostRows = 16;
static constexpr size_t nameColumns = 31;

static std::string cut(StringRef text, size_t columns) {
  return text.size() <= columns ? text.str()
                                : text.take_front(columns - 3).str() + "...";
}

static std::string nameOf(const ProfileObject &object) {
  bool hasFile = !object.file.empty() && object.region != RunRegion::heap;
  return cut(object.name, nameColumns) +
         (hasFile ? " (" + object.file + ")" : "");
}

static void writeRow(raw_ostream &out, const Profile &profile,
                     const ProfileObject &object, bool hasSeveralNodes) {
  std::string used = "?", huge = "?", page;
  if (object.pages) {
    const PageUse &pages = *object.pages;
    used = percentText(pages.usedBytes, object.lookedBytes);
    if (object.isHugeKnown && (pages.hugeBytes || !pages.unknownBytes))
      huge = percentText(pages.hugeBytes, pages.usedBytes);
    page = describePage(pages, object.bytes == 0);
    if (hasSeveralNodes)
      page += "; " + describeNodes(pages);
  }
  bool areKnown = profile.faultsMissing.empty();
  out << "  " << left_justify(regionName(object.region), 13)
      << left_justify(cut(nameOf(object), nameColumns), nameColumns)
      << right_justify(formatBytes(object.peakBytes), 9)
      << right_justify(object.bytes ? formatBytes(object.bytes) : "-", 9)
      << right_justify(used, 7) << right_justify(huge, 7)
      << right_justify(areKnown ? std::to_string(object.faults.faults) : "?", 9)
      << (page.empty() ? "" : "  ") << page;
  if (object.faults.faults)
    out << (page.empty() ? "  " : "; ")
        << describeThreads(object.faults, profile.firstThread);
  out << "\n";
  if (object.callers.size() > 1) {
    ArrayRef<std::string> outer = ArrayRef(object.callers).drop_front();
    out << "    from " << cut(join(outer.take_front(3), ", "), 70) << "\n";
  }
}

/// What was counted in a line, then one for each reason why something was not.
static void writeCounters(raw_ostream &out,
                          const std::vector<CounterValue> &counters) {
  std::string counted;
  std::vector<std::pair<std::string, std::string>> missing; // reason, names
  for (const CounterValue &counter : counters) {
    if (counter.value) {
      counted += (counted.empty() ? "" : ", ") + counter.name + " " +
                 std::to_string(*counter.value);
      continue;
    }
    auto known = llvm::find_if(
        missing, [&](auto &one) { return one.first == counter.missing; });
    if (known == missing.end())
      missing.emplace_back(counter.missing, counter.name);
    else
      known->second += ", " + counter.name;
  }
  if (!counted.empty())
    out << "  " << fillText(counted, 2) << "\n";
  for (const auto &[reason, names] : missing)
    out << "  " << fillText(names + ": " + reason, 2) << "\n";
}

static void writeObjects(raw_ostream &out, const Profile &profile) {
  if (profile.objects.empty()) {
    out << (profile.isMeasured ? "  no object is that large\n"
                               : "  none of its objects could be seen\n");
    return;
  }
  out << "  " << left_justify("region", 13)
      << left_justify("object", nameColumns)
      << "     peak   at end in use  large   faults  pages; touched first by\n";
  bool severalNodes = liesOnSeveralNodes(profile);
  size_t shown = std::min(mostRows, profile.objects.size());
  for (const ProfileObject &object :
       ArrayRef(profile.objects).take_front(shown))
    writeRow(out, profile, object, severalNodes);
  uint64_t rest = 0;
  for (const ProfileObject &object :
       ArrayRef(profile.objects).drop_front(shown))
    rest += object.peakBytes;
  if (rest)
    out << "  " << profile.objects.size() - shown << " more of "
        << formatBytes(rest) << " together\n";
}

static void writeAccessRow(raw_ostream &out, const ProfileObject &object) {
  const AccessCount &count = object.accesses;
  out << "  " << left_justify(regionName(object.region), 13)
      << left_justify(cut(nameOf(object), nameColumns), nameColumns)
      << right_justify(formatBytes(count.presentBytes / count.intervals), 9)
      << right_justify(percentText(count.accessedBytes, count.presentBytes), 10)
      << right_justify(percentText(count.hotFramePercent()), 12)
      << right_justify(percentText(count.skewPercent()), 6) << "  "
      << describeAccesses(count) << "\n";
}

static void writeWorkingSet(raw_ostream &out, const Profile &profile) {
  if (!profile.workingSet)
    return;
  out << "  " << fillText(describeWorkingSet(profile), 2) << "\n";
  if (!profile.workingSet->missing.empty())
    return;
  size_t rows = 0;
  for (const ProfileObject &object : profile.objects) {
    if (!object.accesses.presentBytes || rows++ >= mostRows)
      continue;
    if (rows == 1)
      out << "  " << left_justify("region", 13)
          << left_justify("object", nameColumns)
          << "   in use  accessed  hot frames  skew\n";
    writeAccessRow(out, object);
  }
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
  out << "  " << fillText(text, 2) << "\n";
}

void mpg::writeProfileText(raw_ostream &out, const Profile &profile) {
  out << "mpgrun: " << printable(profile.program) << ": "
      << describeEnding(profile.waitStatus) << ", "
      << format("%.2f s", profile.seconds) << ", memory by object of "
      << formatBytes(leastObjectBytes) << " and more\n";
  if (!profile.problem.empty())
    out << "  " << fillText(profile.problem, 2) << "\n";
  writeObjects(out, profile);
  writeWorkingSet(out, profile);
  writeCounters(out, profile.counters);
  std::string faults = profile.faultsMissing;
  if (faults.empty())
    faults = std::to_string(profile.faults) +
             (profile.isUserFaults
                  ? ", without those in the kernel (read and the like), as "
                    "kernel.perf_event_paranoid asks"
                  : "");
  out << "  " << fillText("page faults: " + faults, 2) << "\n";
  writeStallsText(out, profile);
  if (profile.faultsLost)
    out << "  " << profile.faultsLost << " samples of page faults were lost\n";
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

std::string mpg::describePage(const PageUse &pages, bool isFreed) {
  if (pages.unknownBytes && !pages.hugeBytes)
    return "not known";
  if (!pages.hugeBytes || isFreed)
    return pages.pageBytes ? formatBytes(pages.pageBytes) : "";
  bool isMixed = pages.poolBytes && pages.poolBytes < pages.hugeBytes;
  return formatBytes(pages.pageBytes) + (isMixed           ? ", both kinds"
                                         : pages.poolBytes ? " of the pool"
                                                           : ", transparent");
}

std::string mpg::describeNodes(const PageUse &pages) {
  uint64_t all = 0;
  for (auto [node, count] : pages.nodes)
    all += count;
  std::string text;
  for (auto [node, count] : pages.nodes)
    text += (text.empty() ? "node " : ", node ") + std::to_string(node) + ": " +
            percentText(count, all);
  return text;
}

std::string mpg::describeThreads(const FaultCount &count,
                                 uint32_t firstThread) {
  auto nameThread = [&](uint32_t thread) {
    return thread == firstThread ? "main" : "thread " + std::to_string(thread);
  };
  auto most = std::max_element(
      count.threads.begin(), count.threads.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  // A thread that touched a page of a million is none of those who fill it.
  if (count.threads.size() == 1 || most->second * 100 >= count.faults * 99)
    return nameThread(most->first);
  std::string text = std::to_string(count.threads.size()) + " threads";
  if (most->second > count.faults / 2)
    text += ", " + nameThread(most->first) + " " +
            percentText(most->second, count.faults);
  return text;
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

std::string mpg::describeWorkingSet(const Profile &profile) {
  const WorkingSetFacts &facts = *profile.workingSet;
  if (!facts.missing.empty())
    return "working set: " + facts.missing;
  return formatv("accessed within {0:F1} s, {1}", facts.meanSeconds,
                 facts.intervals == 1
                     ? std::string("one time")
                     : "mean of " + std::to_string(facts.intervals) + " times")
      .str();
}

bool mpg::liesOnSeveralNodes(const Profile &profile) {
  for (const ProfileObject &object : profile.objects)
    if (object.pages && (object.pages->nodes.size() > 1 ||
                         (object.pages->nodes.size() == 1 &&
                          object.pages->nodes.begin()->first != 0)))
      return true;
  return false;
}
