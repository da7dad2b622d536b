// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who takes a program's memory from the system: malloc alone, a runtime with
// its own allocator, the program or its libraries by mmap. It decides which
// memory libmpg's malloc can bring to large pages, and which line helps the
// rest. Told from symbols, libraries and sections; nothing is run.

#ifndef MPG_AUDIT_MEMORYUSE_H
#define MPG_AUDIT_MEMORYUSE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mpg {

struct Launch;
struct Subject;

/// One row of MemoryOwners.def; the words there explain each column.
struct MemoryOwner {
  llvm::StringRef id, what, libraries, symbol, section, setting, option, remark,
      texts;
};

llvm::ArrayRef<MemoryOwner> allMemoryOwners();

struct MemoryUse {
  /// The runtime whose allocator serves most of the memory; null: none known.
  const MemoryOwner *owner = nullptr;
  /// Where there is no owner, who maps memory: "the program", then libraries.
  /// They may map files only.
  std::vector<std::string> mappers;
  /// The launch sets what brings that memory to large pages.
  bool isHelped = false;
  /// The program itself is one of the mappers, so it may map much.
  bool programMaps = false;
  /// A library between the program and the C library would see its maps.
  bool isReachable = true;
  /// The function by which a small program may start another one in its place,
  /// whose memory then counts; "": none.
  llvm::StringRef replacedBy;
  /// Such a program may have set something for the other one before.
  bool callsPrctl = false;
  /// Nothing maps memory past malloc: all libraries were read.
  bool heapOnly = false;

  /// The owner has more than malloc.
  bool ownsMost() const;
  /// The setting is one of libmpg's.
  bool needsLibmpg() const;
  /// The setting or option acts without a library of ours.
  bool isHelpedAlone() const;
  bool mapsItself() const { return owner || !mappers.empty(); }
  /// NAME=VALUE and the word of the command line that help; "" where there is
  /// none, or none is needed.
  llvm::StringRef setting() const;
  llvm::StringRef option() const;
  /// One of the two.
  llvm::StringRef help() const;
  /// "Python's objects (pymalloc)", "what the program maps itself".
  std::string what() const;
};

/// Only of a program.
MemoryUse findMemoryUse(const Subject &subject);

/// Whether \p word, of a program's command line, is some owner's option: it
/// goes to Launch::memoryOption.
bool isMemoryOption(llvm::StringRef word);

} // namespace mpg

#endif // MPG_AUDIT_MEMORYUSE_H
