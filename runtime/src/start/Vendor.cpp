// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Vendor.h. By SONAME, not by file name: a preloaded library is known to
// the loader by the path that the user wrote.

#include "start/Vendor.h"
#include <link.h>

using namespace mpg;

namespace {

/// The dynamic section of a loaded file.
class Dynamic {
public:
  explicit Dynamic(const dl_phdr_info &info) {
    for (unsigned i = 0; i < info.dlpi_phnum; ++i)
      if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
        first = reinterpret_cast<const ElfW(Dyn) *>(info.dlpi_addr +
                                                    info.dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *entry = first; entry && entry->d_tag; ++entry)
      if (entry->d_tag == DT_STRTAB)
        strings = entry->d_un.d_ptr;
    // glibc adds the address where the file lies, except where the section
    // cannot be written (the vDSO).
    if (strings < info.dlpi_addr)
      strings += info.dlpi_addr;
  }

  /// Whether one of the entries \p tag is the string \p text.
  bool has(ElfW(Sxword) tag, const char *text) const {
    for (const ElfW(Dyn) *entry = first; entry && entry->d_tag; ++entry)
      if (entry->d_tag == tag &&
          __builtin_strcmp(
              reinterpret_cast<const char *>(strings + entry->d_un.d_val),
              text) == 0)
        return true;
    return false;
  }

private:
  const ElfW(Dyn) *first = nullptr;
  uintptr_t strings = 0;
};

} // namespace

static int isVendor(dl_phdr_info *info, size_t, void *) {
  return Dynamic(*info).has(DT_SONAME, "libmpg.so.1"); // HW:libmpg-soname
}

bool mpg::vendorIsLoaded() { return dl_iterate_phdr(isVendor, nullptr) != 0; }

static bool containsUs(const dl_phdr_info &info) {
  auto here = uintptr_t(&isVendor);
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD &&
        here - info.dlpi_addr - segment.p_vaddr < segment.p_memsz)
      return true;
  }
  return false;
}

/// The first file is the program; no other is looked at.
static int isLinked(dl_phdr_info *info, size_t, void *) {
  bool isIn =
      containsUs(*info) || Dynamic(*info).has(DT_NEEDED, "libmpgrt.so.1");
  return isIn ? 1 : -1;
}

bool mpg::programIsLinkedWithUs() {
  return dl_iterate_phdr(isLinked, nullptr) == 1;
}

void mpg::sayStandDown(Messages &messages) {
  LineBuffer line;
  line.add("Fujitsu's libmpg.so.1 is in this process and moves the data "
           "itself; this library does nothing; fix: nothing if that is "
           "wanted, else link with -Knolargepage");
  messages.say(MPG_MSG_VENDOR, line);
}
