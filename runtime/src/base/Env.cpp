// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the environment into a Config. resolve() applies the rules between
// variables, and docs/environment.md gives their reasons.

#include "base/Env.h"
#include "base/Messages.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mpg;

namespace {

/// Values of all variables, each valid: the given one, or the default.
struct Values {
  bool given[variableCount] = {};
  uint64_t number[variableCount] = {};

  uint64_t of(Variable variable) const { return number[size_t(variable)]; }
  void set(Variable variable, uint64_t value) {
    number[size_t(variable)] = value;
  }
  bool has(Variable variable) const { return given[size_t(variable)]; }
};

} // namespace

// The programs that are affected

/// stat() by a raw system call, for the reason that exists() has.
static bool statFile(const char *path, struct stat &status) {
  return path && !isError(rawCall(SYS_newfstatat, AT_FDCWD, long(path),
                                  long(&status), 0));
}

/// Whether \p target is the file that this process runs. A malformed target is
/// reported as a wrong value and restricts nothing. Under a user-mode emulator
/// (qemu-aarch64) the kernel's answer is the emulator, so the name passed to
/// exec is used.
static bool namesThisProgram(const char *target) {
  uint64_t device, inode;
  struct stat status;
  if (!parseFile(target, device, inode) || !statFile("/proc/self/exe", status))
    return true;
  auto isIt = [&] {
    return uint64_t(status.st_dev) == device &&
           uint64_t(status.st_ino) == inode;
  };
  return isIt() ||
         (statFile(reinterpret_cast<const char *>(getauxval(AT_EXECFN)),
                   status) &&
          isIt());
}

/// Only the first of the ranks that a launcher has started on this node prints.
static bool isFirstRank(const char *const *environment) {
  static const char *const names[] = {
#define MPG_LOCAL_RANK(name) name,
#include "mpg/ranks.def"
  };
  for (const char *name : names)
    if (const char *rank = findValue(environment, name))
      return rank[0] == '0' && rank[1] == '\0';
  return true;
}

/// The value of \p variable, or its default; \p given receives which.
static uint64_t quietValue(const char *const *environment, Variable variable,
                           bool &given) {
  const Setting &setting = getSetting(variable);
  const char *text = findValue(environment, setting.name);
  uint64_t value = 0;
  given = text && parseValue(setting, text, value);
  if (!given)
    parseValue(setting, setting.fallback, value);
  return value;
}

/// Whether job scripts here may parse Fujitsu's messages: its system software
/// or its job manager is present.
static bool isVendorSystem(const char *const *environment) {
  return findValue(environment, "PJM_JOBID") || exists("/opt/FJSVxos");
}

void mpg::readAudience(const char *const *environment, Config &config) {
  const char *target = findValue(environment, "MPG_TARGET");
  config.isTarget = !target || namesThisProgram(target);
  config.speaks = isFirstRank(environment);
  bool given = false;
  config.quiet = quietValue(environment, Variable::MPG_QUIET, given) == 1;
  config.vendorCodes = isVendorSystem(environment);
  uint64_t fd;
  const char *text = findValue(environment, "MPG_STATE_FD");
  if (text && parseValue(getSetting(Variable::MPG_STATE_FD), text, fd))
    config.stateFd = int(fd);
  uint64_t pid;
  text = findValue(environment, "MPG_STATE_PID");
  if (text && parseValue(getSetting(Variable::MPG_STATE_PID), text, pid))
    config.statePid = int(pid);
}

/// Takes the entry \p name out of \p environment. By hand: a shell has
/// functions by the names of the C library's, which do not work before its
/// main.
static void removeVariable(char **environment, const char *name) {
  size_t length = __builtin_strlen(name);
  char **to = environment;
  for (char **from = environment; *from; ++from)
    if (__builtin_strncmp(*from, name, length) != 0 || (*from)[length] != '=')
      *to++ = *from;
  *to = nullptr;
}

/// Whether the loader has found \p library by the entry of LD_PRELOAD that
/// begins at \p entry and has \p length characters.
static bool isEntry(const char *entry, size_t length, const char *library) {
  size_t all = __builtin_strlen(library);
  const char *end = all > length ? library + all - length : library;
  return length && all >= length && (end == library || end[-1] == '/') &&
         __builtin_strncmp(end, entry, length) == 0;
}

