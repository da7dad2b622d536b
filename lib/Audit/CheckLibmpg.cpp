// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG110 to MPG112: is a large page library loaded, can it be, and does it
// stand before the C library?

#include "Audit/Checks.h"

using namespace llvm;
using namespace mpg;

/// Fujitsu's library or ours.
static bool isLibmpg(StringRef name) {
  return name.starts_with("libmpg.so") || name.starts_with("libmpgrt.so");
}

static void checkStatic(const Subject &subject, Findings &findings) {
  if (!findings.wants(FindingId::mpg112) ||
      findStaticSymbols(subject.image).defines(KnownSymbol::mpg_version))
    return;
  Finding &finding = findings.add(
      FindingId::mpg112,
      "the program is static: no large page library can be loaded into it");
  finding.evidence = "no PT_INTERP";
}

static void checkOrder(ArrayRef<StringRef> needed, Findings &findings) {
  StringRef before;
  for (StringRef name : needed) {
    if (name.starts_with("libc.so") || name.starts_with("libpthread.so")) {
      before = before.empty() ? name : before;
    } else if (isLibmpg(name) && !before.empty()) {
      Finding &finding =
          findings.add(FindingId::mpg111, name + " is loaded after " + before);
      finding.evidence =
          (before + " stands before " + name + " in DT_NEEDED").str();
      return;
    }
  }
}

void mpg::checkLibmpg(const Subject &subject, Findings &findings) {
  Image &image = subject.image;
  if (!image.isProgram())
    return;
  if (image.isStatic()) {
    checkStatic(subject, findings);
    return;
  }
  const std::vector<StringRef> &needed = image.dynamic().needed;
  if (findings.wants(FindingId::mpg111))
    checkOrder(needed, findings);
  if (findings.wants(FindingId::mpg110) && subject.settings.expectLibmpg &&
      !any_of(needed, isLibmpg)) {
    Finding &finding = findings.add(
        FindingId::mpg110, "the program does not load a large page library");
    finding.evidence = "neither libmpg.so.1 nor libmpgrt.so.1 in DT_NEEDED";
  }
}
