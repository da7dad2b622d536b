// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProfileWords.h.

#include "Profile/ProfileWords.h"
#include "Support/Format.h"
#include <algorithm>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

std::string mpg::percentText(uint64_t part, uint64_t all) {
  return std::to_string(all ? unsigned(100.0 * double(part) / double(all))
                            : 0) +
         " %";
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