void mpg::leaveEnvironment(char **environment, const char *library) {
  if (!findValue(environment, "MPG_TARGET"))
    return;
  removeVariable(environment, "MPG_TARGET");
  removeVariable(environment, "MPG_STATE_FD");
  // mpgrun puts libmpg in front.
  auto *list = const_cast<char *>(findValue(environment, "LD_PRELOAD"));
  size_t length = 0;
  while (list && list[length] && list[length] != ':' && list[length] != ' ')
    ++length;
  if (!list || !isEntry(list, length, library))
    return;
  if (!list[length])
    removeVariable(environment, "LD_PRELOAD");
  else
    __builtin_memmove(list, list + length + 1,
                      __builtin_strlen(list + length + 1) + 1);
}

void mpg::readSectorSettings(const char *const *environment,
                             SectorSettings &settings) {
  bool given = false; // TRUE is the first word
  settings.on = quietValue(environment, Variable::FLIB_SCCR_CNTL, given) == 0;
  settings.l1WithoutL2 =
      quietValue(environment, Variable::FLIB_L1_SCCR_CNTL, given) == 0;
  uint64_t ways = quietValue(environment, Variable::FLIB_L2_SECTOR_NWAYS_INIT,
                             settings.initialL2Given);
  settings.initialL2[0] = uint8_t(ways);
  settings.initialL2[1] = uint8_t(ways >> 8);
}

TouchMode mpg::readTouchMode(const char *const *environment) {
  bool given = false;
  return TouchMode(quietValue(environment, Variable::MPG_FIRST_TOUCH, given));
}

// Values

/// The start of \p text and the quotation mark after it.
static void addShort(LineBuffer &line, const char *text) {
  constexpr size_t shownBytes = 40;
  size_t length = 0;
  while (length <= shownBytes && text[length])
    ++length;
  line.add(text, length < shownBytes ? length : shownBytes);
  line.add(length > shownBytes ? "...'" : "'");
}

static void reportBadValue(const Setting &setting, const char *text,
                           Messages &messages) {
  LineBuffer line(setting.name, "='");
  addShort(line, text);
  line.addAll(" is not valid (", setting.domain);
  if (setting.type == ValueType::policy3)
    line.addAll(" for .bss, stacks and mmap, such as ", setting.fallback);
  line.add(")");
  if (setting.fallback[0])
    line.addAll("; the default, ", setting.fallback, ", is used");
  else
    line.add("; it counts as not set");
  messages.report(MPG_MSG_BAD_VALUE, line);
}

/// The C library takes the first of two, others may take the last.
static void reportTwice(const Setting &setting, const char *text,
                        Messages &messages) {
  LineBuffer line(setting.name,
                  " is set twice, to different values; the first, '");
  addShort(line, text);
  line.add(", counts");
  messages.report(MPG_MSG_BAD_VALUE, line);
}

namespace {

/// The entries of an environment that begin as a variable of the table does.
/// Dozens of names are looked up, so this saves most of the comparisons.
class OwnEntries {
public:
  explicit OwnEntries(const char *const *environment) : entries(found) {
    uint64_t letters = 0;
    for (size_t index = 0; index < variableCount; ++index)
      letters |= getMask(getSetting(Variable(index)).name);
    size_t count = 0;
    for (auto *entry = environment; entry && *entry; ++entry) {
      if (!(letters & getMask(*entry)))
        continue;
      if (count == max) { // all of them, then
        entries = environment;
        return;
      }
      found[count++] = *entry;
    }
    found[count] = nullptr;
  }
  const char *const *get() const { return entries; }

private:
  static constexpr size_t max = 128;
  static uint64_t getMask(const char *name) {
    return uint64_t(1) << (name[0] & 63);
  }
  const char *const *entries;
  const char *found[max + 1];
};

} // namespace

static Values readValues(const char *const *environment, Messages &messages) {
  Values values;
  for (size_t index = 0; index < variableCount; ++index) {
    const Setting &setting = getSetting(Variable(index));
    if (setting.fallback[0])
      parseValue(setting, setting.fallback, values.number[index]);
    const char *text = findValue(environment, setting.name);
    if (!text)
      continue;
    const char *second = findValue(environment, setting.name, text);
    if (second && __builtin_strcmp(text, second) != 0)
      reportTwice(setting, text, messages);
    uint64_t value = 0;
    if (parseValue(setting, text, value)) {
      values.given[index] = true;
      values.number[index] = value;
    } else {
      reportBadValue(setting, text, messages);
    }
  }
  return values;
}

