// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tunables of glibc that /etc/tunables.conf sets for every program of a
// machine, from glibc 2.44 on. The file counts, not the cache that ldconfig
// makes of it.

#ifndef MPG_AUDIT_SYSTEMTUNABLES_H
#define MPG_AUDIT_SYSTEMTUNABLES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mpg {

/// The first release that reads the file, as ProgramClosure::glibcMinor().
constexpr unsigned systemTunablesMinor = 44;
constexpr llvm::StringLiteral systemTunablesFile = "/etc/tunables.conf";

struct SystemTunable {
  std::string value;
  bool isFixed = false; ///< GLIBC_TUNABLES does not change it
  std::string file;     ///< without the sysroot
  unsigned line = 0;
};

/// The value of \p name for the program at \p program, by the file below \p
/// sysroot and those that it includes. Lines for programs with special rights
/// do not count.
std::optional<SystemTunable> findSystemTunable(llvm::StringRef sysroot,
                                               llvm::StringRef name,
                                               llvm::StringRef program);

} // namespace mpg

#endif // MPG_AUDIT_SYSTEMTUNABLES_H
