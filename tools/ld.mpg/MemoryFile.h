// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that has a path but lies on no disk: lld opens its inputs by name,
// and whatever happens nothing is left behind. The path is the same in every
// run (as long as the caller starts ld.mpg with the same open files), so maps
// and traces of lld stay comparable.

#ifndef MPG_TOOLS_LDMPG_MEMORYFILE_H
#define MPG_TOOLS_LDMPG_MEMORYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mpg {

class MemoryFile {
public:
  MemoryFile() = default;
  MemoryFile(MemoryFile &&other);
  MemoryFile &operator=(MemoryFile &&other);
  ~MemoryFile();

  static llvm::Expected<MemoryFile> create(llvm::StringRef contents);
  /// Valid as long as this object lives.
  const std::string &path() const { return filePath; }
  /// False if not all of \p text could be written.
  bool append(llvm::StringRef text) const;
  /// What is in the file now.
  std::string contents() const;
  /// Makes file descriptor \p target write into this file.
  void replace(int target) const;

private:
  int fd = -1;
  std::string filePath;
};

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_MEMORYFILE_H
