// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is kept of a library's file once it has been read: what the loader asks,
// and what the checks of programs ask. The loader's part is filled here; the
// checks' part is whatever the maker of the LibraryStore collects, because
// lib/Loader knows no check.

#ifndef MPG_LOADER_LIBRARYFACTS_H
#define MPG_LOADER_LIBRARYFACTS_H

#include "Elf/Machine.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// What the checks of programs keep of a library; theirs to define.
struct LibraryCheckFacts;

struct LibraryFacts {
  std::string path; ///< under which the file was first asked for
  Machine machine = Machine::x86_64;
  std::optional<std::string> soname;
  std::vector<std::string> needed; ///< DT_NEEDED, in order
  /// DT_RPATH is absent where DT_RUNPATH is present, as for the loader.
  std::optional<std::string> rpath, runpath;
  uint64_t flags = 0, flags1 = 0; ///< DT_FLAGS, DT_FLAGS_1
  uint64_t device = 0, inode = 0; ///< the same file under another name
  /// Only such libraries can be preloaded into a set-uid program.
  bool setUid = false;
  /// What the store's collector made of the file; null without a collector.
  std::shared_ptr<const LibraryCheckFacts> checkFacts;
};

} // namespace mpg

#endif // MPG_LOADER_LIBRARYFACTS_H
