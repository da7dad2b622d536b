// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckLists.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

/// What is wrong with \p word, or "".
static std::string readWord(StringRef word, bool first,
                            AuditSettings &settings) {
  char sign = word.empty() ? 0 : word.front();
  bool remove = sign == '-';
  if (sign == '+' || sign == '-')
    word = word.drop_front();
  else if (first)
    settings.checks.clear(); // a list without signs replaces the default
  std::vector<FindingId> ids;
  bool named = false;
  unsigned number = 0;
  if (std::optional<FindingGroup> group = parseGroup(word)) {
    for (const FindingInfo &info : allFindings())
      if (info.group == *group && defaultChecks().contains(info.id))
        ids.push_back(info.id);
  } else if (word.starts_with_insensitive("MPG") &&
             !word.drop_front(3).getAsInteger(10, number) && findInfo(number)) {
    ids.push_back(FindingId(number));
    named = true;
  } else {
    return "unknown check '" + word.str() +
           "' in --checks; give a group (layout loader heap tags hygiene job "
           "malformed) or a finding such as MPG103";
  }
  for (FindingId id : ids) {
    settings.named.erase(id);
    if (remove)
      settings.checks.erase(id);
    else
      (named ? settings.named : settings.checks).insert(id);
  }
  return "";
}

std::string mpg::readCheckLists(ArrayRef<std::string> lists,
                                AuditSettings &settings) {
  bool first = true;
  for (const std::string &list : lists) {
    SmallVector<StringRef, 8> words;
    StringRef(list).split(words, ',');
    for (StringRef word : words) {
      std::string problem = readWord(word, first, settings);
      if (!problem.empty())
        return problem;
      first = false;
    }
  }
  return "";
}
