// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ELF notes of a whole file, wherever they stand. Section headers are
// asked first, because they are exact and the only place in an object; a
// program whose section headers were stripped off still has its PT_NOTEs.

#ifndef MPG_ELF_IMAGENOTES_H
#define MPG_ELF_IMAGENOTES_H

#include "Elf/HintNote.h"
#include "Elf/Image.h"

namespace mpg {

/// Calls \p visit with the contents of each SHT_NOTE section, or of each
/// PT_NOTE if there are no sections. The bytes live as long as the call.
void forEachNoteBlock(Image &image,
                      llvm::function_ref<void(llvm::StringRef)> visit);

/// What our compiler passes and our linker left in \p image.
Notes readOwnNotes(Image &image);

} // namespace mpg

#endif // MPG_ELF_IMAGENOTES_H
