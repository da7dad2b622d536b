// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Last stage: puts the tag bytes on the addresses of marked accesses, in the
// form of TagForm.h, once for each base and outside of the loops, with the
// computation of addresses repeated on top of it and the old one deleted, so
// that no loop gets longer. And writes .note.mpg.hints, by which mpgaudit,
// mpgrun and the runtime know what was put into the code.
//
// It has to be the very last change to the code. What comes behind it must not
// know that two addresses with different tags are the same memory: the
// vectoriser's overlap checks compare tagged pointers. And never a GEP by
// tag << 56: alias analysis then proves the two addresses different.

#ifndef MPG_PASSES_TAGWRITER_H
#define MPG_PASSES_TAGWRITER_H

#include "llvm/IR/PassManager.h"

namespace mpg {

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

/// Whether nothing changes the code of \p module behind \p stage.
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
