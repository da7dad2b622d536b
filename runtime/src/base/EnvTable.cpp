// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of Env.h, the parser of one value, and the lines of
// XOS_MMM_L_PRINT_ENV.

#include "base/Env.h"
#include "base/Messages.h"
#include "base/SelfMaps.h"
#include <sys/auxv.h>

using namespace mpg;

static const Setting table[] = {
#define MPG_ENV(name, type, domain, fallback, needs, overridden, owner, help)  \
  {#name, ValueType::type, domain,       fallback,                             \
   needs, overridden,      Owner::owner, help},
#include "mpg/env.def"
};

const Setting &mpg::getSetting(Variable variable) {
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
static bool parseAnyNumber(const char *&text, uint64_t &value) {
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
  uint64_t min, max;
  if (!parseAnyNumber(domain, min) || value < min)
    return false;
  domain += 2;
  return !*domain || (parseAnyNumber(domain, max) && value <= max);
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
  if (!parseAnyNumber(text, first) || *text++ != ',' ||
      !parseAnyNumber(text, second) || *text || !isInRange(domain, first))
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
    return parseAnyNumber(text, value) && !*text &&
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
  return parseAnyNumber(text, device) && *text++ == ':' &&
         parseAnyNumber(text, inode) && !*text;
}

bool mpg::environmentCounts() { return getauxval(AT_SECURE) == 0; }

const char *mpg::findValue(const char *const *environment, const char *name,
                           const char *previous) {
  for (; environment && *environment; ++environment) {
    const char *entry = *environment, *at = name;
    while (*at && *entry == *at) {
      ++entry;
      ++at;
    }
    if (*at || *entry != '=')
      continue;
    // Asked for those that are set: at the start dozens of names are looked up.
    if (!environmentCounts())
      return nullptr;
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

const char *mpg::nearestName(const char *name, size_t length, unsigned max) {
  const char *nearest = nullptr;
  unsigned min = max + 1;
  for (const Setting &setting : table) {
    unsigned here = distance(name, length, setting.name);
    // XOS_MMM_L_ARENA_LOCK is ARENA_LOCK_TYPE rather than ARENA_FREE.
    constexpr unsigned forgottenEnd = 3;
    if (here > forgottenEnd &&
        __builtin_strncmp(name, setting.name, length) == 0 &&
        setting.name[length] == '_')
      here = forgottenEnd;
    if (here < min) {
      min = here;
      nearest = setting.name;
    }
  }
  return nearest;
}

// XOS_MMM_L_PRINT_ENV: one line for each variable, with the value in force. If
// the environment asks for another value, the line shows both.

static uint64_t getInForce(Variable variable, const Config &config) {
  if (variable != Variable::XOS_MMM_L_PAGING_POLICY)
    return config.inForce[size_t(variable)];
  // Chosen after the environment has been read, by the pages that there are.
  return uint64_t(config.bssPaging) | uint64_t(config.stackPaging) << 1 |
         uint64_t(config.mmapPaging) << 2;
}

/// Word \p index of "a|b|c".
static void addWord(LineBuffer &line, const char *domain, uint64_t index) {
  while (index)
    index -= *domain++ == '|';
  size_t length = 0;
  while (domain[length] && domain[length] != '|')
    ++length;
  line.add(domain, length);
}

/// The inverse of parseValue(), but for files, which are never printed.
static void addValue(LineBuffer &line, const Setting &setting, uint64_t value) {
  switch (setting.type) {
  case ValueType::choice:
    addWord(line, setting.domain, value);
    break;
  case ValueType::uint:
    if (value == UINT64_MAX)
      line.add("ULONG_MAX");
    else
      line.addNumber(value);
    break;
  case ValueType::policy3:
    for (unsigned field = 0; field < 3; ++field)
      addWord(line.add(field ? ":" : ""), setting.domain, value >> field & 1);
    break;
  case ValueType::pair:
    line.addAll(value & 255, ",", value >> 8);
    break;
  case ValueType::file:
    break;
  }
}

/// Why \p variable has no effect; null if it has one.
static const char *reasonAgainst(Variable variable, const Config &config) {
  const Setting &setting = getSetting(variable);
  if (setting.owner == Owner::flib)
    return setting.needs[0] && !config.sectors.on ? "FLIB_SCCR_CNTL=FALSE"
                                                  : nullptr;
  if (!config.hugePages && setting.needs[0])
    return "XOS_MMM_L_HPAGE_TYPE=none";
  if (variable == Variable::XOS_MMM_L_MAX_ARENA_NUM &&
      config.arenaLockType == 0)
    return "XOS_MMM_L_ARENA_LOCK_TYPE=0";
  return nullptr;
}

/// Reads "glibc.elf.thp = VALUE" at \p text into \p asks; false if it is not
/// there.
static bool readTextTunable(const char *text, bool &asks) {
  static const char name[] = "glibc.elf.thp";
  if (__builtin_strncmp(text, name, sizeof(name) - 1) != 0)
    return false;
  text += sizeof(name) - 1;
  while (*text == ' ' || *text == '\t' || *text == '=')
    ++text;
  asks = *text && *text != '0';
  return true;
}

static const char systemTunables[] = "/etc/tunables.conf";

/// Whether the system's file asks; up to the lines for single programs.
static bool systemAsksForText() {
  LineReader lines(systemTunables);
  const char *line;
  bool asks = false;
  while ((line = lines.next()) && *line != '[')
    for (; *line && *line != '#'; ++line)
      if (readTextTunable(line, asks))
        break;
  return asks;
}

/// Who asks glibc for the same as MPG_TEXT: the last word of the variable, else
/// the system; null: nobody.
static const char *findOtherAsker(const char *const *environment) {
  static const char variable[] = "GLIBC_TUNABLES";
  const char *list = findValue(environment, variable);
  bool asks = false, isNamed = false;
  for (bool isStart = true; list && *list; ++list) {
    isNamed |= isStart && readTextTunable(list, asks);
    isStart = *list == ':';
  }
  if (isNamed)
    return asks ? variable : nullptr;
  return systemAsksForText() ? systemTunables : nullptr;
}

void mpg::addSetting(LineBuffer &line, Variable variable, const Config &config,
                     const char *const *environment) {
  const Setting &setting = getSetting(variable);
  uint64_t inForce = getInForce(variable, config), asked;
  addValue(line.add(setting.name).add("="), setting, inForce);
  const char *given = findValue(environment, setting.name);
  if (variable == Variable::XOS_MMM_L_PAGING_POLICY && config.pagingBecause)
    line.addAll(" (not set; ", config.pagingBecause, ")");
  if (variable == Variable::MPG_FIRST_TOUCH && config.againstParts)
    line.addAll(" (no effect on .bss: ", config.againstParts, ")");
  if (const char *asker = variable == Variable::MPG_TEXT
                              ? findOtherAsker(environment)
                              : nullptr)
    line.addAll(" (", asker, ": glibc.elf.thp asks too, from glibc 2.44 on)");
  if (!given || !parseValue(setting, given, asked))
    return; // a wrong value has had its own line
  if (variable == Variable::XOS_MMM_L_PRINT_ENV)
    asked |= 2;      // 0 and off are the same
  size_t length = 0; // a number may have any number of zeros in front
  while (given[length] && length < 40)
    ++length;
  const char *against = reasonAgainst(variable, config);
  if (asked != inForce)
    line.add(" (asked for ")
        .add(given, length)
        .add("; ")
        .add(against ? against : setting.overriddenBy)
        .add(" decides)");
  else if (against)
    line.addAll(" (no effect: ", against, ")");
}

void mpg::printEnv(const Config &config, const char *const *environment,
                   const char *file) {
  LineBuffer head("mpg: settings in force (libmpg " MPG_VERSION ", ",
                  *file ? file : "part of the program", ")");
  if (config.mode == Mode::none)
    head.add("; large pages are off, malloc is the C library's");
  head.print();
  for (size_t index = 0; index < variableCount; ++index) {
    const Setting &setting = getSetting(Variable(index));
    bool isForTests = Variable(index) == Variable::MPG_TEST_COPY_BACK;
    if (!setting.fallback[0] || // mpgrun's own
        (isForTests && !findValue(environment, setting.name)))
      continue;
    LineBuffer line;
    addSetting(line, Variable(index), config, environment);
    line.print();
  }
}
