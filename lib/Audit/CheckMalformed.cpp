// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG9xx: the file is not what its headers claim. Reading records what does
// not hold; here it becomes findings, with the field and its offset.

#include "Audit/Checks.h"
#include <map>

using namespace mpg;

/// A damaged table can break one rule in every entry; a reader needs a few.
static constexpr unsigned findingsPerReason = 4;

void mpg::checkMalformed(const Subject &subject, Findings &findings) {
  bool wanted = findings.wantsAny(900, 999);
  if (wanted)
    subject.image.readEverything();
  // By number, which goes from the file header inwards: the first is likely
  // the cause of the others.
  std::map<DefectKind, std::vector<const Defect *>> byKind;
  for (const Defect &defect : subject.image.defects())
    if ((wanted || defect.fatal) &&
        byKind[defect.kind].size() < findingsPerReason)
      byKind[defect.kind].push_back(&defect);
  for (const auto &[kind, defects] : byKind)
    for (const Defect *defect : defects) {
      Finding &finding =
          findings.add(FindingId(kind), defect->field + ": " + defect->reason);
      if (!defect->fatal)
        finding.severity = Severity::warning;
      finding.field = defect->field;
      finding.offset = defect->offset;
    }
}
