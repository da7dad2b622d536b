// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Program headers through dl_iterate_phdr, and what the kernel has mapped
// there.

#include "segments/TextSegments.h"
#include "base/SelfMaps.h"
#include <link.h>
#include <sys/auxv.h>

using namespace mpg;

static bool hasTextRelocations(const dl_phdr_info &info) {
  const ElfW(Dyn) *entry = nullptr;
  for (unsigned i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn) *>(info.dlpi_addr +
                                                  info.dlpi_phdr[i].p_vaddr);
  for (; entry && entry->d_tag; ++entry)
    if (entry->d_tag == DT_TEXTREL ||
        (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)))
      return true;
  return false;
}

/// Whether the loader may have guarded the file's code (PROT_BTI): the
/// processor can, and the file has the note, which nearly always says so.
static bool mayBeGuarded(const dl_phdr_info &info) {
#if defined(__aarch64__)
  constexpr unsigned long hasBti = 1UL << 17; // HWCAP2_BTI
  if (getauxval(AT_HWCAP2) & hasBti)
    for (unsigned i = 0; i < info.dlpi_phnum; ++i)
      if (info.dlpi_phdr[i].p_type == PT_GNU_PROPERTY)
        return true;
#endif
  (void)info;
  return false;
}

TextSegments::TextSegments(bool libraries) : libraries(libraries) {
  dl_iterate_phdr(addObject, this);
}

/// \p self as a pointer to TextSegments.
int TextSegments::addObject(dl_phdr_info *info, size_t, void *self) {
  auto *all = static_cast<TextSegments *>(self);
  if (!all->isFirst && !all->libraries)
    return 1;
  all->add(*info);
  all->isFirst = false;
  return 0;
}

void TextSegments::add(const dl_phdr_info &info) {
  auto us = uintptr_t(&mayBeGuarded);
  for (unsigned i = 0; i < info.dlpi_phnum && count < max; ++i) {
    const ElfW(Phdr) &header = info.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) ||
        !(header.p_flags & PF_R) || header.p_filesz < hugeFrameBytes)
      continue;
    TextSegment &segment = segments[count++];
    uintptr_t start = info.dlpi_addr + header.p_vaddr;
    segment.range = {start, start + header.p_filesz};
    segment.offset = header.p_offset;
    segment.loadAddress = info.dlpi_addr;
    segment.file = isFirst ? "" : info.dlpi_name;
    segment.isCode = (header.p_flags & PF_X) != 0;
    segment.hasRelocations = hasTextRelocations(info);
    segment.isGuarded = segment.isCode && mayBeGuarded(info);
    segment.holdsUs = segment.range.contains(us);
  }
}

uint64_t TextSegment::findInode() const {
  Range whole = frames();
  Mapping mapping;
  bool isAsLoaded = findMapping(whole.start, mapping) &&
                    mapping.range.end >= whole.end && mapping.readable &&
                    !mapping.writable && !mapping.shared &&
                    mapping.executable == isCode;
  return isAsLoaded ? mapping.inode : 0;
}
