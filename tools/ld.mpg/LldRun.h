// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld itself, which is linked in as a library, and one run of it by a plan
// (lib/Link/LinkPlan.h): with the two added objects (lib/Link/LayoutObject.h),
// and without a trace of them afterwards. lld ends its process without tidying
// up, which would cost a few percent of a large link; where there is something
// left to do afterwards it therefore runs in a child (Child.h).

#ifndef MPG_TOOLS_LDMPG_LLDRUN_H
#define MPG_TOOLS_LDMPG_LLDRUN_H

#include "Child.h"
#include "Link/LinkPlan.h"
#include "LinkContext.h"
#include "llvm/ADT/ArrayRef.h"

namespace mpg {

/// Runs lld as ld.lld does; does not return.
[[noreturn]] void becomeLld(llvm::ArrayRef<std::string> command);

/// Starts lld. What it prints goes to \p out and \p err instead of the terminal
/// if these are given.
llvm::Expected<Child> startLld(llvm::ArrayRef<std::string> command,
                               MemoryFile *out = nullptr,
                               MemoryFile *err = nullptr);

class LldRun {
public:
  /// Starts lld. What it prints goes to \p out and \p err instead of the
  /// terminal if these are given. pre: the machine is known.
  static llvm::Expected<LldRun> start(const LinkContext &link,
                                      const LinkPlan &plan, MemoryFile *out,
                                      MemoryFile *err);
  /// Waits for the end. True if lld has linked.
  bool wait() { return child.wait(); }
  /// Waits for the end, and for lld's exit status.
  int finish(const LinkContext &link);
  /// Ends lld before its end.
  void stop() { child.stop(); }

private:
  MemoryFile first, last; ///< as long as lld runs
  Child child;
};

/// Runs lld from beginning to end; its exit status.
int runLld(const LinkContext &link, const LinkPlan &plan, MemoryFile *out,
           MemoryFile *err);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LLDRUN_H
