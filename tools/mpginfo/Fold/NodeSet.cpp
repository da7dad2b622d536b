// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Fold.h.

#include "Support/Format.h"
#include "mpginfo/Fold/Fold.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

using namespace llvm;
using namespace mpg;

static constexpr size_t maxNames = 1000000;
static constexpr size_t maxDigits = 9;

namespace {

/// The names that differ in one number alone.
struct NameFamily {
  std::string front, back;
  size_t digits; ///< with zeros in front; 0: without
  bool operator<(const NameFamily &other) const {
    return std::tie(front, back, digits) <
           std::tie(other.front, other.back, other.digits);
  }
};

/// "node", 7 and "-ib" of "node7-ib".
struct SplitName {
  StringRef front, number, back;
};

} // namespace

static std::optional<SplitName> splitName(StringRef name) {
  size_t end = name.find_last_of("0123456789");
  if (end == StringRef::npos)
    return std::nullopt;
  StringRef head = name.take_front(end + 1);
  StringRef front = head.rtrim("0123456789");
  SplitName split = {front, head.substr(front.size()), name.substr(end + 1)};
  if (split.number.size() > maxDigits)
    return std::nullopt;
  return split;
}

static bool isPlain(StringRef name) {
  return !name.empty() && all_of(name, [](char letter) {
    return isAlnum(letter) || StringRef("-_.").contains(letter);
  });
}

static std::string showRanges(const std::vector<uint64_t> &numbers,
                              size_t digits) {
  auto show = [&](uint64_t number) {
    std::string text = std::to_string(number);
    return text.size() < digits ? std::string(digits - text.size(), '0') + text
                                : text;
  };
  std::string text;
  for (size_t at = 0; at < numbers.size();) {
    size_t last = at;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    text += (at ? "," : "") + show(numbers[at]);
    if (last > at)
      text += "-" + show(numbers[last]);
    at = last + 1;
  }
  return text;
}

/// Families with their numbers in order. Whole names have none.
static std::map<NameFamily, std::vector<uint64_t>>
sortNames(const std::vector<std::string> &names) {
  std::set<NameFamily> padded;
  auto getFamily = [](const SplitName &split) {
    return NameFamily{split.front.str(), split.back.str(), split.number.size()};
  };
  for (const std::string &name : names)
    if (auto split = splitName(name))
      if (split->number.size() > 1 && split->number.front() == '0')
        padded.insert(getFamily(*split));
  std::map<NameFamily, std::vector<uint64_t>> families;
  for (const std::string &name : names) {
    std::optional<SplitName> split = splitName(name);
    if (!split || !isPlain(name)) {
      families[{isPlain(name) ? name : shellWord(printable(name)), "", 0}];
      continue;
    }
    NameFamily family = getFamily(*split);
    if (!padded.count(family))
      family.digits = 0;
    uint64_t number = 0;
    split->number.getAsInteger(10, number);
    families[family].push_back(number);
  }
  for (auto &[family, numbers] : families)
    llvm::sort(numbers);
  return families;
}

std::string mpg::foldNames(std::vector<std::string> names, size_t maxParts) {
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  std::vector<std::string> parts;
  size_t shown = 0;
  for (const auto &[family, numbers] : sortNames(names)) {
    if (maxParts && parts.size() == maxParts)
      break;
    shown += std::max<size_t>(numbers.size(), 1);
    std::string ranges = showRanges(numbers, family.digits);
    if (numbers.size() > 1)
      ranges = "[" + ranges + "]";
    parts.push_back(family.front + ranges + family.back);
  }
  std::string text = join(parts, ",");
  if (shown < names.size())
    text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

// The other direction

/// Adds "1-3" or "007" to \p texts.
static bool addRange(StringRef range, std::vector<std::string> &texts) {
  auto [low, high] = range.split('-');
  uint64_t first = 0, last = 0;
  bool isOne = !range.contains('-');
  if (low.size() > maxDigits || low.getAsInteger(10, first))
    return false;
  if (isOne)
    last = first;
  else if (high.size() > maxDigits || high.getAsInteger(10, last) ||
           last < first || last - first >= maxNames)
    return false;
  for (uint64_t number = first; number <= last; ++number) {
    std::string text = std::to_string(number);
    if (text.size() < low.size())
      text.insert(0, low.size() - text.size(), '0');
    texts.push_back(std::move(text));
  }
  return texts.size() <= maxNames;
}

/// One name with any number of brackets.
static bool addNames(const std::string &front, StringRef rest,
                     std::vector<std::string> &names) {
  size_t open = rest.find('['), close = rest.find(']');
  if (open == StringRef::npos) {
    names.push_back(front + rest.str());
    return close == StringRef::npos && names.size() <= maxNames;
  }
  if (close == StringRef::npos || close < open)
    return false;
  std::vector<std::string> texts;
  for (StringRef range : split(rest.slice(open + 1, close), ','))
    if (!addRange(range, texts))
      return false;
  return all_of(texts, [&](const std::string &text) {
    return addNames(front + rest.take_front(open).str() + text,
                    rest.substr(close + 1), names);
  });
}

std::optional<std::vector<std::string>> mpg::expandNames(StringRef set) {
  std::vector<std::string> names;
  size_t start = 0;
  bool isInside = false;
  for (size_t at = 0; at <= set.size(); ++at) {
    char letter = at < set.size() ? set[at] : ',';
    isInside = letter == '[' || (isInside && letter != ']');
    if (letter != ',' || (isInside && at < set.size()))
      continue;
    StringRef name = set.slice(start, at).trim();
    if (name.empty() || !addNames("", name, names))
      return std::nullopt;
    start = at + 1;
  }
  return names;
}
