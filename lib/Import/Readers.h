// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One reader a format. Each is told the whole text, and has been chosen by it.

#ifndef MPG_IMPORT_READERS_H
#define MPG_IMPORT_READERS_H

#include "Import/Measurement.h"

namespace mpg {

/// mpgprofile-1 and mpgsim-1.
llvm::Error readMpgJson(llvm::StringRef text, Measurement &into);

/// What fapp -A -txml writes.
bool isFapp(llvm::StringRef text);
llvm::Error readFapp(llvm::StringRef text, Measurement &into);

/// What likwid-perfctr -O writes.
bool isLikwid(llvm::StringRef text);
llvm::Error readLikwid(llvm::StringRef text, Measurement &into);

/// What perf script prints.
bool isPerfScript(llvm::StringRef text);
llvm::Error readPerfScript(llvm::StringRef text, Measurement &into);

/// The character between the fields of what perf stat -x writes; 0: it is not.
char perfStatSeparator(llvm::StringRef text);
llvm::Error readPerfStat(llvm::StringRef text, char separator,
                         Measurement &into);

/// "path:line: reason"; \p line 0: of the file as a whole.
llvm::Error importError(const Measurement &of, unsigned line,
                        const llvm::Twine &reason);

/// Calls \p take(line, number) for each line of \p text that holds something;
/// numbers are from 1 on.
void forEachLine(
    llvm::StringRef text,
    llvm::function_ref<void(llvm::StringRef line, unsigned number)> take);

/// \p text as a count, rounded: "8252", "1234.56", "1234,56",
/// "1.5e+09".
std::optional<uint64_t> parseCount(llvm::StringRef text);

} // namespace mpg

#endif // MPG_IMPORT_READERS_H
