// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verdict on one array, from its uses in worksharing loops and the writes
// of single threads; and the texts for it. This code changes nothing.

#pragma once

#include "base/Diagnostics.h"
#include "base/LLVM.h"
#include "openmp/FirstTouchCall.h"
#include "openmp/SerialInit.h"

namespace mpg {

/// All facts about one array.
struct ArrayStory {
  ArraySource source;
  std::vector<const ParallelUse *> uses;
  std::vector<const SerialWrite *> writes;
  bool isResized = false;  ///< by realloc
  bool isRecycled = false; ///< allocated and freed in a loop
  bool isPlaced = false;   ///< by a call of mpg_first_touch
  bool isWanted = false;   ///< MPG_FIRST_TOUCH
};

/// A remark of the list in docs/remarks.md, and what it is about.
struct ArrayVerdict {
  /// The write of one thread that comes first and covers the array. Null:
  /// unknown. calloc's zeros do not count: they touch no page of fresh memory.
  const SerialWrite *init = nullptr;
  bool isInPart = false; ///< all that is written, init's thread writes
  /// The use to place the pages for; null: there is none.
  const ParallelUse *best = nullptr;
  bool isAgain = false;     ///< told about as another array already
  bool isSerial = false;    ///< SerialFirstTouch
  std::string obstacle;     ///< why no call is inserted; "" if one is
  std::string teamObstacle; ///< why no team can be started there
  std::string serialReason; ///< why the initialisation is not made parallel
  const ParallelUse *mismatch = nullptr;   ///< MismatchedSchedules with best
  const ParallelUse *nonStatic = nullptr;  ///< NonStaticSchedule
  const ParallelUse *tooFine = nullptr;    ///< PlacementTooFine
  const ParallelUse *notBlock = nullptr;   ///< NotBlock
  const ParallelUse *sharedRead = nullptr; ///< SharedRead
  bool isRewritten = false; ///< after sharedRead, so copies would be stale
  const ParallelUse *rows = nullptr; ///< SerialRows
};

/// Whether \p write gives pages of the array their place: a few numbers at its
/// start do not.
bool isLarge(const SerialWrite &write, Sampler &sampler);

/// Whether \p writes together touch all of \p object.
bool coverAll(ArrayRef<const SerialWrite *> writes, const MemoryObject &object,
              Sampler &sampler);

ArrayVerdict judge(const ArrayStory &story, const ParallelUses &all,
                   Sampler &sampler);

/// Bytes of \p object, an allocation or a global array, for a set of samples.
int64_t getBytes(const MemoryObject &object, unsigned seed, Sampler &sampler);

/// Bytes if they are a constant of the source.
std::optional<int64_t> knownBytes(const ArraySource &source, Sampler &sampler);

struct JudgedArray {
  const ArrayStory *story;
  ArrayVerdict verdict;
};

/// Several arrays may be fresh at one call only, because the function that
/// allocates them also fills them. One call of mpg_first_touch there has to be
/// right for all of them, and is reported once. Adds an obstacle to \p arrays
/// where one call would not be right for all arrays from it, and marks those
/// that repeat another array as a function's callers see it.
void settleSharedSites(MutableArrayRef<JudgedArray> arrays, CallFrames &frames);

// Words (ArrayRemarks.cpp). Says what was found about an array, each time in
// one sentence: what is wrong, where, and what to do about it.

/// The repair of an array that one thread initialises.
enum class Repair { none, call, parallelInit };

/// The remarks of one module. Copies of code by templates and inlining repeat
/// no remark.
class ArrayRemarks {
public:
  /// \p isAsked: whether a repair was requested; otherwise obstacles do not
  /// matter.
  void report(const ArrayStory &story, const ArrayVerdict &verdict,
              Repair repair, bool isAsked);
  /// Reports the memory behind the pointers in the array of \p story.
  void report(const ArrayStory &story, const SerialRows &rows);
  /// \p isAsked: as above.
  void report(const SerialMember &member, bool isAsked);

private:
  template <typename Remark = OptimizationRemarkMissed, typename Add>
  void emit(StringRef name, const Instruction &at, Add add);
  void reportSerial(const ArrayStory &story, const ArrayVerdict &verdict,
                    Repair repair, bool isAsked);
  void reportRefused(const ArrayStory &story, const ArrayVerdict &verdict);
  void reportRepair(const ArrayStory &story, const ArrayVerdict &verdict,
                    Repair repair);
  void reportTooFine(const ParallelUse &use);
  void reportRows(const ArrayVerdict &verdict);
  void reportNotBlock(const ParallelUse &use, const Instruction &at);
  void reportOthers(const ArrayVerdict &verdict);

  std::string array; ///< as texts begin: "'a'", or "the array of a.c:12"
  RemarkPlaces places;
};

} // namespace mpg
