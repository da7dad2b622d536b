// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the loader of one system goes by, beside the files that it loads: the
// cache, ld.so.conf, its default folders, the glibc-hwcaps folders that this
// processor can use, ld.so.preload. The system is this machine or a sysroot.
//
// Which folders are the default is compiled into each loader; here it is told
// from what exists: lib/TRIPLET (Debian), else lib64, else lib.
//
// The folders of processors that glibc 2.37 no longer looks into (haswell,
// tls) are not looked into here either. With a sysroot, or for a program of
// another machine, the processor is not known: no glibc-hwcaps folder is used.

#ifndef MPG_LOADER_LOADERSYSTEM_H
#define MPG_LOADER_LOADERSYSTEM_H

#include "Elf/Machine.h"
#include "Loader/SearchPath.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

class CacheFile {
public:
  /// Without a cache: finds nothing.
  CacheFile() = default;
  /// \p bytes is the whole file.
  explicit CacheFile(std::string bytes);

  /// False when there is no cache or its header is damaged: the loader then
  /// goes on without one.
  bool usable() const { return count != 0; }

  /// The path for \p name on \p machine. \p hwcaps are the glibc-hwcaps folders
  /// that the processor can use ("x86-64-v3"), the best one first; an entry
  /// from one of them goes before the plain one.
  std::optional<llvm::StringRef> find(llvm::StringRef name, Machine machine,
                                      llvm::ArrayRef<std::string> hwcaps) const;

private:
  struct Entry;
  Entry entryAt(uint64_t index) const;
  uint32_t word(uint64_t offset) const;
  std::optional<llvm::StringRef> stringAt(uint64_t offset) const;
  void readHwcapNames(uint64_t offset);
  std::optional<size_t> rankOf(uint64_t hwcap,
                               llvm::ArrayRef<std::string> hwcaps) const;

  std::string bytes;
  uint64_t start = 0; ///< of the new format; its offsets count from here
  uint64_t count = 0;
  std::vector<llvm::StringRef> hwcapNames; ///< into bytes
};

/// The order of the names in the cache, which is descending: numbers inside
/// names count by value, so that libx.so.10 comes after libx.so.9.
int compareCacheNames(llvm::StringRef left, llvm::StringRef right);

/// The whole file; nothing if it is no regular file, cannot be read, or is
/// larger than \p limitBytes.
std::optional<std::string> readWholeFile(const std::string &path,
                                         uint64_t limitBytes);

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
  std::vector<std::string> configured; ///< ld.so.conf, where there is no cache
  std::vector<std::string> defaults;
  std::vector<std::string> hwcaps;   ///< "x86-64-v3", the best one first
  std::vector<std::string> preloads; ///< the names in /etc/ld.so.preload
  std::string interpreter;           ///< where the loader usually is
  /// The folders of musl's loader, if there is such a system.
  std::vector<std::string> muslFolders;
};

} // namespace mpg

#endif // MPG_LOADER_LOADERSYSTEM_H
