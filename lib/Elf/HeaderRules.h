// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the Linux kernel and the dynamic loader ask of the ELF header and the
// program headers, as pure functions over plain structs. A defect is fatal when
// one of the two refuses the file, or when running it ends in SIGBUS.

#ifndef MPG_ELF_HEADERRULES_H
#define MPG_ELF_HEADERRULES_H

#include "Elf/Image.h"
#include <elf.h>

namespace mpg {

/// The facts about a file that the rules need beside the table itself.
struct HeaderContext {
  ElfKind kind;
  Elf64_Ehdr header;
  uint64_t declaredHeaders; ///< e_phnum, the escape resolved
  uint64_t fileBytes;
};

/// e_ident, e_version, e_phentsize, e_phnum: defects 901 to 903.
void checkHeader(const HeaderContext &context, llvm::ArrayRef<Segment> segments,
                 std::vector<Defect> &defects);

/// Sizes, ranges, order and alignment of the segments: defects 904 to 909.
/// Only for programs and libraries; other kinds are never mapped.
void checkSegments(const HeaderContext &context,
                   llvm::ArrayRef<Segment> segments,
                   std::vector<Defect> &defects);

/// Offset in the file of field \p fieldOffset of program header \p index.
uint64_t programHeaderField(const Elf64_Ehdr &header, uint32_t index,
                            uint64_t fieldOffset);

/// "PT_LOAD[3]": the type and the position in the table.
std::string segmentName(const Segment &segment);

} // namespace mpg

#endif // MPG_ELF_HEADERRULES_H
