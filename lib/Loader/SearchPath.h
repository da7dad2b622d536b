// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of folders as DT_RPATH, DT_RUNPATH and LD_LIBRARY_PATH have them, with
// the words $ORIGIN, $LIB and $PLATFORM; and symbolic links inside a sysroot,
// where an absolute one means a path in the sysroot, as it will on the machine
// that the sysroot is a copy of.

#ifndef MPG_LOADER_SEARCHPATH_H
#define MPG_LOADER_SEARCHPATH_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mpg {

/// The longest path that the system takes; what is longer cannot be opened.
constexpr size_t maxPathBytes = 4095;

/// What stands in for the words. Paths are those of this machine: with a
/// sysroot, it is in front.
struct PathWords {
  std::string sysroot;
  std::string lib;      ///< $LIB: "lib/x86_64-linux-gnu", "lib64"
  std::string platform; ///< $PLATFORM: "x86_64"
};

/// \p path with its words replaced; \p origin is the folder of the file that
/// has it. An absolute path gets the sysroot in front; a relative one means
/// the current folder, and with a sysroot there is none: "" then.
std::string expandPath(llvm::StringRef path, llvm::StringRef origin,
                       const PathWords &words);

/// The folders of \p list, in order, each one once. An empty one between
/// \p separators is the current folder.
std::vector<std::string> splitFolders(llvm::StringRef list,
                                      llvm::StringRef separators,
                                      llvm::StringRef origin,
                                      const PathWords &words);

/// The folder that \p path lies in; "." where it names none.
llvm::StringRef folderOf(llvm::StringRef path);

/// \p path without symbolic links, if it lies in \p sysroot; else \p path as it
/// is. Also as it is when the links go in a circle.
std::string followLinks(const std::string &path, const std::string &sysroot);

} // namespace mpg

#endif // MPG_LOADER_SEARCHPATH_H
