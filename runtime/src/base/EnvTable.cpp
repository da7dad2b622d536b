// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EnvTable.h.

#include "base/EnvTable.h"

#include <sys/auxv.h>

using namespace mpg;

static const Setting table[] = {
#define MPG_ENV(name, type, domain, fallback, needs, overridden, owner, help)  \
  {#name, ValueType::type, domain,       fallback,                             \
   needs, overridden,      Owner::owner, help},
#include "mpg/env.def"
};

const Setting &mpg::settingOf(Variable variable) {
  return table[size_t(variable)];
}

/// Whether \p text up to \p end is the word at \p word, which ends at '|' or 0.
static bool isWord(const char *text, const char *end, const char *word) {
  while (text != end && *word && *word != '|' && *text == *word) {
    ++text;
    ++word;
  }
  return text == end && (*word == '\0' || *word == '|');
}

static bool parseChoice(const char *domain, const char *text, const char *end,
                        uint64_t &value) {
  uint64_t number = 0;
  for (const char *word = domain;; ++word) {
    if (isWord(text, end, word)) {
      value = number;
      return true;
    }
    while (*word && *word != '|')
      ++word;
    if (!*word)
      return false;
    ++number;
  }
}

/// Decimal digits only, or hexadecimal after 0x; nothing around them.
static bool parseNumber(const char *&text, uint64_t &value) {
  unsigned base = 10;
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text += 2;
  }
  const char *first = text;
  value = 0;
  for (;; ++text) {
    unsigned digit;
    if (*text >= '0' && *text <= '9')
      digit = unsigned(*text - '0');
    else if (base == 16 && (*text | 32) >= 'a' && (*text | 32) <= 'f')
      digit = unsigned((*text | 32) - 'a' + 10);
    else
      return text != first;
    if (value > (UINT64_MAX - digit) / base)
      return false;
    value = value * base + digit;
  }
}

/// "1..255", "0.."
static bool isInRange(const char *domain, uint64_t value) {
  uint64_t least, most;
  if (!parseNumber(domain, least) || value < least)
    return false;
  domain += 2;
  return !*domain || (parseNumber(domain, most) && value <= most);
}

static bool parsePolicy(const char *domain, const char *text, uint64_t &value) {
  value = 0;
  for (unsigned field = 0; field < 3; ++field) {
    const char *end = text;
    while (*end && *end != ':')
      ++end;
    uint64_t choice;
    if (!parseChoice(domain, text, end, choice) || (*end == ':') != (field < 2))
      return false;
    value |= choice << field;
    text = end + 1;
  }
  return true;
}

/// "0..14,0..14": numbers below 256.
static bool parsePair(const char *domain, const char *text, uint64_t &value) {
  uint64_t first, second;
  if (!parseNumber(text, first) || *text++ != ',' ||
      !parseNumber(text, second) || *text || !isInRange(domain, first))
    return false;
  while (*domain++ != ',')
    ;
  value = first | second << 8;
  return isInRange(domain, second);
}

bool mpg::parseValue(const Setting &setting, const char *text,
                     uint64_t &value) {
  switch (setting.type) {
  case ValueType::choice: {
    const char *end = text;
    while (*end)
      ++end;
    return parseChoice(setting.domain, text, end, value);
  }
  case ValueType::uint:
    return parseNumber(text, value) && !*text &&
           isInRange(setting.domain, value);
  case ValueType::policy3:
    return parsePolicy(setting.domain, text, value);
  case ValueType::file: {
    uint64_t device, inode;
    value = 0;
    return parseFile(text, device, inode);
  }
  case ValueType::pair:
    return parsePair(setting.domain, text, value);
  }
  return false;
}

bool mpg::parseFile(const char *text, uint64_t &device, uint64_t &inode) {
  return parseNumber(text, device) && *text++ == ':' &&
         parseNumber(text, inode) && !*text;
}

bool mpg::environmentCounts() { return getauxval(AT_SECURE) == 0; }

const char *mpg::findValue(const char *const *environment, const char *name,
                           const char *previous) {
  if (!environmentCounts())
    return nullptr;
  for (; environment && *environment; ++environment) {
    const char *entry = *environment, *at = name;
    while (*at && *entry == *at) {
      ++entry;
      ++at;
    }
    if (*at || *entry != '=')
      continue;
    if (!previous)
      return entry + 1;
    if (entry + 1 == previous)
      previous = nullptr;
  }
  return nullptr;
}

/// Levenshtein's distance; names here are short.
static unsigned distance(const char *a, size_t aLength, const char *b) {
  constexpr size_t longest = 64;
  unsigned row[longest + 1];
  if (aLength > longest)
    return unsigned(longest);
  for (size_t i = 0; i <= aLength; ++i)
    row[i] = unsigned(i);
  for (; *b; ++b) {
    unsigned diagonal = row[0]++;
    for (size_t i = 1; i <= aLength; ++i) {
      unsigned change = diagonal + (a[i - 1] != *b);
      diagonal = row[i];
      unsigned insert = row[i] + 1, remove = row[i - 1] + 1;
      row[i] = change < insert ? change : insert;
      row[i] = row[i] < remove ? row[i] : remove;
    }
  }
  return row[aLength];
}

const char *mpg::nearestName(const char *name, size_t length) {
  const char *nearest = nullptr;
  unsigned least = 5;
  for (const Setting &setting : table) {
    unsigned here = distance(name, length, setting.name);
    if (here < least) {
      least = here;
      nearest = setting.name;
    }
  }
  return nearest;
}