/// Reports misspelt names, which would otherwise be ignored silently. Other
/// programs have variables that begin with MPG_, so of these only names close
/// to ours are reported.
static void reportUnknownNames(const char *const *environment,
                               Messages &messages) {
  static const char prefix[] = "XOS_MMM_L_", own[] = "MPG_";
  if (!environmentCounts())
    return;
  for (; environment && *environment; ++environment) {
    const char *entry = *environment;
    bool isOwn = __builtin_strncmp(entry, own, sizeof(own) - 1) == 0;
    if (!isOwn && __builtin_strncmp(entry, prefix, sizeof(prefix) - 1) != 0)
      continue;
    size_t length = 0;
    while (entry[length] && entry[length] != '=')
      ++length;
    bool known = false;
    for (size_t index = 0; index < variableCount && !known; ++index) {
      const char *name = getSetting(Variable(index)).name;
      known = __builtin_strncmp(entry, name, length) == 0 && !name[length];
    }
    const char *nearest =
        known ? nullptr : nearestName(entry, length, isOwn ? 2 : 4);
    if (known || (isOwn && !nearest))
      continue;
    LineBuffer line;
    line.add(entry, length < 64 ? length : 64)
        .add(" is unknown and has no effect");
    if (nearest)
      line.addAll("; did you mean ", nearest, "?");
    messages.report(MPG_MSG_BAD_VALUE, line);
  }
}

// Rules between variables

/// HPAGE_TYPE=none: the vendor's other variables count as unset.
static void forgetVendor(Values &values) {
  for (size_t index = 0; index < variableCount; ++index) {
    const Setting &setting = getSetting(Variable(index));
    if (setting.owner != Owner::fujitsu ||
        Variable(index) == Variable::XOS_MMM_L_HPAGE_TYPE ||
        Variable(index) == Variable::XOS_MMM_L_PRINT_ENV)
      continue;
    values.given[index] = false;
    parseValue(setting, setting.fallback, values.number[index]);
  }
}

/// Large pages are asked for by one variable and switched off by another.
static void reportConflict(const Values &values, Messages &messages) {
  Mode mode = Mode(values.of(Variable::MPG_MODE));
  if (mode != Mode::hugetlb && mode != Mode::thp)
    return;
  messages.report(
      MPG_MSG_CONFLICT,
      "XOS_MMM_L_HPAGE_TYPE=none switches large pages off, so MPG_MODE=",
      mode == Mode::thp ? "thp" : "hugetlb",
      " has no effect (all memory stays on normal pages); fix: unset one "
      "of them");
}

static Paging parsePaging(const Values &values, unsigned field) {
  return values.of(Variable::XOS_MMM_L_PAGING_POLICY) >> field & 1
             ? Paging::prepage
             : Paging::demand;
}

/// The requested size, or 2 MiB with a message where the kernel does not have
/// that size. Without sysfs the sizes are unknown, and the requested one is
/// tried.
static size_t readHugeBytes(Values &values, Mode mode, Messages &messages) {
  static const size_t sizes[] = {size_t(2) << 20, size_t(32) << 20,
                                 size_t(512) << 20, size_t(1) << 30,
                                 size_t(16) << 30};
  size_t bytes = sizes[values.of(Variable::XOS_MMM_L_HUGETLB_SZ)];
  constexpr const char *folder = "/sys/kernel/mm/hugepages";
  LineBuffer path(folder, "/hugepages-", bytes >> 10, "kB");
  if (mode == Mode::none || bytes == sizes[0] || exists(path.text()) ||
      !exists(folder))
    return bytes;
  messages.report(
      MPG_MSG_BAD_VALUE, "XOS_MMM_L_HUGETLB_SZ: this kernel has no pages of ",
      Bytes(bytes), "; pages of 2 MiB are used; fix: take a size out of ",
      folder);
  values.set(Variable::XOS_MMM_L_HUGETLB_SZ, 0);
  return sizes[0];
}

