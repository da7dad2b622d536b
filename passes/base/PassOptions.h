// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes' options from the command line and the environment: one
// comma-separated text, MPG_PASS_OPTIONS of the environment, and on LLVM 22 an
// -mllvm -mpg-NAME=VALUE for each; and a debug counter. The first pass of a
// compile writes the options into the module, so a link with LTO needs none.

#pragma once

#include "base/LLVM.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// How to treat arrays whose memory would be on the wrong NUMA nodes.
enum class FirstTouch {
  off,         ///< no change and no remark
  remark,      ///< remarks only
  on,          ///< the memory is touched by the threads that will use it
  parallelInit ///< the initialisation itself is made parallel where it can be
};

/// Whether the program reports its accesses to mpgsim (sim/SimPass.cpp).
enum class Simulation {
  off,
  on,
  check ///< for tests: loops that are summed up are recorded as well
};

/// The rules of zfill/Zfill.h, for tests that break one of them (wrong).
enum class ZfillRule {
  none,
  ahead,      ///< only what is behind the stores is read
  calls,      ///< no calls
  conditions, ///< each iteration stores
  distance,   ///< lines are ahead of the stores
  end,        ///< and before the end of what is overwritten
  exits,      ///< one exit
  gaps,       ///< all bytes are overwritten
  reads,      ///< what is overwritten is not read
  scopes,     ///< facts about one iteration are none about two
  size,       ///< the machine's blocks have the expected size
  volatiles,  ///< nothing volatile or atomic
  wraps       ///< counters do not wrap
};

/// PassOptions::zfill: blocks as large as the machine's.
constexpr unsigned zfillAuto = ~0u;

/// Of a loop that has its own number of lines, as metadata; and of a module
/// that has such loops.
constexpr char zfillMark[] = "mpg.zfill";

/// Reads "off", "auto" or a number of lines.
bool readZfill(StringRef value, unsigned &lines);
/// Of the published runs of STREAM with Fujitsu's compilers, 14 to 18.
/// HW:a64fx-stream-published
constexpr unsigned zfillDefaultLines = 18;

/// Where loops get prefetches (prefetch/Prefetch.h).
enum class Prefetch {
  off,
  user, ///< where the source asks for them
  far   ///< in all loops
};

/// How many lines ahead of its accesses a loop prefetches; 0: not into this
/// cache. The defaults are those of the fastest published runs of STREAM with
/// Fujitsu's compilers.
struct PrefetchLines {
  unsigned l1 = 9, l2 = 70;
};
constexpr unsigned maxL1Lines = 100, maxL2Lines = 500;
/// Iterations ahead of a lookup by an index.
constexpr unsigned maxIndirect = 1000;

/// Of a loop that has its own choice, as metadata: whether, and how far.
constexpr char prefetchMark[] = "mpg.prefetch";
constexpr char prefetchL1Mark[] = "mpg.prefetch.l1";
constexpr char prefetchL2Mark[] = "mpg.prefetch.l2";
constexpr char indirectMark[] = "mpg.prefetch.indirect";

/// Options that also apply to modules without hints.
struct StepOptions {
  bool autoSectors = false; ///< sector=auto: sectors for other code as well
  FirstTouch firstTouch = FirstTouch::on;
  Simulation sim = Simulation::off;
  /// How many lines ahead of stores DC ZVA zeroes one; 0: none.
  unsigned zfill = 0;
  bool zfillAlways = false; ///< for tests: in small arrays as well
  ZfillRule zfillBreaks = ZfillRule::none;
  Prefetch prefetch = Prefetch::off;
  PrefetchLines prefetchLines;
  unsigned prefetchIndirect = 0; ///< iterations ahead; 0: none
  bool streamStores = false;     ///< non-temporal stores, on x86-64
  bool largeAlways = false;      ///< for tests: small arrays count as large
  bool verify = false;           ///< run LLVM's verifier after ours
};

struct PassOptions : StepOptions {
  bool userHints = true;   ///< sector=user; sector=off leaves all untagged
  bool extended = false;   ///< inject= may be used
  bool stripDebug = false; ///< drop debug info after the side file is read
  std::optional<uint64_t> randomSeed; ///< a random hint for every variable
  std::vector<std::string> hintFiles; ///< side files
  bool placeEarly = false; ///< for tests: tag before the vectoriser (wrong)
  bool formGep = false;    ///< for tests: tag by a GEP (wrong)
};

/// Reads "name=value,name=value". The error names the option.
Error parsePassOptions(StringRef text, PassOptions &into);

/// Registers -mllvm -mpg-NAME=VALUE. Call it once, before LLVM reads the
/// command line; on LLVM 19 that has happened by then and the call has no
/// effect.
void registerPassOptions();

/// Reads the environment and the command line. The error names the option.
Expected<PassOptions> readPassOptions();

/// Writes the options into \p module, for later stages and a link with LTO.
void storePassOptions(Module &module, const PassOptions &options);

/// The options written into \p module; of linked modules the first that has any
/// counts for all. In modules without hints nothing is written: StepOptions are
/// then those of this step's environment and command line.
PassOptions loadPassOptions(const Module &module);

/// Makes -mllvm -debug-counter=mpg-tag=0-99 known, which tags the first hundred
/// accesses only: with it, the one tag that breaks a program is found by
/// halving. Call it once, before the command line is read; not from a global
/// constructor, see registerPassOptions.
void registerDebugCounters();

/// Counts one access; whether it may be tagged.
bool shouldTag();

} // namespace mpg
