// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what was found about an array, each time in one sentence: what is wrong,
// where, and what to do about it.

#ifndef MPG_PASSES_ARRAYREMARKS_H
#define MPG_PASSES_ARRAYREMARKS_H

#include "base/Diagnostics.h"
#include "openmp/ArrayVerdict.h"
#include "openmp/SerialArrays.h"

namespace mpg {

/// What was done about an array that one thread initialises.
enum class Repair { none, call, parallelInit };

/// The remarks of one module: copies of code by templates and inlining say
/// nothing twice.
class ArrayRemarks {
public:
  /// \p isAsked: whether a repair was wanted; else obstacles are none.
  void say(const ArrayStory &story, const ArrayVerdict &verdict, Repair repair,
           bool isAsked);
  /// What lies behind the pointers in the array of \p story.
  void say(const ArrayStory &story, const SerialRows &rows);
  /// \p isAsked: as above.
  void say(const SerialMember &member, bool isAsked);

private:
  template <typename Remark>
  void emit(llvm::StringRef name, const llvm::Instruction &at,
            llvm::StringRef array, llvm::function_ref<void(Remark &)> add);
  void saySerial(const ArrayStory &story, const ArrayVerdict &verdict,
                 Repair repair, bool isAsked);
  void sayRepair(const ArrayStory &story, const ArrayVerdict &verdict,
                 Repair repair);
  void sayTooFine(const ParallelUse &use);
  void sayRows(const ArrayVerdict &verdict);
  void sayNotBlock(const ParallelUse &use, const llvm::Instruction &at);
  void sayOthers(const ArrayVerdict &verdict);

  std::string array; ///< as texts begin: "'a'", or "the array of a.c:12"
  RemarkPlaces places;
};

} // namespace mpg

#endif // MPG_PASSES_ARRAYREMARKS_H
