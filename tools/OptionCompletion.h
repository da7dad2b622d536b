// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a shell offers for an option when Tab is pressed, from the option table
// of a program: the shells' files (tools/completion) hold no options.

#ifndef MPG_TOOLS_OPTIONCOMPLETION_H
#define MPG_TOOLS_OPTIONCOMPLETION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace llvm::opt {
class OptTable;
}

namespace mpg {

/// Adds \p word, a tab and \p description as a line, if \p word can become of
/// \p typed.
void addCompletion(std::string &lines, const llvm::Twine &word,
                   llvm::StringRef typed, llvm::StringRef description);

/// Every option that \p typed may become, or every value of one that is in the
/// table ("fugaku|mpg|auto"), one a line. Nothing where the shell knows better:
/// for files and numbers.
std::string completeOption(const llvm::opt::OptTable &table,
                           llvm::StringRef typed);

} // namespace mpg

#endif // MPG_TOOLS_OPTIONCOMPLETION_H
