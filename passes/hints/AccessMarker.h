// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides for each access of a module which hint it gets, and marks it. Where
// several hints mean the same access, that of a region wins over that of a
// variable, and that over the one of the function.

#ifndef MPG_PASSES_ACCESSMARKER_H
#define MPG_PASSES_ACCESSMARKER_H

#include "base/PassOptions.h"
#include "hints/HintRequest.h"
#include "hints/PointerFlow.h"
#include "llvm/ADT/MapVector.h"

namespace mpg {

class AccessMarker {
public:
  AccessMarker(llvm::Module &module, const PassOptions &options)
      : module(module), options(options) {}

  /// Finds the accesses that \p requests mean. Says which requests mean none.
  void add(const HintRequests &requests);

  /// A random hint for each access that has none.
  void addRandom(uint64_t seed);

  /// Puts the marks on. Says where two hints contradict each other.
  void write();

private:
  /// What an access will be marked with.
  struct Decision {
    int strength = -1;
    uint8_t tag = 0;
    bool off = false;
    bool isConflict = false;
  };

  void addFunction(const HintRequest &request);
  void addVariable(const HintRequest &request);
  void decide(llvm::Instruction &access, const HintRequest &request);
  bool isAllowed(const HintRequest &request) const;
  void explainUnused(const HintRequest &request, const PointerFlow &flow);

  llvm::Module &module;
  const PassOptions &options;
  llvm::MapVector<llvm::Instruction *, Decision> decisions;
  llvm::DenseSet<const llvm::Value *> roots;
  llvm::DenseSet<const llvm::Function *> offFunctions;
};

} // namespace mpg

#endif // MPG_PASSES_ACCESSMARKER_H
