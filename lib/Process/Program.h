// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that mpgrun starts: where it is, and what keeps a preloaded
// library from working in it. Runs nothing: only exec shows whether the kernel
// can run it. Also makes the arguments of exec.

#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

enum class ProgramKind : uint8_t {
  missing,
  directory,
  notExecutable, ///< there, but may not be run
  dynamic,       ///< loads libraries: a preloaded one too
  staticProgram,
  script, ///< begins with #!
  otherMachine,
  unknown, ///< text without #!, damaged, unreadable
};

struct Program {
  std::string path; ///< what exec is given; the name itself if missing
  ProgramKind kind = ProgramKind::missing;
  std::string machine;       ///< otherMachine: its name
  std::string interpreter;   ///< script: the program that reads it
  bool isPrivileged = false; ///< setuid, setgid or file capabilities
  bool hasRuntime = false;   ///< libmpg is linked in
  bool isGo = false;         ///< Go linked it, or compiled a part of it
  /// libmpg works in it with its defaults: it takes no settings from a user
  /// with fewer rights, and tells that user nothing.
  bool keepsDefaults() const { return isPrivileged && hasRuntime; }
  /// It cannot be traced: it has LeakSanitizer, which traces the process itself
  /// and ends it with an error if another tracer does, or it calls ptrace.
  bool tracesItself = false;
  /// gcc's AddressSanitizer is in it: a library, and it ends the process if it
  /// is not the first one.
  bool wantsAsanFirst = false;
  /// Why libmpg cannot be loaded into it: it is for 32 bits, or see
  /// findStranger of Elf/Image.h.
  std::string stranger;
  /// "device:inode" of the file that /proc/self/exe will name.
  std::string identity;
};

/// Finds \p name as a shell does: as it stands if it has a slash, else in the
/// folders of \p searchPath. A file that may not be run is taken only if there
/// is no better one.
Program findProgram(llvm::StringRef name, llvm::StringRef searchPath);

/// The name of the machine that this program was built for.
llvm::StringRef hostMachineName();

/// The library \p name of the project, which lies beside the folder of the
/// program \p self: in \p installed, relative to it, or in the build tree. ""
/// if it is not there.
std::string findLibrary(llvm::StringRef self, llvm::StringRef installed,
                        llvm::StringRef name);

/// Whether the loader accepts \p path: colons and semicolons end the name of a
/// folder.
bool canBePreloaded(llvm::StringRef path);

/// Whether \p path is on a file system that is mounted without the right to
/// execute: no program can be started there and no library loaded.
bool isMountedNoexec(const std::string &path);

/// The variables that bring \p path into every program: LD_PRELOAD, where
/// blanks end a name. If the path has blanks, LD_LIBRARY_PATH gets its folder
/// in front of the present value: blanks do not end names there.
std::vector<std::pair<std::string, std::string>>
preloadSettings(llvm::StringRef path);

/// Pointers to \p words, which must live as long, and a null one after them.
inline std::vector<char *>
argumentVector(const std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

} // namespace mpg
