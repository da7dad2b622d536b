// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of Env.h, the parser of one value, and the lines of
// XOS_MMM_L_PRINT_ENV.

#include "base/Env.h"
#include "base/Messages.h"
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
  uint64_t min, max;
  if (!parseNumber(domain, min) || value < min)
    return false;
  domain += 2;
  return !*domain || (parseNumber(domain, max) && value <= max);
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
    if (here < min) {
      min = here;
      nearest = setting.name;
    }
  }
  return nearest;
}

// XOS_MMM_L_PRINT_ENV: one line for each variable, with the value in force. If
// the environment asks for another value, the line shows both.

static void addNumber(LineBuffer &line, uint64_t value) {
  if (value == UINT64_MAX)
    line.add("ULONG_MAX");
  else
    line.addNumber(value);
}

static void addPolicy(LineBuffer &line, const Config &config) {
  const Paging fields[] = {config.bssPaging, config.stackPaging,
                           config.mmapPaging};
  for (unsigned index = 0; index < 3; ++index)
    line.add(index ? ":" : "")
        .add(fields[index] == Paging::prepage ? "prepage" : "demand");
}

static const char *modeName(Mode mode) {
  static const char *const names[] = {"auto", "hugetlb", "thp", "none"};
  return names[unsigned(mode)];
}

static const char *touchModeName(TouchMode mode) {
  static const char *const names[] = {"touch", "mbind", "off", "start"};
  return names[unsigned(mode)];
}

static void addPageSize(LineBuffer &line, size_t bytes) {
  if (bytes >> 30)
    line.addNumber(bytes >> 30).add("G");
  else
    line.addNumber(bytes >> 20).add("M");
}

/// The value in force of a numeric variable. No default case, so that the
/// compiler reports a new row of env.def that nothing prints yet.
static uint64_t getNumber(Variable variable, const Config &config) {
  switch (variable) {
  case Variable::XOS_MMM_L_HUGETLB_FALLBACK:
    return config.fallback;
  case Variable::XOS_MMM_L_ARENA_FREE:
    return config.arenaFree;
  case Variable::XOS_MMM_L_ARENA_LOCK_TYPE:
    return config.arenaLockType;
  case Variable::XOS_MMM_L_MAX_ARENA_NUM:
    return config.maxArenaNum;
  case Variable::XOS_MMM_L_HEAP_SIZE_MB:
    return config.heapSizeMb;
  case Variable::XOS_MMM_L_COLORING:
    return config.coloring;
  case Variable::XOS_MMM_L_FORCE_MMAP_THRESHOLD:
    return config.forceMmapThreshold;
  case Variable::MALLOC_MMAP_THRESHOLD_:
    return config.mmapThresholdBytes;
  case Variable::MALLOC_TRIM_THRESHOLD_:
    return config.trimThresholdBytes;
  case Variable::MALLOC_TOP_PAD_:
    return config.topPadBytes;
  case Variable::MALLOC_MMAP_MAX_:
    return config.mmapMax;
  case Variable::MALLOC_CHECK_:
    return config.check;
  case Variable::MALLOC_PERTURB_:
    return config.perturb;
  case Variable::MPG_QUIET:
    return config.quiet;
  case Variable::MPG_TEST_COPY_BACK:
    return config.forceCopyBack;
  case Variable::XOS_MMM_L_HPAGE_TYPE: // words: addEffective()
  case Variable::XOS_MMM_L_LPG_MODE:
  case Variable::XOS_MMM_L_HUGETLB_SZ:
  case Variable::XOS_MMM_L_PAGING_POLICY:
  case Variable::XOS_MMM_L_PRINT_ENV:
  case Variable::MPG_MODE:
  case Variable::MPG_FORK:
  case Variable::MPG_MMAP:
  case Variable::MPG_REMAP:
  case Variable::MPG_FIRST_TOUCH:
  case Variable::FLIB_SCCR_CNTL:
  case Variable::FLIB_L1_SCCR_CNTL:
  case Variable::FLIB_L2_SECTOR_NWAYS_INIT:
  case Variable::MPG_TARGET: // mpgrun's, not printed
  case Variable::MPG_STATE_FD:
  case Variable::MPG_STATE_PID:
  case Variable::count:
    break;
  }
  return 0;
}

