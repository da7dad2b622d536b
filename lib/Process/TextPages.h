// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun --text: has the page cache hold a program's code and constants in
// large pages before the program starts. That is the best moment: nobody maps
// the file yet. libmpg does the rest in the program
// (runtime/src/segments/Text.cpp); programs without it get the pages as well,
// because the kernel maps a large page of the page cache by itself.

#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mpg {

struct RunReport;

enum class CodePages : uint8_t { large, small };

/// Reads code and constants of \p program anew on such pages, where the file is
/// linked for large ones, lies on this node, and the system permits transparent
/// huge pages. Its contents do not change; what was just written goes to the
/// disk first. Best effort: the report says what came of it.
void placeText(const std::string &program, CodePages pages);

/// Fills in why code and constants are not on large pages where libmpg has
/// given no reason. \p mode: MPG_TEXT.
void explainText(RunReport &report, const std::string &program,
                 llvm::StringRef mode);

} // namespace mpg
