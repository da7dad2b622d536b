// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds how a launch brings a program to large pages, and which of its memory:
// mpgrun, a libmpg that is linked or preloaded, libhugetlbfs, a tunable of
// glibc, an allocator's or a runtime's own setting. Transparent pages that a
// kernel gives by default ("always") do not count: the node decides about them.

#pragma once

#include "Audit/Audit.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mpg {

enum class PageAnswer : uint8_t {
  absent, ///< there is none, or too little to fill a large page
  no,
  unknown,
  some,
  all
};
llvm::StringRef answerName(PageAnswer answer);

struct PageMeans {
  /// "mpgrun", "libmpgrt.so.1", "GLIBC_TUNABLES"; several with "and" between.
  /// "": nothing does.
  std::string name;
  /// Why nothing is on large pages although something is there for it, or
  /// cannot be: "the program is static". "": no such reason.
  std::string obstacle;
  /// A large page library that is loaded, and why it brings nothing.
  std::string idle;
  bool isMissing = false; ///< the library that would bring them is not here
  PageAnswer data = PageAnswer::absent, heap = PageAnswer::no,
             stacks = PageAnswer::no, mapped = PageAnswer::absent;
  /// The findings that keep data and heap away.
  std::vector<FindingId> because;

  bool givesAny() const;
};

/// \p launch may be null: nothing is known of it. pre: \p report is of a
/// program and has facts.
PageMeans findPageMeans(const FileReport &report, const Launch *launch);

/// Whether \p text is in the file at \p path: mimalloc has the names of its
/// options as text, so they show which release knows which variable.
bool hasText(const std::string &path, llvm::StringRef text);

// SystemTunables.cpp: tunables of glibc that /etc/tunables.conf sets for every
// program of a machine, from glibc 2.44 on. The file counts, not the cache that
// ldconfig makes of it.

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
