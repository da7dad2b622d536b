// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment as libmpg understands it: env.def is the table, Config the
// result. A value that is not in a variable's domain counts as not set and
// leaves one line; conditions between variables (ARENA_FREE=2 decides four
// others, HPAGE_TYPE=none switches everything off) are resolved here, so that
// everybody else reads effective values only.

#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mpg {

class LineBuffer;
class Messages;

enum class Variable : uint8_t {
#define MPG_ENV(name, type, domain, fallback, needs, overridden, owner, help)  \
  name,
#include "mpg/env.def"
  count
};

constexpr size_t variableCount = size_t(Variable::count);

enum class Mode : uint8_t { automatic, hugetlb, thp, none };
enum class Paging : uint8_t { demand, prepage };
enum class TouchMode : uint8_t { touch, mbind, off, start };
enum class TextMode : uint8_t { off, pageCache, copy };

/// How the environment wants the sector cache.
struct SectorSettings {
  bool on = true;              ///< FLIB_SCCR_CNTL
  bool l1WithoutL2 = true;     ///< FLIB_L1_SCCR_CNTL
  bool initialL2Given = false; ///< FLIB_L2_SECTOR_NWAYS_INIT is set and valid
  uint8_t initialL2[2] = {14, 0}; ///< its ways for sectors 0 and 1
};

/// Effective settings; written once at start-up, read-only afterwards.
struct Config {
  // Regions and pages.
  bool hugePages = true;         ///< XOS_MMM_L_HPAGE_TYPE is not none
  Mode mode = Mode::automatic;   ///< MPG_MODE; none without hugePages
  bool stacks = true;            ///< XOS_MMM_L_LPG_MODE is base+stack
  bool stacksGiven = false;      ///< the variable is set to that
  size_t ompStackBytes = 0;      ///< OMP_STACKSIZE; 0: not set
  bool remapLibraries = false;   ///< MPG_REMAP=all
  bool advisesMaps = false;      ///< MPG_MMAP=thp; false in mode none
  TextMode text = TextMode::off; ///< MPG_TEXT; off in mode none
  size_t hugeBytes = 2 << 20;    ///< XOS_MMM_L_HUGETLB_SZ
  Paging bssPaging = Paging::prepage;
  Paging stackPaging = Paging::demand;
  Paging mmapPaging = Paging::prepage;
  bool pagingGiven = false; ///< PAGING_POLICY is set to a valid value
  const char *pagingBecause = nullptr; ///< not set, and another default: why
  bool bssInParts = false;             ///< prepaged, a part on each node
  const char *againstParts = nullptr;  ///< why not, although that is asked for
  bool fallbackGiven = false; ///< HUGETLB_FALLBACK is set to a valid value
  bool fallback = true;       ///< its value; not set: falls back
  // Which processes are affected, and what is printed.
  bool printEnv = false;      ///< XOS_MMM_L_PRINT_ENV
  bool isTarget = true;       ///< MPG_TARGET is not set or names this program
  bool speaks = true;         ///< false: another local rank speaks for this one
  bool quiet = false;         ///< MPG_QUIET
  bool vendorCodes = false;   ///< this is a system of Fujitsu's
  int stateFd = -1;           ///< MPG_STATE_FD: mpgrun reads this file
  int statePid = 0;           ///< MPG_STATE_PID; 0: only the program reports
  bool sharesAtFork = false;  ///< MPG_FORK=share
  bool forceCopyBack = false; ///< MPG_TEST_COPY_BACK, for tests
  // The heap.
  unsigned arenaFree = 1;
  unsigned arenaLockType = 1;
  uint64_t maxArenaNum = 1;
  uint64_t heapStepBytes = 0; ///< HEAP_SIZE_MB if it is set; 0: by need
  bool coloring = true;
  bool forceMmapThreshold = false;
  uint64_t mmapThresholdBytes = 128 << 20;
  uint64_t trimThresholdBytes = 128 << 20;
  uint64_t topPadBytes = 128 << 10;
  uint64_t mmapMax = 2097152;
  unsigned check = 3;
  bool checkGiven = false; ///< MALLOC_CHECK_ is set to a valid value
  unsigned perturb = 0;
  SectorSettings sectors;
  TouchMode firstTouch = TouchMode::touch; ///< MPG_FIRST_TOUCH
  /// Of each variable, as parseValue() encodes it, for the lines of PRINT_ENV.
  uint64_t inForce[variableCount] = {};
};

/// Decides whether this process is affected and whether it prints. Reads only
/// the variables for that and prints nothing.
void readAudience(const char *const *environment, Config &config);

/// If mpgrun has started only this program, removes from \p environment the
/// entries that load \p library, the file of this one, into programs:
/// LD_PRELOAD's first entry and MPG_TARGET, MPG_STATE_FD.
void leaveEnvironment(char **environment, const char *library);

/// The settings of the sector cache. They also apply to programs that are
/// otherwise not affected, because these may call mpg_sector_begin. Prints
/// nothing; readSettings() reports wrong values.
void readSectorSettings(const char *const *environment,
                        SectorSettings &settings);

/// MPG_FIRST_TOUCH, which holds in all programs that call mpg_first_touch: also
/// where libmpg is off, or not started. Prints nothing, as above.
TouchMode readTouchMode(const char *const *environment);

/// Reads all other variables from \p environment (as `environ`; not changed,
/// not kept) into \p config, and reports wrong ones.
void readSettings(const char *const *environment, Config &config,
                  Messages &messages);

/// Adds "NAME=VALUE" with the value in force to \p line. If \p environment asks
/// for another value, adds that and the variable that overrides it.
void addSetting(LineBuffer &line, Variable variable, const Config &config,
                const char *const *environment);

/// Prints every variable with its effective value to standard error, and for an
/// overridden one the requested value and the reason. \p file: of the library;
/// empty if it is part of the program.
void printEnv(const Config &config, const char *const *environment,
              const char *file);

// The table env.def, and the parser of one value: pure functions

enum class ValueType : uint8_t { choice, uint, policy3, file, pair };
enum class Owner : uint8_t { fujitsu, glibc, flib, mpg };

struct Setting {
  const char *name;
  ValueType type;
  const char *domain;
  const char *fallback; ///< the value when nothing, or nothing valid, is given
  const char *needs;    ///< settings of others without which it has no effect
  const char *overriddenBy;
  Owner owner;
  const char *help;
};

const Setting &getSetting(Variable variable);

/// Parses \p text by the domain of \p setting. A choice becomes the number of
/// its word, policy3 three bits (1 prepage, the first word is bit 0), a number
/// itself, a file 0, a pair its first number and 256 times its second. False
/// when it is not in the domain.
bool parseValue(const Setting &setting, const char *text, uint64_t &value);

/// "DEVICE:INODE", each decimal, or hexadecimal after 0x.
bool parseFile(const char *text, uint64_t &device, uint64_t &inode);

/// False in a program that runs with more rights than its user has (setuid,
/// setgid, file capabilities): the user's environment must not change it.
bool environmentCounts();

/// The value of \p name in \p environment, or null; the first one counts, or
/// the first one after \p previous.
const char *findValue(const char *const *environment, const char *name,
                      const char *previous = nullptr);

/// The variable of the table that \p name, of \p length bytes, was probably
/// meant to be; null if none is near.
const char *nearestName(const char *name, size_t length, unsigned max = 4);

} // namespace mpg
