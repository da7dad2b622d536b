// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The readers of hints. In the code of a module: the annotations that the
// macros of <mpg/hints.h> leave, and the markers that MpgPragmas.so puts in the
// place of Fujitsu's pragmas (calls of llvm.annotation with a text in the same
// grammar); both are erased, because they keep loops from being vectorised.
// Beside it: for code that may not be edited, and for Fortran's !OCL lines, a
// YAML file that maps names of functions, arrays and variables to hints
// (docs/hints.md).

#ifndef MPG_PASSES_HINTREADERS_H
#define MPG_PASSES_HINTREADERS_H

#include "hints/HintText.h"

namespace mpg {

//===----------------------------------------------------------------------===//
// Annotations and markers (AnnotationReader.cpp)
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Side files (SideFile.cpp)
//===----------------------------------------------------------------------===//

/// Adds what the file \p path says about \p module to \p requests. What is
/// wrong in it, and names that \p module does not have, are warned about with
/// the file's line; the rest counts.
void readSideFile(llvm::Module &module, const std::string &path,
                  HintRequests &requests);

} // namespace mpg

#endif // MPG_PASSES_HINTREADERS_H
