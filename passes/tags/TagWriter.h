// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Last stage: puts the tag bytes on the addresses of marked accesses, in the
// form of TagForm.h, once for each base and outside of the loops, with the
// computation of addresses repeated on top of it and the old one deleted, so
// that no loop gets longer. And writes .note.mpg.hints, by which mpgaudit,
// mpgrun and the runtime know what was put into the code.
//
// This must be the very last change to the code. Later passes cannot know that
// two addresses with different tags are the same memory: the vectoriser's
// overlap checks compare tagged pointers. And never use a GEP by tag << 56:
// alias analysis then proves the two addresses different.
//
// Before it marks have to come through the optimiser (KeepMarks.cpp).

#ifndef MPG_PASSES_TAGWRITER_H
#define MPG_PASSES_TAGWRITER_H

#include "llvm/IR/PassManager.h"

namespace mpg {

// Marks on their way (KeepMarks.cpp). Carries marks through the optimiser:
// keeps the loops of marked accesses, and restores marks that a pass drops.

/// Keeps loops that copy or fill through a hinted pointer from becoming calls
/// of memcpy or memset, which cannot carry a hint. While loops are recognised,
/// the store has !nontemporal, which makes LLVM leave it a store; it is removed
/// before the vectoriser.
class KeepLoopsPass : public llvm::PassInfoMixin<KeepLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Says where a loop over a hinted string became a call of strlen: nothing
/// keeps LLVM from that. Before the function is inlined into others.
class LostLoopsPass : public llvm::PassInfoMixin<LostLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Takes off what KeepLoopsPass put on, with a remark for each loop that would
/// have been lost.
class ReleaseLoopsPass : public llvm::PassInfoMixin<ReleaseLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Records, in front of the vectoriser, the bases through which all accesses
/// have the same mark. Later passes make new accesses out of old ones and drop
/// the marks (for example, a masked load that replaces a select); the base then
/// restores them.
class BaseMarkerPass : public llvm::PassInfoMixin<BaseMarkerPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Marks the accesses of \p function that have lost theirs.
void restoreMarks(llvm::Function &function);

class TagWriterPass : public llvm::PassInfoMixin<TagWriterPass> {
public:
  enum class Stage {
    last,    ///< nothing changes the code any more
    preLink, ///< a link with LTO will optimise again: leave the marks
    unknown  ///< LLVM 19, which does not say: decided by the module's flags
  };
  explicit TagWriterPass(Stage stage) : stage(stage) {}
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }

private:
  llvm::PreservedAnalyses writeTags(llvm::Module &module,
                                    llvm::ModuleAnalysisManager &analyses);

  Stage stage;
};

/// Whether nothing changes the code of \p module after \p stage.
bool isLastStage(const llvm::Module &module, TagWriterPass::Stage stage);

/// For tests (test-place=early): tags before the vectoriser, which is wrong.
class EarlyTagWriterPass : public llvm::PassInfoMixin<EarlyTagWriterPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Takes the note out again. Returns whether there was any.
bool eraseHintNote(llvm::Module &module);

} // namespace mpg

#endif // MPG_PASSES_TAGWRITER_H
