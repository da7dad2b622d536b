// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Advice/Recommend.h"
#include "Advice/RecommendRules.h"

using namespace llvm;
using namespace mpg;

StringRef mpg::valueIn(const Advice &advice, StringRef name) {
  for (const Recommendation &setting : advice.settings)
    if (setting.name == name)
      return setting.value;
  return "";
}

Advice mpg::recommend(const FileReport &program, const JobScript *script,
                      const JobLaunch *launch,
                      std::optional<uint64_t> memoryBytes) {
  static constexpr void (*decisions[])(const Situation &, Advice &) = {
      advisePagingPolicy, adviseFallback,     adviseParallelMalloc,
      adviseColouring,    adviseLibraryData,  adviseOtherTargets,
      adviseBinding,      adviseLoading,      adviseRelink,
      advisePlacement,    adviseMemory,       advisePadding,
      adviseProfile,      findContradictions,
  };
  Situation situation = collectSituation(program, script, launch, memoryBytes);
  Advice advice;
  advice.situation = describe(situation);
  advice.unknown = situation.unknown;
  for (auto *decide : decisions)
    decide(situation, advice);
  for (Recommendation &setting : advice.settings)
    setting.alreadySet = situation.isSet(setting.name, setting.value);
  return advice;
}
