// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the annotations that the macros of <mpg/hints.h> leave in a module, and
// erases them: they keep loops from being vectorised.

#ifndef MPG_PASSES_ANNOTATIONREADER_H
#define MPG_PASSES_ANNOTATIONREADER_H

#include "hints/HintRequest.h"

namespace mpg {

/// Adds what the annotations of \p module ask for to \p requests. A wrong one
/// is warned about with its line and left out. Returns whether \p module
/// changed.
bool readAnnotations(llvm::Module &module, HintRequests &requests);

/// What kind of variable is at \p address: decided by its type, or where that
/// is not known any more, by what is done with it. None: neither a pointer nor
/// an array.
std::optional<HintRequest::Target> targetOf(llvm::Value *address);

/// Where in the source \p annotation, a call of one of the annotation
/// intrinsics, stands.
SourceLine lineOf(const llvm::CallBase &annotation);

/// The text of the constant that \p pointer points to; "" if there is none.
llvm::StringRef constantText(const llvm::Value *pointer);

} // namespace mpg

#endif // MPG_PASSES_ANNOTATIONREADER_H
