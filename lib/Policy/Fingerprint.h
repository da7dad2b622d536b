// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a finding is known by from one run to the next, and one name for a file
// however it was written: "./a", "a" and "b/../a" are the same. Names are
// compared as text first and symbolic links are followed only where text does
// not help: "current/app" shall stay the same file when "current" points to
// another build tomorrow.

#ifndef MPG_POLICY_FINGERPRINT_H
#define MPG_POLICY_FINGERPRINT_H

#include "Audit/Finding.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mpg {

/// Without "." and "//", and ".." taken as text; relative if it was.
std::string plainPath(llvm::StringRef path);
/// The same, and absolute.
std::string absolutePath(llvm::StringRef path);

/// A folder that files are named from.
class BaseFolder {
public:
  BaseFolder() = default;
  /// The folder of \p file, which need not exist.
  static BaseFolder of(llvm::StringRef file);

  /// "bin/app", or "../bin/app" for what lies elsewhere. Bytes that are not
  /// UTF-8 are written as \\xe9. pre: made by of().
  std::string nameOf(llvm::StringRef path) const;

private:
  std::string written; ///< absolute, as the user names it
  std::string real;    ///< without symbolic links
};

/// 16 hexadecimal digits. \p path as the report shows it ("./a" is "a"), or ""
/// for what is the same in every file.
std::string fingerprintOf(const Finding &finding, llvm::StringRef path);

/// \p text with # in place of numbers and sizes: "RELRO at # shares a # page".
/// Digits of names stay.
std::string withoutNumbers(llvm::StringRef text);

} // namespace mpg

#endif // MPG_POLICY_FINGERPRINT_H
