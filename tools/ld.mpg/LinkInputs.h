// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When which inputs are looked at (lib/Link/InputScan.h), and what is said
// about them. Objects are looked at first. When they hold little, lld starts
// while the archives are still being looked at, as if these held little too.

#ifndef MPG_TOOLS_LDMPG_LINKINPUTS_H
#define MPG_TOOLS_LDMPG_LINKINPUTS_H

#include "Child.h"
#include "Link/InputScan.h"
#include "LinkContext.h"

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

/// Scans as much as is quick or must be known before lld starts. Returns the
/// archives that may still change the plan.
std::vector<LinkInput> scanFirst(LinkContext &link);

/// Scans \p inputs and waits for it.
void scanNow(LinkContext &link, llvm::ArrayRef<LinkInput> inputs);

/// False if there are objects that lld cannot read, which has been said then.
bool checkSlimObjects(const ScanResult &scan);

/// After lld has failed: says what it could not know.
void explainFailure(const LinkContext &link);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKINPUTS_H
