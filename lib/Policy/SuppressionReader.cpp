// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Policy/SuppressionReader.h"
#include "Audit/Finding.h"
#include "Policy/Glob.h"
#include "Support/Format.h"
#include "Support/Nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

/// "" if \p text is a finding ("MPG130"), else what is wrong with it.
static std::string wrongFinding(StringRef text) {
  std::vector<std::string> ids;
  for (const FindingInfo &info : allFindings())
    ids.push_back(idText(info.id));
  if (any_of(ids, [&](StringRef id) { return id.equals_insensitive(text); }))
    return "";
  std::vector<StringRef> names(ids.begin(), ids.end());
  StringRef nearest = nearestName(text, names);
  return "there is no finding '" + text.str() + "'" +
         (nearest.empty() ? std::string("; they look like MPG103")
                          : "; did you mean '" + nearest.str() + "'?");
}

static constexpr StringRef keyNames[] = {"id", "path", "symbol", "reason",
                                         "expires"};

static bool isLeapYear(unsigned year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

bool mpg::isDate(StringRef text) {
  auto [yearText, rest] = text.split('-');
  auto [monthText, dayText] = rest.split('-');
  for (auto [part, digits] : {std::pair(yearText, 4u), std::pair(monthText, 2u),
                              std::pair(dayText, 2u)})
    if (part.size() != digits || !all_of(part, isDigit))
      return false;
  unsigned year = 0, month = 0, day = 0;
  yearText.getAsInteger(10, year);
  monthText.getAsInteger(10, month);
  dayText.getAsInteger(10, day);
  const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1)
    return false;
  return day <= days[month - 1] + (month == 2 && isLeapYear(year));
}

static std::string wrongGlob(StringRef key, StringRef value) {
  Expected<Glob> glob = Glob::parse(value);
  if (glob)
    return "";
  return "the pattern '" + value.str() + "' of " + key.str() +
         " is wrong: " + toString(glob.takeError());
}

std::string SuppressionReader::set(StringRef key, StringRef value) {
  std::string *const members[] = {&suppression.id, &suppression.path,
                                  &suppression.symbol, &suppression.reason,
                                  &suppression.expires};
  const StringRef *name = find(keyNames, key);
  if (name == std::end(keyNames))
    return "unknown key '" + key.str() + "' of a suppression" +
           suggest(key, keyNames);
  value = value.trim();
  if (value.empty())
    return key.str() + " of a suppression is empty";
  std::string &member = *members[name - keyNames];
  if (!member.empty())
    return key.str() + " of a suppression is given twice";
  member = key == "id" ? value.upper() : value.str();
  if (key == "id")
    return wrongFinding(value);
  if (key == "path" || key == "symbol")
    return wrongGlob(key, value);
  if (key == "expires" && !isDate(value))
    return "'" + value.str() +
           "' of expires is no date; write the last day as 2027-01-31";
  return "";
}

std::string SuppressionReader::finish() const {
  if (suppression.id.empty())
    return "a suppression names no finding; write id: MPG130";
  if (suppression.reason.empty())
    return "the suppression of " + suppression.id +
           " gives no reason; write why the finding is accepted";
  return "";
}

Expected<Suppression> mpg::parseSuppression(StringRef text) {
  auto fail = [&](const std::string &reason) {
    return make_error<StringError>("--suppress=" + printable(text) + ": " +
                                       printable(reason),
                                   inconvertibleErrorCode());
  };
  SuppressionReader reader;
  SmallVector<StringRef, 8> parts;
  text.split(parts, ';');
  std::string wrong = reader.set("id", parts.front());
  for (StringRef part : drop_begin(parts)) {
    if (!wrong.empty())
      break;
    auto [key, value] = part.split('=');
    if (part.contains('='))
      wrong = reader.set(key.trim(), value);
    else if (!part.trim().empty())
      wrong = "'" + part.str() + "' is no KEY=VALUE; a value ends at ';'";
  }
  if (wrong.empty())
    wrong = reader.finish();
  if (!wrong.empty())
    return fail(wrong);
  Suppression suppression = reader.take();
  suppression.origin = "--suppress";
  suppression.forThisRun = true;
  return suppression;
}
