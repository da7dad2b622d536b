// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what stands in the code of a module and erases it, because it keeps
// loops from being vectorised: the annotations that the macros of <mpg/hints.h>
// leave, and the markers that MpgPragmas.so puts in the place of Fujitsu's
// pragmas (calls of llvm.annotation with a text in the same grammar).

#ifndef MPG_PASSES_ANNOTATIONREADER_H
#define MPG_PASSES_ANNOTATIONREADER_H

#include "hints/HintText.h"

namespace mpg {

/// Adds what the annotations of \p module ask for to \p requests. A wrong one
/// is warned about with its line and left out. Returns whether \p module
/// changed.
bool readAnnotations(llvm::Module &module, HintRequests &requests);

/// What kind of variable is at \p address: decided by its type, or where that
/// is not known any more, by what is done with it. None: neither a pointer nor
/// an array.
std::optional<HintRequest::Target> targetOf(llvm::Value *address);

/// Adds what the markers of \p module ask for to \p requests. Returns whether
/// \p module changed. Erase the markers with eraseMarkers when the requests
/// have been used: regions and ways are tied to them.
bool readMarkers(llvm::Module &module, HintRequests &requests);
void eraseMarkers(llvm::Module &module);

} // namespace mpg

#endif // MPG_PASSES_ANNOTATIONREADER_H
