// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file behind a descriptor that is not libmpg's alone. A daemon closes all
// of them and opens its own, so that descriptor 2 becomes its database: it is
// written to only as long as it is the file that it was.

#ifndef MPG_RUNTIME_KNOWNFILE_H
#define MPG_RUNTIME_KNOWNFILE_H

#include <stdint.h>

namespace mpg {

class KnownFile {
public:
  /// Remembers what \p fd is now; a closed one stays unknown.
  void remember(int fd);
  /// Whether the descriptor is still that file. False if it was closed.
  bool isThere() const { return descriptor >= 0 && read(descriptor) == *this; }
  int fd() const { return descriptor; }

private:
  static KnownFile read(int fd);
  bool operator==(const KnownFile &other) const {
    return device == other.device && inode == other.inode &&
           descriptor == other.descriptor;
  }

  int descriptor = -1;
  uint64_t device = 0, inode = 0;
};

/// Standard error as it is now is where messages go; Init.cpp calls this before
/// anything else. Without it the first message does.
void rememberStandardError();

/// Whether messages may be printed: standard error was open at the start and is
/// the same file.
bool standardErrorIsThere();

} // namespace mpg

#endif // MPG_RUNTIME_KNOWNFILE_H
