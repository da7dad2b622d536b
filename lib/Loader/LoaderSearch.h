// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the loader looks for one name, and in which order. glibc: DT_RPATH of
// the object that needs it, of the one that asked for that object, and so on
// to the program, unless the object has a DT_RUNPATH; LD_LIBRARY_PATH;
// DT_RUNPATH of the object alone; the cache; the default folders. musl:
// LD_LIBRARY_PATH; both kinds of path of all of them; its own list.
//
// And the files that set up a system's loader.
//
// Left out: LD_AUDIT, the kernel version that an old library may ask for, and
// folders with $ORIGIN in set-uid programs.

#pragma once

#include "Elf/Machine.h"
#include "Loader/Closure.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace mpg {

// Lists of folders, as DT_RPATH, DT_RUNPATH and LD_LIBRARY_PATH have them, with
// the words $ORIGIN, $LIB and $PLATFORM; and symbolic links inside a sysroot,
// where an absolute one means a path in the sysroot, as it will on the machine
// that the sysroot is a copy of.

/// The longest path that the system takes; what is longer cannot be opened.
constexpr size_t maxPathBytes = 4095;

/// The values of the words. Paths are those of this machine: with a sysroot, it
/// is in front.
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
llvm::StringRef getFolder(llvm::StringRef path);

/// \p path without symbolic links, if it lies in \p sysroot; else \p path as it
/// is. Also as it is when the links go in a circle.
std::string followLinks(const std::string &path, const std::string &sysroot);

// The system (LoaderSystem.cpp). The set-up of one system's loader: the cache,
// ld.so.conf, its default folders, the glibc-hwcaps folders that this processor
// can use, ld.so.preload. The system is this machine or a sysroot.
//
// Each loader has its default folders compiled in. Here existing folders
// decide: lib/TRIPLET (Debian), else lib64, else lib.
//
// With a sysroot, or for a program of another machine, the processor is not
// known: no glibc-hwcaps folder is used, and of the folders that loaders before
// 2.37 look into (tls, x86_64) only those that every processor has.

class CacheFile {
public:
  /// Without a cache: finds nothing.
  CacheFile() = default;
  /// \p bytes is the whole file.
  explicit CacheFile(std::string bytes);

  /// False without a cache, or if its header is damaged: the loader then
  /// continues without one.
  bool usable() const { return count != 0; }

  /// The path for \p name on \p machine. \p hwcaps are the glibc-hwcaps folders
  /// that the processor can use ("x86-64-v3"), the best one first; an entry
  /// from one of them goes before the plain one.
  /// \p legacyMask are the bits that entries of old folders may have; 0: the
  /// loader is 2.37 or newer, and takes none of them.
  std::optional<llvm::StringRef> find(llvm::StringRef name, Machine machine,
                                      llvm::ArrayRef<std::string> hwcaps,
                                      uint64_t legacyMask = 0) const;

private:
  struct Entry;
  Entry entryAt(uint64_t index) const;
  uint32_t word(uint64_t offset) const;
  std::optional<llvm::StringRef> stringAt(uint64_t offset) const;
  void readHwcapNames(uint64_t offset);
  std::optional<size_t> findRank(uint64_t hwcap,
                                 llvm::ArrayRef<std::string> hwcaps,
                                 uint64_t legacyMask) const;

  std::string bytes;
  uint64_t start = 0; ///< of the new format; its offsets count from here
  uint64_t count = 0;
  std::vector<llvm::StringRef> hwcapNames; ///< into bytes
};

/// The order of the names in the cache, which is descending: numbers inside
/// names count by value, so that libx.so.10 comes after libx.so.9.
int compareCacheNames(llvm::StringRef left, llvm::StringRef right);

/// The whole file; absent if it is not a regular file, cannot be read, or is
/// larger than \p limitBytes.
std::optional<std::string> readWholeFile(const std::string &path,
                                         uint64_t limitBytes);

/// Reads the lines of the configuration file \p path in \p sysroot, and of
/// those that it includes, as ldconfig does: without comments and blanks
/// around. An empty one of number 0 says that lines of another file follow.
void readConfigLines(
    const std::string &sysroot, llvm::StringRef path,
    llvm::function_ref<void(llvm::StringRef line, llvm::StringRef file,
                            unsigned number)>
        visit);

