// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG102: Fujitsu's library leaves .data and .bss of a PIE on normal pages.

#include "Audit/Checks.h"

using namespace mpg;

void mpg::checkPie(const Subject &subject, Findings &findings) {
  ElfKind kind = subject.image.kind();
  if (kind != ElfKind::pie && kind != ElfKind::staticPie)
    return;
  Finding &finding = findings.add(
      FindingId::mpg102,
      kind == ElfKind::pie
          ? "the program is position independent (PIE)"
          : "the program is static and position independent (static PIE)");
  finding.evidence = subject.image.dynamic().flags1 & 0x08000000
                         ? "e_type is ET_DYN, DT_FLAGS_1 has PIE"
                         : "e_type is ET_DYN with an interpreter and no "
                           "SONAME";
  if (subject.target == Target::fugaku)
    return;
  finding.cost = "nothing for this target; Fujitsu's library would leave .data "
                 "and .bss on normal pages";
  finding.setFix("");
}
