// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes .note.mpg.hints, by which mpgaudit, mpgrun and the runtime know what
// was put into the code.

#ifndef MPG_PASSES_HINTNOTEWRITER_H
#define MPG_PASSES_HINTNOTEWRITER_H

#include "mpg/note.h"
#include "llvm/IR/Module.h"

namespace mpg {

/// A note in which nothing was used.
mpg_note_hints emptyHintNote();

/// Adds one access with \p tag to \p note.
void countTag(mpg_note_hints &note, uint8_t tag);

/// Adds ways that were asked for with MPG_WAYS or a pragma; of several the
/// larger one counts.
void countWays(mpg_note_hints &note, const llvm::Module &module);

/// Puts \p note into \p module.
void writeHintNote(llvm::Module &module, const mpg_note_hints &note);

/// Takes out what writeHintNote put in. Returns whether there was any.
bool eraseHintNote(llvm::Module &module);

} // namespace mpg

#endif // MPG_PASSES_HINTNOTEWRITER_H
