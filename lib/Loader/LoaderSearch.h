// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the loader looks for one name, and in which order. glibc: DT_RPATH of
// the object that needs it, of the one that asked for that object, and so on
// to the program, unless the object has a DT_RUNPATH; LD_LIBRARY_PATH;
// DT_RUNPATH of the object alone; the cache; the default folders. musl:
// LD_LIBRARY_PATH; both kinds of path of all of them; its own list.
//
// Left out: DT_FILTER and DT_AUXILIARY, LD_AUDIT, the kernel version that an
// old library may ask for, and folders with $ORIGIN in set-uid programs.

#ifndef MPG_LOADER_LOADERSEARCH_H
#define MPG_LOADER_LOADERSEARCH_H

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

struct SearchResult {
  const LibraryFacts *facts = nullptr;
  std::string path;   ///< of what was found
  std::string reason; ///< why nothing was
};

class LoaderSearch {
public:
  LoaderSearch(Image &program, const LoaderSettings &settings,
               const LoaderSystem &system, LibraryStore::State &store);

  void setSecure(bool isSecure) { secure = isSecure; }
  /// Only set-uid files and nothing from the cache, until called again.
  void setTrustedOnly(bool only) { trustedOnly = only; }
  bool isMusl() const { return musl; }
  /// musl's C library, under any of its names, is the loader itself.
  bool isMuslItself(llvm::StringRef name) const;

  /// Objects are numbered as they are added, as in Closure::libraries.
  void addObject(const ClosureEntry &entry);
  /// \p asker is the object that has \p name, or ClosureEntry::program.
  SearchResult find(llvm::StringRef name, int asker);

private:
  /// What an object says about where to look. The lists are made when they are
  /// first needed: most objects have none.
  struct Object {
    std::string origin; ///< the folder that it lies in
    std::vector<std::string> rpath, runpath;
    bool hasRunpath = false;
    bool noDefault = false; ///< DF_1_NODEFLIB
    int asker = ClosureEntry::program;
  };
  using Folders = llvm::ArrayRef<std::string>;

  Object makeObject(std::string origin, std::optional<llvm::StringRef> rpath,
                    std::optional<llvm::StringRef> runpath, uint64_t flags1,
                    int asker) const;
  const Object &objectAt(int index) const;
  bool isSystemFolder(llvm::StringRef path) const;
  // Each says whether the search is over, found or not.
  bool findByGlibc(llvm::StringRef name, int asker, SearchResult &result);
  bool findByMusl(llvm::StringRef name, int asker, SearchResult &result);
  bool findInRpaths(llvm::StringRef name, int asker, SearchResult &result);
  bool findInCache(llvm::StringRef name, const Object &asker,
                   SearchResult &result);
  bool findInFolders(llvm::StringRef name, Folders folders,
                     SearchResult &result);
  bool tryPath(const std::string &path, SearchResult &result);

  Image &program;
  const LoaderSettings &settings;
  const LoaderSystem &system;
  LibraryStore::State &store;
  bool secure = false, trustedOnly = false, musl = false;
  unsigned triesLeft;
  Object programObject;
  std::vector<Object> objects;
  std::vector<std::string> environmentFolders;
};

} // namespace mpg

#endif // MPG_LOADER_LOADERSEARCH_H
