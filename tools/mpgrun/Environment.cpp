// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Environment.h.

#include "Environment.h"
#include "Process/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

extern char **environ;

/// "old" after \p front, as lists of the loader and of sanitizers are.
static std::string inFrontOf(std::string front, const char *name) {
  const char *old = getenv(name);
  return old && *old ? front + ":" + old : front;
}

static constexpr char rdmaHugePages[] = "RDMAV_HUGEPAGES_SAFE";

const char *mpg::rdmaForkVariable(const Program &program, StringRef mode) {
  if (!program.stranger.empty() || mode == "none" || getenv(rdmaHugePages))
    return nullptr;
  for (const char *name : {"RDMAV_FORK_SAFE", "IBV_FORK_SAFE"})
    if (getenv(name))
      return name;
  return nullptr;
}

Settings mpg::libmpgSettings(const RunOptions &options, const Program &program,
                             const std::string &libraryPath, StringRef mode,
                             int stateFd) {
  Settings settings;
  if (!program.stranger.empty())
    return settings;
  settings = preloadSettings(libraryPath);
  settings[0].second = inFrontOf(settings[0].second, "LD_PRELOAD");
  if (!options.children)
    settings.emplace_back("MPG_TARGET", program.identity);
  if (!mode.empty())
    settings.emplace_back("MPG_MODE", mode.str());
  if (!options.policy.empty())
    settings.emplace_back("XOS_MMM_L_PAGING_POLICY", options.policy);
  if (options.quiet)
    settings.emplace_back("MPG_QUIET", "1");
  if (options.printEnv)
    settings.emplace_back("XOS_MMM_L_PRINT_ENV", "on");
  if (stateFd >= 0)
    settings.emplace_back("MPG_STATE_FD", std::to_string(stateFd));
  if (stateFd >= 0 && options.children)
    settings.emplace_back("MPG_STATE_PID", std::to_string(getpid()));
  // libibverbs asks for whole large pages then.
  if (rdmaForkVariable(program, options.mode))
    settings.emplace_back(rdmaHugePages, "1");
  // In front, so that the user's own word on it counts.
  if (program.wantsAsanFirst)
    settings.emplace_back(
        "ASAN_OPTIONS", inFrontOf("verify_asan_link_order=0", "ASAN_OPTIONS"));
  return settings;
}

void mpg::applySettings(const Settings &settings, bool children) {
  if (children)
    unsetenv("MPG_TARGET");
  unsetenv("MPG_STATE_FD");
  unsetenv("MPG_STATE_PID");
  for (const auto &[name, value] : settings)
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
}

std::vector<std::string> mpg::environmentWith(const Settings &settings,
                                              bool children) {
  auto isReplaced = [&](StringRef name) {
    return name == "MPG_STATE_FD" || name == "MPG_STATE_PID" ||
           (children && name == "MPG_TARGET") ||
           any_of(settings,
                  [&](const auto &setting) { return name == setting.first; });
  };
  std::vector<std::string> result;
  for (char **entry = environ; *entry; ++entry)
    if (!isReplaced(StringRef(*entry).split('=').first))
      result.push_back(*entry);
  for (const auto &[name, value] : settings)
    result.push_back(name + "=" + value);
  return result;
}
