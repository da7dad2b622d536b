// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to LibraryStore.cpp and Closure.cpp: what a store remembers. A file
// is read once under all its names, a path that leads nowhere is looked for
// once, and so is a folder that does not exist: programs share nearly all of
// them.

#ifndef MPG_LOADER_STORESTATE_H
#define MPG_LOADER_STORESTATE_H

#include "Loader/Closure.h"
#include "Loader/LoaderSystem.h"
#include <map>
#include <mutex>
#include <unordered_map>

namespace mpg {

/// What the loader makes of a path.
enum class PathVerdict : uint8_t {
  library,
  missing,      ///< it looks in the next folder
  otherMachine, ///< it looks in the next folder
  refused,      ///< it ends the program
};

/// One file, whatever its names.
struct LibraryFile {
  std::once_flag read;
  PathVerdict verdict = PathVerdict::missing;
  std::string reason; ///< unless it is a library
  LibraryFacts facts;
};

struct LibraryStore::State {
  Collector collector;

  /// \p path as the loader names it. Null: there is no such file.
  const LibraryFile *find(const std::string &path, const std::string &sysroot);
  bool folderExists(const std::string &path, const std::string &sysroot);
  const LoaderSystem &systemOf(const std::string &sysroot, Machine machine);

private:
  void read(LibraryFile &file, const std::string &path);
  void readFacts(LibraryFile &file, Image &image);

  /// Guards the maps below; what they point at is guarded by itself.
  std::mutex mutex;
  std::unordered_map<std::string, LibraryFile *> paths;
  std::unordered_map<std::string, bool> folders;
  std::map<std::pair<uint64_t, uint64_t>, LibraryFile> files; ///< by inode
  std::map<std::pair<std::string, Machine>, LoaderSystem> systems;
};

} // namespace mpg

#endif // MPG_LOADER_STORESTATE_H
