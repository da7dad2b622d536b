// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From hints to accesses: which loads and stores a hint means, which hint each
// of them gets, and why others get none.

#pragma once

#include "base/LLVM.h"
#include "base/PassOptions.h"
#include "hints/HintText.h"
#include "hints/PointerUses.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <utility>
#include <vector>

namespace mpg {

/// Decides which hint each access of a module gets, and marks it. If several
/// hints apply to one access, that of a region wins over that of a variable,
/// and that over the function's.
class AccessMarker {
public:
  AccessMarker(Module &module, const PassOptions &options)
      : module(module), options(options) {}

  /// Finds the accesses that \p requests mean. Says which requests mean none.
  void add(const HintRequests &requests);

  /// A random hint for each access that has none.
  void addRandom(uint64_t seed);

  /// Puts the marks on. Says where two hints contradict each other.
  void write();

private:
  /// How to mark an access.
  struct Decision {
    int strength = -1;
    uint8_t tag = 0;
    bool off = false;
    bool isConflict = false;
  };

  void addFunction(const HintRequest &request);
  void addVariable(const HintRequest &request);
  void addMerged();
  void decide(Instruction &access, const HintRequest &request);
  bool isAllowed(const HintRequest &request) const;
  void leaveUntagged(Instruction &access) const;

  /// The result of the hint for one variable.
  struct Outcome {
    const HintRequest *request;
    unsigned taggable = 0;
    bool isOnStack = false; ///< an access is
    SmallVector<std::pair<Instruction *, Untaggable>, 4> missed;
  };
  void addMergedAccesses(ArrayRef<Outcome *> alike);
  bool isUsed(const Outcome &outcome) const;
  void explain(const Outcome &outcome);
  void remarkDirectives();

  Module &module;
  const PassOptions &options;
  MapVector<Instruction *, Decision> decisions;
  std::vector<Outcome> outcomes;
  DenseSet<const Value *> roots;           ///< variables with hints
  DenseSet<const Function *> offFunctions; ///< hint "off"
};

// Random hints (RandomHints.cpp)

/// For tests: gives every variable a hint, so that any program shows whether
/// tags change its result. Calls \p choose with each access of \p function that
/// can be tagged, and a tag that depends on \p seed, the function and the
/// variable: the same for all accesses through one variable. With \p extended
/// the tags include entries of prefetch injection.
void chooseRandomHints(Function &function, uint64_t seed, bool extended,
                       function_ref<void(Instruction &, uint8_t)> choose);

} // namespace mpg
