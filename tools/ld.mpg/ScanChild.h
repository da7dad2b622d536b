// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans inputs (lib/Link/InputScan.h) in a child: beside lld, so that large
// archives cost no time, and away from it, because LLVM's reader can crash on a
// damaged bitcode file. What is wrong with a file is lld's to say.

#ifndef MPG_TOOLS_LDMPG_SCANCHILD_H
#define MPG_TOOLS_LDMPG_SCANCHILD_H

#include "Child.h"
#include "Link/InputScan.h"
#include "MemoryFile.h"

namespace mpg {

class ScanChild {
public:
  /// Starts scanFiles() with these arguments.
  /// pre: this process has one thread, and its streams are flushed.
  static llvm::Expected<ScanChild> start(const LinkRequest &request,
                                         llvm::ArrayRef<LinkInput> inputs,
                                         uint64_t enoughBytes);
  /// Waits for the result; an empty one if the scan did not come to its end.
  ScanResult finish();

private:
  Child child;
  MemoryFile answer;
};

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_SCANCHILD_H
