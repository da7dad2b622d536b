// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Nearest.h.

#include "Support/Nearest.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

/// A word of two letters is close to anything, so the distance depends on the
/// length. A pure guess costs nothing; a wrong name of a megabyte would.
StringRef mpg::nearestName(StringRef typed, ArrayRef<StringRef> names) {
  StringRef nearest;
  unsigned least = unsigned(std::min<size_t>(typed.size(), 30) / 3 + 1);
  for (StringRef name : names) {
    if (typed.size() > name.size() + least)
      continue;
    unsigned distance = typed.edit_distance_insensitive(name, true, least);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

static std::string didYouMean(StringRef name) {
  return "; did you mean '" + name.str() + "'?";
}

std::string mpg::suggest(StringRef typed, ArrayRef<StringRef> names) {
  StringRef nearest = nearestName(typed, names);
  if (!nearest.empty())
    return didYouMean(nearest);
  std::string text = "; it is one of";
  for (StringRef name : names)
    text += " " + name.str();
  return text;
}

std::string mpg::suggestValue(StringRef typed, ArrayRef<StringRef> values) {
  const StringRef *begun = find_if(values, [&](StringRef value) {
    return typed.size() >= 3 && value.starts_with_insensitive(typed);
  });
  return begun != values.end() ? didYouMean(*begun) : suggest(typed, values);
}
