// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who else than HPC tags uses the top byte of pointers in a file: a sanitizer,
// the memory tagging of Arm, or signed pointers. Told from what such code
// leaves in the file; that it is absent proves nothing about libraries which
// the file loads.

#ifndef MPG_ELF_TOPBYTEUSERS_H
#define MPG_ELF_TOPBYTEUSERS_H

#include "Elf/Image.h"

namespace mpg {

struct TopByteUser {
  std::string sub;      ///< "hwasan", "memtag", "pauth"
  std::string name;     ///< "HWAddressSanitizer"
  std::string evidence; ///< what in the file shows it
};

/// Each user once, in the order of `sub` above. AArch64 files only.
std::vector<TopByteUser> findTopByteUsers(Image &image);

} // namespace mpg

#endif // MPG_ELF_TOPBYTEUSERS_H
