// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobState.h.

#include "JobScript/JobState.h"

using namespace llvm;
using namespace mpg;

bool JobRecord::spend(size_t bytes) {
  if (bytes > budget)
    return false;
  budget -= bytes;
  return true;
}

void JobRecord::addSetting(StringRef name, JobWord value, unsigned line,
                           StringRef how) {
  if (spend(name.size() + value.text.size() + value.unknown.size()))
    script.settings.push_back(
        {name.str(), std::move(value), line, how.str(), isConditional()});
}

void JobRecord::addCommand(const ShellCommand &command) {
  JobCommand entry;
  entry.line = command.line;
  entry.conditional = isConditional();
  size_t bytes = 0;
  for (const auto &[target, value] : command.assignments) {
    JobWord word = value.word();
    word.text = target + word.text;
    entry.words.push_back(std::move(word));
  }
  entry.words.insert(entry.words.end(), command.words.begin(),
                     command.words.end());
  for (const JobWord &word : entry.words)
    bytes += word.text.size() + word.unknown.size();
  if (spend(bytes))
    script.commands.push_back(std::move(entry));
}
