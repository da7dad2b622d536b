// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who else than HPC tags uses the top byte of pointers: a sanitizer, the memory
// tagging of Arm, or signed pointers, told from what such code leaves in the
// file; and the C library's heap, told from its settings. That it is absent
// from a file proves nothing about libraries which the file loads.

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

/// Whether \p tunables, a value of GLIBC_TUNABLES, lets malloc tag its memory
/// with the memory tagging of Arm (MTE), whatever the file says:
/// glibc.mem.tagging with bit 0 (manual of glibc, Memory Related Tunables). The
/// last one counts.
bool tagsHeap(llvm::StringRef tunables);

} // namespace mpg

#endif // MPG_ELF_TOPBYTEUSERS_H
