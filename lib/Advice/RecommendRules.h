// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions of Recommend.h, and the facts that they depend on: how far the
// threads of a process reach, how much memory there is, what the environment
// already sets. The facts come from the program's report and the job. The order
// is that of "What to set, and why" in docs/environment.md. Each decision looks
// at one thing; later ones may read earlier results.

#pragma once

#include "Advice/Recommend.h"

namespace mpg {

/// How far the threads of one process reach.
enum class ThreadReach : uint8_t {
  oneThread,
  oneNode,      ///< several threads on one NUMA node: a CMG of A64FX
  severalNodes, ///< or not known
};

struct AdviceContext {
  const FileReport &program;
  const JobScript *script; ///< may be null
  const JobLaunch *launch; ///< may be null
  Environment environment;
  Target target;
  /// A64FX, so that four NUMA nodes of 12 cores are known.
  bool coreGroups;
  std::optional<unsigned> threads, ranksPerNode;
  ThreadReach reach;
  std::vector<std::string> unknown;
  /// Memory of one node for this job; absent if unknown.
  std::optional<uint64_t> memoryBytes;
  llvm::ArrayRef<const Measurement *> measured;

  /// The program or one of its libraries is a file with this name, whatever
  /// its version.
  bool needs(llvm::StringRef libraryPrefix) const;
  bool isProgram() const;
  /// The target has a large page library that reads XOS_MMM_L_ variables.
  bool isLibmpg() const {
    return target == Target::fugaku || target == Target::mpg;
  }
  /// Threads and processes where they are not known: the most that there are.
  unsigned threadsOrMax() const;
  unsigned ranks() const { return ranksPerNode.value_or(1); }
  /// The variable has this value; false where it is not known.
  bool isSet(llvm::StringRef name, llvm::StringRef value) const;
  /// The words of a launcher in front of the program; null: it has none.
  const JobCommand *launcher(llvm::StringRef name) const;

  /// "LD_PRELOAD=libtcmalloc.so", or "" where malloc is left to the library.
  std::string foreignMalloc() const;
  /// Large pages are off, and rightly: another malloc takes their place, or
  /// valgrind's.
  bool pagesOffByChoice() const;
  /// Writable data of all processes of a node at start-up; 0: not known.
  uint64_t startupBytes() const;
  uint64_t staticBytes() const;
  /// Start-up does not fit into the node's memory.
  bool startupTooLarge() const;
  /// Static data alone takes more than half of the node's memory.
  bool memoryIsTight() const;
  /// Measured without large pages, or modelled: too few page walks.
  bool pagesGainLittle() const;
  /// Several threads that spend time in malloc and free.
  bool isBusyInMalloc() const;
  /// A profile shows several threads.
  bool hasMeasuredThreads() const;
  /// As measured; nothing: it was not.
  std::optional<bool> isLocal() const;
};

AdviceContext collectContext(const FileReport &program, const JobScript *script,
                             const JobLaunch *launch,
                             std::optional<uint64_t> memoryBytes,
                             llvm::ArrayRef<const Measurement *> measured);

/// "target fugaku, 48 threads a process, 1 process a node".
std::string describe(const AdviceContext &context);

// Rules on measurements: RecommendMeasured.cpp.
void judgeTlb(const AdviceContext &context, Advice &advice);
void judgeLocality(const AdviceContext &context, Advice &advice);
void adviseRefills(const AdviceContext &context, Advice &advice);
void judgeMalloc(const AdviceContext &context, Advice &advice);
void judgeFaults(const AdviceContext &context, Advice &advice);
void judgeThrashing(const AdviceContext &context, Advice &advice);
void judgeTheRest(const AdviceContext &context, Advice &advice);
/// Freed blocks stay with the heap, which takes the place of other settings.
bool poolsBlocks(const AdviceContext &context, const Advice &advice);

// Variables: RecommendSettings.cpp.
void advisePagingPolicy(const AdviceContext &context, Advice &advice);
void adviseMemoryOwner(const AdviceContext &context, Advice &advice);
void adviseFallback(const AdviceContext &context, Advice &advice);
void adviseParallelMalloc(const AdviceContext &context, Advice &advice);
void adviseColouring(const AdviceContext &context, Advice &advice);
void adviseLibraryData(const AdviceContext &context, Advice &advice);
void adviseOtherTargets(const AdviceContext &context, Advice &advice);
void adviseBinding(const AdviceContext &context, Advice &advice);

// Steps beside variables: Recommend.cpp.
void advisePassing(const AdviceContext &context, Advice &advice);
void adviseLoading(const AdviceContext &context, Advice &advice);
void adviseRelink(const AdviceContext &context, Advice &advice);
void advisePlacement(const AdviceContext &context, Advice &advice);
void adviseMemory(const AdviceContext &context, Advice &advice);
void advisePadding(const AdviceContext &context, Advice &advice);
void adviseProfile(const AdviceContext &context, Advice &advice);

/// Reports variables of the environment that contradict the settings of \p
/// advice, or make them useless. Call last.
void findContradictions(const AdviceContext &context, Advice &advice);

/// The guide's MALLOC_MMAP_THRESHOLD_ against equal blocks, in bytes: below
/// its arrays of 512 KiB (part VII, 7.5).
constexpr uint64_t equalBlocksThreshold = 204800;

/// The value that \p advice gives to \p name; "" if none.
llvm::StringRef valueIn(const Advice &advice, llvm::StringRef name);

} // namespace mpg
