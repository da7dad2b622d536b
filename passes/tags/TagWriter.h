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

#pragma once

#include "base/StagePass.h"

namespace mpg {

// Marks on their way (KeepMarks.cpp). Carries marks through the optimiser:
// keeps the loops of marked accesses, and restores marks that a pass drops.

/// Keeps loops that copy or fill through a hinted pointer from becoming calls
/// of memcpy or memset, which cannot carry a hint. While loops are recognised,
/// the store has !nontemporal, which makes LLVM leave it a store; it is removed
/// before the vectoriser.
struct KeepLoopsPass : RequiredPass<KeepLoopsPass> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);
};

/// Says where a loop over a hinted string became a call of strlen: nothing
/// keeps LLVM from that. Before the function is inlined into others.
struct LostLoopsPass : RequiredPass<LostLoopsPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};

/// Takes off what KeepLoopsPass put on, with a remark for each loop that would
/// have been lost.
struct ReleaseLoopsPass : RequiredPass<ReleaseLoopsPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};

/// Records, in front of the vectoriser, the bases through which all accesses
/// have the same mark. Later passes make new accesses out of old ones and drop
/// the marks (for example, a masked load that replaces a select); the base then
/// restores them.
struct BaseMarkerPass : RequiredPass<BaseMarkerPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};

/// Marks the accesses of \p function that have lost theirs.
void restoreMarks(Function &function);

class TagWriterPass : public StagePass<TagWriterPass> {
public:
  using StagePass::StagePass;
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);

private:
  PreservedAnalyses writeTags(Module &module, ModuleAnalysisManager &analyses);
};

/// Whether nothing changes the code of \p module after \p stage.
bool isLastStage(const Module &module, Stage stage);

/// For tests (test-place=early): tags before the vectoriser, which is wrong.
struct EarlyTagWriterPass : RequiredPass<EarlyTagWriterPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};

/// Takes the note out again. Returns whether there was any.
bool eraseHintNote(Module &module);

} // namespace mpg
