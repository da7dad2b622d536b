// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where messages go: standard error, as long as it is the file that it was when
// the program began. A daemon closes all descriptors and opens its own files,
// so that number 2 becomes its database.

#ifndef MPG_RUNTIME_STANDARDERROR_H
#define MPG_RUNTIME_STANDARDERROR_H

namespace mpg {

/// Remembers what descriptor 2 is; Init.cpp calls this before anything else.
/// Without it the first message does.
void rememberStandardError();

/// Whether messages may be printed: standard error was open at the start and is
/// the same file.
bool standardErrorIsThere();

} // namespace mpg

#endif // MPG_RUNTIME_STANDARDERROR_H
