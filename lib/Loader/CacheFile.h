// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// /etc/ld.so.cache: which file the loader takes for a library's name. The
// format is that of glibc 2.2 and later, alone or behind the old one, with the
// glibc-hwcaps names of glibc 2.33. What is damaged is not found in it.

#ifndef MPG_LOADER_CACHEFILE_H
#define MPG_LOADER_CACHEFILE_H

#include "Elf/Machine.h"
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

} // namespace mpg

#endif // MPG_LOADER_CACHEFILE_H
