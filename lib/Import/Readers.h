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

/// Whether \p test(line, number) holds for one of the lines of \p text that
/// hold something; the first ends it. Numbers are from 1 on.
bool anyLine(
    llvm::StringRef text,
    llvm::function_ref<bool(llvm::StringRef line, unsigned number)> test);

/// Calls \p take(line, number) for each of these lines.
void forEachLine(
    llvm::StringRef text,
    llvm::function_ref<void(llvm::StringRef line, unsigned number)> take);

/// "8252", "1234.56", "1234,56", "1.5e+09"; from 0 to less than 2^63.
std::optional<double> parseDecimal(llvm::StringRef text);

/// The same, rounded.
std::optional<uint64_t> parseCount(llvm::StringRef text);

} // namespace mpg

#endif // MPG_IMPORT_READERS_H
