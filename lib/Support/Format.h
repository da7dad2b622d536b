// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How text looks in messages and options: addresses in hexadecimal, sizes in
// the largest binary unit that keeps three digits; how text is filled; how
// names that come from files are made harmless; and what a user may have meant
// by a name that does not exist.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mpg {

std::string formatHex(uint64_t value);   ///< "0x404000"
std::string formatBytes(uint64_t bytes); ///< "512 B", "1.5 MiB", "9 GiB"

/// "1 error", "2 errors", "3 processes".
std::string countWord(size_t count, llvm::StringRef word);
/// "1,234 nodes".
std::string showCount(size_t count, llvm::StringRef word);

/// "65536", "0x10000", "64K", "2M", "28GiB", "1g"; absent for other text, or a
/// value that does not fit.
std::optional<uint64_t> parseBytes(llvm::StringRef text);

/// \p text with control characters written as \\x1b: names come from files and
/// may hold anything; a terminal must not obey them, and one message must stay
/// one line. All other bytes stay, so a path that is not UTF-8 can be copied.
std::string printable(llvm::StringRef text);

/// \p text as one word of a shell command, in quotes if it needs them.
std::string shellWord(llvm::StringRef text);

/// \p text with what is not UTF-8 replaced, for JSON: names come from files.
std::string validUtf8(llvm::StringRef text);

/// Columns that \p text takes in a label, wide letters being two; never less
/// than it really takes.
size_t labelColumns(llvm::StringRef text);
/// \p text without control characters and what is not UTF-8; \p columns at
/// most, the middle being left out if it is longer. pre: columns >= 2.
std::string shortLabel(llvm::StringRef text, size_t columns);

constexpr unsigned usualColumns = 78;
/// For what goes to standard output: two columns less than its terminal has, or
/// COLUMNS says there, at most 118; usualColumns if it is none.
unsigned terminalColumns();

/// \p text filled to \p columns, every line after the first indented by \p
/// indent. Lines that start with two spaces are command lines: they keep their
/// form after the indent. Empty lines stay.
std::string fillText(llvm::StringRef text, unsigned indent,
                     unsigned columns = usualColumns);

/// Writes \p head, \p text filled, and a line's end. Further lines are indented
/// by \p indent; absent: as far as \p text is.
void writeFilled(llvm::raw_ostream &out, llvm::StringRef head,
                 llvm::StringRef text,
                 std::optional<unsigned> indent = std::nullopt);

/// "  label       text", filled beside the label, which has \p columns.
void writeFact(llvm::raw_ostream &out, llvm::StringRef label, unsigned columns,
               llvm::StringRef text);

/// fillText() by terminalColumns() on a terminal; elsewhere \p text as it is,
/// for programs that read line by line.
std::string fillLine(llvm::StringRef text, unsigned indent);

// Names, and those that do not exist

/// Whether \p word is one of \p words, which have a blank between each two.
bool hasWord(llvm::StringRef words, llvm::StringRef word);

/// The one of \p names that \p typed is a slip of; empty: none is close.
llvm::StringRef nearestName(llvm::StringRef typed,
                            llvm::ArrayRef<llvm::StringRef> names);

/// "; did you mean 'target'?", or all \p names when none is close.
std::string suggest(llvm::StringRef typed,
                    llvm::ArrayRef<llvm::StringRef> names);

/// The same for an option's values, of which three letters are enough: "fug".
std::string suggestValue(llvm::StringRef typed,
                         llvm::ArrayRef<llvm::StringRef> values);

} // namespace mpg
