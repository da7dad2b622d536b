// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FrameMarks.h. Mappings stay apart when they differ in some property; the
// one that matters least to a program is whether a core file has them. A name
// (PR_SET_VMA_ANON_NAME) would be better still, but is not in Debian's kernel.

#include "base/FrameMarks.h"

#include "base/Range.h"
#include "base/Syscall.h"

#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

using namespace mpg;

static constexpr uint64_t mostOfBlock = 256;
/// Two mappings each, of the 65,530 that a process may have.
static constexpr uint32_t mostMarks = 8192;

static uint32_t marksInUse;

/// Takes \p marks of those that may be in use. False: there are too many.
static bool takeMarks(uint32_t marks) {
  uint32_t used = __atomic_load_n(&marksInUse, __ATOMIC_RELAXED);
  do {
    if (used + marks > mostMarks)
      return false;
  } while (!__atomic_compare_exchange_n(&marksInUse, &used, used + marks, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return true;
}

void mpg::forgetMarks(uint32_t marks) {
  __atomic_fetch_sub(&marksInUse, marks, __ATOMIC_RELAXED);
}

uint32_t mpg::markFrames(uint64_t start, uint64_t end) {
  uint64_t first = roundUp(start, frameBytes),
           last = roundDown(end, frameBytes);
  if (first >= last)
    return 0;
  uint64_t frames = (last - first) / frameBytes;
  uint64_t step = frames > 2 * mostOfBlock ? frames / mostOfBlock : 2;
  uint32_t marks = uint32_t((frames + step - 1) / step);
  if (!takeMarks(marks))
    return 0;
  for (uint64_t at = first; at < last; at += step * frameBytes)
    rawCall(SYS_madvise, long(at), frameBytes, MADV_DONTDUMP);
  return marks;
}

void mpg::markProgram() {
  uint64_t headers = getauxval(AT_PHDR), count = getauxval(AT_PHNUM);
  const auto *header = reinterpret_cast<const ElfW(Phdr) *>(headers);
  uint64_t base = 0;
  for (uint64_t i = 0; i < count; ++i)
    if (header[i].p_type == PT_PHDR)
      base = headers - header[i].p_vaddr;
  for (uint64_t i = 0; i < count; ++i) {
    const ElfW(Phdr) &one = header[i];
    if (one.p_type == PT_LOAD && one.p_flags & PF_W)
      markFrames(base + one.p_vaddr, base + one.p_vaddr + one.p_memsz);
  }
}

void mpg::unmarkFrames(uint64_t start, uint64_t end, uint32_t marks) {
  if (!marks)
    return;
  uint64_t first = roundUp(start, frameBytes);
  rawCall(SYS_madvise, long(first), long(roundDown(end, frameBytes) - first),
          MADV_DODUMP);
  forgetMarks(marks);
}
