// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the markers that MpgPragmas.so puts in the place of Fujitsu's pragmas
// (calls of llvm.annotation with a text in our grammar), and erases them.

#ifndef MPG_PASSES_PRAGMAREADER_H
#define MPG_PASSES_PRAGMAREADER_H

#include "hints/HintRequest.h"

namespace mpg {

/// Adds what the markers of \p module ask for to \p requests. Returns whether
/// \p module changed. Erase the markers with eraseMarkers when the requests
/// have been used: regions and ways are tied to them.
bool readMarkers(llvm::Module &module, HintRequests &requests);
void eraseMarkers(llvm::Module &module);

} // namespace mpg

#endif // MPG_PASSES_PRAGMAREADER_H