/// The folders in \p sysroot's /etc/ld.so.conf and the files that it includes,
/// in order, with the sysroot in front.
std::vector<std::string> readLoaderConfig(const std::string &sysroot);

/// The names in \p sysroot's /etc/ld.so.preload.
std::vector<std::string> readPreloadFile(const std::string &sysroot);

/// The words of \p text between any of \p separators.
std::vector<std::string> splitNames(llvm::StringRef text,
                                    llvm::StringRef separators);

struct LoaderSystem {
  LoaderSystem(const std::string &sysroot, Machine machine);

  /// Whether this machine runs programs for \p machine itself.
  static bool runsHere(Machine machine);

  PathWords words;
  /// Used for this machine alone: in a sysroot, the cache may be older than the
  /// files, and was perhaps made for another root.
  CacheFile cache;
  std::vector<std::string> configured; ///< ld.so.conf, if there is no cache
  std::vector<std::string> defaults;
  std::vector<std::string> hwcaps; ///< "x86-64-v3", the best one first
  /// "tls/x86_64", "tls": where loaders before 2.37 look in each folder, in
  /// order, and the bits of such entries in the cache.
  std::vector<std::string> legacyFolders;
  uint64_t legacyMask = 0;
  std::vector<std::string> preloads; ///< the names in /etc/ld.so.preload
  std::string interpreter;           ///< where the loader usually is
  /// The folders of musl's loader, if there is such a system.
  std::vector<std::string> muslFolders;
};

/// The loader's decision about a path.
enum class PathVerdict : uint8_t {
  library,
  missing,      ///< it looks in the next folder
  otherMachine, ///< it looks in the next folder
  refused,      ///< it ends the program
};

/// One file, whatever its names.
struct LibraryFile {
  std::once_flag read;
  uint32_t mode = 0; ///< st_mode
  PathVerdict verdict = PathVerdict::missing;
  std::string reason; ///< unless it is a library
  LibraryFacts facts;
};

/// The loader's cache about one name.
struct CachedLibrary {
  llvm::StringRef path; ///< "": it has none
  /// Null: no such file, or not looked for.
  const LibraryFile *file = nullptr;
};

struct LibraryStore::State {
  Collector collector;

  /// \p path as the loader names it. Null: the file does not exist.
  const LibraryFile *find(const std::string &path, const std::string &sysroot);
  bool folderExists(const std::string &path, const std::string &sysroot);
  const LoaderSystem &getSystem(const std::string &sysroot, Machine machine);
  /// What \p system's cache has for \p name, and its file.
  CachedLibrary findInCache(const LoaderSystem &system, llvm::StringRef name,
                            Machine machine, uint64_t legacyMask);
  /// 36 of glibc 2.36; 0 if \p loader does not say.
  unsigned glibcMinor(const std::string &loader, const std::string &sysroot);

private:
  template <typename Value, typename Find>
  Value remember(std::unordered_map<std::string, Value> &known,
                 const std::string &key, Find find);
  void read(LibraryFile &file, const std::string &path);
  void readFacts(LibraryFile &file, Image &image);

  /// Guards the maps below; what they point at is guarded by itself.
  std::mutex mutex;
  std::unordered_map<std::string, LibraryFile *> paths;
  std::unordered_map<std::string, bool> folders;
  std::unordered_map<std::string, unsigned> minors;
  std::map<std::pair<const LoaderSystem *, uint64_t>,
           llvm::StringMap<CachedLibrary>>
      cached;
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
  /// The file of the loader, which says its version.
  void setLoader(std::string path) { loader = std::move(path); }
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
  /// An object's own list of folders to search. The lists are made when they
  /// are first needed: most objects have none.
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
  bool findInLegacyFolders(llvm::StringRef name, const std::string &folder,
                           SearchResult &result);
  bool tryPath(const std::string &path, SearchResult &result);
  bool tryFile(const LibraryFile *file, llvm::StringRef path,
               SearchResult &result);
  bool isBefore(unsigned minor);

  Image &program;
  const LoaderSettings &settings;
  const LoaderSystem &system;
  LibraryStore::State &store;
  bool secure = false, trustedOnly = false, musl = false;
  std::string loader;
  std::optional<unsigned> glibcMinor; ///< once it was asked for
  unsigned triesLeft;
  Object programObject;
  std::vector<Object> objects;
  std::vector<std::string> environmentFolders;
};

} // namespace mpg
