// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How ld.lld cuts its command line into options. lld does not export its
// option table, so the options whose values could be mistaken for inputs are
// listed in the .cpp; an option that is missing there can at worst make ld.mpg
// guess the size of the data wrong, which costs a second link, never a wrong
// result.

#ifndef MPG_LINK_LLDOPTIONS_H
#define MPG_LINK_LLDOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mpg {

/// An option, or an input.
struct LldOption {
  llvm::StringRef name; ///< without dashes; empty for an input
  llvm::StringRef value;
  bool doubleDash = false;
  bool lacksValue = false; ///< the command line ends before it
};

/// The option at position \p at, with its value wherever that stands; \p at
/// is then behind both. pre: \p at is inside of \p args.
LldOption nextLldOption(llvm::ArrayRef<const char *> args, size_t &at);

} // namespace mpg

#endif // MPG_LINK_LLDOPTIONS_H
