// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of the newer abilities that large pages profit from this kernel has. On
// the live machine they are tried, at no cost and without taking a page; for a
// saved copy the version has to do, which is no proof: distributions add
// features to old versions.

#ifndef MPG_NODE_KERNEL_H
#define MPG_NODE_KERNEL_H

#include "Node/SysTree.h"

namespace mpg {

struct KernelFeature {
  const char *name; ///< "populate-write"; meanings are in the man page
  std::optional<bool> present;
  bool isProbed = false; ///< tried or seen; else by version
};

struct KernelFacts {
  unsigned major = 0, minor = 0; ///< 0.0: not known
  std::vector<KernelFeature> features;

  const KernelFeature *find(llvm::StringRef name) const;
};

KernelFacts readKernelFacts(const SysTree &tree);

} // namespace mpg

#endif // MPG_NODE_KERNEL_H
