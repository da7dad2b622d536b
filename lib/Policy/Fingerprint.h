// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a finding the same finding in the next build: its rule, its file
// and the symbol, section or variable that it is about, but no address, size or
// line. Baselines, --diff and SARIF's partialFingerprints use it.

#ifndef MPG_POLICY_FINGERPRINT_H
#define MPG_POLICY_FINGERPRINT_H

#include "Audit/Finding.h"

namespace mpg {

/// 16 hexadecimal digits. \p path as the report shows it ("./a" is "a"), or ""
/// for what is the same in every file.
std::string fingerprintOf(const Finding &finding, llvm::StringRef path);

/// \p text with # in place of numbers and sizes: "RELRO at # shares a # page".
/// Digits of names stay.
std::string withoutNumbers(llvm::StringRef text);

} // namespace mpg

#endif // MPG_POLICY_FINGERPRINT_H
