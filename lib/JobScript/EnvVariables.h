// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of environment variables, runtime/include/mpg/env.def, as the tools
// ask it: which names there are, which values they take, what they need. Values
// are judged as libmpg judges them; test/mpgaudit/job-same-values.test compares
// the two.

#ifndef MPG_JOBSCRIPT_ENVVARIABLES_H
#define MPG_JOBSCRIPT_ENVVARIABLES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mpg {

enum class EnvType : uint8_t { choice, uint, policy3, file, pair };
enum class EnvOwner : uint8_t { fujitsu, glibc, flib, mpg };

/// One row of env.def; the words there say what each column means.
struct EnvVariable {
  llvm::StringRef name;
  EnvType type;
  llvm::StringRef domain, fallback, needs, overriddenBy;
  EnvOwner owner;
};

llvm::ArrayRef<EnvVariable> allEnvVariables();
const EnvVariable *findEnvVariable(llvm::StringRef name);

/// The variable that \p name was probably meant to be; null if none is near.
const EnvVariable *nearestEnvVariable(llvm::StringRef name);

/// Changes of single characters that make \p b out of \p a.
unsigned editDistance(llvm::StringRef a, llvm::StringRef b);

bool isLegalValue(const EnvVariable &variable, llvm::StringRef text);

/// A legal value that \p text was probably meant to be; "" if there is no
/// telling.
std::string nearestValue(const EnvVariable &variable, llvm::StringRef text);

/// Decimal digits, or hexadecimal ones after 0x, and nothing else.
std::optional<uint64_t> parseEnvNumber(llvm::StringRef text);

} // namespace mpg

#endif // MPG_JOBSCRIPT_ENVVARIABLES_H