/// The value in force, in the words of the variable's domain.
static void addEffective(LineBuffer &line, Variable variable,
                         const Config &config) {
  switch (variable) {
  case Variable::XOS_MMM_L_HPAGE_TYPE:
    // MPG_MODE=none alone does not change the value of the vendor's variable.
    line.add(config.hugePages ? "hugetlbfs" : "none");
    return;
  case Variable::XOS_MMM_L_LPG_MODE:
    line.add(config.stacks ? "base+stack" : "base");
    return;
  case Variable::XOS_MMM_L_HUGETLB_SZ:
    return addPageSize(line, config.hugeBytes);
  case Variable::XOS_MMM_L_PAGING_POLICY:
    return addPolicy(line, config);
  case Variable::XOS_MMM_L_PRINT_ENV:
    line.add(config.printEnv ? "on" : "off");
    return;
  case Variable::MPG_MODE:
    line.add(modeName(config.mode));
    return;
  case Variable::MPG_FORK:
    line.add(config.sharesAtFork ? "share" : "safe");
    return;
  case Variable::MPG_MMAP:
    line.add(config.advisesMaps ? "thp" : "off");
    return;
  case Variable::MPG_REMAP:
    line.add(config.remapLibraries ? "all" : "exe");
    return;
  case Variable::MPG_FIRST_TOUCH:
    line.add(touchModeName(config.firstTouch));
    return;
  case Variable::FLIB_SCCR_CNTL:
    line.add(config.sectors.on ? "TRUE" : "FALSE");
    return;
  case Variable::FLIB_L1_SCCR_CNTL:
    line.add(config.sectors.l1WithoutL2 ? "TRUE" : "FALSE");
    return;
  case Variable::FLIB_L2_SECTOR_NWAYS_INIT:
    line.addNumber(config.sectors.initialL2[0]).add(",");
    line.addNumber(config.sectors.initialL2[1]);
    return;
  default:
    return addNumber(line, getNumber(variable, config));
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

/// Whether \p text, which is valid, is the value in force, however it is
/// written.
static bool isInForce(const Setting &setting, const char *text,
                      const LineBuffer &effective) {
  uint64_t asked = 0, inForce = 0;
  parseValue(setting, text, asked);
  if (!parseValue(setting, effective.text(), inForce))
    inForce = UINT64_MAX; // the word for it
  if (&setting == &getSetting(Variable::XOS_MMM_L_PRINT_ENV))
    return asked % 2 == inForce % 2; // 0 and off are the same
  return asked == inForce;
}

void mpg::addSetting(LineBuffer &line, Variable variable, const Config &config,
                     const char *const *environment) {
  const Setting &setting = getSetting(variable);
  LineBuffer effective;
  addEffective(effective, variable, config);
  line.add(setting.name).add("=").add(effective.text());
  const char *given = findValue(environment, setting.name);
  uint64_t value;
  if (variable == Variable::XOS_MMM_L_PAGING_POLICY && config.pagingBecause)
    line.add(" (not set; ").add(config.pagingBecause).add(")");
  if (variable == Variable::MPG_FIRST_TOUCH && config.againstParts)
    line.add(" (no effect on .bss: ").add(config.againstParts).add(")");
  if (!given || !parseValue(setting, given, value))
    return;          // a wrong value has had its own line
  size_t length = 0; // a number may have any number of zeros in front
  while (given[length] && length < 40)
    ++length;
  const char *against = reasonAgainst(variable, config);
  if (!isInForce(setting, given, effective))
    line.add(" (asked for ")
        .add(given, length)
        .add("; ")
        .add(against ? against : setting.overriddenBy)
        .add(" decides)");
  else if (against)
    line.add(" (no effect: ").add(against).add(")");
}

void mpg::printEnv(const Config &config, const char *const *environment,
                   const char *file) {
  LineBuffer head;
  head.add("mpg: settings in force (libmpg " MPG_VERSION ", ")
      .add(*file ? file : "part of the program")
      .add(")");
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
