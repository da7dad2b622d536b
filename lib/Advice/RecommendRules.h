// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The single decisions behind an Advice, in the order of "What to set, and
// why" in docs/environment.md. Each looks at one thing and appends what it
// decides; later ones may ask what is there already.

#ifndef MPG_ADVICE_RECOMMENDRULES_H
#define MPG_ADVICE_RECOMMENDRULES_H

#include "Advice/RecommendFacts.h"

namespace mpg {

// Variables: RecommendSettings.cpp.
void advisePagingPolicy(const Situation &situation, Advice &advice);
void adviseFallback(const Situation &situation, Advice &advice);
void adviseParallelMalloc(const Situation &situation, Advice &advice);
void adviseColouring(const Situation &situation, Advice &advice);
void adviseLibraryData(const Situation &situation, Advice &advice);
void adviseOtherTargets(const Situation &situation, Advice &advice);
void adviseBinding(const Situation &situation, Advice &advice);

// What else to do: RecommendSteps.cpp.
void adviseLoading(const Situation &situation, Advice &advice);
void adviseRelink(const Situation &situation, Advice &advice);
void advisePlacement(const Situation &situation, Advice &advice);
void adviseMemory(const Situation &situation, Advice &advice);
void advisePadding(const Situation &situation, Advice &advice);
void adviseProfile(const Situation &situation, Advice &advice);

/// What of the environment speaks against the settings of \p advice, or makes
/// them useless: RecommendContradictions.cpp. Comes last.
void findContradictions(const Situation &situation, Advice &advice);

/// The guide's MALLOC_MMAP_THRESHOLD_ against equal blocks, in bytes: below
/// its arrays of 512 KiB (part VII, 7.5).
constexpr uint64_t equalBlocksThreshold = 204800;

/// The value that \p advice gives to \p name; "" if none.
llvm::StringRef valueIn(const Advice &advice, llvm::StringRef name);

} // namespace mpg

#endif // MPG_ADVICE_RECOMMENDRULES_H