static void resolveRegions(Values &values, Config &config, Messages &messages) {
  config.hugePages = values.of(Variable::XOS_MMM_L_HPAGE_TYPE) == 0;
  if (!config.hugePages)
    values.set(Variable::MPG_MODE, uint64_t(Mode::none));
  config.mode = Mode(values.of(Variable::MPG_MODE));
  if (config.mode == Mode::none) {
    values.set(Variable::MPG_MMAP, 0);
    values.set(Variable::MPG_TEXT, 0);
  }
  config.stacks = values.of(Variable::XOS_MMM_L_LPG_MODE) == 0;
  config.stacksGiven =
      config.stacks && values.has(Variable::XOS_MMM_L_LPG_MODE);
  config.remapLibraries = values.of(Variable::MPG_REMAP) == 1;
  config.advisesMaps = values.of(Variable::MPG_MMAP) == 1;
  config.text = TextMode(values.of(Variable::MPG_TEXT));
  config.sharesAtFork = values.of(Variable::MPG_FORK) == 1;
  config.hugeBytes = readHugeBytes(values, config.mode, messages);
  config.bssPaging = parsePaging(values, 0);
  config.stackPaging = parsePaging(values, 1);
  config.mmapPaging = parsePaging(values, 2);
  config.pagingGiven = values.has(Variable::XOS_MMM_L_PAGING_POLICY);
  config.fallbackGiven = values.has(Variable::XOS_MMM_L_HUGETLB_FALLBACK);
  config.fallback = values.of(Variable::XOS_MMM_L_HUGETLB_FALLBACK) == 1;
  // 0, 1, off, on: printed as words
  values.set(Variable::XOS_MMM_L_PRINT_ENV,
             values.of(Variable::XOS_MMM_L_PRINT_ENV) | 2);
  config.printEnv = values.of(Variable::XOS_MMM_L_PRINT_ENV) & 1;
  config.forceCopyBack = values.of(Variable::MPG_TEST_COPY_BACK) == 1;
}

/// At least twice the requested threshold: ARENA_FREE=2 changes the threshold
/// to a value that is not a usable heap size.
static uint64_t heapSizeMb(const Values &values) {
  constexpr uint64_t halfMib = 512 << 10, max = 17592186044415;
  uint64_t threshold = values.of(Variable::MALLOC_MMAP_THRESHOLD_);
  if (threshold == UINT64_MAX) // none: treat as unset
    parseValue(getSetting(Variable::MALLOC_MMAP_THRESHOLD_),
               getSetting(Variable::MALLOC_MMAP_THRESHOLD_).fallback,
               threshold);
  uint64_t min = threshold / halfMib + (threshold % halfMib != 0);
  if (values.has(Variable::XOS_MMM_L_HEAP_SIZE_MB) &&
      values.of(Variable::XOS_MMM_L_HEAP_SIZE_MB) > min)
    return values.of(Variable::XOS_MMM_L_HEAP_SIZE_MB);
  return min == 0 ? 1 : min < max ? min : max;
}

/// ARENA_FREE=2 decides four others.
static void keepFreedMemory(Values &values) {
  values.set(Variable::XOS_MMM_L_ARENA_LOCK_TYPE, 1);
  values.set(Variable::XOS_MMM_L_MAX_ARENA_NUM, 1);
  values.set(Variable::MALLOC_MMAP_THRESHOLD_, UINT64_MAX);
  values.set(Variable::MALLOC_TRIM_THRESHOLD_, UINT64_MAX);
}

static void resolveHeap(Values &values, Config &config) {
  static const unsigned checks[] = {0, 1, 2, 3, 5, 7};
  values.set(Variable::XOS_MMM_L_HEAP_SIZE_MB, heapSizeMb(values));
  values.set(Variable::MALLOC_PERTURB_,
             values.of(Variable::MALLOC_PERTURB_) & 255);
  config.arenaFree = 1 + unsigned(values.of(Variable::XOS_MMM_L_ARENA_FREE));
  if (config.arenaFree == 2)
    keepFreedMemory(values);
  config.arenaLockType =
      unsigned(values.of(Variable::XOS_MMM_L_ARENA_LOCK_TYPE));
  config.maxArenaNum = values.of(Variable::XOS_MMM_L_MAX_ARENA_NUM);
  config.mmapThresholdBytes = values.of(Variable::MALLOC_MMAP_THRESHOLD_);
  config.trimThresholdBytes = values.of(Variable::MALLOC_TRIM_THRESHOLD_);
  config.topPadBytes = values.of(Variable::MALLOC_TOP_PAD_);
  config.mmapMax = values.of(Variable::MALLOC_MMAP_MAX_);
  config.coloring = values.of(Variable::XOS_MMM_L_COLORING) == 1;
  config.forceMmapThreshold =
      values.of(Variable::XOS_MMM_L_FORCE_MMAP_THRESHOLD) == 1;
  config.check = checks[values.of(Variable::MALLOC_CHECK_)];
  config.perturb = unsigned(values.of(Variable::MALLOC_PERTURB_));
  config.checkGiven = values.has(Variable::MALLOC_CHECK_);
  if (values.has(Variable::XOS_MMM_L_HEAP_SIZE_MB))
    config.heapStepBytes = values.of(Variable::XOS_MMM_L_HEAP_SIZE_MB) << 20;
}

