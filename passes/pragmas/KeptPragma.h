// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pragmas when clang only preprocesses (-E, -save-temps, ccache, distcc): the
// text goes on to a later compilation. Macros in it must be expanded now,
// because they are gone then, and a cache that compares the text must see
// their values.

#ifndef MPG_PASSES_PRAGMAS_KEPTPRAGMA_H
#define MPG_PASSES_PRAGMAS_KEPTPRAGMA_H

#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"

namespace mpg {

/// Puts the pragma that \p first begins into the output, with the macros of our
/// directives expanded. \p handler is the one that got it.
void keepPragma(clang::Preprocessor &pp, clang::PragmaHandler &handler,
                const clang::Token &first);

} // namespace mpg

#endif // MPG_PASSES_PRAGMAS_KEPTPRAGMA_H
