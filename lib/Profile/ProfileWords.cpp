// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProfileWords.h.

#include "Profile/ProfileWords.h"
#include "Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

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

std::string mpg::describeEnding(int waitStatus) {
  if (WIFSIGNALED(waitStatus))
    return "ended by signal " + std::to_string(WTERMSIG(waitStatus));
  return "status " + std::to_string(WEXITSTATUS(waitStatus));
}

bool mpg::liesOnSeveralNodes(const Profile &profile) {
  for (const ProfileObject &object : profile.objects)
    if (object.pages && (object.pages->nodes.size() > 1 ||
                         (object.pages->nodes.size() == 1 &&
                          object.pages->nodes.begin()->first != 0)))
      return true;
  return false;
}