/// A low threshold is for few, large blocks. The heap's own blocks need no call
/// of the system; each of these takes large pages, which have to be cleared.
static void reportCostly(const Values &values, const Config &config,
                         Messages &messages) {
  uint64_t threshold = values.of(Variable::MALLOC_MMAP_THRESHOLD_);
  if (!values.has(Variable::MALLOC_MMAP_THRESHOLD_) || config.arenaFree == 2 ||
      config.mode == Mode::none || threshold >= config.hugeBytes)
    return;
  messages.report(
      MPG_MSG_CONFLICT, "MALLOC_MMAP_THRESHOLD_=", threshold,
      ": each block of that size and more takes large pages of its own "
      "and clears them (a hundred times slower where many come and go); "
      "fix: unset it, or ",
      config.hugeBytes, " and more");
}

/// Tools of the C library that see its own malloc alone.
static void reportBlindTools(const char *const *environment,
                             const Config &config, Messages &messages) {
  if (config.mode == Mode::none)
    return;
  const char *preload = findValue(environment, "LD_PRELOAD"), *tool = nullptr;
  if (findValue(environment, "MALLOC_TRACE"))
    tool = "MALLOC_TRACE: mtrace()";
  else if (preload && strstr(preload, "libmemusage.so"))
    tool = "libmemusage.so";
  if (!tool)
    return;
  messages.report(MPG_MSG_CONFLICT, tool,
                  " sees no block, because malloc is libmpg's; fix: "
                  "MPG_MODE=none where memory is to be traced, or mpgrun "
                  "--profile");
}

static const char *skipSpace(const char *at) {
  while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
    ++at;
  return at;
}

/// The shift of a number with the suffix \p letter; -1: not a suffix.
static int parseShift(char letter) {
  switch (letter | 32) {
  case 'b':
    return 0;
  case 'k':
    return 10;
  case 'm':
    return 20;
  case 'g':
    return 30;
  }
  return -1;
}

/// A number, a unit, and spaces around both: "512", "16M", " 2 g "; 0 if it is
/// not that. \p shift is that of numbers without a unit.
static size_t parseSize(const char *text, int shift) {
  uint64_t number = 0;
  const char *at = skipSpace(text), *digits = at;
  for (; *at >= '0' && *at <= '9'; ++at)
    if ((number = 10 * number + uint64_t(*at - '0')) > uint64_t(1) << 50)
      return 0;
  if (at == digits)
    return 0;
  at = skipSpace(at);
  if (*at) {
    shift = parseShift(*at);
    at = skipSpace(at + 1);
  }
  bool isValid = !*at && shift >= 0 && number <= SIZE_MAX >> (shift + 1);
  return isValid ? number << shift : 0;
}

/// The value of OMP_STACKSIZE, GOMP_STACKSIZE (libgomp) or KMP_STACKSIZE
/// (libomp) in bytes; the first one that is set counts. 0: none is set, or the
/// value is malformed, which the OpenMP library reports.
static size_t readOmpStackSize(const char *const *environment) {
  static const char *const inKib[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};
  for (const char *name : inKib)
    if (const char *text = findValue(environment, name))
      return parseSize(text, 10);
  const char *text = findValue(environment, "KMP_STACKSIZE");
  return text ? parseSize(text, 0) : 0;
}

void mpg::readSettings(const char *const *environment, Config &config,
                       Messages &messages) {
  OwnEntries own(environment);
  Values values = readValues(own.get(), messages);
  reportUnknownNames(own.get(), messages);
  if (values.of(Variable::XOS_MMM_L_HPAGE_TYPE) != 0) {
    reportConflict(values, messages);
    forgetVendor(values);
  }
  resolveRegions(values, config, messages);
  resolveHeap(values, config);
  memcpy(config.inForce, values.number, sizeof values.number);
  reportCostly(values, config, messages);
  reportBlindTools(environment, config, messages);
  readSectorSettings(own.get(), config.sectors);
  config.firstTouch = readTouchMode(own.get());
  config.ompStackBytes = readOmpStackSize(environment);
}
