// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accepted findings: how --suppress and .mpgaudit.yaml write them, and which
// findings they hide.

#include "Audit/Finding.h"
#include "Policy/Policy.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>
#include <deque>

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
           "' of expires is not a date; write the last day as 2027-01-31";
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
  Suppression suppression = reader.release();
  suppression.origin = "--suppress";
  suppression.forThisRun = true;
  return suppression;
}

namespace {
struct Entry {
  Suppression suppression;
  Glob path, symbol;
  bool expired = false;
  std::atomic<bool> asked = false; ///< a file that it is about was audited
  std::atomic<bool> used = false;

  bool covers(StringRef absolute) const {
    return suppression.path.empty() || path.match(absolute);
  }
  bool accepts(const Finding &finding) const {
    return suppression.id == idText(finding.id) &&
           (suppression.symbol.empty() || symbol.match(finding.where.symbol));
  }
};
} // namespace

struct Suppressor::State {
  std::deque<Entry> entries; // an atomic cannot be moved
};

/// \p glob was looked at when the suppression was read.
static Glob parsed(Expected<Glob> glob) {
  if (glob)
    return std::move(*glob);
  consumeError(glob.takeError());
  return {};
}

Suppressor::Suppressor(std::vector<Suppression> list, std::string today)
    : state(std::make_unique<State>()) {
  for (Suppression &suppression : list) {
    Entry &entry = state->entries.emplace_back();
    entry.path = parsed(Glob::parsePath(suppression.path));
    entry.symbol = parsed(Glob::parse(suppression.symbol));
    // Dates of this form are in the order of text.
    entry.expired = !suppression.expires.empty() && suppression.expires < today;
    entry.suppression = std::move(suppression);
  }
}

Suppressor::~Suppressor() = default;

bool mpg::canBeAccepted(const Finding &finding) {
  return finding.severity != Severity::error ||
         getInfo(finding.id).group != FindingGroup::malformed;
}

unsigned Suppressor::apply(std::vector<Finding> &findings, StringRef path,
                           const FindingSet *looked) {
  if (state->entries.empty())
    return 0;
  std::string absolute = absolutePath(path);
  SmallVector<Entry *, 8> here;
  for (Entry &entry : state->entries) {
    if (entry.expired || !entry.covers(absolute))
      continue;
    here.push_back(&entry);
    unsigned number = 0;
    if (!looked || (!StringRef(entry.suppression.id)
                         .drop_front(3)
                         .getAsInteger(10, number) &&
                    looked->contains(FindingId(number))))
      entry.asked = true;
  }
  size_t before = findings.size();
  erase_if(findings, [&](const Finding &finding) {
    bool isAccepted = false;
    // Each entry that fits is needed, or two that overlap would be called
    // unused in turn.
    for (Entry *entry : here)
      if (canBeAccepted(finding) && entry->accepts(finding))
        entry->used = isAccepted = true;
    return isAccepted;
  });
  return unsigned(before - findings.size());
}

/// "MPG130 (path bin/app, symbol sbrk)"
static std::string getName(const Suppression &suppression) {
  std::string name = suppression.id, separator = " (";
  for (auto [key, value] : {std::pair("path ", &suppression.path),
                            std::pair("symbol ", &suppression.symbol)})
    if (!value->empty()) {
      name += separator + key + *value;
      separator = ", ";
    }
  return separator == ", " ? name + ")" : name;
}

std::vector<std::string> Suppressor::complaints(bool whole) const {
  std::vector<std::string> lines;
  for (const Entry &entry : state->entries) {
    const Suppression &suppression = entry.suppression;
    std::string name = getName(suppression);
    bool isSure = whole || suppression.forThisRun ||
                  (!suppression.path.empty() && entry.path.isLiteral());
    if (entry.expired)
      lines.push_back(suppression.origin + ": the suppression of " + name +
                      " expired on " + suppression.expires +
                      " and does not count; remove it, or give a new date");
    else if (entry.asked && !entry.used && isSure)
      lines.push_back(suppression.origin + ": no finding needs the " +
                      "suppression of " + name + "; remove it");
  }
  for (std::string &line : lines)
    line = printable(line);
  return lines;
}

// Patterns of names. All ways to match are followed at once, one character
// after the other: a state is the number of the token that is to be matched
// next.

void Glob::add(Kind kind) {
  tokens.push_back({kind, {}});
  wild = true;
}

void Glob::addCharacter(char character) {
  tokens.push_back({Kind::oneOf, {}});
  tokens.back().set.set(uint8_t(character));
}

