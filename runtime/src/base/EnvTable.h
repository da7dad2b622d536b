// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// env.def as a table, and the parser of one value: pure functions. The file
// also prints all values (printEnv in Env.h).

#ifndef MPG_RUNTIME_ENVTABLE_H
#define MPG_RUNTIME_ENVTABLE_H

#include <stddef.h>
#include <stdint.h>

namespace mpg {

enum class Variable : uint8_t {
#define MPG_ENV(name, type, domain, fallback, needs, overridden, owner, help)  \
  name,
#include "mpg/env.def"
  count
};

constexpr size_t variableCount = size_t(Variable::count);

enum class ValueType : uint8_t { choice, uint, policy3, file, pair };
enum class Owner : uint8_t { fujitsu, glibc, flib, mpg };

struct Setting {
  const char *name;
  ValueType type;
  const char *domain;
  const char *fallback; ///< the value when nothing, or nothing valid, is given
  const char *needs;    ///< settings of others without which it has no effect
  const char *overriddenBy;
  Owner owner;
  const char *help;
};

const Setting &settingOf(Variable variable);

/// Parses \p text by the domain of \p setting. A choice becomes the number of
/// its word, policy3 three bits (1 prepage, the first word is bit 0), a number
/// itself, a file 0, a pair its first number and 256 times its second. False
/// when it is not in the domain.
bool parseValue(const Setting &setting, const char *text, uint64_t &value);

/// "DEVICE:INODE", each decimal, or hexadecimal after 0x.
bool parseFile(const char *text, uint64_t &device, uint64_t &inode);

/// False in a program that runs with more rights than its user has (setuid,
/// setgid, file capabilities): what the user says must not change it.
bool environmentCounts();

/// The value of \p name in \p environment, or null; the first one counts, or
/// the first one after \p previous.
const char *findValue(const char *const *environment, const char *name,
                      const char *previous = nullptr);

/// The variable of the table that \p name, of \p length bytes, was probably
/// meant to be; null if none is near.
const char *nearestName(const char *name, size_t length);

} // namespace mpg

#endif // MPG_RUNTIME_ENVTABLE_H
