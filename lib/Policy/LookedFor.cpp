// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Policy/Policy.h"

using namespace mpg;

FindingSet mpg::lookedFor(const AuditSettings &settings, Target target) {
  FindingSet looked;
  // Much of what is accepted comes from a library.
  if (!settings.libraries)
    return looked;
  for (const FindingInfo &info : allFindings()) {
    bool isOn = settings.checks.contains(info.id) &&
                info.severity[unsigned(target)] != Severity::off;
    // A program's file does not have what a script has.
    if (groupName(info.group) != "job" &&
        (isOn || settings.named.contains(info.id)))
      looked.insert(info.id);
  }
  return looked;
}