void Glob::addFolders() {
  add(Kind::maybeFolders);
  add(Kind::inFolders);
}

/// "[a-z]", \p at its bracket, and after the closing one afterwards. Returns
/// what is wrong with it.
std::string Glob::addSet(StringRef pattern, size_t &at) {
  std::bitset<256> set;
  size_t i = at + 1;
  bool isNegated =
      i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  i += isNegated;
  // A bracket that comes first is one of the characters.
  for (size_t first = i;; ++i) {
    if (i >= pattern.size())
      return "'[' is not closed";
    if (pattern[i] == ']' && i != first)
      break;
    uint8_t low = uint8_t(pattern[i]), high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' &&
        pattern[i + 2] != ']') {
      high = uint8_t(pattern[i + 2]);
      i += 2;
    }
    if (high < low)
      return "the range '" + pattern.substr(i - 2, 3).str() + "' is empty";
    for (unsigned character = low; character <= high; ++character)
      set.set(character);
  }
  if (isNegated)
    set.flip();
  set.reset('/');
  add(Kind::oneOf);
  tokens.back().set = set;
  at = i + 1;
  return "";
}

Expected<Glob> Glob::parse(StringRef pattern) {
  Glob glob;
  for (size_t at = 0; at < pattern.size();) {
    StringRef rest = pattern.substr(at);
    bool startsPart = at == 0 || pattern[at - 1] == '/';
    std::string wrong;
    if (startsPart && rest.starts_with("**/")) {
      glob.addFolders();
      at += 3;
    } else if (rest.starts_with("*")) {
      size_t count = rest.size() - rest.ltrim('*').size();
      glob.add(count > 1 ? Kind::doubleStar : Kind::star);
      at += count;
    } else if (rest.starts_with("?")) {
      glob.add(Kind::oneOf);
      glob.tokens.back().set.set().reset('/');
      ++at;
    } else if (rest.starts_with("[")) {
      wrong = glob.addSet(pattern, at);
    } else if (rest == "\\") {
      wrong = "nothing follows the last '\\'";
    } else {
      at += rest.starts_with("\\");
      glob.addCharacter(pattern[at++]);
    }
    if (!wrong.empty())
      return make_error<StringError>(wrong, inconvertibleErrorCode());
  }
  return glob;
}

Expected<Glob> Glob::parsePath(StringRef pattern) {
  Expected<Glob> glob = parse(pattern);
  if (!glob || pattern.starts_with("/"))
    return glob;
  Glob anywhere;
  anywhere.addCharacter('/');
  anywhere.addFolders();
  anywhere.tokens.insert(anywhere.tokens.end(), glob->tokens.begin(),
                         glob->tokens.end());
  anywhere.wild = glob->wild;
  return anywhere;
}

/// Marks \p state and those that are reached from there without a character.
void Glob::enter(std::vector<bool> &states, size_t state) const {
  while (!states[state]) {
    states[state] = true;
    if (state == tokens.size())
      return;
    switch (tokens[state].kind) {
    case Kind::oneOf:
    case Kind::inFolders:
      return;
    case Kind::star:
    case Kind::doubleStar:
      ++state;
      break;
    case Kind::maybeFolders:
      states[state + 1] = true;
      state += 2;
      break;
    }
  }
}

/// Most paths do not end as the pattern does, and need no further look.
bool Glob::endsAlike(StringRef text) const {
  for (size_t i = tokens.size(); i && tokens[i - 1].kind == Kind::oneOf; --i) {
    if (text.empty() || !tokens[i - 1].set[uint8_t(text.back())])
      return false;
    text = text.drop_back();
  }
  return true;
}

bool Glob::match(StringRef text) const {
  if (!endsAlike(text))
    return false;
  std::vector<bool> states(tokens.size() + 1), next;
  enter(states, 0);
  for (char character : text) {
    next.assign(tokens.size() + 1, false);
    for (size_t state = 0; state < tokens.size(); ++state) {
      if (!states[state])
        continue;
      const Token &token = tokens[state];
      if (token.kind == Kind::oneOf && token.set[uint8_t(character)])
        enter(next, state + 1);
      else if (token.kind == Kind::doubleStar ||
               token.kind == Kind::inFolders ||
               (token.kind == Kind::star && character != '/'))
        enter(next, state);
      if (token.kind == Kind::inFolders && character == '/')
        enter(next, state + 1);
    }
    states.swap(next);
  }
  return states.back();
}

bool Glob::isLiteral() const { return !wild; }
