// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the command line and the environment say to the passes: options in one
// comma-separated text, MPG_PASS_OPTIONS of the environment, and on LLVM 22 an
// -mllvm -mpg-NAME=VALUE for each; and a debug counter. The first pass of a
// compile writes the options that it found into the module, so a link with LTO
// needs none.

#ifndef MPG_PASSES_PASSOPTIONS_H
#define MPG_PASSES_PASSOPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace mpg {

/// What is done about arrays whose memory would lie on the wrong NUMA nodes.
enum class FirstTouch {
  off,         ///< nothing, and nothing is said
  remark,      ///< it is said
  on,          ///< the memory is touched by the threads that will use it
  parallelInit ///< the initialisation itself is made parallel where it can be
};

/// Whether the program tells mpgsim what it accesses (sim/SimPass.h).
enum class Simulation {
  off,
  on,
  check ///< for tests: loops that are summed up are recorded as well
};

struct PassOptions {
  bool userHints = true;   ///< sector=user; sector=off leaves all untagged
  bool verify = false;     ///< run LLVM's verifier after ours
  bool extended = false;   ///< inject= may be used
  bool stripDebug = false; ///< drop debug info after the side file is read
  std::optional<uint64_t> randomSeed; ///< a random hint for every variable
  std::vector<std::string> hintFiles; ///< side files
  FirstTouch firstTouch = FirstTouch::on;
  Simulation sim = Simulation::off;
  bool placeEarly = false; ///< for tests: tag before the vectoriser (wrong)
  bool formGep = false;    ///< for tests: tag by a GEP (wrong)
};

/// Reads "name=value,name=value". The error names the option.
llvm::Error parsePassOptions(llvm::StringRef text, PassOptions &into);

/// Makes -mllvm -mpg-NAME=VALUE known. Call it once, before the command line is
/// read; on LLVM 19 the command line has been read by then and nothing happens.
void registerPassOptions();

/// What the environment and the command line say. The error names the option.
llvm::Expected<PassOptions> readPassOptions();

/// Writes the options into \p module, for later stages and a link with LTO.
void storePassOptions(llvm::Module &module, const PassOptions &options);

/// What was written into \p module; of linked modules the first one that says
/// something speaks for all. For firstTouch and sim, which are also about
/// modules without hints, where nothing is written: then what the environment
/// and the command line of this step say.
PassOptions loadPassOptions(const llvm::Module &module);

/// Makes -mllvm -debug-counter=mpg-tag=0-99 known, which tags the first hundred
/// accesses only: with it, the one tag that breaks a program is found by
/// halving. Call it once, before the command line is read; not from a global
/// constructor, see registerPassOptions.
void registerDebugCounters();

/// Counts one access; whether it may be tagged.
bool shouldTag();

} // namespace mpg

#endif // MPG_PASSES_PASSOPTIONS_H
